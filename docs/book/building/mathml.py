"""Formulas as MathML, which browsers draw themselves: no script, font or network. The conversion is docutils's."""

import html
import re
import xml.etree.ElementTree as ET

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.writers.html5 import HTML5Translator

LOG = logging.getLogger(__name__)
#: Names of characters that HTML has and XML has not.
_NAMED = re.compile(r"&(?!(?:amp|lt|gt|quot|apos);)[A-Za-z]\w*;")
_MATHML = "http://www.w3.org/1998/Math/MathML"


def inline(translator: HTML5Translator, node: nodes.math) -> None:
    """Write $...$."""
    translator.body.append(_converted(node, as_block=False))
    raise nodes.SkipNode


def block(translator: HTML5Translator, node: nodes.math_block) -> None:
    """Write $$...$$, which scrolls by itself where the screen is narrower than the formula."""
    translator.body.append(f'<div class="formula" tabindex="0">{_converted(node, as_block=True)}</div>')
    raise nodes.SkipNode


def _converted(node: nodes.math | nodes.math_block, *, as_block: bool) -> str:
    try:
        return as_xml(str(tex2mathml(node.astext().strip(), as_block=as_block)))
    except MathError as error:
        LOG.warning("formula %r: %s", node.astext(), error, location=node)
        return ""


def as_xml(formula: str) -> str:
    """Return MathML as an EPUB may have it: characters instead of names, and styles where MathML 3 wants them."""
    math = ET.fromstring(_NAMED.sub(lambda name: html.unescape(name[0]), formula))
    for parent in list(math.iter()):
        for place, child in enumerate(parent):
            if child.tag == f"{{{_MATHML}}}mfrac" and "displaystyle" in child.attrib:
                parent[place] = ET.Element(f"{{{_MATHML}}}mstyle", child.attrib)
                parent[place].tail, child.tail, child.attrib = child.tail, None, {}
                parent[place].append(child)
    ET.register_namespace("", _MATHML)
    return ET.tostring(math, encoding="unicode")


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""
    app.add_html_math_renderer("mathml", (inline, None), (block, None))
    app.config.html_math_renderer = "mathml"
    return {"parallel_read_safe": True, "parallel_write_safe": True}
