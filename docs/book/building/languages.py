"""Two languages, page by page: links to the same page in the other one, links to notebooks, and the theme's
own words in Chinese."""

import gettext
from pathlib import Path
from typing import Any

from chapters import pages_that_run
from docutils import nodes
from sphinx.application import Sphinx

#: Language of a site: folder of the other one, its name there, and what a notebook is called here.
SITES = {
    "en": {"folder": "zh", "code": "zh-CN", "name": "中文", "notebook": "open as a notebook"},
    "zh_CN": {"folder": "en", "code": "en", "name": "English", "notebook": "下载为 notebook"},
}
#: What the theme writes on every page and Sphinx has no Chinese for.
CHINESE = {
    "Next": "下一页",
    "Previous": "上一页",
    "Home": "首页",
    "On this page": "本页内容",
    "Back to top": "回到顶部",
    "Skip to content": "跳到正文",
    "Copyright &#169; %(copyright)s": "版权所有 &#169; %(copyright)s",
    "Made with": "制作工具：",
    '<a href="https://www.sphinx-doc.org/">Sphinx</a> and': '<a href="https://www.sphinx-doc.org/">Sphinx</a>、',
}
NOTEBOOKS = {page.stem for page in pages_that_run("en")}


def add_links(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """Give the templates the addresses. A page that the other language does not have leads to its first page."""
    site = SITES[app.config.language]
    generated = {"search", "genindex", "py-modindex"}
    there = (Path(app.srcdir).parent / site["folder"] / f"{pagename}.md").is_file() or pagename in generated
    context["other_language"] = {
        "name": site["name"],
        "code": site["code"],
        "url": f"{context.get('content_root', './')}../{site['folder']}/{pagename if there else 'index'}.html",
    }
    context["notebook"] = None
    if pagename in NOTEBOOKS:
        context["notebook"] = {"name": site["notebook"], "url": f"notebooks/{pagename}.ipynb"}


class Theme(gettext.NullTranslations):
    """The theme's words, for what Sphinx's own catalogue lacks."""

    def gettext(self, message: str) -> str:
        """Return the Chinese of a message, or the message."""
        return CHINESE.get(message.strip(), message)


def translate_theme(app: Sphinx) -> None:
    """Add the theme's words to Sphinx's."""
    if app.config.language == "zh_CN":
        app.translator.add_fallback(Theme())


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""
    app.connect("builder-inited", translate_theme)
    app.connect("html-page-context", add_links)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
