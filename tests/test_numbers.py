"""The numbers of a translation and of its source."""

from __future__ import annotations

import gzip
import re
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from dragoman.text.number_words import cardinals, numbers_in_words
from dragoman.text.numbers import numbers_kept

#: The tests' own words for numbers, not those of the package: an error in its tables would be in both.
ONES = {
    "en": "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
    "seventeen eighteen nineteen",
    "de": "null ein zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn sechzehn "
    "siebzehn achtzehn neunzehn",
    "fr": "zéro un deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze seize dix-sept "
    "dix-huit dix-neuf",
}
TENS = {
    "en": "twenty thirty forty fifty sixty seventy eighty ninety",
    "de": "zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig",
    "fr": "vingt trente quarante cinquante soixante soixante quatre-vingt quatre-vingt",
}


def in_words(number: int, language: str) -> str:
    """Write a number below 10,000 in words; an oracle that shares nothing with the code under test."""
    if language == "zh":
        return chinese(number)
    ones = ONES[language].split()
    if number < 20:
        return ones[number]
    if number < 100:
        tens, one = TENS[language].split()[number // 10 - 2], number % 10
        if language == "fr" and number // 10 in (7, 9):
            return f"{tens}-{ones[one + 10]}"
        together = {"en": f"{tens}-{ones[one]}", "de": f"{ones[one]}und{tens}", "fr": f"{tens}-{ones[one]}"}
        return together[language] if one else tens
    size, name = (1000, ("thousand", "tausend", "mille")) if number >= 1000 else (100, ("hundred", "hundert", "cent"))
    word = name[["en", "de", "fr"].index(language)]
    head, rest = in_words(number // size, language), number % size
    first = word if language == "fr" and number // size == 1 else f"{head} {word}"
    parts = [first, *([in_words(rest, language)] if rest else [])]
    return "".join(part.replace(" ", "") for part in parts) if language == "de" else " ".join(parts)


def chinese(number: int) -> str:
    written, digits = "", str(number)
    for place, digit in enumerate(digits):
        unit = ("", "十", "百", "千")[len(digits) - place - 1]
        zero = "" if written.endswith("零") or not digits[place:].strip("0") else "零"
        written += "零一二三四五六七八九"[int(digit)] + unit if digit != "0" or number == 0 else zero
    return written


def test_the_oracle_writes_numbers_as_people_do() -> None:
    assert [in_words(number, "en") for number in (7, 21, 305)] == ["seven", "twenty-one", "three hundred five"]
    assert [in_words(number, "de") for number in (21, 305, 1954)] == [
        "einundzwanzig",
        "dreihundertfünf",
        "eintausendneunhundertvierundfünfzig",
    ]
    assert [in_words(number, "fr") for number in (97, 200, 1071)] == [
        "quatre-vingt-dix-sept",
        "deux cent",
        "mille soixante-onze",
    ]
    assert [in_words(number, "zh") for number in (0, 21, 305, 1954, 2006, 9000)] == [
        "零",
        "二十一",
        "三百零五",
        "一千九百五十四",
        "二千零六",
        "九千",
    ]


@pytest.mark.parametrize("language", ["en", "de", "fr"])
def test_a_cardinal_is_the_word_of_its_number_alone(language: str) -> None:
    numbers = [*range(2, 13), 20, 30, 40, 50]
    assert cardinals(language, numbers) == {in_words(number, language): number for number in numbers}
    assert cardinals(language, [21, 305]) == {}


def test_chinese_cardinals_are_those_before_a_measure_word() -> None:
    assert cardinals("zh", range(2, 12)) == dict(zip("两三四五六七八九十", range(2, 11), strict=True))


LANGUAGES = st.sampled_from(["en", "de", "fr", "zh"])
NUMBERS = st.integers(0, 9999)


@given(NUMBERS, LANGUAGES)
def test_numbers_in_words_are_read(number: int, language: str) -> None:
    written = in_words(number, language)
    assert number in numbers_in_words(f"Es sind {written}.", language)
    assert number in numbers_in_words(written.upper(), "und")


@given(st.integers(10, 10**7), LANGUAGES, LANGUAGES)
def test_a_number_is_kept_with_the_separators_of_either_language(number: int, source: str, target: str) -> None:
    signs = {"en": ",", "de": ".", "fr": "\u202f", "zh": ""}
    texts = [f"x {number:,}".replace(",", signs[language]) + " y." for language in (source, target)]
    assert numbers_kept(*texts, source, target)


@given(st.integers(10, 10**7), st.integers(0, 10**7), LANGUAGES, LANGUAGES)
def test_another_number_is_a_fault(number: int, other: int, source: str, target: str) -> None:
    decade = number > 1500 and number % 10 == 0
    assume(number != other and not (decade and number % 100 == other))
    assert not numbers_kept(f"x {number} y", f"x {other} y", source, target)
    assert not numbers_kept(f"x {number} y", "x y", source, target)


@pytest.mark.parametrize(
    ("source", "translation", "target_lang"),
    [
        ("It costs 1,250.50.", "Es kostet 1.250,50.", "de"),
        ("at 3 pm", "um 15 Uhr", "de"),
        ("at 12:30 am", "um 0.30 Uhr", "de"),
        ("at 2:30", "um halb drei", "de"),
        ("at 7:45", "um Viertel vor acht", "de"),
        ("at 3:00 pm", "à 15 h", "fr"),
        ("for ten years", "seit 10 Jahren", "de"),
        ("30,000 people", "3万人", "zh"),
        ("1.5 million people", "150万人", "zh"),
        ("1.5 million people", "1 500 000 personnes", "fr"),
        ("on 11/25/2026", "am 25. November 2026", "de"),
        ("in the 1960s", "dans les années 60", "fr"),
        ("a 17th century church", "une église du XVIIe siècle", "fr"),
        ("in 1954", "neunzehnhundertvierundfünfzig", "de"),
        ("in 2005", "二〇〇五年", "zh"),
        ("$20.00", "20 $", "fr"),
        ("Wait an hour.", "等1小时。", "zh"),
        ("25 boys and 30 girls", "30 filles et 25 garçons", "fr"),
        ("carbon dioxide", "CO2", "de"),
        ("nothing", "rien", "fr"),
    ],
)
def test_each_language_may_write_numbers_in_its_way(source: str, translation: str, target_lang: str) -> None:
    assert numbers_kept(source, translation, "en", target_lang)
    assert numbers_kept(translation, source, target_lang, "en")


@pytest.mark.parametrize(
    ("source", "translation"),
    [
        ("It is 17:45.", "Es ist 2:30."),
        ("I am 18.", "Ich bin 30."),
        ("around 1830", "um 1930"),
        ("20 of 20", "20 von"),
        ("I see a dog.", "Ich sehe 4 Hunde."),
        ("in 2006", "im Jahr"),
        ("page 1,250", "Seite 1.350"),
    ],
)
def test_a_lost_or_an_invented_number_is_a_fault(source: str, translation: str) -> None:
    assert not numbers_kept(source, translation, "en", "de")


@pytest.mark.parametrize(
    "piece", ["one ", "1", "1.", "1 111 ", "三千", "quatre-vingt-", "IV ", "1万", "fünf", "1 million "]
)
def test_hostile_text_takes_no_long_time(piece: str) -> None:
    text = piece * (30_000 // len(piece))
    assert not numbers_kept(text, f"4711 {text}", "und", "und")


def test_numbers_of_thousands_of_digits_are_compared() -> None:
    assert not numbers_kept("1" * 5000 + " million 5 thousand", "5", "en", "de")
    assert not numbers_kept("at 5 pm " + "0" * 5000 + "1", "um 17 Uhr x", "en", "de")


@pytest.mark.parametrize("language", ["de", "fr", "zh"])
def test_true_translations_are_hardly_ever_flagged(language: str, data_folder: Path) -> None:
    """The rest are other units and other facts: "150 centimeters", "einem Meter fünfzig"."""
    folder = data_folder / ("tatoeba-zh-en" if language == "zh" else f"tatoeba-en-{language}")
    english, other = (
        gzip.decompress((folder / f"train.{code}.gz").read_bytes()).decode().split("\n") for code in ("en", language)
    )
    pairs = [pair for pair in zip(english, other, strict=True) if re.search(r"\d", "".join(pair))]
    there = [numbers_kept(source, target, "en", language) for source, target in pairs]
    back = [numbers_kept(target, source, language, "en") for source, target in pairs]
    assert len(pairs) > 300
    assert max(there.count(False), back.count(False)) < 0.03 * len(pairs)
