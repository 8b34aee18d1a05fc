"""Parallel text that the settings name: two files, one file of pairs, or a corpus known by name.

A blank line is a pair of empty sides, which no training uses. Each file may be compressed.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Literal

from dragoman.corpora.synthetic import CAPTIONS_LANGUAGES, TASKS, in_direction, standard_corpus
from dragoman.data import multi30k
from dragoman.data.formats import open_pairs
from dragoman.data.formats.column_names import Languages, is_swapped
from dragoman.data.formats.file_names import file_language, table_languages
from dragoman.data.formats.pair_file import InvalidUtf8, LocatedPair, PairFile
from dragoman.data.formats.subtitle_pairs import are_subtitles, open_subtitles
from dragoman.data.formats.two_files import open_two_files
from dragoman.data.hub import read_hub
from dragoman.data.parallel_text import ParallelText
from dragoman.data.text_files.file_signatures import refuse_documents
from dragoman.data.text_files.lines import check_text_file, count_lines, read_lines
from dragoman.errors import ConfigError, DragomanError
from dragoman.settings.data_config import DataConfig
from dragoman.settings.text_origin import HUB
from dragoman.text.tags import UNKNOWN

Split = Literal["train", "validation", "test"]

_NAMED_LANGUAGES = {multi30k.NAME: multi30k.LANGUAGES, **CAPTIONS_LANGUAGES}


def read_pairs(data: DataConfig, split: Split) -> ParallelText:
    """Open the text of a split.

    Raises:
        ConfigError: the settings name no text for the split, or an unknown corpus.
        DataError: a corpus cannot be loaded, or a file cannot be read; also while reading.
    """
    if split not in available_splits(data):
        if split == "train":
            raise ConfigError("no corpus is given", advice="give --source and --target, --pairs, or --corpus")
        has = ", ".join(available_splits(data)) or "none"
        options = "--validation-source and --validation-target, or --validation-pairs"
        if split == "test":
            options = "--set data.test_source=... and data.test_target=..., or data.test_pairs=..."
        raise ConfigError(f"no {split} data is given", advice=f"give {options} (given: {has})")
    source, target, pairs = data.files(split)
    if pairs is not None:
        path, (source_lang, target_lang) = Path(pairs), map(_known, languages(data))
        pair_file = open_pairs(path, (source_lang, target_lang), data.columns, data.invalid_utf8)
        return ParallelText(pairs, pair_file, {"pairs": path})
    if source is not None and target is not None:
        _refuse_swapped(source, target, (data.source_lang, data.target_lang))
        return _two_files(Path(source), Path(target), data.invalid_utf8)
    return _read_named(data, split)


def read_sources(path: Path) -> ParallelText:
    """Return the lines of one file as sources; the targets are empty.

    Raises:
        DataError: the file is missing or is not text. While reading, also as `read_lines`.
    """
    return _one_side(path, is_target=False)


def read_targets(path: Path) -> ParallelText:
    """Return the lines of one file as targets; the sources are empty.

    Raises:
        DataError: as `read_sources`.
    """
    return _one_side(path, is_target=True)


def _one_side(path: Path, *, is_target: bool) -> ParallelText:
    state = check_text_file(path)
    refuse_documents(path)

    def read() -> Iterator[LocatedPair]:
        lines = enumerate(read_lines(path, since=state), start=1)
        return ((number, "", line) if is_target else (number, line, "") for number, line in lines)

    pair_file = PairFile(read, lambda: count_lines(path), is_line_by_line=True)
    return ParallelText(str(path), pair_file, {"target" if is_target else "source": path})


def available_splits(data: DataConfig) -> tuple[Split, ...]:
    """Return the splits that the settings name; validation data may also be held out of the training split."""
    if data.corpus is not None and not data.corpus.startswith(HUB):
        return "train", "validation", "test"
    hub: tuple[Split, ...] = ("train",) if data.corpus is not None else ()
    splits: tuple[Split, ...] = ("train", "validation", "test")
    return hub + tuple(split for split in splits if any(data.files(split)))


def languages(data: DataConfig) -> tuple[str, str]:
    """Return the codes of source and target: as set, else by the files' names or a table, else "und"."""
    requested: Languages = (data.source_lang, data.target_lang)
    default: Languages = (None, None)
    if data.corpus in _NAMED_LANGUAGES:
        default = _NAMED_LANGUAGES[data.corpus]
    elif data.source is not None and data.target is not None:
        default = _known(file_language(data.source)), _known(file_language(data.target))
    elif data.pairs is not None:
        default = _pair_file_languages(Path(data.pairs), data)
    return requested[0] or default[0] or UNKNOWN, requested[1] or default[1] or UNKNOWN


def languages_differ(some: Collection[str], others: Collection[str]) -> bool:
    """Return True if all languages are known and some differ."""
    return some != others and UNKNOWN not in (*some, *others)


def _known(language: str) -> str | None:
    return None if language == UNKNOWN else language


def _pair_file_languages(path: Path, data: DataConfig) -> Languages:
    """Return the languages of a file of pairs: by its name, in the requested direction, else by its content."""
    requested, by_name = (data.source_lang, data.target_lang), table_languages(path.name)
    if is_swapped(by_name, requested):
        by_name = by_name[::-1]
    if data.columns is None and None not in (requested[0] or by_name[0], requested[1] or by_name[1]):
        return by_name
    try:
        by_content = open_pairs(path, requested, data.columns, data.invalid_utf8).languages
    except DragomanError:
        by_content = None, None  # the error is raised again when the pairs are read
    return by_content[0] or by_name[0], by_content[1] or by_name[1]


def _refuse_swapped(source: str, target: str, requested: Languages) -> None:
    """Refuse two files whose names say the opposite direction."""
    by_name = _known(file_language(source)), _known(file_language(target))
    if None not in by_name and is_swapped(by_name, requested):
        problem = f"the files' names say {by_name[0]} and {by_name[1]}, and the other direction is asked for"
        raise ConfigError(problem, f"{source} and {target}", advice="give the files the other way round")


def _read_named(data: DataConfig, split: Split) -> ParallelText:
    corpus, langs = data.corpus or "", languages(data)
    if corpus == multi30k.NAME:
        source, target = (multi30k.multi30k_file(split, lang) for lang in langs)
        return _two_files(source, target, "error")
    if corpus in TASKS:
        pairs = in_direction(corpus, getattr(standard_corpus(corpus), split), *langs)
        return ParallelText.of_pairs(corpus, lambda: iter(pairs))
    if corpus.startswith(HUB):
        if data.columns is None and UNKNOWN in langs:
            advice = "give --source-lang and --target-lang, or two columns: --columns"
            raise ConfigError(f"the languages of {corpus} are not given", advice=advice)
        return read_hub(corpus, split, langs, data.columns)
    names = ", ".join((multi30k.NAME, *TASKS))
    raise ConfigError(f"unknown corpus {corpus!r}", advice=f"known are {names}, and {HUB}<name> with extra 'hub'")


def _two_files(source: Path, target: Path, invalid_utf8: InvalidUtf8) -> ParallelText:
    files = {"source": source, "target": target}
    if are_subtitles(source, target):
        return ParallelText(f"{source} and {target}", open_subtitles(source, target), files)
    return ParallelText(f"{source} and {target}", open_two_files(source, target, invalid_utf8), files)
