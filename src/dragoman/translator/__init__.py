"""The public API: text in, translation out.

    translator = dragoman.Translator.load("runs/m30k")
    translator.translate("A man is riding a horse.").text

Nothing below this room sees text it cannot stand, and nothing above it sees ids. Read `results`, `checking`, `cutting`,
`planning`, `models`, `writing`, `forcing`, `aligning`, `translator`.
"""

from dragoman.translator.results import Alternative, Score, Translation
from dragoman.translator.translator import BATCH_TOKENS, SearchOptions, Translator

__all__ = ["BATCH_TOKENS", "Alternative", "Score", "SearchOptions", "Translation", "Translator"]
