"""The segments of a unit of XLIFF 1.2 whose target has only some of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from dragoman.documents.inline_elements import Flow, inline_parts, is_segment
from dragoman.documents.xml_tokens import XmlFile, XmlToken, opening


def has_content(tokens: Sequence[XmlToken]) -> bool:
    """Return True if there is text or code, beside elements that wrap nothing."""
    return any(
        token.text.strip() or (token.kind == "start" and token.name not in ("mrk", "g", "pc")) for token in tokens
    )


def completed_parts(file: XmlFile, source: int, target: int, *, is_preserved: bool) -> list[str | Flow]:
    """Return the parts of a target with the segments that it lacks; those that it has stay as they are.

    Args:
        source: the place of the element with the segments of the source.
        target: that of the target.
        is_preserved: a line break ends a segment.

    Returns:
        An empty list if it lacks none, or is not segmented.
    """
    tokens, ends = file.tokens, file.ends
    sources, targets = (dict(_segments(file, start)) for start in (source, target))
    sources = {mid: at for mid, at in sources.items() if not _is_empty(file, at)}
    if not targets or "" in sources or all(mid in targets and not _is_empty(file, targets[mid]) for mid in sources):
        return []

    def filled(mid: str) -> Iterator[str | Flow]:
        """Yield the source of a segment, in the tags that the target has for it."""
        at, start = targets.get(mid, sources[mid]), sources[mid]
        yield opening(tokens[at].raw)
        yield from inline_parts(file, start + 1, ends[start], is_preserved=is_preserved)
        yield tokens[ends[at]].raw or f"</{file.prefix}mrk>"

    leading, following = _without_element(sources, targets)
    parts = [part for mid in leading for part in (*filled(mid), " ")]
    at = target + 1
    while at < ends[target]:
        mid = tokens[at].attributes.get("mid", "") if is_segment(tokens[at]) else ""
        stop = ends[at] + 1 if mid else at + 1
        is_lacking = mid in sources and _is_empty(file, at)
        parts += filled(mid) if is_lacking else [token.raw for token in tokens[at:stop]]
        parts += [part for other in following.get(mid, ()) for part in (" ", *filled(other))]
        at = stop
    return parts


def _without_element(
    sources: Mapping[str, int], targets: Mapping[str, int]
) -> tuple[Sequence[str], Mapping[str, Sequence[str]]]:
    """Return the numbers of segments that have no element in the target: those at the start, and those after each."""
    following: dict[str, list[str]] = {"": []}
    last = ""
    for mid in sources:
        if mid in targets:
            last = mid
        else:
            following.setdefault(last, []).append(mid)
    return following.pop(""), following


def _segments(file: XmlFile, start: int) -> Iterator[tuple[str, int]]:
    """Yield the number and the place of each segment in an element."""
    for at in range(start + 1, file.ends[start]):
        if is_segment(file.tokens[at]):
            yield file.tokens[at].attributes.get("mid", ""), at


def _is_empty(file: XmlFile, at: int) -> bool:
    return not has_content(file.tokens[at + 1 : file.ends[at]])
