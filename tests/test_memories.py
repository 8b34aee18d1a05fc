"""Translation memories: equal texts get their translations, similar ones are found, and a crash loses nothing."""

from __future__ import annotations

import json
import pickle
import random
import threading
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from extras import import_extra
from hypothesis import given
from hypothesis import strategies as st
from tiny import PAIRS, write_tiny_bundle

from dragoman.cli.program import run
from dragoman.documents import parse_document, translate_document
from dragoman.errors import ConfigError, DataError
from dragoman.memories import MemoryMatch, TranslationMemory, Unit, append_units, export_units, open_units
from dragoman.memories import fuzzy_index as fuzzy
from dragoman.memories.adapting import adapted
from dragoman.memories.fuzzy_index import FuzzyIndex, NgramIndex
from dragoman.text.cleaning import comparable
from dragoman.text.terms import Term, TermList
from dragoman.translator import Request, Translator
from dragoman.translator.recalling import recalled_parts

UNITS = [Unit(source, target, "en", "de") for source, target in PAIRS]
HORSE, REITER = PAIRS[0]
sides = st.text(st.sampled_from("abc äß中😀<>&\"'\t\n\r\u2028\x00\\"), max_size=8)
units = st.builds(Unit, sides, sides, st.sampled_from(["en", "de-AT", None]), st.sampled_from(["fr", "zh"]))


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tiny_bundle(tmp_path_factory.mktemp("memory") / "m")


@pytest.fixture(scope="module")
def translator(bundle: Path) -> Translator:
    return Translator.load(bundle)


# ------------------------------------------------------------------------------------------------ in RAM


def test_an_equal_text_is_found_whatever_its_spaces_and_invisible_characters_are() -> None:
    memory = TranslationMemory(UNITS)
    for text in (HORSE, f"  {HORSE} ", HORSE.replace(" ", " \u200b "), HORSE.replace(" ", "\n")):
        match = memory.exact(text, "en", "de")
        assert match is not None
        assert (match.score, match.source, match.target) == (1.0, HORSE, REITER)
    assert memory.exact(HORSE.lower(), "en", "de") is None
    assert memory.exact(HORSE, "en-GB", "de-AT") is not None
    assert memory.exact(HORSE, None, None) is not None
    for other in (("de", "en"), ("en", "fr"), ("fr", "de")):
        assert memory.exact(HORSE, *other) is None
        assert memory.lookup(HORSE, *other, threshold=0.1) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Pets are not allowed. It’s after three o'clock.", "Keine Haustiere. Es ist nach drei Uhr."),
        ("Pets are not allowed.\u00a0 Pets are not allowed.", "Keine Haustiere. Keine Haustiere."),
        ("Pets are not allowed. Hello.", None),
        ("Page 7 of 30", "Seite 7 von 30"),
        ("Page 30 of 12", "Seite 30 von 12"),
        ("Open at 18:30. Page 2 of 7", "Offen um 18:30. Seite 2 von 7"),
        ("Page 1 of 30", None),  # a word beside 1 may have another form
        ("Page 7 of 1,200", "Seite 7 von 1.200"),
        ("It costs 1,300 dollars.", "Es kostet 1.300 Dollar."),
        ("", None),
        (" ", None),
    ],
)
def test_sentences_and_other_numbers_are_equal(text: str, expected: str | None) -> None:
    units = [
        ("Pets are not allowed.", "Keine Haustiere."),
        ("It's after three o’clock.", "Es ist nach drei Uhr."),
        ("Page 12 of 30", "Seite 12 von 30"),
        ("It costs 1,250 dollars.", "Es kostet 1.250 Dollar."),
        ("Open at 17:45.", "Offen um 17:45."),
    ]
    match = TranslationMemory(Unit(*pair, "en", "de") for pair in units).exact(text, "en", "de")
    assert (match and match.target) == expected


