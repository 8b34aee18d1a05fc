"""A look inside a translation, for the page and for those who ask for it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from dragoman.inspection.inside import Inside
from dragoman.server.server_parts import ServerParts
from dragoman.server.texts import AskedText, TranslatedText

#: By which weights are multiplied, so that they are short in JSON.
_SCALE = 10_000


async def inside_answer(parts: ServerParts, asked: AskedText, answer: TranslatedText) -> dict[str, Any] | None:
    """Look inside the translation of a text: of its first line's first segment.

    Returns:
        None if nothing can be shown; see `look_inside`. Through a third language, and of a line with terms, nothing is.

    Raises:
        ApiError, DeadlineError: as `TranslationService.translate`.
    """
    if len(answer.legs) != 1 or not answer.lines.lines:
        return None
    line = asked.part(answer.lines.lines[0], is_first=True)
    if line.terms:
        return None  # the shown search would differ from the one that made the translation
    line = replace(line, align=False, doubts=False)
    return await parts.service.look_inside(answer.legs[0], line, asked.options, _answer)


def _answer(inside: Inside, beam_size: int) -> dict[str, Any]:
    return {
        "source_text": inside.source_text,
        "target_text": inside.target_text,
        "source": inside.source,
        "read": inside.read,
        "written": inside.written,
        "attention": (inside.weights * _SCALE).round().astype(int).tolist(),
        "beam_size": beam_size,
        "nodes": [
            {**node._asdict(), "token": token} for node, token in zip(inside.nodes, inside.node_tokens, strict=True)
        ],
        "hypotheses": [
            {
                "ids": one.ids,
                "finished": one.finished,
                "score": one.score,
                "log_prob": one.log_prob,
                "log_probs": one.token_log_probs,
            }
            for one in inside.hypotheses
        ],
    }
