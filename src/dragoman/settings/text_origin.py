"""Checks of settings that name parallel text: a corpus, two files, or a file of pairs, and their languages."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from dragoman.settings.sections import Section

#: Two or three letters of ISO 639, and perhaps a script or a country.
LANGUAGE_CODE = re.compile(r"[a-z]{2,3}([-_][A-Za-z]{2,4})?")
#: The prefix of corpora of the Hugging Face hub, which have no validation text of their own.
HUB = "hub:"

#: Returns the option that sets a setting.
Option = Callable[[str], str]


def origin_problems(section: Section, prefix: str, option: Option | None = None) -> Iterator[tuple[str, str]]:
    """Yield two origins of the text of one split, and a source without a target.

    Args:
        prefix: of the split: "", "validation_" or "test_".
        option: None where no option sets the settings.
    """
    names = [f"{prefix}{part}" for part in ("source", "target", "pairs")]
    source, target, pairs = (getattr(section, name) is not None for name in names)
    corpus = "" if prefix else "corpus"  # its validation and test may come from other files
    has_corpus = bool(corpus) and getattr(section, corpus) is not None

    def listed(names: list[str]) -> str:
        choices = [*([names[0]] if corpus else []), f"{names[1]} and {names[2]}", names[3]]
        return ", ".join(choices)

    options = f" ({listed([option(name) for name in ('corpus', *names)])})" if option else ""
    if has_corpus + (source or target) + pairs > 1:
        yield " ".join([corpus, *names]), f"give only one of: {listed(['corpus', *names])}{options}"
    if source != target:
        options = f" ({option(names[0])}, {option(names[1])})" if option else ""
        yield f"{names[0]} {names[1]}", f"{names[0]} and {names[1]} belong together; give both{options}"


def columns_problems(
    section: Section, prefixes: tuple[str, ...], option: Option | None = None
) -> Iterator[tuple[str, str]]:
    """Yield columns that are not two, and columns without a table in any split."""
    columns, corpus = (getattr(section, name) for name in ("columns", "corpus"))
    if columns is None:
        return
    parts = [part.strip() for part in columns.split(",")]
    if len(parts) != 2 or not all(parts) or parts[0] == parts[1]:
        yield "columns", f"columns must be two, such as 2,4 or en,de, got {columns!r}"
    is_from_hub = corpus is not None and corpus.startswith(HUB)
    tables = [f"{prefix}pairs" for prefix in prefixes]
    if not is_from_hub and all(getattr(section, name) is None for name in tables):
        columns_option, pairs_option = (f" ({option(name)})" if option else "" for name in ("columns", "pairs"))
        message = f"columns{columns_option} has no effect without a file of pairs{pairs_option}"
        yield " ".join(["columns", "corpus", *tables]), message


def language_problems(section: Section, option: Option | None = None) -> Iterator[tuple[str, str]]:
    """Yield unknown language codes."""
    for name in ("source_lang", "target_lang"):
        code = getattr(section, name)
        if code is not None and not LANGUAGE_CODE.fullmatch(code):
            where = f" ({option(name)})" if option else ""
            yield name, f"{code!r} is no language code; use ISO 639's{where}, such as en, de or zh"
