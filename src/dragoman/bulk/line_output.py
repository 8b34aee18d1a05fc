"""Lines of results: plain text, n best in Moses' format, or JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from dragoman.alignment.word_spans import words_in_place

if TYPE_CHECKING:
    from dragoman.translator import Translation


@dataclass(frozen=True)
class LineFormat:
    """The form of a line of results: plain text, with doubtful words marked and an alignment
    if there are any, unless a flag is set.

    Args:
        moses: the n best as: id ||| text ||| features ||| score.
        as_json: all that is known of a translation.
    """

    moses: bool = False
    as_json: bool = False

    def lines(self, number: int, translation: Translation) -> Iterable[str]:
        """Return the lines for the translation of a line; `number` counts from 0."""
        if self.as_json:
            return [json.dumps(asdict(translation), ensure_ascii=False)]
        if self.moses:
            return [
                f"{number} ||| {result.text} ||| log_prob= {result.log_prob:.6f} ||| {result.score:.6f}"
                f"{_pharaoh(result.alignment)}"
                for result in translation.alternatives
            ] or [f"{number} |||  ||| log_prob= 0 ||| 0{_pharaoh(translation.alignment)}"]
        return [f"{_marked(translation)}{_pharaoh(translation.alignment)}"]


def _marked(translation: Translation) -> str:
    """Return the text with its doubtful words marked."""
    if not translation.doubtful:
        return translation.text
    places, parts, end = words_in_place(translation.text), [], 0
    for first, last in (places[word] for word in translation.doubtful):
        parts += [translation.text[end:first], f"[?{translation.text[first:last]}]"]
        end = last
    return "".join(parts) + translation.text[end:]


def _pharaoh(alignment: Sequence[tuple[int, int]] | None) -> str:
    """Return the column of alignments; nothing if there is none."""
    return "" if alignment is None else " ||| " + " ".join(f"{source}-{target}" for source, target in alignment)
