"""Settings that name parallel text: a corpus, two files, or a file of pairs, and their languages."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Annotated

from pydantic import Field

from dragoman.settings.sections import Section

#: Two or three letters of ISO 639, and perhaps a script or a country.
LANGUAGE_CODE = re.compile(r"[a-z]{2,3}([-_][A-Za-z]{2,4})?")
#: Begins the name of a corpus of the Hugging Face hub, "hub:<name>" or "hub:<name>:<configuration>", which has no
#: validation text of its own.
HUB = "hub:"

#: Returns the option that sets a setting.
Option = Callable[[str], str]


class TextOrigin(Section):
    """The origin of parallel text, and of the text by which a training is validated."""

    corpus: str | None = None
    source: str | None = None
    target: str | None = None
    pairs: str | None = None
    columns: str | None = None
    """Source and target in files of pairs, by number (from 1) or name: "2,4" or "en,de". None finds them."""
    source_lang: str | None = None
    target_lang: str | None = None
    validation_source: str | None = None
    validation_target: str | None = None
    validation_pairs: str | None = None
    context: Annotated[int, Field(ge=1, le=3)] | None = None
    """Source sentences that are read before each: those of the lines before it, up to an empty line. None is off."""

    def origin_problems(
        self, prefixes: tuple[str, ...] = ("", "validation_"), option: Option | None = None
    ) -> Iterator[str]:
        """Yield two origins of one text, half an origin, columns that cannot be, and unknown language codes.

        Args:
            prefixes: of the splits: "", "validation_", "test_".
            option: None where no option sets the settings.
        """
        for prefix in prefixes:
            yield from _origin_problems(self, prefix, option)
        yield from _columns_problems(self, prefixes, option)
        yield from _language_problems(self, option)


def _origin_problems(section: TextOrigin, prefix: str, option: Option | None) -> Iterator[str]:
    """Yield two origins of the text of one split, and a source without a target."""
    names = [f"{prefix}{part}" for part in ("source", "target", "pairs")]
    source, target, pairs = (getattr(section, name) is not None for name in names)
    corpus = "" if prefix else "corpus"  # its validation and test may come from other files
    has_corpus = bool(corpus) and getattr(section, corpus) is not None

    def listed(names: list[str]) -> str:
        choices = [*([names[0]] if corpus else []), f"{names[1]} and {names[2]}", names[3]]
        return ", ".join(choices)

    options = f" ({listed([option(name) for name in ('corpus', *names)])})" if option else ""
    if has_corpus + (source or target) + pairs > 1:
        yield f"give only one of: {listed(['corpus', *names])}{options}"
    if source != target:
        options = f" ({option(names[0])}, {option(names[1])})" if option else ""
        yield f"{names[0]} and {names[1]} belong together; give both{options}"


def _columns_problems(section: TextOrigin, prefixes: tuple[str, ...], option: Option | None) -> Iterator[str]:
    """Yield columns that are not two, and columns without a table in any split."""
    columns, corpus = section.columns, section.corpus
    if columns is None:
        return
    parts = [part.strip() for part in columns.split(",")]
    if len(parts) != 2 or not all(parts) or parts[0] == parts[1]:
        yield f"columns must be two, such as 2,4 or en,de, got {columns!r}"
    is_from_hub = corpus is not None and corpus.startswith(HUB)
    tables = [f"{prefix}pairs" for prefix in prefixes]
    if not is_from_hub and all(getattr(section, name) is None for name in tables):
        columns_option, pairs_option = (f" ({option(name)})" if option else "" for name in ("columns", "pairs"))
        yield f"columns{columns_option} has no effect without a file of pairs{pairs_option}"


def _language_problems(section: TextOrigin, option: Option | None) -> Iterator[str]:
    """Yield unknown language codes."""
    for name in ("source_lang", "target_lang"):
        code = getattr(section, name)
        if code is not None and not LANGUAGE_CODE.fullmatch(code):
            where = f" ({option(name)})" if option else ""
            yield f"{code!r} is no language code; use ISO 639's{where}, such as en, de or zh"
