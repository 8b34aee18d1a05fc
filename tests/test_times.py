"""Times of the day: where they are, how languages write them, and the afternoon, which a translation must keep."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.text.numbers import numbers_kept
from dragoman.text.times import TIME_PATTERNS, Time, find_times, lost_afternoons, written_times
from dragoman.translator import Translator

LANGUAGES = st.sampled_from(sorted(TIME_PATTERNS))
MINUTES = st.integers(0, 59).map("{:02}".format)


@given(st.integers(13, 23), MINUTES, LANGUAGES)
def test_a_time_is_found_as_its_language_writes_it(hour: int, minute: str, language: str) -> None:
    for form in written_times(Time(0, 0, hour, minute), language):
        assert (hour, minute) in {(time.late_hour, time.minute) for time in find_times(form, language)}


SAID = {"en": "at {}:{} pm", "de": "um {}.{} Uhr abends", "fr": "à {} h {} du soir", "zh": "晚上{}点{}分"}


@given(st.integers(1, 11), MINUTES, LANGUAGES, LANGUAGES)
def test_every_written_form_keeps_the_afternoon_and_the_bare_hour_loses_it(
    hour: int, minute: str, source: str, target: str
) -> None:
    text, late, bare = SAID[source].format(hour, minute), Time(0, 0, hour + 12, minute), Time(0, 0, hour, minute)
    for form in [*written_times(late, target), SAID[target].format(hour, minute)]:
        assert not lost_afternoons(text, form, source, target)
    assert lost_afternoons(text, written_times(bare, target)[0], source, target)
    assert not lost_afternoons(written_times(bare, source)[0], text, source, target)


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
]
LOST = [
    ("Come at 3 pm.", "Komm um 3 Uhr.", "en", "de"),
    ("Come at 3 pm.", "Komm um 3 Uhr vormittags.", "en", "de"),
    ("La réunion est à 7 heures du soir.", "The meeting is at 7.", "fr", "en"),
    ("下午3点来。", "Come at 3.", "zh", "en"),
]


@pytest.mark.parametrize(("source", "translation", "source_lang", "target_lang"), [*KEPT, *LOST])
def test_a_translation_says_that_it_is_after_noon(
    source: str, translation: str, source_lang: str, target_lang: str
) -> None:
    is_kept = (source, translation, source_lang, target_lang) in KEPT
    assert numbers_kept(source, translation, source_lang, target_lang) is is_kept


@pytest.mark.parametrize("target", ["de", "fr", "zh"])
def test_a_translator_writes_the_afternoon(target: str) -> None:
    translator = Translator.load("everyday")
    texts = ["Come before 3 pm.", "The shop closes at 6 p.m."]
    for text, translation in zip(texts, translator.translate(texts, source_lang="en", target_lang=target), strict=True):
        assert not lost_afternoons(text, translation.text, "en", target)
        assert "number" not in translation.flags
