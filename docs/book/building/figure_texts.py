"""A text for each figure that a cell draws, for those who do not see it: the words that the figure shows."""

import html
import re
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform

TEXTS = {"en": "A figure with the words: ", "zh_CN": "一幅图，图中的文字有："}
SEPARATORS = {"en": ", ", "zh_CN": "、"}
#: Matplotlib writes a text as a comment before its outlines, or as text.
_TEXT = re.compile(r'<g id="text_\d+">\s*<!--\s*(.*?)\s*-->|<text\b[^>]*>([^<]*)</text>', re.S)
_LETTER = re.compile(r"[^\W\d_]")
#: Most words, so that a figure of a whole vocabulary is not read aloud.
MOST = 20


def words(svg: str) -> list[str]:
    """Return what is written in a figure of Matplotlib, each once, without numbers."""
    found = (html.unescape(comment or text) for comment, text in _TEXT.findall(svg))
    plain = (" ".join(each.replace("$", "").split()) for each in found if "mathdefault" not in each)
    return list(dict.fromkeys(each for each in plain if _LETTER.search(each)))[:MOST]


class FigureTexts(SphinxPostTransform):
    """Gives a figure that a cell has drawn its text."""

    default_priority = 50  # after the outputs of cells are chosen

    def run(self, **kwargs: Any) -> None:
        """Give it to those that have none."""
        language = self.config.language
        for image in self.document.findall(nodes.image):
            path = Path(self.env.srcdir, image["uri"])
            is_ours = "alt" not in image and path.suffix == ".svg" and path.is_file()
            if is_ours and (found := words(path.read_text(encoding="utf-8"))):
                image["alt"] = TEXTS[language] + SEPARATORS[language].join(found)


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""
    app.add_post_transform(FigureTexts)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
