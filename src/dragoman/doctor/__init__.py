"""Self-tests for any sequence-to-sequence model: bugs that raise no error, found by their effect on the outputs.

A model with one of these bugs trains, and its loss falls; only its translations are worse, or too good to be true.
Every check compares outputs that must be equal, or that must differ, so it works for any architecture.
"""

from dragoman.doctor.checks import Examination, Finding, check

__all__ = ["Examination", "Finding", "check"]
