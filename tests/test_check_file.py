"""The check of a reader's file finds wrong versions and names their faults, and lets right ones pass."""

from __future__ import annotations

import json
import re
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest

from dragoman.cli import check_file
from dragoman.cli.program import run
from dragoman.errors import DataError

pytestmark = pytest.mark.torch

ROOT = Path(__file__).resolve().parent.parent
BOOK = ROOT / "docs" / "book"
sys.path.insert(0, str(BOOK / "building"))

from chapters import cells, chapters  # noqa: E402
from wrong_versions import (  # noqa: E402
    FILE,
    PAGE,
    Wrong,
    examination,
    faults,
    rewritings,
    rewritten,
    row,
    wrong_versions,
)

from dragoman.doctor.lessons import readers_file  # noqa: E402
from dragoman.doctor.lessons.chapter_checks import CHAPTERS, WRITTEN_IN  # noqa: E402

WRONG, REWRITINGS = wrong_versions(), rewritings()
LATER = range(check_file.FIRST, check_file.LAST + 1)


def up_to(chapter: int) -> str:
    """Return the book's file as a reader has it after a chapter."""
    source = FILE.read_text(encoding="utf-8")
    return source.partition(f"# -- Chapter {chapter + 1}:" if chapter < 12 else "# -- As a program")[0]


@pytest.mark.parametrize("wrong", WRONG, ids=lambda wrong: wrong.fault.replace(" ", "-"))
def test_a_wrong_version_is_found_and_its_fault_is_named(wrong: Wrong) -> None:
    found = faults(wrong)
    assert found
    assert wrong.says in " ".join(result.detail for result in found)
    assert row(wrong, found) in PAGE.read_text(encoding="utf-8"), "run docs/book/building/wrong_versions.py"


def test_there_are_many_wrong_versions_of_each_chapter() -> None:
    assert len({(wrong.chapter, wrong.old, wrong.new) for wrong in WRONG}) == len(WRONG) >= 60
    assert {wrong.chapter for wrong in WRONG} == set(LATER)
    assert len(REWRITINGS) >= 10


def together() -> str:
    """Return the file with all rewritings that can stand in one; the last of each name counts."""
    source = FILE.read_text(encoding="utf-8")
    for code in REWRITINGS.values():
        source, _ = rewritten(source, code)
    return source


@pytest.mark.parametrize("how", REWRITINGS)
def test_a_right_version_passes_however_it_is_written(how: str) -> None:
    source, names = rewritten(FILE.read_text(encoding="utf-8"), REWRITINGS[how])
    examined = examination(source)
    changed = {WRITTEN_IN[name] for name in names & WRITTEN_IN.keys()}
    numbers = changed | {10} if max(changed) < 12 else changed
    results = [result for number in sorted(numbers) for result in examined.of(number)]
    assert [result for result in results if result.state != "ok"] == []


