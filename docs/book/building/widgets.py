"""Widgets: a block ```{widget} masks``` becomes a place in the page, which `scripts/masks.js` fills.

A script is a module that imports from others in `scripts/`, such as `widget.js`. Browsers open no modules from a disk,
so each becomes one plain script in `_static/widgets/`.
"""

from pathlib import Path
from typing import Any

from bundles import SCRIPTS, bundle
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective
from sphinx.writers.html5 import HTML5Translator

WITHOUT_SCRIPT = {
    "en": "Here is something to play with. It needs JavaScript.",
    "zh_CN": "这里有一个可以操作的小工具，需要 JavaScript。",
}


class WidgetPlace(nodes.General, nodes.Element):
    """The place of a widget: its name."""


class WidgetDirective(SphinxDirective):
    """A widget, by the name of its script."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Return its place."""
        (name,) = self.arguments
        if not (SCRIPTS / f"{name}.js").is_file():
            raise self.error(f"there is no widget {name!r}: docs/book/building/scripts has no {name}.js")
        return [WidgetPlace(name=name, without_script=WITHOUT_SCRIPT[self.config.language])]


def visit(translator: HTML5Translator, node: WidgetPlace) -> None:
    """Write a place, with a line for browsers without JavaScript."""
    text = translator.encode(node["without_script"])
    translator.body.append(f'<div class="widget" role="group" data-widget="{node["name"]}"><p>{text}</p></div>\n')
    raise nodes.SkipNode


def add_scripts(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """Load the scripts of the widgets of a page."""
    for name in dict.fromkeys(node["name"] for node in doctree.findall(WidgetPlace)) if doctree else ():
        script = Path(app.outdir) / "_static" / "widgets" / f"{name}.js"
        script.parent.mkdir(parents=True, exist_ok=True)
        script.write_text(bundle(name), encoding="utf-8")
        app.add_js_file(f"widgets/{name}.js", loading_method="defer")


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""
    app.add_node(WidgetPlace, html=(visit, None))
    app.add_directive("widget", WidgetDirective)
    app.connect("html-page-context", add_scripts)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
