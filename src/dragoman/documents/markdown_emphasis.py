"""Emphasis in a translated paragraph of Markdown, written so that CommonMark reads it as emphasis.

Its signs must stand at words: none is read in `**注意：**阅读` or `_真的_好`, where no space follows. So a mark of the
sentence moves out of the emphasis, `*` takes the place of `_`, and code or a link gets a space: 看 **[这里](x)** 吧.
"""

from __future__ import annotations

import re

from dragoman.text.mark import Mark

#: Stand after the first signs and before the last ones. No text has them: Unicode keeps them for programs.
_START, _END = "\ufdd0", "\ufdd1"
_SIGNS = re.compile(r"[*_~]{1,3}")
_INNERMOST = re.compile(rf"(?P<signs>[*_~]{{1,3}}){_START}(?P<text>[^{_START}{_END}]*){_END}(?P=signs)")
_MARKS = ".,:;!?\"'。，、；：！？…“”‘’（）《》「」『』【】«»—"

#: First and last signs of code, links, images and tags.
_MARKUP = "`[]()!<>"


def with_places(mark: Mark) -> Mark:
    """Return a mark that `place_emphasis` finds, if it is emphasis."""
    if mark.is_point or mark.opening != mark.closing or not _SIGNS.fullmatch(mark.opening):
        return mark
    return mark._replace(opening=mark.opening + _START, closing=_END + mark.closing)


def place_emphasis(text: str) -> str:
    """Return a text with its emphasis where it is read as such, and without empty one."""
    n_found = 1
    while n_found:
        text, n_found = _INNERMOST.subn(_placed, text)
    return text


def _placed(match: re.Match[str]) -> str:
    signs, text = match["signs"], match["text"]
    follows_word = match.string[match.start() - 1 : match.start()].isalnum()
    precedes_word = match.string[match.end() : match.end() + 1].isalnum()
    core = text.lstrip(_MARKS) if follows_word else text
    before = text[: len(text) - len(core)]
    inner = core.rstrip(_MARKS) if precedes_word else core
    after = core[len(inner) :]
    if not inner.strip():
        return text
    if follows_word or precedes_word:
        signs = signs.replace("_", "*")
    left = " " if follows_word and not before and inner[0] in _MARKUP else ""
    right = " " if precedes_word and not after and inner[-1] in _MARKUP else ""
    return f"{before}{left}{signs}{inner}{signs}{right}{after}"
