"""Dates, times, prices and numbers: where they are, how other languages write them, and translations that keep them."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.text.currencies import currencies_kept
from dragoman.text.dates import Date, find_dates, written_dates
from dragoman.text.numbers import numbers_kept
from dragoman.text.quantities import find_quantities
from dragoman.translator import Translator
from dragoman.translator.content_check import lost_quantities
from dragoman.translator.options import CallOptions

LANGUAGES = st.sampled_from(["en", "de", "fr", "zh"])
#: A sentence of each language, for a date, a time or an amount.
SENTENCES = {"en": "Come {} to us.", "de": "Komm {} zu uns.", "fr": "Viens {} chez nous.", "zh": "你{}来吧。"}
DAYS = st.dates(date(1990, 1, 1), date(2030, 12, 31))


@given(DAYS, LANGUAGES, st.booleans())
def test_a_date_is_found_as_its_language_writes_it(day: date, language: str, has_year: bool) -> None:
    written = Date(0, 0, day.month, day.day, day.year if has_year else None)
    for form in written_dates(written, language):
        (found,) = find_dates(SENTENCES[language].format(form), language)
        assert found[2:] == written[2:]


@given(DAYS, DAYS, LANGUAGES, LANGUAGES)
def test_a_date_of_another_month_is_a_fault(day: date, other: date, source: str, target: str) -> None:
    texts = [
        SENTENCES[language].format(written_dates(Date(0, 0, each.month, each.day), language)[0])
        for each, language in ((day, source), (other, target))
    ]
    assert numbers_kept(*texts, source, target) is ((day.month, day.day) == (other.month, other.day))


TIMES = {
    "en": [("at {h12}:{m:02} {half}m", "{h}:{m:02}"), ("at {h}:{m:02}", "")],
    "de": [("um {h}:{m:02} Uhr", ""), ("um {h}.{m:02} Uhr", "")],
    "fr": [("à {h} h {m:02}", ""), ("à {h}h{m:02}", "")],
    "zh": [("{halb}{h12}点{m:02}分", ""), ("{halb}{h12}:{m:02}", "")],
}


@given(st.integers(1, 23), st.integers(1, 59), LANGUAGES, LANGUAGES, st.integers(0, 1))
def test_a_time_in_the_target_language_keeps_its_numbers(
    hour: int, minute: int, source: str, target: str, way: int
) -> None:
    halves = {"half": "pa"[hour < 12], "halb": "下午" if hour >= 12 else "上午"}
    text = TIMES[source][way][0].format(h=hour, h12=hour % 12 or 12, m=minute, **halves)
    source_text = SENTENCES[source].format(text)
    (quantity,) = find_quantities(source_text, source, target)
    for form in quantity.forms:
        translation = SENTENCES[target].format(form)
        assert numbers_kept(source_text, translation, source, target), form
        assert numbers_kept(translation, source_text, target, source), form
    without = SENTENCES[target].format("")
    assert lost_quantities(source_text, without, (), (source, target)) == [quantity]


@pytest.mark.parametrize(
    ("text", "source", "target", "forms"),
    [
        ("Pay by 3 May 2026.", "en", "de", [("3. Mai 2026",)]),
        ("bis 03.05.2026", "de", "en", [("03.05.2026", "May 3, 2026", "3 May 2026")]),
        ("le 1er mai", "fr", "zh", [("5月1日",)]),
        ("2026-05-03 at 3 pm", "en", "zh", [("2026-05-03下午3点", "2026-05-03 15点")]),
        ("1月有人来", "zh", "fr", [("janvier",)]),
        ("the 30th of May at 5 pm", "en", "fr", [("30 mai à 17 h", "30 mai à 17 heures")]),
        ("晚上8点", "zh", "de", [("20 Uhr",)]),
        ("$12,250.50", "en", "de", [("12.250,50 $", "12.250,50 Dollar")]),
        ("12 men", "en", "zh", [("12",)]),
        ("11 men", "en", "de", [("11", "elf")]),
        ("2026-05-03", "en", "fr", [("2026-05-03",)]),
        ("1.5 million", "en", "de", [("1,5 Millionen", "1.500.000")]),
        ("1.5 million, 3万", "en", "zh", [("150万", "1500000"), ("3万", "30000")]),
        ("3 May 2026", "en", "es", [("3",), ("2026",)]),
        ("I may march on", "en", "de", []),
        ("at 9 am on May 3", "en", "zh", [("5月3日上午9点", "5月3日9点")]),
        ("5月3日，上午9点", "zh", "de", [("3. Mai um 9 Uhr",)]),
        ("3万5千元", "zh", "en", [("35,000",)]),
        ("2 million 300 thousand people", "en", "de", [("2,3 Millionen", "2.300.000")]),
        ("3万5千元", "zh", "es", []),
        ("付US$5,000", "zh", "de", [("5.000 US$", "5000 US$")]),
        ("See John 3:16.", "en", "de", [("3:16", "3.16 Uhr", "3:16 Uhr")]),
        ("The ratio is 4:30.", "en", "fr", [("4:30", "4 h 30", "4h30")]),
        ("à 1 h", "fr", "fr", [("1 h", "1 heure")]),
        ("code 007", "en", "de", [("007",)]),
        ("我有3点建议", "zh", "de", [("3", "drei")]),
        ("am 03.05.2026 um 9.30 Uhr", "de", "zh", [("03.05.2026 9点30分", "03.05.2026 9:30")]),
    ],
)  # fmt: skip
def test_quantities_are_written_as_the_target_language_does(
    text: str, source: str, target: str, forms: list[tuple[str, ...]]
) -> None:
    found = [quantity.forms for quantity in find_quantities(text, source, target)]
    assert found == forms


@pytest.mark.parametrize("piece", ["May ", "1 May ", "5月", "12:", "12. ", "3 h ", "$1", "1,", "2026年5月"])
def test_hostile_text_takes_no_long_time(piece: str) -> None:
    text = piece * (30_000 // len(piece))
    for source in ("en", "de", "fr", "zh"):
        assert find_quantities(text, source, "en") is not None


@pytest.mark.parametrize(
    ("source", "translation", "lost"),
    [
        ("请在8月25日之前付清。", "Please pay by 25 October.", ["8月25日"]),
        ("我的护照5月3日到期。", "My passport is 3 years old.", ["5月3日"]),
        ("他早上9点走了。", "He left in the morning.", ["早上9点"]),
        ("他有3只猫。", "He has cats.", []),
        ("票价30元，8月25日。", "It is yuan on August 25.", ["30"]),
        ("票价30元，8月25日。", "It is 30 on August 25.", ["元"]),
        ("票价30元，8月25日。", "It is 30 yuan on August 25.", []),
        ("他付了3万5千元。", "He paid 3,000 yuan.", ["3万5千元"]),
    ],
)
def test_the_quantity_that_is_lost_is_told(source: str, translation: str, lost: list[str]) -> None:
    found = lost_quantities(source, translation, (), ("zh", "en"))
    assert [source[each.start : each.end] for each in found] == [each.removesuffix("元") or each for each in lost]


@pytest.mark.parametrize(
    ("source", "translation", "stretches", "lost"),
    [
        ("Room 5 costs 150 €.", "Zimmer 5 kostet viel.", ("5",), ["150 €"]),
        ("Room 5 costs 150 €.", "Zimmer 5 kostet 150 €.", ("5",), []),
        ("See https://a.example/1234 on 12 pages.", "Siehe https://a.example/1234.", (), ["12"]),
        ("The long-name-77 weighs 12 kg and 15 g.", "long-name-77 wiegt 15 g.", ("long-name-77",), ["12 kg"]),
    ],
)
def test_a_quantity_is_found_beside_what_is_protected(
    source: str, translation: str, stretches: tuple[str, ...], lost: list[str]
) -> None:
    found = lost_quantities(source, translation, stretches, ("en", "de"))
    assert [source[each.start : each.end] for each in found] == lost


def test_alone_and_in_a_batch_the_same_is_kept() -> None:
    translator = Translator.load("everyday")
    options: CallOptions = {"source_lang": "zh", "target_lang": "en", "rules": ["numbers"]}
    texts = ["我的签证4月9日到期。", "你好。", "会议改到2029年11月6日了，请告诉 {name}。"]
    together = translator.translate(texts, align=True, **options)
    alone = [translator.translate(text, align=True, **options) for text in texts]
    assert [one.text for one in together] == [one.text for one in alone]
    assert not any(one.flags for one in together)
    assert "{name}" in together[2].text
    for one, month, day in ((together[0], "April", "9"), (together[2], "November", "6")):
        assert month in one.text
        assert day in one.text
    three = translator.translate(texts[0], n_best=3, **options)
    assert (len(three.alternatives), three.alternatives[0].text) == (3, three.text)
    (begun,) = translator.translate(texts[:1], prefixes=["My visa"], **options)
    assert begun.text.startswith("My visa")
    assert not begun.flags


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Only 2 may enter.", "en"),
        ("We march 3 hours.", "en"),
        ("Cuire 2 heures.", "fr"),
        ("Dormir 20 heures.", "fr"),
        ("Bis 24 Uhr.", "de"),
    ],
)
def test_words_and_durations_are_no_dates_and_times(text: str, language: str) -> None:
    target = "en" if language != "en" else "de"
    assert all(set("".join(each.forms[:1])) <= set("0123456789") for each in find_quantities(text, language, target))


def test_a_long_number_is_left_as_it_is() -> None:
    text = f"At 5 pm, code {'9' * 5_000} and {'111 ' * 5_000}"
    assert find_quantities(text, "en", "de")[0].forms[0] == "17 Uhr"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("We met at 5 pm. Then on 3 May. He left.", ["5 pm", "3 May"]),
        ("We met at 5 p.m. yesterday, on Jan. 3.", ["5 p.m.", "Jan. 3"]),
    ],
)
def test_the_point_of_a_sentence_is_no_part_of_a_date_or_a_time(text: str, found: list[str]) -> None:
    assert [text[each.start : each.end] for each in find_quantities(text, "en", "de")] == found


@pytest.mark.parametrize(
    ("text", "form"),
    [("from Python 3.12", "3.12"), ("in version 3.12", "3.12"), ("for 3.12 euros", "3,12"), ("Only 3.5 litres", "3,5")],
)
def test_a_version_keeps_its_point(text: str, form: str) -> None:
    assert [each.forms[0] for each in find_quantities(text, "en", "de")] == [form]


def test_the_wide_sign_of_the_yen_and_the_yuan_is_read_as_the_usual_one() -> None:
    for translation, is_kept in (("It is ¥50.", True), ("It is 50 yuan.", True), ("It is 50.", False)):
        assert currencies_kept("价格￥50。", translation, "en") is is_kept
        assert currencies_kept("价格¥50。", translation, "en") is is_kept
    assert currencies_kept("It is ¥50.", "价格￥50。", "zh")
    (wide,), (usual,) = (find_quantities(text, "zh", "en") for text in ("价格￥50。", "价格¥50。"))
    assert wide == usual
