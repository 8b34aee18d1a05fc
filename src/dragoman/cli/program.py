"""The program `dragoman`: its commands, its exit codes, and its messages for errors.

0    done
1    the operation failed and the user can act
2    usage or configuration
3    model folder refused
4    training diverged
5    out of memory or disk; can be continued
70   internal error
129  hung up          130  interrupted
141  output closed    143  terminated
"""

from __future__ import annotations

import errno
import importlib
import io
import keyword
import os
import signal
import sys
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import Annotated

import typer

from dragoman import __version__
from dragoman.cli.hints import missing_model_hint
from dragoman.cli.missing_packages import explain_import
from dragoman.cli.options import Command
from dragoman.cli.terminal_log import log_to_terminal
from dragoman.errors import DragomanError, is_out_of_memory, printable
from dragoman.machine.devices import set_library_defaults
from dragoman.machine.signals import HANG_UP, ending_signals

#: The signal of an alarm; not on Windows.
ALARM: int | None = getattr(signal, "SIGALRM", None)
USAGE, OUT_OF_RESOURCES, INTERNAL, INTERRUPTED, CLOSED_PIPE = 2, 5, 70, 130, 141

HELP = ["-h", "--help"]
#: The variable by which a shell asks typer for completions, without arguments.
COMPLETION = "_DRAGOMAN_COMPLETE"

#: The commands in the order of the help, and the modules of their functions.
COMMANDS = {
    "demo": "demo",
    "train": "train",
    "translate": "translate",
    "serve": "serve",
    "mcp": "mcp",
    "evaluate": "evaluate",
    "compare-outputs": "compare_outputs",
    "tune": "tune",
    "score": "score",
    "compare": "compare",
    "distill": "distill",
    "update": "update",
    "doctor": "doctor",
    "check-file": "check_file",
    "prepare": "train",
    "align": "align",
    "average": "average",
    "get": "get",
    "import": "importing",
    "package": "package",
    "models": "models",
}
#: Groups of commands, and the modules that have them under their own names.
GROUPS = {"data": "data", "export": "export", "inspect": "inspect", "memory": "memory"}


def _show_version(is_requested: bool) -> None:
    if is_requested:
        typer.echo(f"dragoman {__version__}")
        raise typer.Exit


def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version.")
    ] = False,
    debug: Annotated[
        bool, typer.Option("--debug", help="Show the traceback of an error (may stand anywhere).")
    ] = False,
) -> None:
    """Accept the options that may stand before a command; `run` has handled --debug already."""


def build_app(name: str = "", *, with_options: bool = True) -> typer.Typer:
    """Return the program with one command or group, or with all if none has this name.

    To import and describe all of them takes longer than to translate a sentence.

    Args:
        with_options: describe more than names and first lines, which are all that the program's own --help shows.
    """
    app = typer.Typer(
        name="dragoman",
        help="Two text files in, a translator out: encoder-decoder Transformers for translation.",
        rich_markup_mode=None,  # its import would double the time of --help
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": HELP},
    )
    app.callback()(options)
    is_known = name in COMMANDS or name in GROUPS
    for command, module in COMMANDS.items():
        if command == name or not is_known:
            attribute = command.replace("-", "_") + "_" * keyword.iskeyword(command)
            function = getattr(importlib.import_module(f"dragoman.cli.{module}"), attribute)
            app.command(command, cls=Command)(function if with_options else _without_options(function))
    for group, module in GROUPS.items():
        if group == name or not is_known:
            commands = getattr(importlib.import_module(f"dragoman.cli.{module}"), module)
            app.add_typer(commands if with_options else typer.Typer(help=commands.info.help), name=group)
    return app


def _without_options(function: Callable[..., object]) -> Callable[[], None]:
    def described() -> None:
        """Do nothing: only the description is read."""

    described.__doc__ = function.__doc__
    return described


def main() -> None:
    """Run the command that the arguments name, and leave with its exit code."""
    set_library_defaults()
    sys.exit(run(sys.argv[1:]))


def run(arguments: Sequence[str]) -> int:
    """Run one command and return its exit code; print an error to standard error."""
    debug = "--debug" in arguments
    if sys.stderr is None:  # closed by the caller; Python's print would take standard output instead
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - as long as the process
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")  # whatever the locale
    with _signals_as_exceptions() as ended_by:
        try:
            with log_to_terminal():
                return _run_command([argument for argument in arguments if argument != "--debug"])
        except BaseException as error:
            if debug:
                traceback.print_exc()
            # A library may have turned the exception of the signal into another one.
            code, message = (128 + ended_by[0], "") if ended_by else explain(error)
            _drop_unwritten_output()
            if message:
                print(f"error: {message}", file=sys.stderr)
            return code


