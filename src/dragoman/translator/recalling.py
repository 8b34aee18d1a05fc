"""Translations from a memory: that of an equal text, in place of a search, and those of similar texts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from dragoman.errors import ConfigError
from dragoman.memories.translation_memory import ALMOST, MemoryMatch
from dragoman.text.cleaning import collapse_spaces, sanitize
from dragoman.text.protection import occurrences
from dragoman.text.tags import UNKNOWN
from dragoman.text.terms import missing_terms
from dragoman.translator.checking import kind
from dragoman.translator.demanded_terms import demanded_terms
from dragoman.translator.planning import Planner
from dragoman.translator.request import Request
from dragoman.translator.results import Alternative, Flag, Translation


@dataclass(frozen=True)
class Recalled:
    """A request, and what its memory has for it."""

    request: Request
    #: None if the text must be searched for.
    translation: Translation | None
    matches: tuple[MemoryMatch, ...] = ()


def recall(planner: Planner, request: Request, number: int) -> Recalled:
    """Look a request up in its memory.

    The translation of an equal text is used, unless it lacks a protected stretch, or does not begin with the prefix.

    Args:
        number: of the request, for messages.

    Raises:
        ConfigError: a value of the request has a wrong type, or the model has no such language.
    """
    if not isinstance(request, Request):
        raise ConfigError(f"request {number} is {kind(request)}", advice="give Requests")
    request.checked(f" of request {number}")
    if request.memory is None:
        return Recalled(request, None)
    tagged = planner.tagged(request)
    target = None if tagged.target_lang == UNKNOWN else tagged.target_lang
    source = None if tagged.source_lang == UNKNOWN else tagged.source_lang
    matches = request.memory.lookup(tagged.text, source, target, threshold=request.memory_threshold)
    if not matches or matches[0].score < 1:
        return Recalled(request, None, tuple(matches))
    if (translation := fitting_translation(request, matches)) is None:
        best, *others = matches
        return Recalled(request, None, (replace(best, score=ALMOST), *others))
    return Recalled(request, translation, tuple(matches))


def fitting_translation(request: Request, matches: Sequence[MemoryMatch]) -> Translation | None:
    """Return the translation of an equal text, the first match, if it fits the request; else None.

    A person chose its words, so terms are only checked.
    """
    text = collapse_spaces(sanitize(matches[0].target))
    if not _fits(request, text):
        return None
    terms = [term for _, _, term in demanded_terms(request.text, request.terms, request.stretches())]
    missing = tuple(term.source for term in missing_terms(terms, text))
    flags: tuple[Flag, ...] = ("term_missing",) if missing else ()
    alternatives = (Alternative(text, 0.0, 0.0, ()),)
    return Translation(text, 0.0, (), alternatives, flags=flags, memory=tuple(matches), missing_terms=missing)


def _fits(request: Request, translation: str) -> bool:
    """Return True if a translation begins as the request demands, and has its protected stretches."""
    kept = [request.text[start:end] for start, end in request.stretches()]
    is_kept = all(len(occurrences(translation, stretch)) >= kept.count(stretch) for stretch in dict.fromkeys(kept))
    return is_kept and translation.startswith(collapse_spaces(sanitize(request.prefix)))
