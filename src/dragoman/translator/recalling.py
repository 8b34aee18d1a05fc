"""Translations from a memory: that of an equal text, in place of a search, and those of similar texts."""

from __future__ import annotations

from dataclasses import dataclass, replace

from dragoman.errors import ConfigError
from dragoman.memories import MemoryMatch
from dragoman.text.cleaning import collapse_spaces, sanitize
from dragoman.text.protection import occurrences
from dragoman.text.tags import UNKNOWN
from dragoman.text.terms import TermList, missing_terms
from dragoman.translator.checking import kind
from dragoman.translator.planning import Planner
from dragoman.translator.request import Request
from dragoman.translator.results import Alternative, Flag, Translation

#: The score of an equal text whose translation does not fit the request.
_UNFIT = 0.99


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
    text, _, _, source_lang, target_lang = planner.tagged(request)
    target = None if target_lang == UNKNOWN else target_lang
    source = None if source_lang == UNKNOWN else source_lang
    matches = request.memory.lookup(text, source, target, threshold=request.memory_threshold)
    if not matches or matches[0].score < 1:
        return Recalled(request, None, tuple(matches))
    best, *others = matches
    written = collapse_spaces(sanitize(best.target))
    if not fits(request, written):
        return Recalled(request, None, (replace(best, score=_UNFIT), *others))
    return Recalled(request, recalled_translation(request, written, (best, *others)), tuple(matches))


def recalled_translation(request: Request, text: str, matches: tuple[MemoryMatch, ...]) -> Translation:
    """Return a translation that a memory has. A person chose its words, so terms are only checked."""
    terms = [term for _, _, term in (request.terms or TermList()).find(request.text) if not term.is_kept]
    missing = tuple(term.source for term in missing_terms(terms, text))
    flags: tuple[Flag, ...] = ("term_missing",) if missing else ()
    alternatives = (Alternative(text, 0.0, 0.0, ()),)
    return Translation(text, 0.0, (), alternatives, flags=flags, memory=matches, missing_terms=missing)


def fits(request: Request, translation: str) -> bool:
    """Return True if a translation begins as the request demands, and has its protected stretches."""
    kept = [request.text[start:end] for start, end in request.stretches()]
    is_kept = all(len(occurrences(translation, stretch)) >= kept.count(stretch) for stretch in dict.fromkeys(kept))
    return is_kept and translation.startswith(collapse_spaces(sanitize(request.prefix)))
