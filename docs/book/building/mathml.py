"""Formulas as MathML, which browsers draw themselves: no script, font or network. The conversion is docutils's."""

import html
import re

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.writers.html5 import HTML5Translator

LOG = logging.getLogger(__name__)
#: Names of characters that HTML has and XML has not.
_NAMED = re.compile(r"&(?!(?:amp|lt|gt|quot|apos);)[A-Za-z]\w*;")
#: A small fraction, whose style MathML 3 wants around it.
_SMALL = re.compile(r"<mfrac( displaystyle=[^>]*)>((?:(?!</?mfrac).)*)</mfrac>", re.S)


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
    formula = _SMALL.sub(r"<mstyle\1><mfrac>\2</mfrac></mstyle>", formula)
    return _NAMED.sub(lambda name: html.unescape(name[0]), formula)


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""
    app.add_html_math_renderer("mathml", (inline, None), (block, None))
    app.config.html_math_renderer = "mathml"
    return {"parallel_read_safe": True, "parallel_write_safe": True}
