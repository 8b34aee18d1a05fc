"""The command line: arguments to one call each, and every failure to one line and its exit code.

Read `program` for the frame, `options` and `streams` for what the commands share, then the commands themselves.
"""

from dragoman.cli.program import app, main

__all__ = ["app", "main"]
