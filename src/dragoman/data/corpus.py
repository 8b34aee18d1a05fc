"""Parallel text by name or from files: two files with one sentence a line, or one file of pairs (`tables`).

A blank line is a pair of empty sides, which no training uses. Each file may be compressed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice, zip_longest
from pathlib import Path
from typing import Literal

from dragoman.corpora.synthetic import TASKS
from dragoman.data import named
from dragoman.data.formats.column_names import Languages, is_swapped
from dragoman.data.formats.file_names import UNKNOWN_LANGUAGE as UNKNOWN_LANGUAGE
from dragoman.data.formats.file_names import file_language, table_languages
from dragoman.data.formats.json_lines import Keys, object_pair
from dragoman.data.formats.tables import InvalidUtf8, NumberedLine, Table, open_table
from dragoman.data.text_files.file_signatures import refuse_documents
from dragoman.data.text_files.lines import Line, check_text_file, count_lines, read_lines
from dragoman.errors import ConfigError, DataError, DragomanError
from dragoman.machine.storage import sha256
from dragoman.settings.data_config import DataConfig

Split = Literal["train", "validation", "test"]

#: The languages of the captions, of people and made.
CAPTIONS = ("en", "de")


class LineCountError(DataError):
    """Two files of different numbers of lines.

    Args:
        counts: lines of the source and of the target.
        details: where a line may be missing, a line of the message each.
    """

    def __init__(self, counts: tuple[int, int], source: Path, target: Path, details: Sequence[str] = ()) -> None:
        self.counts, self.files = counts, (source, target)
        super().__init__(
            f"different numbers of lines, {counts[0]:,} and {counts[1]:,}",
            f"{source} and {target}",
            advice="each line of one must be the translation of the same line of the other",
            details=details,
        )


@dataclass(frozen=True)
class ParallelText:
    """Pairs of lines that can be read again and again.

    Args:
        name: what it is called in messages.
        read: starts reading; gives every pair, also those with an unreadable side.
        files: the files it comes from, by what they are ("source", "target", "pairs").
        table: the file of pairs that it is, whose pairs are not its lines.
    """

    name: str
    read: Callable[[], Iterator[tuple[Line, Line]]]
    files: Mapping[str, Path] = field(default_factory=dict)
    table: Table | None = None

    def __iter__(self) -> Iterator[tuple[str, str]]:
        """The pairs of which both sides are readable."""
        for source, target in self.read():
            if isinstance(source, str) and isinstance(target, str):
                yield source, target

    @property
    def notes(self) -> tuple[str, ...]:
        """Lines for people about how the file is read."""
        return () if self.table is None else self.table.notes

    def numbered(self) -> Iterator[NumberedLine]:
        """Yield (line, source, target) for every pair: the line of the file where the pair begins."""
        if self.table is not None:
            return self.table.numbered()
        return ((number, source, target) for number, (source, target) in enumerate(self.read(), start=1))

    def line_of(self, index: int) -> int:
        """Return the line where a pair begins, given its place among the pairs, from 0."""
        return index + 1 if self.table is None else next(islice(self.table.numbered(), index, None))[0]

    def count(self) -> int:
        """How many pairs there are; those with an unreadable side count too where lines of a file are counted.

        Raises:
            DataError: a file cannot be read.
        """
        if self.table is not None:
            return self.table.count()
        return count_lines(next(iter(self.files.values()))) if self.files else sum(1 for _ in self)

    def fingerprints(self) -> dict[str, str]:
        """SHA-256 of each file's bytes, or of the text where there is no file.

        Raises:
            DataError: a file cannot be read.
        """
        if self.files:
            return {role: _file_hash(path) for role, path in self.files.items()}
        digest = hashlib.sha256()
        for source, target in self:
            digest.update(f"{source}\n{target}\n".encode(errors="surrogatepass"))
        return {"text": digest.hexdigest()}


def read_pairs(data: DataConfig, split: Split) -> ParallelText:
    """The pairs of a split, not yet read.

    Raises:
        ConfigError: the configuration names no such split, or an unknown corpus.
        DataError: a named corpus cannot be had, or (while reading) a file is not what it should be.
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
        return _pairs(path, open_table(path, (source_lang, target_lang), data.columns, data.invalid_utf8))
    if source is not None and target is not None:
        _refuse_swapped(source, target, (data.source_lang, data.target_lang))
        return _two_files(Path(source), Path(target), data.invalid_utf8)
    assert data.corpus is not None
    return _named(data, split)


def available_splits(data: DataConfig) -> tuple[Split, ...]:
    """The splits that the configuration names; validation data may still be held out of the training split."""
    if data.corpus is not None and not data.corpus.startswith(named.HUB):
        return "train", "validation", "test"
    hub: tuple[Split, ...] = ("train",) if data.corpus is not None else ()
    splits: tuple[Split, ...] = ("train", "validation", "test")
    return hub + tuple(split for split in splits if any(data.files(split)))