def test_the_whole_file_of_rewritings_passes_and_learns(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """In its own process, with all that a person sees."""
    path = tmp_path / "mine.py"
    path.write_text(f"print('what the file prints is dropped')\n{together()}", encoding="utf-8")
    assert run(["check-file", str(path)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[-1] == "All chapters are right: your Transformer is complete."
    assert all(len(line) <= 80 for line in lines)
    assert sum(line.startswith("    ok ") for line in lines) == sum(len(chapter.checks) for chapter in CHAPTERS)


def results_of(
    source: str, tmp_path: Path, chapter: int | None = None, limit_s: float = 60.0
) -> Iterator[readers_file.Result]:
    path = tmp_path / "transformer.py"
    path.write_text(source, encoding="utf-8")
    examined = readers_file.FileExamination(readers_file.load(path), path, limit_s)
    for number in [chapter] if chapter else examined.begun:
        yield from examined.of(number)


@pytest.mark.parametrize("chapter", [2, 8, 10])
def test_a_file_is_right_as_far_as_it_goes(chapter: int, tmp_path: Path) -> None:
    """Chapter 8 comes before the norm that it uses."""
    results = list(results_of(up_to(chapter), tmp_path))
    assert {result.state for result in results} == {"ok"}
    assert results[-1].chapter == chapter


def test_what_is_missing_says_which_chapter_writes_it(tmp_path: Path) -> None:
    source = up_to(5).replace("def attend(", "def attention(").replace("class Embedding", "class Embeddings")
    results = list(results_of(source, tmp_path))
    missing = {result.chapter: result.demand for result in results if "is missing" in result.detail}
    assert missing.keys() == {2, 4}
    assert "`attend`" in missing[4]
    assert [result.detail for result in results if result.chapter == 5] == ["it uses chapter 4, which has a fault"]
    assert all(result.state == "ok" for result in results if result.chapter == 3)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("queries @ keys.transpose(-2, -1)", "queries @ keys", r"line \d+: RuntimeError: "),
        ("math.sqrt(queries", "maths.sqrt(queries", r"line \d+: NameError: name 'maths' is not defined$"),
        ("import math\n", "", r"line \d+: NameError: .*; write `import math` at the top"),
        ("    weights = ", "    while True:\n        pass\n    weights = ", r"line \d+: it does not end within 0.5 s"),
        ("    weights = ", "    raise SystemExit(3)\n    weights = ", r"line \d+: SystemExit: 3"),
        ("return weights @ values", "return (weights @ values).tolist()", "is no tensor"),
    ],
)
def test_an_error_is_one_line_with_its_place(old: str, new: str, said: str, tmp_path: Path) -> None:
    source = up_to(4)
    assert old in source
    results = results_of(source.replace(old, new), tmp_path, 4, 0.5 if "while" in new else 60.0)
    first = next(result for result in results if result.state != "ok")
    assert re.match(said, first.detail) or said in first.detail
    assert "\n" not in first.detail
    if place := re.match(r"line (\d+)", first.detail):
        assert re.search("scores =|while|pass|raise", source.replace(old, new).splitlines()[int(place[1]) - 1])


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("import math\nx = (1,\n", r"never closed\): \S+transformer.py:2; "),
        ("PAD = 0\n\nnumber = 1 / 0\n", r"ZeroDivisionError: division by zero\): \S+transformer.py:3; "),
        ("class A(nn.Module):\n    pass\n", r"; write `from torch import nn` at the top\): \S+transformer.py:1; "),
        ("while True:\n    pass\n", r"within 0.2 seconds: is there a loop without an end\?\): \S+transformer.py:\d; "),
        ("raise SystemExit\n", r"SystemExit\): \S+transformer.py:1; "),
        ("x = 1\n", "none of the names of the book"),
        ("\0", "Python cannot read the file"),
    ],
)
def test_a_file_that_does_not_run_is_refused_in_one_line(source: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "transformer.py"
    path.write_text(source, encoding="utf-8")
    with pytest.raises(DataError) as error:
        readers_file.load(path, 0.2)
    assert re.search(said, error.value.message)
    assert "\n" not in error.value.message


def test_the_error_of_a_file_is_wrapped_like_the_results(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("transformer.py").write_text("class A(nn.Module):\n    pass\n", encoding="utf-8")
    with pytest.raises(DataError) as error:
        readers_file.load(Path("transformer.py"))
    assert run(["check-file", "transformer.py"]) == 1
    said = capsys.readouterr().err
    assert len(error.value.message) > 80
    assert all(len(line) <= 80 for line in said.splitlines())
    assert " ".join(said.split()) == f"error: {error.value.message}"


def test_files_that_are_no_text_are_refused(tmp_path: Path) -> None:
    (tmp_path / "binary.py").write_bytes(b"\xff\xfe\xfa")
    (tmp_path / "folder").mkdir()
    for name in ("none.py", "binary.py", "folder"):
        with pytest.raises(DataError, match=f"{name}; give"):
            readers_file.load(tmp_path / name)


def test_a_cell_that_imports_from_the_file_itself_does_no_harm(tmp_path: Path) -> None:
    """Readers copy it along with the cells that belong to the file."""
    cell = 'import sys\nsys.path.append("..")\nfrom transformer import attend\n'
    results = list(results_of(up_to(4) + cell + up_to(5).removeprefix(up_to(4)), tmp_path, 5))
    assert {result.state for result in results} == {"ok"}


def test_a_file_that_ends_the_process_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "transformer.py"
    path.write_text(f"{up_to(2)}\ndef sinusoidal_table(n, d):\n    import os\n    os._exit(7)\n", encoding="utf-8")
    with pytest.raises(DataError, match=r"process that checks it, in the check `the table is the formula's`"):
        list(check_file._rows(path, None))


def test_a_file_with_a_byte_order_mark_is_read_as_python_reads_it(tmp_path: Path) -> None:
    path = tmp_path / "transformer.py"
    path.write_text(up_to(2), encoding="utf-8-sig")
    assert readers_file.load(path).PAD == 0


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("(ids != PAD)[", "(ids > 1)[", "the numbers differ from the formula's by up to 1"),
        ("sublayer(self.norm(x))", "sublayer(self.dropout(self.norm(x)))", "dropout acts on what the part reads"),
    ],
)
def test_a_fault_without_a_wrong_version_is_told_plainly(old: str, new: str, says: str, tmp_path: Path) -> None:
    source = FILE.read_text(encoding="utf-8")
    assert source.count(old) == 1
    chapter = 6 if "PAD" in old else 8
    assert says in " ".join(each.detail for each in results_of(source.replace(old, new), tmp_path, chapter))


