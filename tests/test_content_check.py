"""Numbers in words, weekdays, currencies, minus signs and separators that a translation keeps, loses or changes."""

from __future__ import annotations

import gzip
import re
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from test_numbers import in_words

from dragoman.text.calendar_names import WEEKDAYS
from dragoman.text.clear_numbers import find_clear_numbers
from dragoman.text.clock_words import find_clock_times, spoken_time
from dragoman.text.quantities import find_quantities
from dragoman.text.spelled_numbers import SPELLED_END, spelled
from dragoman.text.times import Time
from dragoman.text.weekdays import find_weekdays, written_weekday
from dragoman.translator import Translator
from dragoman.translator.content_check import content_flags, lost_quantities

LANGUAGES = st.sampled_from(["en", "de", "fr", "zh"])
#: A sentence of each language, for a number of things.
SENTENCES = {"en": "There are {} books.", "de": "Es sind {} Bücher.", "fr": "Il y a {} livres.", "zh": "有{}本书。"}


@given(st.integers(0, 9999), LANGUAGES)
def test_numbers_are_spelled_as_people_do(number: int, language: str) -> None:
    def plain(text: str) -> str:
        text = re.sub(r"(cent|vingt|hundertein|tausendein)s(?![a-zé])", r"\1", text)
        return text.replace(" et ", "-").replace(" ", "").replace("-", "").replace("一十", "十")

    assert plain(spelled(number, language)) == plain(in_words(number, language))


@pytest.mark.parametrize(
    ("number", "language", "word", "other"),
    [
        (80, "fr", "quatre-vingts", "quatre-vingt"),
        (200, "fr", "deux cents", "deux cent"),
        (81, "fr", "quatre-vingt-un", "quatre vingt un"),
        (205, "fr", "deux cent cinq", "deux-cent-cinq"),
        (200_000, "fr", "deux cent mille", "deux cents mille"),
        (80_000_000, "fr", "quatre-vingts millions", "quatre-vingt millions"),
        (101, "de", "einhunderteins", "einhundertein"),
        (101_000, "de", "einhunderteintausend", "einhundertein tausend"),
        (2_000_001, "de", "zwei Millionen eins", "zwei Millionen ein"),
    ],
)
def test_endings_of_french_and_german_numbers(number: int, language: str, word: str, other: str) -> None:
    assert spelled(number, language) == word
    for text in (word, other):
        sentence = SENTENCES[language].format(text)
        assert [each.value for each in find_clear_numbers(sentence, language)] == [number]


@given(st.integers(2, SPELLED_END - 1), LANGUAGES)
def test_a_number_in_words_is_found_as_a_whole(number: int, language: str) -> None:
    word = spelled(number, language)
    assume("eine Milli" not in word)  # often "a million"
    text = SENTENCES[language].format(word)
    found = [(text[each.start : each.end], each.value) for each in find_clear_numbers(text, language)]
    has_other_meanings = word in ("acht", "neuf", "mille", "cent", "un million", "un milliard")
    assert found == ([] if has_other_meanings else [(word, number)])


@given(st.integers(2, 999), st.integers(2, 999), LANGUAGES, LANGUAGES)
def test_another_number_in_words_is_a_fault(number: int, other: int, source: str, target: str) -> None:
    if "acht" in (spelled(number, "de"), spelled(other, "de")) or 9 in (number, other) or 100 in (number, other):
        return
    text = SENTENCES[source].format(spelled(number, source))
    translation = SENTENCES[target].format(spelled(other, target))
    assert ("number" in content_flags(text, translation, (), (source, target))) is (number != other)
    in_digits = SENTENCES[target].format(other)
    assert ("number" in content_flags(text, in_digits, (), (source, target))) is (number != other)