@pytest.mark.parametrize(
    ("languages", "source", "target", "expected"),
    [
        ("en de", "It costs EUR 12.50.", "Es kostet 12,50 EUR.", {"It costs EUR 13.00.": "Es kostet 13,00 EUR."}),
        (
            "en de",
            "On 3 May.",
            "Am 3. Mai.",
            {
                "On 4 May.": "Am 4. Mai.",
                "On 1 May.": None,
                "On 31 May.": "Am 31. Mai.",
                "On 31 December.": "Am 31. Dezember.",
                "On 1 June.": None,
            },
        ),
        (
            "en fr",
            "On May 3, 2026.",
            "Le 3 mai 2026.",
            {"On May 14, 2027.": "Le 14 mai 2027.", "On May 1, 2027.": None, "On April 8, 2027.": "Le 8 avril 2027."},
        ),
        ("en fr", "The rent of May 2026", "Le loyer de mai 2026", {"The rent of April 2026": None}),  # d'avril
        ("en fr", "I may pay on 3 May.", "Je paierai le 3 mai.", {"I may pay on 4 June.": "Je paierai le 4 juin."}),
        ("en zh", "On 3 May.", "5月3日。", {"On 4 May.": "5月4日。", "On 4 June.": "6月4日。"}),
        (
            "en de",
            "It costs €950.00.",
            "Es kostet 950,00 €.",
            {
                "It costs €12,095.50.": "Es kostet 12.095,50 €.",
                "It costs €1,095.50.": "Es kostet 1.095,50 €.",
                "It costs €12095.50.": "Es kostet 12095,50 €.",
                "It costs €95.50.": "Es kostet 95,50 €.",
            },
        ),
        ("zh en", "5月3日。", "On May 3.", {"6月14日。": "On June 14.", "6月1日。": None}),
        (
            "en de",
            "At 17:45 for $5.",
            "Um 17.45 Uhr für 5 $.",
            {"At 17:45 for $6.": "Um 17.45 Uhr für 6 $.", "At 18:30 for $5.": None},
        ),
        (
            "de en",
            "Für 5 € am 3. Mai.",
            "For €5 on May 3rd.",
            {"Für 6,20 € am 3. Mai.": "For €6.20 on May 3rd.", "Für 5 € am 4. Mai.": None},
        ),
        ("en pl", "It is EUR 12.50.", "To 12,50 EUR.", {"It is EUR 13.": "To 13 EUR."}),
        ("en pl", "It is 12 euros.", "To 12 euro.", {"It is 13 euros.": None}),  # Polish words have several plurals
        ("en de", "From $5 to $5.", "Von 5 $ bis 5 $.", {"From $6 to $6.": "Von 6 $ bis 6 $.", "From $5 to $6.": None}),
        ("en de", "It is $12.50.", "Es kostet 15 $.", {"It is $13.50.": None}),  # another amount
        # "a 3 alma", "gli 8 elementi", "6'da"
        ("en hu", "The 5 apples", "Az 5 alma", {"The 3 apples": None}),
        ("en hu", "It is 5 and 7.", "Az 5 és 7.", {"It is 5 and 9.": "Az 5 és 9.", "It is 6 and 7.": None}),
        ("en it", "The 5 elements", "I 5 elementi", {"The 8 elements": None}),
        ("en it", "5 elements", "5 elementi", {"8 elements": "8 elementi"}),
        ("en tr", "It ends at 5", "5te biter", {"It ends at 6": None}),
        ("fr en", "Un billet de 9,50 €.", "A €9.50 ticket.", {"Un billet de 8,50 €.": None}),  # an €8.50 ticket
    ],
)
def test_amounts_and_dates_are_replaced_where_they_are_sure(
    languages: str, source: str, target: str, expected: dict[str, str | None]
) -> None:
    direction = languages.split()
    memory = TranslationMemory([Unit(source, target, *direction)])
    for text, translation in expected.items():
        match = memory.exact(text, *direction)
        assert (match and match.target) == translation


def test_a_unit_of_unknown_languages_keeps_its_numbers() -> None:
    assert TranslationMemory([Unit("Page 12 of 30", "Seite 12 von 30")]).exact("Page 7 of 30", "en", "de") is None


def test_chinese_sentences_are_joined_without_a_space() -> None:
    memory = TranslationMemory([Unit("Yes.", "是。", "en", "zh"), Unit("No.", "不。", "en", "zh")])
    match = memory.exact("Yes. No.", "en", "zh-CN")
    assert match is not None
    assert match.target == "是。不。"


def test_the_last_translation_of_a_text_counts() -> None:
    memory = TranslationMemory([*UNITS, Unit(HORSE, "", "en", "de"), Unit("", "x", "en", "de")])
    memory.add(HORSE, "Ein Reiter.", "en", "de")
    assert memory.exact(HORSE, "en", "de").target == "Ein Reiter."  # type: ignore[union-attr]
    assert len(memory) == len(UNITS)
    memory.add(HORSE, "Un cavalier.", "en", "fr")
    memory.add("Hello", "Hallo")
    assert memory.exact(HORSE, "en", "fr").target == "Un cavalier."  # type: ignore[union-attr]
    assert memory.exact("Hello", "en", "fr").target == "Hallo"  # type: ignore[union-attr]
    memory.add("Hello", "Bonjour", "en", "fr")  # a known direction wins over an unknown one
    assert memory.exact("Hello", "en", "fr").target == "Bonjour"  # type: ignore[union-attr]


