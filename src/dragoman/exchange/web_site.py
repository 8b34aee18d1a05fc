"""A translator as web pages: a folder of static files, or one page that holds everything."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
from collections.abc import Mapping, Sequence
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from string import Template
from typing import Any

from dragoman.errors import ConfigError
from dragoman.exchange.model_file import model_file
from dragoman.exchange.modules import bundled
from dragoman.exchange.text_rules import rules
from dragoman.inspection.page import build_page

_WEB = files("dragoman") / "web"
#: Stands in the pages of `inspection/` for the data, which are known in the browser only.
_DATA = "the data"
#: A module that the worker and the page share, and the folders of the site.
_MODULE, _PAGE, _MODELS = "dragoman", "page", "models"
_POLICY = re.compile(r"(style|script)-src '(sha256-[^']+)'")


def site_files(names: Sequence[str | Path]) -> dict[str, bytes]:
    """Return the files of a site that translates with some models, by their paths.

    Raises:
        BundleError: a model cannot be loaded.
        ConfigError: one cannot be exported, two have the same name, or there is none.
    """
    models = _models(names)
    views = _views()
    texts = {f"{_MODULE}/{name}": text for name, text in _texts(_MODULE).items()}
    texts |= {f"{_PAGE}/{name}": text for name, text in _texts(_PAGE).items() if name != "index.html"}
    texts |= {f"{_MODULE}/rules.js": rules(), f"{_PAGE}/views.js": _views_module(views), f"{_PAGE}/frame.css": _frame()}
    hashes = _hashes(views)
    page = _page(
        style='<link rel="stylesheet" href="page/frame.css">\n<link rel="stylesheet" href="page/page.css">',
        script='<script type="module" src="page/page.js"></script>',
        policy=f"style-src 'self' {hashes['style']}; script-src 'self' 'wasm-unsafe-eval' {hashes['script']}; "
        "connect-src 'self'; worker-src 'self'",
        site={"models": [_entry(name, content) for name, content in models.items()]},
    )
    content = {path: text.encode() for path, text in texts.items()} | {"index.html": page.encode()}
    content[f"{_MODULE}/dragoman.wasm"] = (_WEB / _MODULE / "dragoman.wasm").read_bytes()
    return content | {f"{_MODELS}/{name}.dragoman": file for name, file in models.items()}


def single_page(names: Sequence[str | Path]) -> bytes:
    """Return a page that holds models, engine and scripts, so that it works from `file://`.

    Raises:
        BundleError, ConfigError: as `site_files`.
    """
    models = _models(names)
    views, page_texts = _views(), _texts(_PAGE)
    modules = {**_texts(_MODULE), "rules.js": rules(), **page_texts, "views.js": _views_module(views)}
    style, script = _frame() + page_texts["page.css"], bundled(modules, "page.js")
    parts = {"wasm": (_WEB / _MODULE / "dragoman.wasm").read_bytes(), "worker": bundled(modules, "worker.js").encode()}
    parts |= {f"model-{name}": content for name, content in models.items()}
    elements = (
        f'<script type="text/plain" id="{html.escape(name)}">{base64.b64encode(content).decode()}</script>'
        for name, content in parts.items()
    )
    hashes = _hashes(views)
    page = _page(
        style=f"<style>{style}</style>",
        script="\n".join([*elements, f"<script>{script}</script>"]),
        policy=f"style-src {_hash(style)} {hashes['style']}; "
        f"script-src {_hash(script)} 'wasm-unsafe-eval' {hashes['script']} blob:; worker-src blob:",
        site={"models": [_entry(name, content) for name, content in models.items()]},
    )
    return page.encode()


def _models(names: Sequence[str | Path]) -> dict[str, bytes]:
    """Return the files of models by their names in the site."""
    models: dict[str, bytes] = {}
    for name in names:
        short = short_name(name)
        if short in models:
            raise ConfigError(f"two models are named {short}", name, advice="rename the folder of one")
        models[short] = model_file(name)
    if not models:
        raise ConfigError("no model given", advice="give --model")
    return models


def short_name(name: str | Path) -> str:
    """Return the name of a model in the site, which is a part of addresses: letters, digits, dots and hyphens."""
    letters = re.sub(r"[^A-Za-z0-9_.-]", "-", Path(name).name or Path(name).absolute().name)
    return re.sub(r"^\.+", "", letters) or "model"


def _entry(name: str, content: bytes) -> dict[str, Any]:
    """Return what the page knows of a model before it is loaded."""
    start = len("dragoman") + 4
    description = json.loads(content[start : start + int.from_bytes(content[start - 4 : start], "little")])
    return {"name": name, "directions": description["directions"], "bytes": len(content)}


def _page(style: str, script: str, policy: str, site: Mapping[str, Any]) -> str:
    template = Template((_WEB / _PAGE / "index.html").read_text(encoding="utf-8"))
    data = json.dumps(site, ensure_ascii=False).replace("<", "\\u003c")
    return template.substitute(style=style, script=script, policy=policy, site=data)


def _texts(folder: str) -> dict[str, str]:
    """Return the texts of a folder of `web/` by name."""
    parts: Traversable = _WEB / folder
    return {
        part.name: part.read_text(encoding="utf-8")
        for part in sorted(parts.iterdir(), key=lambda part: part.name)
        if part.name.endswith((".js", ".css", ".html"))
    }


def _frame() -> str:
    return (files("dragoman.inspection") / "pages" / "frame.css").read_text(encoding="utf-8")


def _views() -> dict[str, str]:
    """Return the pages of attention and of a search, with `_DATA` for their data."""
    return {
        "attention": build_page("attention", "Attention", _DATA).decode(),
        "search": build_page("search", "Search", _DATA).decode(),
    }


def _views_module(views: Mapping[str, str]) -> str:
    """Return the module `views.js`."""
    placeholder, pages = (json.dumps(each).replace("<", "\\u003c") for each in (json.dumps(_DATA), dict(views)))
    return (
        "// Made by `dragoman export web`: the pages of `dragoman inspect`.\n\n"
        f"/** Stands for the data, in JSON. */\nexport const PLACEHOLDER = {placeholder};\n"
        f"export const VIEWS = {pages};\n"
    )


def _hashes(views: Mapping[str, str]) -> dict[str, str]:
    """Return the hashes by which the site allows the styles and the scripts of views."""
    found = [match.groups() for view in views.values() for match in _POLICY.finditer(view)]
    return {kind: " ".join(f"'{name}'" for each, name in found if each == kind) for kind in ("style", "script")}


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
