"""The Transformer compiled (`native/kernels.c`): the function of `ArrayModel`, in one call a step instead of 200.

B sentences, S source, N slots for hypotheses of a sentence, R of them open, C tokens read for a sentence, D model
width, H heads, K and W widths of a key and a value, V target vocabulary.
"""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence

import numpy as np

from dragoman.bundle.layout import Layout
from dragoman.machine.arrays import Bools, Floats, Ints
from dragoman.native.kernels import (
    DecoderStruct,
    Kernels,
    LayerStruct,
    SearchStateStruct,
    StepStruct,
    address,
)
from dragoman.runtime.embedding import Embedding, PositionTable
from dragoman.runtime.folding import search_weights
from dragoman.runtime.key_value_cache import KeyValueCache
from dragoman.runtime.packing import Packer, rounded_up
from dragoman.runtime.parameters import MASKED
from dragoman.runtime.projection import ProjectedScores
from dragoman.settings.model_config import ModelConfig
from dragoman.text.special_ids import SpecialIdPair

#: For more of the highest scores than this, NumPy is faster: its time does not grow with their square.
MOST_SORTED = 100


class CompiledModel:
    """A Transformer whose weights are packed for compiled kernels (`dragoman.decoding.state.Model`).

    Args:
        weights: float32, by their names in `dragoman.Transformer`; of tied ones the first name is enough.
        kernels: one of `usable_kernels`.
    """

    # An overflow ends in a NaN, which the search refuses with an error of its own.
    @np.errstate(all="ignore")
    def __init__(
        self,
        config: ModelConfig,
        weights: Mapping[str, Floats],
        kernels: Kernels,
        special_ids: SpecialIdPair = SpecialIdPair(),
    ) -> None:
        self.config, self.kernels, self.special_ids = config, kernels, special_ids
        weights, layout = search_weights(config, weights), Layout(config)
        pack = Packer(config, weights, kernels)
        self._source_embedding = Embedding(weights, layout.source_embedding, config)
        self.target_embedding = Embedding(weights, layout.target_embedding, config)
        has_angles = config.positions == "rotary"
        self.angles = PositionTable(config.max_length, config.head_widths[0], halves=True) if has_angles else None
        self._encoder_layers = [pack.layer(layer) for layer in layout.encoder_layers]
        self._encoder_norm = pack.norm(layout.encoder_norm)
        decoder_layers = [pack.layer(layer) for layer in layout.decoder_layers]
        self.decoder_layers = (LayerStruct * len(decoder_layers))(*decoder_layers)
        self.shape = pack.shape()
        self.decoder = DecoderStruct(
            shape=self.shape,
            embedding=pack.embedding(self.target_embedding),
            n_layers=len(decoder_layers),
            layers=ctypes.addressof(self.decoder_layers),
            norm=pack.norm(layout.decoder_norm),
        )
        self.output_projection = pack.linear(layout.output)
        self._arrays = pack.arrays  # which the structures point to
        # Zeros, then a vector of `MASKED`. Zeros that nobody reads take no RAM.
        self._open_mask_bias = np.zeros(config.max_length + kernels.lanes, dtype=np.float32)
        self._open_mask_bias[config.max_length :] = MASKED
        self._open_end = address(self._open_mask_bias[config.max_length :])

    @np.errstate(all="ignore")
    def start(self, source_ids: Ints) -> CompiledSteps:
        """Read the sources (B, S), which end in eos and then padding."""
        n_sentences, length = source_ids.shape
        if not 0 < length <= self.config.max_length:
            raise ValueError(f"a source of {length} tokens for a model that reads {self.config.max_length}")
        mask_bias = self.mask_bias(source_ids != self.special_ids.source.pad)
        x = self._source_embedding(source_ids, slice(length))
        steps = CompiledSteps(self, n_sentences, length, mask_bias)
        angles = None if self.angles is None else self.angles.rows(slice(length))
        masks_and_angles = address(mask_bias), None if angles is None else address(angles)
        shape, is_layerwise = ctypes.byref(self.shape), self.config.memory == "layerwise"
        for number, layer in enumerate(self._encoder_layers):
            self.kernels.encode(shape, ctypes.byref(layer), address(x), n_sentences, length, *masks_and_angles)
            if is_layerwise:
                steps.read_memory(self._memory(x.copy()), [number])
        if not is_layerwise:
            steps.read_memory(self._memory(x), range(len(self.decoder_layers)))
        return steps

    def project(self, hidden: Floats) -> Floats:
        """hidden (R, D) -> log-probabilities (R, V)."""
        scores = np.empty((len(hidden), self.config.target_vocab_size), dtype=np.float32)
        self.kernels.all_scores(ctypes.byref(self.output_projection), address(hidden), len(hidden), address(scores))
        return scores

    def mask_bias(self, mask: Bools) -> Floats:
        """Return what is added to the scores of keys: mask (..., C) -> 0 or `MASKED`, (..., C up to whole vectors)."""
        n_keys = mask.shape[-1]
        bias = np.full((*mask.shape[:-1], rounded_up(n_keys, self.kernels.lanes)), MASKED)
        bias[..., :n_keys][mask] = 0
        return bias

    def open_mask_bias(self, n_keys: int) -> int:
        """Return the address of a mask bias that masks no key: zeros, then `MASKED` up to a whole vector.

        n_keys is at most what the model reads.
        """
        return self._open_end - n_keys * self._open_mask_bias.itemsize

    def _memory(self, x: Floats) -> Floats:
        self.kernels.normalise_rows(ctypes.byref(self.shape), ctypes.byref(self._encoder_norm), address(x), len(x))
        return x