@pytest.mark.parametrize(
    ("source", "translation", "languages", "is_kept"),
    [
        ("Two million people live here.", "Hier wohnen zwei Millionen Menschen.", ("en", "de"), True),
        ("Two million people live here.", "Hier wohnen zwei Milliarden Menschen.", ("en", "de"), False),
        ("Two million people live here.", "Hier wohnen 2 Mio. Menschen.", ("en", "de"), True),
        ("Two million people live here.", "Hier wohnen 2.000.000 Menschen.", ("en", "de"), True),
        ("Two million people live here.", "Hier wohnen Menschen.", ("en", "de"), False),
        ("Zwei Billionen Euro.", "Two trillion euros.", ("de", "en"), True),
        ("Drei Milliarden Sterne.", "Three million stars.", ("de", "en"), False),
        ("Deux millions de gens vivent ici.", "这里住着两百万人。", ("fr", "zh"), True),
        ("Deux cents millions de gens.", "两亿人。", ("fr", "zh"), True),
        ("More than two million people.", "两百多万人。", ("en", "zh"), True),
        ("城里住着三百万人。", "Three million people live in the town.", ("zh", "en"), True),
        ("城里住着三百万人。", "Three billion people live in the town.", ("zh", "en"), False),
        ("他有两亿元。", "He has two hundred million yuan.", ("zh", "en"), True),
        ("千万别忘了。", "Never forget it.", ("zh", "en"), True),
        ("Thanks a million!", "Tausend Dank!", ("en", "de"), True),
        ("Un million de fois merci.", "Thank you so much.", ("fr", "en"), True),
        ("He has books.", "Er hat zwei Millionen Bücher.", ("en", "de"), False),
    ],
)
def test_scales_of_large_numbers_in_words_are_compared(
    source: str, translation: str, languages: tuple[str, str], is_kept: bool
) -> None:
    assert ("number" not in content_flags(source, translation, (), languages)) is is_kept


def test_a_lost_large_number_is_written_with_its_scale() -> None:
    (quantity,) = lost_quantities("Two million people live here.", "Hier wohnen Menschen.", (), ("en", "de"))
    assert quantity.forms == ("zwei Millionen", "Zwei Millionen", "2 Millionen", "2.000.000")
    (quantity,) = lost_quantities("Two million people live here.", "有人。", (), ("en", "zh"))
    assert quantity.forms == ("二百万", "200万", "2000000", "两百万")


@given(st.integers(2, 99), LANGUAGES, LANGUAGES)
def test_a_lost_number_is_written_in_words_or_digits(number: int, source: str, target: str) -> None:
    text = SENTENCES[source].format(spelled(number, source))
    without = SENTENCES[target].format("")
    for quantity in lost_quantities(text, without, (), (source, target)):
        for form in quantity.forms:
            assert not content_flags(text, SENTENCES[target].format(form), (), (source, target))


@pytest.mark.parametrize(
    ("text", "language", "values"),
    [
        ("One of us has a second couple of twins.", "en", []),
        ("both, twice, tens, fives, the fifth, half a dozen, a hundred", "en", []),
        ("a ten-minute walk", "en", [10]),
        ("May I go at six thirty?", "en", []),
        ("Gib acht auf beide, erst einmal.", "de", []),
        ("erst fünfzehn", "de", [15]),
        ("Du musst das Mehl sieben. Wir sieben den Sand. Sieben Sie ihn! Er hilft, Mehl zu sieben und", "de", []),
        ("Sieben Leute kamen um sieben. Wir müssen um sieben. Sie hat sieben.", "de", [7, 7, 7, 7]),
        ("Der Trainer lobt die Elf. Ein Elf ist klein.", "de", []),
        ("Elf Spieler, und ich habe elf.", "de", [11, 11]),
        ("Il marche à quatre pattes et se met en quatre pour toi.", "fr", []),
        ("Coupe-le en quatre. À quatre heures", "fr", [4, 4]),
        ("Ein zwanzigjähriger Dreizehnter in vierzehn Tagen", "de", []),
        ("Quoi de neuf ? Une dizaine, pour cent, dans quinze jours, le vingtième", "fr", []),
        ("dix-neuf, deux cents", "fr", [19, 200]),
        ("三明治十分好吃，万一星期二十一月有几十个", "zh", []),
        ("三个人，二十五岁，两天", "zh", [3, 25, 2]),
    ],
)
def test_words_of_other_meanings_are_no_clear_numbers(text: str, language: str, values: list[int]) -> None:
    assert [number.value for number in find_clear_numbers(text, language)] == values


@given(st.integers(0, 6), st.integers(0, 6), LANGUAGES, LANGUAGES)
def test_another_weekday_is_a_fault(day: int, other: int, source: str, target: str) -> None:
    text = SENTENCES[source].format(written_weekday(day, source)[0])
    for form in written_weekday(other, target):
        translation = SENTENCES[target].format(form)
        assert [each.number for each in find_weekdays(translation, target)] == [other]
        assert ("number" in content_flags(text, translation, (), (source, target))) is (day != other)


