"""The documentation is true: its Python runs, its links lead somewhere, its command lines exist."""

import ast
import importlib
import re
import runpy
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
from test_import_order import LEVELS

from dragoman.documents import FORMATS

ROOT = Path(__file__).resolve().parent.parent
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("lab/*.md"), *ROOT.glob(".github/**/*.md")])
BLOCK = re.compile(
    r"^(?:<!-- not executed: (?P<reason>[^\n]+?) -->\n+)?```(?P<language>\w+)[^\n]*\n(?P<code>.*?)^```$", re.M | re.S
)
LINK = re.compile(r"\[[^\]]*\]\((?P<target>[^)\s]+)[^)]*\)")
PATH = re.compile(r"(?<![\w/.-])(?:src|tests|recipes|docs|lab|benchmarks|\.ci|\.github)/[\w./-]*\w")

#: Pages whose Python needs PyTorch.
WITH_TORCH = tuple(f"docs/{folder}{page}.md" for folder in ("", "book/zh/") for page in ("guide/python", "inspection"))

each_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())


def blocks(page: Path, language: str) -> Iterator[re.Match[str]]:
    return (block for block in BLOCK.finditer(page.read_text(encoding="utf-8")) if block["language"] == language)


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(page, marks=[pytest.mark.torch] * name.startswith(WITH_TORCH), id=name)
        for page in PAGES
        for name in [page.relative_to(ROOT).as_posix()]
    ],
)
def test_python_runs(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("dragoman.documents.FORMATS", dict(FORMATS))  # a page adds one
    names: dict[str, object] = {"__name__": "__main__"}
    for block in blocks(page, "python"):
        # Empty lines in front: a traceback then names the line of the page.
        lines_before = block.string.count("\n", 0, block.start("code"))
        code = compile("\n" * lines_before + block["code"], str(page), "exec")
        if not block["reason"]:
            exec(code, names)


@each_page
def test_links_and_paths_exist(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    links = [link["target"].split("#")[0] for link in LINK.finditer(text) if not re.match(r"\w+:", link["target"])]
    missing = [name for name in links if not (page.parent / name).exists()]
    missing += [name for name in PATH.findall(text) if not (ROOT / name).exists()]
    assert not missing


def anchors(page: Path) -> set[str]:
    """The names of a page's headings, as GitHub and the site make them, and those that the page gives itself."""
    text = page.read_text(encoding="utf-8")
    if included := re.match(r"```{include} (\S+)\n", text):
        return anchors(page.parent / included[1])
    text = re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S)
    headings = re.findall(r"^#+ +(.*)", text, re.M)
    slugs = [re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings]
    return {*slugs, *re.findall(r"^\(([\w-]+)\)=$", text, re.M), *re.findall(r'<a id="([\w-]+)"', text)}


@each_page
def test_links_lead_to_headings(page: Path) -> None:
    links = [link["target"].partition("#") for link in LINK.finditer(page.read_text(encoding="utf-8"))]
    places = [(page.parent / name if name else page, place) for name, _, place in links if place and ":" not in name]
    assert [place for file, place in places if file.suffix == ".md" and place not in anchors(file)] == []


@pytest.mark.torch
def test_code_exists_that_pages_include_and_the_reference_names() -> None:
    included = re.compile(r"{literalinclude} (?P<path>\S+)\n(?::[^\n]+\n)*?:pyobject: (?P<name>\S+)")
    for page in PAGES:
        for found in included.finditer(page.read_text(encoding="utf-8")):
            file = page.parent / found["path"]
            names = {
                f"{node.name}.{part.name}"
                for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
                if isinstance(node, ast.ClassDef)
                for part in node.body
                if isinstance(part, ast.FunctionDef)
            }
            names |= {
                node.name
                for node in ast.parse(file.read_text(encoding="utf-8")).body
                if isinstance(node, ast.ClassDef | ast.FunctionDef)
            }
            assert found["name"] in names, (page, found["name"])
    reference = (ROOT / "docs/book/en/api.md").read_text(encoding="utf-8")
    for name in re.findall(r"^\.\. auto(?:class|function):: (\S+)", reference, re.M):
        module, _, attribute = name.rpartition(".")
        assert hasattr(importlib.import_module(module), attribute), name


def test_the_architecture_has_the_levels_of_the_import_order() -> None:
    rows = re.findall(r"^\| (\d+) \| (\*\*.*?\*\*) \|", (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8"), re.M)
    rooms = {(int(level), room) for level, names in rows for room in re.findall(r"\*\*(\w+)", names)}
    private = {"__init__", "__main__"}
    assert rooms == {(level, room) for level, rooms in enumerate(LEVELS, start=1) for room in rooms - private}
    drawing = (ROOT / "docs/images/architecture.svg").read_text(encoding="utf-8")
    drawn = set(re.findall(r"\w+", " ".join(re.findall(r'class="room"[^>]*>([^<]+)', drawing))))
    assert {room for _, room in rooms} <= drawn


@pytest.mark.parametrize("name", ["ARCHITECTURE.md", "docs/decisions.md"])
def test_modules_exist_that_the_architecture_names(name: str) -> None:
    names = re.findall(r"`(\w[\w/]*/(?:\w+\.\w+)?)`", (ROOT / name).read_text(encoding="utf-8"))
    assert len(names) > 1
    assert [each for each in names if not ((ROOT / "src" / "dragoman" / each).exists() or (ROOT / each).exists())] == []


@pytest.mark.parametrize(("name", "at_least"), [("docs/reliability.md", 50), ("SECURITY.md", 15)])
def test_tests_exist_that_the_promises_name(name: str, at_least: int) -> None:
    page = (ROOT / name).read_text(encoding="utf-8")
    sources = "".join(path.read_text(encoding="utf-8") for path in ROOT.glob("tests/**/test_*.py"))
    names = re.findall(r"`(test_\w+)(?:\[[^`]*)?`", page)
    assert len(names) > at_least
    assert [test for test in names if f"def {test}(" not in sources] == []


def test_the_readme_is_the_same_in_both_languages() -> None:
    """The same commands and code, but for comments; the same figures, links and files in the same order."""
    english, chinese = (ROOT / name for name in ("README.md", "README.zh.md"))

    def in_english(link: str) -> str:
        page = link.partition("#")[0]
        english = page.replace("docs/book/zh/", "docs/")
        return english if (ROOT / english).exists() else page.replace("/zh/", "/en/")

    def said(page: Path) -> list[list[str]]:
        text = page.read_text(encoding="utf-8")
        code = [re.sub(r"\s+#.*", "", block["code"]) for block in BLOCK.finditer(text)]
        rows = [line for line in text.split("\n") if line.startswith("|")]
        figures = [sorted(re.findall(r"\d[\d.,:]*\d|\d", row)) for row in rows]
        links = {in_english(link["target"]) for link in LINK.finditer(text)} - {english.name, chinese.name}
        files = re.findall(r"^ {4,}(\w[\w/]*(?:\.py(?:, \w+\.py)*|/))(?: |$)", text, re.M)
        return [code, *figures, sorted(links), files]

    for ours, theirs in zip(said(english), said(chinese), strict=True):
        assert ours == theirs
    assert f"]({chinese.name})" in english.read_text(encoding="utf-8")
    assert f"]({english.name})" in chinese.read_text(encoding="utf-8")


@pytest.mark.parametrize("address", ["", "https://example.org/us/dragoman"])
def test_the_readme_on_a_package_index_refers_to_no_file(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    description = runpy.run_path("setup.py")["description"]
    monkeypatch.setitem(description.__globals__, "ADDRESS", address)
    text = description()
    assert [link["target"] for link in LINK.finditer(text) if not link["target"].startswith("https:")] == []
    assert (f"]({address}/raw/main/docs/images/" in text) == bool(address)
    assert "pip install dragoman\n" in text
    assert "constraints.txt" not in text


def command_lines(script: str) -> Iterator[list[str]]:
    """The arguments of each `dragoman` in a shell script, whatever stands before it or behind it."""
    for line in script.replace("\\\n", " ").split("\n"):
        lexer = shlex.shlex(line.removeprefix("$ "), posix=True, punctuation_chars=True)
        lexer.whitespace_split = True
        arguments: list[str] | None = None
        for word in lexer:
            if re.fullmatch("[|;&()<>]+", word):
                if arguments is not None:
                    yield arguments
                arguments = None
            elif arguments is not None:
                arguments.append(word)
            elif word.rsplit("/")[-1] == "dragoman":
                arguments = []
        if arguments is not None:
            yield arguments


def unknown_words(arguments: list[str], command: Any) -> list[str]:
    """Sub-commands and options in `arguments` that the click command does not have."""
    options = {name: option for option in command.params for name in (*option.opts, *option.secondary_opts)}
    unknown = []
    words = iter(arguments)
    for word in words:
        if word == "--":
            break
        if word.startswith("-") and word not in {"-", "--help"}:
            name, equals, _ = word.partition("=")
            if name not in options:
                unknown.append(name)
            elif not equals and not options[name].is_flag:
                next(words, None)
        elif hasattr(command, "commands"):
            if word not in command.commands:
                return [*unknown, word]
            return unknown + unknown_words(list(words), command.commands[word])
    return unknown


@each_page
def test_command_lines_exist(page: Path) -> None:
    from dragoman.cli.program import build_app

    command = typer.main.get_command(build_app())
    lines = [arguments for block in blocks(page, "bash") for arguments in command_lines(block["code"])]
    problems = {shlex.join(arguments): unknown for arguments in lines if (unknown := unknown_words(arguments, command))}
    assert not problems


def test_the_tables_of_speed_are_those_of_the_results(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    import tables

    page = (ROOT / "docs" / "speed.md").read_text(encoding="utf-8")
    assert tables.filled(page) == page


def test_the_chart_of_speed_is_that_of_the_results(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    import chart

    assert chart.CHART.read_text(encoding="utf-8") == chart.drawn()
