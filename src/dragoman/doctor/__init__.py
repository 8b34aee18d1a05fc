"""Self-tests for any sequence-to-sequence model: the field's silent bugs, found by what they do to the numbers.

A model with one of these bugs trains, and its loss falls; only its translations are worse, or too good to be true.
Every check compares outputs that must be equal, or that must differ, so it needs no knowledge of the model's inside.
"""

from dragoman.doctor.examination import check
from dragoman.doctor.findings import Examination, Finding

__all__ = ["Examination", "Finding", "check"]
