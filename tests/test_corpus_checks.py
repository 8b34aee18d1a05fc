"""What is noticed about a corpus before a training: lost lines, languages, markup; nothing on text without faults."""

import random
import re
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dragoman.corpora.synthetic import TASKS, make_corpus
from dragoman.data.checks.corpus_checks import CorpusChecks
from dragoman.data.checks.language_evidence import LanguageSample
from dragoman.data.checks.markup import MarkupCounter, clean_markup, cleaned
from dragoman.data.checks.misalignment import AlignmentCheck, Misfit
from dragoman.data.corpus import read_pairs
from dragoman.data.parallel_text import ParallelText
from dragoman.data.selection import Selection, select
from dragoman.errors import DataError
from dragoman.settings.data_config import DataConfig
from dragoman.settings.sections import parse_section

Pairs = list[tuple[str, str]]
BOTH = ("entities", "tags")


@lru_cache(maxsize=1)
def made_captions() -> Pairs:
    return list(make_corpus("captions", 3000, 10, 10, 1).train)


@pytest.fixture
def captions() -> Pairs:
    return made_captions()


def invented(n_pairs: int, seed: int) -> Pairs:
    """Sentences of two languages that do not exist: lengths agree about as in real ones, questions mostly stay."""
    draw = random.Random(seed)
    pairs = []
    for _ in range(n_pairs):
        n_words = draw.randint(3, 25)
        mark = draw.choice(".....?!")
        sides = []
        for letters in ("abcde", "vwxyz"):
            words = ["".join(draw.choices(letters, k=draw.randint(2, 8))) for _ in range(n_words + draw.randint(-1, 2))]
            sides.append(" ".join(words) + (mark if draw.random() < 0.95 else "."))
        pairs.append((sides[0], sides[1]))
    return pairs


def misfits(pairs: Pairs) -> list[Misfit]:
    check = AlignmentCheck()
    for source, target in pairs:
        check.add(source, target)
    return check.find()


def lose(pairs: Pairs, line: int, side: int, n_lines: int = 1) -> Pairs:
    """The pairs after one side has lost lines, the first of them this one; the other side is cut at its end."""
    sides = [[pair[0] for pair in pairs], [pair[1] for pair in pairs]]
    del sides[side][line - 1 : line - 1 + n_lines]
    del sides[1 - side][-n_lines:]
    return list(zip(*sides, strict=True))


# -- lost lines --------------------------------------------------------------------------------------------------


@given(seed=st.integers(0, 10**6), n_pairs=st.integers(1, 900), shuffle=st.booleans())
@settings(max_examples=40, deadline=None)
def test_whole_text_raises_no_alarm(seed: int, n_pairs: int, shuffle: bool) -> None:
    captions = made_captions()
    draw = random.Random(seed)
    start = draw.randrange(len(captions) - n_pairs)
    pairs = captions[start : start + n_pairs]
    if shuffle:
        draw.shuffle(pairs)
    assert misfits(pairs) == []
    assert misfits(sorted(pairs, key=lambda pair: len(pair[0]))) == []
    assert misfits(invented(n_pairs, seed)) == []


@given(seed=st.integers(0, 10**6), side=st.integers(0, 1), share=st.floats(0, 0.8), n_lines=st.sampled_from((1, 2, 30)))
@settings(max_examples=15, deadline=None)
def test_a_lost_line_is_found_within_a_few_lines(seed: int, side: int, share: float, n_lines: int) -> None:
    pairs = invented(1200, seed)
    line = 1 + int(share * len(pairs))
    found = misfits(lose(pairs, line, side, n_lines))
    last = found[-1]
    assert last.shift == (n_lines if side == 0 else -n_lines)
    assert abs(last.first - line) <= 12 + (n_lines if side == 1 else 0)
    assert last.last >= len(pairs) - n_lines - 1 - (n_lines if n_lines > 3 else 0)
    assert all(each.first >= line - 12 for each in found)


@pytest.mark.parametrize("task", TASKS)
def test_made_corpora_raise_no_alarm_and_lost_lines_of_theirs_are_found(task: str) -> None:
    pairs = list(make_corpus(task, 2000, 10, 10, 1).train)
    assert misfits(pairs) == []
    (found,) = misfits(lose(pairs, 700, 0))
    assert found.shift == 1
    assert abs(found.first - 700) < 12


