"""From raw text to what training reads: tokenizers, a store of ids for each split, and manifests.

The same input gives the same bytes. The text is read in passes: which pairs are used, what the vocabulary is, and
(in chunks, so that memory stays flat) their ids.
"""

from __future__ import annotations

import logging
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from dragoman.data.checks.markup import cleaned
from dragoman.data.corpus import UNKNOWN_LANGUAGE, Split, available_splits, languages, read_pairs
from dragoman.data.encode_corpus import write_stores
from dragoman.data.parallel_text import ParallelText
from dragoman.data.selection import TRAIN, VALIDATION, Selection, select
from dragoman.data.store import PairStore
from dragoman.data.text_files.lines import starts_with_mark
from dragoman.errors import BundleError, ConfigError, DataError
from dragoman.machine.files import temporary
from dragoman.machine.folders import MANIFEST, remove_folder, save_folder, verify_folder
from dragoman.machine.json_files import read_json, to_json
from dragoman.machine.locks import require_held
from dragoman.settings.config import Config
from dragoman.text.languages import lacks_spaces
from dragoman.text.tokenizer import Tokenizers, learn_tokenizers

_log = logging.getLogger(__name__)

TOKENIZER_FOLDER, DATA_FOLDER = "tokenizer", "data"
REPORT = "report.json"
GIVEN = "the given tokenizers"
LEARNED_FOR = "the model that a vocabulary was learned for"
#: Pairs looked at to judge whether their language is written without spaces.
_SAMPLE_PAIRS = 2000

#: Settings of `data` that say where the text is; its SHA-256 says what it is.
_PLACES = frozenset(
    f"{split}{side}" for split in ("", "validation_", "test_") for side in ("source", "target", "pairs")
)


@dataclass(frozen=True)
class Prepared:
    """A corpus ready for training."""

    tokenizers: Tokenizers
    train: PairStore
    validation: PairStore
    #: SHA-256 of the prepared data and of the tokenizers, by name.
    fingerprints: Mapping[str, str]
    #: What a person should know about the corpus.
    lines: tuple[str, ...]

    @property
    def source_lang(self) -> str:
        """The source language's code, "und" if nobody named it."""
        return self.tokenizers.source_lang

    @property
    def target_lang(self) -> str:
        """The target language's code, "und" if nobody named it."""
        return self.tokenizers.target_lang


def prepare(
    config: Config,
    folder: Path,
    *,
    tokenizers: Tokenizers | None = None,
    starting_model: str | None = None,
    overwrite: bool = False,
) -> Prepared:
    """Prepare the corpus of `config` in `folder`, or use what is there if it was made from the same.

    Args:
        tokenizers: those to use (fine-tuning); learned from the corpus if not given.
        starting_model: the fingerprint of a model that goes on with what is learned here; noted, so that a training
            which has saved nothing yet does not go on without it.
        overwrite: make anew what was made from something else, instead of refusing.

    Raises:
        DataError: the corpus cannot be used. Nothing new is written.
        ConfigError: the settings do not fit the corpus, or `folder` holds another preparation.
        BundleError: what `folder` holds is damaged.
        ResourceError: the disk is full.
    """
    splits: tuple[Split, ...] = ("train", *available_splits(config.data))
    texts: dict[str, ParallelText] = {
        split: cleaned(read_pairs(config.data, split), config.data.clean) for split in dict.fromkeys(splits)
    }
    origin = _origin(config, texts, tokenizers, starting_model)
    if is_prepared(folder) and not overwrite:
        prepared = open_prepared(folder, origin)
        _log.info(f"using the corpus prepared in {folder}")
    else:
        _refuse_overwriting_input(texts.values(), folder)
        _refuse_overwriting_others(folder)
        selection, lines = _select(config, texts)
        if tokenizers is None:
            tokenizers = learn_tokenizers(selection.training_pairs, config.tokenizer, *languages(config.data))
            chosen = " (chosen to fit)" if _chose_size(config) else ""
            lines.append(f"tokenizer: {tokenizers.describe()}{chosen}")
        if tokenizers.target_lang == UNKNOWN_LANGUAGE and _lacks_spaces(selection):
            what = "the target is written without spaces, in a language that nobody named"
            lines.append(f"warning: {what}; give --target-lang, or BLEU will be far too low")
        _write(folder, selection, texts.get(VALIDATION), tokenizers, origin, lines)
        prepared = open_prepared(folder, origin)
    _log_lines(prepared.lines)
    return prepared


