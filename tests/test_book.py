"""The book is true: every chapter's cells run, in order, and both languages show the same code."""

import ast
import json
import random
import re
import sys
from itertools import compress
from pathlib import Path
from typing import Any

import pytest
from extras import import_extra

BOOK = Path(__file__).resolve().parent.parent / "docs" / "book"
sys.path.insert(0, str(BOOK / "building"))

from chapters import cells, chapters, pages_that_run  # noqa: E402

each_chapter = pytest.mark.parametrize("page", chapters("en"), ids=lambda page: page.stem)
each_page = pytest.mark.parametrize("page", pages_that_run("en"), ids=lambda page: page.stem)
#: Chinese pages whose corpus is English and Chinese, so that their code is their own.
OWN_CODE = ("fifteen-minutes", "01-the-task", "02-tokens-and-embeddings", "12-training", "14-evaluation")
CODE = [*pages_that_run("en"), *(page for page in pages_that_run("zh") if page.stem in OWN_CODE)]
#: Pages that train for 8 to 87 seconds of processor time; most others need less than one. `make thorough` runs them as
#: they are, `make test` with few steps: instead of these numbers, those. Most of the time of 17 is the doctor's, which
#: has tests of its own; the solutions are variations of code that their chapters run.
FEWER = {
    "12-training": {"500": "5", "350": "4", "200": "3", "100": "2", "50": "1"},
    "16-variants": {"n_steps=60": "n_steps=2"},
    "18-gpt-and-bert": {"n_steps=200": "n_steps=2", "n_steps=600": "n_steps=2"},
    "19-little-data": {"n_steps=400": "n_steps=20", "n_steps=800": "n_steps=20"},
    "23-in-service": {"n_steps=150": "n_steps=10", "n_requests=10_000": "n_requests=100"},
    "one-sentence": {"n_steps=600": "n_steps=2"},
}
TRAINED = {*FEWER, "17-faults", "solutions"}


def each_code(pages: list[Path], *marks: pytest.MarkDecorator) -> list[Any]:
    """Return pages as parameters of a test."""
    return [pytest.param(page, marks=marks, id=f"{page.parent.name}-{page.stem}") for page in pages]


LONG, SHORT = ([page for page in CODE if (page.stem in TRAINED) == is_long] for is_long in (True, False))

#: Chinese characters and marks.
CHINESE = re.compile(r"[\u3000-\u303f\u4e00-\u9fff\uff00-\uffef]")

#: A section of a paper, a version, an address, code.
NO_QUOTED_NUMBER = re.compile(r"(?<=[Ss]ection\s)\d\.\d|(?<=Python\s)\d\.\d+|\d\.\d 节|\]\(https?:[^)]*\)|`[^`\n]+`")
DECIMAL = re.compile(r"(?<![\w.,])\d[\d,]*\.\d+(?![\w.]*\w)", re.ASCII)


def section(text: str, line: int) -> int:
    """Return the number of chapters of a page of solutions that begin before a line."""
    return len(re.findall(r"^## \d+\. ", "\n".join(text.split("\n")[:line]), re.M))


def quoted_decimals(page: Path) -> set[tuple[int, str]]:
    """Return the decimals of the prose of a page, formulas included, each with its chapter of the solutions."""
    text = page.read_text(encoding="utf-8")
    found = set()
    for cell in cells(page):
        prose = "" if cell.is_code else NO_QUOTED_NUMBER.sub("", cell.text)
        for i, line in enumerate(prose.split("\n")):
            found |= {(section(text, cell.line + i), number) for number in DECIMAL.findall(line)}
    return found


def recorded_decimals() -> str:
    """Return all that is recorded: the curves and scores of runs, and the tables of the measured pages."""
    run = json.loads((BOOK / "data" / "multi30k.json").read_text(encoding="utf-8"))
    run.pop("attention")  # so many numbers that each short one is among them
    files = [BOOK / "data" / "choices.json", BOOK / "data" / "seeds.json", BOOK.parent / "results.md"]
    recipe = BOOK.parent.parent / "recipes" / "multi30k-en-de.yaml"
    return "\n".join([json.dumps(run), *(path.read_text(encoding="utf-8") for path in [*files, recipe])])


