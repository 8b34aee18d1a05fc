"""A translator as web pages: a folder of static files, or one page that holds everything."""

from __future__ import annotations

import base64
import html
import re
from collections.abc import Mapping, Sequence
from functools import partial
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from string import Template
from typing import Any

from dragoman.errors import ConfigError
from dragoman.exchange.export_folder import write_files
from dragoman.exchange.model_file import model_file, read_model_file
from dragoman.exchange.text_rules import rules
from dragoman.inspection.page import View, build_page, harmless_json, page_part, page_script, page_style, policy_hash
from dragoman.machine.folders import save_folder

_WEB = files("dragoman") / "web"
#: The pages of `inspection/` that the site shows, and their titles.
_VIEWS: Mapping[View, str] = {"attention": "Attention", "search": "Search"}
#: Stands in these pages for the data, which are known in the browser only.
_DATA = "the data"
#: The folders of the site: the module that translates, what belongs to the page, the models.
_MODULE, _PAGE, _MODELS = "dragoman", "page", "models"
#: Parts of a module of JavaScript.
_IMPORT = re.compile(r'^import [^;"]*"\.{1,2}/(?:[\w.]+/)*(?P<file>\w+\.js)";\n', re.M)
_EXPORT = re.compile(r"^export (?=(?:async )?(?:const|let|function|class)\b)", re.M)
_NAME = re.compile(r"^(?:async )?(?:const|let|function\*?|class) (\w+)|^const \[([\w, ]+)\]", re.M)


def export_site(names: Sequence[str | Path], folder: Path) -> None:
    """Write a site that translates with some models, found as by `find_bundle`.

    Raises:
        BundleError: a model cannot be loaded.
        ConfigError: one cannot be exported, two have the same name, or there is none.
        RunFolderError: the folder exists, or cannot be written.
    """
    save_folder(folder, partial(write_files, contents=site_files(names)))


def site_files(names: Sequence[str | Path]) -> dict[str, bytes]:
    """Return the files of a site that translates with some models, by their paths.

    Raises:
        BundleError: a model cannot be loaded.
        ConfigError: one cannot be exported, two have the same name, or there is none.
    """
    models = _models(names)
    texts = {f"{_MODULE}/{name}": text for name, text in _texts(_MODULE).items()}
    texts |= {f"{_PAGE}/{name}": text for name, text in _texts(_PAGE).items() if name != "index.html"}
    texts |= {
        f"{_MODULE}/rules.js": rules(),
        f"{_PAGE}/views.js": _views_module(),
        f"{_PAGE}/frame.css": page_part("frame.css"),
    }
    page = _page(
        style='<link rel="stylesheet" href="page/frame.css">\n<link rel="stylesheet" href="page/page.css">',
        script='<script type="module" src="page/page.js"></script>',
        policy=f"style-src 'self' {view_styles()}; script-src 'self' 'wasm-unsafe-eval' {view_scripts()}; "
        "connect-src 'self'; worker-src 'self'",
        models=models,
    )
    content = {path: text.encode() for path, text in texts.items()} | {"index.html": page.encode()}
    content[f"{_MODULE}/dragoman.wasm"] = engine()
    return content | {f"{_MODELS}/{name}.dragoman": file for name, file in models.items()}


def single_page(names: Sequence[str | Path]) -> bytes:
    """Return a page that holds models, engine and scripts, so that it works from `file://`.

    Raises:
        BundleError, ConfigError: as `site_files`.
    """
    models, modules = _models(names), web_modules()
    style, script = page_part("frame.css") + _texts(_PAGE)["page.css"], bundled(modules, "page.js")
    parts = {"wasm": engine(), "worker": bundled(modules, "worker.js").encode()}
    parts |= {f"model-{name}": content for name, content in models.items()}
    elements = (
        f'<script type="text/plain" id="{html.escape(name)}">{base64.b64encode(content).decode()}</script>'
        for name, content in parts.items()
    )
    page = _page(
        style=f"<style>{style}</style>",
        script="\n".join([*elements, f"<script>{script}</script>"]),
        policy=f"style-src {policy_hash(style)} {view_styles()}; "
        f"script-src {policy_hash(script)} 'wasm-unsafe-eval' {view_scripts()} blob:; worker-src blob:",
        models=models,
    )
    return page.encode()


