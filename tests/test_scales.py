"""Scales of numbers (3万, "2.5 million"), and numbers that a translation joins or parts."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from dragoman.text.scales import written_scaled
from dragoman.translator.content_check import content_flags, lost_quantities

LANGUAGES = st.sampled_from(["en", "de", "fr", "zh"])
#: A sentence of each language, for a number of people.
SENTENCES = {"en": "{} people live there.", "de": "{} Leute leben da.", "fr": "{} gens y vivent.", "zh": "那里有{}人。"}
#: Numbers that people write with a scale.
LARGE = st.builds(lambda digits, zeros: digits * 10**zeros, st.integers(1, 999), st.integers(4, 11))


@given(LARGE, LARGE, LANGUAGES, LANGUAGES)
def test_only_the_same_number_is_kept_with_any_scale(number: int, other: int, source: str, target: str) -> None:
    texts = [SENTENCES[source].format(form) for form in written_scaled(Decimal(number), source)]
    for text in texts:
        for form in written_scaled(Decimal(other), target):
            flags = content_flags(text, SENTENCES[target].format(form), (), (source, target))
            assert ("number" in flags) is (number != other)


@given(LARGE, LARGE, LANGUAGES, LANGUAGES)
def test_a_lost_scale_is_written_as_the_target_language_does(number: int, other: int, source: str, target: str) -> None:
    assume(number != other)
    text = SENTENCES[source].format(written_scaled(Decimal(number), source)[0])
    wrong = SENTENCES[target].format(written_scaled(Decimal(other), target)[0])
    (lost,) = lost_quantities(text, wrong, (), (source, target))
    assert lost.forms
    for form in lost.forms:
        assert not content_flags(text, SENTENCES[target].format(form), (), (source, target))


@pytest.mark.parametrize(
    ("source", "translation", "languages", "is_kept"),
    [
        ("我有3万块钱。", "I have 3 million money.", ("zh", "en"), False),
        ("我有3万块钱。", "I have 3 dollars.", ("zh", "en"), False),
        ("我有3万块钱。", "I have 30,000 yuan.", ("zh", "en"), True),
        ("我有3万块钱。", "I have 30k yuan.", ("zh", "en"), True),
        ("这个城市有200万人。", "There are 200 million people.", ("zh", "en"), False),
        ("这个城市有200多万人。", "There are more than 2 million people.", ("zh", "en"), True),
        ("他有1.5亿。", "He has 1.5 million.", ("zh", "en"), False),
        ("有50万人。", "There are half a million people.", ("zh", "en"), True),
        ("有3万5千人，不是3万5。", "There are 35,000 people, not 35,000.", ("zh", "en"), True),
        ("5到6万人，20-30万人", "50,000 to 60,000, 200,000-300,000 people", ("zh", "en"), True),
        ("他跑了5千米。", "He ran 5 km.", ("zh", "en"), True),
        ("5 billion people", "5 Milliarden Menschen", ("en", "de"), True),
        ("5 billion people", "5 Billionen Menschen", ("en", "de"), False),
        ("5 to 6 million people", "5 bis 6 Mio. Menschen", ("en", "de"), True),
        ("2 million 300 thousand", "2 Millionen 300 Tausend", ("en", "de"), True),
        ("$300+ billion", "plus de 300 milliards de dollars", ("en", "fr"), True),
        ("30 thousand people", "30 mille personnes", ("en", "fr"), True),
        ("It costs 50 cents.", "Ça coûte 50 cents.", ("en", "fr"), True),
        ("a 4K film of 5 m", "un film 4K de 5 m", ("en", "fr"), True),
        ("a 4K film", "4K电影", ("en", "zh"), True),
        ("the gene orf3b", "基因 orf3b", ("en", "zh"), True),
        ("3 million people", "3 millones de personas", ("en", "es"), True),
        ("I paid £20 for 2 tickets.", "我付了£202票。", ("en", "zh"), False),
        ("We need 20 men and 5 women.", "Wir brauchen 205 Leute.", ("en", "de"), False),
        ("We need 205 people.", "Wir brauchen 20 Männer und 5 Frauen.", ("en", "de"), False),
        ("I bought 2 3 4 eggs.", "我买了234个蛋。", ("en", "zh"), False),
        ("Il y a 1 000 000 de gens.", "There are 1,000,000 people.", ("fr", "en"), True),
        ("There are 1 250 books.", "Es sind 1250 Bücher.", ("en", "de"), True),
        ("Ruf 030 1234567 an.", "Call 0301234567.", ("de", "en"), True),
        ("Ruf +49 30 1234567 an.", "Call +49301234567.", ("de", "en"), True),
        ("Call 555 1234.", "Ruf 5551234 an.", ("en", "de"), True),
        ("on 2026-11-25", "am 20261125", ("en", "de"), True),
        ("from 1990-1995", "von 19901995", ("en", "de"), False),
        ("He is 1 m 55 tall.", "Er ist 155 cm groß.", ("en", "de"), True),
    ],
)
def test_scales_and_joined_numbers_are_compared(
    source: str, translation: str, languages: tuple[str, str], is_kept: bool
) -> None:
    assert (content_flags(source, translation, (), languages) == []) is is_kept
    if is_kept:
        assert content_flags(translation, source, (), languages[::-1]) == []


def test_a_price_with_a_scale_has_its_currency() -> None:
    forms = {
        code: lost_quantities("It costs $3 million.", "x", (), ("en", code))[0].forms for code in ("de", "fr", "zh")
    }
    assert forms["de"][:2] == ("3 Millionen $", "3 Millionen Dollar")
    assert forms["fr"][:2] == ("3 millions $", "3 millions de dollars")
    assert forms["zh"][:2] == ("$300万", "300万美元")


@pytest.mark.parametrize("piece", ["1 million ", "3万5", "1 k", "2 3 4 ", "1 of 2 ", "5 to 6 million ", "1-"])
def test_hostile_text_takes_no_long_time(piece: str) -> None:
    text = piece * (6_000 // len(piece))
    for languages in (("en", "de"), ("zh", "fr"), ("und", "es")):
        assert isinstance(content_flags(text, text.replace(" ", ""), (), languages), list)
        assert isinstance(lost_quantities(text, "x", (), languages), list)
