"""The reader's file, loaded as a module: its errors with their lines, and its examination, chapter by chapter."""

from __future__ import annotations

import difflib
import random
import sys
import threading
import traceback
import warnings
from _thread import interrupt_main
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import torch

from dragoman.doctor.lessons.chapter_checks import CHAPTERS, WRITTEN_IN, Chapter, Check
from dragoman.doctor.lessons.known_faults import NO_RESULT
from dragoman.errors import DataError, printable

#: The import that brings a name, for a file that forgot it.
_IMPORTS = {
    "math": "import math",
    "random": "import random",
    "torch": "import torch",
    "nn": "from torch import nn",
    "F": "import torch.nn.functional as F",
    "Counter": "from collections import Counter",
}
_LONGEST = 300
#: Seconds that the file may take to run, and then each check.
LIMIT_S = 60.0


@dataclass(frozen=True)
class Result:
    """The outcome of one demand: "ok", "FAIL" with the fault, or "-" if it was not checked."""

    chapter: int
    title: str
    demand: str
    state: str
    detail: str = ""


class EndlessError(Exception):
    """The reader's code does not end."""


def load(path: Path, limit_s: float = LIMIT_S) -> ModuleType:
    """Return the reader's file as the module `transformer`, which is not run as a program.

    Raises:
        DataError: the file cannot be read or run.
    """
    if path.suffix != ".py":
        raise DataError("no Python file", path, advice="give the .py file that you write")
    try:
        source = path.read_text(encoding="utf-8-sig")  # some editors write a byte order mark
        code = compile(source, str(path), "exec", dont_inherit=True)
    except OSError as error:
        raise DataError(f"cannot read ({error.strerror})", path, advice="give the file that you write") from error
    except UnicodeDecodeError as error:
        raise DataError("not a text in UTF-8", path, advice="give the Python file that you write") from error
    except (SyntaxError, ValueError) as error:
        line = error.lineno if isinstance(error, SyntaxError) else None
        reason = error.msg if isinstance(error, SyntaxError) else str(error)
        advice = "mend this line" if line else "give the Python file that you write"
        raise DataError(f"Python cannot read the file ({reason})", path, line=line, advice=advice) from error
    module = ModuleType("transformer")
    module.__file__ = str(path)
    sys.modules["transformer"] = module  # for a cell of a chapter in it, which imports from its own file
    sys.path.insert(0, str(path.parent))
    try:
        with _limited(limit_s):
            exec(code, module.__dict__)
    except (Exception, SystemExit) as error:
        line, reason = explain(error, path)
        raise DataError(f"the file does not run ({reason})", path, line=line, advice=_advice(error)) from error
    finally:
        sys.path.remove(str(path.parent))
    if not any(hasattr(module, name) for name in WRITTEN_IN):
        raise DataError(
            "the file defines none of the names of the book",
            path,
            advice="add the cells that begin with `# transformer.py`",
        )
    return module


def _advice(error: BaseException) -> str:
    """Return what to do about an error of the file itself."""
    if isinstance(error, EndlessError | SystemExit | EOFError):  # it trains, ends, or asks for something to be typed
        return 'put what is for a program below `if __name__ == "__main__":`'
    if isinstance(error, NameError) and error.name not in {*_IMPORTS, *WRITTEN_IN}:
        return "mend this line, or take it out: only cells that begin with `# transformer.py` belong here"
    return "mend this file"


def explain(error: BaseException, path: Path) -> tuple[int | None, str]:
    """Return the last line of the reader's file that an error went through, and the error in one line."""
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(path)]
    if isinstance(error, EndlessError):
        reason = str(error)
    else:
        text = (str(error).strip().splitlines() or [""])[0]
        reason = printable(f"{type(error).__name__}: {text}"[:_LONGEST]).removesuffix(": ")
    if "before Module.__init__() call" in reason:
        reason += "; begin `__init__` with `super().__init__()`"
    elif isinstance(error, NameError) and error.name in _IMPORTS:
        reason += f"; write `{_IMPORTS[error.name]}` at the top"
    elif isinstance(error, NameError) and error.name in WRITTEN_IN:
        reason += f"; chapter {WRITTEN_IN[error.name]} writes it"
    return (lines[-1] if lines else None), reason


