"""The terms of a model: the lines at the head of its card, as model cards of the Hugging Face hub have them.

    ---
    license: other
    license_name: cc-by-2.0-fr
    license_link: https://creativecommons.org/licenses/by/2.0/fr/
    commercial_use: true
    language: [en, de]
    ---

`commercial_use` is our own; without it, nothing is known about that.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

_HEAD = re.compile(r"\A---[ \t]*\n(.*?)^---[ \t]*$", re.DOTALL | re.MULTILINE)
#: Characters of a card in which its head ends.
_MAX_HEAD = 10_000


@dataclass(frozen=True)
class ModelTerms:
    """The licence that a card names; None where it says nothing."""

    license: str | None = None
    license_link: str | None = None
    commercial_use: bool | None = None

    def describe(self) -> str:
        """Return the terms in a few words.

        >>> ModelTerms("mit", commercial_use=True).describe()
        'mit: commercial use allowed'
        >>> ModelTerms("multi30k", commercial_use=False).describe()
        'multi30k: non-commercial use only'
        >>> ModelTerms("mit").describe(), ModelTerms().describe()
        ('mit', 'unknown')
        """
        uses = {True: "commercial use allowed", False: "non-commercial use only", None: ""}
        return ": ".join(part for part in (self.license or "unknown", uses[self.commercial_use]) if part)


def read_terms(card: str | None) -> ModelTerms:
    """Return the terms at the head of a card. A head that cannot be read counts as none."""
    head = card_head(card or "")
    name = _text(head.get("license_name")) if head.get("license") in (None, "other") else None
    use = head.get("commercial_use")
    license_name = name or _text(head.get("license"))
    return ModelTerms(license_name, _text(head.get("license_link")), use if isinstance(use, bool) else None)


def card_head(card: str) -> dict[str, Any]:
    """Return the settings at the head of a card; none if they cannot be read."""
    from dragoman.settings.yaml_loader import UNREADABLE, load_yaml

    match = _HEAD.match(card.replace("\r\n", "\n")[:_MAX_HEAD])
    try:
        head = load_yaml(match[1]) if match else None
    except UNREADABLE:
        head = None
    return head if isinstance(head, dict) else {}


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value.strip() else None