def languages(data: DataConfig) -> tuple[str, str]:
    """(source language, target language): what was set, else what the files' names or a table say, else "und"."""
    given: Languages = (data.source_lang, data.target_lang)
    found: Languages = (None, None)
    if data.corpus == "multi30k" or data.corpus == "captions":
        found = CAPTIONS
    elif data.source is not None and data.target is not None:
        found = _known(file_language(data.source)), _known(file_language(data.target))
    elif data.pairs is not None:
        found = _table_languages(Path(data.pairs), data)
    return given[0] or found[0] or UNKNOWN_LANGUAGE, given[1] or found[1] or UNKNOWN_LANGUAGE


def are_others(these: Collection[str], those: Collection[str]) -> bool:
    """Whether languages are known to differ, place by place."""
    return these != those and UNKNOWN_LANGUAGE not in (*these, *those)


def _known(language: str) -> str | None:
    return None if language == UNKNOWN_LANGUAGE else language


def _table_languages(path: Path, data: DataConfig) -> Languages:
    """The languages of a file of pairs: those of its name, the right way round; without any, those of its columns."""
    given, named_so = (data.source_lang, data.target_lang), table_languages(path.name)
    if is_swapped(named_so, given):
        named_so = named_so[::-1]
    if data.columns is None and None not in (given[0] or named_so[0], given[1] or named_so[1]):
        return named_so
    try:
        found = open_table(path, given, data.columns, data.invalid_utf8).languages
    except DragomanError:
        found = None, None  # told when the pairs are read
    return found[0] or named_so[0], found[1] or named_so[1]


def _refuse_swapped(source: str, target: str, wanted: Languages) -> None:
    """Refuse two files whose names say the other direction than is asked for."""
    named_so = _known(file_language(source)), _known(file_language(target))
    if None not in named_so and is_swapped(named_so, wanted):
        what = f"the files' names say {named_so[0]} and {named_so[1]}, and the other direction is asked for"
        raise ConfigError(what, f"{source} and {target}", advice="give the files the other way round")


def _named(data: DataConfig, split: Split) -> ParallelText:
    corpus, (source_lang, target_lang) = data.corpus, languages(data)
    assert corpus is not None
    if corpus == "multi30k":
        paths = [named.multi30k_file(split, lang) for lang in (source_lang, target_lang)]
        return _two_files(paths[0], paths[1], "error")
    if corpus in TASKS:
        made = turned(corpus, named.made_pairs(corpus, split), source_lang, target_lang)
        return ParallelText(corpus, lambda: iter(made))
    if corpus.startswith(named.HUB):
        columns = data.columns.split(",") if data.columns is not None else [source_lang, target_lang]
        if UNKNOWN_LANGUAGE in columns:
            advice = "give --source-lang and --target-lang, or two columns: --columns"
            raise ConfigError(f"the languages of {corpus} are not given", advice=advice)
        rows, names = named.hub_rows(corpus, split), (columns[0].strip(), columns[1].strip())
        keys = Keys((names,) if data.columns is not None else (("source", "target"), names))
        return ParallelText(corpus, lambda: (object_pair(row, keys, corpus, n) for n, row in enumerate(rows, start=1)))
    known = ", ".join(("multi30k", *TASKS))
    raise ConfigError(f"unknown corpus {corpus!r}", advice=f"known are {known}, and {named.HUB}<name> with extra 'hub'")


def turned(
    corpus: str, made: Sequence[tuple[str, str]], source_lang: str, target_lang: str
) -> Sequence[tuple[str, str]]:
    """The pairs of a corpus that is made, in the direction asked for; captions alone have one.

    Raises:
        ConfigError: captions have other languages.
    """
    if corpus != "captions" or (source_lang, target_lang) == CAPTIONS:
        return made
    if (target_lang, source_lang) != CAPTIONS:
        what = f"captions are English and German, not {source_lang} and {target_lang}"
        raise ConfigError(what, advice="use en and de, either way round")
    return [(target, source) for source, target in made]


def _two_files(source: Path, target: Path, invalid_utf8: InvalidUtf8) -> ParallelText:
    def read() -> Iterator[tuple[Line, Line]]:
        sides = read_lines(source, invalid_utf8, states[0]), read_lines(target, invalid_utf8, states[1])
        for n_pairs, (left, right) in enumerate(zip_longest(*sides)):
            if left is None or right is None:
                n_longer = n_pairs + 1 + sum(1 for _ in sides[left is None])
                counts = (n_pairs, n_longer) if left is None else (n_longer, n_pairs)
                raise LineCountError(counts, source, target)
            yield left, right

    states = check_text_file(source), check_text_file(target)  # the same in every pass over the text
    for path in (source, target):
        refuse_documents(path)
    return ParallelText(f"{source} and {target}", read, {"source": source, "target": target})


def _pairs(path: Path, table: Table) -> ParallelText:
    def read() -> Iterator[tuple[Line, Line]]:
        return ((source, target) for _, source, target in table.numbered())

    return ParallelText(str(path), read, {"pairs": path}, table)


def _file_hash(path: Path) -> str:
    check_text_file(path)
    try:
        return sha256(path)
    except OSError as error:
        raise DataError(f"cannot read ({error.strerror})", path, advice="check the file") from None
