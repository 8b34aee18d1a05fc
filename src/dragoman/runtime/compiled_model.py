"""The Transformer compiled (`native/`): a step of the search is one call.

B sentences, S source, N slots for hypotheses of a sentence, R of them open, C tokens read for a sentence, D model
width, H heads, K and W widths of a key and a value, V target vocabulary.
"""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import save

from dragoman.bundle.layout import Layout
from dragoman.bundle.weights import StoredWeights
from dragoman.machine.arrays import Bools, Floats, Ints
from dragoman.native.kernels import EngineObject, Kernels, address, header
from dragoman.runtime.engine_config import engine_config
from dragoman.runtime.key_value_cache import KeyValueCache, rounded_up
from dragoman.runtime.projection import ProjectedScores
from dragoman.runtime.recurrent_states import NO_STATES, RecurrentStates
from dragoman.settings.model_config import ModelConfig
from dragoman.text.special_ids import SpecialIdPair

#: Added to the score of a key that a query must not attend to: its exponential is 0.
MASKED = np.float32(-1e9)
#: For more of the highest scores than this, NumPy is faster: its time does not grow with their square.
MOST_SORTED = 100


class CompiledModel:
    """A Transformer whose weights are packed for compiled kernels (`dragoman.decoding.state.Model`).

    Args:
        weights: float32, by their names in `dragoman.Transformer`; of tied ones the first name is enough.
        kernels: one of `usable_kernels`.
    """

    def __init__(
        self,
        config: ModelConfig,
        weights: Mapping[str, Floats],
        kernels: Kernels,
        special_ids: SpecialIdPair = SpecialIdPair(),
    ) -> None:
        self.config, self.kernels, self.special_ids = config, kernels, special_ids
        # An infinite or NaN weight ends in a NaN, which the search refuses with an error of its own.
        self.loaded = kernels.load(engine_config(config, special_ids), _file(config, weights), allows_nan=True)
        # Zeros, then a vector of `MASKED`. Zeros that nobody reads take no RAM.
        self._open_mask_bias = np.zeros(config.max_length + kernels.lanes, dtype=np.float32)
        self._open_mask_bias[config.max_length :] = MASKED
        self._open_end = address(self._open_mask_bias[config.max_length :])

    @property
    def n_output_bytes(self) -> int:
        """Bytes of the output weights, which every decoding step reads, unless there are short-lists."""
        n_bytes = 1 if self.kernels.largest_weight else np.dtype(self.kernels.operand).itemsize
        return self.config.target_vocab_size * self.config.d_model * n_bytes

    def start(self, source_ids: Ints, short_lists: Sequence[Ints] = ()) -> CompiledSteps:
        """Read the sources (B, S), which end in eos and then padding.

        Args:
            short_lists: the only ids that each translation may have, those of its prefix and the end mark among them;
                none for the whole vocabulary. The probabilities of others are 0.
        """
        n_sentences, length = source_ids.shape
        if not 0 < length <= self.config.max_length:
            raise ValueError(f"a source of {length} tokens for a model that reads {self.config.max_length}")
        ids = np.ascontiguousarray(source_ids, dtype=np.int64)
        mask_bias = self.mask_bias(ids != self.special_ids.source.pad)
        short_list = self.kernels.make_short_list(self.loaded, short_lists) if short_lists else None
        steps = CompiledSteps(self, (n_sentences, length), mask_bias, short_list)
        sizes, caches = (n_sentences, length), steps.memory_caches
        self.kernels.read_sources(self.loaded.pointer, address(ids), *sizes, address(mask_bias), caches)
        return steps

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


def _file(config: ModelConfig, weights: Mapping[str, Floats]) -> bytes | NDArray[np.uint8]:
    """Return the bytes of a safetensors file with the weights: those of the file that they come from, if they do."""
    if isinstance(weights, StoredWeights):
        return weights.file
    return save({name: weights[name] for name in Layout(config).shapes()})


@dataclass(frozen=True)
class ShortListedModel:
    """A compiled model with a short-list for each source (`dragoman.decoding.state.Model`).

    Args:
        short_lists: the ids that the translation of each of the sources may have, as for `CompiledModel.start`.
    """

    model: CompiledModel
    short_lists: Sequence[Ints]

    @property
    def config(self) -> ModelConfig:
        """See `Model`."""
        return self.model.config

    @property
    def special_ids(self) -> SpecialIdPair:
        """See `Model`."""
        return self.model.special_ids

    def start(self, source_ids: Ints) -> CompiledSteps:
        """See `Model`."""
        return self.model.start(source_ids, self.short_lists)