def _run_command(arguments: list[str]) -> int:
    """Run the command, and return the exit code that it gives."""
    if not arguments or (len(arguments) == 1 and arguments[0] in GROUPS):  # a group of commands lists them
        arguments.append("--help")
    is_overview = arguments[0] in HELP and COMPLETION not in os.environ
    app = typer.main.get_command(build_app(arguments[0], with_options=not is_overview))
    code = app.main(arguments, prog_name="dragoman", standalone_mode=False)
    if sys.stdout is not None:
        sys.stdout.flush()
    return code if isinstance(code, int) else 0


@contextmanager
def _signals_as_exceptions() -> Iterator[list[int]]:
    """Make SIGINT, SIGTERM and SIGHUP raise an exception, and yield the list of those received.

    In a callback from a library Python can only print an exception; an alarm then raises it again shortly after. A
    module that is being imported may catch the exception and go on without a part of itself; so during an import the
    alarm raises it, except when a second signal comes. The alarm repeats itself until then: one that comes just before
    the program begins to wait for something would not end the waiting.
    """
    ended_by: list[int] = []

    def end(number: int, frame: FrameType | None) -> None:
        if ended_by and number == HANG_UP:
            return
        ended_by.append(number)
        is_first = len(ended_by) == 1
        if ALARM and (is_first or number == ALARM) and _importing(frame):
            _set_alarm(0.01)
            return
        _set_alarm(0)
        raise KeyboardInterrupt if ended_by[0] == signal.SIGINT else SystemExit(128 + ended_by[0])

    def unraisable(swallowed: sys.UnraisableHookArgs) -> None:
        if ALARM and ended_by and isinstance(swallowed.exc_value, KeyboardInterrupt | SystemExit):
            _set_alarm(0.01)
        else:
            hook(swallowed)

    numbers = [*ending_signals(), *([ALARM] if ALARM else [])]
    handlers = [(number, signal.signal(number, end)) for number in numbers]
    hook, sys.unraisablehook = sys.unraisablehook, unraisable

    try:
        yield ended_by
    finally:
        sys.unraisablehook = hook
        _set_alarm(0)  # one that nobody waits for any more would kill
        for number, handler in handlers:
            signal.signal(number, handler)


def _set_alarm(seconds: float) -> None:
    """Ask for an alarm again and again; 0 is for none."""
    if ALARM:
        signal.setitimer(signal.ITIMER_REAL, seconds, seconds)


def _importing(frame: FrameType | None) -> bool:
    """Return True while the command imports a module."""
    while frame and frame.f_code is not run.__code__:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            return True
        frame = frame.f_back
    return False


def explain(error: BaseException) -> tuple[int, str]:
    """Return the exit code of an error, and its message, which is empty if the code is enough."""
    if isinstance(error, BrokenPipeError) or isinstance(error.__context__, BrokenPipeError):
        return CLOSED_PIPE, ""
    if isinstance(error, SystemExit):
        return (error.code, "") if isinstance(error.code, int) else (1 if error.code else 0, str(error.code or ""))
    if isinstance(error, KeyboardInterrupt | typer.Abort):
        return INTERRUPTED, ""
    if isinstance(error, DragomanError):
        return error.exit_code, error.message
    if is_out_of_memory(error):
        return (
            OUT_OF_RESOURCES,
            "out of memory; use a smaller --batch-size, or training.micro_batch_tokens for training",
        )
    if (problem := explain_import(error)) is not None:
        return DragomanError.exit_code, problem
    if hasattr(error, "format_message"):  # typer's error for wrong usage
        context = getattr(error, "ctx", None)
        path = context.command_path if context else "dragoman"
        message = printable(error.format_message()).rstrip(".")
        for empty_words in ("Invalid value: ", "Value error, "):
            message = message.replace(empty_words, "", 1)
        message = missing_model_hint(error) or message
        return USAGE, f"{message}; see `{path} --help`"
    if isinstance(error, OSError) and error.errno is not None:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        file = f": {printable(str(error.filename))}" if error.filename else ""
        if full:
            return OUT_OF_RESOURCES, f"{error.strerror}{file}; free some space"
        advice = "check the path and its permissions" if file else "run it again with --debug to see where"
        return 1, f"cannot read or write ({error.strerror}){file}; {advice}"
    message = printable(f"{type(error).__name__}: {error}")
    return INTERNAL, f"internal error ({message}); please report it with what --debug shows"


def _drop_unwritten_output() -> None:
    """Drop output that could not be written, which would fail again when the interpreter ends."""
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
