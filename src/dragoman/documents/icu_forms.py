"""Messages of ICU with forms: each form becomes a whole sentence, is translated, and the syntax around it stays.

"You have {n, plural, one {# cat} other {# cats}}." has the forms "You have # cat." and "You have # cats.", because a
language may put the words around a form elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from dragoman.documents.document import Part
from dragoman.documents.messages import Form, Forms, Moved

_SPACE = r"(?:\s|\\[nrt])*+"
_HEAD = re.compile(
    rf"\{{{_SPACE}(?P<name>[^{{}},\s]{{1,100}}){_SPACE},{_SPACE}(?P<kind>plural|selectordinal|select){_SPACE},{_SPACE}"
    rf"(?P<offset>offset:{_SPACE}\d{{1,9}}{_SPACE})?"
)
_KEY = re.compile(rf"(?P<key>=\d{{1,9}}|[^\s{{}},\\]{{1,60}})(?P<rest>{_SPACE}\{{)")
_GAP = re.compile(_SPACE)
_QUOTED = re.compile(r"'[{}][^']*'?")
#: Sentences that a message may become, and messages inside each other.
_MOST_FORMS, _MOST_DEPTH = 40, 6


class FormsError(ValueError):
    """A message is malformed, or has too many forms."""


@dataclass(frozen=True)
class _Choice:
    """A message with forms: each is its characters before its category, its category, and its items."""

    head: str
    name: str
    kind: str
    forms: Sequence[tuple[str, str, Sequence[_Item]]]
    gaps: Sequence[str]
    end: str


_Item = str | _Choice


def forms_parts(raw: str, leaf: Callable[[str, bool], list[Part]]) -> list[Part]:
    """Return the parts of a text with forms.

    Args:
        leaf: returns those of a sentence; True says that `#` stands for a number in it.

    Raises:
        FormsError: it is malformed, or has too many forms.
    """
    items, end = _items(raw, 0, 0)
    if end < len(raw):
        raise FormsError
    whole = _whole(items, "")
    if _n_forms(whole) > _MOST_FORMS:
        raise FormsError
    parts = _parts(whole, leaf, has_number=False)
    return parts if whole == items else [Moved(raw, parts)]


def _items(raw: str, at: int, depth: int) -> tuple[list[_Item], int]:
    """Return the items from a place up to a bracket that closes more than was opened, and its place."""
    items: list[_Item] = []
    start = at
    n_open = 0
    while at < len(raw):
        quoted = _QUOTED.match(raw, at)
        head = _HEAD.match(raw, at) if raw[at] == "{" else None
        if quoted:
            at = quoted.end()
        elif head:
            items.append(raw[start:at])
            choice, at = _choice(raw, head, depth + 1)
            items.append(choice)
            start = at
        elif raw[at] == "}" and not n_open:
            break
        else:
            n_open += (raw[at] == "{") - (raw[at] == "}")
            at += 1
    return [*items, raw[start:at]], at


def _choice(raw: str, head: re.Match[str], depth: int) -> tuple[_Choice, int]:
    forms: list[tuple[str, str, Sequence[_Item]]] = []
    gaps: list[str] = []
    at = head.end()
    while match := _KEY.match(raw, at):
        items, at = _items(raw, match.end(), depth)
        if at >= len(raw) or depth > _MOST_DEPTH or head["offset"]:
            raise FormsError
        forms.append(("", match["key"], [match["rest"], *items]))
        at += 1
        gap = _GAP.match(raw, at)
        gaps.append(gap[0] if gap else "")
        at += len(gaps[-1])
    if not forms or raw[at : at + 1] != "}":
        raise FormsError
    return _Choice(head[0], head["name"], head["kind"], forms, gaps[:-1], f"{gaps[-1]}}}"), at + 1


def _whole(items: Sequence[_Item], number: str) -> list[_Item]:
    """Return items with the text around a choice inside each of its forms.

    Args:
        number: the name that `#` stands for.
    """
    found = next((at for at, item in enumerate(items) if isinstance(item, _Choice)), None)
    if found is None:
        return [*items]
    choice = items[found]
    assert isinstance(choice, _Choice)
    before, after = items[:found], items[found + 1 :]
    is_number = choice.kind != "select"
    if number and is_number:  # `#` means another number there
        before, after = (
            [one.replace("#", f"{{{number}}}") if isinstance(one, str) else one for one in several]
            for several in (before, after)
        )
    if not any(isinstance(one, _Choice) or _GAP.sub("", one) for one in (*before, *after)):
        around: tuple[Sequence[_Item], Sequence[_Item]] = (before, after)
        before = after = []
    else:
        around = ([], [])
    forms = [
        (start, key, [rest[0], *_whole([*before, *rest[1:], *after], choice.name if is_number else number)])
        for start, key, rest in choice.forms
    ]
    if _n_forms([replace(choice, forms=forms)]) > _MOST_FORMS:
        raise FormsError
    return [*around[0], replace(choice, forms=forms), *around[1]]


def _n_forms(items: Sequence[_Item]) -> int:
    return sum(
        1 if isinstance(item, str) else sum(_n_forms(rest[1:]) for _, _, rest in item.forms)
        for item in items
        if not isinstance(item, str) or item
    )


def _parts(items: Sequence[_Item], leaf: Callable[[str, bool], list[Part]], *, has_number: bool) -> list[Part]:
    choice = next((item for item in items if isinstance(item, _Choice)), None)
    if choice is None:
        return leaf("".join(map(str, items)), has_number)
    at = items.index(choice)
    is_number = choice.kind != "select"
    forms = [
        Form(before, key, [str(rest[0]), *_parts(rest[1:], leaf, has_number=has_number or is_number), "}"])
        for before, key, rest in choice.forms
    ]
    found = Forms(forms, choice.gaps, " ", is_plural=choice.kind == "plural")
    return [*map(str, items[:at]), choice.head, found, choice.end, *map(str, items[at + 1 :])]
