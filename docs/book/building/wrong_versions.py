"""Wrong and right versions of the reader's file, and the table of what `dragoman check-file` says about the wrong ones.

`python docs/book/building/wrong_versions.py` writes the table into docs/guide/check-file.md.
"""

import ast
import tomllib
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from chapters import BOOK

from dragoman.doctor.lessons.readers_file import FileExamination, Result

FILE = BOOK / "transformer.py"
PAGE = BOOK.parent / "guide" / "check-file.md"
HEAD = "| chapter | the fault | what is said |\n|---|---|---|\n"


@dataclass(frozen=True)
class Wrong:
    """A wrong version: in its chapter's part, `new` stands in place of the first `old`; `says` must be said."""

    chapter: int
    fault: str
    old: str
    new: str
    says: str

    @property
    def source(self) -> str:
        """The whole file."""
        head, mark, rest = FILE.read_text(encoding="utf-8").partition(f"# -- Chapter {self.chapter}:")
        assert self.old in rest, self.fault
        return head + mark + rest.replace(self.old, self.new, 1)


def wrong_versions() -> list[Wrong]:
    """Return the wrong versions."""
    data = tomllib.loads((BOOK / "data" / "wrong.toml").read_text(encoding="utf-8"))
    return [Wrong(**each) for each in data["wrong"]]


def rewritings() -> dict[str, str]:
    """Return code that may replace the definitions of the same names, by a description."""
    data = tomllib.loads((BOOK / "data" / "rewritten.toml").read_text(encoding="utf-8"))
    return {each["how"]: each["code"] for each in data["rewritten"]}


def rewritten(source: str, code: str) -> tuple[str, set[str]]:
    """Return a file in which some definitions are replaced, and their names."""
    new = ast.parse(code).body
    names = {each.name for each in new if isinstance(each, ast.FunctionDef | ast.ClassDef)}
    body = ast.parse(source).body
    is_old = [isinstance(each, ast.FunctionDef | ast.ClassDef) and each.name in names for each in body]
    kept = [each for each, old in zip(body, is_old, strict=True) if not old]
    place = is_old.index(True)
    return ast.unparse(ast.Module([*kept[:place], *new, *kept[place:]], [])), names


def examination(source: str, path: Path = FILE) -> FileExamination:
    """Return the examination of a file that is given as text."""
    module = ModuleType("transformer")
    exec(compile(source, str(path), "exec"), module.__dict__)
    return FileExamination(module, path)


def faults(wrong: Wrong) -> list[Result]:
    """Return what is found wrong in the chapter of a wrong version."""
    return [result for result in examination(wrong.source).of(wrong.chapter) if result.state == "FAIL"]


def row(wrong: Wrong, found: list[Result]) -> str:
    """Return a row of the table: the first fault that has the words which must be said, or that nothing says them."""
    said = next((result.detail for result in found if wrong.says in result.detail), None)
    words = said or ("found, but not named" if found else "not found")
    return f"| {wrong.chapter} | {wrong.fault} | {words.replace('|', chr(92) + '|')} |\n"


def main() -> None:
    """Write the table."""
    table = HEAD + "".join(row(each, faults(each)) for each in wrong_versions())
    before, mark, _ = PAGE.read_text(encoding="utf-8").partition(HEAD)
    assert mark, "the page has no table"
    PAGE.write_text(before + table, encoding="utf-8")


if __name__ == "__main__":
    main()
