"""The model stays small, docstrings begin plainly, and no two modules share a name."""

import ast
import io
import re
import tokenize
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src" / "dragoman"
FILES = {path.relative_to(SOURCE).as_posix(): path for path in sorted(SOURCE.rglob("*.py"))}
MAX_MODEL_LINES = 500
#: A docstring is an imperative sentence or a noun phrase.
BAD_BEGINNINGS = {"What", "Which", "Where", "Whether", "How", "That"}
#: Statements of the source that are no code.
LAYOUT = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}


@cache
def tree(name: str) -> ast.Module:
    return ast.parse(FILES[name].read_text(encoding="utf-8"))


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
