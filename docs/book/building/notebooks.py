"""The chapters as notebooks, with what only Sphinx understands written out: code of the repository, notes."""

import ast
import re
import textwrap
from pathlib import Path

import nbformat
from chapters import cells, pages_that_run
from hosted import first_cell
from pictures import without_pictures

_INCLUDE = re.compile(r"^```\{literalinclude\} (?P<path>\S+)\n(?P<options>(?::[^\n]*\n)*)```$", re.M)
_DRAWING = re.compile(
    r"^```\{drawing\} (?P<name>[\w-]+)\n(?P<options>(?::[^\n]*\n)*)(?P<caption>.*?)^```$", re.M | re.S
)
_WIDGET = re.compile(r"^```\{(?:widget|try-it)\} [\w-]+\n(?:(?!```)[^\n]*\n)*```$", re.M)
_NOTE = re.compile(r"^:::\{(?P<kind>\w+)\}(?P<title>[^\n]*)\n(?P<body>.*?)^:::$", re.M | re.S)
_IN_THE_PAGE = {
    "en": "*(The page has something to play with here.)*",
    "zh": "*（网页版在这里有一个可以操作的小工具。）*",
}
_LINK = re.compile(r"\]\((?P<page>[\w/-]+)\.md(?P<anchor>#[\w-]+)?\)")
_ROLE = re.compile(r"\{[\w:-]+\}`(?:~(?:\w+\.)*)?(?P<text>[^`]+)`")  # after ~, a name without its modules


def write_notebook(page: Path, folder: Path) -> None:
    """Write the chapter `page` into `folder`, with its code not yet run, after a cell that installs dragoman."""
    notebook = nbformat.v4.new_notebook()
    notebook.metadata["kernelspec"] = {"display_name": "Python 3", "language": "python", "name": "python3"}
    notebook.cells.append(nbformat.v4.new_code_cell(first_cell(page.parent.name), id="install"))
    for number, cell in enumerate(each for each in cells(page) if not each.is_hidden):
        new = nbformat.v4.new_code_cell if cell.is_code else nbformat.v4.new_markdown_cell
        made = new(cell.text if cell.is_code else _plain(cell.text, page))
        made["id"] = f"cell-{number}"  # the same chapter is the same file
        notebook.cells.append(made)
    nbformat.validate(notebook)
    (folder / f"{page.stem}.ipynb").write_text(nbformat.writes(notebook), encoding="utf-8")


def _plain(text: str, page: Path) -> str:
    """Return Markdown that Jupyter understands."""
    text = without_pictures(text)
    text = _WIDGET.sub(_IN_THE_PAGE[page.parent.name], text)
    text = _INCLUDE.sub(lambda found: _source(found, page.parent), text)
    text = _DRAWING.sub(lambda found: _drawing(found, page), text)
    text = _NOTE.sub(
        lambda found: textwrap.indent(f"**{found['title'].strip() or 'Note'}**\n\n{found['body']}", "> "), text
    )
    text = _ROLE.sub(lambda found: f"`{found['text']}`", text)
    return _LINK.sub(_link, text)


def _link(found: re.Match[str]) -> str:
    """Return a link to the notebook beside this one, or to a page of the site, a folder above."""
    is_notebook = found["page"] in {page.stem for page in pages_that_run("en")}
    target = f"{found['page']}.ipynb" if is_notebook else f"../{found['page']}.html"
    return f"]({target}{found['anchor'] or ''})"


def _drawing(found: re.Match[str], page: Path) -> str:
    """Return a link to the page that has the drawing, and the caption. The map at a page's head is left out."""
    if found["name"] == "map":
        return ""
    link = {"en": "The drawing is on the page.", "zh": "图在网页上。"}[page.parent.name]
    return f"[{link}](../{page.stem}.html)\n\n{found['caption']}".strip()


def _source(found: re.Match[str], folder: Path) -> str:
    """Return a block of code: the object or the lines that a literalinclude names, or the whole file."""
    path = folder / found["path"]
    options = dict(re.findall(r"^:([\w-]+): ?(.*)$", found["options"], re.M))
    source = path.read_text(encoding="utf-8")
    shown = source if "pyobject" not in options else _object(source, options["pyobject"])
    if "start-at" in options:
        start = shown.rindex("\n", 0, shown.index(options["start-at"])) + 1
        shown = shown[start : shown.index(options["end-before"], start)]
    code = textwrap.dedent(shown).rstrip()
    return f"*{options.get('caption', path.name)}*\n\n```{options.get('language', 'python')}\n{code}\n```"


def _object(source: str, name: str) -> str:
    """Return the lines of a function or class, by its dotted name."""
    body: list[ast.stmt] = ast.parse(source).body
    for part in name.split("."):
        node = next(each for each in body if isinstance(each, ast.FunctionDef | ast.ClassDef) and each.name == part)
        body = node.body
    first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
    return "\n".join(source.split("\n")[first - 1 : node.end_lineno])
