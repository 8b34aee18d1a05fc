"""Corpora of the Hugging Face hub, which the package `datasets` downloads and caches."""

from __future__ import annotations

import os
from collections.abc import Iterable

from dragoman.data.formats.json_lines import Keys, object_pair
from dragoman.data.parallel_text import ParallelText
from dragoman.errors import ConfigError, DataError, install_advice
from dragoman.settings.text_origin import HUB


def read_hub(corpus: str, split: str, languages: tuple[str, str], columns: str | None) -> ParallelText:
    """Return a split of a data set.

    Args:
        languages: keys of a pair, unless `columns` names others.

    Raises:
        ConfigError: the package `datasets` is not installed.
        DataError: it cannot load the data set, or would read a folder here instead; or a row has no pair (while
            reading).
    """
    rows = _rows(corpus, split)
    source, target = (part.strip() for part in columns.split(",")) if columns is not None else languages
    keys = Keys(((source, target),) if columns is not None else (("source", "target"), (source, target)))
    return ParallelText.of_pairs(
        corpus, lambda: (object_pair(row, keys, corpus, number) for number, row in enumerate(rows, start=1))
    )


def _rows(corpus: str, split: str) -> Iterable[object]:
    try:
        import datasets
    except ImportError:
        raise ConfigError(f"{corpus} needs the package datasets", advice=install_advice("hub")) from None
    name, _, configuration = corpus.removeprefix(HUB).partition(":")
    if os.path.lexists(name):  # datasets prefers it
        raise DataError("a file or folder here hides the data set of that name", name, advice="work in another folder")
    try:
        rows: Iterable[object] = datasets.load_dataset(name, configuration or None, split=split)
    except Exception as error:  # datasets raises what its many readers raise
        raise DataError(f"the data set cannot be loaded ({error})", corpus, advice="check its name") from None
    return rows
