"""The file of a bundle that has the words of its training text, for `dragoman.text.spelling`: text, compressed by gzip.

A line has the code of a language, a level, and all words of that level, with spaces between: "de 11 Frage haben". A
level is a power of two, the times that a word was seen, rounded down. A word that has a capital inside sentences is
written so.
"""

from __future__ import annotations

import gzip
import itertools
import operator
import re
import zlib
from collections import defaultdict
from pathlib import Path

from dragoman.errors import BundleError
from dragoman.machine.json_files import read_at_most
from dragoman.text.spelling import LONGEST, KnownWords, Spelling
from dragoman.text.spelling_learning import MOST_OF_ALL

#: The most bytes of a file, and of its text.
LARGEST_WORDS, _LARGEST_TEXT = 8_000_000, 24_000_000
_BEGINNING = re.compile(r"([a-z]{2,16}) ([0-9]|[1-5][0-9]) ")
_GZIP = 16 + zlib.MAX_WBITS


def words_text(spelling: Spelling) -> str:
    """Return the text of the file. The same words give the same text."""
    lines: dict[tuple[str, int], list[str]] = defaultdict(list)
    for language, known in spelling.languages.items():
        for word, level in known.levels.items():
            lines[language, -level].append(word[0].upper() + word[1:] if word in known.capitalized else word)
    return "".join(
        f"{language} {-level} {' '.join(sorted(lines[language, level]))}\n" for language, level in sorted(lines)
    )


def words_bytes(spelling: Spelling) -> bytes:
    """Return the content of the file."""
    return gzip.compress(words_text(spelling).encode(), mtime=0)


def read_words(path: Path) -> Spelling:
    """Read a file that may be a stranger's.

    Raises:
        BundleError: it is damaged, or no such file.
    """
    try:
        inflating = zlib.decompressobj(_GZIP)
        content = inflating.decompress(read_at_most(path, LARGEST_WORDS), _LARGEST_TEXT)
        if not inflating.eof or inflating.unused_data:
            raise ValueError("cut off, or too long")
        return _spelling(content.decode())
    except (OSError, ValueError, zlib.error) as error:
        raise BundleError(f"not the words of a model ({error})", path, advice="use another copy") from None


def _spelling(text: str) -> Spelling:
    n_words = 0
    levels: dict[str, dict[str, int]] = defaultdict(dict)
    capitalized: dict[str, list[str]] = defaultdict(list)
    for number, line in enumerate(text.removesuffix("\n").split("\n"), 1):
        n_words += line.count(" ") - 1
        if n_words > MOST_OF_ALL:
            raise ValueError("too many words")
        beginning, written, small = _BEGINNING.match(line), line.split(" ")[2:], line.lower().split(" ")[2:]
        if beginning is None or not all(map(str.isalpha, written)) or max(map(len, small)) > LONGEST:
            raise ValueError(f"line {number} is no language, level and words")
        language, level = beginning[1], int(beginning[2])
        levels[language].update(zip(small, itertools.repeat(level), strict=False))
        capitalized[language] += itertools.compress(small, map(operator.ne, written, small))
    return Spelling({language: KnownWords(own, frozenset(capitalized[language])) for language, own in levels.items()})
