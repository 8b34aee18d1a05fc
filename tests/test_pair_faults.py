"""Faults of pairs: what each rule finds in spoiled text, what it leaves alone, the report, and what is dropped."""

import gzip
import random
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_prepare import corpus, make, texts

from dragoman.cli.program import run
from dragoman.corpora.synthetic import make_corpus
from dragoman.data.checks.copied import is_copied, is_wordless
from dragoman.data.checks.foreign_script import ForeignScript
from dragoman.data.checks.markup import cleaned
from dragoman.data.checks.mojibake import has_mojibake, mend_mojibake
from dragoman.data.checks.pair_faults import N_SAMPLES, FaultCounter
from dragoman.data.hashed_pairs import HashedPairs, text_hash
from dragoman.data.parallel_text import ParallelText
from dragoman.data.repeats import find_repeats
from dragoman.data.selection import select
from dragoman.settings.data_config import DataConfig
from dragoman.settings.parsing import parse_config

Pairs = list[tuple[str, str]]
LETTERS = {
    "latin": "abcüéñøßčőșăż",
    "cyrillic": "приветмясц",
    "greek": "καλημέρσς",
    "chinese": "你好世界学校",
    "japanese": "これはペンです東京",
    "thai": "กขค",
}


def sample(n_pairs: int, seed: int = 1) -> Pairs:
    """Different pairs without faults."""
    return list(dict(make_corpus("captions", 3 * n_pairs, 10, 10, seed).train).items())[:n_pairs]


def misread(text: str, encoding: str) -> str:
    """The UTF-8 of a text read as another encoding; bytes that Windows-1252 lacks are read as Latin-1."""
    return "".join(
        bytes([byte]).decode(encoding if byte not in (0x81, 0x8D, 0x8F, 0x90, 0x9D) else "latin-1")
        for byte in text.encode()
    )


def faults(source: str, target: str, languages: tuple[str, str] = ("en", "de")) -> set[str]:
    """The faults of one pair, by the report."""
    counter = FaultCounter(*languages, ())
    counter.problem(1, source, target)
    return {line.split("data.drop=")[1].split()[0] for line in counter.lines() if "data.drop=" in line}


FRENCH = "Le chien dort sous la table."


def test_a_side_in_another_language_is_found() -> None:
    counter = FaultCounter("en-GB", "fr", ("language",))
    right = [
        ("The dog sleeps under the table.", FRENCH),
        ("OK", "OK"),
        ("Lääne", "Lääne"),
        ("", FRENCH),
        ("Zug", "Zug"),
    ]
    wrong = [(FRENCH, "The dog sleeps under the table."), ("The dog sleeps.", "Der Hund schläft unter dem Tisch.")]
    assert [counter.problem(1, *pair) for pair in right] == [None] * len(right)
    assert [counter.problem(1, *pair) for pair in wrong] == ["language"] * len(wrong)
    alike = FaultCounter("en", "oc", ("language",))
    assert alike.problem(1, "The dog sleeps under the table.", FRENCH) is None, "the two are not told apart"
    unknown = FaultCounter("en", "tlh", ("language",))
    assert unknown.problem(1, "The dog sleeps under the table.", FRENCH) is None