class CompiledSteps:
    """Sentences that are being translated, with the keys and values of their memory and of the tokens read so far.

    The keys and values of a sentence stay where they were put at the start; nothing is copied when others are done.
    """

    def __init__(self, model: CompiledModel, n_sentences: int, length: int, mask_bias: Floats) -> None:
        self._model = model
        self._memory_cache = KeyValueCache(model.config, model.kernels, n_sentences, length)
        self._target_cache = KeyValueCache(model.config, model.kernels, n_sentences, 0)
        self._memory_mask_bias = mask_bias  # (B, S up to whole vectors)
        self._n_read = 0  # C
        self._cache_rows = np.arange(n_sentences)  # of the sentences that are left
        caches = (ctypes.addressof(cache.structs) for cache in (self._memory_cache, self._target_cache))
        self._struct = SearchStateStruct(length, *caches, address(mask_bias), address(self._cache_rows))

    def read_memory(self, memory: Floats, layers: Sequence[int]) -> None:
        """Compute from memory (B * S, D) the keys and values that some decoder layers attend to."""
        model, length = self._model, self._struct.source_length
        sizes = len(memory) // length, length
        for number in layers:
            layer, cache = ctypes.byref(model.decoder_layers[number]), ctypes.byref(self._memory_cache.structs[number])
            model.kernels.read_memory(ctypes.byref(model.shape), layer, address(memory), *sizes, cache)

    def step(self, ids: Ints, position: int, ancestry: Bools | None, slots: Ints) -> CompiledScores:
        """See `dragoman.decoding.state.Steps`."""
        model, n_slots = self._model, ids.shape[1]
        if position >= model.config.max_length:
            raise IndexError(f"position {position} of a model that has {model.config.max_length}")
        ids, slots = (np.ascontiguousarray(array, dtype=np.int64) for array in (ids, slots))
        n_read, n_rows = self._n_read, len(slots)
        self._n_read += n_slots
        # A translation is mostly as long as its source.
        self._target_cache.reserve(self._n_read, n_read + n_slots * self._struct.source_length, self._cache_rows)
        if ancestry is None:
            mask_bias, mask_stride = model.open_mask_bias(self._n_read), 0
        else:
            rows = model.mask_bias(ancestry.reshape(-1, self._n_read)[slots])
            mask_bias, mask_stride = address(rows), rows.shape[1]
        hidden = np.empty((n_rows, model.config.d_model), dtype=np.float32)
        at = slice(position, position + 1)
        added = model.target_embedding.position_vectors(at)
        angles = None if model.angles is None else model.angles.rows(at)
        tokens = address(ids), address(slots), n_slots, n_rows, n_read
        positions = (None if array is None else address(array) for array in (added, angles))
        step = StepStruct(*tokens, *positions, mask_bias, mask_stride)
        model.kernels.decode(
            ctypes.byref(model.decoder), ctypes.byref(self._struct), ctypes.byref(step), address(hidden)
        )
        return CompiledScores(hidden, model)

    def keep(self, sentences: Ints) -> None:
        """See `dragoman.decoding.state.Steps`."""
        self._cache_rows = self._cache_rows[sentences]
        self._struct.cache_rows = address(self._cache_rows)


class CompiledScores(ProjectedScores):
    """Scores whose highest are found while they are computed."""

    def __init__(self, hidden: Floats, model: CompiledModel) -> None:
        super().__init__(hidden, model.project, model.config.target_vocab_size)
        self._model = model

    def top_k(self, k: int) -> tuple[Floats, Ints]:
        """See `dragoman.decoding.scores.Scores`."""
        if self._matrix is not None or k > MOST_SORTED:
            return super().top_k(k)
        n_rows, k = len(self._hidden), min(k, self._vocab_size)
        values, ids = np.empty((n_rows, k), dtype=np.float32), np.empty((n_rows, k), dtype=np.int64)
        forbidden = (ctypes.c_int64 * len(self._forbidden))(*self._forbidden)
        projection = ctypes.byref(self._model.output_projection)
        rows = address(self._hidden), n_rows, forbidden, len(forbidden)
        self._model.kernels.best_scores(projection, *rows, k, address(values), address(ids))
        return values, ids
