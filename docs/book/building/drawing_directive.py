"""The directive `drawing`: a drawing in the page itself, so that its links and its colours are the page's.

    ```{drawing} map
    :here: attention
    A caption.
    ```

`here` lights a part and greys the others; `:shapes:` shows the shapes, too. What is wrong with a drawing fails the
build.
"""

import re
from pathlib import Path
from typing import ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from drawings import DrawingError, Place, draw
from pictures import without_pictures
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective


class Drawing(SphinxDirective):
    """See the module."""

    required_arguments = 1
    has_content = True
    option_spec: ClassVar = {"here": directives.unchanged_required, "shapes": directives.flag}

    def run(self) -> list[nodes.Node]:
        """Return a figure with the drawing and its caption."""
        name, here = self.arguments[0], self.options.get("here")
        language = "zh" if self.config.language == "zh_CN" else "en"
        place = Place(language, self._address, self._title, f"{name}-{self.env.new_serialno('drawing')}")
        try:
            svg = draw(name, place, here, shapes="shapes" in self.options)
        except DrawingError as error:
            raise self.error(str(error)) from error
        kind = f"drawing drawing-{name}"
        opening, ending = (nodes.raw("", tag, format="html") for tag in (f'<figure class="{kind}">{svg}', "</figure>"))
        caption = nodes.container(classes=["caption"])
        if self.content:
            self.state.nested_parse(self.content, self.content_offset, caption)
        return [opening, *([caption] if self.content else []), ending]

    def _address(self, page: str) -> str:
        if page not in self.env.found_docs:
            raise DrawingError(f"the drawing links to {page!r}, which is no page of the book")
        return str(self.env.app.builder.get_relative_uri(self.env.docname, page))

    def _title(self, page: str) -> str:
        """Return the first heading of a page."""
        text = Path(self.env.doc2path(page)).read_text(encoding="utf-8")
        heading = re.search(r"^# (.*)$", text, re.M)
        return heading[1] if heading else page


def _leave_out_pictures(app: Sphinx, docname: str, source: list[str]) -> None:
    source[0] = without_pictures(source[0])


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""
    app.add_directive("drawing", Drawing)
    app.connect("source-read", _leave_out_pictures)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