@pytest.mark.parametrize("language", sorted(WEEKDAYS))
def test_words_like_weekdays_are_none(language: str) -> None:
    texts = {
        "en": "Mondayish, the sun sat.",
        "de": "Montage",
        "fr": "mardis-gras",
        "zh": "每周一次，一周三天，一周五个，本周一共",
    }
    assert len(list(find_weekdays(texts[language], language))) == (1 if language == "fr" else 0)


@pytest.mark.parametrize(
    ("source", "translation", "languages", "is_kept"),
    [
        ("I shop on Black Friday.", "J'achète au Black Friday.", ("en", "fr"), True),
        ("J'achète au Black Friday.", "I shop on Black Friday.", ("fr", "en"), True),
        ("黑色星期五见。", "Rendez-vous au Black Friday.", ("zh", "fr"), True),
        ("Mardi gras est passé.", "Mardi Gras is over.", ("fr", "en"), True),
        ("We rest on Good Friday.", "我们在耶稣受难日休息。", ("en", "zh"), True),
        ("She teaches Sunday school.", "她教主日学。", ("en", "zh"), True),
        ("We rest on Friday.", "Nous nous reposons.", ("en", "fr"), False),
        ("On black days I shop on Friday.", "J'achète.", ("en", "fr"), False),
        ("Mardi, on rentre.", "We go home.", ("fr", "en"), False),
        ("On Sunday, school is closed.", "学校关门。", ("en", "zh"), False),
    ],
)
def test_feasts_named_after_weekdays_need_no_weekday(
    source: str, translation: str, languages: tuple[str, str], is_kept: bool
) -> None:
    assert (content_flags(source, translation, (), languages) == []) is is_kept


@given(st.integers(0, 11), st.sampled_from(["15", "30", "45"]), LANGUAGES, LANGUAGES)
def test_a_time_in_words_is_kept_in_another_language(hour: int, minute: str, source: str, target: str) -> None:
    texts = [SENTENCES[code].format(spoken_time(Time(0, 0, hour, minute), code)) for code in (source, target)]
    (found,) = find_clock_times(texts[0], source)
    assert (found.hour, found.minute) == (hour, minute)
    assert not content_flags(texts[0], texts[1], (), (source, target))


