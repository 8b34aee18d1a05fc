"""Dates with a time beside them: one phrase, which Chinese begins with the date."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.text.calendar_names import MONTHS
from dragoman.text.dates import Date
from dragoman.text.moments import Moment, find_moments, has_broken_moment, lost_moments, written_moments
from dragoman.text.numbers import numbers_kept
from dragoman.text.times import Time
from dragoman.translator import Translator

LANGUAGES = st.sampled_from(sorted(MONTHS))
MOMENTS = st.builds(
    lambda day, time: Moment(0, 0, Date(0, 0, day.month, day.day), Time(0, 0, time.hour, f"{time.minute:02}")),
    st.dates(),
    st.times(),
)
SENTENCES = {"en": "Come on {}.", "de": "Komm am {}.", "fr": "Viens le {}.", "zh": "你{}来吧。"}


@given(MOMENTS, LANGUAGES, LANGUAGES)
def test_a_moment_is_found_and_kept_as_every_language_writes_it(moment: Moment, source: str, target: str) -> None:
    original = SENTENCES[source].format(written_moments(moment, source)[-1])
    (found,) = find_moments(original, source)
    assert (found.date.month, found.date.day) == (moment.date.month, moment.date.day)
    assert (found.time.hour, found.time.minute) == (moment.time.hour, moment.time.minute)
    for form in written_moments(found, target):
        assert not lost_moments(original, SENTENCES[target].format(form), source, target), form


@given(MOMENTS, MOMENTS, LANGUAGES)
def test_another_time_is_a_fault(moment: Moment, other: Moment, target: str) -> None:
    original = SENTENCES["en"].format(written_moments(moment, "en")[-1])
    translation = SENTENCES[target].format(written_moments(other._replace(date=moment.date), target)[-1])
    are_equal = (moment.time.hour % 12, moment.time.minute) == (other.time.hour % 12, other.time.minute)
    is_noon = "中午" in translation
    assert bool(lost_moments(original, translation, "en", target)) is not (are_equal or is_noon)


@pytest.mark.parametrize(
    ("source", "language", "translation", "is_kept"),
    [
        ("Our next meeting is on January 25 at 20:45.", "en", "我们下周20:45月1月25日的会议。", False),
        ("The game starts at 20:45 on January 25.", "en", "比赛20:45开始，1月25日。", False),
        ("The game starts at 20:45 on January 25.", "en", "比赛1月25日晚上8:45开始。", True),
        ("Das Treffen ist am 25. Januar um 20.45 Uhr.", "de", "会议20:45在1月25日。", False),
        ("Le 25 janvier à 20 h 45, venez.", "fr", "1月25日请20:45来。", True),
        ("We met on 3 April at 11:45.", "en", "我们在四月三日十一点四十五分见面。", True),
        ("We met on 2026-04-03 at 11:45.", "en", "我们11:45在2026-04-03见面。", False),
        ("She was born on August 8 at 4:20.", "en", "她8月8日出生，8月4点20日。", False),
        ("We met at 11:45, not on 3 April.", "en", "我们11:45见面，不是4月3日。", True),
    ],
)
def test_chinese_writes_the_date_before_its_time(source: str, language: str, translation: str, is_kept: bool) -> None:
    assert numbers_kept(source, translation, language, "zh") is is_kept


@pytest.mark.parametrize(
    ("text", "places"),
    [
        ("May 3 at 5 pm, June 4 at 6 pm", ["May 3 at 5 pm", "June 4 at 6 pm"]),
        ("5 p.m. on May 3, 6 p.m. on June 4", ["5 p.m. on May 3", "6 p.m. on June 4"]),
        ("May 2026 at 5 pm", []),
        ("on May 3 for 5 hours", []),
    ],
)
def test_each_date_has_one_time(text: str, places: list[str]) -> None:
    assert [text[each.start : each.end] for each in find_moments(text, "en")] == places


def test_signs_around_a_moment_are_broken_in_chinese_only() -> None:
    broken = ["1月1月25日20:45开始。", "1月25日20:45年开始。", "会议在1月25日晚上8点45分身上。"]
    assert all(has_broken_moment(text, "zh") for text in broken)
    assert not any(has_broken_moment(text, "en") for text in broken)
    assert not has_broken_moment("2026年1月25日20:45日本时间。", "zh")
    assert not has_broken_moment("5月3日10点年会开始。", "zh")


def test_hostile_text_takes_no_long_time() -> None:
    for piece in ("May 3 at 5:00, ", "5 pm on ", "1月2日3点", "2026-05-03 5:00 "):
        text = piece * (20_000 // len(piece))
        assert lost_moments(text, text, "zh" if "月" in piece else "en", "zh") is not None


def test_the_everyday_model_writes_the_date_first() -> None:
    translator = Translator.load("everyday", workers=1)
    texts = ["Our next meeting is on January 25 at 20:45.", "I called you on February 11 at 8:05 pm."]
    found = translator.translate(texts, source_lang="en", target_lang="zh")
    assert [each.flags for each in found] == [(), ()]
    assert "1月25日晚上8点45分" in found[0].text
    assert "2月11日晚上8点05分" in found[1].text