def open_prepared(folder: Path, origin: Mapping[str, Any] | None = None) -> Prepared:
    """What `prepare` made in `folder`, checked against its manifests.

    Args:
        origin: what it must have been made from.

    Raises:
        BundleError: a file is missing or damaged.
        ConfigError: it was made from something else; the message lists what.
    """
    advice = f"remove {TOKENIZER_FOLDER} and {DATA_FOLDER} there, and the same command makes them again"
    tokenizer_manifest = verify_folder(folder / TOKENIZER_FOLDER, advice)
    data_manifest = verify_folder(folder / DATA_FOLDER, advice)
    made_from, lines = data_manifest.get("made_from"), read_json(folder / DATA_FOLDER / REPORT).get("lines")
    if not isinstance(made_from, dict) or not isinstance(lines, list):
        raise BundleError("not the manifest of a prepared corpus", folder / DATA_FOLDER, advice="prepare it again")
    if origin is not None:
        _refuse_other_origin(made_from, origin, folder)
    return Prepared(
        Tokenizers.load(folder / TOKENIZER_FOLDER),
        PairStore(folder / DATA_FOLDER / TRAIN),
        PairStore(folder / DATA_FOLDER / VALIDATION),
        {"tokenizer": str(tokenizer_manifest["self"]), "data": str(data_manifest["self"])},
        tuple(map(str, lines)),
    )


def validation_text(folder: Path) -> ParallelText:
    """The validation pairs of what `prepare` made in `folder`, whether they were given or held out.

    Raises:
        BundleError: a file is missing or damaged.
    """
    store = open_prepared(folder).validation
    return ParallelText.of_pairs(
        f"the validation text in {folder}",
        lambda: ((store.source_text(index), store.target_text(index)) for index in range(len(store))),
    )


def given_tokenizers(folder: Path) -> Tokenizers | None:
    """The tokenizers in a prepared `folder` that were given to `prepare`, not learned: those of a fine-tuning.

    Raises:
        BundleError: the folder is damaged.
    """
    return Tokenizers.load(folder / TOKENIZER_FOLDER) if GIVEN in _made_from(folder) else None


def noted_starting_model(folder: Path) -> str | None:
    """The `starting_model` that was given to `prepare`.

    Raises:
        BundleError: the folder is damaged.
    """
    return _made_from(folder).get(LEARNED_FOR)


def _made_from(folder: Path) -> dict[str, Any]:
    """What a prepared `folder` says that it was made from. Who uses the data verifies them, once."""
    made_from = read_json(folder / DATA_FOLDER / MANIFEST).get("made_from") if is_prepared(folder) else None
    return made_from if isinstance(made_from, dict) else {}


def is_prepared(folder: Path) -> bool:
    """Whether `prepare` was done in `folder`."""
    return (folder / DATA_FOLDER).is_dir() and (folder / TOKENIZER_FOLDER).is_dir()


def _origin(
    config: Config, texts: Mapping[str, ParallelText], tokenizers: Tokenizers | None, starting_model: str | None
) -> dict[str, Any]:
    """Everything that decides what `prepare` makes, as flat JSON."""
    data = {key: value for key, value in config.data.for_older_releases().items() if key not in _PLACES}
    data["source_lang"], data["target_lang"] = languages(config.data)
    tokenizer = tokenizers.config if tokenizers else config.tokenizer
    chosen = {**tokenizer.for_older_releases(), "joint": tokenizer.is_joint}
    origin = {f"data.{key}": value for key, value in data.items()}
    origin |= {f"tokenizer.{key}": value for key, value in chosen.items()}
    if tokenizers is not None:
        origin[GIVEN] = tokenizers.fingerprint()
    if starting_model is not None:
        origin[LEARNED_FOR] = starting_model
    for split, text in texts.items():
        origin |= {f"SHA-256 of {split} {role}": value for role, value in text.fingerprints().items()}
    return origin


