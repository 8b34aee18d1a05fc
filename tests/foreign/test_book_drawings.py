"""The book's drawings in Chromium: words fit their boxes on a phone, in both languages, and can be read."""

import sys
from pathlib import Path
from typing import Any

import pytest
from browser import PHONE, open_page

BUILDING = Path(__file__).resolve().parents[2] / "docs" / "book" / "building"
sys.path.insert(0, str(BUILDING))

from drawings import Place, draw, names  # noqa: E402

#: The theme's variables that the style sheet of drawings uses, light and dark, as furo has them.
THEMES = {
    "light": ("white", "black", "#5a5c63", "#6b6f76", "#0a4bff"),
    "dark": ("#131416", "#cfd0d0", "#9ca0a5", "#81868d", "#3d94ff"),
}
VARIABLES = ("background-primary", "foreground-primary", "foreground-secondary", "foreground-muted", "link")
CHECKS = Path(__file__).with_name("drawing_checks.js")


def write_page(folder: Path, name: str, language: str, theme: str, here: str | None = None) -> Path:
    """Write a page with one drawing, at the width that the book's pages leave it on a phone."""
    place = Place(language, lambda page: f"{page}.html", lambda page: page, "drawing")
    svg = draw(name, place, here, shapes=True)
    style = (BUILDING / "static" / "drawing.css").read_text(encoding="utf-8")
    variables = "".join(f"--color-{key}: {value};" for key, value in zip(VARIABLES, THEMES[theme], strict=True))
    fonts = "--font-stack: sans-serif; --font-stack--monospace: monospace;"
    page = folder / f"{name}-{language}-{theme}.html"
    page.write_text(
        f'<!doctype html><html lang="{language}"><head><meta charset="utf-8"><title>{name}</title>'
        f'<meta name="viewport" content="width=device-width"><style>body {{ margin: 0 1rem; {variables}{fonts}'
        f"background: var(--color-background-primary) }} {style}</style></head>"
        f'<body><figure class="drawing drawing-{name}">{svg}</figure></body></html>',
        encoding="utf-8",
    )
    return page


def open_drawing(browser: Any, page: Path) -> Any:
    """Return a page with a drawing on a phone, and with the functions of the checks."""
    opened = open_page(browser, page.as_uri(), viewport=PHONE)
    opened.add_script_tag(content=CHECKS.read_text(encoding="utf-8"))
    return opened


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("name", names())
def test_words_fit_a_phone(name: str, language: str, browser: Any, tmp_path: Path) -> None:
    page = open_drawing(browser, write_page(tmp_path, name, language, "light"))
    assert page.evaluate("stickingOut()") == []
    assert page.evaluate("overlaps()") == []
    assert page.evaluate("smallest()") > 8.7, "pixels"
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    assert page.problems == []
    page.close()


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("name", names())
def test_words_can_be_read_in_light_and_dark(name: str, theme: str, browser: Any, tmp_path: Path) -> None:
    page = open_drawing(browser, write_page(tmp_path, name, "en", theme))
    assert page.evaluate("leastContrast()") >= 4.5
    page.close()


def test_the_lit_part_has_another_colour_than_the_rest(browser: Any, tmp_path: Path) -> None:
    page = open_drawing(browser, write_page(tmp_path, "map", "en", "light", "heads"))
    fills = {
        part: page.evaluate(f"getComputedStyle(document.querySelector('[data-part={part}] rect')).fill")
        for part in ("heads", "attention", "embedding", "feed-forward")
    }
    assert fills["attention"] == fills["embedding"] == fills["feed-forward"] != fills["heads"]
    page.close()