# -- the rules ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("source", "target", "languages", "expected"),
    [
        ("I have 25 dogs.", "Ich habe 35 Hunde.", ("en", "de"), {"numbers"}),
        ("I have 25 dogs.", "Ich habe fünfundzwanzig Hunde.", ("en", "de"), set()),
        ("The train leaves at 5:45 pm.", "Der Zug fährt um 17.45 Uhr.", ("en", "de"), set()),
        ("Tengo veinticinco perros.", "I have 25 dogs.", ("es", "en"), set()),  # Spanish words are not known here
        ("Tengo 25 perros.", "I have 35 dogs.", ("es", "en"), {"numbers"}),
        ("Where is my key?", "Where is my key?", ("en", "de"), {"copied"}),
        ("Where is my key?", "where is my KEY", ("en", "de"), {"copied"}),
        ("Where is my key?", "Where is my key?", ("en", "en-GB"), set()),
        ("Jeg er ikke her nå.", "Jeg er ikke her nå.", ("nb", "da"), set()),
        ("Where is my key?", "Where is my key?", ("und", "und"), set()),
        ("Taxi!", "Taxi!", ("en", "de"), set()),
        ("Tom Jackson.", "Tom Jackson.", ("en", "de"), set()),
        ("Tom is in Boston.", "Tom ist in Boston.", ("en", "de"), set()),
        ("H1N1 virus", "virus H1N1", ("en", "fr"), set()),
        ("Source code: https://a.org/b/c/d.", "Code source: https://a.org/b/c/d.", ("en", "fr"), set()),
        ("I do not know her name.", "I do not know his name.", ("en", "de"), {"copied"}),
        ("1 2 3 4", "1 2 3 4", ("en", "de"), set()),
        ("Where is the station?", "where is the station", ("zh", "en"), {"copied", "script"}),
        ("我用 Microsoft Windows。", "I use Microsoft Windows.", ("zh", "en"), set()),
        ("Tom", "Tom", ("en", "zh"), set()),
        ("Where is it?", "Это не немецкий язык.", ("en", "de"), {"script"}),
        ("Where is it?", "Gde je ovo sada?", ("en", "sr"), set()),
        ("Where is it?", "Gde je ovo sada?", ("en", "sr_Cyrl"), {"script"}),
        ("My name is Иван.", "Ich heiße Иван.", ("en", "de"), set()),
        ("It is for you.", "Das ist fÃ¼r dich.", ("en", "de"), {"mojibake"}),
        ("It is for you.", "Das ist f\ufffdr dich.", ("en", "de"), {"mojibake"}),
        ("I know.", "...", ("en", "de"), {"wordless"}),
        ("See https://example.org/a.", "https://example.org/a.", ("en", "de"), {"wordless"}),
        ("See https://example.org/a.", "https://example.org/a看看。", ("en", "zh"), set()),
        ("1984.", "1984.", ("en", "de"), set()),
        ("Hi.", "你好。", ("en", "zh"), set()),
        ("Go!", "走！", ("en", "zh"), set()),
    ],
)
def test_each_rule_finds_its_fault_and_no_other(
    source: str, target: str, languages: tuple[str, str], expected: set[str]
) -> None:
    assert faults(source, target, languages) == expected


@given(
    letters=st.sampled_from(sorted(LETTERS)),
    encoding=st.sampled_from(["cp1252", "latin-1"]),
    n_times=st.integers(1, 2),
    data=st.data(),
)
@settings(max_examples=200)
def test_misread_text_is_found_and_repaired(letters: str, encoding: str, n_times: int, data: st.DataObject) -> None:
    word = st.text(st.sampled_from(LETTERS[letters]), min_size=3, max_size=8)
    text = "Xyz " + " ".join(data.draw(st.lists(word, min_size=1, max_size=4))) + "."
    wrong = text
    for _ in range(n_times):
        wrong = misread(wrong, encoding)
    assert has_mojibake(wrong) == (wrong != text)
    assert mend_mojibake(wrong) == text


@pytest.mark.parametrize(
    "text",
    [
        "„Ja, das CAFÉ“, sagte er. “MANHÔ… «À»",
        "Qu’est-ce que c’est\u00a0? « Donné\u00a0» — à\u00a0«\u00a0lui\u00a0».",
        "Â, Ã, Ä und Å sind Buchstaben. ÄÖÜ“ É” Ñ…",
        "Spaß“, Größe”",
        "naïve façade, Ñandú, GARÇON™, 20°C ±5",
        "Привет, «мир»!",
        "你好，世界……",
        "😀 ok",
    ],
)
def test_true_text_is_no_mojibake(text: str) -> None:
    assert mend_mojibake(text) == text
    assert not has_mojibake(text)


@given(st.text(max_size=40))
@settings(max_examples=200)
def test_a_repair_leaves_nothing_to_repair(text: str) -> None:
    mended = mend_mojibake(text)
    assert mend_mojibake(mended) == mended
    assert mended == text or not text.isascii()


@given(words=st.lists(st.text(st.sampled_from("abcdeäñ"), min_size=1, max_size=6), min_size=1, max_size=12))
def test_a_copy_is_found_if_it_has_three_words(words: list[str]) -> None:
    source = " ".join(words)
    assert is_copied(source, f"„{source.upper()}“!") == (len(words) >= 3)
    assert not is_copied(source, " ".join("x" + word for word in words))


