"""Right commands for people who gave words where a command takes none."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence

#: How commands that read pairs of files end, after `dragoman <name>`.
_WITH_MODEL = ("score", "evaluate", "distill")
_WITHOUT_MODEL = ("train", "prepare")


def stray_hint(command: str, words: Sequence[str]) -> str:
    """Return what to type instead of `dragoman <command> <words>`.

    Args:
        command: with the commands above it, "dragoman translate".
        words: all arguments that stand after no option.
    """
    name = command.rpartition(" ")[2]
    files = [word for word in words if os.path.isfile(word)]
    if command.startswith("dragoman inspect"):
        return "put a sentence in quotes"
    if name == "translate" and files:
        return f"to translate a file: {shlex.join(['dragoman', 'translate', '-m', 'MODEL', '--input', files[0]])}"
    if name == "translate":
        return f"text comes on standard input: echo {shlex.quote(' '.join(words))} | dragoman translate -m MODEL"
    if name in _WITH_MODEL or name in _WITHOUT_MODEL:
        model = ["-m", "MODEL"] if name in _WITH_MODEL else []
        source, target = files[:2] if len(files) > 1 else ("SOURCE_FILE", "TARGET_FILE")
        options = [*model, "--source", source, "--target", target]
        return f"text comes from files: {shlex.join(['dragoman', name, *options])}"
    return "what is given stands after an option"
