"""Symbols and letters that a model has never seen: copied, or the translation says that they are lost."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.text.languages import KNOWN_CODES, base_language
from dragoman.text.odd_characters import KnownCharacters, has_foreign_letter, odd_stretches, symbols
from dragoman.translator import Translator
from dragoman.translator.content_check import CheckContext, content_flags

KNOWN = frozenset("abcéß中国文€²³")


def stretches(text: str) -> list[str]:
    return [text[start:end] for start, end in odd_stretches(text, KNOWN.__contains__)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("© 2026 abc → ★★ b", ["©", "→", "★★"]),
        ("Привет abc", ["Привет"]),
        ("Łabc, cé ßa", ["Łabc"]),
        ("£20.50, 5 £ and £", ["£20.50", "5 £", "£"]),
        ("20 €, cé 中国文", []),  # known; a script without spaces
        ("中©文", ["©"]),
        ("e\u0301 a\u00a0b\ufeff", []),
        ("a नमस्ते, Приве\u0301т b", ["नमस्ते", "Приве\u0301т"]),  # marks on letters end no word
        ("\u2764\ufe0fabc", ["\u2764\ufe0f"]),
        ("CO₂, H₂O. x² note², mc²", ["CO₂", "H₂O", "x²", "note²", "mc²"]),
        ("120 m², 5km², 3\u00a0m³ and 10²", ["10²"]),
    ],
)
def test_symbols_and_words_with_unknown_letters_are_found(text: str, expected: list[str]) -> None:
    assert stretches(text) == expected


@given(st.text(st.sampled_from("ab1 .,©→Łя£中€é\u0301😀\n")))
def test_the_places_are_apart_in_order_and_have_every_odd_character(text: str) -> None:
    found = odd_stretches(text, KNOWN.__contains__)
    ends = [0, *(end for _, end in found)]
    starts = [*(start for start, _ in found), len(text)]
    rest = "".join(text[end:start] for end, start in zip(ends, starts, strict=True))
    assert all(start < end for start, end in found)
    assert not set(rest) & set("©→Łя£😀")


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        ("en", "I said สวัสดี to カラオケ in 東京, α.", ["สวัสดี", "カラオケ", "東京"]),
        ("de-AT", "Привет", ["Привет"]),
        ("zh", "我喜欢カラオケ。", ["カラオケ"]),
        ("zh_Hant", "東京𠮷", []),  # a rare character of its own script
        ("ja", "東京のカラオケ、สวัสดี", ["สวัสดี"]),
        ("th", "สวัสดี 東", ["東"]),
        ("ru", "Привет, Łódź", []),
        ("und", "สวัสดี 東京", []),
        ("xyz", "สวัสดี 東京 Привет", []),
    ],
)
def test_scripts_that_a_language_is_not_written_in_are_found(language: str, text: str, expected: list[str]) -> None:
    """The tokenizer has a piece for every character of scripts with spaces."""
    is_known = KnownCharacters(lambda character: [1], unknown=0).in_language(language)
    assert [text[start:end] for start, end in odd_stretches(text, is_known)] == expected
    assert has_foreign_letter(text, is_known) is bool(expected)


@given(st.sampled_from(sorted(KNOWN_CODES)), st.text())
def test_no_language_finds_its_own_script_foreign(language: str, text: str) -> None:
    is_known = KnownCharacters(lambda character: [1], unknown=0).in_language(language)
    samples = {"th": "ส", "ja": "東のカ", "ko": "한", "ru": "я", "hi": "क", "he": "א", "ar": "ع", "ka": "ა", "my": "က"}
    assert all(map(is_known, samples.get(base_language(language), "")))
    assert all(is_known(one) for one in text if one.isascii() or "LATIN" in unicodedata.name(one, ""))


def test_a_character_that_is_spelled_in_bytes_is_unknown() -> None:
    ids = {"é": [3, 9], "Ł": [3, 200, 201], "?": [3, 0]}
    is_known = KnownCharacters(ids.__getitem__, unknown=0)
    assert [is_known(one) for one in "éŁ?é"] == [True, False, False, True]
    assert has_foreign_letter("Ω", lambda _: False)
    assert not has_foreign_letter("Łódź 😀", lambda _: False)


def test_a_lost_symbol_is_flagged() -> None:
    assert symbols("a ° © → 5 € b") == {"©", "→"}
    assert content_flags("© A man.", "Ein Mann.", CheckContext(("en", "de"))) == ["span"]
    assert content_flags("© A man.", "© Ein Mann.", CheckContext(("en", "de"))) == []


def test_a_model_with_reserved_pieces_copies_what_it_does_not_know() -> None:
    translator = Translator.load("everyday")
    languages = {"source_lang": "en", "target_lang": "de", "off": ["confidence"]}
    sources = ["© 2026 Anna", "Next →", "Write to Łukasz Żółć.", "Привет, friend!", "I said สวัสดี.", "CO₂ is a gas."]
    found = translator.translate(sources, **languages)
    for source, part, translation in zip(
        sources, ("©", "→", "Łukasz Żółć", "Привет", "สวัสดี", "CO₂"), found, strict=True
    ):
        assert part in translation.text, source
    assert [translation.flags for translation in found] == [(), (), (), ("copied",), ("copied",), ()]
