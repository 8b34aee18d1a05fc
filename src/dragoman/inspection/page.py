"""HTML pages in one file each, with style, script and data, so that they never use the network."""

from __future__ import annotations

import base64
import hashlib
import html
import json
from importlib.resources import files
from string import Template
from typing import Any, Literal

View = Literal["attention", "search"]


def build_page(name: View, title: str, data: Any) -> bytes:
    """Return the page `pages/<name>` with its data inside.

    Args:
        title: any text, for the browser.
        data: for the page's script, anything that JSON can write; its texts may be a stranger's.
    """
    style, script = page_style(name), page_script(name)
    page = Template(page_part("frame.html")).substitute(
        title=html.escape(title),
        body=page_part(f"{name}.html"),
        style=style,
        style_hash=policy_hash(style),
        script=script,
        script_hash=policy_hash(script),
        data=harmless_json(data),
    )
    return page.encode()


def page_part(file: str) -> str:
    """Return a file of `pages/`."""
    return (files("dragoman.inspection") / "pages" / file).read_text(encoding="utf-8")


def page_style(name: View) -> str:
    """Return the style of a page."""
    return page_part("frame.css") + page_part(f"{name}.css")


def page_script(name: View) -> str:
    """Return the script of a page."""
    return page_part("frame.js") + page_part(f"{name}.js")


def policy_hash(text: str) -> str:
    """Return the source by which a content security policy allows this style or script, and no other."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def harmless_json(data: Any) -> str:
    """Return JSON in which no text of a stranger can end the element around it."""
    text = json.dumps(data, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
