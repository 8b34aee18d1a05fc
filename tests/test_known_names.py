"""Places, whose names differ between languages: which are found, and how a translation writes them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from itertools import permutations
from time import process_time

import pytest
from test_names import Model, careless
from tiny import many_tokenizers

from dragoman.text.capitalized_words import is_translated
from dragoman.text.known_names import name_groups, quantities_with_names
from dragoman.text.place_names import _adjectives, accepted_forms, place_forms, place_rows
from dragoman.text.quantities import Quantity
from dragoman.text.tokenizer import Tokenizers

LANGUAGES = ("en", "de", "fr", "zh")


@pytest.fixture(scope="module")
def tokenizers() -> Tokenizers:
    return many_tokenizers(reserved=4)


def known(text: str, source: str = "en", target: str = "de") -> list[tuple[str, ...]]:
    """Return the forms of each place, without English adjectives."""
    words = (name for group in name_groups(text, (source, target)) for name in group if name.forms)
    return [place_forms(text[name.start : name.end], source, target) for name in words]


@pytest.mark.parametrize(("source", "target"), list(permutations(LANGUAGES, 2)))
def test_a_place_goes_there_and_back(source: str, target: str) -> None:
    """Its form in another language leads back, unless that form means something else or another place has it, too."""
    rows = {id(row): row for row in place_rows(source).values()}.values()
    n_rows = Counter(form for row in rows for form in row[target])
    for row in rows:
        for name in row[source]:
            there = place_forms(name, source, target)
            assert name not in there
            if there and n_rows[there[0]] == 1:
                back = place_forms(there[0], target, source)
                assert not back or name in back


@pytest.mark.parametrize(
    ("source", "target", "text", "forms"),
    [
        ("en", "de", "We were in Hungary and Austria.", [("Ungarn",), ("Österreich",)]),
        ("en", "de", "In Hungary it rains.", [("Ungarn",)]),
        ("en", "fr", "Germany's neighbours are in the Alps.", [("Allemagne",), ("Alpes",)]),
        ("en", "de", "South Corea, New Austria and Air France are others. West Germany, too.", []),
        ("en", "de", "I saw Tom Hungary and Hungary Water.", []),
        ("en", "de", "Boston and Jordan, nice.", []),
        ("en", "zh", "They live in Munich.", [("慕尼黑",)]),
        ("de", "en", "Wir waren in Florenz.", [("Florence",)]),
        ("de", "fr", "Stadt Genf", [("Genève",)]),
        ("fr", "de", "L'Autriche et l'Écosse", [("Österreich",), ("Schottland",)]),
        ("zh", "en", "德国人在匈牙利的首都说日语。", [("Hungary",)]),
        ("zh", "de", "我在大不里士和柏林。", [("Berlin",)]),
        ("en", "de", "South Korea is not in North America.", [("Südkorea",), ("Nordamerika",)]),
        ("en", "zh", "In New York it rains, but New York City is dry.", [("纽约",)]),
        ("de", "fr", "Neuseeland und Saudi-Arabien", [("Nouvelle-Zélande",), ("Arabie saoudite",)]),
        ("zh", "en", "我去过新西兰和韩国。", [("New Zealand",), ("Korea",)]),
        ("en", "es", "Hungary", []),
        ("en", "de", "I gave it to Mr. Rome and Lady Vienna.", [()]),  # Herr Rome
        ("en", "de", "Brittany and Florence are sisters.", []),
        ("de", "en", "Ich sah Herrn Wien, Frau Rom und Dr. Genf.", [(), ()]),
        ("de", "en", "Ungarns Hauptstadt und der Rand Europas", [("Hungary",), ("Europe",)]),
        ("de", "en", "in der Türkei, aus den Niederlanden, im alten Rom", [("Turkey",), ("Netherlands",), ("Rome",)]),
        ("de", "en", "Alle Polen waren in Polen.", [("Poland",)]),
        ("de", "en", "aus München in Großbritannien", [("Munich",), ("Britain",)]),
        ("de", "en", "Hans und Agnes sahen die Moldau.", []),
        ("fr", "en", "en Suisse, en Corse, en Argentine", [("Switzerland",), ("Corsica",), ("Argentina",)]),
        ("fr", "en", "Du Caire au pays de Galles, le Canton", [("Cairo",), ("Wales",)]),
        ("zh", "en", "沿海地区的发展中国家，今日本店有汉堡", []),
        ("zh", "en", "海地", [("Haiti",)]),
    ],
)
def test_places_of_a_sentence(source: str, target: str, text: str, forms: list[tuple[str, ...]]) -> None:
    assert known(text, source, target) == forms


@pytest.mark.parametrize("language", ["en", "de", "fr"])
def test_no_place_is_taken_for_a_people(language: str) -> None:
    assert not [name for name in place_rows(language) if is_translated(name, language)]


@pytest.mark.parametrize(
    ("name", "accepted"),
    [("意大利", "Italian"), ("韩国", "Korean"), ("英国", "England"), ("荷兰", "Dutch"), ("加拿大", "Canadian")],
)
def test_an_english_adjective_stands_for_its_place(name: str, accepted: str) -> None:
    assert accepted in accepted_forms(name, "zh", "en")[1:]


def test_only_english_has_adjectives() -> None:
    assert accepted_forms("Italy", "en", "de") == place_forms("Italy", "en", "de")
    places = {row["en"][0] for row in place_rows("en").values()}
    assert set(_adjectives()) <= places


def test_many_names_of_a_line_take_linear_time() -> None:
    """Two kinds of names are compared by their places."""

    def seconds(times: int) -> float:
        start = process_time()
        groups = name_groups("大卫王先生德国。" * times, ("zh", "en"))
        assert len(groups) == 3 * times
        return process_time() - start

    seconds(10)
    assert seconds(4000) < 40 * max(seconds(400), 0.001)


def test_a_chosen_place_is_a_quantity() -> None:
    text = "Hungary and Austria"
    number = Quantity(0, 3, ("x",))
    assert quantities_with_names([number], text, ("en", "de"), {"Hungary"}) == [Quantity(0, 7, ("Ungarn",))]
    assert quantities_with_names([number], text, ("en", "de"), {"Austria"}) == [
        number,
        Quantity(12, 19, ("Österreich",)),
    ]


@pytest.mark.parametrize("lose", [careless, lambda text: text])
def test_a_lost_or_copied_place_is_written_in_the_target_language(
    tokenizers: Tokenizers, lose: Callable[[str], str]
) -> None:
    model = Model(tokenizers, lose)
    translation = model.run("the book is on Hungary now.")
    assert (translation.text, translation.flags) == ("the book is on Ungarn now.", ())
    assert model.read[-1] == "the book is on ⟨1⟩ now."


def test_a_place_that_is_translated_is_searched_for_once(tokenizers: Tokenizers) -> None:
    model = Model(tokenizers, lambda text: text.replace("Hungary", "Ungarn"))
    assert model.run("the book is on Hungary now.").text == "the book is on Ungarn now."
    assert model.n_searches == 1


@pytest.mark.parametrize(("adjective", "n_searches"), [("Italian", 1), ("Italic", 2)])
def test_an_adjective_is_no_lost_place(tokenizers: Tokenizers, adjective: str, n_searches: int) -> None:
    model = Model(tokenizers, lambda text: text.replace("Italien", adjective))
    model.run("the book is on Italien now.", "de", "en")
    assert model.n_searches == n_searches


def test_a_place_beside_a_lost_name(tokenizers: Tokenizers) -> None:
    model = Model(tokenizers, careless)
    assert model.run("the book is on Hungary, Quispe now.").text == "the book is on Ungarn, Quispe now."
