"""Hints for words that a command does not take."""

from __future__ import annotations

import os
import shlex
from collections.abc import Container, Sequence


def missing_model_hint(error: BaseException) -> str:
    """Return a message that names an installed model, if the error of typer is a missing --model; nothing otherwise."""
    context, missing = getattr(error, "ctx", None), getattr(error, "param", None)
    if type(error).__name__ != "MissingParameter" or context is None or "--model" not in getattr(missing, "opts", ()):
        return ""
    has_languages = any("--target-lang" in parameter.opts for parameter in context.command.params)
    languages = " --source-lang en --target-lang de" if has_languages else ""
    return f"no model given; add -m and a run folder, or a model that comes with dragoman: -m everyday{languages}"


def stray_hint(command: str, words: Sequence[str], options: Container[str], models: Sequence[str] = ()) -> str:
    """Return a hint: the right command instead of `dragoman <command> <words>`.

    Args:
        command: with the commands above it, "dragoman translate".
        words: all arguments without an option before them.
        options: the options that the command takes.
        models: the values of --model.
    """
    if "--model" in options and not models and words and _is_model(words[0]):
        return f"a model follows -m: {shlex.join([*command.split(), '-m', words[0]])}"
    if "--model" in options:
        command = shlex.join([*command.split(), *(part for name in models or ["MODEL"] for part in ("-m", name))])
    files = [word for word in words if os.path.isfile(word)]
    if "--source" in options:
        source, target = files[:2] if len(files) > 1 else ("SOURCE_FILE", "TARGET_FILE")
        return f"text comes from files: {command} {shlex.join(['--source', source, '--target', target])}"
    if "--input" in options and files:
        return f"to translate a file: {command} --input {shlex.quote(files[0])}"
    if "--input" in options:
        return f"text comes on standard input: echo {shlex.quote(' '.join(words))} | {command}"
    if command.startswith("dragoman inspect"):
        return "put a sentence in quotes"
    return "put each value after its option"


def _is_model(word: str) -> bool:
    """Return True for a folder, and for the name of a model that is or may be installed."""
    from dragoman.bundle.named_models import installing_advice, named_model

    return os.path.isdir(word) or named_model(word) is not None or installing_advice(word) != ""
