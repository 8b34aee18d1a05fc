"""Terms: where they stand in a text, their files, and translations that have them."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_masking import N_RESERVED, ScriptedSearch, learned, pipeline
from tiny import PAIRS

from dragoman.cli.program import run
from dragoman.data.term_files import read_terms, typed_terms
from dragoman.decoding.constraints.required import Phrase
from dragoman.errors import ConfigError, DataError, DeadlineError
from dragoman.memories import TranslationMemory, Unit
from dragoman.settings.tokenizer_config import TokenizerConfig
from dragoman.text.learning import learn_tokenizers
from dragoman.text.surfaces import Surfaces
from dragoman.text.terms import Term, TermList, missing_terms
from dragoman.text.tokenizer import Tokenizers
from dragoman.translator import Candidate, Request, SearchJob, StopCondition, Translator
from dragoman.translator.choosing import ranked
from dragoman.translator.repairs import phrase_book

pytestmark = pytest.mark.torch


@pytest.fixture(scope="module")
def plain() -> Tokenizers:
    return learned(0)


@pytest.fixture(scope="module")
def masking() -> Tokenizers:
    return learned(N_RESERVED)


# --- where they stand ------------------------------------------------------------------------------------------------

WORDS = st.sampled_from(["a", "b", "A", "ab", "-", "抗", "体"])
SOURCES = st.lists(WORDS, min_size=1, max_size=3).map(" ".join)


def units(text: str) -> list[str]:
    return re.findall(r"[a-zA-Z]+|\S", text)


@given(st.lists(st.tuples(SOURCES, st.booleans()), max_size=8), st.lists(WORDS, max_size=12).map(" ".join))
def test_the_longest_term_is_found_at_each_place_from_left_to_right(sources: list[tuple[str, bool]], text: str) -> None:
    terms = [Term(source, ("x",), case) for source, case in sources]
    words, at, expected = units(text), 0, []
    while at < len(words):
        fits = [
            (len(units(term.source)), term.case)
            for term in terms
            if (n := len(units(term.source)))
            and (words[at : at + n] == units(term.source) if term.case else
                 [word.lower() for word in words[at : at + n]] == units(term.source.lower()))
        ]  # fmt: skip
        if fits:
            expected.append((" ".join(words[at : at + max(fits)[0]]), max(fits)[1]))
        at += max(fits)[0] if fits else 1
    found = TermList(terms).find(text)
    assert [(" ".join(units(text[start:end])), term.case) for start, end, term in found] == expected


def test_words_are_whole_in_scripts_with_spaces_only() -> None:
    terms = TermList(
        [Term("cat", ("Katze",)), Term("抗体", ("antibody",)), Term("don't", ("nie",)), Term("café", ("x",))]
    )
    texts = {"category cat's Cat cats": ["cat", "Cat"], "这种抗体了": ["抗体"], "I don’t": ["don’t"], "cafe\u0301s": []}
    for text, expected in {**texts, "a cafe\u0301": ["cafe\u0301"]}.items():
        assert [text[start:end] for start, end, _ in terms.find(text)] == expected


def test_targets_are_words_and_a_star_lets_them_go_on() -> None:
    for targets, translation, is_in in [
        (("Vertrag",), "Der Vertrag.", True),
        (("Vertrag",), "des Vertrages", False),
        (("Vertrag*",), "des VERTRAGES", True),
        (("Vertrag*",), "Mietvertrag", False),
        (("Kontrakt", "Vertrag*"), "Verträge Kontrakt", True),
        (("anticorps",), "l'anticorps", True),
        (("抗体",), "的抗体了", True),
        (("1918 年流感",), "在1918年流感中", True),
        (("New York",), "New\u00a0 York", True),
        (("a.b",), "axb", False),
        (("é",), "e\u0301", True),
    ]:
        assert Term("x", targets).n_in(translation) == is_in, (targets, translation)
    us = Term("US", ("USA",), case=True)
    assert (us.n_in("usa"), us.n_in("usa", any_case=True), us.n_in("die USA")) == (0, 1, 1)
    may, phone = Term("May", ("mai",), case=True), Term("iPhone", ("iPhone",), case=True)
    assert (may.n_in("« Mai et mai »"), may.n_in("en Mai"), phone.n_in("IPhone")) == (2, 0, 0)
    assert missing_terms([us, us, Term("a", ("b",))], "b") == [us]


@given(st.integers(1, 4), st.integers(0, 4))
def test_a_term_is_demanded_as_often_as_it_is_there(n_terms: int, n_written: int) -> None:
    bank = Term("bank", ("Sparkasse", "Sparkasse*", "Kasse"))
    missing = missing_terms([bank] * n_terms, " und ".join(["die Sparkasse"] * n_written))
    assert missing == ([bank] if n_written < n_terms else [])


def test_rows_of_one_source_are_one_term() -> None:
    terms = TermList([Term("a  b", ("x",)), Term("A b", ("y", "x")), Term("A b", ("z",), case=True), Term("c")])
    assert [(term.targets, term.is_kept) for term in terms] == [(("x", "y"), False), (("z",), False), ((), True)]
    with pytest.raises(ConfigError, match="'C' is to be translated, and not to be translated; remove one of the two"):
        TermList([Term("c"), Term("C", ("x",))])
    for wrong, problem in [((" ", ("x",)), "no source"), (("a", ("*",)), "empty target"), (("a", "x"), "no tuple")]:
        with pytest.raises(ConfigError, match=problem):
            Term(*wrong)  # type: ignore[arg-type]


# --- files -----------------------------------------------------------------------------------------------------------

TERMS = [("flu", ("Grippe", "Influenza*"), False), ("GitHub", (), True), ("a, b", ("c",), False)]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.csv", 'source,target,do-not-translate,case\nflu,Grippe | Influenza*,,\n\nGitHub,,yes,Yes\n"a, b",c\n'),
        ("a.csv", "\ufeffCase;Source;Target;DNT\r\n;flu;Grippe|Influenza*;no\r\n1;GitHub;GitHub;x\r\n;a, b;c\r\n"),
        ("a.tsv", "source_term\ttarget_term\tdnt\tcase\nflu\tGrippe|Influenza*\nGitHub\t\t1\t1\na, b\tc\n"),
    ],
)  # fmt: skip
def test_tables_are_read(tmp_path: Path, name: str, content: str) -> None:
    (tmp_path / name).write_text(content, encoding="utf-8", newline="")
    assert [(term.source, term.targets, term.case) for term in read_terms(tmp_path / name)] == TERMS


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "the term list is empty: .*; begin with a line: source,target"),
        (b"source,target\n\n", "the term list has no terms: .*; write one in each line after the first"),
        (
            b"id,en\n1,a\n",
            r"there is no column source and no column target \(the first line has: id, en\): .*:1; begin",
        ),
        (b"source,fr\na,b\n", r"there is no column target \(the first line has: source, fr\)"),
        (b"source,target\na,b\n,c\n", "a term has no source: .*:3; mend or remove the row"),
        (b"source,target\na,b,c\n", "the row has more cells than the header: .*:2; put quotation marks around a text"),
        (b"source,target\na,\n", "the term 'a' has no target: .*:2; write one, or yes under do-not-translate"),
        (b"source,target\na,*\n", "the term 'a' has an empty target: .*:2"),
        (b"source,target\na,b\ncontract*,c\n", r"the source 'contract\*' has \*, .*:3; write a line for each form"),
        (b"source,target\na|b,c\n", r"the source 'a\|b' has \|, .*:2; write a line for each form"),
        (b"source,target,dnt\na,b,maybe\n", "'maybe' in column do-not-translate: .*:2; write yes or no"),
        (b"source,target,dnt\na,b,yes\n", "a term that is kept has another target: .*:2; remove one of the two"),
        (b"source,target,dnt\na,b,\n\nA,,yes\n", "line 2 says otherwise whether 'A' is translated: .*:4"),
        (b'source,target\na,"b\n', r"wrong quotation marks .*:2; mend the line"),
        (b"source,target\na,b\nb,\xe9\n", "invalid UTF-8: .*:3:3; convert it"),
        (b"PK\x03\x04" + b"\0" * 40, "terms.csv; "),
    ],
)
def test_one_line_says_what_is_wrong_with_a_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], content: bytes, message: str
) -> None:
    path = tmp_path / "terms.csv"
    path.write_bytes(content)
    with pytest.raises(DataError, match=message):
        read_terms(path)
    assert run(["translate", "--model", "everyday", "--terms", str(path), "--input", str(path)]) == DataError.exit_code
    assert re.fullmatch(rf"error: .*{message}.*\n", capsys.readouterr().err)


def test_repeated_sources_are_told_in_one_line(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "a.csv").write_text("source,target\na,b\nA,c\na,d\na,b\n", encoding="utf-8")
    assert [term.targets for term in read_terms(tmp_path / "a.csv")] == [("b", "c", "d")]
    (record,) = caplog.records
    assert record.getMessage().endswith("a.csv: 2 rows have the source of another; any of their targets will do")


def test_typed_lines_are_terms() -> None:
    found = typed_terms("flu = Grippe | Influenza*\n\n GitHub \n a, b=c\n")
    assert [(term.source, term.targets) for term in found] == [(source, targets) for source, targets, _ in TERMS]
    for text, problem in [
        ("a = b\nc =", "line 2 of the terms has no target"),
        ("= b", "line 1 of the terms has no source"),
    ]:
        with pytest.raises(ConfigError, match=f"{problem}; write: source = target"):
            typed_terms(text)
    for text, mark in [("a = b\ncar | cars = c", r"\|"), ("a = b\ncar* = c", r"\*")]:
        with pytest.raises(ConfigError, match=f"line 2 of the terms has {mark} in its source.*; write a line for each"):
            typed_terms(text)
    assert [term.source for term in typed_terms("A*\n* note = Anmerkung")] == ["A*", "* note"]


# --- translations ----------------------------------------------------------------------------------------------------


class ObedientSearch(ScriptedSearch):
    """A search that replaces the first word by the first phrases that are demanded."""

    def search(
        self, jobs: Sequence[SearchJob], *, batch_size: int | None = None, stop: StopCondition | None = None
    ) -> list[list[Candidate]]:
        found = super().search(jobs)
        for place, job in enumerate(jobs):
            if job.required:
                words = ["".join(demand[0].pieces) for demand in job.required]
                found[place] = [self.candidate(" ".join([*words, *found[place][0].text.split()[1:]]), 0)]
        return found


TERM_LIST = TermList([Term("horse", ("Pferd",)), Term("book", ("Buch*", "Heft")), Term("Foo"), Term("mat", ("Matte",))])


def test_only_segments_without_their_terms_are_searched_again(plain: Tokenizers) -> None:
    search = ObedientSearch(plain, lambda text: [text.replace("book", "Buch")])
    texts = ["A horse. A book.", "A book.", "No.", "HORSE MAT HORSE"]
    found = pipeline(search).translate([Request(text, terms=TERM_LIST, sentences=True) for text in texts])
    assert [one.text for one in found] == ["Pferd horse. A Buch.", "A Buch.", "No.", "PFERD MATTE PFERD MAT HORSE"]
    assert all(not one.flags and not one.missing_terms for one in found)
    first, second = search.calls
    assert len(first) == 5
    assert not any(job.required for job in first)
    assert [len(job.required) for job in second] == [1, 3]
    assert all(job.config.beam_size > 3 for job in second)
    without = ScriptedSearch(plain, lambda text: [text.replace("book", "Buch")])
    pipeline(without).translate([Request(text, sentences=True) for text in texts])
    assert without.calls == [first]


def test_a_search_looks_for_so_many_phrases_and_the_other_terms_are_checked(
    plain: Tokenizers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(phrase_book, "_MOST_PHRASES", 2)
    search = ObedientSearch(plain, lambda text: [text])
    (found,) = pipeline(search).translate([Request("A horse on a mat, a book.", terms=TERM_LIST)])
    (job,) = search.calls[1]
    assert [len(demand) for demand in job.required] == [1, 1]
    assert found.missing_terms == ("book",)


def test_the_phrases_that_are_kept_are_bounded(plain: Tokenizers, monkeypatch: pytest.MonkeyPatch) -> None:
    """Terms that the vocabulary cannot write count too: a client can send ever new ones."""
    monkeypatch.setattr(phrase_book, "_MOST_CHARACTERS", 100)
    planned = pipeline(ScriptedSearch(plain, lambda text: [text]))
    for target in ("Pferd", "\u4e00"):
        for number in range(60):
            terms = TermList([Term("horse", (target * (1 + number),))])
            planned.translate([Request("A horse.", terms=terms)])
            kept = planned.second.phrases._known
            assert len(kept) == 1 or sum(len(form.text) for forms in kept for form in forms) <= 100


def test_what_a_search_cannot_write_is_named_and_flagged(plain: Tokenizers) -> None:
    search = ScriptedSearch(plain, lambda text: [text])
    (found,) = pipeline(search).translate([Request("A horse on a mat, a book.", terms=TERM_LIST)])
    assert (found.text, found.flags) == ("A horse on a mat, a book.", ("term_missing",))
    assert found.missing_terms == ("horse", "mat", "book")
    assert len(search.calls) == 2
    (drawn,) = pipeline(search, sample=True).translate([Request("A horse.", terms=TERM_LIST)])
    assert (drawn.flags, len(search.calls)) == (("term_missing",), 3)


def test_a_late_search_leaves_the_first_translation(plain: Tokenizers) -> None:
    class LateSearch(ScriptedSearch):
        def search(
            self, jobs: Sequence[SearchJob], *, batch_size: int | None = None, stop: StopCondition | None = None
        ) -> list[list[Candidate]]:
            if self.calls:
                raise DeadlineError("too late")
            return super().search(jobs)

    (found,) = pipeline(LateSearch(plain, lambda text: [text])).translate([Request("A horse.", terms=TERM_LIST)])
    assert (found.text, found.flags) == ("A horse.", ("term_missing",))


def test_a_candidate_with_the_terms_wins(plain: Tokenizers) -> None:
    beam = ["Der 12 Gaul", "Das Pferd", "Das 12 Pferd"]
    search = ScriptedSearch(plain, lambda _: beam)
    (found,) = pipeline(search, n_best=3).translate([Request("The 12 horse", terms=TERM_LIST)])
    assert (found.text, len(search.calls)) == (beam[2], 1)
    (found,) = pipeline(ScriptedSearch(plain, lambda _: beam[1::-1]), n_best=3).translate(
        [Request("The 12 horse", terms=TERM_LIST)]
    )
    assert (found.text, found.flags) == (beam[0], ("term_missing",))


@pytest.mark.parametrize("kind", ["plain", "masking"])
def test_terms_in_what_is_kept_are_no_terms(kind: str, request: pytest.FixtureRequest) -> None:
    tokenizers: Tokenizers = request.getfixturevalue(kind)
    search = ScriptedSearch(tokenizers, lambda text: [text])
    text = "{horse} https://a.org/horse Foo `book`: horsey mat"
    (found,) = pipeline(search).translate([Request(text, terms=TERM_LIST, verbatim=[(len(text) - 3, len(text))])])
    assert (found.text, found.flags) == (text, ())


@pytest.mark.parametrize("kind", ["plain", "masking"])
def test_one_protected_word_leaves_the_same_word_elsewhere_a_term(kind: str, request: pytest.FixtureRequest) -> None:
    search = ScriptedSearch(request.getfixturevalue(kind), lambda text: [text])
    (found,) = pipeline(search).translate([Request("a horse, horse", terms=TERM_LIST, verbatim=[(9, 14)])])
    assert found.missing_terms == ("horse",)
    (found,) = pipeline(search).translate([Request("a horse, horse", terms=TERM_LIST, protect="horse")])
    assert (found.text, found.missing_terms) == ("a horse, horse", ())


def test_a_term_is_read_as_it_is(masking: Tokenizers) -> None:
    """Neither its number nor its unknown letter is masked, while others are. A second search masks the whole term."""
    terms = TermList([Term("size 12", ("Größe 12",)), Term("Łódź", ("Lodz",))])
    search = ScriptedSearch(masking, lambda text: ["size 12"] if "12" in text else [text])
    pipeline(search).translate([Request("size 12 in Łódź for 25 →", terms=terms)])
    assert search.read[0] == "size 12 in Łódź for 25 ⟨1⟩"
    assert search.read[-1] == "⟨1⟩ in ⟨2⟩ for ⟨3⟩ ⟨4⟩"


@pytest.mark.parametrize(
    ("source", "reads"),
    [
        ("24/7", ["We use 24/7 here", "We use ⟨1⟩ here"]),
        ("B2B", ["We use B2B here", "We use ⟨1⟩ here"]),
        ("1", ["We use 1 here", "We use ⟨1⟩ here"]),
        ("AT&T", ["We use AT&T here", "We use ⟨1⟩ here"]),
        ("Node.js", ["We use Node.js here", "We use ⟨1⟩ here"]),
        ("use B2B", ["We use B2B here", "We ⟨1⟩ here"]),
        ("use", ["We use ⟨1⟩ here", "We ⟨1⟩ ⟨2⟩ here"]),
    ],
)
def test_a_term_of_digits_or_marks_is_masked_as_others_are(
    masking: Tokenizers, source: str, reads: Sequence[str]
) -> None:
    text = "We use B2B here" if source == "use" else reads[0]
    search = ScriptedSearch(masking, lambda text: [text])
    (found,) = pipeline(search).translate([Request(text, terms=TermList([Term(source, ("Wort",))]))])
    assert search.read == reads
    assert (found.text, found.flags) == (text.replace(source, "Wort"), ())


@pytest.mark.parametrize(
    ("written", "target", "read"),
    [
        ("Le ⟨1⟩ est ici.", "appartement", {"L'appartement est ici."}),
        ("L' ⟨1⟩ est ici.", "appartement", {"L'appartement est ici."}),
        ("Il parle de ⟨1⟩.", "eau", {"Il parle d'eau."}),
        ("C'est un nouveau ⟨1⟩ !", "écran", {"C'est un nouvel écran !"}),
        ("Elle ⟨1⟩.", "appartement", {"Elle appartement."}),
        ("Il vient du ⟨1⟩.", "appartement", {"Il vient de l'appartement."}),
        ("L'⟨1⟩ est ici.", "bail", {"Le bail est ici.", "La bail est ici."}),
        ("Mon ⟨1⟩ est ici.", "caution", {"Mon caution est ici.", "Ma caution est ici."}),
        ("⟨1⟩ est ici.", "appartement", {"Appartement est ici."}),
    ],
)
def test_words_before_a_masked_term_fit_it(masking: Tokenizers, written: str, target: str, read: set[str]) -> None:
    """The model reads each form that may be right, and takes the most probable."""
    search = ScriptedSearch(masking, lambda text: [text])
    planned = pipeline(search)
    request = Request("The flat is here.", terms=TermList([Term("flat", (target,))]))
    plan = planned.plan([request])
    plan = replace(plan, texts=[replace(one, languages=one.languages._replace(target_lang="fr")) for one in plan.texts])
    (proposal,) = planned.second.proposals(plan, ranked(plan, planned.search(plan.jobs))).values()
    assert set(proposal.texts([search.candidate(written, 0)])) == read


def test_a_search_that_loses_all_masks_or_repeats_them_leaves_the_first_translation(masking: Tokenizers) -> None:
    search = ScriptedSearch(masking, lambda text: ["⟨1⟩ ⟨1⟩" if "⟨1⟩" in text else "Ein Gaul"])
    (found,) = pipeline(search).translate([Request("A horse", terms=TERM_LIST)])
    assert (found.text, found.flags, found.missing_terms) == ("Ein Gaul", ("term_missing",), ("horse",))


def test_a_memory_is_checked_for_the_terms_outside_protected_stretches(plain: Tokenizers) -> None:
    memory = TranslationMemory([Unit("The Book on {horse}", "Das Book auf {horse}", "en", "de")])
    search, request = ScriptedSearch(plain, lambda text: [text]), Request("The Book on {horse}", terms=TERM_LIST)
    request = replace(request, memory=memory)
    (found,) = pipeline(search).translate([request])
    assert (found.missing_terms, found.flags) == (("book",), ("term_missing",))
    (found,) = pipeline(search).translate([replace(request, protect="Book")])
    assert (found.text, found.missing_terms, found.flags) == ("Das Book auf {horse}", (), ())
    assert not any(search.calls)


def test_a_kept_term_stands_in_every_translation(masking: Tokenizers) -> None:
    search = ScriptedSearch(masking, lambda text: [text.replace("Foo", "Fuß")])
    (found,) = pipeline(search).translate([Request("A Foo horse", terms=TermList([Term("Foo")]))])
    assert "Foo" in found.text
    assert not found.flags
    assert search.read == ["A ⟨1⟩ horse"]


def test_targets_that_no_token_writes_are_told_once(caplog: pytest.LogCaptureFixture) -> None:
    without_bytes = TokenizerConfig(kind="characters", joint=True)
    search = ScriptedSearch(learn_tokenizers(lambda: iter(PAIRS), without_bytes, "en", "de"), lambda text: [text])
    stages, request = pipeline(search), Request("A horse.", terms=TermList([Term("horse", ("馬",))]))
    found = stages.translate([request, request])
    assert [one.missing_terms for one in found] == [("horse",), ("horse",)]
    assert len(search.calls) == 1
    assert [record.getMessage() for record in caplog.records] == [
        "the vocabulary of the model cannot write some terms, numbers or spans; they are flagged"
    ]


def test_wrong_terms_are_refused(plain: Tokenizers) -> None:
    for terms in ("a", [Term("a")], {"a": "b"}):
        with pytest.raises(ConfigError, match=r"terms of request 1 is a .*; give a TermList, or use read_terms"):
            pipeline(ScriptedSearch(plain, lambda text: [text])).plan([Request("a", terms=terms)])  # type: ignore[arg-type]


@pytest.mark.captions
@pytest.mark.parametrize("beam_size", [1, 5])
@pytest.mark.parametrize("is_batch", [False, True])
def test_a_real_search_writes_the_terms(beam_size: int, is_batch: bool) -> None:
    translator = Translator.load("multi30k-en-de")
    terms = TermList([Term("horse", ("Gaul*",)), Term("book", ("Schmöker", "Heft")), Term("dogs", ("Köter",))])
    texts = ["A woman is reading a book.", "A man rides a horse.", "Two cats.", "Two dogs and a horse."]
    options = {"beam_size": beam_size, "off": ["confidence"]}
    plain = translator.translate(texts, **options)
    if is_batch:
        found = translator.translate(texts, terms=terms, **options)
    else:
        found = [translator.translate(text, terms=terms, **options) for text in texts]
    for text, one, without in zip(texts, found, plain, strict=True):
        demanded = [term for _, _, term in terms.find(text)]
        assert not missing_terms(demanded, one.text)
        assert one.flags == without.flags
        assert (one.text == without.text) is (not demanded)


def test_surfaces_spell_what_tokens_write(plain: Tokenizers) -> None:
    surfaces, tokenizer = Surfaces.of(plain.target), plain.target
    for text in ("Ein Mann reitet auf einem Pferd.", "Zwei Hunde laufen"):
        assert "".join(surfaces.texts[id] for id in tokenizer.encode(text)).strip() == text
    assert (
        surfaces.beginning_with("Pf", 3)
        == sorted(id for id, text in enumerate(surfaces.texts) if text.startswith("Pf") and text != "Pf")[:3]
    )
    assert Phrase(("a", "b")).beginnings == ("a", "ab")


@pytest.mark.parametrize(("text", "expected"), [("Open the Folder.", "répertoire"), ("OPEN THE FOLDER.", "RÉPERTOIRE")])
def test_a_term_is_translated_however_its_source_is_written(text: str, expected: str) -> None:
    terms = TermList([Term("folder", ("répertoire",))])
    found = Translator.load("everyday").translate(text, source_lang="en", target_lang="fr", terms=terms)
    assert (expected in found.text, found.text.isupper(), found.missing_terms) == (True, text.isupper(), ())


def test_the_command_line_reads_a_list(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    terms, source = tmp_path / "terms.csv", tmp_path / "in.txt"
    terms.write_text("source,target,do-not-translate\nhorse,Gaul*,\nOffice,,yes\nhouse,馬\n", encoding="utf-8")
    source.write_text("The Office has a horse.\n", encoding="utf-8")
    options = ["--source-lang", "en", "--target-lang", "de", "--terms", str(terms), "--workers", "1"]
    assert run(["translate", "--model", "everyday", "--input", str(source), "--json", *options]) == 0
    found = json.loads(capsys.readouterr().out)
    assert re.search("Office.*Gaul", found["text"])
    assert found["missing_terms"] == []
    page = tmp_path / "page.html"
    page.write_text("<p>The <b>horse</b> sleeps.</p>", encoding="utf-8")
    assert run(["translate", "--model", "everyday", "--input", str(page), *options]) == 0
    assert "<b>Gaul" in capsys.readouterr().out
