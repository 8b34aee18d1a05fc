"""Widgets: a block ```{widget} masks``` becomes a place in the page, which `scripts/masks.js` fills.

A script is a module that imports from others in `scripts/`, such as `widget.js`. Browsers open no modules from a disk,
so each becomes one plain script in `_static/widgets/`.

A block ```{try-it} multi30k-en-de``` becomes a box with a translator in the page: an installed model, or
one that a chapter has saved when its cells ran (see `outputs.py`). Without the latter, the box is left out.
So is a widget that shows what a chapter has recorded, with the option `:record:` and the name of the file.
"""

from pathlib import Path
from typing import Any, ClassVar

from bundles import SCRIPTS, bundle, engine_script, model_script
from docutils import nodes
from docutils.parsers.rst import directives
from outputs import models
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective
from sphinx.writers.html5 import HTML5Translator

from dragoman.bundle.named_models import named_model

WITHOUT_SCRIPT = {
    "en": "Here is something to play with. It needs JavaScript.",
    "zh_CN": "这里有一个可以操作的小工具，需要 JavaScript。",
}
#: Languages of sites, and the names of their folders.
LANGUAGES = {"en": "en", "zh_CN": "zh"}
#: The script of boxes with a translator.
TRY_IT = "try_it"


class WidgetPlace(nodes.General, nodes.Element):
    """The place of a widget: the name of its script, and what else the script is told."""


class WidgetDirective(SphinxDirective):
    """A widget, by the name of its script.

    `:record:` is a file of JSON that a cell has written into the folder of models, for the script to show.
    """

    required_arguments = 1
    option_spec: ClassVar = {"record": directives.unchanged_required}

    def run(self) -> list[nodes.Node]:
        """Return its place, or nothing if it has a record that is not there."""
        (name,) = self.arguments
        if not (SCRIPTS / f"{name}.js").is_file():
            raise self.error(f"there is no widget {name!r}: docs/book/building/scripts has no {name}.js")
        data = {}
        if "record" in self.options:
            record = models(LANGUAGES[self.config.language]) / self.options["record"]
            if not record.is_file():
                return []
            data["record"] = record.read_text(encoding="utf-8")
        return [WidgetPlace(name=name, data=data, without_script=WITHOUT_SCRIPT[self.config.language])]


class TryItDirective(SphinxDirective):
    """A box with a translator, by the name of its model, and text that introduces it.

    `:example:` is what stands in the box at first.
    """

    required_arguments = 1
    has_content = True
    option_spec: ClassVar = {"example": directives.unchanged_required}

    def run(self) -> list[nodes.Node]:
        """Return the text and the place, or nothing if the model is not there."""
        (name,) = self.arguments
        folder = named_model(name) or models(LANGUAGES[self.config.language]) / name
        if not folder.is_dir():
            return []
        data = {"model": name, "example": self.options.get("example", "")}
        without_script = WITHOUT_SCRIPT[self.config.language]
        place = WidgetPlace(name=TRY_IT, data=data, folder=folder, without_script=without_script)
        return [*self.parse_content_to_nodes(), place]


def visit(translator: HTML5Translator, node: WidgetPlace) -> None:
    """Write a place, with a line for browsers without JavaScript."""
    data = {"widget": node["name"], **node["data"]}
    attributes = " ".join(f'data-{key}="{translator.attval(value)}"' for key, value in data.items())
    text = translator.encode(node["without_script"])
    translator.body.append(f'<div class="widget" role="group" {attributes}><p>{text}</p></div>\n')
    raise nodes.SkipNode


def add_scripts(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """Load the scripts of the widgets of a page, and write those that the site does not have yet."""
    folder = Path(app.outdir) / "_static" / "widgets"
    folder.mkdir(parents=True, exist_ok=True)
    places = list(doctree.findall(WidgetPlace)) if doctree else []
    for name in dict.fromkeys(place["name"] for place in places):
        (folder / f"{name}.js").write_text(bundle(name), encoding="utf-8")
        app.add_js_file(f"widgets/{name}.js", loading_method="defer")
    for place in places:
        if place["name"] == TRY_IT:
            (folder / "engine.js").write_text(engine_script(), encoding="utf-8")
            model = place["data"]["model"]
            (folder / f"model-{model}.js").write_text(model_script(model, place["folder"]), encoding="utf-8")


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""
    app.add_node(WidgetPlace, html=(visit, None))
    app.add_directive("widget", WidgetDirective)
    app.add_directive("try-it", TryItDirective)
    app.connect("html-page-context", add_scripts)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