def web_modules() -> dict[str, str]:
    """Return all modules by the names of their files: those that translate, and those of the page."""
    modules = {**_texts(_MODULE), "rules.js": rules(), **_texts(_PAGE), "views.js": _views_module()}
    return {name: text for name, text in modules.items() if name.endswith(".js")}


def engine() -> bytes:
    """Return the engine, compiled for browsers."""
    return (_WEB / _MODULE / "dragoman.wasm").read_bytes()


def _models(names: Sequence[str | Path]) -> dict[str, bytes]:
    """Return the files of models by their names in the site."""
    models: dict[str, bytes] = {}
    for name in names:
        short = short_name(name)
        if short in models:
            raise ConfigError(f"two models are named {short}", name, advice="give it once, or rename the folder of one")
        models[short] = model_file(name)
    if not models:
        raise ConfigError("no model given", advice="give --model")
    return models


def short_name(name: str | Path) -> str:
    """Return the name of a model in the site, which is a part of addresses: ASCII letters, digits, `.`, `_` and `-`."""
    letters = re.sub(r"[^A-Za-z0-9_.-]", "-", Path(name).name or Path(name).absolute().name)
    return re.sub(r"^\.+", "", letters) or "model"


def _entry(name: str, content: bytes) -> dict[str, Any]:
    """Return what the page knows of a model before it is loaded."""
    description, _ = read_model_file(content)
    return {"name": name, "directions": description["directions"], "bytes": len(content)}


def _page(style: str, script: str, policy: str, models: Mapping[str, bytes]) -> str:
    site = {"models": [_entry(name, content) for name, content in models.items()]}
    template = Template((_WEB / _PAGE / "index.html").read_text(encoding="utf-8"))
    return template.substitute(style=style, script=script, policy=policy, site=harmless_json(site))


def _texts(folder: str) -> dict[str, str]:
    """Return the texts of a folder of `web/` by name."""
    parts: Traversable = _WEB / folder
    return {
        part.name: part.read_text(encoding="utf-8")
        for part in sorted(parts.iterdir(), key=lambda part: part.name)
        if part.name.endswith((".js", ".css", ".html"))
    }


def _views_module() -> str:
    """Return the module `views.js`: the pages of `_VIEWS`, with `_DATA` for their data."""
    views = {name: build_page(name, title, _DATA).decode() for name, title in _VIEWS.items()}
    placeholder, pages = harmless_json(harmless_json(_DATA)), harmless_json(views)
    return (
        "// Made by `dragoman export web`: the pages of `dragoman inspect`.\n\n"
        f"/** Stands for the data, in JSON. */\nexport const PLACEHOLDER = {placeholder};\n"
        f"export const VIEWS = {pages};\n"
    )


def view_styles() -> str:
    """Return the sources by which a content security policy allows the styles of the pages of `_VIEWS`."""
    return " ".join(policy_hash(page_style(name)) for name in _VIEWS)


def view_scripts() -> str:
    """Return the sources by which a content security policy allows the scripts of the pages of `_VIEWS`."""
    return " ".join(policy_hash(page_script(name)) for name in _VIEWS)


def bundled(modules: Mapping[str, str], main: str) -> str:
    """Return a script that does what the module `main` does.

    Args:
        modules: all modules by the names of their files. Each exports by name and imports by the same names.

    Raises:
        ValueError: a module is missing, modules import each other in a circle, or two have the same name for a thing.
    """
    scripts = [_EXPORT.sub("", _IMPORT.sub("", modules[name])) for name in _order(modules, main)]
    names = [
        name
        for script in scripts
        for match in _NAME.finditer(script)
        for name in re.findall(r"\w+", match[1] or match[2])
    ]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise ValueError(f"two modules have the names {', '.join(twice)}")
    text = "\n".join(scripts).replace("import.meta.url", "self.location.href")
    return f'"use strict";\n(() => {{\n{text}}})();\n'


def _order(modules: Mapping[str, str], main: str) -> list[str]:
    """Return the names of a module and of all that it imports, each after those that it imports."""
    order: list[str] = []

    def add(name: str, path: tuple[str, ...]) -> None:
        if name in path or name not in modules:
            raise ValueError(f"{name} is missing, or imports itself")
        for match in _IMPORT.finditer(modules[name]):
            add(match["file"], (*path, name))
        if name not in order:
            order.append(name)

    add(main, ())
    return order
