"""Modules of JavaScript as one script, for a page in one file: `import` reads no files there."""

from __future__ import annotations

import re
from collections.abc import Mapping

_IMPORT = re.compile(r'^import [^;"]*"\.{1,2}/(?:[\w.]+/)*(?P<file>\w+\.js)";\n', re.M)
_EXPORT = re.compile(r"^export (?=(?:async )?(?:const|let|function|class)\b)", re.M)
_NAME = re.compile(r"^(?:async )?(?:const|let|function\*?|class) (\w+)|^const \[([\w, ]+)\]", re.M)


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