class CompiledSteps:
    """Sentences that are being translated, with the keys and values of their memory and of the tokens read so far.

    The keys and values of a sentence stay where they were put at the start; nothing is copied when others are done.
    """

    def __init__(
        self, model: CompiledModel, shape: tuple[int, int], mask_bias: Floats, short_list: EngineObject | None
    ) -> None:
        n_sentences, length = shape
        self._model, self._short_list = model, short_list
        self._memory_cache = KeyValueCache(model.config, model.kernels, n_sentences, length)
        self._target_cache = KeyValueCache(model.config, model.kernels, n_sentences, 0)
        self._states = RecurrentStates(model.config, n_sentences) if model.config.decoder_layer == "ssru" else None
        self._memory_mask_bias = mask_bias  # (B, S up to whole vectors)
        self._n_read = 0  # C
        self._cache_rows = np.arange(n_sentences)  # of the sentences that are left
        self._struct = header().structure(
            "SearchState",
            source_length=length,
            memory_caches=ctypes.addressof(self._memory_cache.structs),
            target_caches=ctypes.addressof(self._target_cache.structs),
            memory_mask_bias=address(mask_bias),
            cache_rows=address(self._cache_rows),
        )

    @property
    def memory_caches(self) -> int:
        """The address of the structures of the memory's keys and values, one for each decoder layer."""
        return ctypes.addressof(self._memory_cache.structs)

    def step(
        self, ids: Ints, position: int, ancestry: Bools | None, slots: Ints, attention: Floats | None = None
    ) -> CompiledScores:
        """See `dragoman.decoding.state.Steps`.

        Args:
            attention: the rows' weights of the memory, (layers, R, H, S), are written here.
        """
        model, n_slots = self._model, ids.shape[1]
        if position >= model.config.max_length:
            raise IndexError(f"position {position} of a model that has {model.config.max_length}")
        ids, slots = (np.ascontiguousarray(array, dtype=np.int64) for array in (ids, slots))
        n_read, n_rows = self._n_read, len(slots)
        self._n_read += n_slots
        mask_bias, mask_stride, states = None, 0, NO_STATES
        if self._states is not None:
            states = self._states.next_step(self._cache_rows, ancestry, slots, n_slots)
        else:
            # A translation is mostly as long as its source.
            self._target_cache.reserve(self._n_read, n_read + n_slots * self._struct.source_length, self._cache_rows)
            if ancestry is None:
                mask_bias = model.open_mask_bias(self._n_read)
            else:
                rows = model.mask_bias(ancestry.reshape(-1, self._n_read)[slots])
                mask_bias, mask_stride = address(rows), rows.shape[1]
        hidden = np.empty((n_rows, model.config.d_model), dtype=np.float32)
        step = header().structure(
            "Step",
            ids=address(ids),
            slots=address(slots),
            n_slots=n_slots,
            n_rows=n_rows,
            n_read=n_read,
            position=position,
            mask_bias=mask_bias,
            mask_stride=mask_stride,
            attention=None if attention is None else address(attention),
            **states,
        )
        structs = ctypes.byref(self._struct), ctypes.byref(step)
        model.kernels.decode(model.loaded.pointer, *structs, address(hidden))
        return CompiledScores(hidden, model, self._short_list, self._cache_rows[slots // n_slots])

    def keep(self, sentences: Ints) -> None:
        """See `dragoman.decoding.state.Steps`."""
        self._cache_rows = self._cache_rows[sentences]
        self._struct.cache_rows = address(self._cache_rows)


class CompiledScores(ProjectedScores):
    """Scores whose highest are found while they are computed.

    Args:
        hidden: the output of the decoder for each row, (R, D).
        short_list: the tokens that are scored; None for the whole vocabulary.
        lists: the number of each row's list in the short-list, (R,); None for the first.
    """

    def __init__(
        self, hidden: Floats, model: CompiledModel, short_list: EngineObject | None = None, lists: Ints | None = None
    ) -> None:
        self._rows = _ScoredRows(hidden, model, short_list, lists)
        super().__init__(len(hidden), self._rows.all_scores, model.config.target_vocab_size)

    def best_scores(self, k: int) -> tuple[Floats, Ints]:
        """See `ProjectedScores`."""
        if k > MOST_SORTED:
            return super().best_scores(k)
        return self._rows.best_scores(min(k, self._vocab_size), self._forbidden)


@dataclass(frozen=True)
class _ScoredRows:
    """The rows of `CompiledScores`. Apart from it, so that no cycle of references keeps it alive."""

    hidden: Floats
    model: CompiledModel
    short_list: EngineObject | None
    lists: Ints | None

    def best_scores(self, k: int, forbidden: Sequence[int]) -> tuple[Floats, Ints]:
        n_rows = len(self.hidden)
        values, ids = np.empty((n_rows, k), dtype=np.float32), np.empty((n_rows, k), dtype=np.int64)
        ids_of_forbidden = (ctypes.c_int64 * len(forbidden))(*forbidden)
        rows, best = ctypes.byref(self._struct(slice(0, n_rows))), (k, address(values), address(ids))
        self.model.kernels.best_scores(self.model.loaded.pointer, rows, ids_of_forbidden, len(forbidden), *best)
        return values, ids

    def all_scores(self, some: slice) -> Floats:
        scores = np.empty((some.stop - some.start, self.model.config.target_vocab_size), dtype=np.float32)
        rows = ctypes.byref(self._struct(some))
        self.model.kernels.all_scores(self.model.loaded.pointer, rows, address(scores))
        return scores

    def _struct(self, some: slice) -> ctypes.Structure:
        return header().structure(
            "ScoredRows",
            hidden=address(self.hidden[some]),
            n_rows=some.stop - some.start,
            short_list=None if self.short_list is None else self.short_list.pointer,
            lists=None if self.lists is None else address(self.lists[some]),
        )