def is_shown(number: str, text: str) -> bool:
    """Return True if a number of the text is this one, or is this one when it is rounded to as many digits."""
    n_digits = len(number.partition(".")[2])
    known = {each.replace(",", "") for each in DECIMAL.findall(text)}
    return number.replace(",", "") in {f"{float(each):.{n_digits}f}" for each in known}


def run_cells(
    page: Path,
    place: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    fewer: dict[str, str] | None = None,
) -> dict[int, str]:
    """Run the cells of a page, and return the code and output of each chapter of the solutions.

    Args:
        place: the folder that models are saved in.
        fewer: numbers of steps in the page, each with the one to take instead.
    """
    matplotlib = import_extra("matplotlib", "plot")
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    monkeypatch.chdir(page.parent)
    monkeypatch.setenv("DRAGOMAN_BOOK_MODELS", str(place))
    monkeypatch.setattr(sys, "path", [*sys.path])  # some cells put the folder of the book's transformer.py there
    names: dict[str, object] = {"__name__": "__main__"}
    shown: dict[int, str] = {}
    text = page.read_text(encoding="utf-8")
    try:
        for cell in cells(page):
            if cell.is_code:
                code = cell.text
                for number_of_page, number_here in (fewer or {}).items():
                    code = re.sub(rf"\b{number_of_page}\b", number_here, code)
                # Empty lines in front: a traceback then names the line of the page.
                exec(compile("\n" * (cell.line - 1) + code, str(page), "exec"), names)
                number = section(text, cell.line)
                shown[number] = shown.get(number, "") + cell.text + capsys.readouterr().out
    finally:
        plt.close("all")
    return shown


