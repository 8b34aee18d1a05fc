"""Repairs: at most one second search for a segment, and never for the worse."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from test_masking import N_RESERVED, Certain, ScriptedSearch, learned, pipeline

from dragoman.text.terms import Term, TermList
from dragoman.text.tokenizer import Tokenizers
from dragoman.translator import Request
from dragoman.translator.padding import IdPair
from dragoman.translator.repairs.second_search import MOST_COST

pytestmark = pytest.mark.torch
EN_DE = {"source_lang": "en", "target_lang": "de"}


@pytest.fixture(scope="module")
def masking() -> Tokenizers:
    return learned(N_RESERVED)


class Doubting(Certain):
    """A model that finds every repaired translation improbable."""

    def log_probs(self, pairs: Sequence[IdPair]) -> list[tuple[float, ...]]:
        return [(-MOST_COST - 3.0, *others[1:]) for others in super().log_probs(pairs)]


def loses_numbers(text: str) -> list[str]:
    return ["eins" if "12" in text else text]


def test_a_lost_number_is_written_in_place_of_its_mask(masking: Tokenizers) -> None:
    search = ScriptedSearch(masking, loses_numbers)
    (found,) = pipeline(search).translate([Request("a 12 b", **EN_DE)])
    assert (found.text, found.flags, search.read) == ("a 12 b", (), ["a 12 b", "a ⟨1⟩ b"])


def test_what_the_model_finds_implausible_is_flagged_and_left(masking: Tokenizers) -> None:
    stages = pipeline(ScriptedSearch(masking, loses_numbers))
    decoder = stages.second.decoder
    doubting = Doubting(decoder._models, decoder._search_models)
    stages = replace(stages, second=replace(stages.second, decoder=doubting))
    (found,) = stages.translate([Request("a 12 b", **EN_DE)])
    assert (found.text, found.flags) == ("eins", ("number",))


def test_a_repair_that_loses_something_else_is_not_taken(masking: Tokenizers) -> None:
    def forgetful(text: str) -> list[str]:
        return ["a ⟨1⟩ 7"] if "⟨2⟩" not in text else ["⟨2⟩"]

    search = ScriptedSearch(masking, forgetful)
    (found,) = pipeline(search).translate([Request("a {x} 12", **EN_DE)])
    assert (found.text, found.flags) == ("a {x} 7", ("number",))


def test_a_term_is_obeyed_at_any_cost(masking: Tokenizers) -> None:
    class Obedient(ScriptedSearch):
        def texts(self, job):  # type: ignore[no-untyped-def]
            written = ["".join(demand[0].pieces) for demand in job.required]
            return written or super().texts(job)

        def candidate(self, text, rank):  # type: ignore[no-untyped-def]
            made = super().candidate(text, rank)
            cost = 500.0 if text == "Pferd" else 0.0
            return made._replace(hypothesis=replace(made.hypothesis, log_prob=-cost, score=-cost))

    terms = TermList([Term("horse", ("Pferd",))])
    (found,) = pipeline(Obedient(masking, lambda text: [text])).translate([Request("horse", terms=terms, **EN_DE)])
    assert (found.text, found.flags) == ("Pferd", ())


def test_a_check_that_is_off_finds_nothing(masking: Tokenizers) -> None:
    search = ScriptedSearch(masking, loses_numbers)
    (found,) = pipeline(search).translate([Request("a 12 b", off=["numbers"], **EN_DE)])
    assert (found.text, found.flags, len(search.calls)) == ("eins", (), 1)
    search = ScriptedSearch(masking, lambda _: ["eins"])
    (found,) = pipeline(search).translate([Request("a {x} b", off=["spans"], **EN_DE)])
    assert (found.text, found.flags, len(search.calls)) == ("eins", (), 1)


def test_each_segment_is_searched_again_by_itself(masking: Tokenizers) -> None:
    search = ScriptedSearch(masking, loses_numbers)
    text = "A dog. It has 12 legs. A cat."
    (found,) = pipeline(search).translate([Request(text, sentences=True, **EN_DE)])
    assert found.text == text
    assert search.read == ["A dog.", "It has 12 legs.", "A cat.", "It has ⟨1⟩ legs."]
