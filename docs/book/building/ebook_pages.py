"""The book as an EPUB: Sphinx's builder with what it leaves out, and pages in which no script runs.

A widget is its picture there. Exercises have no answers under them: the solutions are the book's last chapter. A link
to the guide or the reference, which are no part of the book, becomes its words.
"""

import re
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

from docutils import nodes
from myst_nb.sphinx_ext import add_global_html_resources
from pictures import with_pictures
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.builders.epub3 import Epub3Builder

CONTENTS = {"en": "Contents", "zh_CN": "目录"}
_OPF = "{http://www.idpf.org/2007/opf}"
#: Elements that the manifest must declare for a page that has them, by the name of their property.
_DECLARED = {"svg": "{http://www.w3.org/2000/svg}svg", "mathml": "{http://www.w3.org/1998/Math/MathML}math"}

_SUMMARY = re.compile(r"<summary\b.*?</summary>", re.S)
_PARAGRAPH = re.compile(r"<(/?)p\b")


class BookBuilder(Epub3Builder):
    """An EPUB that epubcheck finds nothing in."""

    def init(self) -> None:
        """Name the contents in the book's language, and say on each page which it is."""
        super().init()
        code = self.config.epub_language
        self.html_tag = self.html_tag.replace(">", f' lang="{code}" xml:lang="{code}">')
        self.guide_titles = {**self.guide_titles, "toc": CONTENTS[self.config.language]}

    def handle_page(self, pagename: str, addctx: dict[str, Any], *args: Any, **options: Any) -> None:
        """Write a page; in a summary, where MyST-NB writes paragraphs, only text is allowed."""
        if "body" in addctx:
            addctx["body"] = _SUMMARY.sub(lambda found: _PARAGRAPH.sub(r"<\1span", found[0]), addctx["body"])
        super().handle_page(pagename, addctx, *args, **options)

    def build_content(self) -> None:
        """Write content.opf with the style sheet of cells, and with what its pages contain."""
        add_global_html_resources(self.app, None)  # without us after the file is packed
        super().build_content()
        declare(Path(self.outdir))


def declare(folder: Path) -> None:
    """Declare the drawings and formulas of each page in the manifest."""
    ET.register_namespace("", _OPF.strip("{}"))
    ET.register_namespace("dc", "http://purl.org/dc/elements/1.1/")
    package = ET.parse(folder / "content.opf")
    for item in package.iter(f"{_OPF}item"):
        if item.attrib["href"].endswith(".xhtml"):
            path = folder / item.attrib["href"]
            tags = {each.tag for each in ET.parse(path).iter()} if path.is_file() else set()
            properties = [item.get("properties"), *(name for name, tag in _DECLARED.items() if tag in tags)]
            if found := " ".join(filter(None, properties)):
                item.set("properties", found)
    package.write(folder / "content.opf", encoding="utf-8", xml_declaration=True)


def _show_pictures(app: Sphinx, docname: str, source: list[str]) -> None:
    source[0] = with_pictures(source[0], "zh" if app.config.language == "zh_CN" else "en")


def _drop_empty_contents(app: Sphinx, doctree: nodes.document) -> None:
    for toctree in list(doctree.findall(addnodes.toctree)):
        if not toctree["entries"]:
            toctree.parent.parent.remove(toctree.parent)


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""
    app.setup_extension("sphinx.builders.epub3")
    app.add_builder(BookBuilder, override=True)
    app.connect("source-read", _show_pictures, priority=400)  # before the pictures are left out
    app.connect("doctree-read", _drop_empty_contents)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