@pytest.mark.parametrize("text", ["", " ", "?!", "…", "——", "😀", "@@", "me@example.org", "www.example.org/x?y=1"])
def test_texts_without_words(text: str) -> None:
    assert is_wordless(text)
    assert not is_wordless(text + " a")


def test_scripts_of_all_known_languages_find_their_own_text_right() -> None:
    for language, text in (("de", "Größe"), ("ru", "Это мой дом"), ("ja", "これはペンです"), ("ko", "한 남자가 말을")):
        assert not ForeignScript(language).has(text)
        assert ForeignScript("th").has(text) == (language != "de")  # one word is no evidence
    assert not ForeignScript("xx").has("Это мой дом")
    assert not ForeignScript("und").has("Это мой дом")


@given(
    pairs=st.lists(
        st.tuples(st.sampled_from("abcdefg"), st.sampled_from(["short", "a longer line of text"])), max_size=60
    ),
    n_buffered=st.sampled_from([3, 1000]),
)
@settings(max_examples=100)
def test_repeated_lines_against_counting(pairs: Pairs, n_buffered: int) -> None:
    with pytest.MonkeyPatch.context() as patch, HashedPairs("target") as hashed:
        for name, value in (
            ("repeats._MANY_SOURCES", 4),
            ("repeats._MANY_TIMES", 6),
            ("hashed_pairs._BUFFER", n_buffered),
        ):
            patch.setattr(f"dragoman.data.{name}", value)
        for source, target in pairs:
            hashed.add(text_hash(source), text_hash(target), len(target))
        found = find_repeats(hashed)
    sources = {target: {source for source, other in pairs if other == target} for _, target in pairs}
    expected = [
        (len(sources[target]) >= 4 and target != "short")
        or (pairs.count((source, target)) >= 6 and (source, target) in pairs[:index])
        for index, (source, target) in enumerate(pairs)
    ]
    assert found.is_repeat.tolist() == expected
    assert bool(found.examples) == any(expected)
    assert len(found.examples) <= N_SAMPLES


def test_a_hostile_line_takes_no_time() -> None:
    counter = FaultCounter("en", "zh", ())
    start = time.perf_counter()
    for text in (
        "Ã¼" * 50_000,
        "1 " * 50_000,
        "a@" * 50_000,
        "中" * 100_000,
        "â€" * 50_000,
        "Â" * 100_000,
        "x y " * 30_000,
    ):
        counter.problem(1, text, text[::-1])
    assert time.perf_counter() - start < 60


# -- the report --------------------------------------------------------------------------------------------------


def test_the_report_has_a_count_the_first_line_and_five_samples() -> None:
    counter = FaultCounter("en", "de", ("copied",))
    for line in range(1, 1001):
        is_wrong = line % 3 == 0
        problem = counter.problem(line, "It is a line.", "It is a line!" if is_wrong else "Das ist es.")
        assert problem == ("copied" if is_wrong else None)
    head, *samples = counter.lines()
    assert head == "333 pairs have the source copied as the target (from line 3; dropped)"
    numbers = [int(each.split(":")[0].removeprefix("    line ")) for each in samples]
    assert len(numbers) == N_SAMPLES
    assert numbers == sorted(numbers)
    assert all(number % 3 == 0 for number in numbers)
    assert max(numbers) > 300  # not the first ones alone


def test_many_faults_are_a_warning_unless_they_are_dropped() -> None:
    for n_wrong, dropped, is_warning in ((1, (), False), (50, (), True), (50, ("wordless",), False)):
        counter = FaultCounter("en", "de", dropped)
        for line in range(1, 1001):
            counter.problem(line, "It is.", "!" if line <= n_wrong else "Ja.")
        assert counter.lines()[0].startswith("warning: ") == is_warning


def test_samples_are_short_and_safe_for_a_terminal() -> None:
    counter = FaultCounter("en", "de", ())
    counter.problem(7, "wor\u202eds \t" + "a" * 500, "!")
    sample_line = counter.lines()[1]
    assert len(sample_line) < 100
    assert "\u202e" not in sample_line


# -- what is dropped ---------------------------------------------------------------------------------------------

