"""The book's terms are those of the field: named where they are explained, and in both glossaries."""

import re
import tomllib
from pathlib import Path

import pytest

BOOK = Path(__file__).resolve().parent.parent / "docs" / "book"
#: Page, English term, Chinese term.
TERMS = [
    (page, english, chinese)
    for page, terms in tomllib.loads((BOOK / "data" / "terms.toml").read_text(encoding="utf-8")).items()
    for english, chinese in terms.items()
]


def text(language: str, page: str) -> str:
    """Return a page in lower case, with a space for each end of a line."""
    return " ".join((BOOK / language / f"{page}.md").read_text(encoding="utf-8").lower().split())


def entries(language: str) -> list[tuple[str, str]]:
    """Return the terms of a glossary, each with its translation, or with itself if it has none."""
    brackets, commas = {"en": ("()", (", ", "、")), "zh": ("（）", ("、", ", "))}[language]
    opening, closing = map(re.escape, brackets)
    page = (BOOK / language / "glossary.md").read_text(encoding="utf-8")
    found = []
    for term, translation in re.findall(rf"^([^:\n]+?)(?: ?{opening}([^\n]+){closing})?\n: ", page, re.M):
        terms = term.split(commas[0])
        found += zip(terms, translation.split(commas[1]) if translation else terms, strict=True)
    return found


def test_there_are_forty() -> None:
    assert len(TERMS) >= 40
    assert len({english for _, english, _ in TERMS}) == len({chinese for _, _, chinese in TERMS}) == len(TERMS)


@pytest.mark.parametrize(("page", "english", "chinese"), TERMS, ids=[english for _, english, _ in TERMS])
def test_a_term_is_named_where_it_is_explained_and_in_both_glossaries(page: str, english: str, chinese: str) -> None:
    for language, term in (("en", english), ("zh", chinese)):
        assert f"**{term.lower()}**" in text(language, page), f"docs/book/{language}/{page}.md: **{term}**"
    assert (english, chinese) in entries("en")
    assert (chinese, english) in entries("zh")


def test_both_glossaries_have_the_same_terms() -> None:
    english, chinese = (dict(entries(language)) for language in ("en", "zh"))
    missing = [term for term, translation in english.items() if translation not in chinese]
    assert missing == []