@contextmanager
def _limited(seconds: float) -> Iterator[None]:
    """Raise an error in the main thread, wherever it is, if the body takes too long."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    has_expired = threading.Event()

    def expire() -> None:
        has_expired.set()
        interrupt_main()

    timer = threading.Timer(seconds, expire)
    timer.daemon = True
    timer.start()
    try:
        yield
    except KeyboardInterrupt as error:
        if not has_expired.is_set():
            raise
        raise EndlessError(
            f"it does not end within {seconds:g} seconds: is there a loop without an end?"
        ).with_traceback(error.__traceback__) from None
    finally:
        timer.cancel()


class FileExamination:
    """The checks of a reader's file; those of a chapter run once, after those of the chapters that it calls.

    Args:
        limit_s: seconds that a check may take.
        begin: called with each demand before it is checked.
    """

    def __init__(
        self,
        module: ModuleType,
        path: Path,
        limit_s: float = LIMIT_S,
        begin: Callable[[str], object] = lambda demand: None,
    ) -> None:
        self._module, self._path, self._limit_s, self._begin = module, path, limit_s, begin
        self._missing = {name for name in WRITTEN_IN if not hasattr(module, name)}
        others = [name for name in vars(module) if name not in {*WRITTEN_IN, *_IMPORTS}]
        near = {name: difflib.get_close_matches(name, others, n=1, cutoff=0.8) for name in self._missing}
        self._misspelt = {name: found[0] for name, found in near.items() if found}
        self._results: dict[int, list[Result]] = {}

    @property
    def last_begun(self) -> int:
        """The last chapter of which the file has a name, or one that is misspelt."""
        return max(number for name, number in WRITTEN_IN.items() if name not in self._missing - self._misspelt.keys())

    @property
    def begun(self) -> list[int]:
        """The numbers of the chapters up to the last one that the file has begun."""
        return sorted({chapter.number for chapter in CHAPTERS if chapter.number <= self.last_begun})

    def of(self, number: int) -> Iterator[Result]:
        """Yield what becomes of each demand of a chapter, as soon as it is checked."""
        if number in self._results:
            yield from self._results[number]
            return
        found = self._results[number] = list[Result]()
        for part in CHAPTERS:
            if part.number == number:
                for result in self._of_part(part):
                    found.append(result)  # a second part asks what became of the first
                    yield result

    def _of_part(self, chapter: Chapter) -> Iterator[Result]:
        for name in chapter.names:
            if name in self._missing:
                other = self._misspelt.get(name)
                detail = f"it is missing; should `{other}` be it?" if other else "it is missing: this chapter writes it"
                yield self._result(chapter, f"`{name}` is there", "FAIL", detail)
        if set(chapter.names) and set(chapter.names) <= self._missing:
            return
        for need in chapter.needs:
            # Chapter 8 uses the norm of the next one, for which PyTorch's stands in until then.
            if need > max(chapter.number, self.last_begun):
                continue
            if any(result.state != "ok" for result in list(self.of(need))):  # all are kept for later
                yield self._result(chapter, "not checked", "-", f"it uses chapter {need}, which has a fault")
                return
        for demand, check in chapter.checks.items():
            self._begin(demand)
            try:
                state, detail = self._outcome(check)
            except EndlessError as error:
                line, reason = explain(error, self._path)
                yield self._result(chapter, demand, "FAIL", f"line {line}: {reason}")
                yield self._result(chapter, "the rest is not checked", "-")
                return
            yield self._result(chapter, demand, state, detail)

    def _result(self, chapter: Chapter, demand: str, state: str, detail: str = "") -> Result:
        return Result(chapter.number, chapter.title, demand, state, detail)

    def _outcome(self, check: Check) -> tuple[str, str]:
        """Return the state of a demand, and what is wrong.

        Raises:
            EndlessError: the check does not end.
        """
        torch.manual_seed(1)
        random.seed(1)
        try:
            with _limited(self._limit_s), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                fault = check(self._module)
        except EndlessError:
            raise
        except (Exception, SystemExit) as error:
            if isinstance(error, AttributeError) and error.obj is self._module and error.name in self._missing:
                return "-", f"`{error.name}` is missing"
            line, reason = explain(error, self._path)
            if line:
                return "FAIL", f"line {line}: {reason}"
            is_none = "'NoneType' object" in reason
            return "FAIL", NO_RESULT if is_none else f"calling it, or using what comes back, fails ({reason})"
        return ("FAIL", fault) if fault else ("ok", "")