@pytest.mark.parametrize(
    ("source", "translation", "languages", "is_kept"),
    [
        ("It is -5 °C.", "Es sind 5 °C.", ("en", "de"), False),
        ("It is -5 °C.", "Es sind minus 5 Grad.", ("en", "de"), True),
        ("It is -5 °C.", "Es sind −5 °C.", ("en", "de"), True),
        ("外面-5 °C。", "It is 5 °C.", ("zh", "en"), False),
        ("It is -5 °C.", "外面零下5度。", ("en", "zh"), True),
        ("Pages 3-5, 10 -12", "Seiten 3 bis 5, 10 12", ("en", "de"), True),
        ("今晚气温将降到零下12度", "The temperature will land at 12 degrees.", ("zh", "en"), False),
        ("今晚气温将降到零下12度", "The temperature will fall to 12 degrees below zero.", ("zh", "en"), True),
        ("今晚气温将降到零下12度", "Heute Nacht fällt die Temperatur auf 12 Grad unter Null.", ("zh", "de"), True),
        ("今晚气温将降到零下12度", "La température tombera à -12 degrés.", ("zh", "fr"), True),
        ("气温负5度", "5 degrees", ("zh", "en"), False),
        ("负5分", "5 points", ("zh", "en"), True),
        ("Es sind minus fünf Grad.", "It is five degrees.", ("de", "en"), False),
        ("Es sind minus fünf Grad.", "It is minus five degrees.", ("de", "en"), True),
        ("It is minus five degrees.", "Es sind fünf Grad.", ("en", "de"), False),
        ("It is minus five degrees.", "气温零下五度。", ("en", "zh"), True),
        ("It is five degrees below zero.", "Il fait cinq degrés.", ("en", "fr"), False),
        ("It is five degrees below zero.", "Il fait cinq degrés au-dessous de zéro.", ("en", "fr"), True),
        ("Il fait moins cinq degrés.", "It is five degrees.", ("fr", "en"), False),
        ("Il fait au moins froid, moins de cinq degrés.", "It is less than five degrees.", ("fr", "en"), True),
        ("Five minus two is three.", "Fünf weniger zwei ist drei.", ("en", "de"), True),
        ("42.195 km", "42,195 km", ("en", "de"), True),
        ("42.195 km", "42.195 km", ("en", "de"), False),
        ("42.195 km", "42 195 km", ("en", "fr"), False),
        ("We owe you EUR 1,249.00.", "Wir schulden 1,249.00 EUR.", ("en", "de"), False),
        ("We owe you EUR 1,249.00.", "Wir schulden 1.249,00 EUR.", ("en", "de"), True),
        ("42.195 km", "42195 km", ("en", "fr"), False),
        ("42.195 km", "42.195公里", ("en", "zh"), True),
        ("Ça coûte 1 250,00 €.", "Es kostet 1.250,00 €.", ("fr", "de"), True),
        ("Ça coûte 1 250,00 €.", "Es kostet 1.250.00 €.", ("fr", "de"), False),
        ("Ça coûte 1 250,00 €.", "It costs 1,250.00 euros.", ("fr", "en"), True),
        ("Ça coûte 1 250,00 €.", "It costs 1 250,00 euros.", ("fr", "en"), False),
        ("It weighs 2.5 kilos.", "Es wiegt 2,5 Kilo.", ("en", "de"), True),
        ("It weighs 2.5 kilos.", "Es wiegt 2.5 Kilo.", ("en", "de"), False),
        ("它重2.5公斤。", "Il pèse 2.5 kilos.", ("zh", "fr"), False),
        ("There are 1.5 million.", "Es gibt 1.5 Millionen.", ("en", "de"), False),
        ("I paid $4.50 for 2.", "Für 2 zahlte ich 4.50 $.", ("en", "de"), False),
        ("Come at 5.30 pm.", "Komm um 5.30 pm.", ("en", "de"), True),
        ("Blender 4.2 is out.", "Blender 4.2 ist da.", ("en", "de"), True),
        ("from Blender 4.2 to 4.3", "von Blender 4.2 bis 4.3", ("en", "de"), True),
        ("42,195 km", "42,195 km", ("de", "en"), False),
        ("12,500 km", "12,500 km", ("en", "de"), False),
        ("12,500 km", "12 500 km", ("en", "de"), True),
        ("12.500 km", "12 500 km", ("de", "fr"), True),
        ("12.500 km", "12.500 km", ("de", "zh"), False),
        ("Install version 2.125.", "Installiere Version 2.125.", ("en", "de"), True),
        ("Install version 2.125.", "Installiere Version 2,125.", ("en", "de"), False),
        ("Install v2.125.", "Installiere v2.125.", ("en", "de"), True),
        ("安装版本2.125。", "Installe la version 2.125.", ("zh", "fr"), True),
        ("Die Version 2.125 ist da.", "Version 2,125 is here.", ("de", "en"), False),
        ("See § 2.125.", "Siehe § 2.125.", ("en", "de"), True),
        ("Chapter 2.125", "Kapitel 2 125", ("en", "de"), False),
        ("Zimmer Nr. 1.250", "Room No. 1,250", ("de", "en"), True),
        ("Zimmer Nr. 1.250", "Room No. 1.250", ("de", "en"), True),
        ("Python 3.125 is out.", "Python 3.125 ist da.", ("en", "de"), True),
        ("Needs numpy==2.125.", "Benötigt numpy==2.125.", ("en", "de"), True),
        ("In London 2.125 million live.", "In London leben 2.125 Millionen.", ("en", "de"), False),
        ("A conversion: 2.125 km", "Eine Umrechnung: 2.125 km", ("en", "de"), False),
        ("seit dem 3.4.1990", "since 3,4,1990", ("de", "en"), False),
        ("seit dem 3.4.1990", "since 3/4/1990", ("de", "en"), True),
        ("seit dem 3.4.1990", "since April 3, 1990", ("de", "en"), True),
        ("Ruf 030 1234567 an.", "Call 030,1234567.", ("de", "en"), False),
        ("Ruf 030 1234567 an.", "Call 030-1234567.", ("de", "en"), True),
        ("En 2019, 20 000 personnes", "In 2019, 20,000 people", ("fr", "en"), True),
        ("It costs twenty dollars.", "Es kostet zwanzig Euro.", ("en", "de"), False),
        ("It costs twenty dollars.", "Es kostet 20 $.", ("en", "de"), True),
        ("It costs $5 and $6.", "Es kostet 5 und $6.", ("en", "de"), False),
        ("It costs $5 and $6.", "Es kostet 5 und 6 Dollar.", ("en", "de"), True),
        ("From $25 to $30 a day.", "Von 25 $30 pro Tag.", ("en", "de"), False),
        ("From $25 to $30 a day.", "25–30 $ pro Tag.", ("en", "de"), True),
        ("From $25 to $30 a day.", "每天25到30美元。", ("en", "zh"), True),
        ("这本书120元。", "This book is 120 yen.", ("zh", "en"), False),
        ("这本书120元。", "This book is 120 yuan.", ("zh", "en"), True),
        ("这本书120日元。", "This book is 120 yen.", ("zh", "en"), True),
        ("这要二十美元。", "This costs twenty.", ("zh", "en"), False),
        ("At half past three.", "Um halb vier.", ("en", "de"), True),
        ("At half past three.", "Um halb drei.", ("en", "de"), False),
        ("At quarter to six.", "Um sechs Uhr.", ("en", "de"), False),
        ("At quarter to six.", "Um 5.45 Uhr.", ("en", "de"), True),
        ("On May 5 at half past three.", "Am 5. Mai um halb vier.", ("en", "de"), True),
        ("On May 5 at half past three.", "Am fünften Mai um halb vier.", ("en", "de"), True),
        ("On May 5 at half past three.", "Im Mai um halb vier.", ("en", "de"), False),
        ("On March 3 at half past three.", "Im März um halb vier.", ("en", "de"), False),
        ("At half past three.", "Um halb vier, um halb drei.", ("en", "de"), False),
        ("Um halb acht.", "At seven-thirty.", ("de", "en"), True),
        ("Um halb acht.", "At half past eight.", ("de", "en"), False),
        ("À trois heures et demie.", "At three o'clock.", ("fr", "en"), False),
        ("À midi et quart.", "At quarter past twelve.", ("fr", "en"), True),
        ("J'ai attendu une heure et demie.", "I waited for an hour and a half.", ("fr", "en"), True),
        ("两点一刻走。", "Um Viertel nach zwei geht es los.", ("zh", "de"), True),
        ("It weighs two pounds.", "Es wiegt zwei Kilo.", ("en", "de"), True),
        ("Ils ont voyagé en sept pays.", "Sie reisten durch sieben Länder.", ("fr", "de"), True),
        ("Ils ont voyagé en sept. 2020.", "Sie reisten im Mai 2020.", ("fr", "de"), False),
        ("Ich warte, bis Jan um 15 Uhr kommt.", "我等扬到15点来。", ("de", "zh"), True),
        ("Es dauert bis Jan. 2024.", "要到2024年3月。", ("de", "zh"), False),
        ("Euro 2024 starts today.", "2024年欧洲杯今天开始。", ("en", "zh"), True),
        ("He paid 20 euros in 2024.", "他在2024年付了20元。", ("en", "zh"), False),
        ("我有3点建议。", "I have some suggestions.", ("zh", "en"), True),
    ],
)
def test_signs_and_separators_and_currencies_are_compared(
    source: str, translation: str, languages: tuple[str, str], is_kept: bool
) -> None:
    assert (content_flags(source, translation, (), languages) == []) is is_kept


