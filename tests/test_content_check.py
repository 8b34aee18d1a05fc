"""Spans, symbols and numbers that a translation keeps, loses or repeats."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from dragoman.text.terms import Term, TermList
from dragoman.translator.content_check import CheckContext, content_flags


def test_many_spans_are_counted_as_few_are() -> None:
    spans = [f"{{n{number}}}" for number in range(2_000)]
    text = " x ".join(spans)
    joined = text.replace(" {n77}", "{n77}")
    for translation, flags in ((text, []), (text.replace("{n77}", ""), ["span"]), (joined, ["span"])):
        assert content_flags(text, translation, CheckContext(("en", "de"))) == flags
    assert content_flags(joined, joined, CheckContext(("en", "de"))) == []


@pytest.mark.parametrize("name", ["tatoeba-en-de", "tatoeba-en-fr", "tatoeba-zh-en"])
def test_validation_texts_are_hardly_ever_flagged(name: str, data_folder: Path) -> None:
    """The rest are idioms and other units: "unter vier Augen", "three inches", "acht Zentimeter"."""
    codes = [code for code in ("en", "de", "fr", "zh") if code in name.split("-")]
    sides = [
        gzip.decompress((data_folder / name / f"val.{code}.gz").read_bytes()).decode().split("\n") for code in codes
    ]
    pairs = list(zip(*sides, strict=True))
    context = CheckContext((codes[0], codes[1]))
    flagged = sum("number" in content_flags(source, target, context) for source, target in pairs)
    assert flagged < 0.005 * len(pairs)


@pytest.mark.parametrize(
    ("source", "translation", "term", "flags"),
    [
        ("We are open 24/7.", "Wir haben rund um die Uhr offen.", Term("24/7", ("rund um die Uhr",)), []),
        ("We are open 24/7.", "Wir haben offen.", Term("24/7", ("rund um die Uhr",)), ["number"]),
        ("Call 911 at 10:30.", "Ruf die 112 um 10:30 an.", Term("911", ("die 112",)), []),
        ("Call 911 at 10:30.", "Ruf die 112 an.", Term("911", ("die 112",)), ["number"]),
        ("It takes 2 of 24 and 24.", "Zwei von zwei Dutzend und 24.", Term("24", ("zwei Dutzend",)), []),
        ("The B2B market.", "Der Markt der Firmen.", Term("B2B", ("Firmen",)), []),
        ("The B2B market of B2B.", "Der Markt.", Term("B2B market", ("Markt",)), ["span"]),
    ],
)
def test_a_term_answers_for_its_own_digits_and_spans(
    source: str, translation: str, term: Term, flags: list[str]
) -> None:
    n_terms = len(TermList([term]).find(source))
    assert content_flags(source, translation, CheckContext(("en", "de"), terms=[term] * n_terms)) == flags


@pytest.mark.parametrize(
    ("source", "translation", "flags"),
    [
        ('He said "yes".', "Il a dit « oui.", ["span"]),
        ('He said "yes".', "Il a dit « oui ».", []),
        ('He said "yes".', "Il a dit oui.", []),
        ('He said "yes" or "no".', "他说“是”或“不。", ["span"]),
        ('"Yes.', "“Ja.", []),
        ('The "screen" has 15 inches.', 'Der Bildschirm hat 15".', []),
        ('Yes, the "IDF".', 'כן, צה"ל.', []),
    ],
)
def test_a_quotation_mark_without_a_partner_is_flagged(source: str, translation: str, flags: list[str]) -> None:
    assert content_flags(source, translation, CheckContext(("en", "xx"))) == flags
    assert content_flags(source, translation, CheckContext(("en", "xx"), off=["spans"])) == []