def test_a_line_lost_and_another_gained_leave_a_place_in_the_middle(captions: Pairs) -> None:
    sources, targets = map(list, zip(*captions, strict=True))
    del sources[999]
    sources.insert(1499, "Something else.")
    (found,) = misfits(list(zip(sources, targets, strict=True)))
    assert found.shift == 1
    assert abs(found.first - 1000) < 12
    assert abs(found.last - 1499) < 12


def test_several_lost_lines_are_told_one_by_one(captions: Pairs) -> None:
    pairs = lose(lose(lose(captions, 2500, 0), 1500, 0), 500, 0)
    found = misfits(pairs)
    assert [each.shift for each in found] == [1, 2, 3]
    assert all(abs(each.first - line) < 12 for each, line in zip(found, (500, 1499, 2498), strict=True))


@pytest.mark.parametrize("n_lost", [10, 30, 100, 300])
def test_lines_lost_at_many_places_are_noticed(n_lost: int) -> None:
    for seed in range(4):
        pairs = invented(3000, seed)
        lost = set(random.Random(seed).sample(range(3000), n_lost))
        targets = [target for line, (_, target) in enumerate(pairs) if line not in lost]
        assert misfits([(source, target) for (source, _), target in zip(pairs, targets, strict=False)]) != []


@pytest.mark.parametrize("order", ["shuffled", "sorted", "reversed"])
def test_a_side_in_another_order_is_noticed(captions: Pairs, order: str) -> None:
    sources, targets = map(list, zip(*captions, strict=True))
    if order == "shuffled":
        random.Random(1).shuffle(targets)
    else:
        targets = sorted(targets) if order == "sorted" else targets[::-1]
    assert misfits(list(zip(sources, targets, strict=True))) == [Misfit(1, len(captions), None)]


def test_windows_find_what_one_pass_finds(monkeypatch: pytest.MonkeyPatch) -> None:
    pairs = lose(invented(5000, 3), 2700, 1)
    (whole,) = misfits(pairs)
    monkeypatch.setattr("dragoman.data.checks.misalignment._WINDOW", 512)
    (found,) = misfits(pairs)
    assert abs(found.first - whole.first) < 12
    assert (found.last, found.shift) == (whole.last, whole.shift)


def selection_of(pairs: Pairs, **data: object) -> Selection:
    return select(ParallelText.of_pairs("x", lambda: iter(pairs)), parse_section(DataConfig, data), {}, hold_out=True)


def test_a_corpus_of_which_much_is_shifted_is_refused_unless_told_to_go_on(captions: Pairs) -> None:
    broken = lose(captions, 1500, 0)
    with pytest.raises(DataError, match=r"from line 1,[45]\d\d on: x; .*data.misaligned=keep"):
        selection_of(broken).refuse_misaligned()
    kept = selection_of(broken, misaligned="keep")
    kept.refuse_misaligned()
    assert any(
        line.startswith("warning: from line 1,") and "the source has lost a line" in line for line in kept.lines()
    )
    little = selection_of(lose(captions, 2900, 0))
    little.refuse_misaligned()
    assert any("warning: from line 2," in line for line in little.lines())


def test_files_of_different_lengths_tell_where_the_line_is_missing(captions: Pairs, tmp_path: Path) -> None:
    (tmp_path / "a.en").write_text("".join(source + "\n" for source, _ in captions), encoding="utf-8")
    shorter = [target for _, target in captions[:799] + captions[800:]]
    (tmp_path / "a.de").write_text("".join(target + "\n" for target in shorter), encoding="utf-8")
    data = DataConfig(source=str(tmp_path / "a.en"), target=str(tmp_path / "a.de"))
    with pytest.raises(DataError, match="different numbers of lines, 3,000 and 2,999") as caught:
        select(read_pairs(data, "train"), data, {}, hold_out=True)
    place = caught.value.message.split("\n")[1]
    line = int(place.split("from line ")[1].split(" ")[0].replace(",", ""))
    assert abs(line - 800) < 12
    assert "the target has lost a line" in place


@pytest.mark.parametrize("target", ["de", "fr"])
def test_a_lost_line_of_real_captions_is_found(data_folder: Path, target: str) -> None:
    data = DataConfig(corpus="multi30k", source_lang="en", target_lang=target)
    pairs = list(read_pairs(data, "train"))[:4000]
    assert misfits(pairs) == []
    (found,) = misfits(lose(pairs, 2000, 1))
    assert found.shift == -1
    assert abs(found.first - 2000) < 6


# -- languages ---------------------------------------------------------------------------------------------------


