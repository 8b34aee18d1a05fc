"""Repairs: at most one second search for a segment, and never for the worse."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from test_masking import N_RESERVED, Certain, ScriptedSearch, learned, pipeline
from tiny import PAIRS

from dragoman.settings.tokenizer_config import TokenizerConfig
from dragoman.text.learning import learn_tokenizers
from dragoman.text.surfaces import Surfaces
from dragoman.text.terms import Term, TermList, repeated_terms
from dragoman.text.tokenizer import Tokenizers
from dragoman.translator import Request
from dragoman.translator.forced_decoding import ForcedDecoder
from dragoman.translator.padding import IdPair
from dragoman.translator.pipeline import Pipeline
from dragoman.translator.plans import SearchJob
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


def judged_by(model: type[ForcedDecoder], stages: Pipeline) -> Pipeline:
    decoder = stages.second.decoder
    return replace(stages, second=replace(stages.second, decoder=model(decoder._models, decoder._search_models)))


def loses_numbers(text: str) -> list[str]:
    return ["eins" if "12" in text else text]


def test_a_lost_number_is_written_in_place_of_its_mask(masking: Tokenizers) -> None:
    search = ScriptedSearch(masking, loses_numbers)
    (found,) = pipeline(search).translate([Request("a 12 b", **EN_DE)])
    assert (found.text, found.flags, search.read) == ("a 12 b", (), ["a 12 b", "a ⟨1⟩ b"])
    assert found.repairs == ("numbers",)


def test_what_needed_no_repair_says_so(masking: Tokenizers) -> None:
    (found,) = pipeline(ScriptedSearch(masking, loses_numbers)).translate([Request("a b", **EN_DE)])
    assert (found.text, found.repairs) == ("a b", ())


@pytest.mark.parametrize(
    ("text", "at_last", "repairs"),
    [
        ("On Monday.", "am Montag", ("weekdays",)),
        ("On Monday. On Tuesday.", "am Montag am", ()),
        ("{x} on Monday.", "⟨1⟩ am Montag", ("spans", "weekdays")),
        ("{x} on Monday and Tuesday.", "⟨1⟩ am Montag", ("spans",)),
    ],
)
def test_a_check_that_still_fails_is_no_repair(
    masking: Tokenizers, text: str, at_last: str, repairs: tuple[str, ...]
) -> None:
    class Half(ScriptedSearch):
        def texts(self, job: SearchJob) -> Sequence[str]:
            return [at_last.removesuffix(" am") if job.required else "am"]

    (found,) = pipeline(Half(masking, lambda text: [text])).translate([Request(text, sentences=True, **EN_DE)])
    assert (found.text, found.repairs) == (at_last.replace("⟨1⟩", "{x}"), repairs)


def test_what_the_model_finds_implausible_is_flagged_and_left(masking: Tokenizers) -> None:
    stages = judged_by(Doubting, pipeline(ScriptedSearch(masking, loses_numbers)))
    (found,) = stages.translate([Request("a 12 b", **EN_DE)])
    assert (found.text, found.flags, found.repairs) == ("eins", ("number",), ())


def test_a_repair_that_loses_something_else_is_not_taken(masking: Tokenizers) -> None:
    def forgetful(text: str) -> list[str]:
        return ["a ⟨1⟩ 7"] if "⟨2⟩" not in text else ["⟨2⟩"]

    search = ScriptedSearch(masking, forgetful)
    (found,) = pipeline(search).translate([Request("a {x} 12", **EN_DE)])
    assert (found.text, found.flags, found.repairs) == ("a {x} 7", ("number",), ())


def test_a_term_stands_in_place_of_its_mask_at_any_cost(masking: Tokenizers) -> None:
    terms = TermList([Term("horse", ("cheval",))])
    search = ScriptedSearch(masking, lambda text: [text])
    texts = ["A horse sleeps.", "Horse!", "the horse and the horse"]
    found = judged_by(Doubting, pipeline(search)).translate([Request(text, terms=terms, **EN_DE) for text in texts])
    assert [one.text for one in found] == ["A cheval sleeps.", "Cheval!", "the cheval and the cheval"]
    assert [(one.flags, one.repairs) for one in found] == [((), ("terms",))] * 3
    assert search.read[3:] == ["A ⟨1⟩ sleeps.", "⟨1⟩!", "the ⟨1⟩ and the ⟨2⟩"]


def test_the_form_and_the_words_around_a_term_are_the_most_probable(masking: Tokenizers) -> None:
    class Verbose(Certain):
        """A model that finds a longer translation more probable."""

        def log_probs(self, pairs: Sequence[IdPair]) -> list[tuple[float, ...]]:
            return [(-100.0 + len(target), *(0.0,) * len(target)) for _, target in pairs]

    terms = TermList([Term("horse", ("Pferd", "Pferdchen"))])
    search = ScriptedSearch(masking, lambda text: [text, text.replace("a ", "a small ")])
    (found,) = judged_by(Verbose, pipeline(search)).translate([Request("a horse", terms=terms, **EN_DE)])
    assert found.text == "a small Pferdchen"


def test_a_term_that_is_glued_on_is_not_taken() -> None:
    class Gluing(ScriptedSearch):
        def texts(self, job: SearchJob) -> Sequence[str]:
            own = list(super().texts(job))
            return [self.end.format(own[0])] if job.required else own

    for end, expected in (("{} Pferd.", "A horse."), ("Pferd Pferd", "A horse."), ("A Pferd.", "A Pferd.")):
        search = Gluing(learned(0), lambda text: [text])
        search.end = end
        request = Request("A horse.", terms=TermList([Term("horse", ("Pferd",))]), **EN_DE)
        (found,) = pipeline(search).translate([request])
        assert (found.text, found.missing_terms) == (expected, () if expected != "A horse." else ("horse",))
        assert [job.is_sentence for job in search.calls[1]] == [True]


def test_letters_of_another_script_are_not_written() -> None:
    class Mixing(ScriptedSearch):
        def texts(self, job: SearchJob) -> Sequence[str]:
            forbidden = {Surfaces.of(tokenizers.target).texts[id].strip() for id in job.forbidden_ids}
            return [text if "П" in forbidden else f"{text} П" for text in super().texts(job)]

    config = TokenizerConfig(kind="bpe", vocab_size=344, joint=True, reserved=4)
    pairs = [*PAIRS, *[("a П", "a П")] * 50]
    tokenizers = learn_tokenizers(lambda: iter(pairs), config, "en", "de")
    requests = [Request("a b", **EN_DE), Request("П b", **EN_DE), Request("a b", off=["script"], **EN_DE)]
    found = pipeline(Mixing(tokenizers, lambda text: [text])).translate(requests)
    assert [(one.text, one.flags) for one in found] == [("a b", ()), ("П b П", ("copied",)), ("a b П", ())]
    stubborn = pipeline(ScriptedSearch(tokenizers, lambda text: ["a П"])).translate(requests[:1])
    assert [(one.text, one.flags) for one in stubborn] == [("a П", ("script",))]


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
    assert (found.text, found.repairs) == (text, ("numbers",))
    assert search.read == ["A dog.", "It has 12 legs.", "A cat.", "It has ⟨1⟩ legs."]


def test_spans_that_occur_twice_stay_in_a_repaired_segment(masking: Tokenizers) -> None:
    """The pieces of the second search become those of the first, one by one."""
    terms = TermList([Term("horse", ("Pferd",))])
    search = ScriptedSearch(masking, lambda text: [text])
    texts = ["%s or %s horse", "{x} 12 horse CO₂", "the horse in <b>a</b> and <b>b</b>"]
    found = pipeline(search).translate([Request(text, terms=terms, **EN_DE) for text in texts])
    assert [one.text for one in found] == [text.replace("horse", "Pferd") for text in texts]
    assert [one.flags for one in found] == [()] * 3


def test_a_capital_begins_a_sentence_but_no_name(masking: Tokenizers) -> None:
    terms = TermList([Term("cat", ("chat",)), Term("npm", ("yarn",), case=True)])
    search = ScriptedSearch(masking, lambda text: [text])
    texts = ["Cat!", "cat", "A dog. Cat.", "“Cat”", "npm"]
    found = pipeline(search).translate([Request(text, terms=terms, sentences=False, **EN_DE) for text in texts])
    assert [one.text for one in found] == ["Chat!", "chat", "A dog. Chat.", "“Chat”", "yarn"]


def test_terms_that_share_a_target_are_not_repeated() -> None:
    terms = [
        Term("car", ("Wagen",)),
        Term("wagon", ("Wagen",)),
        Term("price", ("Preis",)),
        Term("list price", ("Preis laut Liste",)),
    ]
    assert repeated_terms(terms[:2], "Wagen und Wagen") == set()
    assert repeated_terms(terms[2:], "Preis und Preis laut Liste") == set()
    assert repeated_terms(terms[:1], "Wagen und Wagen") == {terms[0]}
