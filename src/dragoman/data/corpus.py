"""Parallel text by name or from files: two files with one sentence a line, one TSV file, or one JSONL file.

A TSV line is source, tab, target. A JSONL line is an object with "source" and "target", or with the two language codes
as keys, either itself or under "translation". A blank line is a pair of empty sides, which no training uses. Each file
may be compressed.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path
from typing import Literal

from dragoman.config import LANGUAGE_CODE, DataConfig
from dragoman.data import named
from dragoman.data.compression import COMPRESSED_SUFFIXES, uncompressed_name
from dragoman.data.formats import has_document_suffix, refuse_documents
from dragoman.data.lines import Line, Unreadable, check_text_file, count_lines, read_lines
from dragoman.data.synthetic import TASKS
from dragoman.errors import ConfigError, DataError
from dragoman.storage import sha256

Split = Literal["train", "validation", "test"]

#: The code of a language that nobody named (ISO 639-2).
UNKNOWN_LANGUAGE = "und"
#: The languages of the captions, of people and made.
CAPTIONS = ("en", "de")
#: What file names end in that looks like a language: kinds of files, sides, and what was done to the text.
_NOT_LANGUAGES = re.compile("bpe|csv|dat|dev|hyp|lc|log|low|out|raw|ref|sp|spm|src|sys|tgt|tmp|tok|trg|xml")
_TABLES = (".tsv", ".jsonl")
_NO_PART_OF_NAME = (".txt", *_TABLES, *COMPRESSED_SUFFIXES)
_HEADERS = frozenset((("source", "target"), ("src", "tgt"), ("src", "trg")))


@dataclass(frozen=True)
class ParallelText:
    """Pairs of lines that can be read again and again.

    Args:
        name: what it is called in messages.
        read: starts reading; gives every pair, also those with an unreadable side.
        files: the files it comes from, by what they are ("source", "target", "pairs").
    """

    name: str
    read: Callable[[], Iterator[tuple[Line, Line]]]
    files: Mapping[str, Path] = field(default_factory=dict)

    def __iter__(self) -> Iterator[tuple[str, str]]:
        """The pairs of which both sides are readable."""
        for source, target in self.read():
            if isinstance(source, str) and isinstance(target, str):
                yield source, target

    def count(self) -> int:
        """How many pairs there are; those with an unreadable side count too where lines of a file are counted.

        Raises:
            DataError: a file cannot be read.
        """
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
            raise ConfigError("no corpus is given", advice="give --source and --target, or data.corpus in a recipe")
        has = ", ".join(available_splits(data)) or "none"
        raise ConfigError(f"no {split} data is given", advice=f"set data.{split}_source and _target (given: {has})")
    source_lang, target_lang = languages(data)
    source, target, pairs = data.files(split)
    if pairs is not None:
        return _table(Path(pairs), source_lang, target_lang, data.invalid_utf8)
    if source is not None and target is not None:
        return _two_files(Path(source), Path(target), data.invalid_utf8)
    assert data.corpus is not None
    return _named(data.corpus, split, source_lang, target_lang)


def available_splits(data: DataConfig) -> tuple[Split, ...]:
    """The splits that the configuration names; validation data may still be held out of the training split."""
    if data.corpus is not None and not data.corpus.startswith(named.HUB):
        return "train", "validation", "test"
    hub: tuple[Split, ...] = ("train",) if data.corpus is not None else ()
    splits: tuple[Split, ...] = ("train", "validation", "test")
    return hub + tuple(split for split in splits if any(data.files(split)))


def languages(data: DataConfig) -> tuple[str, str]:
    """(source language, target language): what was set, else the file names' suffixes, else "und"."""
    if data.corpus == "multi30k" or data.corpus == "captions":
        found = CAPTIONS
    elif data.source is not None and data.target is not None:
        found = file_language(data.source), file_language(data.target)
    elif data.pairs is not None:
        found = _pair_suffix(data.pairs)
    else:
        found = (UNKNOWN_LANGUAGE, UNKNOWN_LANGUAGE)
    return data.source_lang or found[0], data.target_lang or found[1]


def are_others(these: Collection[str], those: Collection[str]) -> bool:
    """Whether languages are known to differ, place by place."""
    return these != those and UNKNOWN_LANGUAGE not in (*these, *those)


def file_language(name: str) -> str:
    """The language that a file name ends in: "train.de.gz" and "train.de.txt" are German; else "und"."""
    return _language(Path(file_stem(name)).suffix.removeprefix("."))


def file_stem(name: str) -> str:
    """The name of a file without its folder and what says how it is read: "data/train.de.txt.gz" is "train.de"."""
    path = Path(name)
    while path.suffix in _NO_PART_OF_NAME:
        path = path.with_suffix("")
    return path.name