def told(pairs: Pairs, source_lang: str, target_lang: str) -> list[str]:
    sample = LanguageSample()
    for source, target in pairs:
        sample.add(source, target)
    return sample.lines(source_lang, target_lang)


def test_sides_in_other_languages_than_asked_for_are_noticed(captions: Pairs) -> None:
    assert told(captions, "en", "de") == told(captions, "en-US", "deu") == []
    (line,) = told(captions, "de", "en")
    assert line.startswith("warning: the source looks like en and the target like de, but de to en is asked for; swap")
    (line,) = told(captions, "fr", "de")
    assert line.startswith("warning: ")
    assert "check the files" in line
    (line,) = told(captions, "und", "und")
    assert line.endswith("--source-lang en --target-lang de")
    assert not line.startswith("warning")
    (line,) = told([(source, source) for source, _ in captions], "en", "de")
    assert line.startswith("warning: both sides look like en")


def test_single_pairs_in_another_language_are_told_of(captions: Pairs) -> None:
    swapped = [(target, source) for source, target in captions[:100]]
    (line,) = told(captions[100:1000] + swapped, "en", "de")
    assert line.startswith("warning: ")
    assert 95 <= int(line.split()[1]) <= 100
    assert "data.drop=language" in line


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("ar", "لا أعرف ما الذي تتحدث عنه، ولكن هذا ليس جيدا على الإطلاق."),
        ("cs", "Nevím, o čem mluvíš, ale není to vůbec dobré, řekl starý muž."),
        ("ru", "Я не знаю, о чём ты говоришь, но это совсем нехорошо."),
        ("tr", "Neden bahsettiğini bilmiyorum ama bu hiç iyi değil, dedi yaşlı adam."),
    ],
)
def test_languages_of_every_script_are_recognised(language: str, text: str) -> None:
    pairs = [(text, "I do not know what you are talking about, but it is not good.")] * 50
    assert told(pairs, language, "en") == []
    (line,) = told(pairs, "und", "und")
    assert line.endswith(f"--source-lang {language} --target-lang en")
    assert any("swap" in line for line in told(pairs, "en", language))
    assert told(pairs, "tlh", "en") == [], "nothing is said of a language that the detector does not know"


def test_scripts_tell_languages(captions: Pairs) -> None:
    chinese = [("我不知道你在说什么", "Ich weiß nicht, was du sagst, und das ist nicht gut.")] * 50
    assert told(chinese, "zh", "de") == []
    assert any("swap" in line for line in told(chinese, "de", "zh"))
    assert told([("これは本です", "이것은 책입니다")] * 50, "und", "und") == [
        "the source looks like ja and the target looks like ko; if so, say it: --source-lang ja --target-lang ko"
    ]


@pytest.mark.parametrize("task", ["copy", "reverse", "sort"])
def test_text_that_is_no_language_raises_no_suspicion(task: str) -> None:
    pairs = list(make_corpus(task, 1000, 10, 10, 1).train)
    for asked in (("en", "de"), ("und", "und"), ("de", "en")):
        assert told(pairs, *asked) == []


@pytest.mark.parametrize(
    ("asked", "text"), [("nb", "det er og en til på ikke"), ("af", "het een en van is niet ik dat")]
)
def test_languages_that_look_alike_are_not_told_apart(asked: str, text: str) -> None:
    assert told([(text, "the of and to is in it you")] * 50, asked, "en") == []


# -- markup ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Tom &amp; Mary &#39;s &quot;x&quot; &lt;3", 'Tom & Mary \'s "x" <3'),
        ("&amp;amp;lt;b&amp;gt;x", "x"),
        ("AT&T; R&D &nosuch; &ampersand; a & b;", "AT&T; R&D &nosuch; &ampersand; a & b;"),
        ("a <b>bold</b> and <i class='x'>wor</i>d", "a bold and word"),
        ("one<br/>two <br> three", "one two three"),
        ("{\\an8}Hello {\\i1}there{\\i0}", "Hello there"),
        ('<g id="1">Save</g> <x id="2"/>', "Save"),
        ("a < b and c > d, if a <b and c> d, <3", "a < b and c > d, if a <b and c> d, <3"),
        ("open <file> as <user>", "open <file> as <user>"),
        ("<note>text</note>", "text"),
        ("x<!-- a comment -->y", "xy"),
        ("a&#10;b&nbsp;c", "a b c"),
        ("two  spaces stay", "two  spaces stay"),
    ],
)
def test_what_cleaning_does(text: str, expected: str) -> None:
    assert clean_markup(text, BOTH) == expected


