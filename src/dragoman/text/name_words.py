"""Words of a text that may be names, by their capitals."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from dragoman.text.capitalized_words import is_translated
from dragoman.text.languages import UNSPACED, WITHOUT_SPACES, base_language
from dragoman.text.place_names import place_rows
from dragoman.text.protection import Stretch, overlaps
from dragoman.text.tags import UNKNOWN

_LETTER = rf"[^\W\d_{UNSPACED}]"
_JOINT = "['’-]"
#: A word with its hyphens, and with apostrophes before two letters or more: "O'Connor", but not the "s" of "Tom's".
_WORD = re.compile(
    rf"(?<![^\W{UNSPACED}])(?<![@#/.\\_-]){_LETTER}+(?:{_JOINT}{_LETTER}{{2,}})*(?![^\W{UNSPACED}]|[@/\\_-]|\.\w)"
)
#: French articles and the like before a vowel: "L'Italie". "D'Angelo" is a name.
_ELIDED = re.compile("(?:[CJLMNSTcdjlmnst]|[Qq]u)['’]")
_ELIDED_BEFORE = re.compile(rf"{_ELIDED.pattern}\Z")
#: The beginning of a sentence, of a quotation or of a clause after a colon.
_BEGINNING = re.compile(r"(?:\A|[.!?:;…\"„“”«»「‘(–—])\s*\Z")
#: Characters before a word that tell where it stands.
_NEAR = 24
#: Languages in which all nouns have capitals.
_NOUNS_HAVE_CAPITALS = frozenset(("de", "lb"))
#: German words that end like an adjective or an article, and may stand before a name all the same.
_BEFORE_NAMES = "aber|bitte|denn|gegen|hinter|neben|oder|ohne|unter|wegen|wenn|wie|wieder|zwischen|über"
#: A German article, adjective or number before a noun. Names of people seldom have one.
_BEFORE_NOUN = re.compile(
    rf"(?<!\w)(?!(?:{_BEFORE_NAMES})\s)(?:[^\W\d_]+(?:e|em|en|er|es)|das|(?:[ksm]|d)?ein|ihr|viel|mehr|"
    r"\w*(?:hundert|tausend|zig)|am|im|vom|zum|zur|beim|ins|ans|\d+)\s\Z",
    re.IGNORECASE,
)
#: Ends of German nouns that are no names, and letters of the longest name.
_NOUN = re.compile(r"(?:ung|heit|keit|schaft|[ts]ion|tät|ismus|nis|chen)(?:en|s|se)?\Z|.{13}")
#: German places that are peoples after an article or an adjective: "alle Polen".
_PEOPLES = frozenset(("Bayern", "Polen", "Schweden", "Ungarn"))
#: A text of so many words is a heading if more than two in three have a capital.
_SHORTEST_HEADING = 4


class NameWord(NamedTuple):
    """A word that may be a name, by its capital or by a table of names in Chinese characters."""

    start: int
    end: int
    #: Only names have a capital in its place, or are in the table.
    is_marked: bool
    #: How the target language writes it, the usual form first; none if it stays as it is.
    forms: tuple[str, ...] = ()


def find_names(text: str, language: str, others: Sequence[Stretch] = ()) -> list[list[NameWord]]:
    """Return the words of a text that may be names, in groups of neighbours: "Tom Jackson" is one group.

    In a heading, where most words have capitals, none is found. In German, where all nouns have capitals, words
    after an article, an adjective or a number are left out, except places. A text that ends like a sentence is
    no heading, nor is one in a script without spaces: all its Latin words with a capital are found.

    Args:
        language: the code of its language.
        others: places whose words are no names.

    >>> text = "Tell Wang Fang that O'Connor is here."
    >>> [[text[word.start : word.end] for word in group] for group in find_names(text, "en")]
    [['Tell', 'Wang', 'Fang'], ["O'Connor"]]
    """
    language = base_language(language)
    words = [match.span() for match in _WORD.finditer(text)]
    capitalized = [place for start, end in words if (place := _name_place(text, (start, end), language))]
    is_german = language in _NOUNS_HAVE_CAPITALS
    has_headings = not is_german and language not in WITHOUT_SPACES and not text.rstrip().endswith((".", "!"))
    if has_headings and len(words) >= _SHORTEST_HEADING and 3 * len(capitalized) > 2 * len(words):
        return []
    found = [NameWord(*place, _is_marked(text, place[0], language)) for place in capitalized]
    if is_german:
        found = [word for word in found if not _is_german_noun(text, word)]
    if others:
        found = [word for word in found if not overlaps(word[:2], others)]
    return _groups(text, found)


def _name_place(text: str, word: tuple[int, int], language: str) -> tuple[int, int] | None:
    """Return the place of a word without an elided article; None if a part has no capital."""
    start, end = word
    if language == "fr" and (elided := _ELIDED.match(text, start, end)):
        start = elided.end()
    parts = re.split(_JOINT, text[start:end])
    is_name = (
        not is_translated(text[start:end], language)
        and all(part[:1].isupper() for part in parts)
        and any(map(str.islower, parts[-1]))
    )
    return (start, end) if is_name else None


def _is_marked(text: str, start: int, language: str) -> bool:
    if language in WITHOUT_SPACES:
        return True
    before = text[max(0, start - _NEAR) : start]
    is_inside = not _BEGINNING.search(_ELIDED_BEFORE.sub("", before) if language == "fr" else before)
    return is_inside and language not in _NOUNS_HAVE_CAPITALS and language != UNKNOWN


def _is_german_noun(text: str, word: NameWord) -> bool:
    before = text[max(0, word.start - _NEAR) : word.start]
    own = text[word.start : word.end]
    if own in place_rows("de"):  # "München" ends like a noun, and "die Schweiz" has an article
        return own in _PEOPLES and _BEFORE_NOUN.search(before) is not None
    return _NOUN.search(own) is not None or _BEFORE_NOUN.search(before) is not None


def _groups(text: str, words: Sequence[NameWord]) -> list[list[NameWord]]:
    groups: list[list[NameWord]] = []
    for word in words:
        if groups and text[groups[-1][-1].end : word.start] == " ":
            groups[-1].append(word)
        else:
            groups.append([word])
    return groups
