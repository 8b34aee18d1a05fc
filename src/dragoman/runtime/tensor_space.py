"""Room on a device for a search of one shape: its tensors, static caches of keys and values, and its step as a graph.

B sentences, N slots for hypotheses of each, S source, C steps that there is room for, H heads, K head width, D model
width, F forbidden ids.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Any, NamedTuple, cast

import torch
from torch import Tensor

from dragoman.decoding.faults import MAX_PERIOD
from dragoman.machine.cuda_graphs import capture
from dragoman.model.cache import LayerCache, Placed
from dragoman.model.transformer import Transformer
from dragoman.runtime.tensor_beam import NO_TOKEN, SearchTensors, SentenceTensors, advance


class Shape(NamedTuple):
    """The sizes by which one space differs from another."""

    n_sentences: int  # B
    n_slots: int  # N
    source_length: int  # S
    n_room: int  # C
    n_best: int
    n_forbidden: int  # F


@dataclass(frozen=True)
class StaticLayer:
    """One decoder layer's keys and values, as `dragoman.model.cache.LayerCache`, of up to C * N tokens of a sentence.

    Those of one step are side by side.
    """

    memory_keys: Tensor  # (B, H, S, K)
    memory_values: Tensor  # (B, H, S, W)
    keys: Tensor  # (B, H, C * N, K)
    values: Tensor  # (B, H, C * N, W)
    places: Tensor  # (N,): of the tokens that are read next

    def append(self, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
        """Put keys (B, H, N, K) and values (B, H, N, W) into their places, and return all."""
        self.keys.index_copy_(2, self.places, keys.to(self.keys.dtype))
        self.values.index_copy_(2, self.places, values.to(self.values.dtype))
        return self.keys, self.values


class Space:
    """The tensors of a search (`dragoman.model.cache.Cache`). They stay where they are, as a captured step needs."""

    def __init__(self, model: Transformer, shape: Shape, search: SearchTensors) -> None:
        self.shape, self._model, self._search = shape, model, search
        self.sentences = empty_sentences(shape, search.n_written.device)
        device = search.n_written.device
        self._slots = torch.arange(shape.n_slots, device=device)
        self._places = self._slots.clone()
        self._source_mask = torch.zeros(shape.n_sentences, 1, 1, shape.source_length, dtype=torch.bool, device=device)
        self.source_mask: Tensor | None = self._source_mask
        self._layers = self._empty_layers()
        self.layers = cast("list[LayerCache]", self._layers)
        self.placed = Placed(search.n_written, None)
        self._graph: torch.cuda.CUDAGraph | None = None
        self.has_run = False

    def place(self, target_ids: Tensor) -> Placed:
        """Return the position and the mask of the tokens that are read next."""
        return self.placed

    def step(self) -> None:
        """Read the tokens that the hypotheses wrote last, and write the next ones."""
        if self._graph is None:
            self._step()
            self.has_run = True
        else:
            self._graph.replay()

    @property
    def has_graph(self) -> bool:
        """True if its step was captured."""
        return self._graph is not None

    def capture(self, pool: Any, stream: torch.cuda.Stream) -> None:
        """Make a graph of the step, which must have run once before. Graphs of a pool and a stream share memory."""
        self._graph = capture(self._step, pool, stream)

    def take(self, other: Space | Beginning, rows: Tensor) -> None:
        """Copy the sentences of `rows` (B',), at most B, from a space that is not larger in other dimensions."""
        self.sentences.close_all()
        self._source_mask.zero_()
        for mine, theirs in zip(self.tensors(), other.tensors(), strict=True):
            mine[tuple(slice(0, size) for size in (len(rows), *theirs.shape[1:]))] = theirs.index_select(0, rows)

    @property
    def n_bytes(self) -> int:
        """Memory of its tensors."""
        return sum(tensor.nbytes for tensor in self.tensors())

    def tensors(self) -> Iterator[Tensor]:
        """Yield all tensors whose first dimension is the sentence, in the order of those of a `Beginning`."""
        caches = ((layer.memory_keys, layer.memory_values, layer.keys, layer.values) for layer in self._layers)
        return chain(self.sentences.tensors(), [self._source_mask], *caches)

    def _step(self) -> None:
        t, sentences, n_slots = self._search.n_written, self.sentences, self.shape.n_slots
        sentences.path.index_copy_(2, t, self._slots[:, None].expand(len(sentences.path), n_slots, 1))
        torch.add(t * n_slots, self._slots, out=self._places)
        mask = (sentences.path[..., None] == self._slots).flatten(2)  # (B, N, C * N)
        self.placed = Placed(t, mask[:, None])
        hidden = self._model.step(sentences.last_ids, self)
        advance(self._search, sentences, self._model.project(hidden).log_softmax(dim=-1, dtype=torch.float32))

    def _empty_layers(self) -> list[StaticLayer]:
        """Return caches of zeros: old numbers are hidden by masks, but NaN would not be."""
        config, shape, parameter = self._model.config, self.shape, next(self._model.parameters())

        n_tokens, (key_width, value_width) = shape.n_room * shape.n_slots, config.head_widths

        def zeros(length: int, width: int) -> Tensor:
            return parameter.new_zeros(shape.n_sentences, config.n_heads, length, width)

        return [
            StaticLayer(
                memory_keys=zeros(shape.source_length, key_width),
                memory_values=zeros(shape.source_length, value_width),
                keys=zeros(n_tokens, key_width),
                values=zeros(n_tokens, value_width),
                places=self._places,
            )
            for _ in range(config.n_decoder_layers)
        ]


class Beginning(NamedTuple):
    """Sentences whose sources were read and whose hypotheses have written nothing; B and S are as they come."""

    sentences: SentenceTensors
    source_mask: Tensor  # (B, 1, 1, S)
    layers: list[LayerCache]

    def tensors(self) -> Iterator[Tensor]:
        """Yield the tensors of a `Space`, in its order; those of tokens are empty."""
        memories = ((layer.memory_keys, layer.memory_values) for layer in self.layers)
        caches = ((keys, values, keys[:, :, :0], values[:, :, :0]) for keys, values in memories)
        return chain(self.sentences.tensors(), [self.source_mask], *caches)


def empty_sentences(shape: Shape, device: torch.device) -> SentenceTensors:
    """Return sentences whose slots are all closed."""
    n, slots, room = shape.n_sentences, (shape.n_sentences, shape.n_slots), shape.n_room
    ids = torch.zeros(n, dtype=torch.int64, device=device)
    by_slot, records, periods = ids.new_zeros(slots), ids.new_zeros(n, room, shape.n_slots), (*slots, MAX_PERIOD)
    return SentenceTensors(
        written=ids,
        usual_lengths=ids.new_zeros(n, 2),
        fewest_repeats=ids.new_zeros(n, MAX_PERIOD),
        largest_penalty=ids.new_ones(n, dtype=torch.float32),
        forbidden=ids.new_zeros(n, shape.n_forbidden),
        forced=ids.new_full((n, room), -1),
        last_ids=by_slot,
        log_prob=torch.full(slots, -torch.inf, device=device),
        total=torch.zeros(slots, dtype=torch.float64, device=device),
        path=ids.new_full((*slots, room), -1),
        recent=ids.new_full(periods, NO_TOKEN),
        runs=ids.new_zeros(periods),
        is_repetitive=torch.zeros(slots, dtype=torch.bool, device=device),
        width=ids.new_zeros(n),
        best_scores=torch.full((n, shape.n_best), -torch.inf, dtype=torch.float64, device=device),
        chosen_start=ids.new_zeros(n),
        tokens=records,
        parents=records.clone(),
        log_probs=records.float(),
        events=records.to(torch.uint8),
    )
