"""Two languages, page by page: where the same page is in the other one, and which notebook a chapter is."""

import re
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

#: Language of a site: folder of the other one, its name there, and what a notebook is called here.
SITES = {
    "en": {"folder": "zh", "code": "zh-CN", "name": "中文", "notebook": "open as a notebook"},
    "zh_CN": {"folder": "en", "code": "en", "name": "English", "notebook": "下载为 notebook"},
}
CHAPTER = re.compile(r"\d\d-[\w-]+")


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
    if CHAPTER.fullmatch(pagename):
        context["notebook"] = {"name": site["notebook"], "url": f"notebooks/{pagename}.ipynb"}


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""
    app.connect("html-page-context", add_links)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
