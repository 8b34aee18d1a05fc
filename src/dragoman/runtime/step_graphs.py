"""The spaces of a device's searches: made when a shape is new, kept on a CUDA device, and their steps captured there.

A captured step is launched at once, where its operations take longer to be launched than to be computed.
"""

from __future__ import annotations

import logging
from typing import Any

import torch
from torch import Tensor

from dragoman.model.transformer import Transformer
from dragoman.runtime.tensor_beam import SearchTensors
from dragoman.runtime.tensor_space import Beginning, Shape, Space
from dragoman.settings.model_config import ModelConfig

_log = logging.getLogger(__name__)

#: Steps that the first space has room for: one more size costs a copy, and where there are graphs, a graph.
FIRST_ROOM = 32
#: A source is padded to a multiple of this on a CUDA device, and above four times this to a power of two.
SOURCE_UNIT = 16
#: Up to this number of sentences, each size of a space is twice the one before; above, there is one more between them.
MOST_DOUBLED = 64

#: The shares of a card's memory that kept spaces may take together, and that one batch may take.
KEPT_SHARE, BATCH_SHARE = 0.3, 0.1
#: The least and most source tokens of a batch on a card.
FEWEST_TOKENS, MOST_TOKENS = 1024, 16_384
#: A usual beam, the length of a short sentence, and the room for a translation, as a multiple of its source.
USUAL_SLOTS, SHORT_LENGTH, ROOM_RATIO = 5, 16, 2


def tokens_that_fit(config: ModelConfig, bytes_per_number: int, memory: int) -> int:
    """Return the source tokens, padding included, that a card of so many bytes should search at once: a power of two.

    A larger batch is faster, up to some size: a step of few sentences takes as long as one of many.
    """
    heads = config.n_decoder_layers * config.n_heads * sum(config.head_widths) * bytes_per_number
    scores = config.target_vocab_size * (bytes_per_number + 8)  # and in float32, twice
    per_token = heads * (1 + ROOM_RATIO * USUAL_SLOTS) + scores * USUAL_SLOTS // SHORT_LENGTH
    n_tokens = int(BATCH_SHARE * memory) // per_token
    return min(max(FEWEST_TOKENS, 1 << max(0, n_tokens.bit_length() - 1)), MOST_TOKENS)


class Spaces:
    """Spaces for one search after the other.

    Args:
        search: what they share.
        kept_bytes: memory that kept spaces may take together; 0 keeps none, and rounds no sizes.
    """

    def __init__(self, model: Transformer, search: SearchTensors, kept_bytes: int) -> None:
        self._model, self._search, self._device = model, search, search.n_written.device
        self._kept_bytes, self._has_graphs = kept_bytes, self._device.type == "cuda"
        self._kept: dict[Shape, Space] = {}  # the last used last
        self._pool: Any = None
        self._stream: torch.cuda.Stream | None = None

    def first(self, beginning: Beginning, n_best: int) -> Space:
        """Return a space with sentences that have written nothing."""
        sentences = beginning.sentences
        n_sentences, n_slots = sentences.log_prob.shape
        source_length, n_forced = beginning.source_mask.size(3), sentences.forced.size(1)
        shape = Shape(
            self.rounded(n_sentences),
            n_slots,
            self._rounded_length(source_length),
            self._room(max(FIRST_ROOM, _power_of_two(n_forced))),
            n_best,
            sentences.forbidden.size(1),
        )
        space = self._space(shape)
        space.take(beginning, torch.arange(n_sentences, device=self._device))
        return space

    def moved(self, space: Space, rows: Tensor, *, is_full: bool) -> Space:
        """Return another space with some sentences of this one, and twice the room if it is full."""
        n_room = self._room(2 * space.shape.n_room) if is_full else space.shape.n_room
        other = self._space(space.shape._replace(n_sentences=self.rounded(len(rows)), n_room=n_room))
        other.take(space, rows)
        return other

    def step(self, space: Space) -> None:
        """Take a step: the first of a space as it is, which loads what it needs, and then as a graph."""
        if space.has_run and not space.has_graph and self._has_graphs:
            self._capture(space)
        space.step()

    def clear(self) -> None:
        """Drop all kept spaces."""
        self._kept.clear()
        self._pool = None  # a pool without graphs cannot be used again

    def rounded(self, n_sentences: int) -> int:
        """Return the number of sentences of the smallest space for so many."""
        if not self._kept_bytes:
            return n_sentences
        power = _power_of_two(n_sentences)
        return power * 3 // 4 if power > MOST_DOUBLED and n_sentences <= power * 3 // 4 else power

    def _rounded_length(self, source_length: int) -> int:
        if not self._kept_bytes:
            return source_length
        units = -(-source_length // SOURCE_UNIT)
        return SOURCE_UNIT * (units if units <= 4 else _power_of_two(units))

    def _room(self, n_steps: int) -> int:
        return min(n_steps, self._model.config.max_length)

    def _space(self, shape: Shape) -> Space:
        space = self._kept.pop(shape, None)
        if space is None:
            try:
                space = Space(self._model, shape, self._search)
            except torch.OutOfMemoryError:
                self.clear()
                torch.cuda.empty_cache()
                space = Space(self._model, shape, self._search)
        if self._kept_bytes:
            self._kept[shape] = space
            while len(self._kept) > 1 and sum(each.n_bytes for each in self._kept.values()) > self._kept_bytes:
                self._kept.pop(next(iter(self._kept)))
        return space

    def _capture(self, space: Space) -> None:
        self._stream = self._stream or torch.cuda.Stream(self._device)
        self._pool = self._pool or torch.cuda.graph_pool_handle()
        try:
            space.capture(self._pool, self._stream)
        except RuntimeError as error:
            self._has_graphs = False
            _log.warning(f"the search goes on without CUDA graphs, slower: {str(error).splitlines()[0]}")


def _power_of_two(n: int) -> int:
    """Return the smallest power of two that is at least n."""
    return 1 << max(0, n - 1).bit_length()