markup = st.lists(
    st.sampled_from(["&amp;", "&", "amp;", "lt;", "<", "b", ">", "</", "/", " ", "x", "&#60;", "=", '"', "{\\i1}"])
)


@given(parts=markup, cleaning=st.sampled_from([("entities",), ("tags",), BOTH]))
@settings(max_examples=300)
def test_cleaning_twice_is_cleaning_once(parts: list[str], cleaning: tuple[Any, ...]) -> None:
    once = clean_markup("".join(parts), cleaning)
    assert clean_markup(once, cleaning) == once


@given(text=st.text(st.characters(exclude_characters="&<{")))
def test_text_without_markup_is_left_alone(text: str) -> None:
    assert clean_markup(text, BOTH) == text


def test_markup_is_counted_by_kind_with_a_sample() -> None:
    counter = MarkupCounter()
    rows = [
        ("plain, 5 % of a < b", "schlicht & gut"),
        ("Tom &amp; Mary", "Tom und Maria"),
        ("see <b>it</b> at https://example.org/x", "siehe <b>es</b> auf https://example.org/x"),
        ("write to me@example.org", "schreib"),
        ("Hello {name}, %(n)d of %s", "Hallo {name}, %(n)d von %s"),
    ]
    for line, pair in enumerate(rows, start=1):
        counter.add(line, *pair)
    assert counter.lines() == [
        "warning: 1 pair has HTML entities (the first in line 2: &amp;, 1 in the source and 0 in the target); "
        "--set data.clean=entities decodes them",
        "warning: 1 pair has tags (the first in line 3: <b>); --set data.clean=tags removes them",
        "warning: 1 pair has web addresses (the first in line 3: https://example.org/x)",
        "warning: 1 pair has e-mail addresses (the first in line 4: me@example.org, "
        "1 in the source and 0 in the target)",
        "warning: 1 pair has placeholders (the first in line 5: {name})",
    ]


def test_a_hostile_line_of_markup_takes_no_time() -> None:
    for text in (
        "<!--" * 20_000,
        "a" * 90_000 + " @",
        "{{" * 40_000,
        "<a " + " " * 90_000,
        "&amp;" * 20_000,
        "<x>" * 20_000,
    ):
        counter = MarkupCounter()
        counter.add(1, text, text)
        clean_markup(text, BOTH)


def test_cleaning_reads_lines_that_cannot_be_read_as_they_are() -> None:
    text = ParallelText.of_pairs("x", lambda: iter([("<b>a</b>", "&lt;"), ("b", "c")]))
    assert list(cleaned(text, BOTH)) == [("a", "<"), ("b", "c")]
    assert cleaned(text, ()) is text


def test_cleaning_is_set_by_a_list_or_by_commas() -> None:
    assert parse_section(DataConfig, {"clean": "entities,tags"}).clean == BOTH
    assert parse_section(DataConfig, {"clean": ["tags"]}).clean == ("tags",)


def test_a_large_corpus_of_which_nothing_fits_is_refused_and_a_small_one_told() -> None:
    captions = make_corpus("captions", 5_500, 10, 10, 1).train
    sources = [source for source, _ in captions]
    targets = sorted(target for _, target in captions)
    many = [*zip(sources, targets, strict=True)]
    with pytest.raises(DataError, match=r"nothing shows that the sides belong together: x; .*data.misaligned=keep"):
        selection_of(many).refuse_misaligned()
    few = selection_of(many[:1_000])
    few.refuse_misaligned()
    assert any("nothing shows" in line for line in few.lines())


def test_a_misfit_in_a_table_is_named_by_its_line(tmp_path: Path) -> None:
    pairs = make_corpus("captions", 400, 0, 0).train
    rows = [*pairs[:200], *((source, target) for (source, _), (_, target) in pairwise(pairs[200:]))]
    halves = ((source, *target.split(" ", 1)) for source, target in rows)
    text = "English,German\n" + "".join(f'"{source}","{one}\n{two}"\n' for source, one, two in halves)
    (tmp_path / "a.csv").write_text(text, encoding="utf-8")  # each pair on two lines
    checks = CorpusChecks()
    list(checks.read(read_pairs(DataConfig(pairs=str(tmp_path / "a.csv")), "train")))
    (place,) = checks.misalignment()
    line = int(re.search(r"from line (\d+) on", place)[1])  # type: ignore[index]
    assert abs(line - (2 + 2 * 200)) < 20
