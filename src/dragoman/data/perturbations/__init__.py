"""Changes of a text as people make them: capitals, small letters, missing marks, typos. A change is a function of text
and generator; a text that has nothing to change comes back as it was."""

from collections.abc import Callable, Mapping

from numpy.random import Generator

from dragoman.data.perturbations.final_marks import drop_final_mark
from dragoman.data.perturbations.letter_case import lower_case, title_case, upper_case
from dragoman.data.perturbations.typos import swap_letters

#: By the names that `evaluate --perturb` takes.
PERTURBATIONS: Mapping[str, Callable[[str, Generator], str]] = {
    "upper": upper_case,
    "title": title_case,
    "lower": lower_case,
    "no-mark": drop_final_mark,
    "typos": swap_letters,
}
