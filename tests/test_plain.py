"""`plain`: the tokenizer and the search, and nothing else; and the rules that are off unless a request names them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.cli.program import run
from dragoman.errors import ConfigError
from dragoman.memories import TranslationMemory
from dragoman.text.cleaning import clean
from dragoman.text.terms import Term, TermList
from dragoman.translator import Request, Translator
from dragoman.translator.pipeline import SearchWanted, advance

EN_DE: dict[str, str] = {"source_lang": "en", "target_lang": "de"}
#: Texts that rules read, mask, cut, copy, check or repair.
RULED = [
    "Bill paid the bill.",
    "WHERE IS THE STATION?",
    "dont go, teh train is late",
    "See https://example.org/a_b, no. 5, on Sunday, March 3, at 5:30 pm.",
    "I am here. You are there.",
    "-----",
    "d41d8cd98f00b204e9800998ecf8427e",
    "Привет, ⟨1⟩ {name} CO₂ ¯\\_(ツ)_/¯",
    "$19.99 - 500 m",
]


@pytest.fixture(scope="module")
def everyday() -> Translator:
    return Translator.load("everyday")


@pytest.mark.parametrize("text", RULED)
def test_a_plain_translation_is_the_best_candidate_of_the_search_for_the_encoded_text(
    everyday: Translator, text: str
) -> None:
    pipeline = everyday.pipeline
    plan = pipeline.plan([Request(text, plain=True, **EN_DE)])
    (job,) = plan.jobs
    tags = everyday.tagged("", **EN_DE)
    assert list(job.ids) == everyday.tokenizers.source.encode(f"{tags}{clean(text)}")
    ((best, *_),) = pipeline.search([job])
    translation = everyday.translate(text, plain=True, **EN_DE)
    assert (translation.text, translation.flags) == (best.text, ())


@given(st.lists(st.sampled_from([*RULED, "wiht", "2,05 m"]), min_size=1, max_size=3).map(" ".join))
def test_plain_is_one_search_without_demands_in_any_model(translator: Translator, text: str) -> None:
    stages = translator.pipeline.stages([Request(text, plain=True)], translator.search)
    jobs = next(stages)
    assert not any(len(job.required) for job in jobs)
    with pytest.raises(StopIteration) as end:
        stages.send(translator.pipeline.search(jobs))
    (translation,) = end.value.value
    assert translation.flags == ()


def test_a_long_text_is_cut_and_sentences_on_request(everyday: Translator) -> None:
    def n_parts(text: str, **options: bool) -> int:
        return everyday.translate(text, plain=True, beam_size=1, **EN_DE, **options).n_parts

    text = "I am here. You are there."
    assert (n_parts(text), n_parts(text, sentences=True)) == (1, 2)
    assert n_parts("I am here, and you are there. " * 60) > 1


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("protect", {"protect": "urls"}),
        ("terms", {"terms": TermList([Term("bill", ("Rechnung",))])}),
        ("memory", {"memory": TranslationMemory([("a", "b")])}),
        ("min_confidence", {"min_confidence": 0.5}),
        ("off", {"off": ["numbers"]}),
    ],
)
def test_plain_contradicts_what_reads_or_repairs(everyday: Translator, name: str, options: dict[str, object]) -> None:
    with pytest.raises(ConfigError, match=f"plain and {name} contradict"):
        everyday.translate("Bill paid.", plain=True, **EN_DE, **options)  # type: ignore[arg-type]


def test_a_lost_stretch_of_a_document_is_put_back(everyday: Translator) -> None:
    text = "Press the ⦗x⦘ button."
    (translation,) = everyday.pipeline.translate([Request(text, plain=True, verbatim=[(10, 13)], **EN_DE)])
    assert translation.text.count("⦗x⦘") == 1


def test_the_command_has_both_options(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (source := tmp_path / "a.txt").write_text("Bill paid the bill.\n")

    def translated(*options: str) -> str:
        command = ["translate", "-m", "everyday", "--source-lang", "en", "--target-lang", "de", *options]
        run([*command, "--format", "txt", "-i", str(source)])
        return "".join(capsys.readouterr())

    assert translated("--plain") == translated()
    assert re.search(r"^Bill .*Rechnung.*\n$", translated())
    assert "use spans, numbers" in translated("--off", "number")


@pytest.mark.parametrize(
    "text", ["I will see you on Sunday, March 3.", "From Monday, May 5 to Friday, May 9.", "10,000 people came."]
)
def test_a_translation_is_searched_for_twice_at_most(everyday: Translator, text: str) -> None:
    stages, found, n_searches = everyday.pipeline.stages([Request(text, **EN_DE)]), None, 0
    while isinstance(wanted := advance(stages, found), SearchWanted):
        found, n_searches = everyday.pipeline.search(wanted.jobs), n_searches + 1
    assert n_searches <= 2
