"""How the book is built: answers under exercises, and notebooks that install what they need."""

import importlib.util
import subprocess
import sys
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
