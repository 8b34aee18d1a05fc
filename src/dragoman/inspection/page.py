"""HTML pages in one file each, with style, script and data, so that they never use the network."""

from __future__ import annotations

import base64
import hashlib
import html
import json
from importlib.resources import files
from string import Template
from typing import Any, Literal


def build_page(name: Literal["attention", "search"], title: str, data: Any) -> bytes:
    """Return the page `pages/<name>` with its data inside.

    Args:
        title: any text, for the browser.
        data: for the page's script, anything that JSON can write; its texts may be a stranger's.
    """
    parts = files("dragoman.inspection") / "pages"

    def read(file: str) -> str:
        return (parts / file).read_text(encoding="utf-8")

    style, script = read("frame.css") + read(f"{name}.css"), read("frame.js") + read(f"{name}.js")
    page = Template(read("frame.html")).substitute(
        title=html.escape(title),
        body=read(f"{name}.html"),
        style=style,
        style_hash=_hash(style),
        script=script,
        script_hash=_hash(script),
        data=_harmless_json(data),
    )
    return page.encode()


def _hash(text: str) -> str:
    """Return the name by which a content security policy allows this style or script, and no other."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _harmless_json(data: Any) -> str:
    """Return JSON in which no text of a stranger can end the element around it."""
    text = json.dumps(data, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
