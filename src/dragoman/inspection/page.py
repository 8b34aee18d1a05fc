"""One HTML file that holds everything it needs: style, script and data. It asks the network for nothing."""

from __future__ import annotations

import base64
import hashlib
import html
import json
from importlib.resources import files
from string import Template
from typing import Any, Literal


def build_page(name: Literal["attention", "search"], title: str, data: Any) -> bytes:
    """The page `pages/<name>`, with its data inside.

    Args:
        title: what the browser calls it; any text.
        data: what the page's script reads, as JSON can write it; its texts may hold anything.
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
    """How a content security policy names a style or script that it allows; any other is not run."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _harmless_json(data: Any) -> str:
    """JSON in which no text of a stranger can end the element it stands in."""
    text = json.dumps(data, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
