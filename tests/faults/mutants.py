"""G14: how many small mistakes, planted in the modules that guard files and settings, the fast tests notice.

A program of its own: it imports PyTorch and pytest once and tries each mutant in a fork, which imports the package with
one module changed and runs the tests of that module until the first one fails. A mutant on which the tests end by a
signal or hang counts as killed. Prints each survivor and the share killed.

    python mutants.py 200                     # so many of all mutants, chosen by the seed
    python mutants.py 50 --module folders     # of one module
    python mutants.py 1 --show folders:17     # what one mutant is, and how the tests take it
"""

from __future__ import annotations

import argparse
import ast
import collections
import contextlib
import copy
import importlib
import itertools
import os
import random
import resource
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from types import CodeType
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
STORAGE = ("files", "folders", "json_files", "pointers")
SECTIONS = [f"{section}_config" for section in ("data", "tokenizer", "model", "training", "search")]
SETTINGS = ["recipe", "yaml_loader", "parsing", "sections", "config", *SECTIONS]
#: Each module, and the tests that concern it, the quick ones first.
MODULES = {
    **{name: (f"dragoman.machine.{name}", ("tests/test_storage.py", "tests/test_checkpoint.py")) for name in STORAGE},
    "locks": ("dragoman.machine.locks", ("tests/test_locks.py",)),
    "checkpoint": ("dragoman.training.checkpoint", ("tests/test_checkpoint.py",)),
    **{name: (f"dragoman.bundle.{name}", ("tests/test_bundle.py",)) for name in ("bundle", "finding", "format")},
    **{name: (f"dragoman.settings.{name}", ("tests/test_config.py",)) for name in SETTINGS},
}
#: What the tests import besides the package: once, not in each fork.
PRELOADED = (
    *("hypothesis", "safetensors.torch", "pydantic.main", "yaml", "sentencepiece", "sacrebleu", "sacremoses", "typer"),
    *("rich.console", "rich.progress", "rich.table", "torch.testing", "torch.distributed"),
)
GOAL = 0.85
#: Longest times for the tests of one module, in seconds of the processor and by the clock. The latter is for those that
#: wait for ever, and long: that a machine is busy must not count as a mutant that was noticed.
PROCESSOR_PATIENCE, PATIENCE = 180, 1800

COMPARISONS: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}
ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.FloorDiv,
    ast.FloorDiv: ast.Mult,
    ast.Div: ast.Mult,
    ast.Mod: ast.FloorDiv,
    ast.Pow: ast.Mult,
}


@dataclass(frozen=True)
class Mutant:
    module: str
    number: int  # among the module's, in the order of the file
    line: int
    what: str
    tree: ast.Module


def changes(node: ast.AST) -> Iterator[tuple[str, Callable[[Any], ast.AST]]]:
    """Yield the possible changes of one node: in words, and a function that returns a changed copy."""
    if isinstance(node, ast.Compare):
        for number, operator in enumerate(node.ops):
            for other in COMPARISONS[type(operator)]:
                yield f"{type(operator).__name__} -> {other.__name__}", _with_comparison(number, other)
    elif isinstance(node, ast.BoolOp):
        other_op = ast.Or if isinstance(node.op, ast.And) else ast.And
        yield f"{type(node.op).__name__} -> {other_op.__name__}", lambda new: ast.BoolOp(other_op(), new.values)
    elif isinstance(node, ast.BinOp) and type(node.op) in ARITHMETIC and not _is_text(node):
        other = ARITHMETIC[type(node.op)]
        yield f"{type(node.op).__name__} -> {other.__name__}", lambda new: ast.BinOp(new.left, other(), new.right)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield "not left out", lambda new: new.operand
    elif isinstance(node, ast.Constant) and isinstance(node.value, bool):
        yield f"{node.value} -> {not node.value}", lambda new: ast.Constant(not new.value)
    elif isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        yield f"{node.value} -> {node.value} + 1", lambda new: ast.Constant(new.value + 1)
    elif isinstance(node, ast.If | ast.IfExp | ast.While):
        yield "condition negated", _negated
    elif isinstance(node, ast.Expr) and not isinstance(node.value, ast.Constant | ast.Yield):
        yield f"left out: {ast.unparse(node)[:60]}", lambda new: ast.Pass()
    elif isinstance(node, ast.Raise):
        yield "raise left out", lambda new: ast.Pass()
    elif isinstance(node, ast.AugAssign):
        yield "addition left out", lambda new: ast.Pass()
    if (
        isinstance(node, ast.Call)
        and len(node.args) > 1
        and not any(isinstance(each, ast.Starred) for each in node.args)
    ):
        yield "arguments swapped", _swapped


def _with_comparison(number: int, other: type[ast.cmpop]) -> Callable[[Any], ast.AST]:
    def change(new: ast.Compare) -> ast.AST:
        new.ops[number] = other()
        return new

    return change


def _negated(new: Any) -> ast.AST:
    new.test = ast.UnaryOp(ast.Not(), new.test)
    return new  # type: ignore[no-any-return]


def _swapped(new: ast.Call) -> ast.AST:
    new.args[:2] = new.args[1::-1]
    return new


def _is_text(node: ast.BinOp) -> bool:
    """Return True if strings are joined: messages are not tested word by word."""
    sides = (node.left, node.right)
    return any(isinstance(each, ast.JoinedStr) or isinstance(getattr(each, "value", None), str) for each in sides)