@pytest.mark.parametrize("threshold", [0, -1, 1.01, float("nan"), True, "0.7"])
def test_a_wrong_threshold_is_named(threshold: float) -> None:
    with pytest.raises(ConfigError, match="a threshold of"):
        TranslationMemory(UNITS).lookup(HORSE, threshold=threshold)


def _texts(words: list[str], joiner: str, n: int) -> list[str]:
    draw = random.Random(1)
    return [joiner.join(draw.choices(words, k=draw.randint(2, 9))) for _ in range(n)]


ENGLISH = ["open", "the", "file", "save", "close", "window", "print", "a", "page", "when", "select", "every", "line"]
CHINESE = [
    "打开",
    "文件",
    "保存",
    "关闭",
    "窗口",
    "打印",
    "页面",
    "请",
    "选择",
    "每",
    "一",
    "行",
    "错误",
    "用户",
    "设置",
]


@pytest.mark.parametrize(("words", "joiner"), [(ENGLISH, " "), (CHINESE, "")])
def test_the_index_finds_what_a_search_of_all_texts_finds(
    words: list[str], joiner: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Oracle: the similarity of each text, computed from its definition by rapidfuzz, without an index."""
    distance = import_extra("rapidfuzz", "memory").distance.Levenshtein.distance
    monkeypatch.setattr(fuzzy, "_BLOCK", 1000)
    monkeypatch.setattr(fuzzy, "_TAIL", 300)
    texts, draw, index = list(dict.fromkeys(_texts(words, joiner, 2500))), random.Random(2), FuzzyIndex()
    n_found = n_best = 0
    for number, text in enumerate(texts):
        index.add(text)
        if number % 20 or number < 40:
            continue
        query = draw.choice(texts[: number + 1])
        at = draw.randrange(len(query))
        query = query[:at] + draw.choice("xyz") + query[at + 1 :]
        scores = [1 - distance(query, one) / max(len(query), len(one)) for one in texts[: number + 1]]
        found = index.similar(query, 0.7, 3)
        assert all(score == pytest.approx(scores[row]) and score >= 0.7 for score, row in found)
        assert [score for score, _ in found] == sorted((score for score, _ in found), reverse=True)
        if max(scores) >= 0.7:
            n_best += 1
            n_found += bool(found) and found[0][0] == pytest.approx(max(scores))
    assert n_best > 50
    assert n_found >= 0.98 * n_best


def test_similar_texts_have_their_scores_and_never_the_score_of_an_equal_one() -> None:
    import_extra("rapidfuzz", "memory")
    memory = TranslationMemory([*UNITS, Unit("a" * 1999 + "b", "x", "en", "de")])
    equal, *others = memory.lookup(HORSE, "en", "de", threshold=0.1)
    assert equal.score == 1
    assert others
    assert all(match.score < 1 and match.source != HORSE for match in others)
    (match,) = memory.lookup("A man is riding a bike.", "en", "de")
    assert (match.source, match.target) == (HORSE, REITER)
    assert match.score == pytest.approx(1 - 4 / 24, abs=1e-4)
    assert memory.lookup("a" * 2000, "en", "de")[0].score == 0.99
    assert memory.lookup("a" * 2001, "en", "de") == []  # longer than what is searched for


def test_without_rapidfuzz_only_equal_texts_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dragoman.memories.translation_memory.can_search", lambda: False)
    memory = TranslationMemory(UNITS)
    assert [match.score for match in memory.lookup(HORSE, threshold=0.1)] == [1]
    assert memory.lookup(HORSE + "!", threshold=0.1) == []


def test_a_lookup_without_rapidfuzz_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(fuzzy, "find_spec", lambda name: None)
    append_units(tmp_path / "m.jsonl", UNITS)
    assert run(["memory", "lookup", str(tmp_path / "m.jsonl"), "x"]) == 0
    assert "similar texts, install rapidfuzz: pip install" in capfd.readouterr().err


def test_threads_share_a_memory() -> None:
    import_extra("rapidfuzz", "memory")
    memory, missing = TranslationMemory(UNITS), []

    def work(number: int) -> None:
        for turn in range(200):
            text = f"thread {number} says {turn} things"
            memory.add(text, text.upper(), "en", "de")
            if memory.lookup(text, "en", "de")[0].target != text.upper():
                missing.append(text)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not missing
    assert len(memory) == len(UNITS) + 800


def test_texts_are_added_and_found_while_an_index_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    import_extra("rapidfuzz", "memory")
    memory, begun, go_on = TranslationMemory(UNITS), threading.Event(), threading.Event()

    class SlowIndex(NgramIndex):
        def __init__(self, texts: Sequence[str]) -> None:
            begun.set()
            assert go_on.wait(60)
            super().__init__(texts)

    monkeypatch.setattr(fuzzy, "_TAIL", 1)
    monkeypatch.setattr(fuzzy, "NgramIndex", SlowIndex)
    found: list[MemoryMatch] = []
    searching = threading.Thread(target=lambda: found.extend(memory.lookup(HORSE + "!", "en", "de")))
    searching.start()
    assert begun.wait(60)
    adding = threading.Thread(target=memory.add, args=("new text", "neuer Text", "en", "de"))
    adding.start()
    adding.join(60)
    is_added = memory.exact("new text", "en", "de") is not None
    go_on.set()
    searching.join(60)
    assert is_added
    assert found[0].source == HORSE


def test_a_reader_never_meets_a_text_that_is_half_added(monkeypatch: pytest.MonkeyPatch) -> None:
    memory, found = TranslationMemory(UNITS), []
    monkeypatch.setattr(FuzzyIndex, "add", lambda self, text: found.append(memory.exact("new text", "en", "de")))
    memory.add("new text", "neuer Text", "en", "de")
    assert found == [None]
    assert memory.exact("new text", "en", "de") is not None


def test_a_memory_can_be_pickled() -> None:
    memory = TranslationMemory(UNITS)
    copy = pickle.loads(pickle.dumps(memory))
    assert copy.units() == memory.units()
    assert [copy.exact(*unit[:1], *unit[2:]) for unit in UNITS] == [
        memory.exact(*unit[:1], *unit[2:]) for unit in UNITS
    ]


# ------------------------------------------------------------------------------------------------ files


@given(first=st.lists(units, max_size=4), second=st.lists(units, min_size=1, max_size=3))
def test_a_growing_file_gives_its_units_back(
    first: list[Unit], second: list[Unit], tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("log") / "m.jsonl"
    append_units(path, first)
    append_units(path, second)
    assert list(open_units(path)) == [*first, *second]


def test_a_file_cut_at_any_byte_keeps_the_units_before_the_cut(tmp_path: Path) -> None:
    whole, path = tmp_path / "whole.jsonl", tmp_path / "cut.jsonl"
    append_units(whole, UNITS)
    content = whole.read_bytes()
    ends = [at + 1 for at, byte in enumerate(content) if byte == ord("\n")]
    for cut in range(1, len(content), 3):
        path.write_bytes(content[:cut])
        append_units(path, [Unit("new", "neu", "en", "de")])
        kept = [(unit.source, unit.target) for unit in open_units(path)]
        n_whole = sum(end <= cut for end in ends)
        assert kept[:n_whole] == PAIRS[:n_whole]
        assert kept[-1] == ("new", "neu")
        assert len(kept) <= n_whole + 2


@pytest.mark.parametrize("suffix", [".jsonl", ".tsv", ".tmx"])
def test_every_form_that_is_written_is_read(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"m{suffix}"
    export_units(path, UNITS)
    assert list(open_units(path)) == UNITS
    assert list(open_units(path, ("en", "de"))) == UNITS
    assert TranslationMemory.open(path, source_lang="en", target_lang="de").exact(HORSE, "en", "de") is not None


@given(pairs=st.lists(st.tuples(sides, sides), min_size=1, max_size=4))
def test_tmx_keeps_texts_up_to_their_spaces(
    pairs: list[tuple[str, str]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("tmx") / "m.tmx"
    export_units(path, [Unit(*pair, "en", "de") for pair in pairs])
    read = [tuple(map(comparable, unit[:2])) for unit in open_units(path)]
    assert read == [tuple(map(comparable, pair)) for pair in pairs]


def test_characters_that_xml_forbids_do_not_spoil_tmx(tmp_path: Path) -> None:
    export_units(tmp_path / "m.tmx", [Unit("a\ufffeb", "c\uffff", "en", "de")])
    assert [unit[:2] for unit in open_units(tmp_path / "m.tmx")] == [("a\ufffdb", "c\ufffd")]


def test_bad_memories_are_told_in_one_line(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    other, table = tmp_path / "other.jsonl", tmp_path / "table.tsv"
    other.write_text('{"source": "a b", "target": "c d"}\n')
    export_units(table, UNITS)
    with pytest.raises(DataError, match="no source_lang"):
        append_units(other, UNITS)
    with pytest.raises(ConfigError, match=r"only \.jsonl files take new units.*; import it into a new memory"):
        append_units(table, UNITS)
    with pytest.raises(ConfigError, match=r"new units.*; choose a name that ends in \.jsonl"):
        append_units(tmp_path / "new.tmx", UNITS)
    with pytest.raises(ConfigError, match=r"a memory of kind '\.po' cannot be written"):
        export_units(tmp_path / "m.po", UNITS)
    with pytest.raises(ConfigError, match="a table has one direction"):
        export_units(table, [Unit("a", "b", "en", "de"), Unit("a", "b", "en", "fr")])
    with pytest.raises(DataError, match=r"cannot read|not found|no such"):
        list(open_units(tmp_path / "missing.tmx"))
    (wide := tmp_path / "wide.tsv").write_text("A dog runs.\tEin Hund rennt.\tUn chien court.\n" * 2)
    with pytest.raises(DataError, match="or leave only its two columns in the file") as caught:
        list(open_units(wide))  # for which no command has --columns
    assert "--columns" not in str(caught.value)
    assert run(["memory", "add", str(table), " ", "x"]) == 2
    assert run(["memory", "lookup", str(tmp_path / "missing.tmx"), "x"]) == 1
    assert run(["memory", "import", str(table), str(table)]) == 2
    log, written = tmp_path / "m.jsonl", tmp_path / "new.tmx"
    assert run(["memory", "add", str(log), "a", "b", "--source-lang", "e n"]) == 2
    assert run(["memory", "import", str(log), str(table), "--target-lang", "e n"]) == 2
    assert not log.exists()
    append_units(log, UNITS)
    assert run(["memory", "export", str(log), str(written), "--target-lang", "fr"]) == 1
    assert not written.exists()
    told = capfd.readouterr().err
    assert told.count("\n") == 6
    assert told.count("is no language code") == 2


def test_a_memory_takes_each_whole_pair_once(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    pairs, path = tmp_path / "pairs.tsv", tmp_path / "m.jsonl"
    pairs.write_text("en\tde\nHello\tHallo\n\tx\ny\t \nHello\tHallo\n", encoding="utf-8")
    for _ in range(2):
        assert run(["memory", "import", str(path), str(pairs)]) == 0
    for _ in range(2):
        assert run(["memory", "add", str(path), "Yes", "Ja", "--source-lang", "en", "--target-lang", "de"]) == 0
    assert [*open_units(path)] == [Unit("Hello", "Hallo", "en", "de"), Unit("Yes", "Ja", "en", "de")]
    told = capfd.readouterr().err
    assert "added 1 text to" in told
    assert "3 are there already, or have an empty side" in told
    assert "has it already" in told
    for target in ("Guten Tag", "Hallo"):  # the last translation counts
        assert run(["memory", "add", str(path), "Hello", target, "--source-lang", "en", "--target-lang", "de"]) == 0
    assert TranslationMemory.open(path).exact("Hello", "en", "de").target == "Hallo"  # type: ignore[union-attr]
    before = path.read_bytes()
    assert run(["memory", "add", str(path), "Hello", "Hallo"]) == 2
    assert run(["memory", "add", str(path), "Hello", "Hallo", "--source-lang", "en"]) == 2
    (bare := tmp_path / "bare.tsv").write_text("One\tEins\n" * 3)
    assert run(["memory", "import", str(path), str(bare), "--target-lang", "de"]) == 2
    assert path.read_bytes() == before
    assert capfd.readouterr().err.count("has no languages; give --source-lang and --target-lang") == 3
    assert run(["memory", "add", str(path), "Bye", "Bye", "--source-lang", "en", "--target-lang", "en-US"]) == 2
    assert path.read_bytes() == before


def test_an_old_pair_without_languages_is_for_every_direction_until_it_gets_some(tmp_path: Path) -> None:
    log, new, languages = tmp_path / "m.jsonl", tmp_path / "n.jsonl", ["--source-lang", "en", "--target-lang", "de"]
    append_units(log, [Unit("Hello", "Hallo")])
    memory = TranslationMemory.open(log, source_lang="en", target_lang="de")
    assert memory.exact("Hello", "en", "de").target == "Hallo"  # type: ignore[union-attr]
    for _ in range(2):
        assert run(["memory", "add", str(log), "Hello", "Hallo", *languages]) == 0
        assert run(["memory", "import", str(new), str(log), *languages]) == 0
    assert [*open_units(log)] == [Unit("Hello", "Hallo"), Unit("Hello", "Hallo", "en", "de")]
    assert [*open_units(new)] == [Unit("Hello", "Hallo", "en", "de")]


@pytest.mark.parametrize("suffix", ["xlf", "2.xlf", "tmx"])
def test_translations_by_a_machine_are_no_memory_until_a_person_has_checked_them(
    suffix: str, translator: Translator, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    units = {
        "xlf": "<trans-unit><source>{}</source></trans-unit>",
        "2.xlf": "<unit><segment><source>{}</source></segment></unit>",
        "tmx": '<tu><tuv xml:lang="en"><seg>{}</seg></tuv></tu>',
    }
    heads = {
        "xlf": '<xliff version="1.2"><file source-language="en" target-language="de"><body>',
        "2.xlf": '<xliff version="2.1" srcLang="en" trgLang="de"><file>',
        "tmx": '<tmx><header srclang="en"/><body>',
    }
    ends = {"xlf": "</body></file></xliff>", "2.xlf": "</file></xliff>", "tmx": "</body></tmx>"}
    content = heads[suffix] + "".join(units[suffix].format(text) for text in (HORSE, "a horse")) + ends[suffix]
    document = parse_document(content.encode(), suffix.removeprefix("2."))
    found = list(translate_document(document, translator, target_lang="de", memory=TranslationMemory(UNITS)))
    path = tmp_path / f"a.{suffix}"
    path.write_bytes(document.rebuild([replace(one, flags=()) for one in found], "de"))
    assert [unit[:2] for unit in open_units(path, ("en", "de"))] == [(HORSE, REITER)]
    assert "1 translation left out: made by a machine" in caplog.text
    checked = path.read_bytes()
    for old, new in {b'state="translated"': b'state="final"', b"leveraged-mt</prop>": b"</prop>"}.items():
        checked = checked.replace(old, new)
    path.write_bytes(checked)
    assert len(list(open_units(path, ("en", "de")))) == 2


@pytest.mark.parametrize("suffix", [".jsonl", ".csv"])
def test_a_memory_that_is_no_text_is_refused(suffix: str, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / f"memory{suffix}"
    path.write_bytes(b"\x80\xff,\xfe\n" * 3)
    with pytest.raises(DataError, match="no line can be read"):
        list(open_units(path))
    path.write_bytes(b"\xff,\xfe\n" + (b'{"source": "a", "target": "b"}\n' if suffix == ".jsonl" else b"a,b\n"))
    assert [unit[:2] for unit in open_units(path)] == [("a", "b")]
    assert "1 line passed over: no UTF-8, or too long" in caplog.text


def test_the_commands_look_up_add_import_and_export(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    table, log, memory = tmp_path / "a.tsv", tmp_path / "m.jsonl", tmp_path / "m.tmx"
    export_units(table, UNITS)
    languages = ["--source-lang", "en", "--target-lang", "de"]
    assert run(["memory", "import", str(log), str(table), *languages]) == 0
    assert run(["memory", "add", str(log), HORSE, "Ein Reiter.", *languages]) == 0
    assert run(["memory", "export", str(log), str(memory), *languages]) == 0
    assert run(["memory", "export", str(log), str(memory), *languages]) == 1
    capfd.readouterr()
    assert run(["memory", "lookup", str(memory), HORSE, "--json", *languages]) == 0
    (line, *_) = capfd.readouterr().out.splitlines()
    assert json.loads(line) == {"score": 1.0, "source": HORSE, "target": "Ein Reiter.", "is_adapted": False}
    assert len(list(open_units(log))) == len(UNITS) + 1
    assert len(list(open_units(memory))) == len(UNITS)


def test_an_import_adds_pairs_once_and_a_later_translation_again(tmp_path: Path) -> None:
    table, log = tmp_path / "a.tsv", tmp_path / "m.jsonl"
    export_units(table, UNITS)
    languages = ["--source-lang", "en", "--target-lang", "de"]
    for _ in range(2):
        assert run(["memory", "import", str(log), str(table), *languages]) == 0
    assert [unit[:2] for unit in open_units(log)] == PAIRS
    assert run(["memory", "add", str(log), *PAIRS[0][:1], "Anders.", *languages]) == 0
    assert run(["memory", "import", str(log), str(table), *languages]) == 0
    assert [unit[:2] for unit in open_units(log)] == [*PAIRS, (PAIRS[0][0], "Anders."), PAIRS[0]]


def test_unreadable_lines_of_a_memory_are_counted_in_one_warning(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    log = tmp_path / "m.jsonl"
    append_units(log, UNITS)
    log.write_bytes(log.read_bytes() + b"{\n" * 3)
    assert list(open_units(log)) == UNITS
    (record,) = caplog.records
    assert f"3 lines, the first of them {len(UNITS) + 1}" in record.getMessage()


# ------------------------------------------------------------------------------------------------ translations


def test_an_equal_text_gets_its_translation_and_others_get_what_they_get_without(translator: Translator) -> None:
    memory = TranslationMemory(UNITS)
    texts = [PAIRS[0][0], "She is reading a paper.", PAIRS[2][0], "a horse"]
    plain = translator.translate(texts, n_best=2)
    found = translator.translate(texts, n_best=2, memory=memory, memory_threshold=1)
    assert [one.text for one in found] == [PAIRS[0][1], plain[1].text, PAIRS[2][1], plain[3].text]
    assert found[0].memory[0].score == 1
    assert found[0].alternatives[0].text == found[0].text
    assert [one.tokens for one in found[1::2]] == [one.tokens for one in plain[1::2]]
    assert list(translator.translate_stream(texts, n_best=2, memory=memory, memory_threshold=1)) == found


def test_sentences_come_from_the_memory_and_the_others_from_the_model(translator: Translator) -> None:
    memory = TranslationMemory([Unit("Pets are not allowed.", "Keine Haustiere.", "en", "de"), *UNITS])
    text = f"A man is reading. {HORSE} She is reading a look. A dog. Pets are not allowed."
    first, rest = (
        translator.translate(one, n_best=2, align=True)
        for one in ("A man is reading.", "She is reading a look. A dog.")
    )
    found = translator.translate(text, n_best=2, align=True, memory=memory)
    assert found.text == f"{first.text} {REITER} {rest.text} Keine Haustiere."
    assert [match.source for match in found.recalled] == [HORSE, "Pets are not allowed."]
    assert found.alternatives[1].text.split(REITER)[0].strip() == first.alternatives[1].text
    assert "".join(part.text for part in found.alternatives[0].parts) == found.text
    assert found.alignment
    n_before, n_translated = 4, len(first.text.split())
    own = [(source - n_before, target - n_translated) for source, target in found.alignment]
    horse = translator.translate(HORSE, align=True, memory=memory).alignment
    assert [link for link in own if 0 <= link[0] < len(HORSE.split())] == list(horse or ())
    assert translator.translate(text, memory=memory, prefixes="Ein").recalled == ()
    assert not translator.translate("A man is reading. She is reading a look.", memory=memory).recalled


def test_protected_stretches_stay_in_their_sentences(translator: Translator) -> None:
    memory = TranslationMemory([Unit("Open it.", "Öffnen.", "en", "de"), Unit("Pets. %s", "Tiere.", "en", "de")])
    found = translator.translate("Open it. See %s now. Pets. %s", memory=memory, protect="printf")
    assert found.text.startswith("Öffnen. ")
    assert found.text.count("%s") == 2
    memory.add("No.", "Nein.", "en", "de")
    request = Request("Open it. Yes. No. Open it.", verbatim=((9, 17),), memory=memory)
    (kept,) = translator.pipeline.translate([request])
    assert kept.text.startswith("Öffnen. ")
    assert kept.text.endswith(" Öffnen.")
    assert "Yes. No." in kept.text


def test_similar_texts_come_with_a_translation_of_the_models_own(translator: Translator) -> None:
    import_extra("rapidfuzz", "memory")
    text = "She is reading a look."
    found = translator.translate(text, memory=TranslationMemory(UNITS))
    assert found.text == translator.translate(text).text
    assert [(match.source, match.target) for match in found.memory] == [PAIRS[1]]
    assert 0.7 <= found.memory[0].score < 1


def test_words_of_a_translation_from_the_memory_are_aligned(translator: Translator) -> None:
    found = translator.translate(HORSE, align=True, memory=TranslationMemory(UNITS))
    assert found.text == REITER
    assert found.alignment
    assert {source for source, _ in found.alignment} <= set(range(7))
    assert {target for _, target in found.alignment} <= set(range(7))
    long = Unit(HORSE, "sehr " * 100, "en", "de")  # longer than the model reads
    assert translator.translate(HORSE, align=True, memory=TranslationMemory([long])).alignment == ()


def test_a_translation_that_lacks_a_protected_stretch_or_the_prefix_is_only_shown(translator: Translator) -> None:
    memory = TranslationMemory([Unit("Open %s now", "Jetzt öffnen", "en", "de"), *UNITS])
    found = translator.translate("Open %s now", memory=memory, protect="printf")
    assert found.text != "Jetzt öffnen"
    assert "%s" in found.text
    assert found.memory[0].score == 0.99
    assert translator.translate("Open %s now", memory=memory).text == "Jetzt öffnen"
    assert translator.translate(HORSE, prefixes="Ein Mann", memory=memory).text == REITER
    assert translator.translate(HORSE, prefixes="Eine", memory=memory).text.startswith("Eine")


def test_a_translation_from_the_memory_stays_without_its_terms_and_names_them(translator: Translator) -> None:
    memory = TranslationMemory([Unit("A horse and a cat.", "Ein Gaul und eine Katze.", "en", "de")])
    terms = TermList([Term("horse", ("Pferd",)), Term("cat", ("Katze*",)), Term("Foo")])
    found = translator.translate("A horse and a cat.", memory=memory, terms=terms)
    assert found.text == "Ein Gaul und eine Katze."
    assert (found.flags, found.missing_terms) == (("term_missing",), ("horse",))


def test_bad_memories_of_requests_are_named(translator: Translator) -> None:
    with pytest.raises(ConfigError, match="the memory is a str"):
        translator.translate("a", memory="m.tmx")  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="request 2"):
        translator.pipeline.translate([Request("a", memory=TranslationMemory()), Request(7)])  # type: ignore[arg-type]


def test_a_segment_of_a_document_keeps_its_marks(translator: Translator) -> None:
    page = b"<p>A man is <b>riding</b> a horse.</p><p>The cat is sitting on the mat.</p>"
    document = parse_document(page, "html")
    found = list(translate_document(document, translator, memory=TranslationMemory(UNITS)))
    assert [one.text for one in found] == [REITER, PAIRS[2][1]]
    written = document.rebuild(found, "de").decode()
    assert written.count("<b>") == written.count("</b>") == 1
    assert written.replace("<b>", "").replace("</b>", "") == f"<p>{REITER}</p><p>{PAIRS[2][1]}</p>"


def test_the_command_uses_memories_and_says_so(bundle: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    memory, text = tmp_path / "m.tmx", tmp_path / "text.en"
    export_units(memory, UNITS)
    text.write_text(f"{HORSE}\nShe is reading a paper.\nfoo\n")
    command = ["translate", "-m", str(bundle), "-i", str(text), "--workers", "1"]
    assert run([*command, "--memory", str(memory), "--json"]) == 0
    out, err = capfd.readouterr()
    rows = [json.loads(line) for line in out.splitlines()]
    assert rows[0]["text"] == REITER
    assert rows[0]["memory"] == [{"score": 1.0, "source": HORSE, "target": REITER, "is_adapted": False}]
    assert rows[2]["memory"] == []
    assert "of 3 texts, 1 is equal to one of the memory" in err
    text.write_text(f"She is reading a look. {HORSE}\n")
    assert run([*command, "--memory", str(memory), "--memory-threshold", "1"]) == 0
    err = capfd.readouterr().err
    assert f'1: taken from the memory: "{HORSE}" = "{REITER}"' in err
    assert "of 1 text, 0 are equal to one of the memory, 1 partly taken from it" in err
    append_units(tmp_path / "pages.jsonl", [Unit("Page 12 of 30", "Seite 12 von 30", "en", "de")])
    text.write_text("Page 12 of 30\nPage 7 of 30\n")
    assert run([*command, "--memory", str(tmp_path / "pages.jsonl")]) == 0
    assert "2 are equal to one of the memory (1 with other numbers, or sentence by sentence)" in capfd.readouterr().err
    export_units(tmp_path / "one.tsv", UNITS[:1])
    assert run([*command, "--memory", str(tmp_path / "one.tsv")]) == 0
    assert "the memory has 1 text\n" in capfd.readouterr().err
    assert run([*command, "--memory-threshold", "0.9"]) == 2
    assert run([*command, "--memory", str(memory), "--memory-threshold", "1.5"]) == 2
    assert run([*command, "--memory", str(tmp_path / "missing.tmx")]) == 1


def test_no_sentence_is_lost_behind_a_memory(tmp_path: Path) -> None:
    """The last sentence ends in a stretch to keep that goes on into the white space behind it."""
    memory = TranslationMemory([Unit("A dog runs.", "Ein Hund rennt.", "en", "de")])
    text = "A dog runs. Press F5 .  "
    request = Request(text, memory=memory, source_lang="en", target_lang="de", verbatim=((18, len(text)),))
    parts = recalled_parts(request, memory)
    assert "".join(part.request.text for part in parts).split() == text.split()


def test_many_numbers_after_a_long_word_take_little_time() -> None:
    """A search from the beginning for each number would take minutes, and one from each letter of the word, too."""
    texts = ["x" * 20_000 + "".join(f" {first + n}" for n in range(500)) for first in (2_000, 5_000)]
    assert adapted(Unit(texts[0], texts[0], "zh", "ja"), *texts) == texts[1]
