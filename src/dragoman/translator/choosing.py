"""The choice among the candidates of a segment: the first that keeps its spans and its numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from dragoman.content.comparing import SPANS
from dragoman.text.odd_characters import foreign_letters
from dragoman.text.shouting import shout
from dragoman.text.terms import missing_terms
from dragoman.translator.content_check import CheckContext, content_faults, has_span_faults
from dragoman.translator.plans import Plan
from dragoman.translator.reading import RESERVED, Reading
from dragoman.translator.request import SCRIPT
from dragoman.translator.results import Flag
from dragoman.translator.searching import Candidate


class Choice(NamedTuple):
    """The candidates of a segment, the chosen one first."""

    candidates: Sequence[Candidate]
    #: The flags of what the first has lost.
    flags: Sequence[Flag]
    #: The sources of the terms that the first lacks.
    missing_terms: Sequence[str] = ()
    #: The names of the repairs by which a second search has found the first.
    repairs: Sequence[str] = ()


def ranked(plan: Plan, candidates: Sequence[Sequence[Candidate]]) -> list[Choice]:
    """Return the choice among the candidates of each of a plan's jobs.

    Raises:
        ValueError: there are not as many candidates as jobs.
    """
    if len(candidates) != len(plan.searched):
        raise ValueError(f"candidates of {len(candidates)} jobs for a plan of {len(plan.searched)}")
    pairs = zip(plan.searched, candidates, strict=True)
    return [rank(segment.reading, beam, text.languages.pair) for (text, segment), beam in pairs]


def rank(reading: Reading, candidates: Sequence[Candidate], languages: tuple[str, str]) -> Choice:
    """Put the best candidate first. The others stay in their order.

    It has no fault, each span once, the same numbers, and all terms. If there is none, it is the one with the fewest
    flags, and of those the one that lacks the fewest terms.
    Candidates for a plain reading stay in their order; only their protected stretches are looked at.

    Args:
        reading: what the model read.
        candidates: of a segment, the best first.
        languages: codes of the source and the target language.
    """
    if reading.is_plain:
        wanted = [*reading.unmasked, *(piece for piece, _ in reading.masks)]
        lost = any(text not in candidates[0].text for text in wanted)
        return Choice(candidates, ["span"] if lost else [])
    candidates = [candidate._replace(text=with_right_masks(reading, candidate.text)) for candidate in candidates]
    flags = [_flags(reading, candidate.text, languages) for candidate in candidates]
    missing = [_missing(reading, candidate.text) for candidate in candidates]
    is_sound = [candidate.hypothesis.finished and not candidate.hypothesis.faults for candidate in candidates]

    def faults(number: int) -> tuple[bool, int, int]:
        is_usable = is_sound[number] or not any(is_sound)
        return bool(flags[number]) or not is_usable, len(flags[number]), len(missing[number])

    first = min(range(len(candidates)), key=faults)
    term_flags: list[Flag] = ["term_missing"] if missing[first] else []
    others = [*candidates[:first], *candidates[first + 1 :]]
    return Choice([candidates[first], *others], [*flags[first], *term_flags], missing[first])


def losses(reading: Reading, translation: str, languages: tuple[str, str]) -> frozenset[tuple[str, str]]:
    """Return what a translation of a segment has lost: checks that it fails, and terms that it lacks.

    Each has the name of its check, or "terms", and what is wrong.

    Args:
        reading: what the model read of the segment.
        translation: without masks, and not yet in capitals.
    """
    source, context = reading.original, CheckContext(languages, reading.kept, reading.off, reading.terms)
    found = content_faults(source, translation, context)
    lost = {(fault.check, f"{fault.change} {fault.entity.value}") for fault in found}
    if has_foreign_letters(reading, translation, languages):
        lost.add((SCRIPT, ""))
    if has_span_faults(source, translation, context):
        lost.add((SPANS, ""))
    return frozenset([*lost, *(("terms", source) for source in _missing(reading, translation))])


def _flags(reading: Reading, translation: str, languages: tuple[str, str]) -> list[Flag]:
    """Return the flags of a candidate: of its spans as the model wrote them, of its numbers without masks."""
    context = CheckContext(languages, reading.kept, reading.off, reading.terms)
    as_written = context._replace(stretches=reading.unmasked)
    flags: list[Flag] = ["span"] if has_span_faults(reading.text, translation, as_written) else []
    if content_faults(reading.original, reading.unmask(translation), context):
        flags.append("number")
    return [*flags, "script"] if has_foreign_letters(reading, translation, languages) else flags


def has_foreign_letters(reading: Reading, translation: str, languages: tuple[str, str]) -> bool:
    """Return True if a candidate has letters that its language does not use, and the text does not have."""
    return SCRIPT not in reading.off and bool(foreign_letters(allowed_letters(reading), translation, languages[1]))


def allowed_letters(reading: Reading) -> str:
    """Return the text of a segment and the targets of its terms, whose letters a translation may have."""
    return reading.original + "".join(target for term in reading.terms for target in term.targets)


def _missing(reading: Reading, translation: str) -> list[str]:
    """Return the sources of the terms that a translation lacks, before it is put in capitals."""
    missing = missing_terms(reading.terms, translation, any_case=reading.is_shouted)
    return [term.source for term in missing]


def with_right_masks(reading: Reading, translation: str) -> str:
    """Return a translation with the one mask that it lacks in place of the one that its source lacks."""
    if not reading.masks:
        return translation
    masks, written = [piece for piece, _ in reading.masks], RESERVED.findall(translation)
    missing = [piece for piece in masks if piece not in written]
    invented = [piece for piece in written if piece not in masks]
    return translation.replace(*invented, *missing) if len(missing) == len(invented) == 1 else translation


def restored(reading: Reading, choice: Choice, target_lang: str) -> Choice:
    """Return a choice whose candidates have their spans, and the capitals that the segment has."""
    return choice._replace(candidates=[_restored(reading, one, target_lang) for one in choice.candidates])


def _restored(reading: Reading, candidate: Candidate, target_lang: str) -> Candidate:
    text = candidate.text
    if reading.is_shouted:
        text = shout(text, target_lang)
        reading = reading._replace(written=[(piece, shout(form, target_lang)) for piece, form in reading.written])
    return candidate._replace(text=reading.unmask(text))
