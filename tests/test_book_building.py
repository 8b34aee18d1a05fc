"""How the book is built: answers under exercises, notebooks that install what they need, and the book as a file."""

import importlib.util
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest
from extras import import_extra

BOOK = Path(__file__).resolve().parent.parent / "docs" / "book"
sys.path.insert(0, str(BOOK / "building"))


@pytest.fixture(params=["en", "zh"])
def language(request: pytest.FixtureRequest) -> str:
    return str(request.param)


class Commands:
    """The commands that a cell runs, without running them; `git clone` makes a folder."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.seen: list[list[str]] = []
        monkeypatch.setattr(subprocess, "run", self.run)

    def run(self, command: list[str], check: bool) -> None:
        assert check
        self.seen.append(command)
        if command[0] == "git":
            Path(command[-1], "docs/book/en").mkdir(parents=True)
            Path(command[-1], "docs/book/zh").mkdir()


@pytest.fixture
def commands(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Commands:
    monkeypatch.chdir(tmp_path)
    return Commands(monkeypatch)


def run_first_cell(language: str, repository: str = "") -> None:
    from hosted import first_cell

    code = first_cell(language)
    assert "\nrepository = ''  #" in code, "pyproject.toml has an address now: test that the cell does"
    exec(code.replace("repository = ''", f"repository = {repository!r}"), {})


def test_the_first_cell_does_nothing_where_dragoman_is_installed(commands: Commands, language: str) -> None:
    run_first_cell(language)
    assert commands.seen == []


def test_the_first_cell_installs_from_an_address(
    commands: Commands, language: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(SystemExit, match="dragoman"):
        run_first_cell(language)
    assert commands.seen == []
    run_first_cell(language, "https://example.org/dragoman.git")
    clone, install = commands.seen
    assert clone == ["git", "clone", "--depth", "1", "https://example.org/dragoman.git", "dragoman"]
    assert install[-1] == "./dragoman[train,plot]"
    assert Path.cwd() == tmp_path / "dragoman" / "docs" / "book" / language


def test_the_first_cell_installs_from_a_folder_which_is_no_package(
    commands: Commands, language: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "dragoman" / "docs" / "book" / language).mkdir(parents=True)
    elsewhere = [str(tmp_path), *(each for each in sys.path if not (Path(each) / "dragoman").is_dir())]
    monkeypatch.setattr(sys, "path", elsewhere)
    monkeypatch.setattr(sys, "meta_path", [each for each in sys.meta_path if "Editable" not in str(each)])
    for name in [name for name in sys.modules if name.split(".")[0] == "dragoman"]:
        monkeypatch.delitem(sys.modules, name)
    run_first_cell(language)
    (install,) = commands.seen
    assert install[1:4] == ["-m", "pip", "install"]
    assert Path.cwd() == tmp_path / "dragoman" / "docs" / "book" / language


def test_answers_are_cut_at_bold_numbers() -> None:
    nodes: Any = import_extra("docutils.nodes", "docs")
    import_extra("sphinx", "docs")
    from answers import answers

    def paragraph(*parts: Any) -> Any:
        made = nodes.paragraph()
        for part in parts:
            made += part if isinstance(part, nodes.Node) else nodes.Text(part)
        return made

    def bold(text: str) -> Any:
        return nodes.strong("", text)

    section = nodes.section()
    section += nodes.title("", "12. Training")
    section += paragraph("Before the first.")
    section += paragraph("", bold("1."), " One, ", bold("2."), " inside.")
    section += paragraph(bold("Bold"), " and more.")
    section += paragraph(bold("2."))
    section += nodes.literal_block("", "code")
    found = [[node.astext() for node in answer] for answer in answers(section)]
    assert found == [["Before the first.", "One, 2. inside.", "Bold and more."], ["code"]]


def test_pages_are_named_whose_english_has_changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import translated

    monkeypatch.setattr(translated, "ROOT", tmp_path)
    monkeypatch.setattr(translated, "BOOK", tmp_path / "docs" / "book")
    english, page = tmp_path / "docs" / "guide" / "train.md", tmp_path / "docs" / "book" / "zh" / "guide" / "train.md"
    for file, text in ((english, "# Train\n"), (page, "# 训练\n")):
        file.parent.mkdir(parents=True)
        file.write_text(text, encoding="utf-8")
    translated.mark(page)
    assert page.read_text(encoding="utf-8").endswith("\n\n# 训练\n")
    assert translated.outdated([page]) == []
    english.write_text("# Train longer\n", encoding="utf-8")
    assert translated.outdated([page]) == [
        "docs/book/zh/guide/train.md: docs/guide/train.md has changed since it was translated"
    ]
    translated.mark(page)
    assert translated.outdated([page]) == []
    assert page.read_text(encoding="utf-8").count("% translates") == 1


def test_a_chinese_page_includes_its_english_or_says_what_it_translates() -> None:
    from translated import english_of

    for page in sorted((BOOK / "zh").rglob("*.md")):
        english = english_of(page)
        if not english.is_file() or page == BOOK / "zh" / "index.md":
            continue
        first = page.read_text(encoding="utf-8").split("\n", 1)[0]
        name = english.relative_to(BOOK.parent.parent).as_posix()
        assert "{include}" in page.read_text(encoding="utf-8") or first.startswith(f"% translates {name} at "), page


def test_each_widget_becomes_a_figure_with_its_title(language: str) -> None:
    from chapters import pages_of_the_book
    from pictures import with_pictures

    seen = 0
    for name in pages_of_the_book(language):
        text = (BOOK / language / name).read_text(encoding="utf-8")
        blocks = text.count("\n```{widget}") + text.count("\n```{try-it}")
        figures = with_pictures(text, language)
        assert "```{widget}" not in figures, name
        assert "```{try-it}" not in figures, name
        titles = [line.removeprefix(":alt: ") for line in figures.splitlines() if line.startswith(":alt: ")]
        assert len(titles) == figures.count("\n```{figure} ../pictures/") == blocks, name
        assert all(titles), name
        seen += blocks
    assert seen >= 10


def test_what_introduces_a_box_with_a_translator_stays_above_its_picture() -> None:
    from pictures import with_pictures

    picture = "![a](../pictures/en/try_it.png)\n\n"
    page = f"Before.\n\n{picture}```{{try-it}} captions\n:example: A dog.\nIntroduced.\n```\n\nAfter.\n"
    figures = with_pictures(page, "en")
    assert figures.index("Before.") < figures.index("Introduced.") < figures.index("{figure}") < figures.index("After.")
    assert ":example:" not in figures


def test_pages_are_joined_with_links_and_anchors_of_their_own(tmp_path: Path) -> None:
    from one_page import joined

    items = "".join(f'<item id="{each}" href="{each}.xhtml"/>' for each in ("a", "b"))
    refs = '<itemref idref="b"/><itemref idref="a"/>'
    (tmp_path / "content.opf").write_text(
        f'<package xmlns="http://www.idpf.org/2007/opf"><manifest>{items}</manifest><spine>{refs}</spine></package>'
    )
    svg = (
        '<svg xmlns="http://www.w3.org/2000/svg" aria-labelledby="t"><title id="t"/><path marker-end="url(#t)"/></svg>'
    )
    for name, other in (("a", "b"), ("b", "a")):
        (tmp_path / f"{name}.xhtml").write_text(
            f'<html xmlns="http://www.w3.org/1999/xhtml"><head><title>T</title></head><body><p id="x">{name}</p>'
            f'<a href="{other}.xhtml#x"/><a href="{other}.xhtml"/><a href="#x"/><a href="https://example.org/#x"/>'
            f"<details><p>folded</p></details>{svg}</body></html>"
        )
    page = ET.parse(joined(tmp_path))
    ids = [each.attrib["id"] for each in page.iter() if "id" in each.attrib]
    assert ids == ["b", "b-x", "b-t", "a", "a-x", "a-t"]
    links = [each.attrib["href"] for each in page.iter() if "href" in each.attrib]
    assert links == ["#a-x", "#a", "#b-x", "https://example.org/#x", "#b-x", "#b", "#a-x", "https://example.org/#x"]
    uses = [each.get("aria-labelledby") or each.get("marker-end") for each in page.iter()]
    assert [each for each in uses if each] == ["b-t", "url(#b-t)", "a-t", "url(#a-t)"]
    details = [each for each in page.iter() if each.tag.endswith("details")]
    assert len(details) == 2
    assert all("open" in each.attrib for each in details)


@pytest.mark.parametrize("formula", [r"\operatorname{softmax}(s)_j", r"\tfrac12 + \tfrac{\frac12}{3}", r"a < b \& c"])
def test_formulas_are_xml_in_which_only_a_style_has_a_style(formula: str) -> None:
    import_extra("sphinx", "docs")
    from docutils.utils.math.latex2mathml import tex2mathml
    from mathml import as_xml

    made = ET.fromstring(as_xml(str(tex2mathml(formula))))
    assert "".join(made.itertext()).strip()
    assert all("displaystyle" not in each.attrib for each in made.iter() if each.tag.endswith("mfrac"))


def test_a_figure_is_described_by_its_words_without_numbers() -> None:
    import_extra("sphinx", "docs")
    from figure_texts import words

    outlined = '<g id="text_1">\n <!-- loss &amp; rate -->\n <g/></g><g id="text_2"><!-- 0.5 --></g>'
    assert words(f"<svg>{outlined}<text x='1'>步数</text><text>步数</text></svg>") == ["loss & rate", "步数"]
