"""The book is true: every chapter's cells run, in order, and both languages show the same code."""

import ast
import sys
from pathlib import Path

import pytest

BOOK = Path(__file__).resolve().parent.parent / "docs" / "book"
sys.path.insert(0, str(BOOK / "building"))

from chapters import cells, chapters  # noqa: E402

each_chapter = pytest.mark.parametrize("page", chapters("en"), ids=lambda page: page.stem)


@pytest.mark.filterwarnings("ignore:__array")  # of PyTorch, when a figure is drawn of a tensor
@each_chapter
def test_cells_run(page: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    matplotlib = pytest.importorskip("matplotlib", reason="needs the extra `plot`")
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    monkeypatch.chdir(page.parent)
    names: dict[str, object] = {"__name__": "__main__"}
    try:
        for cell in cells(page):
            if cell.is_code:
                # Empty lines in front: a traceback then names the line of the page.
                exec(compile("\n" * (cell.line - 1) + cell.text, str(page), "exec"), names)
    finally:
        plt.close("all")


@each_chapter
def test_a_chapter_has_its_parts(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert "**The idea.**" in text
    assert "## Exercises" in text
    assert "plt.subplots" in text, "a figure"
    assert "{literalinclude}" in text, "the code of the repository, from its own file"
    assert "$$" in text, "a formula"


def test_the_chinese_chapters_show_the_same_code() -> None:
    """So a chapter runs once for both languages, and what holds of one holds of the other."""
    english = {page.name: page for page in chapters("en")}
    for page in chapters("zh"):
        ours = [ast.dump(ast.parse(cell.text)) for cell in cells(page) if cell.is_code]
        theirs = [ast.dump(ast.parse(cell.text)) for cell in cells(english[page.name]) if cell.is_code]
        assert ours == theirs, page.name


@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_page_is_in_the_book(language: str) -> None:
    """The pages of docs/ have a place in the site, and every page is in the table of contents."""
    pages = {page.stem for page in (BOOK / language).glob("*.md")} - {"index"}
    listed = {line.strip() for line in (BOOK / language / "index.md").read_text(encoding="utf-8").split("\n")}
    assert pages <= listed
    assert {page.stem for page in BOOK.parent.glob("*.md")} <= pages
