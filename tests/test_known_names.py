"""Places, whose names differ between languages: which are found, and how a translation writes them."""

from __future__ import annotations

from collections import Counter
from itertools import permutations

import pytest
from test_names import Model, careless
from tiny import many_tokenizers

from dragoman.text.known_names import name_groups, with_names
from dragoman.text.place_names import place_forms, place_rows
from dragoman.text.quantities import Quantity
from dragoman.text.tokenizer import Tokenizers

LANGUAGES = ("en", "de", "fr", "zh")


@pytest.fixture(scope="module")
def tokenizers() -> Tokenizers:
    return many_tokenizers(reserved=4)


def known(text: str, source: str = "en", target: str = "de") -> list[tuple[str, ...]]:
    return [name.forms for group in name_groups(text, (source, target)) for name in group if name.forms]


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
        ("en", "de", "South Korea, New Mexico and Air France are others. North Korea, too.", []),
        ("en", "de", "I saw Tom Hungary and Hungary Water.", []),
        ("en", "de", "Boston and Jordan, nice.", []),
        ("en", "zh", "They live in Munich.", [("慕尼黑",)]),
        ("de", "en", "Wir waren in Florenz.", [("Florence",)]),
        ("de", "fr", "Stadt Genf", [("Genève",)]),
        ("fr", "de", "L'Autriche et l'Écosse", [("Österreich",), ("Schottland",)]),
        ("zh", "en", "德国人在匈牙利的首都说日语。", [("Hungary",)]),
        ("zh", "de", "我在大不里士和柏林。", [("Berlin",)]),
        ("en", "es", "Hungary", []),
    ],
)
def test_places_of_a_sentence(source: str, target: str, text: str, forms: list[tuple[str, ...]]) -> None:
    assert known(text, source, target) == forms


def test_a_chosen_place_is_a_quantity() -> None:
    text = "Hungary and Austria"
    number = Quantity(0, 3, ("x",))
    assert with_names([number], text, ("en", "de"), {"Hungary"}) == [Quantity(0, 7, ("Ungarn",))]
    assert with_names([number], text, ("en", "de"), {"Austria"}) == [number, Quantity(12, 19, ("Österreich",))]


@pytest.mark.parametrize("lose", [careless, lambda text: text])
def test_a_lost_or_copied_place_is_written_in_the_target_language(tokenizers: Tokenizers, lose: object) -> None:
    model = Model(tokenizers, lose)  # type: ignore[arg-type]
    translation = model.run("the book is on Hungary now.")
    assert (translation.text, translation.flags) == ("the book is on Ungarn now.", ())
    assert model.read[-1] == "the book is on ⟨1⟩ now."


def test_a_place_that_is_translated_is_searched_for_once(tokenizers: Tokenizers) -> None:
    model = Model(tokenizers, lambda text: text.replace("Hungary", "Ungarn"))
    assert model.run("the book is on Hungary now.").text == "the book is on Ungarn now."
    assert model.n_searches == 1


def test_a_place_beside_a_lost_name(tokenizers: Tokenizers) -> None:
    model = Model(tokenizers, careless)
    assert model.run("the book is on Hungary, Quispe now.").text == "the book is on Ungarn, Quispe now."
