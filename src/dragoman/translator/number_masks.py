"""Numbers, dates and prices of a text that the model reads as masks, and that are written in the target language."""

from __future__ import annotations

from collections.abc import Container
from typing import NamedTuple

from dragoman.text.languages import have_rules
from dragoman.text.quantities import Quantity, find_quantities, is_bare_amount
from dragoman.translator.directions import TaggedText


class Written(NamedTuple):
    """A part of a text, and how the target language writes it."""

    start: int
    end: int
    form: str


def first_numbers(tagged: TaggedText, marked: Container[str]) -> list[Written]:
    """Return the numbers that are masked at once: all of a bare amount, and the prices that a document marks.

    Args:
        tagged: a text and its languages.
        marked: see `Request.marked`.
    """
    if not any(map(str.isdecimal, tagged.text)) or not have_rules(tagged.pair):
        return []
    if is_bare_amount(tagged.text, tagged.target_lang):
        return all_numbers(tagged)
    found = find_quantities(tagged.text, *tagged.pair) if marked else []
    return [_written(each) for each in found if each.is_time_or_price and tagged.text[each.start : each.end] in marked]


def all_numbers(tagged: TaggedText) -> list[Written]:
    """Return the numbers of a text that can be masked; none if the rules do not know both languages."""
    return [_written(each) for each in find_quantities(tagged.text, *tagged.pair)] if have_rules(tagged.pair) else []


def _written(quantity: Quantity) -> Written:
    return Written(quantity.start, quantity.end, quantity.forms[0])