@pytest.mark.parametrize(
    ("source", "wrong", "template", "languages", "forms"),
    [
        ("It is -5 °C.", "5", "Es sind {} °C.", ("en", "de"), ("-5 °C",)),
        ("I owe him -$20.", "20 $", "Ich schulde ihm {}.", ("en", "de"), ("-20 $", "-20 Dollar")),
        ("42.195 km", "42 195", "{} km", ("en", "fr"), ("42,195 km",)),
        ("12,500 km", "12,500", "{} km", ("en", "de"), ("12.500 km",)),
        ("2.5 kilos", "2.5", "{} Kilo", ("en", "de"), ("2,5",)),
        ("It costs $4.50.", "4.50 $", "Es kostet {}.", ("en", "de"), ("4,50 $", "4,50 Dollar")),
        ("Ruf 030 1234567 an.", "030,1234567", "Call {}.", ("de", "en"), ("030 1234567",)),
        ("am 3.4.1990", "3,4,1990", "on {}", ("de", "en"), ("3.4.1990", "April 3, 1990", "3 April 1990")),
        ("twenty dollars", "Euro", "zwanzig {}", ("en", "de"), ("Dollar", "$")),
        ("on Tuesday", "Mittwoch", "am {}", ("en", "de"), ("Dienstag", "dienstags")),
        ("She is twenty-one.", "zwanzig", "Sie ist {}.", ("en", "de"), ("einundzwanzig", "Einundzwanzig", "21")),
        ("half past three", "halb drei", "um {}", ("en", "de"), ("halb vier", "3.30 Uhr", "3:30 Uhr", "3:30")),
        ("code 007123", "", "der Code {}", ("en", "de"), ("007123",)),
    ],
)
def test_a_lost_quantity_is_written_as_the_target_language_does(
    source: str, wrong: str, template: str, languages: tuple[str, str], forms: tuple[str, ...]
) -> None:
    (lost,) = lost_quantities(source, template.format(wrong), (), languages)
    assert lost.forms == forms
    assert all(not content_flags(source, template.format(form), (), languages) for form in forms)


