"""Patterns that are compiled when they are first used: together, those of a translation take longer than a sentence."""

from __future__ import annotations

import re
from functools import cached_property
from typing import Any, cast


def lazy_pattern(text: str, flags: re.RegexFlag = re.NOFLAG) -> re.Pattern[str]:
    """Return what `re.compile` returns, in effect. A set with Chinese characters alone takes it two milliseconds."""
    return cast("re.Pattern[str]", _LazyPattern(text, flags))


class _LazyPattern:
    """A pattern whose attributes are those of the compiled one, kept when they have been asked for."""

    def __init__(self, text: str, flags: re.RegexFlag) -> None:
        self._source = text, flags

    @cached_property
    def _compiled(self) -> re.Pattern[str]:
        return re.compile(*self._source)

    def __getattr__(self, name: str) -> Any:
        value = self.__dict__[name] = getattr(self._compiled, name)
        return value