def _refuse_other_origin(made_from: Mapping[str, Any], origin: Mapping[str, Any], folder: Path) -> None:
    keys = [*origin, *(key for key in made_from if key not in origin)]
    details = [
        f"{key}: {made_from.get(key)} (then), {origin.get(key)} (now)"
        for key in keys
        if made_from.get(key) != origin.get(key)
    ]
    if details:
        if (folder / "checkpoints").exists():
            advice = (
                f"to train its model on with other text: --init-from {shlex.quote(str(folder))}, and another --output"
            )
        elif {GIVEN, LEARNED_FOR} & (made_from.keys() - origin.keys()):
            advice = "it began with --init-from: give that again"
        else:
            advice = "choose another --output, or make it anew with `dragoman prepare --overwrite`"
        raise ConfigError("the corpus there was prepared from something else", folder, advice=advice, details=details)


def _refuse_overwriting_input(texts: Iterable[ParallelText], folder: Path) -> None:
    made = [(folder / name).resolve() for name in (TOKENIZER_FOLDER, DATA_FOLDER)]
    for path in (path for text in texts for path in text.files.values()):
        if any(each in path.resolve().parents for each in made):
            raise ConfigError("the corpus lies where the output goes", path, advice="choose another --output")


def _refuse_overwriting_others(folder: Path) -> None:
    """Only what `prepare` made is made anew."""
    for made in (folder / TOKENIZER_FOLDER, folder / DATA_FOLDER):
        if made.exists() and not (made / MANIFEST).is_file():
            raise ConfigError(
                "this holds something else than a prepared corpus", made, advice="choose another --output"
            )


def _lacks_spaces(selection: Selection) -> bool:
    return lacks_spaces(target for _, target in islice(selection.training_pairs(), _SAMPLE_PAIRS))


def _chose_size(config: Config) -> bool:
    return config.tokenizer.has_pieces and config.tokenizer.vocab_size is None


def _select(config: Config, texts: Mapping[str, ParallelText]) -> tuple[Selection, list[str]]:
    """Decide what to use, and say what is noteworthy: in the end with the rest, or at once before it is refused."""
    lines = [
        f"byte order mark left out: {path}"
        for text in texts.values()
        for path in text.files.values()
        if starts_with_mark(path)
    ]
    lines = [note for text in texts.values() for note in text.notes] + lines
    others = {split: text for split, text in texts.items() if split != TRAIN}
    selection = select(texts[TRAIN], config.data, others, hold_out=VALIDATION not in texts)
    lines += selection.lines()
    try:
        selection.refuse_misaligned()
    except DataError:
        _log_lines(lines)
        raise
    return selection, lines


def _log_lines(lines: Iterable[str]) -> None:
    """Log lines of a report, each at the level that its first word names."""
    for line in lines:
        text = line.removeprefix("warning: ")
        _log.log(logging.INFO if text == line else logging.WARNING, text)


def _write(
    folder: Path,
    selection: Selection,
    validation: ParallelText | None,
    tokenizers: Tokenizers,
    origin: Mapping[str, Any],
    lines: Sequence[str],
) -> None:
    """Save both folders; the data comes last, so that its being there means that all is."""

    def write(made: Path) -> None:
        kept = write_stores(made, selection, validation, tokenizers)
        require_held(made)  # it took long
        (made / REPORT).write_bytes(to_json({"lines": [*kept, *lines]}))

    try:
        for name in (DATA_FOLDER, TOKENIZER_FOLDER):
            remove_folder(folder / name)
        save_folder(folder / TOKENIZER_FOLDER, tokenizers.save)
        save_folder(folder / DATA_FOLDER, write, facts={"made_from": origin})
    except BaseException:
        for made in (temporary(folder / DATA_FOLDER), temporary(folder / TOKENIZER_FOLDER), folder / TOKENIZER_FOLDER):
            remove_folder(made)
        raise