def test_both_versions_keep_their_points() -> None:
    for text in (
        "from Python 3.12 to 3.13",
        "with Python 3.12 or 3.13",
        "between Python 3.12 and 3.13",
        "Go 1.21-1.22",
    ):
        forms = [quantity.forms for quantity in find_quantities(f"Go {text}", "en", "de")]
        assert [len(each) for each in forms] == [1, 1]
        assert all("." in each[0] for each in forms)


@pytest.mark.parametrize(
    "piece", ["-5 ", "- ", "3.4.", "1/2", "030 ", "twenty ", "周一", "0-", "1 ", "1.000 ", "dollars "]
)
def test_hostile_text_takes_no_long_time(piece: str) -> None:
    text = piece * (10_000 // len(piece))
    for languages in (("en", "de"), ("zh", "fr")):
        assert isinstance(content_flags(text, text, (), languages), list)
        assert isinstance(lost_quantities(text, "x", (), languages), list)


def test_many_spans_are_counted_as_few_are() -> None:
    spans = [f"{{n{number}}}" for number in range(2_000)]
    text = " x ".join(spans)
    joined = text.replace(" {n77}", "{n77}")
    for translation, flags in ((text, []), (text.replace("{n77}", ""), ["span"]), (joined, ["span"])):
        assert content_flags(text, translation, (), ("en", "de")) == flags
    assert content_flags(joined, joined, (), ("en", "de")) == []


@pytest.mark.parametrize("name", ["tatoeba-en-de", "tatoeba-en-fr", "tatoeba-zh-en"])
def test_validation_texts_are_hardly_ever_flagged(name: str, data_folder: Path) -> None:
    """The rest are idioms and other units: "unter vier Augen", "three inches", "acht Zentimeter"."""
    codes = [code for code in ("en", "de", "fr", "zh") if code in name.split("-")]
    sides = [
        gzip.decompress((data_folder / name / f"val.{code}.gz").read_bytes()).decode().split("\n") for code in codes
    ]
    pairs = list(zip(*sides, strict=True))
    flagged = sum("number" in content_flags(source, target, (), (codes[0], codes[1])) for source, target in pairs)
    assert flagged < 0.005 * len(pairs)


def test_a_second_search_writes_what_was_lost() -> None:
    translator = Translator.load("everyday")
    texts = ["She is twenty-one years old.", "There were fifty-three people in the room.", "See you on Tuesday."]
    for target, kept in (("de", ("einundzwanzig", "dreiundfünfzig", "Dienstag")), ("zh", ("21", "53", "二"))):
        found = translator.translate(texts, source_lang="en", target_lang=target)
        assert not any(one.flags for one in found)
        if target == "de":
            assert all(word in one.text.lower() for word, one in zip(map(str.lower, kept), found, strict=True))