def fixed_rows(*rows: dict[str, object]) -> Iterator[dict[str, object]]:
    yield from rows


def test_a_misspelt_name_is_found_without_a_chapter_too(tmp_path: Path) -> None:
    results = list(results_of(up_to(4).replace("def attend(", "def atend("), tmp_path))
    assert (results[-1].chapter, results[-1].detail) == (4, "it is missing; should `atend` be it?")


def test_what_does_not_end_is_waited_for_once_in_a_chapter(tmp_path: Path) -> None:
    source = up_to(4).replace("    weights = ", "    while True:\n        pass\n    weights = ")
    results = list(results_of(source, tmp_path, 4, 0.3))
    assert [result.state for result in results] == ["FAIL", "-"]
    assert "is there a loop without an end?" in results[0].detail


def test_a_translation_may_read_the_words_themselves(tmp_path: Path) -> None:
    old = "return target_words.text(written)"
    assert old in up_to(12)
    new = 'return " ".join(target_words.words[id] for id in written if id not in (PAD, START, END))'
    results = list(results_of(up_to(12).replace(old, new), tmp_path, 12))
    assert {result.state for result in results if result.demand.startswith("translate")} == {"ok"}


def test_a_gradient_is_not_blamed_for_a_wrong_result(tmp_path: Path) -> None:
    source = up_to(4).replace(" / math.sqrt(queries.size(-1))", "")
    details = [result.detail for result in results_of(source, tmp_path, 4) if result.state == "FAIL"]
    assert "root of K" in details[0]
    assert "mend the result first" in details[-1]
    assert not any("detach" in detail for detail in details)


def test_the_norm_that_stands_in_until_chapter_9_is_taken_away_again(tmp_path: Path) -> None:
    path = tmp_path / "transformer.py"
    path.write_text(up_to(8), encoding="utf-8")
    module = readers_file.load(path)
    assert {result.state for result in readers_file.FileExamination(module, path).of(8)} == {"ok"}
    assert not hasattr(module, "LayerNorm")


def test_each_demand_is_announced_before_it_is_checked(tmp_path: Path) -> None:
    path = tmp_path / "transformer.py"
    path.write_text(up_to(4), encoding="utf-8")
    events: list[str] = []
    examined = readers_file.FileExamination(readers_file.load(path), path, begin=events.append)
    for result in examined.of(4):
        assert events[-1] == result.demand
    assert len(events) == 4


def test_an_option_without_its_value_points_to_the_commands_own_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["check-file", "transformer.py", "--chapter"]) == 2
    assert "see `dragoman check-file --help`" in capsys.readouterr().err
    assert run(["check-file", "--help"]) == 0
    assert "{" not in capsys.readouterr().out


