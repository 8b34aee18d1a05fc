"""Test sets of benchmarks/real_text.py: real text by kind, with references, and what other systems made of it.

A set that is larger than the sample is cut: the sources with the smallest SHA-256 stay, in the order of the file. So
each run, and each system, has the same ones.
"""

from __future__ import annotations

import gzip
import hashlib
import html
import os
import tarfile
import tempfile
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from dragoman.data.formats import open_pairs
from dragoman.errors import DataError

Direction = tuple[str, str]
Pair = tuple[str, str]
#: A longer message of documentation is several paragraphs.
MOST_WORDS = 60
#: Files of `world/` for each kind that is read from there.
WORLD = {"interface": "deb-mo", "mail": "thunderbird", "dialogue": "wesnoth", "chat": "bcontrast"}


@dataclass(frozen=True)
class TextSet:
    """Sources of one kind in one direction."""

    kind: str
    direction: Direction
    sources: Sequence[str]
    #: One or several right translations of each source.
    references: Sequence[Sequence[str]]
    #: Other systems' translations of each source, by the system's name.
    stored: Mapping[str, Sequence[str]] = field(default_factory=dict)
    #: Lines of the whole set, if this is a sample.
    n_whole: int | None = None

    @property
    def of(self) -> int:
        """The number of lines of the whole set."""
        return len(self.sources) if self.n_whole is None else self.n_whole

    def sample(self, size: int) -> TextSet:
        """Return the set with at most so many sources."""
        lines = chosen(self.sources, size)
        stored = {name: [texts[line] for line in lines] for name, texts in self.stored.items()}
        sources = [self.sources[line] for line in lines]
        references = [self.references[line] for line in lines]
        return TextSet(self.kind, self.direction, sources, references, stored, self.of)


def chosen(sources: Sequence[str], size: int) -> list[int]:
    """Return the indices of the sources with the smallest hashes, in their order."""
    order = sorted(range(len(sources)), key=lambda line: (digest(sources[line]), line))
    return sorted(order[:size])


def digest(text: str) -> str:
    """Return the hash by which texts are chosen."""
    return hashlib.sha256(text.encode()).hexdigest()


def data_folder() -> Path:
    """Return the folder of the data.

    Raises:
        DataError: DRAGOMAN_DATA names none.
    """
    path = Path(name := os.environ.get("DRAGOMAN_DATA", ""))
    if not name or not path.is_dir():
        raise DataError(
            f"DRAGOMAN_DATA names no folder ({name})" if name else "DRAGOMAN_DATA is not set",
            advice="give the path of the folder that has real-text/",
        )
    return path.absolute()


def read_set(kind: str, direction: Direction) -> TextSet | None:
    """Return the whole set of a kind; None if there is none for the direction.

    Raises:
        DataError: a file is damaged.
    """
    try:
        return KINDS[kind](kind, direction)
    except (OSError, EOFError, UnicodeError, tarfile.TarError, zipfile.BadZipFile) as error:
        raise DataError(f"the text of kind {kind} cannot be read ({error})", data_folder()) from error


def _lines(kind: str, direction: Direction) -> TextSet | None:
    """Read a set that is the same text in several languages, line by line."""
    archive, text, systems = {
        "encyclopedic": ("flores-dev", "flores-dev/{}.txt", "flores-dev/systems/{}-{}."),
        "news": ("news-2013", "news/2013.{}", "news/systems/2013.{}-{}."),
    }[kind]
    files = _archive(data_folder() / "real-text" / f"{archive}.tar.xz")
    sides = [files.get(text.format(language)) for language in direction]
    if None in sides:
        return None
    sources, targets = (side for side in sides if side is not None)
    start = systems.format(*direction)
    stored = {
        name.removeprefix(start).removesuffix(".txt"): list(map(html.unescape, lines))  # Google's have &quot;
        for name, lines in files.items()
        if name.startswith(start) and not name.endswith(".bleu")
    }
    for name, lines in (("the references", targets), *stored.items()):
        if len(lines) != len(sources):
            raise DataError(f"{len(sources):,} sources, but {name} has {len(lines):,} lines", f"{archive}: {start}*")
    return TextSet(kind, direction, sources, [[target] for target in targets], stored)


@cache
def _archive(path: Path) -> dict[str, list[str]]:
    """Return the lines of each file in an archive; none if there is no archive."""
    if not path.exists():
        return {}
    with tarfile.open(path) as files:
        opened = ((each.name, files.extractfile(each)) for each in files if each.isfile())
        return {name: split_lines(file.read().decode()) for name, file in opened if file is not None}