BOILERPLATE = [(f"A line of its own, {word}.", "Alle Rechte vorbehalten.") for word in map(str, range(60))]
FAULTY: dict[str, Pairs] = {
    "numbers": [("It was in 1998.", "Es war 1989."), ("Call 555 1234.", "Ruf 555 1243 an.")],
    "copied": [("Where is my key now?", "Where is my key now?")],
    "script": [("Where is it?", "Это не немецкий язык.")],
    "mojibake": [("It is for you.", "Das ist fÃ¼r dich.")],
    "wordless": [("I know.", "...")],
    "repeated": [(source.replace("0", "x"), target) for source, target in BOILERPLATE],
}


@pytest.mark.parametrize("fault", FAULTY)
def test_pairs_of_a_fault_are_dropped_when_it_is_asked_for_and_only_then(tmp_path: Path, fault: str) -> None:
    pairs = sample(100)
    wrong = FAULTY[fault]
    mixed = [*pairs[:50], *wrong, *pairs[50:]]
    kept, lines = make(corpus(tmp_path / "in", mixed, data={"dedup": False}), tmp_path / "kept")
    assert len(texts(kept.train)) + len(texts(kept.validation)) + _n_same_source(lines) == len(mixed)
    dropped, lines = make(corpus(tmp_path / "in", mixed, data={"drop": [fault]}), tmp_path / "dropped")
    left = set(texts(dropped.train)) | set(texts(dropped.validation))
    assert left.isdisjoint(wrong)
    assert left <= set(pairs)
    n_counted = sum(f"{len(wrong):,} pair" in line and "dropped)" in line for line in lines)
    assert n_counted == 1, lines
    assert any(line.startswith("kept ") and f"{fault} {len(wrong):,} (" in line for line in lines), lines


def _n_same_source(lines: list[str]) -> int:
    (line,) = (line for line in lines if line.startswith("kept "))
    return int(line.split("same source as in validation ")[1].split(" ")[0]) if "same source" in line else 0


def test_given_validation_text_is_left_as_it_is(tmp_path: Path) -> None:
    wrong = FAULTY["copied"]
    validation = corpus(tmp_path / "validation", [*sample(5), *wrong]).data
    data = {"drop": ["copied"], "validation_source": validation.source, "validation_target": validation.target}
    prepared, _ = make(corpus(tmp_path / "in", [*sample(60, 2), *wrong], data=data), tmp_path / "out")
    assert wrong[0] in texts(prepared.validation)
    assert wrong[0] not in texts(prepared.train)


def test_mojibake_is_repaired_before_anything_else() -> None:
    wrong = [
        (misread(text, encoding), text)
        for text in ("Für ‘alle’ Größen ß€", "élève œuvre")
        for encoding in ("cp1252", "latin-1")
    ]
    text = ParallelText.of_pairs("x", lambda: iter([*wrong, ("It is.", "Es ist.")]))
    assert list(cleaned(text, ("mojibake",))) == [(right, right) for _, right in wrong] + [("It is.", "Es ist.")]
    assert list(cleaned(text, ("tags",))) == list(text)


def test_if_every_pair_has_a_fault_that_is_dropped_this_is_said(tmp_path: Path) -> None:
    assert run(["prepare", *_files(tmp_path, FAULTY["wordless"]), "--set", "data.drop=wordless", "--dry-run"]) == 1


@pytest.mark.parametrize("value", ["number", "copied,empty", "all"])
def test_an_unknown_fault_is_refused_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], value: str
) -> None:
    assert run(["prepare", *_files(tmp_path, sample(5)), "--set", f"data.drop={value}"]) == 2
    assert "data.drop" in capsys.readouterr().err.splitlines()[-1]


def test_a_dry_run_reports_as_a_true_one_and_writes_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    files = _files(tmp_path, [*sample(80), *FAULTY["copied"]])
    before = sorted(tmp_path.rglob("*"))
    assert run(["prepare", *files, "--dry-run"]) == 0
    assert sorted(tmp_path.rglob("*")) == before
    report, last = capsys.readouterr().err.splitlines()[:-1], "nothing was written"
    assert run(["prepare", *files, "-o", "out"]) == 0
    told = capsys.readouterr().err.splitlines()[:-1]
    assert any(line.startswith("chose training.") for line in told)
    assert [line for line in told if not line.startswith("chose ")] == report
    assert any("    line 81: Where is my key now? | Where" in line for line in report)
    assert run(["prepare", *files, "-o", "out", "--dry-run"]) == 0  # also where there is a corpus
    assert last in capsys.readouterr().err.splitlines()[-1]


