"""From raw text to the input of training: tokenizers, a store of ids for each split, and manifests.

The same input gives the same bytes. The text is read in passes: to select pairs, to learn a vocabulary, and to encode
the pairs, in chunks, so that RAM stays flat.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from dragoman.data.encode_corpus import PartText, judge, write_stores
from dragoman.data.leaks import without_leaks
from dragoman.data.mixture import Corpus, describe_epoch, open_corpora
from dragoman.data.parallel_text import ParallelText
from dragoman.data.prepared import (
    DATA_FOLDER,
    GIVEN,
    LEARNED_FOR,
    REPORT,
    TOKENIZER_FOLDER,
    Prepared,
    is_prepared,
    open_prepared,
)
from dragoman.data.selection import TRAIN, VALIDATION, JudgedPair, Selection, select
from dragoman.data.store import Part
from dragoman.data.text_files.lines import starts_with_mark
from dragoman.errors import ConfigError, DataError
from dragoman.machine.files import temporary
from dragoman.machine.folders import MANIFEST, remove_folder, save_folder
from dragoman.machine.json_files import to_json
from dragoman.machine.locks import require_held
from dragoman.settings.config import Config
from dragoman.settings.data_config import TEXT_FILES
from dragoman.text.language_sampling import LanguagePairs
from dragoman.text.languages import lacks_spaces
from dragoman.text.learning import learn_many_tokenizers
from dragoman.text.tags import UNKNOWN, target_tag
from dragoman.text.tokenizer import Tokenizers

_log = logging.getLogger(__name__)

#: Pairs that show if a language has no spaces between words.
_SAMPLE_PAIRS = 2000


def prepare(
    config: Config,
    folder: Path,
    *,
    tokenizers: Tokenizers | None = None,
    starting_model: str | None = None,
    overwrite: bool = False,
) -> Prepared:
    """Prepare the corpus of `config` in `folder`, or open it if its origin is the same.

    Args:
        tokenizers: of a model to fine-tune; None learns them from the corpus.
        starting_model: the fingerprint of a model that takes over a vocabulary learned here. It is recorded, so that a
            run without a checkpoint does not go on without that model.
        overwrite: replace a corpus of another origin, instead of refusing.

    Raises:
        DataError: the corpus cannot be used. Nothing new is written.
        ConfigError: the settings do not fit the corpus, or `folder` holds another prepared corpus.
        BundleError: the prepared corpus in `folder` is damaged.
        ResourceError: the disk is full.
    """
    corpora = open_corpora(config.data)
    origin = _origin(config, corpora, tokenizers, starting_model)
    if is_prepared(folder) and not overwrite:
        prepared = open_prepared(folder, origin)
        _log.info(f"using the corpus prepared in {folder}")
    else:
        _refuse_overwriting_input((text for corpus in corpora for text in corpus.texts.values()), folder)
        _refuse_overwriting_others(folder)
        selections, lines = _select(corpora)
        tokenizers = tokenizers or _learn_tokenizers(config, corpora, selections, lines)
        if tokenizers.target_lang == UNKNOWN and _lacks_spaces(selections[0]):
            problem = "the target is written without spaces, in an unknown language"
            lines.append(f"warning: {problem}; give --target-lang, or BLEU will be far too low")
        _write(folder, _parts(corpora, selections, tokenizers), tokenizers, origin, lines)
        prepared = open_prepared(folder, origin)
    _log_lines([*prepared.lines, *describe_epoch(config.data, prepared.train.parts)])
    return prepared


def judge_corpus(config: Config) -> tuple[Selection, Iterator[JudgedPair]]:
    """Select the pairs of a corpus as `prepare` does, except that none is held out, and log what was found in it.

    Returns:
        The selection; and each pair, in order, with the reason for which training drops it, or None.

    Raises:
        DataError, ConfigError, ResourceError: as `prepare`, also while the pairs are read.
    """
    corpora = open_corpora(config.data)
    selections, lines = _select(corpora, hold_out=False)
    (selection,) = selections
    judged = selection.judged()
    if selection.has_usable:
        judged = judge(selection, _learn_tokenizers(config, corpora, selections, []))
    _log_lines(lines)
    return selection, judged


def _origin(
    config: Config, corpora: Sequence[Corpus], tokenizers: Tokenizers | None, starting_model: str | None
) -> dict[str, Any]:
    """Return everything that decides the output of `prepare`, as flat JSON."""
    data = config.data.model_dump(mode="json", exclude={"misaligned", "corpora", "temperature", *TEXT_FILES})
    if not config.data.corpora:
        data["source_lang"], data["target_lang"] = corpora[0].languages
    tokenizer = tokenizers.config if tokenizers else config.tokenizer
    chosen = {**tokenizer.model_dump(mode="json"), "joint": tokenizer.is_joint}
    origin = {f"data.{key}": value for key, value in data.items()}
    origin |= {f"tokenizer.{key}": value for key, value in chosen.items()}
    if tokenizers is not None:
        origin[GIVEN] = tokenizers.fingerprint()
    if starting_model is not None:
        origin[LEARNED_FOR] = starting_model
    for corpus in corpora:
        origin |= _origin_of_part(corpus) if corpus.name else {}
        for split, text in corpus.texts.items():
            label = f"SHA-256 of {corpus.name + ' ' if corpus.name else ''}{split}"
            origin |= {f"{label} {role}": value for role, value in text.fingerprints().items()}
    return origin


def _origin_of_part(corpus: Corpus) -> dict[str, Any]:
    """Return what decides the output for one corpus of several. Its weight does not."""
    source, target = corpus.languages
    own = {"source_lang": source, "target_lang": target, "both_ways": corpus.both_ways, "tag": corpus.tag}
    own |= {"corpus": corpus.data.corpus, "columns": corpus.data.columns}
    own |= {"context": corpus.data.context} if corpus.data.context else {}
    return {f"data.corpora.{corpus.name}.{key}": value for key, value in own.items()}


def _parts(corpora: Sequence[Corpus], selections: Sequence[Selection], tokenizers: Tokenizers) -> list[PartText]:
    """Return the parts of the stores: each corpus in each direction. One corpus alone is no part, unless its sources
    need a tag.

    Raises:
        ConfigError: the tokenizers lack a tag.
    """
    parts = []
    for corpus, selection in zip(corpora, selections, strict=True):
        validation = corpus.texts.get(VALIDATION)
        for number, (source, target) in enumerate(corpus.directions):
            first, before_target = tokenizers.tags_before((source, target))
            tags = [first, target_tag(corpus.tag) if corpus.tag else ""]
            for tag in filter(None, tags):
                if tag not in tokenizers.source.tags:
                    known = ", ".join(sorted(tokenizers.source.tags)) or "none"
                    advice = f"it has {known}; train a model of its own for this text"
                    raise ConfigError(f"the model of --init-from has no tag {tag}", advice=advice)
            part = Part(corpus.name or "text", source, target) if corpus.name or tokenizers.is_tagged else None
            prefix = "".join(f"{tag} " for tag in tags if tag)
            validates = validation is not None or corpus.may_hold_out
            target = f"{before_target} " if before_target else ""
            parts.append(PartText(selection, validation, part, number == 1, prefix, target, validates))
    return parts


def _refuse_overwriting_input(texts: Iterable[ParallelText], folder: Path) -> None:
    outputs = [(folder / name).resolve() for name in (TOKENIZER_FOLDER, DATA_FOLDER)]
    for path in (path for text in texts for path in text.files.values()):
        if any(output in path.resolve().parents for output in outputs):
            raise ConfigError("the corpus lies where the output goes", path, advice="choose another --output")


def _refuse_overwriting_others(folder: Path) -> None:
    """Refuse folders that `prepare` did not write."""
    for path in (folder / TOKENIZER_FOLDER, folder / DATA_FOLDER):
        if path.exists() and not (path / MANIFEST).is_file():
            problem = "this holds something else than a prepared corpus"
            raise ConfigError(problem, path, advice="choose another --output")


def _learn_tokenizers(
    config: Config, corpora: Sequence[Corpus], selections: Sequence[Selection], lines: list[str]
) -> Tokenizers:
    """Learn tokenizers, and add a line about them."""
    texts = [
        LanguagePairs(selection.training_pairs, *corpus.languages, corpus.both_ways)
        for corpus, selection in zip(corpora, selections, strict=True)
    ]
    tags = [corpus.tag for corpus in corpora if corpus.tag is not None]
    tokenizers = learn_many_tokenizers(texts, config.tokenizer, tags)
    is_size_chosen = config.tokenizer.has_pieces and config.tokenizer.vocab_size is None
    lines.append(f"tokenizer: {tokenizers.describe()}{' (chosen to fit)' * is_size_chosen}")
    return tokenizers


def _lacks_spaces(selection: Selection) -> bool:
    return lacks_spaces(target for _, target in islice(selection.training_pairs(), _SAMPLE_PAIRS))


def _select(corpora: Sequence[Corpus], *, hold_out: bool = True) -> tuple[list[Selection], list[str]]:
    """Select the pairs of each corpus, and return lines for people, which are logged at once if a corpus is refused.

    Args:
        hold_out: take validation data out of a corpus that has none.
    """
    lines: list[str] = []
    selections = []
    for corpus in corpora:
        texts = corpus.texts
        lines += [corpus.label(note) for text in texts.values() for note in text.notes]
        lines += [
            f"byte order mark left out: {path}"
            for text in texts.values()
            for path in text.files.values()
            if starts_with_mark(path)
        ]
        # Validation sentences of a mixture are taken out of its training text, so they need no warning.
        others = {
            split: text for split, text in texts.items() if split not in (TRAIN, VALIDATION if corpus.name else "")
        }
        needs_validation = hold_out and corpus.may_hold_out and VALIDATION not in texts
        selection = select(texts[TRAIN], corpus.data, others, hold_out=needs_validation)
        if hold_out or not selection.uses:  # else there are only reasons, which the caller wants
            selection.refuse_unusable()
        lines += map(corpus.label, (*texts[TRAIN].pair_file.left_out(), *selection.lines()))
        try:
            selection.refuse_misaligned()
        except DataError:
            _log_lines(lines)
            raise
        selections.append(selection)
    return (without_leaks(corpora, selections) if corpora[0].name else selections), lines


def _log_lines(lines: Iterable[str]) -> None:
    """Log lines of a report, each at the level that its first word names."""
    for line in lines:
        text = line.removeprefix("warning: ")
        _log.log(logging.INFO if text == line else logging.WARNING, text)


def _write(
    folder: Path,
    parts: Sequence[PartText],
    tokenizers: Tokenizers,
    origin: Mapping[str, Any],
    lines: Sequence[str],
) -> None:
    """Save both folders. The data folder comes last, so its presence proves that both are complete."""

    def write(unfinished: Path) -> None:
        counts = write_stores(unfinished, parts, tokenizers)
        require_held(unfinished)  # encoding takes minutes
        (unfinished / REPORT).write_bytes(to_json({"lines": [*counts, *lines]}))

    try:
        for name in (DATA_FOLDER, TOKENIZER_FOLDER):
            remove_folder(folder / name)
        save_folder(folder / TOKENIZER_FOLDER, tokenizers.save)
        save_folder(folder / DATA_FOLDER, write, facts={"made_from": origin})
    except BaseException:
        for path in (temporary(folder / DATA_FOLDER), temporary(folder / TOKENIZER_FOLDER), folder / TOKENIZER_FOLDER):
            remove_folder(path)
        raise
