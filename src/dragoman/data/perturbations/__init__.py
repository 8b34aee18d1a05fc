"""Changes of a text as people make them: capitals, missing marks, typos, emoji. A change is a function of text and
generator; a text that has nothing to change comes back as it was."""

from collections.abc import Callable, Mapping

from numpy.random import Generator

from dragoman.data.perturbations.emoji import add_emoji
from dragoman.data.perturbations.final_marks import double_final_mark, drop_final_mark
from dragoman.data.perturbations.letter_case import lower_case, title_case, upper_case
from dragoman.data.perturbations.quotes_and_spaces import drop_apostrophes, other_dashes, other_quotes, other_spaces
from dragoman.data.perturbations.typos import swap_letters

#: By the names that `evaluate --perturb` takes.
PERTURBATIONS: Mapping[str, Callable[[str, Generator], str]] = {
    "upper": upper_case,
    "title": title_case,
    "lower": lower_case,
    "no-mark": drop_final_mark,
    "marks": double_final_mark,
    "typos": swap_letters,
    "emoji": add_emoji,
    "quotes": other_quotes,
    "apostrophes": drop_apostrophes,
    "dashes": other_dashes,
    "spaces": other_spaces,
}