def split_lines(text: str) -> list[str]:
    """Return the lines of a text; only a line feed ends one."""
    return text.removesuffix("\n").split("\n")


def grouped(kind: str, direction: Direction, pairs: Iterable[Pair]) -> TextSet | None:
    """Return a set of pairs, where equal sources share their references; None without pairs."""
    references: dict[str, list[str]] = {}
    for source, target in pairs:
        if source.strip() and target.strip() and target not in references.setdefault(source, []):
            references[source].append(target)
    return TextSet(kind, direction, list(references), list(references.values())) if references else None


def _with_english(kind: str, direction: Direction, read: Callable[[str], Iterable[Pair]]) -> TextSet | None:
    """Return a set whose files have English on the left side, in either direction."""
    if "en" not in direction:
        return None
    is_forward = direction[0] == "en"
    pairs = read(direction[1] if is_forward else direction[0])
    return grouped(kind, direction, pairs if is_forward else ((target, source) for source, target in pairs))


def _health(kind: str, direction: Direction) -> TextSet | None:
    return _with_english(kind, direction, _tico)


def _tico(language: str) -> Iterator[Pair]:
    path = data_folder() / "tico-19" / f"all.en-{language}.tmx.zip"
    if path.exists():
        with tempfile.TemporaryDirectory() as scratch, zipfile.ZipFile(path) as archive:
            file = Path(archive.extract(archive.namelist()[0], scratch))
            yield from (
                (str(source), str(target))
                for _, source, target in open_pairs(file, ("en", language), None, "error").read()
            )


def _documentation(kind: str, direction: Direction) -> TextSet | None:
    return _with_english(kind, direction, _messages)


def _messages(language: str) -> list[Pair]:
    """Return messages of held-out files that no recipe of the project learns from, in any language.

    Those of code alone are left out: copying them would be counted as translating.
    """
    from documentation import ARCHIVES, is_held_out, po_files, translated
    from everyday_text import LETTERS

    if language not in ARCHIVES or not (data_folder() / "python-docs" / ARCHIVES[language]).exists():
        return []
    held_out = (content for name, content in po_files(language).items() if is_held_out(name))
    pairs = [
        (" ".join(each.msgid.split()), " ".join(each.msgstr.split()))
        for content in held_out
        for each in translated(content)
    ]
    return [
        (source, target)
        for source, target in pairs
        if source not in _learned_messages()
        and source != target
        and len(source.split()) <= MOST_WORDS
        and sum(each.isalpha() or each == " " for each in source) >= LETTERS * len(source)
    ]


@cache
def _learned_messages() -> set[str]:
    """Return the English messages of documentation that `everyday` has learned in either language."""
    from documentation import ARCHIVES
    from everyday_text import VALIDATION_SIZE, messages

    paths = [data_folder() / "python-docs" / name for name in ARCHIVES.values()]
    return {source for path in paths if path.exists() for source, _ in messages(path)[:-VALIDATION_SIZE]}


def _world(kind: str, direction: Direction) -> TextSet | None:
    def read(language: str) -> Iterator[Pair]:
        path = data_folder() / "world" / f"en-{language}" / f"{WORLD[kind]}.val.tsv.gz"
        if path.exists():
            yield from (split_pair(line) for line in split_lines(gzip.decompress(path.read_bytes()).decode()))

    return _with_english(kind, direction, read)


def split_pair(line: str) -> Pair:
    """Return the two sides of a line.

    Raises:
        DataError: it has not two.
    """
    source, tab, target = line.partition("\t")
    if not tab or "\t" in target:
        raise DataError(f"a line with {line.count(chr(9)) + 1} columns, not two: {line[:60]}")
    return source, target


def _everyday(kind: str, direction: Direction) -> TextSet | None:
    from everyday_sets import validation_set

    between = [direction] if "en" in direction else [("en", language) for language in direction]
    names = [[f"tatoeba-{one}-{other}", f"tatoeba-{other}-{one}"] for one, other in between]
    if not all(any((data_folder() / name).is_dir() for name in either) for either in names):
        return None
    return grouped(kind, direction, ((s, t) for s, targets in validation_set(direction).items() for t in targets))


#: The kinds of text, each with the function that reads its set.
KINDS: Mapping[str, Callable[[str, Direction], TextSet | None]] = {
    "encyclopedic": _lines,
    "news": _lines,
    "health": _health,
    "documentation": _documentation,
    **dict.fromkeys(WORLD, _world),
    "everyday": _everyday,
}
