"""The data of languages from CLDR: whole, plain, and as people write."""

import json
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).parents[1] / "src/dragoman/content/cldr"
LANGUAGES = sorted(path.stem for path in FOLDER.glob("*.json"))


def data_of(language: str) -> dict[str, Any]:
    """All that the file of a language says."""
    data: dict[str, Any] = json.loads(FOLDER.joinpath(f"{language}.json").read_text(encoding="utf-8"))
    return data


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_language_is_described_whole(language: str) -> None:
    data, english = data_of(language), data_of("en")
    assert data.keys() == english.keys()
    assert "Unicode-3.0" in data["source"]
    for key, size in {"months": 12, "short_months": 12, "weekdays": 7, "short_weekdays": 7}.items():
        assert len(data[key]) == size
        assert all(data[key])
    for key in ("currencies", "units"):
        assert data[key].keys() == english[key].keys()
        assert all(row["names"] or row.get("short") for row in data[key].values())
    assert all("{0}" in pattern for unit in data["units"].values() for pattern in unit["short"])
    assert all(data["number_words"][str(number)] for number in (*range(21), *range(30, 100, 10), 100, 1000))
    assert len(data["quotes"]) == 4
    assert all(len(mark) == 1 and not mark.isalnum() for mark in data["quotes"])
    assert "{0}" in data["percent"]
    assert "{0}" in data["money"]
    assert "{1}" in data["money"]


@pytest.mark.parametrize("language", LANGUAGES)
def test_words_are_plain(language: str) -> None:
    text = FOLDER.joinpath(f"{language}.json").read_text(encoding="utf-8")
    assert not set(text) & set("\u00ad\u00a0\u202f\u200e\u200f")
    assert len(text.encode()) < 60_000
    words = [word for row in data_of(language)["number_words"].values() for word in row]
    assert all(word == word.strip() and not any(map(str.isdigit, word)) for word in words)


@pytest.mark.parametrize(
    ("language", "number", "word"),
    [
        ("en", 1000, "thousand"),
        ("de", 21, "einundzwanzig"),
        ("de", 1_000_000, "Millionen"),
        ("fr", 80, "quatre-vingts"),
        ("fr", 100, "cents"),
        ("es", 22, "veintidós"),
        ("es", 200, "doscientas"),
        ("it", 1000, "mila"),
        ("zh", 2, "两"),
        ("zh", 10_000, "万"),
        ("ja", 100_000_000, "億"),
        ("ru", 1000, "тысяч"),
        ("pl", 500, "pięćset"),
        ("nl", 22, "tweeëntwintig"),
    ],
)
def test_numbers_have_the_words_that_people_write(language: str, number: int, word: str) -> None:
    assert word in data_of(language)["number_words"][str(number)]


def test_an_ambiguous_sign_belongs_to_one_currency() -> None:
    for language in LANGUAGES:
        signs = [sign for row in data_of(language)["currencies"].values() for sign in row["signs"]]
        doubled = {sign for sign in signs if signs.count(sign) > 1}
        assert not doubled & set("$¥£€"), language


@pytest.mark.parametrize(
    ("language", "unit", "name"),
    [("de", "inch", "Zoll"), ("fr", "mile", "miles"), ("es", "foot", "pies"), ("zh", "inch", "英寸")],
)
def test_units_have_the_names_that_people_write(language: str, unit: str, name: str) -> None:
    assert name in data_of(language)["units"][f"length-{unit}"]["names"]
