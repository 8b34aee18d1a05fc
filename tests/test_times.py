"""Times of the day: where they are, how languages write them, and the half of the day, which they must keep."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.text.numbers import numbers_kept
from dragoman.text.times import TIME_PATTERNS, Time, find_times, lost_halves, written_times
from dragoman.translator import Translator

LANGUAGES = st.sampled_from(sorted(TIME_PATTERNS))
MINUTES = st.integers(0, 59).map("{:02}".format)


@given(st.integers(0, 23), MINUTES, LANGUAGES)
def test_a_time_is_found_as_its_language_writes_it(hour: int, minute: str, language: str) -> None:
    for form in written_times(Time(0, 0, hour, minute, has_half=True), language):
        assert (hour, minute) in {(time.hour, time.minute) for time in find_times(form, language)}


#: The words for each hour of 24.
HALF_WORDS = {
    "en": lambda hour: "pm" if hour >= 12 else "am",
    "de": lambda hour: "nachmittags" if hour >= 12 else "morgens",
    "fr": lambda hour: "de l’après-midi" if hour >= 12 else "du matin",
}


@given(st.integers(0, 23), st.sampled_from(["en", "de", "fr"]))
def test_the_half_of_the_day_gives_the_hour_of_24(hour: int, language: str) -> None:
    early = hour % 12 or 12
    text = {"en": "at {} {}", "de": "um {} Uhr {}", "fr": "à {} heures {}"}[language].format(
        early, HALF_WORDS[language](hour)
    )
    (time,) = find_times(text, language)
    assert time.hour == (hour if hour or language == "en" else 12)
    assert time.has_half


@pytest.mark.parametrize(
    ("text", "hour"),
    [
        ("晚上12点", 0),
        ("凌晨12点", 0),
        ("上午12点", 12),
        ("中午12点", 12),
        ("中午1点", 13),
        ("晚上8点", 20),
        ("早上8点", 8),
    ],
)
def test_chinese_halves(text: str, hour: int) -> None:
    assert [time.hour for time in find_times(text, "zh")] == [hour]


@given(st.integers(0, 23), MINUTES, LANGUAGES, LANGUAGES)
def test_every_written_form_keeps_the_half_and_the_hour_of_the_other_one_loses_it(
    hour: int, minute: str, source: str, target: str
) -> None:
    named = Time(0, 0, hour, minute, has_half=True)
    other = written_times(Time(0, 0, (hour + 12) % 24, minute, has_half=True), target)[0]
    for text in written_times(named, source):
        for form in written_times(named, target):
            assert not lost_halves(text, form, source, target)
        if any(time.has_half for time in find_times(text, source)):
            assert lost_halves(text, other, source, target)


KEPT = [
    ("Come at 3 pm.", "Komm um 3 Uhr nachmittags.", "en", "de"),
    ("Come at 3 p.m.", "Viens à quinze heures.", "en", "fr"),
    ("Come at 8 pm.", "晚上八点来。", "en", "zh"),
    ("下午3点来。", "Come at 3 o'clock in the afternoon.", "zh", "en"),
    ("Komm um 7 Uhr abends.", "Come at 7 in the evening.", "de", "en"),
    ("Come at 12 pm.", "Komm um 12 Uhr.", "en", "de"),
    ("Come at 3 am.", "Komm um 3 Uhr.", "en", "de"),
    ("Come at 3 pm.", "Kom om 3 uur.", "en", "nl"),
    ("Der Zug fährt um 18.30 Uhr.", "The train leaves at 6:30.", "de", "en"),
    ("Viens à 3 heures du\u00a0soir.", "Come at 3 pm.", "fr", "en"),
]
LOST = [
    ("Come at 3 pm.", "Komm um 3 Uhr.", "en", "de"),
    ("Come at 3 pm.", "Komm um 3 Uhr vormittags.", "en", "de"),
    ("La réunion est à 7 heures du soir.", "The meeting is at 7.", "fr", "en"),
    ("下午3点来。", "Come at 3.", "zh", "en"),
    ("Come at 3 am.", "Komm um 15 Uhr.", "en", "de"),
    ("Come at 12:30 am.", "Komm um 12.30 Uhr.", "en", "de"),
    ("Viens à 3 heures du\u00a0soir.", "Come at 3.", "fr", "en"),
]


@pytest.mark.parametrize(("source", "translation", "source_lang", "target_lang"), [*KEPT, *LOST])
def test_a_translation_names_the_half_of_the_day(
    source: str, translation: str, source_lang: str, target_lang: str
) -> None:
    is_kept = (source, translation, source_lang, target_lang) in KEPT
    assert numbers_kept(source, translation, source_lang, target_lang) is is_kept


@pytest.mark.parametrize("target", ["de", "fr", "zh"])
def test_a_translator_writes_the_afternoon(target: str) -> None:
    translator = Translator.load("everyday")
    texts = ["Come before 3 pm.", "The shop closes at 6 p.m."]
    for text, translation in zip(texts, translator.translate(texts, source_lang="en", target_lang=target), strict=True):
        assert not lost_halves(text, translation.text, "en", target)
        assert "number" not in translation.flags
