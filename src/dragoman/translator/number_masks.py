"""The numbers of a text that reserved pieces stand for, so that a rule writes them in the target language."""

from __future__ import annotations

from dragoman.text.languages import have_rules
from dragoman.text.quantities import Quantity, find_quantities, is_bare_amount
from dragoman.translator.directions import TaggedText
from dragoman.translator.request import Request


def quantities_to_mask(request: Request, tagged: TaggedText, *, is_lost: bool) -> list[Quantity]:
    """Return the quantities of a text that are masked: all of a bare amount, and the prices that a document marks.

    There are none in a plain request, or if the rules do not know both languages.

    Args:
        tagged: the text of the request, and its languages.
        is_lost: a translation lost one, so that times and prices are masked, or all by the rule `numbers`.
    """
    languages = tagged.pair
    if request.plain or not have_rules(languages):
        return []
    masks_all = is_bare_amount(tagged.text, languages[1]) or (is_lost and "numbers" in request.rules)
    found = find_quantities(tagged.text, *languages) if masks_all or is_lost or request.marked else []
    if masks_all:
        return found
    known = [each for each in found if each.is_time_or_price]
    return known if is_lost else [each for each in known if tagged.text[each.start : each.end] in request.marked]
