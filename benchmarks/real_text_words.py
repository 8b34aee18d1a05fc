"""Words of a text, and those that Hunspell's dictionaries do not know."""

from __future__ import annotations

import re
import shutil
import subprocess
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from dragoman.errors import DragomanError
from dragoman.text.languages import UNSPACED, WITHOUT_SPACES

TABLES = Path(__file__).parent / "real_text"
_LETTER = rf"(?:(?![{UNSPACED}])[^\W_])"
_WORD = re.compile(rf"[{UNSPACED}]+|{_LETTER}+(?:'{_LETTER}+)*")
_UNSPACED = re.compile(f"[{UNSPACED}]")
#: Characters of Chinese or Japanese that stand for one English word (FLORES, 997 lines: 1.6 and 2.4).
CHARACTERS_A_WORD = {"zh": 1.6, "ja": 2.4}


def read_table(name: str) -> list[list[str]]:
    """Return the rows of a table in real_text/."""
    lines = (TABLES / name).read_text(encoding="utf-8").splitlines()
    return [line.split("\t") for line in lines if line and not line.startswith("#")]


def words(text: str) -> list[str]:
    """Return the words of a text: letters with apostrophes between them, or a run of characters without spaces."""
    found: list[str] = _WORD.findall(unicodedata.normalize("NFKC", text).replace("’", "'"))
    return [word for word in found if not any(map(str.isdigit, word))]


def is_unspaced(word: str) -> bool:
    """Return True for a run of Chinese characters, kana or the like."""
    return bool(_UNSPACED.match(word))


def n_words(text: str, language: str) -> int:
    """Return the number of words; in a language without spaces, each of its characters counts as one."""
    found = words(text)
    return sum(len(each) if language in WITHOUT_SPACES and is_unspaced(each) else 1 for each in found)


def length(text: str, language: str) -> float:
    """Return the length of a source in words, or in as many characters as an English word takes."""
    if language in CHARACTERS_A_WORD:
        return n_words(text, language) / CHARACTERS_A_WORD[language]
    return len(text.split())


def longest_part(word: str) -> str:
    """Return the part of a word between apostrophes that says most: "homme" of "l'homme"."""
    return max(word.split("'"), key=len)


@dataclass(frozen=True)
class Dictionary:
    """Hunspell's dictionaries of one language; a word is known if one of them has it, compounds included."""

    names: str
    #: Nouns have a capital, so a capital does not tell a name from a word.
    has_capital_nouns: bool

    def unknown(self, candidates: Iterable[str]) -> set[str]:
        """Return the words that are not known. One with apostrophes may be known as a whole, or by its longest part."""
        own = set(candidates)
        wrong = own & self._listed(own)
        wrong_parts = self._listed(set(map(longest_part, wrong)))
        return {word for word in wrong if longest_part(word) in wrong_parts}

    def known(self, candidates: Iterable[str]) -> set[str]:
        """Return the words that are known in small letters: names are not. Where nouns have capitals, as they are."""
        forms = {word: word if self.has_capital_nouns else word.lower() for word in candidates}
        wrong = self.unknown(forms.values())
        return {word for word, form in forms.items() if form not in wrong}

    def _listed(self, candidates: set[str]) -> set[str]:
        """Return what Hunspell lists, in one call for all words."""
        if not candidates:
            return set()
        command = ["hunspell", "-l", "-i", "utf-8", "-d", self.names]
        given = "\n".join(sorted(candidates)) + "\n"
        done = subprocess.run(
            command, input=given, capture_output=True, text=True, encoding="utf-8", errors="replace", check=False
        )
        if done.returncode:
            raise DragomanError(f"hunspell failed ({done.stderr.strip()[:200]})", self.names)
        return set(done.stdout.split("\n"))


@cache
def dictionary(language: str) -> Dictionary | None:
    """Return the dictionary of a language; None if the program or a dictionary is not installed."""
    rows: dict[str, Sequence[str]] = {code: rest for code, *rest in read_table("dictionaries.tsv")}
    if language not in rows or shutil.which("hunspell") is None:
        return None
    names, capitals = rows[language]
    done = subprocess.run(["hunspell", "-l", "-d", names], input="", capture_output=True, text=True, check=False)
    return None if done.returncode else Dictionary(names, capitals == "yes")