@pytest.mark.filterwarnings("ignore:__array")  # of PyTorch, when a figure is drawn of a tensor
@pytest.mark.filterwarnings("ignore:Glyph")  # of Matplotlib, whose own font has no Chinese
@pytest.mark.parametrize("page", each_code([page for page in LONG if page.stem in FEWER]))
def test_cells_that_train_run_with_few_steps(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    fewer, text = FEWER[page.stem], page.read_text(encoding="utf-8")
    assert all(re.search(rf"\b{number}\b", text) for number in fewer)
    assert run_cells(page, tmp_path, monkeypatch, capsys, fewer)


@pytest.mark.filterwarnings("ignore:__array")  # of PyTorch, when a figure is drawn of a tensor
@pytest.mark.filterwarnings("ignore:Glyph")  # of Matplotlib, whose own font has no Chinese
@pytest.mark.parametrize("page", [*each_code(SHORT), *each_code(LONG, pytest.mark.thorough)])
def test_cells_run(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """And each decimal in the prose of a page is recorded, or stands in a cell of the page or its output."""
    from dragoman.exchange.model_file import model_file

    text = page.read_text(encoding="utf-8")
    shown = run_cells(page, tmp_path, monkeypatch, capsys)
    saved = [model_file(folder) for folder in tmp_path.iterdir() if folder.is_dir()]  # for the translator in the page
    assert [path.name for path in tmp_path.glob("*.json")] == re.findall("^:record: (.*)$", text, re.M)
    assert len(saved) == ("DRAGOMAN_BOOK_MODELS" in text)
    if page.stem == "fifteen-minutes":
        assert len(re.findall(r"^True$", shown[0], re.M)) == 2, "a part that is taken out does what the page says"
    if page.stem == "one-sentence":
        assert len(re.findall(r"True$", shown[0], re.M)) == 2, "its memory and logits are the model's"
    recorded = set(DECIMAL.findall(recorded_decimals()))
    languages = ("en", "zh") if page.stem not in OWN_CODE else (page.parent.name,)
    for language in languages:
        unknown = {
            (each, number)
            for each, number in quoted_decimals(BOOK / language / page.name)
            if number not in recorded and not is_shown(number, shown.get(each, ""))
        }
        assert not unknown, language


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_mistakes_that_a_solution_explains_are_in_the_recorded_translation(language: str) -> None:
    run = json.loads((BOOK / "data" / "multi30k.json").read_text(encoding="utf-8"))
    shown = f"{run['translations'][-1]['source']} {run['translations'][-1]['beam']}"
    paragraph = re.search(
        r"^\*Astronen\*.*?\n\n", (BOOK / language / "solutions.md").read_text(encoding="utf-8"), re.M | re.S
    )
    assert paragraph
    quoted = [" ".join(each.split()) for each in re.findall(r"\*([^*]+)\*", paragraph[0])]
    assert [each for each in quoted if each not in shown] == ["repariert"]  # which it left out


@pytest.mark.parametrize(
    ("language", "words"),
    [("en", ("cache", "heads", "padding", "future", "positions")), ("zh", ("缓存", "头", "填充", "未来", "位置"))],
)
def test_the_diagnoses_are_those_of_the_patients(language: str, words: tuple[str, ...]) -> None:
    text = (BOOK / language / "17-faults.md").read_text(encoding="utf-8")
    faults, seed = re.findall(r"^faults = \{(.*?)^\}.*?random\.Random\((\d+)\)", text, re.M | re.S)[0]
    names = re.findall(r'^    "([^"]+)": ', faults, re.M)
    patients = random.Random(int(seed)).sample(sorted(names), 5)
    known = "cache off by one", "heads mixed up", "padding attended", "future visible", "positions on batch axis"
    diagnoses = re.findall(r"^- \*\*[A-E]\*\*(.*)$", text, re.M)
    assert len(diagnoses) == 5
    for patient, diagnosis in zip(patients, diagnoses, strict=True):
        assert words[known.index(patient)] in diagnosis, patient


@pytest.mark.torch
def test_each_exhibit_fails_with_its_fault_and_holds_without_it() -> None:
    """Without the rest of the page, which takes the time of a dozen examinations."""
    first, *others = (cell.text for cell in cells(BOOK / "en" / "17-faults.md") if cell.is_code)
    made = [each for each in ast.parse(first).body if not isinstance(each, ast.Expr)]
    helper, *exhibits = (code for code in others if "exhibit(" in code)
    names: dict[str, Any] = {}
    exec(compile(ast.Module(made, []), "first cell", "exec"), names)
    exec(helper, names)
    exhibit = names["exhibit"]

    def show_and_exchange(holds: Any, wrong: Any, right: Any) -> None:
        exhibit(holds, wrong, right)
        with pytest.raises(AssertionError):
            exhibit(holds, wrong=right, right=wrong)

    names["exhibit"] = show_and_exchange
    for code in exhibits:
        exec(code, names)
    assert len(exhibits) == 21


def test_what_a_chapter_compares_was_measured() -> None:
    """The figure of chapter 19 has its numbers in its code."""
    text = (BOOK / "en" / "19-little-data.md").read_text(encoding="utf-8")
    (table,) = re.findall(r"^measured = \[.*?^\]", text, re.M | re.S)
    page = (BOOK.parent / "quality.md").read_text(encoding="utf-8")
    assert len(DECIMAL.findall(table)) == 12
    assert [number for number in DECIMAL.findall(table) if number not in DECIMAL.findall(page)] == []


def test_decimals_of_prose_are_found(tmp_path: Path) -> None:
    english = "1.5 and `2.5`, $3.25$, see section\n5.4 of [it](https://a.org/6.5)\n\n```{code-cell}\n4.5\n```\n\n"
    chinese = "论文 3.4 节，约1,005.5个，Python 3.11.2。8.5\n"
    (tmp_path / "page.md").write_text(f"## 1. A\n\n{english}## 2. B\n\n{chinese}", encoding="utf-8")
    assert quoted_decimals(tmp_path / "page.md") == {(1, "1.5"), (1, "3.25"), (2, "1,005.5"), (2, "8.5")}
    assert is_shown("36.8", "BLEU 36.79")
    assert is_shown("1,005.5", "1005.47")
    assert not is_shown("36.8", "BLEU 36.74, 3 of 8")


@each_chapter
def test_a_chapter_has_its_parts(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert "**The idea.**" in text
    assert "## Exercises" in text
    assert "plt.subplots" in text, "a figure"
    assert "{literalinclude}" in text, "the code of the repository, from its own file"
    is_before_primer = page == chapters("en")[0]
    assert ("$$" in text) != is_before_primer, "a formula, which waits for the primer"


@pytest.mark.parametrize("language", ["en", "zh"])
def test_no_formula_stands_before_the_primer(language: str) -> None:
    pages = re.findall(r"^[\w-]+$", (BOOK / language / "index.md").read_text(encoding="utf-8"), re.M)
    before = pages[: pages.index("primer")]
    assert before == ["fifteen-minutes", "01-the-task"]
    for name in before:
        prose = "".join(cell.text for cell in cells(BOOK / language / f"{name}.md") if not cell.is_code)
        assert "$" not in re.sub(r"^```.*?^```$", "", prose, flags=re.M | re.S), name


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_fold_says_what_is_inside(language: str) -> None:
    for page in chapters(language):
        summaries = re.findall(r'<details class="toolkit"><summary>(.*?)</summary>', page.read_text(encoding="utf-8"))
        assert all(re.search("[:：] *..", summary) for summary in summaries), page.name
        assert len(summaries) == len(set(summaries)), page.name


def parts(code: str) -> tuple[list[str], list[str]]:
    """Return the imports of some code, and its other statements."""
    body = ast.parse(code).body
    imports = [each for each in body if isinstance(each, ast.Import | ast.ImportFrom)]
    return [ast.dump(each) for each in imports], [ast.dump(each) for each in body if each not in imports]


@pytest.mark.parametrize("number", range(2, 13))
def test_what_the_reader_writes_is_the_chapters_part_of_the_file(number: int) -> None:
    """Cells that begin with `# transformer.py` are all of a chapter's part, in order, and import what the file does."""
    file = (BOOK / "transformer.py").read_text(encoding="utf-8")
    head, *sections = re.split(r"^# -- Chapter (\d+): .*\n", file.partition("# -- As a program")[0], flags=re.M)
    written = dict(zip(map(int, sections[::2]), sections[1::2], strict=True))
    (page,) = (each for each in chapters("en") if each.name.startswith(f"{number:02}-"))
    mine = "\n".join(each.text for each in cells(page) if each.is_code and each.text.startswith("# transformer.py\n"))
    imports, statements = parts(mine)
    assert statements == parts(written[number])[1]
    assert set(imports) <= set(parts(head)[0])


def strings_apart(code: str) -> tuple[str, list[str]]:
    """Return the tree of some code without the text of its strings, and this text; of an f-string, as one."""
    tree = ast.parse(code)
    strings = []
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            strings.append("".join(each.value if isinstance(each, ast.Constant) else "{}" for each in node.values))
            node.values = [each for each in node.values if not isinstance(each, ast.Constant)]
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            strings.append(node.value)
            node.value = ""
    return ast.dump(tree), strings


def is_own_code(code: str) -> bool:
    """Return True for a cell of a Chinese page that learns from Chinese where the English one learns from German."""
    return '"captions-zh"' in code


def test_the_chinese_pages_show_the_same_code_but_for_chinese_strings() -> None:
    """So a page runs once for both languages, and what holds of one holds of the other."""
    english = {page.name: page for page in pages_that_run("en")}
    for page in pages_that_run("zh"):
        if page.stem in OWN_CODE:
            continue
        ours, theirs = ([cell.text for cell in cells(each) if cell.is_code] for each in (page, english[page.name]))
        assert len(ours) == len(theirs), page.name
        same = [not is_own_code(code) for code in ours]
        ours, theirs = ([strings_apart(code) for code in compress(both, same)] for both in (ours, theirs))
        assert [tree for tree, _ in ours] == [tree for tree, _ in theirs], page.name
        for (_, mine), (_, original) in zip(ours, theirs, strict=True):
            changed = [a for a, b in zip(mine, original, strict=True) if a != b]
            assert [each for each in changed if not CHINESE.search(each)] == [], page.name


def test_cells_with_chinese_text_of_a_shared_page_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """With few steps, and with the cells of the same solutions that they need."""
    page = BOOK / "zh" / "solutions.md"
    texts = page.read_text(encoding="utf-8").split("\n## ")
    (chapter,) = (text for text in texts if is_own_code(text))
    (tmp_path / "zh").mkdir()
    (tmp_path / "transformer.py").write_text((BOOK / "transformer.py").read_text(encoding="utf-8"), encoding="utf-8")
    part = tmp_path / "zh" / page.name
    part.write_text(f"```{{code-cell}}\nimport torch\nfrom torch import nn\n```\n\n{chapter}", encoding="utf-8")
    shown = run_cells(part, tmp_path, monkeypatch, capsys, {"n_steps=200": "n_steps=2", "n_steps=400": "n_steps=2"})
    assert "（共 50 句）" in shown[0]


@pytest.mark.parametrize("language", ["en", "zh"])
def test_what_is_folded_opens_and_closes_between_two_cells(language: str) -> None:
    """A notebook shows each cell by itself; and in the chapters on the model, code of the toolkit is folded.

    A drawing never is: a reader who leaves the toolkit for later must not miss it.
    """
    toolkit = re.compile(r'<details class="toolkit">.*?</details>', re.S)
    for page in pages_that_run(language):
        for cell in cells(page):
            if not cell.is_code:
                marks = re.findall(r"^ *<(/?)details", cell.text, re.M)
                assert marks == ["", "/"] * (len(marks) // 2), f"{page.name}, in the text from line {cell.line} on"
    for page in (BOOK / language).glob("*.md"):
        assert not [fold for fold in toolkit.findall(page.read_text(encoding="utf-8")) if "{drawing}" in fold], (
            page.name
        )
    for page in chapters(language)[1:14]:
        text = toolkit.sub("", page.read_text(encoding="utf-8"))
        assert not re.findall(r"\{literalinclude\} (\S*/src/\S*)", text), page.name


def test_a_chinese_stop_stands_after_bold_words_and_never_inside() -> None:
    for page in (BOOK / "zh").rglob("*.md"):
        bold = [each for line in page.read_text(encoding="utf-8").split("\n") for each in line.split("**")[1::2]]
        assert [each for each in bold if re.search("[。：，；、？！]$", each)] == [], page.name


@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_exercise_has_its_solution(language: str) -> None:
    solved = re.split("^## ", (BOOK / language / "solutions.md").read_text(encoding="utf-8"), flags=re.M)[1:]
    for page, solutions in zip(chapters(language), solved, strict=True):
        title = re.search("^# (.*)$", page.read_text(encoding="utf-8"), re.M)
        exercises = re.findall(r"^(\d+)\. ", page.read_text(encoding="utf-8").rpartition("\n## ")[2], re.M)
        assert title
        assert solutions.startswith(title[1] + "\n"), page.name
        assert re.findall(r"^\*\*(\d+)\.\*\*", solutions, re.M) == exercises, page.name


@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_exercise_has_a_hint_and_every_chapter_asks_before_it_shows(language: str) -> None:
    for page in chapters(language):
        text, _, exercises = page.read_text(encoding="utf-8").rpartition("\n## ")
        for exercise in re.split(r"^(?=\d+\. )", exercises, flags=re.M)[1:]:
            assert exercise.count('<details class="hint">') == 1, f"{page.name}, {exercise[:40]}"
        asked = {"en": r"^\*\*Predict\.\*\* ", "zh": r"^\*\*先猜一猜\*\*："}[language]
        answered = r'(?:(?!\n\n).)*\n\n<details class="answer">.*?</details>\n\n```\{code-cell\}'
        n_asked = len(re.findall(asked, text, re.M))
        assert n_asked >= 2, page.name
        assert n_asked == len(re.findall(asked + answered, text, re.M | re.S)), page.name


@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_page_is_in_the_book(language: str) -> None:
    """The pages of docs/ have a place in the site, and every page is in the table of contents."""

    def names(folder: Path, pattern: str) -> set[str]:
        return {page.relative_to(folder).with_suffix("").as_posix() for page in folder.glob(pattern)}

    pages = names(BOOK / language, "**/*.md") - {"index"}
    lines = (BOOK / language / "index.md").read_text(encoding="utf-8").split("\n")
    listed = {line.rpartition("<")[2].rstrip("> ") for line in lines}  # "page", or "title <page>"
    assert pages <= listed
    assert names(BOOK.parent, "*.md") | names(BOOK.parent, "guide/*.md") <= pages


@each_page
def test_pages_open_as_notebooks(page: Path, tmp_path: Path) -> None:
    assert not [cell for cell in cells(page) if cell.is_code and "../.." in cell.text], "the site has no such file"
    nbformat = import_extra("nbformat", "docs")
    from hosted import first_cell
    from notebooks import write_notebook

    write_notebook(page, tmp_path)
    notebook = nbformat.read(tmp_path / f"{page.stem}.ipynb", as_version=4)
    nbformat.validate(notebook)
    prose = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")
    assert "{literalinclude}" not in prose
    assert "{code-cell}" not in prose
    assert "{drawing}" not in prose
    first, *others = (cell.source for cell in notebook.cells if cell.cell_type == "code")
    assert notebook.cells[0].source == first == first_cell("en")
    assert others == [cell.text for cell in cells(page) if cell.is_code and not cell.is_hidden]


@pytest.mark.parametrize("language", ["en", "zh"])
def test_notebooks_lead_somewhere_and_need_no_sphinx(language: str, tmp_path: Path) -> None:
    import_extra("nbformat", "docs")
    from check import problems
    from notebooks import write_notebook
    from test_docs_code import anchors

    for page in (BOOK / language).rglob("*.md"):
        place = (tmp_path / page.relative_to(BOOK / language)).with_suffix(".html")
        place.parent.mkdir(exist_ok=True)
        place.write_text("".join(f'<a id="{name}"></a>' for name in anchors(page)))
    (tmp_path / "notebooks").mkdir()
    for page in pages_that_run(language):
        write_notebook(page, tmp_path / "notebooks")
    assert problems(tmp_path) == []


def test_chinese_is_looked_up_by_pairs_of_characters() -> None:
    import_extra("sphinx", "docs")
    from chinese import split

    assert split("多头注意力 (multi-head)") == ["多头", "头注", "注意", "意力", "multi", "head"]
    assert split("词 BLEU 39.2") == ["词", "BLEU", "39", "2"]
    # What a reader looks for is found wherever it stands in a sentence.
    assert set(split("注意力")) <= set(split("解码器的注意力看不到未来"))


def test_what_the_site_must_not_have_is_found(tmp_path: Path) -> None:
    from check import problems

    (tmp_path / "style.css").write_text("@font-face { src: url(https://example.org/font.woff2) }")
    (tmp_path / "good.html").write_text('<h2 id="here">A</h2><a href="https://example.org">elsewhere is fine</a>')
    (tmp_path / "bad.html").write_text(
        '<script src="https://example.org/a.js"></script><img src="//example.org/b.png">'
        '<a href="good.html#here">1</a><a href="good.html#there">2</a><a href="none.html">3</a><a href="#">4</a>'
    )
    text = "[1](good.html#here) [2](gone.ipynb) [3](https://example.org) `x[0](y)` {py:class}`~a.B`\n\n```\n[4](z)\n```"
    (tmp_path / "a.ipynb").write_text(json.dumps({"cells": [{"cell_type": "markdown", "source": [text]}]}))
    found = problems(tmp_path)
    assert len(found) == 7
    pages = ("example.org/a.js", "example.org/b.png", "good.html#there", "none.html", "font.woff2")
    for part in (*pages, "gone.ipynb", "~a.B"):
        assert any(part in each for each in found), part


def test_recorded_data_is_that_of_its_page() -> None:
    from record_choices import DATA, rows, seeds

    for name, records in (("choices", rows()), ("seeds", seeds())):
        recorded = json.loads((DATA / f"{name}.json").read_text(encoding="utf-8"))
        assert recorded == records, "run docs/book/building/record_choices.py"
