"""The cells of a page that runs. The tests run them, and `notebooks.py` makes notebooks of them."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

BOOK = Path(__file__).resolve().parent.parent
_FRONT = re.compile(r"\A---\n.*?\n---\n", re.S)
_CELL = re.compile(r"^```\{code-cell\}[^\n]*\n(?P<options>(?::[^\n]*\n)*)(?P<code>.*?)^```$", re.M | re.S)


@dataclass(frozen=True)
class Cell:
    """A piece of a page, and the line of the page it begins on, counted from 1.

    A hidden one is code that a page runs and does not show, and a notebook lacks: it has the tag `remove-cell`.
    """

    is_code: bool
    text: str
    line: int
    is_hidden: bool = False


def chapters(language: str) -> list[Path]:
    """The pages of a language that are chapters, in order."""
    return sorted((BOOK / language).glob("[0-9][0-9]-*.md"))


def pages_that_run(language: str) -> list[Path]:
    """The chapters, and the pages between them that have cells, too."""
    return [BOOK / language / f"{name}.md" for name in ("fifteen-minutes", "primer")] + [
        *chapters(language),
        *(
            BOOK / language / f"{name}.md"
            for name in ("why-attention", "five-translators", "one-sentence", "solutions")
        ),
    ]


def pages_of_the_book(language: str) -> list[str]:
    """Return the names of the pages that belong to the book, without the guide and the reference."""
    return [*(page.name for page in pages_that_run(language)), "index.md", "glossary.md", "teaching.md"]


def cells(page: Path) -> Iterator[Cell]:
    """The cells of a page in order, without its front matter."""
    text = page.read_text(encoding="utf-8")
    front = _FRONT.match(text)
    end = front.end() if front else 0
    for block in _CELL.finditer(text):
        yield from _prose(text, end, block.start())
        line = 1 + text.count("\n", 0, block.start("code"))
        yield Cell(True, block["code"].rstrip("\n"), line, is_hidden="remove-cell" in block["options"])
        end = block.end()
    yield from _prose(text, end, len(text))


def _prose(text: str, start: int, end: int) -> Iterator[Cell]:
    if prose := text[start:end].strip():
        yield Cell(False, prose, 1 + text.count("\n", 0, start))
