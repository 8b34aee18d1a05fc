"""A mark of a text: markup that wraps a stretch of it, or stands between its words."""

from __future__ import annotations

from typing import NamedTuple


class Mark(NamedTuple):
    """Markup that wraps a stretch of a text, such as `<b>` and `</b>`; or a point mark, such as `<br>`.

    A point mark has no `closing`. It may stand for a space, from `start` to `end`.
    """

    start: int
    end: int
    opening: str
    closing: str = ""
    is_point: bool = False
    #: The number of marks around it.
    depth: int = 0
    #: Its kind if it is a subscript or a superscript: "sub", "sup".
    script: str = ""
