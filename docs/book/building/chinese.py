"""Search in Chinese, which has no spaces between words: every pair of neighbouring characters is looked up.

A query finds the pages that have all of its pairs. That needs no dictionary of words, neither here nor in the browser.
"""

import re

from sphinx.application import Sphinx
from sphinx.search import SearchLanguage

#: A run of Chinese characters, or a word of letters and digits.
RUN = re.compile(r"[\u3400-\u9fff]+|[^\W\u3400-\u9fff]+")


def split(text: str) -> list[str]:
    """Return the pairs of each run of Chinese characters (a run of one is itself), and all other words."""
    found: list[str] = []
    for run in RUN.findall(text):
        is_chinese = "\u3400" <= run[0] <= "\u9fff" and len(run) > 1
        found += [run[i : i + 2] for i in range(len(run) - 1)] if is_chinese else [run]
    return found


class Chinese(SearchLanguage):
    """`split` for the index, and the same in JavaScript for queries."""

    lang = "zh"
    language_name = "Chinese"
    js_splitter_code = r"""
var splitQuery = (query) =>
  (query.match(/[\u3400-\u9fff]+|[\p{L}\p{N}_]+/gu) || []).flatMap((run) =>
    /^[\u3400-\u9fff]{2,}$/.test(run) ? [...run].slice(1).map((next, i) => [...run][i] + next) : [run]
  );
"""

    def split(self, input: str) -> list[str]:
        """See `split` above."""
        return split(input)

    def stem(self, word: str) -> str:
        """Return a word in lower case, as the browser looks it up."""
        return word.lower()


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx, in place of its own Chinese, which needs a dictionary."""
    app.add_search_language(Chinese)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
