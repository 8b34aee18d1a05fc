"""Options of translation memories, and what is told of their use."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dragoman.cli.missing_packages import require_package
from dragoman.cli.option_groups import DirectionOptions
from dragoman.cli.options import option
from dragoman.cli.streams import say
from dragoman.errors import counted, printable

if TYPE_CHECKING:
    from dragoman.memories import MemoryMatch
    from dragoman.translator import TextTranslator, Translation


@dataclass(frozen=True)
class MemoryFlags:
    """Translation memories."""

    memory: Annotated[
        list[Path] | None,
        option(
            "A translation memory: TMX, TSV, CSV or JSONL. Equal texts and sentences get its translations. Repeatable.",
            metavar="FILE",
        ),
    ] = None
    memory_threshold: Annotated[
        float | None, option("Show similar texts of at least this score; in --json by default from 0.7.", min=0, max=1)
    ] = None

    def open(self, translator: TextTranslator, direction: DirectionOptions) -> dict[str, Any]:
        """Read the memories, and return them as options of a translation.

        Raises:
            typer.BadParameter: there is a threshold, and no memory.
            DragomanError: similar texts are asked for, and rapidfuzz is missing.
        """
        if not self.memory:
            if self.memory_threshold is not None:
                raise typer.BadParameter("--memory-threshold needs --memory")
            return {}
        from dragoman.memories import TranslationMemory

        options: dict[str, Any] = {}
        if self.memory_threshold is not None:
            require_package("--memory-threshold", "rapidfuzz")
            options["memory_threshold"] = self.memory_threshold
        source, target = direction_of(translator, direction)
        memory = TranslationMemory.open(*self.memory, source_lang=source, target_lang=target)
        say(f"the memory has {counted(len(memory), 'text')}")
        return {"memory": memory, **options}


def count_matches(translations: Iterable[Translation], *, shows_similar: bool) -> Iterator[Translation]:
    """Yield translations; then say how many came from a memory.

    Args:
        shows_similar: say of each text that is not equal to one which of its sentences were taken from the memory, and
            the most similar text.
    """
    n_all = n_equal = n_adapted = n_partly = n_similar = 0
    for translation in translations:
        n_all += 1
        best = next(iter(translation.memory), None)
        is_equal = best is not None and best.score == 1
        n_equal += is_equal
        n_adapted += best is not None and best.is_adapted
        n_partly += bool(translation.recalled) and not is_equal
        n_similar += best is not None and not is_equal
        if shows_similar and not is_equal:
            for match in translation.recalled:
                say(f"{n_all}: taken from the memory: {_pair(match)}")
            if best is not None:
                say(f"{n_all}: {best.score:.2f} {_pair(best)}")
        yield translation
    equal = counted(n_equal, "is", "are")
    adapted = f" ({n_adapted:,} with other numbers, or sentence by sentence)" if n_adapted else ""
    partly = f", {n_partly:,} partly taken from it" if n_partly else ""
    equal = f"{equal} equal to one of the memory{adapted}"
    say(f"of {counted(n_all, 'text')}, {equal}{partly}, and {n_similar:,} similar")


def _pair(match: MemoryMatch) -> str:
    return f'"{printable(match.source)}" = "{printable(match.target)}"'


def direction_of(translator: TextTranslator, direction: DirectionOptions) -> tuple[str | None, str | None]:
    """Return the languages to read from a memory; None where the model has several, and none is named."""
    from dragoman.text.tags import UNKNOWN

    known = [list(dict.fromkeys(side)) for side in zip(*translator.directions, strict=True)]
    only = [codes[0] if len(codes) == 1 and codes[0] != UNKNOWN else None for codes in known]
    return direction.source_lang or only[0], direction.target_lang or only[1]