def _files(folder: Path, pairs: Pairs) -> list[str]:
    data = corpus(folder / "in", pairs).data
    return ["--source", str(data.source), "--target", str(data.target)]


# -- real text ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("languages", [("en", "de"), ("en", "fr"), ("zh", "en")])
def test_real_text_raises_hardly_any_alarm_and_spoiled_text_is_found(
    data_folder: Path, languages: tuple[str, str]
) -> None:
    folder = data_folder / f"tatoeba-{'-'.join(languages)}"
    sides = [
        gzip.decompress((folder / f"val.{language}.gz").read_bytes()).decode().split("\n") for language in languages
    ]
    pairs = [pair for pair in zip(*sides, strict=True) if all(pair)]
    assert _n_faulty(pairs, languages) < len(pairs) / 1000
    draw = random.Random(1)
    long = draw.sample([pair for pair in pairs if len(pair[0].split()) >= 3 or languages[0] == "zh"], 500)
    copies = [(source, source) for source, _ in long]
    assert _n_faulty(copies, languages) > 0.9 * len(copies)
    for side in (0, 1):
        accented = [pair for pair in pairs if not pair[side].isascii()][:500]
        if len(accented) == 500:
            wrong = [misread(pair[side], "cp1252") for pair in accented]
            assert sum(map(has_mojibake, wrong)) > 0.99 * len(wrong)
            n_mended = sum(mend_mojibake(text) == pair[side] for text, pair in zip(wrong, accented, strict=True))
            assert n_mended > 0.97 * len(wrong)
    assert not any(mend_mojibake(text) != text for pair in pairs for text in pair)


def _n_faulty(pairs: Any, languages: tuple[str, str]) -> int:
    names = ("numbers", "copied", "script", "mojibake", "wordless")
    counter = FaultCounter(*languages, names)
    return sum(counter.problem(line, *pair) is not None for line, pair in enumerate(pairs, start=1))


def test_the_rules_hold_for_each_corpus_of_a_mixture_by_its_own_languages(tmp_path: Path) -> None:
    norwegian = "Det er ikke her nå."  # and the same in Danish, but for one letter
    first = corpus(tmp_path / "first", [*sample(40), *FAULTY["copied"]]).data
    second = corpus(tmp_path / "second", [*sample(40, 2), (norwegian, norwegian)]).data
    corpora = [
        {"name": name, "source": data.source, "target": data.target, "source_lang": source, "target_lang": target}
        for name, data, source, target in (("one", first, "en", "de"), ("two", second, "nb", "da"))
    ]
    config = parse_config({"data": {"corpora": corpora, "drop": ["copied"]}})
    prepared, lines = make(config, tmp_path / "out")
    left = [*texts(prepared.train), *texts(prepared.validation)]
    assert not any("Where is my key now?" in source for source, _ in left)
    assert any(norwegian in source for source, _ in left)
    assert any(line.startswith("one: 1 pair has the source copied") and line.endswith("dropped)") for line in lines)


def test_the_rules_hold_for_pairs_that_are_selected(tmp_path: Path) -> None:
    """Selection, which all corpora go through, counts usable pairs alone."""
    text = ParallelText.of_pairs("x", lambda: iter([("a\0", "..."), ("Ja.", "..."), ("A man.", "Ein Mann.")]))
    selection = select(text, DataConfig(drop=("wordless",)), {}, hold_out=False)
    assert selection.dropped.dropped == {"control characters": 1, "wordless": 1}
    assert selection.dropped.first == {"control characters": 1, "wordless": 2}


@pytest.mark.parametrize(
    ("languages", "dropped", "n_lines"),
    [
        (("und", "en"), ("script",), 1),
        (("und", "en"), ("copied",), 0),
        (("und", "und"), ("copied", "script"), 1),
        (("und", "und"), ("mojibake",), 0),
        (("de", "en"), ("copied", "script"), 0),
    ],
)
def test_a_rule_that_lacks_a_language_says_so(
    languages: tuple[str, str], dropped: tuple[Any, ...], n_lines: int
) -> None:
    counter = FaultCounter(*languages, dropped)
    counter.problem(1, "Wie geht es dir?", "How are you?")
    told = [line for line in counter.lines() if "--source-lang" in line]
    assert len(told) == n_lines
    assert all(f"data.drop={','.join(dropped)} needs" in line for line in told)
