"""The widgets that merge pieces, count n-grams and draw learning rates, in Chromium, beside the book's own code."""

import importlib.util
import math
import re
from pathlib import Path
from typing import Any

import pytest
import sacrebleu
from book_pages import BUILDING, open_widget

PAGES = BUILDING.parent / "en"


def merges_of(text: str, n: int) -> list[str]:
    """Return the pieces that chapter 2 merges, by its own cell."""
    chapter = (PAGES / "02-tokens-and-embeddings.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"^```\{code-cell\}\n((?:(?!^```$).)*^merges = \[\]\n.*?)^```$", chapter, re.M | re.S)
    names: dict[str, Any] = {"pairs": [(text, "")]}
    exec(re.sub(r"range\(\d+\)", f"range({n})", code.partition("\nprint(")[0]), names)
    merges: list[str] = names["merges"]
    return merges


@pytest.mark.parametrize("text", [None, "low low low lower lowest newer newer widest wider", "aaaa aaa banana bandana"])
def test_merges_are_those_of_chapter_2(text: str | None, browser: Any, tmp_path: Path) -> None:
    page = open_widget(browser, tmp_path, "bpe")
    if text is not None:
        page.get_by_label("text to learn from").fill(text)
    learned = page.get_by_label("text to learn from").input_value()
    page.get_by_role("slider").focus()
    page.keyboard.press("End")
    made = page.locator("ol li").all_inner_texts()
    assert len(made) > 5
    assert made == merges_of(learned, len(made))
    page.get_by_label("your word").fill("bananas")
    assert "".join(page.locator(".bpe-pieces span").all_inner_texts()) == "bananas"
    assert page.problems == []
    page.close()


def test_one_merge_more_joins_the_pair_that_was_announced(browser: Any, tmp_path: Path) -> None:
    page = open_widget(browser, tmp_path, "bpe")
    status = page.locator("[role=status]")
    before = len(page.locator("ol li").all())
    one, other = re.findall(r"next merge: (\S+) \+ (\S+?),", status.inner_text())[0]
    page.get_by_role("button", name="one more").focus()
    page.keyboard.press("Enter")
    assert page.locator("ol li").last.inner_text() == one + other
    page.get_by_role("button", name="one less").click()
    assert len(page.locator("ol li").all()) == before
    page.get_by_label("text to learn from").fill("")
    assert "No pair is left" in status.inner_text()
    assert page.locator(".bpe-pieces span").all_inner_texts() == list(page.get_by_label("your word").input_value())
    page.close()


@pytest.mark.parametrize(
    ("output", "reference"),
    [
        ("Ein Mann reitet auf einem braunen Pferd.", "Ein Mann reitet auf einem Pferd."),
        ("Ein Mann reitet.", "Ein Mann reitet auf einem Pferd."),
        ("der der der der der Hund der der .", "der Hund sieht der Katze nach ."),
        ("a b c d e f", "a b c d e f"),
        ("x", "a b c d"),
    ],
)
def test_bleu_is_that_of_sacrebleu(output: str, reference: str, browser: Any, tmp_path: Path) -> None:
    page = open_widget(browser, tmp_path, "bleu")
    page.get_by_label("output", exact=True).fill(output)
    page.get_by_label("reference", exact=True).fill(reference)
    cut = [text.replace(".", " .") for text in (output, reference)]
    expected = sacrebleu.corpus_bleu([cut[0]], [[cut[1]]], smooth_method="none", tokenize="none", force=True)
    said = page.locator("[role=status]").inner_text()
    numbers = [float(number) for number in re.findall(r"\d+\.\d\d", said)]
    assert numbers == pytest.approx([expected.score, expected.bp], abs=0.006)
    rows = [row.locator("td").all_inner_texts() for row in page.locator("tbody tr").all()]
    assert [[int(row[0]), int(row[1])] for row in rows] == [
        list(each) for each in zip(expected.counts, expected.totals, strict=True)
    ]
    assert ("A share is zero" in said) == (0 in expected.counts)
    assert page.problems == []
    page.close()


def test_words_in_a_match_are_lit(browser: Any, tmp_path: Path) -> None:
    page = open_widget(browser, tmp_path, "bleu")
    page.get_by_role("button", name="n = 4").focus()
    page.keyboard.press("Enter")
    lit = [each.get_attribute("aria-label").endswith("in a match") for each in page.locator(".bleu-words span").all()]
    assert lit == [True] * 5 + [False] * 3  # "Ein Mann reitet auf einem", then "braunen Pferd ."
    page.get_by_role("button", name="n = 1").click()
    assert page.get_by_role("listitem", name="braunen: in no match").count() == 1
    page.close()


def test_rates_are_those_of_the_books_file(browser: Any, tmp_path: Path) -> None:
    spec = importlib.util.spec_from_file_location("book_transformer", BUILDING.parent / "transformer.py")
    assert spec
    assert spec.loader
    book = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(book)
    page = open_widget(browser, tmp_path, "warmup")
    sliders = [page.get_by_label(name) for name in ("highest rate", "warm-up steps", "all steps")]
    moved = page.get_by_role("slider").last
    for key in ("", "Home", "End"):
        for each in sliders:
            each.focus()
            if key:
                page.keyboard.press(key)
        highest, n_warmup, n_steps = (float(each.input_value()) for each in sliders)
        for step in (1, 40, 399):
            moved.fill(str(step))
            said = page.locator("[role=status]").inner_text()
            ours, papers = (float(number) for number in re.findall(r"0\.\d{5}", said))
            assert ours == pytest.approx(book.learning_rate(step, n_steps, highest, n_warmup), abs=6e-6)
            width = 1 / (highest**2 * n_warmup)
            formula = width**-0.5 * min(step**-0.5, step * n_warmup**-1.5)
            assert papers == pytest.approx(formula, abs=6e-6)
            assert int(re.findall(r"D = ([\d,]+)", said)[0].replace(",", "")) == math.floor(width + 0.5)
    assert page.problems == []
    page.close()
