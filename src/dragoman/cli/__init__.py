"""The command line: each command makes one call, and each error is one line with an exit code.

Read `program` for the frame, `options` and `streams` for what the commands share, then the commands themselves.
"""

import sys

from dragoman.cli.missing_packages import explain_import

__all__ = ["main"]


def main() -> None:
    """Run the command that the arguments name, and leave with its exit code."""
    try:
        from dragoman.cli import program
    except ImportError as error:
        problem = explain_import(error)
        if problem is None:
            raise
        sys.exit(f"error: {problem}")
    program.main()
