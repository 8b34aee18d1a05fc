"""Sentences of a test set in the training text of a model, if its run folder has that text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from dragoman.data.prepared import DATA_FOLDER, TOKENIZER_FOLDER, is_prepared
from dragoman.data.selection import TRAIN
from dragoman.data.store import PairStore
from dragoman.errors import DragomanError
from dragoman.text.cleaning import comparable
from dragoman.text.tags import split_tags
from dragoman.text.tokenizer_files import load_tokenizers


@dataclass(frozen=True)
class Overlap:
    """Number of lines of a test that were trained on."""

    n_lines: int
    #: Lines whose source is in the training text, and those of them with the same target.
    n_sources: int
    n_pairs: int

    def line(self) -> str | None:
        """Return a warning for people, or None if there is no overlap."""
        if not self.n_sources:
            return None
        problem = f"{self.n_sources:,} of {self.n_lines:,} test sources were in the training text"
        same = f", {self.n_pairs:,} of them with the same translation" if self.n_pairs else ""
        return f"warning: {problem}{same}; the score is too high (`dragoman data split` sets a test apart)"


def run_of(path: Path) -> Path | None:
    """Return the run folder of a model, which is the model's own folder or one above it; else None."""
    try:
        candidates = [path, path.parent, *path.resolve().parents[:2]] if path.exists() else []
        return next((folder for folder in candidates if is_prepared(folder)), None)
    except OSError:
        return None


def training_overlap(models: Iterable[Path], sources: Sequence[str], targets: Sequence[str]) -> Overlap:
    """Count the lines that any of the models was trained on. Missing or damaged training text counts as empty."""
    pairs = [(comparable(source), comparable(target)) for source, target in zip(sources, targets, strict=True)]
    test_sources = {source for source, _ in pairs if source}
    trained: set[tuple[str, str]] = set()
    for folder in {run for run in map(run_of, models) if run is not None}:
        try:
            store = PairStore(folder / DATA_FOLDER / TRAIN)
            tokenizers = load_tokenizers(folder / TOKENIZER_FOLDER)
            tags = tokenizers.source.tags if store.parts else ()
            target_tags = tokenizers.target.tags if tokenizers.has_both_tags else ()
            for index in range(len(store)):
                source = comparable(split_tags(store.source_text(index), tags)[1])
                if source in test_sources:
                    trained.add((source, comparable(split_tags(store.target_text(index), target_tags)[1])))
        except (DragomanError, ValueError):
            continue
    trained_sources = {source for source, _ in trained}
    return Overlap(
        len(pairs), sum(source in trained_sources for source, _ in pairs), sum(pair in trained for pair in pairs)
    )
