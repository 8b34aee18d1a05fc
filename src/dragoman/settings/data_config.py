"""Settings of the section `data`: the parallel text and the pairs that are kept."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from dragoman.settings.ranges import Positive, Size
from dragoman.settings.sections import Section

#: Two or three letters of ISO 639, and perhaps a script or a country.
LANGUAGE_CODE = re.compile(r"[a-z]{2,3}([-_][A-Za-z]{2,4})?")


#: Faults of a pair that training text may have.
Fault = Literal["numbers", "copied", "script", "mojibake", "wordless", "repeated"]


def _option(name: str) -> str:
    """Return the option that sets a setting of `data`, or `--set`."""
    return f"--set data.{name}=..." if name.startswith("test_") else f"--{name.replace('_', '-')}"


def _comma_separated(value: Any) -> Any:
    """Return the parts of a string as a tuple, for `--set data.clean=entities,tags`."""
    return tuple(part.strip() for part in value.split(",")) if isinstance(value, str) else value


class DataConfig(Section):
    """The origin of the parallel text, and the filters of its pairs.

    Either `corpus` (a corpus known by name) or `source` and `target` (two files with one sentence a line), or `pairs`
    (one file: a table or JSONL). Each file may also be compressed. Files for validation or test are used instead of
    those that a named corpus has.
    """

    corpus: str | None = None
    source: str | None = None
    target: str | None = None
    pairs: str | None = None
    source_lang: str | None = None
    target_lang: str | None = None
    validation_source: str | None = None
    validation_target: str | None = None
    validation_pairs: str | None = None
    test_source: str | None = None
    """Text that `evaluate` with the recipe scores by default. Its overlap with the training text is counted."""
    test_target: str | None = None
    test_pairs: str | None = None
    columns: str | None = None
    """Source and target in files of pairs, by number (from 1) or name: "2,4" or "en,de". None finds them."""
    validation_size: Positive = 1000
    """Number of pairs held out for validation when no validation files are given."""
    max_length: Size = 256
    """Longest side kept, in tokens; by default at most what the model can read."""
    max_ratio: Annotated[float, Field(ge=1, le=1000)] = 4.0
    """Longest side over shortest side, in tokens; short sentences are allowed a little more."""
    dedup: bool = False
    invalid_utf8: Literal["error", "drop"] = "error"
    clean: Annotated[tuple[Literal["entities", "tags", "mojibake"], ...], BeforeValidator(_comma_separated)] = ()
    """Repairs of the text before anything else: `entities` such as &amp; are decoded, `tags` removed, `mojibake` such
    as Ã¼ read as ü, where that is certain."""
    drop: Annotated[tuple[Fault, ...], BeforeValidator(_comma_separated)] = ()
    """Faults whose training pairs are dropped: `numbers` that differ between the sides, a source `copied` as target, a
    side in another `script` than its language's, `mojibake`, a `wordless` side, a line `repeated` many times."""
    misaligned: Literal["error", "keep"] = "error"
    """Stop if the two sides do not belong together (one of them lost a line, say), or use the text as it is."""

    def for_older_releases(self) -> dict[str, Any]:
        """Return the settings that decide the prepared corpus, as JSON; newer settings only if they are on."""
        unused = {name for name in ("clean", "columns", "drop") if not getattr(self, name)}
        return self.model_dump(mode="json", exclude={"misaligned"} | unused)

    def contradictions(self) -> Iterator[tuple[str, str]]:
        """Yield two origins of one text, half an origin, and unknown language codes."""
        for prefix in ("", "validation_", "test_"):
            yield from self._origin_problems(prefix)
        yield from self._columns_problems()
        for name, code in (("source_lang", self.source_lang), ("target_lang", self.target_lang)):
            if code is not None and not LANGUAGE_CODE.fullmatch(code):
                message = f"{code!r} is no language code; use ISO 639's ({_option(name)}), such as en, de or zh"
                yield name, message

    def _origin_problems(self, prefix: str) -> Iterator[tuple[str, str]]:
        """Yield two origins of the text of one split, and a source without a target."""
        names = [f"{prefix}{part}" for part in ("source", "target", "pairs")]
        options = [_option(name) for name in names]
        source, target, pairs = (getattr(self, name) is not None for name in names)
        corpus = "" if prefix else "corpus"  # its validation and test may come from other files
        has_corpus = bool(corpus) and self.corpus is not None
        if has_corpus + (source or target) + pairs > 1:
            choices = f"{corpus and 'corpus, '}{names[0]} and {names[1]}, {names[2]}"
            choice_options = f"{corpus and '--corpus, '}{options[0]} and {options[1]}, {options[2]}"
            yield " ".join([corpus, *names]), f"give only one of: {choices} ({choice_options})"
        if source != target:
            message = f"{names[0]} and {names[1]} belong together; give both ({options[0]}, {options[1]})"
            yield f"{names[0]} {names[1]}", message

    def _columns_problems(self) -> Iterator[tuple[str, str]]:
        """Yield columns that are not two, and columns without a table."""
        if self.columns is None:
            return
        parts = [part.strip() for part in self.columns.split(",")]
        if len(parts) != 2 or not all(parts) or parts[0] == parts[1]:
            yield "columns", f"columns must be two, such as 2,4 or en,de, got {self.columns!r}"
        is_from_hub = self.corpus is not None and self.corpus.startswith("hub:")
        if not is_from_hub and all(pairs is None for pairs in (self.pairs, self.validation_pairs, self.test_pairs)):
            names = "columns corpus pairs validation_pairs test_pairs"
            yield names, "columns (--columns) has no effect without a file of pairs (--pairs)"

    def files(self, split: Literal["train", "validation", "test"]) -> tuple[str | None, str | None, str | None]:
        """Return (source, target, pairs) of a split; None for each that is not set."""
        if split == "train":
            return self.source, self.target, self.pairs
        if split == "validation":
            return self.validation_source, self.validation_target, self.validation_pairs
        return self.test_source, self.test_target, self.test_pairs
