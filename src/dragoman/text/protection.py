"""Stretches of a text that its translation must have unchanged: chosen by rules, which are presets or patterns.

A preset names kinds of spans (`text/spans.py`), or the markup of reStructuredText. Any other rule is a regular
expression.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import lru_cache
from typing import Self

from dragoman.errors import ConfigError
from dragoman.text.languages import UNSPACED
from dragoman.text.lazy_patterns import lazy_pattern
from dragoman.text.spans import Kind, find_spans

#: Start and end, in characters of a text.
Stretch = tuple[int, int]

#: Kinds of spans by the name of their preset.
PRESETS: dict[str, frozenset[Kind]] = {
    "printf": frozenset(("placeholder",)),
    "urls": frozenset(("url", "email")),
    "code": frozenset(("code",)),
    "mentions": frozenset(("mention",)),
    "emoji": frozenset(("emoji",)),
}
#: reStructuredText: roles, literals, substitutions, footnotes, references, and directives at the beginning.
RST = re.compile(
    r""":[A-Za-z][\w.+-]{0,40}(?::[A-Za-z][\w.+-]{0,40}){0,2}:`[^`]{1,300}`
    | ``[^`\s](?:[^`]|`(?!`)){0,300}``
    | (?<![\w|])\|[^|\s][^|]{0,60}\|(?:__?)?(?!\w)
    | `[^`\s<][^`<]{0,200}<[^<>`]{1,300}>`__?
    | `[^`]{1,200}`__?(?!\w)
    | \[(?:\d{1,3}|\#\w{0,40}|[A-Za-z]\w{0,40})\]_(?!\w)""",
    re.VERBOSE,
)
_PRESET_NAMES = (*PRESETS, "rst")
#: A rule that may be a list of presets.
_NAMES = re.compile(r"\w+(?:,\w+)*")
#: The similarity from which a word in small letters is a preset with a typo; see `difflib`.
_SIMILAR = 0.8
_WORD_CHARACTER = lazy_pattern(rf"[^\W{UNSPACED}]")


@dataclass(frozen=True)
class Protection:
    """Rules, compiled."""

    kinds: frozenset[Kind] = frozenset()
    patterns: tuple[re.Pattern[str], ...] = ()

    @classmethod
    def of(cls, rules: Sequence[str]) -> Self:
        """Compile rules: each a regular expression, or presets with commas between them ("printf,urls").

        Raises:
            ConfigError: a rule is no regular expression, or has an unknown preset beside a known one or much like one.
        """
        kinds: frozenset[Kind] = frozenset()
        patterns = []
        for rule in rules:
            names = rule.split(",")
            if not _NAMES.fullmatch(rule) or not any(
                get_close_matches(name, _PRESET_NAMES, 1, _SIMILAR) for name in names
            ):
                patterns.append(_compiled(rule))
                continue
            for name in names:
                if name not in _PRESET_NAMES:
                    advice = f"the presets are {', '.join(_PRESET_NAMES)}; to protect the word, write (?:{name})"
                    raise ConfigError(f"unknown preset {name!r}", advice=advice)
                kinds |= PRESETS.get(name, frozenset())
                patterns += [RST] if name == "rst" else []
        return cls(kinds, tuple(patterns))

    def stretches(self, text: str) -> list[Stretch]:
        """Return the protected stretches of a text in their order; those that overlap are one."""
        found = [(span.start, span.end) for span in find_spans(text) if span.kind in self.kinds] if self.kinds else []
        for pattern in self.patterns:
            found += [match.span() for match in pattern.finditer(text)]
        return merged(found)


@lru_cache(maxsize=64)
def protection(rules: tuple[str, ...]) -> Protection:
    """Return the compiled rules, as `Protection.of` does; those of earlier calls are kept."""
    return Protection.of(rules)


def merged(stretches: Iterable[Stretch]) -> list[Stretch]:
    """Return stretches in their order, without empty ones; those that overlap are one.

    >>> merged([(4, 6), (0, 2), (1, 3), (6, 7), (9, 9)])
    [(0, 3), (4, 6), (6, 7)]
    """
    together: list[Stretch] = []
    for start, end in sorted(stretches):
        if together and start < together[-1][1]:
            together[-1] = (together[-1][0], max(end, together[-1][1]))
        elif start < end:
            together.append((start, end))
    return together


def overlaps(stretch: Stretch, others: Iterable[Stretch]) -> bool:
    """Return True if a stretch shares a character with one of others.

    >>> overlaps((2, 4), [(0, 2), (4, 6)]), overlaps((2, 4), [(3, 6)])
    (False, True)
    """
    return any(stretch[0] < end and start < stretch[1] for start, end in others)


def longer(stretches: Iterable[Stretch], others: Sequence[Stretch]) -> list[Stretch]:
    """Return the stretches that are no part of one of others.

    >>> longer([(2, 4), (2, 8)], [(0, 5)])
    [(2, 8)]
    """
    return [one for one in stretches if not any(start <= one[0] and one[1] <= end for start, end in others)]


def occurrences(text: str, part: str) -> list[Stretch]:
    """Return the places of a part in a text, except inside a longer word: "cat" is not in "category".

    >>> occurrences("cat, category: cat", "cat")
    [(0, 3), (15, 18)]
    """
    is_word_before, is_word_after = (_WORD_CHARACTER.match(part[end]) is not None for end in (0, -1))
    found, start = [], text.find(part)
    while start >= 0:
        end = start + len(part)
        is_inside = start > 0 and is_word_before and _WORD_CHARACTER.match(text, start - 1)
        if is_inside or (is_word_after and _WORD_CHARACTER.match(text, end)):
            end = start + 1
        else:
            found.append((start, end))
        start = text.find(part, end)
    return found


def _compiled(rule: str) -> re.Pattern[str]:
    try:
        return re.compile(rule)
    except (re.error, RecursionError, OverflowError) as error:
        raise ConfigError(
            f"{rule!r} is no regular expression ({error})", advice="correct it, or name a preset"
        ) from None
