"""The widgets of the book in Chromium: they move by keyboard, and what they say is computed right."""

import math
import re
from pathlib import Path
from typing import Any

import pytest
from book_pages import BUILDING, open_widget
from browser import PHONE

WIDGETS = [
    path.stem
    for path in sorted((BUILDING / "scripts").glob("*.js"))
    if re.search(r"^widget\((?!\"try_it)", path.read_text(encoding="utf-8"), re.M)
]


@pytest.mark.parametrize("name", WIDGETS)
@pytest.mark.parametrize("language", ["en", "zh-CN"])
def test_widgets_have_a_name_and_fit_a_phone(name: str, language: str, browser: Any, tmp_path: Path) -> None:
    page = open_widget(browser, tmp_path, name, language, viewport=PHONE)
    place = page.locator(".widget")
    assert place.get_attribute("aria-label") == page.locator(".widget-title").inner_text()
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    has_chinese = re.search("[\u4e00-\u9fff]", place.inner_text()) is not None
    assert has_chinese == (language == "zh-CN")
    unnamed = "!each.labels?.length && !each.ariaLabel && !each.textContent.trim()"
    selector = ".widget :is(button, input, select, textarea)"
    assert page.evaluate(f"[...document.querySelectorAll('{selector}')].filter((each) => {unnamed}).length") == 0
    assert page.problems == []
    page.close()


def test_masks_renormalise_and_an_empty_row_is_told(browser: Any, tmp_path: Path) -> None:
    page = open_widget(browser, tmp_path, "masks")

    def weights(row: int) -> list[float]:
        return [
            float(text) if text != "·" else 0.0
            for text in page.locator("tr").nth(row + 1).locator("button").all_inner_texts()
        ]

    assert [sum(weight > 0 for weight in weights(row)) for row in range(5)] == [1, 2, 3, 4, 5]
    page.locator("button", has_text="nothing hidden").focus()
    page.keyboard.press("Enter")
    before = weights(0)
    for _ in range(4):
        page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.ariaLabel").startswith("query 0, key 0")
    page.keyboard.press("Space")
    after = weights(0)
    assert after[0] == 0
    for one, other in zip(before[1:], after[1:], strict=True):
        assert math.isclose(other, one / (1 - before[0]), abs_tol=0.02)
    for _ in range(4):
        page.keyboard.press("ArrowRight")
        page.keyboard.press("Space")
    assert weights(0) == [0] * 5
    assert "Query 0 sees nothing" in page.locator("[role=status]").inner_text()
    page.keyboard.press("ArrowDown")
    assert page.evaluate("document.activeElement.ariaLabel").startswith("query 1, key 4")
    assert page.problems == []
    page.close()