def _pair_suffix(name: str) -> tuple[str, str]:
    """The languages of "corpus.en-de.tsv"."""
    match = re.fullmatch("([a-z]{2,3})[-_]([a-z]{2,3})", Path(file_stem(name)).suffix.removeprefix("."))
    return (_language(match[1]), _language(match[2])) if match else (UNKNOWN_LANGUAGE, UNKNOWN_LANGUAGE)


def _language(suffix: str) -> str:
    is_code = LANGUAGE_CODE.fullmatch(suffix) and not _NOT_LANGUAGES.fullmatch(suffix)
    return suffix if is_code and not has_document_suffix(f"x.{suffix}") else UNKNOWN_LANGUAGE


def _named(corpus: str, split: Split, source_lang: str, target_lang: str) -> ParallelText:
    if corpus == "multi30k":
        paths = [named.multi30k_file(split, lang) for lang in (source_lang, target_lang)]
        return _two_files(paths[0], paths[1], "error")
    if corpus in TASKS:
        made = turned(corpus, named.made_pairs(corpus, split), source_lang, target_lang)
        return ParallelText(corpus, lambda: iter(made))
    if corpus.startswith(named.HUB):
        keys = source_lang, target_lang
        if UNKNOWN_LANGUAGE in keys:
            raise ConfigError(f"the languages of {corpus} are not given", advice="give source_lang and target_lang")
        rows = named.hub_rows(corpus, split)
        return ParallelText(corpus, lambda: (_pair(row, keys, corpus, n) for n, row in enumerate(rows, start=1)))
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


def _two_files(source: Path, target: Path, invalid_utf8: Literal["error", "drop"]) -> ParallelText:
    def read() -> Iterator[tuple[Line, Line]]:
        sides = read_lines(source, invalid_utf8, states[0]), read_lines(target, invalid_utf8, states[1])
        for n_pairs, (left, right) in enumerate(zip_longest(*sides)):
            if left is None or right is None:
                n_longer = n_pairs + 1 + sum(1 for _ in sides[left is None])
                counts = (n_pairs, n_longer) if left is None else (n_longer, n_pairs)
                raise DataError(
                    f"different numbers of lines, {counts[0]:,} and {counts[1]:,}",
                    f"{source} and {target}",
                    advice="each line of one must be the translation of the same line of the other",
                )
            yield left, right

    states = check_text_file(source), check_text_file(target)  # the same in every pass over the text
    for path in (source, target):
        refuse_documents(path)
    return ParallelText(f"{source} and {target}", read, {"source": source, "target": target})


def _table(path: Path, source_lang: str, target_lang: str, invalid_utf8: Literal["error", "drop"]) -> ParallelText:
    kind = uncompressed_name(path).suffix
    if kind not in _TABLES:
        raise ConfigError("a file of pairs is a .tsv or .jsonl file", path, advice="save it as one, or give two files")
    keys = source_lang, target_lang
    headers = _HEADERS if UNKNOWN_LANGUAGE in keys else _HEADERS | {keys}

    def read() -> Iterator[tuple[Line, Line]]:
        for number, line in enumerate(read_lines(path, invalid_utf8, state), start=1):
            if isinstance(line, Unreadable):
                yield line, line
            elif not line.strip():
                yield "", ""
            elif kind == ".tsv":
                columns = _columns(line, path, number)
                if number == 1 and tuple(map(str.lower, columns)) in headers:
                    raise DataError("names of columns, not a pair", path, line=1, advice="take it off: tail -n +2")
                yield columns
            else:
                yield _pair(_json(line, path, number), keys, path, number)

    state = check_text_file(path)
    return ParallelText(str(path), read, {"pairs": path})


def _columns(line: str, path: Path, number: int) -> tuple[str, str]:
    columns = line.split("\t")
    if len(columns) != 2:
        advice = "each line must be the source, a tab, and the target"
        if len(columns) > 2:
            advice += "; take two of the columns: cut -f1,2"
        raise DataError(f"{len(columns) - 1} tabs", path, line=number, advice=advice)
    return columns[0], columns[1]


def _json(line: str, path: Path, number: int) -> object:
    try:
        value: object = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise DataError(f"not JSON ({error})", path, line=number, advice="each line must be one object") from None
    return value


def _pair(row: object, keys: tuple[str, str], where: str | Path, number: int) -> tuple[str, str]:
    """Source and target of a JSON object."""
    objects = [row, row.get("translation")] if isinstance(row, dict) else []
    for names in (("source", "target"), keys):
        for each in objects:
            if isinstance(each, dict) and all(isinstance(each.get(name), str) for name in names):
                return each[names[0]], each[names[1]]
    codes = "set source_lang and target_lang to two other keys"
    if UNKNOWN_LANGUAGE not in keys:
        codes = f'give "{keys[0]}" and "{keys[1]}"'
    raise DataError("no pair of strings", where, line=number, advice=f'give "source" and "target", or {codes}')


def _file_hash(path: Path) -> str:
    check_text_file(path)
    try:
        return sha256(path)
    except OSError as error:
        raise DataError(f"cannot read ({error.strerror})", path, advice="check the file") from None
