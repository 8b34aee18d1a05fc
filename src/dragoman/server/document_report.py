"""A report on a translated document: what of it a person should check, as `dragoman translate` says it in warnings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from statistics import fmean
from typing import Any, get_args

from dragoman.documents.document import Document, Noted
from dragoman.text.marked_text import MarkedText
from dragoman.translator import Translation
from dragoman.translator.results import Flag

#: Segments that are listed, and characters of each text that are shown.
_MOST_LISTED, _MOST_CHARACTERS = 20, 200


def document_report(
    document: Document, segments: Sequence[MarkedText], translations: Sequence[Translation]
) -> dict[str, Any]:
    """Return the report as JSON has it.

    Its `flags` count the segments of each kind; `flagged` are the first of them, numbered from 1; `notes` are sentences
    on the whole document; `confidence` is the mean of those that segments have, or None.
    """
    counts = Counter(flag for translation in translations for flag in translation.flags)
    flagged = [number for number, translation in enumerate(translations) if translation.flags]
    confidences = [one.confidence for one in translations if one.confidence is not None]
    return {
        "segments": len(segments),
        "to_check": len(flagged),
        "flags": {flag: counts[flag] for flag in get_args(Flag) if flag in counts},
        "flagged": [_flagged(number, segments, translations[number]) for number in flagged[:_MOST_LISTED]],
        "notes": list(document.notes()) if isinstance(document, Noted) else [],
        "confidence": round(fmean(confidences), 4) if confidences else None,
    }


def _flagged(number: int, segments: Sequence[MarkedText], translation: Translation) -> dict[str, Any]:
    return {
        "number": number + 1,
        "text": _shortened(segments[number].text),
        "translation": _shortened(translation.text),
        "flags": list(translation.flags),
        "missing_terms": list(translation.missing_terms),
        "confidence": translation.confidence,
    }


def _shortened(text: str) -> str:
    return text if len(text) <= _MOST_CHARACTERS else f"{text[:_MOST_CHARACTERS]} …"
