"""Prepared corpora on disk: tokenizers, stores, and a record of their origin."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from dragoman.data.parallel_text import ParallelText
from dragoman.data.selection import TRAIN, VALIDATION
from dragoman.data.store import PairStore
from dragoman.errors import BundleError, ConfigError
from dragoman.machine.folders import MANIFEST, verify_folder
from dragoman.machine.json_files import read_json
from dragoman.text.learned_text import LearnedText
from dragoman.text.tags import Direction, split_tags
from dragoman.text.tokenizer import Tokenizers
from dragoman.text.tokenizer_files import load_tokenizers

TOKENIZER_FOLDER, DATA_FOLDER = "tokenizer", "data"
REPORT = "report.json"
#: Keys of the record of origin: the fingerprint of tokenizers that `prepare` took over, and the fingerprint of a model
#: that takes over a vocabulary learned here.
GIVEN = "the given tokenizers"
LEARNED_FOR = "the model that a vocabulary was learned for"
#: Lines whose sentences are counted.
_MAX_COUNTED = 20_000


@dataclass(frozen=True)
class Prepared:
    """A corpus ready for training."""

    tokenizers: Tokenizers
    train: PairStore
    validation: PairStore
    #: SHA-256 of the prepared data and of the tokenizers, by name.
    fingerprints: Mapping[str, str]
    #: Lines for people about the corpus.
    lines: tuple[str, ...]

    def learned_text(self) -> LearnedText:
        """Return the lengths of all training pairs, and the number of sentences a line in an evenly spread sample."""
        indices = np.unique(np.linspace(0, len(self.train) - 1, _MAX_COUNTED).astype(int))
        lines = (self.train.source_text(int(index)) for index in indices)
        learned = LearnedText.count(lines, self.train.source_lengths, self.train.target_lengths)
        if not (n_before := int(self.train.n_before.max())):
            return learned
        reads = {"context": n_before, "context_tokens": int(self.train.read_lengths.max())}
        return learned.model_copy(update=reads)


def open_prepared(folder: Path, origin: Mapping[str, Any] | None = None) -> Prepared:
    """Open the prepared corpus in `folder`, and check it against its manifests.

    Args:
        origin: the required origin; None accepts any.

    Raises:
        BundleError: a file is missing or damaged.
        ConfigError: it has another origin; the message lists the differences.
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
        load_tokenizers(folder / TOKENIZER_FOLDER),
        PairStore(folder / DATA_FOLDER / TRAIN),
        PairStore(folder / DATA_FOLDER / VALIDATION),
        {"tokenizer": str(tokenizer_manifest["self"]), "data": str(data_manifest["self"])},
        tuple(map(str, lines)),
    )


def validation_text(folder: Path, direction: Direction | None = None) -> ParallelText:
    """Return the validation pairs of a prepared corpus, given or held out.

    Sources may begin with tags, but no text begins with one if each side has its language's (`has_both_tags`).

    Args:
        direction: the languages of the pairs; None is all.

    Raises:
        BundleError: a file is missing or damaged.
        ConfigError: no pairs have these languages.
    """
    prepared = open_prepared(folder)
    store, tokenizers = prepared.validation, prepared.tokenizers
    chosen = [slice(0, len(store))] if direction is None else store.rows_of(direction)
    if not chosen:
        known = ", ".join(dict.fromkeys(part.direction for part in store.parts)) or "one direction alone"
        problem = f"no validation text is from {direction[0]} to {direction[1]}" if direction else "no validation text"
        raise ConfigError(problem, folder, advice=f"it has {known}")
    indices = [index for rows in chosen for index in range(rows.start, rows.stop)]
    tags = [side.tags if tokenizers.has_both_tags else () for side in (tokenizers.source, tokenizers.target)]

    def pairs() -> Iterator[tuple[str, str]]:
        for index in indices:
            texts = store.source_text(index), store.target_text(index)
            source, target = (split_tags(text, own)[1] for text, own in zip(texts, tags, strict=True))
            yield source, target

    return ParallelText.of_pairs(f"the validation text in {folder}", pairs)


def validation_directions(folder: Path) -> list[Direction]:
    """Return the directions of the validation pairs of a prepared corpus; none if they have no names."""
    return open_prepared(folder).validation.directions


def given_tokenizers(folder: Path) -> Tokenizers | None:
    """Return the tokenizers of a prepared corpus if `prepare` took them over, as for fine-tuning; else None.

    Raises:
        BundleError: the folder is damaged.
    """
    return load_tokenizers(folder / TOKENIZER_FOLDER) if GIVEN in _made_from(folder) else None


def noted_starting_model(folder: Path) -> str | None:
    """Return the `starting_model` that `prepare` recorded, or None.

    Raises:
        BundleError: the folder is damaged.
    """
    return _made_from(folder).get(LEARNED_FOR)


def _made_from(folder: Path) -> dict[str, Any]:
    """Return the record of a corpus's origin, unverified: `open_prepared` verifies it."""
    made_from = read_json(folder / DATA_FOLDER / MANIFEST).get("made_from") if is_prepared(folder) else None
    return made_from if isinstance(made_from, dict) else {}


def is_prepared(folder: Path) -> bool:
    """Return True if `folder` holds a prepared corpus."""
    return (folder / DATA_FOLDER).is_dir() and (folder / TOKENIZER_FOLDER).is_dir()


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
