"""Pages with a widget of the book, as Sphinx would make them, without Sphinx."""

import sys
from html import escape
from pathlib import Path
from typing import Any

from browser import open_page

BUILDING = Path(__file__).resolve().parents[2] / "docs" / "book" / "building"
sys.path.insert(0, str(BUILDING))

from bundles import bundle  # noqa: E402


def write_widget(folder: Path, name: str, language: str, data: dict[str, str] | None = None) -> Path:
    """Write a page with one widget and its script into a folder.

    Args:
        data: what the directive tells the script.
    """
    style = (BUILDING / "static" / "widgets.css").read_text(encoding="utf-8")
    attributes = " ".join(f'data-{key}="{escape(value)}"' for key, value in {"widget": name, **(data or {})}.items())
    (folder / f"{name}.js").write_text(bundle(name), encoding="utf-8")
    page = folder / f"{name}-{language}.html"
    page.write_text(
        f'<!doctype html><html lang="{language}"><head><meta charset="utf-8"><title>{name}</title>'
        f'<meta name="viewport" content="width=device-width"><style>{style}</style></head>'
        f'<body><div class="widget" role="group" {attributes}></div>'
        f'<script defer src="{name}.js"></script></body></html>',
        encoding="utf-8",
    )
    return page


def open_widget(
    browser: Any, folder: Path, name: str, language: str = "en", data: dict[str, str] | None = None, **options: Any
) -> Any:
    """Return a page with one widget, opened from a disk; see `write_widget` and `open_page`."""
    return open_page(browser, write_widget(folder, name, language, data).as_uri(), (folder.as_uri(),), **options)
