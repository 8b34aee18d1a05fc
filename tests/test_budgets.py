"""The house stays small: files, functions, arguments, the model, plain docstrings, and one name for one module."""

import ast
import io
import re
import tokenize
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src" / "dragoman"
FILES = {path.relative_to(SOURCE).as_posix(): path for path in sorted(SOURCE.rglob("*.py"))}
#: The most of each kind that needs no reason, and the most exceptions with a reason.
BUDGETS = {"file": 250, "function": 40, "arguments": 6}
MAX_EXCEPTIONS = 5
MAX_MODEL_LINES = 500
#: A docstring is an imperative sentence or a noun phrase.
BAD_BEGINNINGS = {"What", "Which", "Where", "Whether", "How", "That"}
#: Statements of the source that are no code.
LAYOUT = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}


@cache
def tree(name: str) -> ast.Module:
    return ast.parse(FILES[name].read_text(encoding="utf-8"))


def exceptions(kind: str) -> set[str]:
    """The places that the table of ARCHITECTURE.md excepts from a budget."""
    page = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8").partition("## Exceptions to the budgets")[2]
    return set(re.findall(rf"^\| {kind} \| `([^`]+)` \| .+ \|$", page, re.MULTILINE))


def sizes(kind: str) -> Iterator[tuple[str, int]]:
    """Each file or function with its size; commands in cli/ may have any number of options."""
    for name, path in FILES.items():
        if kind == "file":
            yield name, len(path.read_text(encoding="utf-8").splitlines())
            continue
        for node in ast.walk(tree(name)):
            if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                continue
            if kind == "function":
                assert node.end_lineno is not None
                yield f"{name}:{node.name}", node.end_lineno - node.lineno + 1
            elif not name.startswith("cli/"):
                names = [each.arg for each in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)]
                yield (
                    f"{name}:{node.name}",
                    len(names) - (names[:1] in (["self"], ["cls"], ["ctx"])),
                )  # ctx is PyTorch's


@pytest.mark.parametrize("kind", BUDGETS)
def test_only_what_architecture_names_is_over_its_budget(kind: str) -> None:
    """A place in the table that is small enough now is an error too, so that page and source cannot differ."""
    assert {place for place, size in sizes(kind) if size > BUDGETS[kind]} == exceptions(kind)
    assert len(exceptions(kind)) <= MAX_EXCEPTIONS


def docstrings(name: str) -> Iterator[ast.Expr]:
    """Docstrings of modules, classes, functions and attributes."""
    for node in ast.walk(tree(name)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            yield node


def test_the_model_is_small_with_all_its_variants() -> None:
    n_lines = 0
    for name, path in FILES.items():
        if name.startswith("model/"):
            lines: set[int] = set()
            for token in tokenize.generate_tokens(io.StringIO(path.read_text(encoding="utf-8")).readline):
                if token.type not in LAYOUT:
                    lines |= set(range(token.start[0], token.end[0] + 1))
            for node in docstrings(name):
                lines -= set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
            n_lines += len(lines)
    assert n_lines <= MAX_MODEL_LINES


def test_docstrings_begin_plainly() -> None:
    bad = []
    for name in FILES:
        for node in docstrings(name):
            assert isinstance(node.value, ast.Constant)
            word = re.search(r"\w+", str(node.value.value))
            if word is not None and word[0] in BAD_BEGINNINGS:
                bad.append(f"{name}:{node.lineno}")
    assert not bad


def test_no_two_modules_share_a_name() -> None:
    """Commands, which are named as people call them, may be named like a module that they use."""
    names = Counter(
        path.stem for name, path in FILES.items() if path.stem != "__init__" and not name.startswith("cli/")
    )
    assert not [name for name, n in names.items() if n > 1]
