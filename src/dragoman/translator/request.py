"""Requests for translations."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

from dragoman.content.comparing import CHECK_NAMES
from dragoman.errors import ConfigError
from dragoman.memories import THRESHOLD, TranslationMemory, check_threshold
from dragoman.text.protection import Stretch, merged, protection
from dragoman.text.terms import FoundTerm, TermList
from dragoman.translator.checking import checked_stretches, flag, kind, share, string, string_list, translation_memory
from dragoman.translator.demanded_terms import demanded_terms

#: The name that switches off the flag `low_confidence`.
CONFIDENCE = "confidence"
#: The name of the check of letters that a language does not use.
SCRIPT = "script"
#: The most texts before one that a model reads with it.
MOST_CONTEXT = 3
#: The names that `Request.off` takes.
SWITCHES = (*CHECK_NAMES, SCRIPT, CONFIDENCE)


@dataclass(frozen=True)
class Request:
    """A text to translate, with everything that belongs to this text alone."""

    text: str
    #: The beginning of the translation.
    prefix: str = ""
    #: True translates each sentence by itself, False the whole text if the model can read it. None takes as many
    #: sentences at once as a line of the training text had, or the whole text if the bundle does not say.
    sentences: bool | None = None
    #: Align the words of the translation with those of the text, by the attention of the first model.
    align: bool = False
    #: The language of the text, and the one to translate into; None is the model's own. A model that translates into
    #: several needs the second, unless the text begins with a tag such as ">>de<<".
    source_lang: str | None = None
    target_lang: str | None = None
    #: Stretches of the text (start and end, in characters) that its translation must have, unchanged, once each.
    verbatim: Sequence[Stretch] = ()
    #: Parts of the text that a document marks and that have no letters, such as a price in a tag of its own. Prices
    #: among them are written by a rule, as a text of nothing but a price is, so that they stay whole.
    marked: Sequence[str] = ()
    #: Rules that find more of them: regular expressions, or names of presets ("printf,urls"; see `text.protection`).
    protect: str | Sequence[str] | None = None
    #: Translations by people. That of an equal text is used; those of similar texts, whose score is at least the
    #: threshold, are in `Translation.memory`.
    memory: TranslationMemory | None = None
    memory_threshold: float = THRESHOLD
    #: Terms whose translations are demanded, or that are not translated.
    terms: TermList | None = None
    #: Find the words of the translation that are doubtful, by the probabilities of their tokens.
    doubts: bool = False
    #: The confidence that a translation must have; below it, the text itself stands in its place, with a flag.
    min_confidence: float | None = None
    #: Checks to switch off: what they would find is neither flagged nor repaired, and candidates are not chosen by it.
    off: Sequence[str] = ()
    #: Return what the model says: the text is cleaned and encoded, nothing else is read into it, and the translation is
    #: neither checked nor repaired, so it has no flags. It is cut only if it is too long, or by `sentences`. Protected
    #: stretches of documents, which `verbatim` names, are put back if they are lost.
    plain: bool = False
    #: The texts before it in its document, which a model with `data.context` reads before it; others do not.
    context: Sequence[str] = ()

    @property
    def needs_calibration(self) -> bool:
        """True if only a calibrated model can answer it."""
        return self.doubts or self.min_confidence is not None

    def checked(self, owner: str) -> Self:
        """Check the types of its values, and return it.

        Args:
            owner: the end of each value's name in a message: " of request 2".

        Raises:
            ConfigError: a value has a wrong type.
        """
        string(self.text, f"the text{owner}")
        string(self.prefix, f"the prefix{owner}")
        flag(self.align, f"align{owner}")
        flag(self.doubts, f"doubts{owner}")
        flag(self.plain, f"plain{owner}")
        self._check_off(owner)
        string_list(self.context, f"text of the context{owner}")
        if self.min_confidence is not None:
            share(self.min_confidence, f"min_confidence{owner}")
        if self.sentences is not None:
            flag(self.sentences, f"sentences{owner}")
        for name, code in (("source_lang", self.source_lang), ("target_lang", self.target_lang)):
            if code is not None:
                string(code, f"{name}{owner}")
        if self.protect:
            protection(self._rules(owner))
        translation_memory(self.memory, f"the memory{owner}")
        check_threshold(self.memory_threshold)
        if self.terms is not None and not isinstance(self.terms, TermList):
            raise ConfigError(f"terms{owner} is {kind(self.terms)}", advice="give a TermList, or use read_terms")
        if self.verbatim:
            checked_stretches(self.verbatim, len(self.text), f"verbatim{owner}")
        return self

    def _check_off(self, owner: str) -> None:
        off = string_list(self.off, "check")
        if unknown := [name for name in off if name not in SWITCHES]:
            raise ConfigError(f"unknown check {unknown[0]!r}{owner}", advice=f"use {', '.join(SWITCHES)}")
        if not self.plain:
            return
        more = {
            "off": self.off,
            "protect": self.protect,
            "terms": self.terms,
            "memory": self.memory,
            "min_confidence": self.min_confidence is not None,
        }
        if used := [name for name, value in more.items() if value]:
            raise ConfigError(f"plain and {used[0]} contradict each other{owner}", advice="leave one of them out")

    @cached_property
    def demanded_terms(self) -> list[FoundTerm]:
        """The terms of the text that its translation must have."""
        return demanded_terms(self.text, self.terms, self.stretches())

    def stretches(self) -> list[Stretch]:
        """Return the stretches that the translation must have, in their order; those that overlap are one."""
        if not self.verbatim and not self.protect and not self.terms:
            return []
        found = protection(self._rules("")).stretches(self.text)
        found += [(start, end) for start, end, term in (self.terms or TermList()).find(self.text) if term.is_kept]
        return merged([*((start, end) for start, end in self.verbatim), *found])

    def _rules(self, owner: str) -> tuple[str, ...]:
        rules = [self.protect] if isinstance(self.protect, str) else self.protect or []
        return tuple(string_list(rules, f"protect{owner}"))


def checked_request(request: Request, number: int) -> Request:
    """Check that a request of a call is one, and the types of its values, and return it.

    Args:
        number: in the call, from 1, for messages.

    Raises:
        ConfigError: it is none, or a value has a wrong type.
    """
    if not isinstance(request, Request):
        raise ConfigError(f"request {number} is {kind(request)}", advice="give Requests")
    return request.checked(f" of request {number}")


def in_document(requests: Iterable[Request]) -> Iterator[Request]:
    """Yield the requests for the texts of a document, each but the first with those before it as its context."""
    before: Sequence[str] | None = None
    for request in requests:
        request = request if before is None else replace(request, context=before)
        yield request
        before = context_after(request)


def context_after(request: Request) -> tuple[str, ...]:
    """Return the context of the text after that of a request; an empty text ends a document."""
    return (*request.context, request.text)[-MOST_CONTEXT:] if request.text.strip() else ()