def test_what_repeats_itself_is_said_once_to_people_and_whole_to_programs(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    row = {"chapter": 5, "title": "Heads", "demand": "it holds", "state": "FAIL", "detail": "heads are mixed"}
    monkeypatch.setattr(check_file, "_rows", lambda *_: fixed_rows(row, row, {"last": 5}))
    run(["check-file", "transformer.py"])
    said = capsys.readouterr().out
    assert said.count("heads are mixed") == said.count("the same") == 1
    run(["check-file", "transformer.py", "--json"])
    assert capsys.readouterr().out.count("heads are mixed") == 2


@pytest.mark.parametrize(
    ("states", "chapter", "last", "code", "said"),
    [
        (("ok", "ok"), None, 5, 0, "Chapters 2 to 5 are right. Chapter 6 comes next."),
        (("ok",), 5, 8, 0, "Chapter 5 is right."),
        (("ok", "FAIL"), None, 5, 1, "1 fault."),
        (("FAIL", "FAIL"), None, 5, 1, "2 faults. Mend the first one first: others may follow from it."),
        (("-",), 5, 5, 1, "Not checked."),
        (("ok",), None, 2, 0, "Chapter 2 is right. Chapter 3 comes next."),
    ],
)
def test_the_verdict_and_the_exit_code(
    states: tuple[str, ...],
    chapter: int | None,
    last: int,
    code: int,
    said: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    rows = [{"chapter": 5, "title": "Heads", "demand": "it holds", "state": each, "detail": ""} for each in states]
    monkeypatch.setattr(check_file, "_rows", lambda *_: fixed_rows(*rows, {"last": last}))
    arguments = ["check-file", "transformer.py", *([] if chapter is None else ["--chapter", str(chapter)])]
    assert run(arguments) == code
    assert capsys.readouterr().out.splitlines()[-1] == said
    assert run([*arguments, "--json"]) == code
    assert [json.loads(line) for line in capsys.readouterr().out.splitlines()] == rows


def test_a_chapter_that_adds_nothing_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["check-file", "transformer.py", "--chapter", "13"]) == 2
    assert "choose one from 2 to 12" in capsys.readouterr().err
    assert {chapter.number for chapter in CHAPTERS} == set(range(check_file.FIRST, check_file.LAST + 1))


def test_the_exhibits_exist_that_messages_name() -> None:
    headings = re.findall(r"^###? (.*)$", (BOOK / "en" / "17-faults.md").read_text(encoding="utf-8"), re.M)
    sources = (ROOT / "src" / "dragoman" / "doctor" / "lessons").glob("*.py")
    text = "".join(re.sub(r"\"\n *'|'\n *\"|\\(?=')", "", path.read_text(encoding="utf-8")) for path in sources)
    named = set(re.findall(r'\(chapter 17: "([^"{]+)"\)', text))
    assert len(named) > 12
    assert named - set(headings) == set()


@pytest.mark.parametrize("language", ["en", "zh"])
def test_each_chapter_that_adds_to_the_file_says_how_to_check_it(language: str) -> None:
    for page in chapters(language):
        number = int(page.name[:2])
        commands = re.findall(r"dragoman check-file transformer.py --chapter (\d+)", page.read_text(encoding="utf-8"))
        assert commands == ([str(number)] if number in LATER else []), page.name


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_report_that_chapter_2_shows_is_the_real_one(language: str) -> None:
    page = chapters(language)[1].read_text(encoding="utf-8")
    wrong = next(each for each in WRONG if each.fault == "embedding without the root of D")
    results = examination(wrong.source).of(2)
    rows = [
        check_file._entry({"state": result.state, "demand": result.demand, "detail": result.detail})
        for result in results
    ]
    shown = textwrap.dedent(page.partition("```text\n 2  Tokens and embeddings\n")[2].partition("```")[0])
    assert shown == textwrap.dedent("\n".join(rows)) + "\n"


@pytest.mark.parametrize("number", [5, 6, 8, 10, 11, 12])
def test_a_chapter_imports_from_the_readers_file_if_it_is_there(
    number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From a file that ends before the chapter; without one, from the finished file."""
    page = chapters("en")[number - 1]
    pattern = "from torch.nn import LayerNorm" if number == 8 else r'sys.path.append\("\.\."\)'
    code = next(cell.text for cell in cells(page) if cell.is_code and re.search(pattern, cell.text))
    folder = tmp_path / "en"
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.delitem(sys.path_importer_cache, "..", raising=False)  # Python remembers another test's
    (tmp_path / "transformer.py").write_text(f"{up_to(12)}\nOWNER = 'book'\n", encoding="utf-8")
    for owner in ("book", "reader"):
        if owner == "reader":
            (folder / "transformer.py").write_text(f"{up_to(number - 1)}\nOWNER = 'reader'\n", encoding="utf-8")
        others = [each for each in sys.path if not (Path(each) / "transformer.py").exists()]
        monkeypatch.setattr(sys, "path", ["", *others])
        monkeypatch.delitem(sys.modules, "transformer", raising=False)
        names: dict[str, object] = {}
        exec(code, names)
        if number != 8:  # it uses the norm of the next chapter, for which PyTorch's stands in
            assert owner == sys.modules["transformer"].OWNER
    monkeypatch.delitem(sys.modules, "transformer", raising=False)
