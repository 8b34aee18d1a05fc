"""Checks of the finished site: nothing is fetched from elsewhere, and every link inside it leads somewhere.

That goes for its pages and its notebooks.
"""

import json
import re
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

#: Attributes that make a browser fetch something without being asked.
_FETCHED = {
    "script": ("src",),
    "link": ("href",),
    "img": ("src", "srcset"),
    "source": ("src", "srcset"),
    "iframe": ("src",),
    "video": ("src", "poster"),
    "audio": ("src",),
    "object": ("data",),
    "embed": ("src",),
    "use": ("href", "xlink:href"),
}
#: Markdown: code, in which brackets are no links; the target of a link; what only Sphinx understands.
_CODE = re.compile(r"^```.*?^```$|`[^`\n]+`", re.M | re.S)
_LINK = re.compile(r"\]\(([^)\s]+)\)")
_ROLE = re.compile(r"\{[\w:-]+\}`[^`]+`")
_CSS_ADDRESS = re.compile(r"""(?:url\(|@import)\s*["']?\s*(?:https?:)?//[^)"'\s]+""")


class Page(HTMLParser):
    """The files that a page fetches, its links, and its anchors."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.fetched: list[str] = []
        self.links: list[str] = []
        self.anchors: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note the files and links of a tag."""
        values = {name: value for name, value in attrs if value}
        self.anchors |= {values[name] for name in ("id", "name") if name in values}
        self.fetched += [values[name] for name in _FETCHED.get(tag, ()) if name in values]
        if tag == "a" and "href" in values:
            self.links.append(values["href"])


def problems(site: Path) -> list[str]:
    """Return one line for each file that is fetched from elsewhere, and for each broken link."""
    pages = {path: Page(path.read_text(encoding="utf-8")) for path in sorted(site.rglob("*.html"))}
    found = []
    for path, page in pages.items():
        name = path.relative_to(site).as_posix()
        found += [f"{name}: fetches {each}" for each in page.fetched if re.match(r"(?:https?:)?//", each)]
        found += [f"{name}: no {each}" for each in {*page.links, *page.fetched} if not _leads(path, each, pages)]
    for path in sorted(site.rglob("*.ipynb")):
        name = path.relative_to(site).as_posix()
        links, roles = _links_and_roles(path)
        found += [f"{name}: no {each}" for each in links if not _leads(path, each, pages)]
        found += [f"{name}: shows {each}" for each in roles]
    for path in [*site.rglob("*.css"), *site.rglob("*.html"), *site.rglob("*.svg")]:
        text = path.read_text(encoding="utf-8")
        found += [f"{path.relative_to(site).as_posix()}: fetches {each}" for each in _CSS_ADDRESS.findall(text)]
    return found


def _links_and_roles(notebook: Path) -> tuple[set[str], set[str]]:
    """Return the links in the text of a notebook, and the roles that only Sphinx understands."""
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    sources = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown"]
    links = {link for text in sources for link in _LINK.findall(_CODE.sub("", text))}
    return links, {role for text in sources for role in _ROLE.findall(text)}


def _leads(path: Path, link: str, pages: dict[Path, Page]) -> bool:
    """Return True if a link of the page at `path` leads out of the site or to a page and anchor that exist."""
    parts = urlsplit(link)
    if parts.scheme or parts.netloc:
        return True
    target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
    target = target / "index.html" if target.is_dir() else target
    if not target.exists():
        return False
    return not parts.fragment or target not in pages or unquote(parts.fragment) in pages[target].anchors
