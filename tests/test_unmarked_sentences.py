"""Sentences without marks between them: nothing is lost, whatever a splitter finds, and it reads little twice."""

import logging
import re
from collections.abc import Iterator

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st
from tiny import LEARNED, tiny_bundle, tiny_tokenizers

from dragoman.text import sentences, unmarked_sentences
from dragoman.text.unmarked_sentences import AT_ONCE, splitter, unmarked_spans
from dragoman.translator import ModelFacts, Translator
from dragoman.translator.cutting import SegmentLimits, cut

THAI = "ฉันชอบกินข้าว วันนี้อากาศดีมาก เราไปเดินเล่นกันเถอะ"


@pytest.fixture(autouse=True)
def no_splitter_yet() -> Iterator[None]:
    splitter.cache_clear()
    yield
    splitter.cache_clear()


def test_unicode_calls_our_marks_terminal() -> None:
    for mark in (sentences._SPACED + sentences._UNSPACED).replace("…", ""):
        assert regex.fullmatch(r"\p{Sentence_Terminal}", mark), mark


@given(st.lists(st.sampled_from(["ก", "ข้าว", " ", "  ", "พ.ศ.", "\u2009", "x"]), max_size=30).map("".join), st.data())
def test_spans_lose_nothing(text: str, data: st.DataObject) -> None:
    def split(part: str) -> list[str]:
        cuts = sorted(data.draw(st.sets(st.integers(1, len(part)), max_size=6)) | {len(part)})
        return [part[start:end] for start, end in zip([0, *cuts], cuts, strict=False)]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(unmarked_sentences, "splitter", lambda language: split)
        patch.setattr(unmarked_sentences, "AT_ONCE", 8)
        spans = list(unmarked_spans(f"<{text}>", 1, len(text) + 1, "th"))
    last = 0
    for start, end in spans:
        assert text[last : start - 1].strip() == ""
        found = text[start - 1 : end - 1]
        assert found
        assert found == found.strip()
        last = end - 1
    assert text[last:].strip() == ""
    assert all(not text[: end - 1].endswith(".") for _, end in spans[:-1])


@pytest.mark.parametrize("first", [1, AT_ONCE // 2, AT_ONCE - 1])
def test_a_splitter_reads_no_text_more_than_twice(first: int, monkeypatch: pytest.MonkeyPatch) -> None:
    read = []

    def split(part: str) -> list[str]:
        read.append(len(part))
        return [part[:first], part[first:]] if part[first:] else [part]

    monkeypatch.setattr(unmarked_sentences, "splitter", lambda language: split)
    text = "กข " * 100_000
    list(unmarked_spans(text, 0, len(text), "th"))
    assert max(read) <= AT_ONCE
    assert sum(read) <= 2 * len(text) + AT_ONCE


def test_a_splitter_that_changes_the_text_is_not_believed(monkeypatch: pytest.MonkeyPatch) -> None:
    for pieces in ([], ["กข"], ["ก ", "ค"]):
        monkeypatch.setattr(unmarked_sentences, "splitter", lambda language, pieces=pieces: lambda text: list(pieces))
        assert list(unmarked_spans("ก ข", 0, 3, "th")) == [(0, 3)]


def test_without_the_extra_one_line_says_so(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    monkeypatch.setattr(unmarked_sentences, "find_spec", lambda module: None)
    limits = {language: SegmentLimits(500, 1, 40, 30, language=language) for language in ("und", "tha_Thai")}

    def parts(text: str, language: str) -> list[str]:
        return [part.text for part in cut(text, lambda part: list(map(ord, part)), limits[language])]

    with caplog.at_level(logging.WARNING):
        assert parts("ฉันชอบ กินข้าว", "tha_Thai") == ["ฉันชอบ กินข้าว"]
        assert not caplog.messages  # a short text needs no splitter
        for text in (THAI, f"{THAI} {THAI}? {THAI}"):
            assert parts(text, "tha_Thai") == parts(text, "und")
    [line] = caplog.messages
    assert "Thai" in line
    assert "[sentences]" in line


def test_only_long_texts_of_the_language_are_split(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unmarked_sentences, "_MODULES", {"en": ()})
    monkeypatch.setattr(unmarked_sentences, "splitter", lambda language: lambda text: re.split("(?<=X )", text))
    tokenizers = tiny_tokenizers()
    translator = Translator([tiny_bundle(tokenizers, max_length=64)], tokenizers, facts=ModelFacts(learned=LEARNED))

    def n_parts(text: str) -> int:
        return translator.translate(text).n_parts

    assert n_parts("A man X A man") == 1
    assert n_parts(" X ".join(["A man"] * 9)) == 9


def test_pythainlp_cuts_at_spaces_and_keeps_the_text() -> None:
    if splitter("th") is None:
        pytest.skip("the extra sentences is not installed")
    spans = list(unmarked_spans(THAI, 0, len(THAI), "th"))
    assert [THAI[start:end] for start, end in spans] == THAI.split()
    year = "เกิดเมื่อวันที่ 5 มกราคม พ.ศ. 2530"
    assert [year[start:end] for start, end in unmarked_spans(year, 0, len(year), "th")] == [year]
