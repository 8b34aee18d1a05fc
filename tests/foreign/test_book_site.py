"""Every page of the built book in Chromium, opened from a disk: no errors, nothing from elsewhere, not too heavy."""

import re
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest
from browser import DESKTOP, PHONE, open_page

from dragoman.bundle.named_models import named_models

SITE = Path(__file__).resolve().parents[2] / "site"
PAGES = sorted(page.relative_to(SITE).as_posix() for page in SITE.glob("*/**/*.html"))
#: Most bytes of a page with a shipped model, and of any other.
SHIPPED_MODEL, OWN_MODEL = 8e6, 3e6


def test_both_languages_are_built() -> None:
    if not PAGES:
        pytest.skip("no site/: run `make docs` first")
    assert {page.split("/")[0] for page in PAGES} == {"en", "zh"}


@pytest.mark.parametrize("name", PAGES)
def test_a_page_opens_without_errors(name: str, browser: Any) -> None:
    viewport = PHONE if name.startswith("zh") else DESKTOP
    page = open_page(browser, (SITE / name).as_uri(), (SITE.as_uri(), "blob:", "data:"), 60_000, viewport=viewport)
    boxes = page.locator("[data-widget=try_it]").all()
    for box in boxes:
        box.scroll_into_view_if_needed()
        box.locator(".try-it-bars li").first.wait_for()
        assert box.locator(".try-it-translation").inner_text()
    assert page.evaluate("document.documentElement.scrollWidth") <= viewport["width"]
    has_shipped = any(box.get_attribute("data-model") in named_models() for box in boxes)
    files = {Path(unquote(urlsplit(each).path)) for each in page.addresses if each.startswith("file:")}
    assert sum(file.stat().st_size for file in files) <= (SHIPPED_MODEL if has_shipped else OWN_MODEL)
    assert page.problems == []
    page.close()


@pytest.mark.parametrize("name", [page for page in PAGES if re.fullmatch(r"(en|zh)/\d\d-[^/]*", page)])
def test_every_exercise_has_a_hint_and_then_its_answer(name: str) -> None:
    text = (SITE / name).read_text(encoding="utf-8")
    hinted = text.split('<details class="hint">')[1:]
    assert len(hinted) >= 3
    assert [each.count('<details class="answer">') for each in hinted] == [1] * len(hinted)
