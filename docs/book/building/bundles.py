"""The scripts of the book's pages, each with the modules that it imports in one file.

A widget's script is a module in `scripts/`. It may import from others there, and from those of `dragoman export web`.
"""

import base64
import json
from pathlib import Path

from dragoman.exchange.model_file import model_file
from dragoman.exchange.web_site import bundled, engine, web_modules

SCRIPTS = Path(__file__).resolve().parent / "scripts"


def bundle(name: str) -> str:
    """Return the script `name` of the folder `scripts`.

    Raises:
        ValueError: it imports what is not there, or two modules have the same name, or the same name for a thing.
    """
    ours = {path.name: path.read_text(encoding="utf-8") for path in SCRIPTS.glob("*.js")}
    theirs = web_modules()
    if twice := ours.keys() & theirs.keys():
        raise ValueError(f"dragoman export web has modules named {', '.join(sorted(twice))}: rename those of the book")
    return bundled(ours | theirs, f"{name}.js")


def engine_script() -> str:
    """Return a script that brings the engine and the worker of the "try it" boxes, for `model_here.js`."""
    files = {"worker": bundle("try_it_worker"), "wasm": base64.b64encode(engine()).decode()}
    return f"Object.assign((globalThis.dragomanFiles ??= {{}}), {json.dumps(files)});\n"


def model_script(name: str, bundle_folder: Path) -> str:
    """Return a script that brings a model by its name, for `model_here.js`.

    Raises:
        BundleError, ConfigError: the model cannot be exported for browsers.
    """
    content = base64.b64encode(model_file(bundle_folder)).decode()
    return f'((globalThis.dragomanFiles ??= {{}}).models ??= {{}})[{json.dumps(name)}] = "{content}";\n'
