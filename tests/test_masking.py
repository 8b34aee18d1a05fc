"""What must be copied is copied: spans masked by reserved pieces, the choice among candidates, and the second search.

The model is a function from the text that it reads to its translations, the best first.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tiny import LEARNED, PAIRS, tiny_model

from dragoman.alignment.heads import AlignmentHeads
from dragoman.decoding.faults import Fault
from dragoman.decoding.hypothesis import Hypothesis
from dragoman.errors import DeadlineError
from dragoman.settings.search_config import SearchConfig
from dragoman.settings.tokenizer_config import TokenizerConfig
from dragoman.text.cleaning import collapse_spaces
from dragoman.text.learning import learn_tokenizers
from dragoman.text.spans import VERBATIM, find_spans
from dragoman.text.terms import Term, TermList
from dragoman.text.tokenizer import Tokenizers
from dragoman.translator import (
    Candidate,
    ComputeOptions,
    ModelFacts,
    Pipeline,
    Request,
    SearchJob,
    StopCondition,
    Translator,
)
from dragoman.translator.aligning import AlignmentInput, _segment_pairs
from dragoman.translator.batcher import Batcher
from dragoman.translator.content_check import CheckContext, content_flags
from dragoman.translator.directions import Directions, TaggedText
from dragoman.translator.finishing import Finisher
from dragoman.translator.forced_decoding import ForcedDecoder
from dragoman.translator.models import TrainedModels
from dragoman.translator.number_masks import first_numbers
from dragoman.translator.padding import IdPair
from dragoman.translator.planning import Planner
from dragoman.translator.repairs.phrase_book import PhraseBook
from dragoman.translator.repairs.second_search import SecondSearch
from dragoman.translator.searching import decoded_text

pytestmark = pytest.mark.torch

N_RESERVED = 4
SPANS = [
    "{name}",
    "https://a.org/b?c=d",
    "a@b.co",
    "%(count)d",
    "{first name}",
    "⟨2⟩",
    "@ann",
    "`x y`",
    "😀👍🏽",
    "⟨77⟩",
]
TEXTS = st.lists(st.sampled_from([*SPANS, "horse", "Buch", "man,", "12", "over."]), min_size=1, max_size=9).map(
    " ".join
)


def learned(reserved: int) -> Tokenizers:
    config = TokenizerConfig(kind="bpe", vocab_size=340 + reserved, joint=True, reserved=reserved)
    return learn_tokenizers(lambda: iter(PAIRS), config, "en", "de")


@pytest.fixture(scope="module")
def masking() -> Tokenizers:
    return learned(N_RESERVED)


@pytest.fixture(scope="module")
def plain() -> Tokenizers:
    return learned(0)


Translate = Callable[[str], Sequence[str]]


class ScriptedSearch:
    """A search whose model is a function."""

    def __init__(self, tokenizers: Tokenizers, translate: Translate) -> None:
        self.tokenizers, self.translate = tokenizers, translate
        self.read: list[str] = []
        self.calls: list[list[SearchJob]] = []

    def search(
        self, jobs: Sequence[SearchJob], *, batch_size: int | None = None, stop: StopCondition | None = None
    ) -> list[list[Candidate]]:
        self.calls.append(list(jobs))
        return [[self.candidate(text, rank) for rank, text in enumerate(self.texts(job))] for job in jobs]

    def texts(self, job: SearchJob) -> Sequence[str]:
        self.read.append(decoded_text(self.tokenizers.source, job.ids))
        return self.translate(self.read[-1])[: job.config.n_best]

    def candidate(self, text: str, rank: int) -> Candidate:
        tokenizer = self.tokenizers.target
        ids = tokenizer.encode(text)
        hypothesis = Hypothesis(tuple(ids), -1.0 - rank, -2.0 - rank, (), finished=True)
        return Candidate(hypothesis, decoded_text(tokenizer, ids), tuple(tokenizer.pieces(ids)))


class Certain(ForcedDecoder):
    """A model that finds every translation plausible."""

    def log_probs(self, pairs: Sequence[IdPair]) -> list[tuple[float, ...]]:
        return [(0.0,) * (len(target) + 1) for _, target in pairs]


def pipeline(search: ScriptedSearch, max_length: int = 400, **options: object) -> Pipeline:
    tokenizers = search.tokenizers
    models = TrainedModels([tiny_model(tokenizers)], ComputeOptions("cpu"))
    decoder = ForcedDecoder(models, models.for_search())
    finisher = Finisher(decoder, tokenizers, AlignmentHeads.default(models.models[0].config), 512)
    config = SearchConfig.model_validate({"beam_size": 3, **options})
    planner = Planner(tokenizers, Directions(tokenizers), max_length, ModelFacts())
    second = SecondSearch(planner, Certain(models, models.for_search()), PhraseBook(tokenizers.target), 512)
    return Pipeline(planner, search, finisher, second, config)


def same(text: str) -> list[str]:
    return [text]


def backwards(text: str) -> list[str]:
    return [" ".join(reversed(text.split()))]


@given(TEXTS)
def test_a_model_that_copies_gives_the_text_and_never_sees_a_span(masking: Tokenizers, text: str) -> None:
    search = ScriptedSearch(masking, same)
    (translation,) = pipeline(search).translate([Request(text)])
    assert (translation.text, translation.flags) == (text, ())
    verbatim = [span for span in find_spans(text) if span.kind in VERBATIM]
    seen = [span for span in find_spans(search.read[0]) if span.kind in VERBATIM and span.kind != "reserved"]
    assert len(seen) <= max(0, len(verbatim) - N_RESERVED)


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("$19.99", "19,99 $"),
        ("$5", "5 $"),
        ("-€3.50", "-3,50 €"),
        ("$1,250.50 – £2,000.", "1.250,50 $ – 2.000 £."),
        ("($12.75)", "(12,75 $)"),
    ],
)
def test_a_price_alone_is_written_by_the_rules_of_its_language(masking: Tokenizers, text: str, written: str) -> None:
    search = ScriptedSearch(masking, same)
    planner = Planner(
        masking, Directions(masking), 400, ModelFacts(learned=LEARNED.model_copy(update={"without_words": 0.0}))
    )
    stages = replace(pipeline(search), planner=planner)
    requests = [Request(text), Request(text, prefix="Ja:"), Request(text, verbatim=[(0, len(text))])]
    found = stages.translate([replace(request, source_lang="en", target_lang="de", align=True) for request in requests])
    assert [one.text for one in found] == [written, f"Ja: {written}", text]
    assert not any(one.flags for one in found)
    assert all(one.alignment for one in found)
    assert not any(search.calls)


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("It is £1,450.50 now.", {"£1,450.50": "1.450,50 £"}),
        ("It is £5 or £20 billion, £2.5m, €7 or $1.", {"£5": "5 £"}),
        ("Read v1.2 (7 of 30).", {}),
    ],
)
def test_a_price_whose_sign_the_model_does_not_know_is_masked_at_once(text: str, masked: dict[str, str]) -> None:
    found = first_numbers(TaggedText(text, "", "", "en", "de"), (), lambda character: character not in "£$")
    assert {text[each.start : each.end]: each.form for each in found} == masked


@pytest.mark.parametrize(
    ("text", "is_flagged"),
    [
        ("Horse Guards", False),
        ('- "horse guards!"', False),
        ("Horse Guards. https://example.com/horse", False),
        ("ann@example.com", False),
        ("{name} (Tack)", False),
        ("Horse Guards 9e107d9d372bb6826bd81d3542a419d6", True),
    ],
)
def test_what_is_to_be_kept_needs_no_flag_where_it_stands_alone(
    masking: Tokenizers, text: str, is_flagged: bool
) -> None:
    search = ScriptedSearch(masking, same)
    facts = ModelFacts(learned=LEARNED.model_copy(update={"without_words": 0.0}))
    stages = replace(pipeline(search), planner=Planner(masking, Directions(masking), 400, facts))
    terms = TermList([Term("Horse Guards")])
    (found,) = stages.translate([Request(text, terms=terms, protect="Tack")])
    assert (found.text, found.flags) == (text, ("copied",) if is_flagged else ())
    assert not any(search.calls)


@given(TEXTS)
def test_spans_go_where_the_model_puts_their_masks(masking: Tokenizers, text: str) -> None:
    (translation,) = pipeline(ScriptedSearch(masking, backwards)).translate([Request(text)])
    spans = [span for span in SPANS if span in text]
    if len([span for span in find_spans(text) if span.kind in VERBATIM]) <= N_RESERVED:
        assert "span" not in translation.flags
        assert all(translation.text.count(span) == text.count(span) for span in spans)
        assert sorted(translation.text.split()) == sorted(text.split())


@given(st.lists(st.sampled_from([*SPANS, "horse, ", "Buch. ", "12 "]), min_size=1, max_size=30).map(" ".join))
def test_no_cut_goes_through_a_span(masking: Tokenizers, text: str) -> None:
    search = ScriptedSearch(masking, same)
    plan = pipeline(search, max_length=9).plan([Request(text)])
    segments = [segment.text for segment in plan.texts[0].segments]
    assert "".join("".join(segments).split()) == "".join(text.split())
    for span in ("{first name}", "`x y`", "https://a.org/b?c=d"):
        assert sum(segment.count(span) for segment in segments) == text.count(span)


@given(TEXTS, st.sampled_from([1, 3]))
def test_without_reserved_pieces_the_model_reads_the_text_itself(plain: Tokenizers, text: str, n_best: int) -> None:
    search = ScriptedSearch(plain, same)
    (translation,) = pipeline(search, n_best=n_best).translate([Request(text)])
    assert search.calls[0][0].ids == plain.source.encode(text)
    assert (translation.text, translation.flags, len(search.calls)) == (collapse_spaces(text), (), 1)


def test_a_text_that_ends_in_several_parts_has_its_own_masks_in_each(masking: Tokenizers) -> None:
    search = ScriptedSearch(masking, same)
    text = "Ask a@b.co. " * 6
    (translation,) = pipeline(search).translate([Request(text, sentences=True)])
    assert (translation.text, translation.n_parts) == (text.strip(), 6)
    assert [read.capitalize() for read in search.read] == ["Ask ⟨1⟩."] * 6


def test_a_text_of_spans_alone_is_copied_like_one_of_marks_alone(masking: Tokenizers) -> None:
    search = ScriptedSearch(masking, lambda _: ["nonsense"])
    planner = Planner(masking, Directions(masking), 400, ModelFacts(learned=LEARNED))
    plan = planner.plan([Request("https://a.org :-) {name}")], SearchConfig())
    (translation,) = pipeline(search).finish(plan, [])
    assert (translation.text, translation.flags) == ("https://a.org :-) {name}", ())


BEAM = ["Er hat nichts.", "Er hat 12.", "Er hat ⟨1⟩ und 13.", "Er hat ⟨1⟩ und 12.", "⟨1⟩, 12."]


def test_the_first_candidate_that_keeps_spans_and_numbers_wins(masking: Tokenizers) -> None:
    search = ScriptedSearch(masking, lambda _: BEAM)
    (translation,) = pipeline(search, beam_size=5, n_best=5).translate([Request("He has {name} and 12.")])
    texts = [text.replace("⟨1⟩", "{name}") for text in BEAM]
    assert [alternative.text for alternative in translation.alternatives] == [texts[3], *texts[:3], texts[4]]
    assert [alternative.score for alternative in translation.alternatives] == [-4, -1, -2, -3, -5]
    assert (translation.text, translation.score, translation.flags) == (texts[3], -4, ())


def test_a_candidate_with_a_fault_does_not_win(masking: Tokenizers) -> None:
    search = ScriptedSearch(masking, lambda _: BEAM)
    make = search.candidate

    def faulty(text: str, rank: int) -> Candidate:
        candidate = make(text, rank)
        faults: tuple[Fault, ...] = ("repetition",) if rank == 3 else ()
        return candidate._replace(hypothesis=replace(candidate.hypothesis, faults=faults))

    search.candidate = faulty  # type: ignore[method-assign]
    (translation,) = pipeline(search, beam_size=5, n_best=5).translate([Request("He has {name} and 12.")])
    assert (translation.text, translation.flags) == ("{name}, 12.", ())


@pytest.mark.parametrize("is_shared", [False, True])
def test_only_lossy_texts_are_searched_again_with_the_whole_beam(masking: Tokenizers, is_shared: bool) -> None:
    masked = [text.replace("12", "⟨2⟩") for text in BEAM]
    search = ScriptedSearch(masking, lambda text: [text] if "has" not in text else masked if "⟨2⟩" in text else BEAM)
    stages = pipeline(search, beam_size=5)
    requests = [Request(text) for text in ("A horse.", "He has {name} and 12.", "7 men")]
    if is_shared:
        with Batcher([search], 512) as batcher:
            translations = replace(stages, searcher=batcher).translate(requests)
    else:
        translations = stages.translate(requests)
    assert [one.text for one in translations] == ["A horse.", "Er hat {name} und 12.", "7 men"]
    assert [len(one.alternatives) for one in translations] == [1, 1, 1]
    assert search.read[3:] == ["He has ⟨1⟩ and ⟨2⟩."]
    assert ["".join(demand[0].pieces) for demand in search.calls[1][0].required] == ["⟨1⟩"]


def test_numbers_that_a_model_loses_are_masked(masking: Tokenizers) -> None:
    search = ScriptedSearch(masking, lambda text: [re.sub(r"(?<!⟨)\d+(?!⟩)", "7", text)])
    texts = ["at 17:45 not 2026-11-25", "at 7", "{name} has 12, not 7"]
    translations = pipeline(search, beam_size=1).translate([Request(text) for text in texts])
    assert [one.text for one in translations] == ["at 17:45 not 2026-11-25", *texts[1:]]
    assert not any(one.flags for one in translations)
    assert "at ⟨1⟩ not ⟨2⟩" in search.read


def test_a_price_that_a_document_marks_is_written_whole(masking: Tokenizers) -> None:
    search = ScriptedSearch(masking, same)
    request = Request("$5 was $12 for 12 men", source_lang="en", target_lang="de", marked=["$12", "12"])
    (translation,) = pipeline(search).translate([request])
    assert (search.read, translation.text) == (["$5 was ⟨1⟩ for 12 men"], "$5 was 12 $ for 12 men")


def test_dates_that_a_model_loses_are_masked_and_written_in_the_target_language(masking: Tokenizers) -> None:
    search = ScriptedSearch(masking, lambda text: [text.replace("May", "Juni")])
    (translation,) = pipeline(search).translate([Request("On 3 May 2026", align=True)])
    assert (translation.text, translation.flags) == ("On 3. Mai 2026", ())
    assert search.read[-1] == "On ⟨1⟩"
    assert {target for _, target in translation.alignment or ()} <= set(range(4))


class ObedientSearch(ScriptedSearch):
    """A search that writes the first phrases that are demanded, too."""

    def texts(self, job: SearchJob) -> Sequence[str]:
        demanded = " ".join("".join(demand[0].pieces) for demand in job.required)
        return [f"{text} {demanded}".strip() for text in super().texts(job)]


def test_what_is_lost_is_demanded_and_the_alternatives_follow(plain: Tokenizers) -> None:
    search = ObedientSearch(plain, lambda _: ["Der Mann", "Das Pferd"])
    text = "On 3 May, see https://a.org/b and {name} at 5:30 pm."
    request = Request(text, verbatim=((14, 29), (34, 40)))
    (translation,) = pipeline(search, n_best=2).translate([request])
    demanded = "https://a.org/b {name} 3. Mai 17:30"
    assert (translation.text, translation.flags) == (f"Der Mann {demanded}", ())
    assert [one.text for one in translation.alternatives] == [f"Der Mann {demanded}", "Der Mann"]
    assert len(search.calls) == 2


def test_a_model_without_reserved_pieces_writes_no_span_unless_it_is_protected(plain: Tokenizers) -> None:
    search = ObedientSearch(plain, lambda _: ["Der Mann"])
    (translation,) = pipeline(search).translate([Request("He is {name}.")])
    assert (translation.text, translation.flags) == ("Der Mann", ("span",))


@pytest.mark.parametrize(
    ("translation", "is_kept"), [("Er ist {name}.", True), ("Er ist{name}.", False), ("他是{name}。", True)]
)
def test_a_span_at_the_end_of_a_word_is_lost(translation: str, is_kept: bool) -> None:
    assert ("span" not in content_flags("He is {name}.", translation, CheckContext(("en", "de")))) is is_kept
    assert "span" not in content_flags("x{name}", "y{name}", CheckContext(("en", "de")))


def test_what_no_candidate_keeps_is_flagged(masking: Tokenizers, plain: Tokenizers) -> None:
    for tokenizers in (masking, plain):
        search = ScriptedSearch(tokenizers, lambda _: ["Er hat nichts."])
        (translation,) = pipeline(search).translate([Request("He has {name} and 12.")])
        assert (translation.text, translation.flags) == ("Er hat nichts.", ("span", "number"))
    once = ScriptedSearch(plain, lambda _: ["Er hat nichts."])
    pipeline(once, beam_size=1).translate([Request("He has {name}.")])
    sampled = ScriptedSearch(masking, lambda _: ["Er hat nichts."])
    pipeline(sampled, sample=True, seed=1).translate([Request("He has {name} and 12.")])
    assert (len(once.calls), len(sampled.calls)) == (1, 1)


def test_a_late_second_search_leaves_the_first_translation(masking: Tokenizers) -> None:
    class Late(ScriptedSearch):
        def search(
            self, jobs: Sequence[SearchJob], *, batch_size: int | None = None, stop: StopCondition | None = None
        ) -> list[list[Candidate]]:
            if self.calls:
                raise DeadlineError("late")
            return super().search(jobs, batch_size=batch_size, stop=stop)

    (translation,) = pipeline(Late(masking, lambda _: BEAM), beam_size=5).translate([Request("Has {name} 12?")])
    assert (translation.text, translation.flags) == ("Er hat nichts.", ("span", "number"))


def test_a_wrong_mask_is_put_right_where_only_one_can_be_meant(masking: Tokenizers) -> None:
    stages = pipeline(ScriptedSearch(masking, lambda text: [text.replace("⟨1⟩", "⟨4⟩")]))
    (translation,) = stages.translate([Request("See @ann and {name}.")])
    assert (translation.text, translation.flags) == ("See @ann and {name}.", ())
    stages = pipeline(ScriptedSearch(masking, lambda text: [f"{text} ⟨3⟩"]))
    (translation,) = stages.translate([Request("See @ann.")])
    assert (translation.text, translation.flags) == ("See @ann.", ("span",))


@pytest.mark.parametrize("text", ["A horse.", "See @ann.", "See ⟨2⟩."])
def test_a_piece_that_stands_for_nothing_is_left_out(masking: Tokenizers, plain: Tokenizers, text: str) -> None:
    search = ScriptedSearch(masking, lambda read: [f"⟨4⟩ {read} ⟨3⟩"] * 3)
    (translation,) = pipeline(search, n_best=3).translate([Request(text, align=True)])
    assert [one.text for one in translation.alternatives] == [text] * 3
    assert translation.flags == ("span",)
    assert {target for _, target in translation.alignment or ()} == set(range(len(text.split())))
    search = ScriptedSearch(plain, lambda read: [f"{read} ⟨3⟩"])  # text to a model without such pieces
    (translation,) = pipeline(search).translate([Request(text)])
    assert translation.text == f"{text} ⟨3⟩"


@pytest.mark.parametrize("joint", [True, False])
@pytest.mark.parametrize("options", [{"beam_size": 1}, {"beam_size": 4, "n_best": 4}, {"sample": True, "n_best": 8}])
def test_a_search_writes_the_pieces_of_its_source_alone(joint: bool, options: dict[str, Any]) -> None:
    config = TokenizerConfig(kind="bpe", joint=joint, reserved=N_RESERVED)
    tokenizers = learn_tokenizers(lambda: iter(PAIRS), config, "en", "de")
    model = tiny_model(tokenizers, max_length=60, tie="all" if joint else "decoder", bias=True)
    with torch.no_grad():  # it always wants to write the pieces
        model.output_projection.bias[tokenizers.target.vocabulary.ids(tokenizers.reserved)] += 9.0
    pipeline = Translator([model], tokenizers, SearchConfig.model_validate(options)).pipeline
    texts = ["A horse.", "See {name} and @ann.", "See ⟨4⟩.", "A book.", " ".join(f"@a{i}" for i in range(9))]
    plan = pipeline.plan([Request(text) for text in texts])
    wanted = [["⟨1⟩", "⟨2⟩"][:n] if n < 9 else [*tokenizers.reserved] for n in (0, 2, 1, 0, 9)]
    for beam, pieces in zip(pipeline.search(plan.jobs), wanted, strict=True):
        for candidate in beam:
            assert {*candidate.tokens}.intersection(tokenizers.reserved) <= {*pieces}
        assert not pieces or any({*candidate.tokens}.intersection(pieces) for candidate in beam)
    prefixed = pipeline.plan([Request("A horse.", prefix="⟨3⟩")])
    assert pipeline.search(prefixed.jobs)[0][0].tokens.count("⟨3⟩") == 1


def test_models_without_pieces_have_no_rule(plain: Tokenizers) -> None:
    plan = pipeline(ScriptedSearch(plain, same)).plan([Request("See ⟨4⟩ and @ann.")])
    assert [job.forbidden_ids for job in plan.jobs] == [()]


def test_a_prefix_may_have_spans(masking: Tokenizers) -> None:
    search = ScriptedSearch(masking, lambda _: ["Schreib ⟨2⟩ an ⟨1⟩."])
    request = Request("Write to @ann about {name}.", prefix="Schreib {name}")
    (translation,) = pipeline(search).translate([request])
    assert translation.text == "Schreib {name} an @ann."
    assert decoded_text(masking.target, search.calls[0][0].prefix_ids) == "Schreib ⟨2⟩"


def test_words_are_aligned_in_the_text_without_masks(masking: Tokenizers) -> None:
    text = "Ask {first name} at https://a.org/b?c=d soon."
    search = ScriptedSearch(masking, backwards)
    stages = pipeline(search)
    plan = stages.plan([Request(text, align=True)])
    candidates = search.search(plan.jobs)
    (translation,) = stages.finish(plan, candidates)
    beam = [candidate._replace(text=translation.text) for candidate in candidates[0]]
    ((pair,),) = _segment_pairs(masking, AlignmentInput(plan.texts[0], [beam], translation))
    for places, whole, ids in ((pair.source, text, pair.ids[0]), (pair.target, translation.text, pair.ids[1])):
        visible = "".join(whole.split())
        pieces = (masking.source if whole == text else masking.target).pieces(ids)
        for piece, (start, end) in zip(pieces, places.tokens, strict=True):
            masked = {"⟨1⟩": "{firstname}", "⟨2⟩": "https://a.org/b?c=d"}.get(piece, piece.replace("▁", ""))
            assert visible[start:end].casefold() == masked.casefold()
    links = translation.alignment or ()
    assert all(source < len(text.split()) and target < len(text.split()) for source, target in links)
    assert {target for _, target in links} == set(range(len(text.split())))


def test_scores_are_those_of_the_text_itself(masking: Tokenizers) -> None:
    translator = Translator([tiny_model(masking, max_length=120)], masking)
    score = translator.score("See {name}.", "Sieh {name}.")
    assert "⟨1⟩" not in score.tokens


def test_the_shipped_model_keeps_addresses_codes_and_prices() -> None:
    texts = {
        "Mail j.o'brien@example.com please.": "j.o'brien@example.com",
        "The A380 is big.": "A380",
        "Pay to DE89 3704 0044 0532 0130 00.": "DE89 3704 0044 0532 0130 00",
        "$19.99": "19,99 $",
        "$1,250.50 per month": "1.250,50",
        "CALL ME BEFORE 5 PM": "17:00",
    }
    everyday = Translator.load("everyday")
    found = everyday.translate(list(texts), source_lang="en", target_lang="de", off=["confidence"])
    assert all(text in one.text and not one.flags for text, one in zip(texts.values(), found, strict=True)), found
