"""Units beside numbers: found, written, and missed in a translation that has lost them."""

import pytest

from dragoman.text.quantities import find_quantities
from dragoman.text.unit_symbols import MENTIONS, NAMES, lost_units, unit_beside, written_with_unit
from dragoman.translator.content_check import content_flags, lost_quantities


@pytest.mark.parametrize("symbol", NAMES)
@pytest.mark.parametrize("language", ["en", "de", "fr", "zh"])
def test_a_written_unit_is_found_again(symbol: str, language: str) -> None:
    text = f"Es sind {written_with_unit('50', symbol, language)}."
    start = text.index("50")
    found = unit_beside(text, start, start + 2)
    assert found is not None
    assert found.symbol == symbol
    assert text[found.start : found.end] == written_with_unit("50", symbol, language)
    assert MENTIONS[symbol].search(text)
    assert lost_units(text, "Es sind 50.", "de")


@pytest.mark.parametrize(
    ("source", "translation", "target", "is_kept"),
    [
        ("120 cm long, 75 cm high", "120 Zentimeter lang, 75 cm hoch", "de", True),
        ("120 cm long, 75 cm high", "120 Kilometer lang, 75 cm hoch", "de", False),
        ("It's 500 m.", "Es ist 500 Uhr.", "de", False),
        ("He drove at 120 km/h.", "Il roulait à 120 kilomètres par heure.", "fr", True),
        ("-12 °C tonight", "今晚零下12度", "zh", True),
        ("-12 °C tonight", "今晚-12度假", "zh", False),
        ("16 GB of RAM", "16 Go de RAM", "fr", True),
        ("16 GB of RAM", "16 goods", "en", False),
        ("It costs EUR 50.", "Es kostet 50 €.", "de", True),
        ("It costs EUR 50.", "Es kostet 50.", "de", False),
        ("他身高185厘米。", "He is 185 cm tall.", "en", True),
        ("Windows 95 m'a plu, 5 mangues.", "Windows 95 was nice.", "en", True),
        ("120 cm", "120", "ru", True),
    ],
)
def test_a_lost_unit_is_a_fault(source: str, translation: str, target: str, is_kept: bool) -> None:
    assert (not lost_units(source, translation, target)) == is_kept


def test_a_second_search_must_write_the_unit() -> None:
    languages = "en", "de"
    source, translation = "The table is 1.5 m long and weighs 90 kg.", "Der Tisch ist 1,5 Uhr lang und wiegt 90 kg."
    assert content_flags(source, translation, [], languages) == ["number"]
    assert [each.forms[0] for each in lost_quantities(source, translation, [], languages)] == ["1,5 m"]
    assert [each.forms[0] for each in find_quantities("USD 3, 5 kg, -2 °C", *languages)] == ["3 USD", "5 kg", "-2 °C"]
