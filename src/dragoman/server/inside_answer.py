"""A look inside a translation, for the page and for those who ask for it."""

from __future__ import annotations

from dragoman.inspection.inside import Inside
from dragoman.server.line_request import LineRequest
from dragoman.server.native_schema import HypothesisAnswer, InsideAnswer, NodeAnswer
from dragoman.server.server_parts import ServerParts
from dragoman.server.term_lists import terms_in
from dragoman.server.texts import TranslatedText, WantedText

#: By which weights are multiplied, so that they are short in JSON.
_SCALE = 10_000


async def inside_answer(parts: ServerParts, wanted: WantedText, answer: TranslatedText) -> InsideAnswer | None:
    """Look inside the translation of a text: of its first line's first segment.

    Returns:
        None if nothing can be shown; see `look_inside`. Through a third language, and of a line with terms, nothing is.

    Raises:
        ApiError, DeadlineError: as `TranslationService.translate`.
    """
    if len(answer.legs) != 1 or not answer.lines.lines:
        return None
    text = answer.lines.lines[0]
    if terms_in(text, wanted.terms):
        return None  # the shown search would differ from the one that made the translation
    line = LineRequest(text, wanted.prefix, plain=wanted.plain)
    return await parts.service.look_inside(answer.legs[0], line, wanted.options, _answer)


def _answer(inside: Inside, beam_size: int) -> InsideAnswer:
    return InsideAnswer(
        source_text=inside.source_text,
        target_text=inside.target_text,
        source=list(inside.source),
        read=list(inside.read),
        written=list(inside.written),
        attention=(inside.weights * _SCALE).round().astype(int).tolist(),
        beam_size=beam_size,
        nodes=[
            NodeAnswer(parent=node.parent, id=node.id, token=token, log_prob=node.log_prob, total=node.total)
            for node, token in zip(inside.nodes, inside.node_tokens, strict=True)
        ],
        hypotheses=[
            HypothesisAnswer(
                ids=list(each.ids),
                finished=each.finished,
                score=each.score,
                log_prob=each.log_prob,
                log_probs=list(each.token_log_probs),
            )
            for each in inside.hypotheses
        ],
    )
