"""Numbers, dates and prices of a text that the model reads as masks, and that are written in the target language."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterator
from typing import NamedTuple

from dragoman.content.entity import Entity
from dragoman.content.find import find
from dragoman.content.language import Language, language_of, languages_of
from dragoman.content.write import write
from dragoman.translator.directions import TaggedText

_DIGIT = re.compile(r"\d")
#: An amount with a sign, without words: "£1,450.50", not "£20 billion".
_PRICE = re.compile(r"[^\w\s]?\s?\d[\d.,'’ \u00a0\u202f]*[^\w\s]?")
#: Numbers that stay as they are: telephone numbers, as they are written within a country or from abroad; dates and
#: the like in digits alone; versions: "Python 3.12".
_AS_IT_IS = re.compile(
    r"(?<![\w.,+])(?:\+\d|0)\d*(?:[ /-]\d+)+(?![\w,])|(?<![\w.])\d+(?:[./-]\d+){2,}(?![\w,])"
    r"|(?<=\w[ ,;:] )[A-Z][\w+#-]*\s\d+\.\d[\d.]*|(?:\b[Vv]ersion|\b[Vv])\s?\d+\.\d[\d.]*"
)


class Written(NamedTuple):
    """A part of a text, and how the target language writes it."""

    start: int
    end: int
    form: str


def first_numbers(tagged: TaggedText, marked: Container[str], is_known: Callable[[str], bool]) -> list[Written]:
    """Return the numbers that are masked at once: all of a bare amount, the prices that a document marks, and those
    with a sign that the model does not know.

    Args:
        tagged: a text and its languages.
        marked: see `Request.marked`.
        is_known: returns True for a character that has a piece of its own.
    """
    if not _DIGIT.search(tagged.text):
        return []
    source = _source(tagged)
    entities = find(tagged.text, source) if source is not None else []
    if entities and _is_bare(tagged.text, entities):
        return all_numbers(tagged)
    prices = {
        entity[1:3]
        for entity in entities
        if entity.kind == "money"
        and (tagged.text[entity.start : entity.end] in marked or _has_unknown_sign(tagged.text, entity, is_known))
    }
    return [each for each in all_numbers(tagged) if each[:2] in prices] if prices else []


def all_numbers(tagged: TaggedText) -> list[Written]:
    """Return the numbers of a text that can be masked; none if there is no data on one of the languages."""
    source, target = _source(tagged), language_of(tagged.target_lang)
    return [] if source is None or target is None else [*_written(tagged.text, source, target)]


def _source(tagged: TaggedText) -> Language | None:
    """Return the language of a text: if it may be in several, the one in which most of it is numbers and amounts."""

    def covered(language: Language) -> int:
        return sum(entity.end - entity.start for entity in find(tagged.text, language))

    languages = languages_of(tagged.pair[0])
    return languages[0] if len(languages) == 1 else max(languages, key=covered, default=None)


def _has_unknown_sign(text: str, price: Entity, is_known: Callable[[str], bool]) -> bool:
    sign = _sign(text[price.start : price.end])
    is_whole = _PRICE.fullmatch(text, price.start, price.end) and not text[price.end : price.end + 1].isalpha()
    return bool(is_whole) and not sign.isascii() and not all(map(is_known, sign))


def _is_bare(text: str, entities: list[Entity]) -> bool:
    """Return True if a text has prices or measures, and no words."""
    rest, end = [], 0
    for entity in entities:
        rest.append(text[end : entity.start])
        end = entity.end
    has_amount = any(entity.kind in ("money", "measure") for entity in entities)
    return has_amount and not any(map(str.isalpha, "".join([*rest, text[end:]])))


def _written(text: str, source: Language, target: Language) -> Iterator[Written]:
    """Yield the numbers of a text with digits. Whole numbers without separators stay as they are: 007, 2026, 4711."""
    kept = [match.span() for match in _AS_IT_IS.finditer(text)]
    places = {place for start, end in kept for place in range(start, end)}
    found = [Written(start, end, text[start:end]) for start, end in kept]
    for entity in find(text, source):
        own = text[entity.start : entity.end]
        if _DIGIT.search(own) and places.isdisjoint(range(entity.start, entity.end)):
            stays = entity.kind == "cardinal" and own.isdecimal()
            found.append(Written(entity.start, entity.end, own if stays else _form(entity, own, source, target)))
    yield from sorted(found)


def _form(entity: Entity, own: str, source: Language, target: Language) -> str:
    """Return an entity as the target language writes it: with its own sign and in groups, if its text has them."""

    def fits(form: str) -> tuple[bool, bool]:
        return _sign(form) == _sign(own), _is_grouped(form, target) == _is_grouped(own, source)

    return max(write(entity, target), key=fits)


def _is_grouped(written: str, language: Language) -> bool:
    return re.search(rf"\d{re.escape(language.cldr['group'])}\d", written) is not None


def _sign(written: str) -> str:
    return "".join(each for each in written if not (each.isdecimal() or each.isspace() or each in ".,'’"))
