"""The inside of a translation that a running program makes: attention and search of its first segment, without PyTorch.

The engine searches again, one sentence alone, and keeps the tokens that it reads. L layers, H heads, T target tokens
with the end mark, S source tokens with the end mark.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from dragoman.decoding.hypothesis import Hypothesis
from dragoman.errors import printable
from dragoman.machine.arrays import Floats
from dragoman.runtime.compiled_model import CompiledModel
from dragoman.runtime.forced_steps import forced_attention
from dragoman.runtime.sentence_search import TraceNode, engine_of, is_fast, trace_sentence
from dragoman.settings.search_config import SearchConfig
from dragoman.text.tokenizer import Tokenizer
from dragoman.translator import Candidate, Request, SearchJob, StopCondition, Translator
from dragoman.translator.padding import pad_pairs
from dragoman.translator.searching import Search, candidate_of, sentence_of

#: The most weights of an attention that is shown: a segment of 90 tokens in a model of six layers of eight heads.
MOST_WEIGHTS = 400_000


@dataclass(frozen=True)
class Inside:
    """The attention and the search of a segment's translation."""

    source_text: str
    target_text: str
    source: tuple[str, ...]  # S
    #: The tokens that attend, the start mark first, and the token that each of them writes.
    read: tuple[str, ...]  # T
    written: tuple[str, ...]  # T
    #: (L, H, T, S): from each target position to each source token.
    weights: Floats
    #: The tokens that the search has read; the first is the start mark, and each comes after its parent.
    nodes: tuple[TraceNode, ...]
    node_tokens: tuple[str, ...]
    #: The n best, that of the translation first.
    hypotheses: tuple[Hypothesis, ...]


class _Traced(NamedTuple):
    """A search for one segment."""

    job: SearchJob
    nodes: list[TraceNode]
    candidates: list[Candidate]


def look_inside(translator: Translator, request: Request, config: SearchConfig, stop: StopCondition) -> Inside | None:
    """Translate the first segment of a text once more, and return what happened inside.

    Returns:
        None if nothing can be shown: the model has read nothing, there are several models, one on a GPU, the search
        samples or was led to words that the first one lost, or the segment is very long.

    Raises:
        ConfigError: as `Translator.translate`.
        StoppedError: `stop` came before the end.
    """
    engine = engine_of(translator.scorer.models)
    (text,) = translator.pipeline.plan([request], config).texts
    number = next((number for number, segment in enumerate(text.segments) if not segment.is_copied), None)
    if engine is None or number is None:
        return None
    first = replace(
        request, text=text.segments[number].text, prefix="" if number else request.prefix, align=False, context=()
    )
    tracing = _TracedSearch(engine, translator.tokenizers.target, translator.pipeline.searcher)
    jobs = translator.pipeline.plan([first], config).jobs
    if len(jobs) != 1 or not is_fast(sentence_of(jobs[0])):
        return None
    (translation,) = replace(translator.pipeline, searcher=tracing).translate([first], config, stop=stop)
    if (origin := _origin(tracing, translation.tokens)) is None:
        return None
    traced, chosen = origin
    n_rows, n_sources = len(chosen.hypothesis.ids) + 1, len(traced.job.ids) + 1
    if engine.config.n_decoder_layers * engine.config.n_heads * n_rows * n_sources > MOST_WEIGHTS:
        return None
    return _inside(translator, engine, first.text, traced, chosen)


class _TracedSearch:
    """A search that keeps what it has read. It searches for one sentence after the other.

    A search that is led to phrases is another one's, and is not kept.
    """

    def __init__(self, engine: CompiledModel, tokenizer: Tokenizer, led: Search) -> None:
        self._engine = engine
        self._tokenizer = tokenizer
        self._led = led
        self.traced: list[_Traced] = []
        #: What the other search has found.
        self.others: list[Candidate] = []

    def search(
        self, jobs: Sequence[SearchJob], *, batch_size: int | None = None, stop: StopCondition | None = None
    ) -> list[list[Candidate]]:
        """See `Pipeline.search`."""
        return [self._led_search(job, stop) if job.required else self._traced_search(job, stop) for job in jobs]

    def _led_search(self, job: SearchJob, stop: StopCondition | None) -> list[Candidate]:
        (candidates,) = self._led.search([job], stop=stop)
        self.others += candidates
        return candidates

    def _traced_search(self, job: SearchJob, stop: StopCondition | None) -> list[Candidate]:
        left = stop.seconds_left if stop is not None else None
        seconds = 0.0 if left is None else max(left, 1e-9)
        hypotheses, nodes = trace_sentence(self._engine, sentence_of(job), seconds=seconds)
        candidates = [candidate_of(self._tokenizer, hypothesis) for hypothesis in hypotheses]
        self.traced.append(_Traced(job, nodes, candidates))
        return candidates


def _origin(search: _TracedSearch, tokens: Sequence[str]) -> tuple[_Traced, Candidate] | None:
    """Return the search that a translation comes from, and its candidate: the first one, or a retry.

    None if it comes from a search that was not traced.
    """
    found = [(each, candidate) for each in search.traced for candidate in each.candidates]
    own = next((pair for pair in found if pair[1].tokens == tuple(tokens)), None)
    is_other = own is None and any(candidate.tokens == tuple(tokens) for candidate in search.others)
    return None if is_other else own or found[0]


def _inside(translator: Translator, engine: CompiledModel, text: str, traced: _Traced, chosen: Candidate) -> Inside:
    sources, targets = (translator.tokenizers.source, translator.tokenizers.target)
    ids = pad_pairs([(traced.job.ids, chosen.hypothesis.ids)], engine.special_ids)
    others = [each.hypothesis for each in traced.candidates if each is not chosen]
    return Inside(
        source_text=text,
        target_text=chosen.text,
        source=(*map(printable, sources.pieces(list(traced.job.ids))), "<eos>"),
        read=("<sos>", *chosen.tokens),
        written=(*chosen.tokens, "<eos>"),
        weights=forced_attention(engine, *ids)[:, 0],
        nodes=tuple(traced.nodes),
        node_tokens=("<sos>", *(printable(targets.pieces([node.id])[0]) for node in traced.nodes[1:])),
        hypotheses=(chosen.hypothesis, *others),
    )