def mutants(name: str) -> list[Mutant]:
    """Every mutant of a module."""
    path = ROOT / "src" / Path(*MODULES[name][0].split(".")).with_suffix(".py")
    tree = ast.parse(path.read_bytes())
    found: list[Mutant] = []
    for position, node in enumerate(ast.walk(tree)):
        for what, change in changes(node):
            changed = copy.deepcopy(tree)
            _replace(changed, position, change)
            found.append(Mutant(name, 0, getattr(node, "lineno", 0), what, ast.fix_missing_locations(changed)))
    found.sort(key=lambda mutant: mutant.line)
    return [Mutant(each.module, number, each.line, each.what, each.tree) for number, each in enumerate(found)]


def _replace(tree: ast.Module, position: int, change: Callable[[Any], ast.AST]) -> None:
    """Change the node that `ast.walk` meets at `position`."""
    target = list(ast.walk(tree))[position]
    for parent in ast.walk(tree):
        for field, value in ast.iter_fields(parent):
            if value is target:
                setattr(parent, field, ast.copy_location(change(target), target))
                return
            if isinstance(value, list) and any(each is target for each in value):
                index = next(number for number, each in enumerate(value) if each is target)
                value[index] = ast.copy_location(change(target), target)
                return


class ChangedModule:
    """An import hook that gives one module other code."""

    def __init__(self, name: str, tree: ast.Module) -> None:
        self.name, self.tree = name, tree

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        spec = PathFinder.find_spec(name, path) if name == self.name else None
        if spec is None:
            return None
        assert spec.origin is not None
        spec.loader = _Loader(name, spec.origin, compile(self.tree, spec.origin, "exec"))
        return spec


class _Loader(SourceFileLoader):
    def __init__(self, name: str, path: str, code: CodeType) -> None:
        super().__init__(name, path)
        self._code = code

    def get_code(self, fullname: str) -> CodeType:
        return self._code


def survives(name: str, tree: ast.Module | None, *, silent: bool = True) -> bool:
    """Return True if all tests of a module pass with `tree` in its place."""
    module, files = MODULES[name]
    place = tempfile.mkdtemp(prefix="mutant-")
    child = os.fork()
    if child == 0:
        code = 70
        try:
            os.setsid()
            resource.setrlimit(resource.RLIMIT_CPU, (PROCESSOR_PATIENCE, PROCESSOR_PATIENCE))
            if silent:
                nowhere = os.open(os.devnull, os.O_WRONLY)
                os.dup2(nowhere, 1)
                os.dup2(nowhere, 2)
            if tree is not None:
                sys.meta_path.insert(0, ChangedModule(module, tree))
            options = ["-x", "-q", "-p", "no:cacheprovider", "--basetemp", f"{place}/t"]
            options += ["-W", "ignore::pytest.PytestAssertRewriteWarning"]  # of what was imported before the fork
            code = int(pytest.main([*options, *files]))
        finally:
            sys.stdout.flush()
            os._exit(code)
    end = time.monotonic() + PATIENCE
    status = os.waitpid(child, os.WNOHANG)
    while status == (0, 0):
        if time.monotonic() > end:
            os.killpg(child, signal.SIGKILL)
        time.sleep(0.02)
        status = os.waitpid(child, os.WNOHANG)
    shutil.rmtree(place, ignore_errors=True)
    return status[1] == 0


def chosen(found: dict[str, list[Mutant]], n_mutants: int, seed: int) -> list[Mutant]:
    """So many mutants, as equally from the modules as there are."""
    dice = random.Random(seed)
    shuffled = [dice.sample(each, len(each)) for each in found.values()]
    turns = itertools.chain.from_iterable(itertools.zip_longest(*shuffled))
    return list(itertools.islice((each for each in turns if each is not None), n_mutants))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("mutants", type=int, nargs="?", default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--module", choices=MODULES)
    parser.add_argument("--show", metavar="MODULE:NUMBER")
    arguments = parser.parse_args()
    os.chdir(ROOT)
    for name in PRELOADED:
        importlib.import_module(name)
    if arguments.show:
        name, _, number = arguments.show.partition(":")
        mutant = mutants(name)[int(number)]
        print(f"{name}.py:{mutant.line}: {mutant.what}", flush=True)
        survives(name, mutant.tree, silent=False)
        return
    names = [arguments.module] if arguments.module else list(MODULES)
    for name in names:
        if not survives(name, None):
            sys.exit(f"the tests of {name} fail without any change")
    found = {name: mutants(name) for name in names}
    killed: collections.Counter[str] = collections.Counter()
    tried: collections.Counter[str] = collections.Counter()
    with contextlib.suppress(KeyboardInterrupt):  # Ctrl-C gives the figures so far
        for mutant in chosen(found, arguments.mutants, arguments.seed):
            if survives(mutant.module, mutant.tree):
                place = f"{mutant.module}:{mutant.number} (line {mutant.line})"
                print(f"{1 + tried.total()}: survived: {place}: {mutant.what}", flush=True)
            else:
                killed[mutant.module] += 1
            tried[mutant.module] += 1
    for name in names:
        print(f"{name}: {killed[name]} of {tried[name]} killed ({len(found[name])} there are)")
    share = killed.total() / tried.total()
    print(f"killed: {killed.total()} of {tried.total()}, {share:.1%}")
    sys.exit(share < GOAL)


if __name__ == "__main__":
    main()
