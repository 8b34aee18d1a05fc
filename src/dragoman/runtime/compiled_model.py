"""`ArrayModel`'s function with each layer compiled (`kernels.c`): a call a step, where NumPy takes two hundred.

B sentences, S source, N slots for hypotheses of a sentence, R of them open, C tokens read for a sentence, D model
width, H heads, K and W widths of a key and a value, V target vocabulary.
"""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from dragoman.bundle.layout import Layout
from dragoman.machine.arrays import Bools, Floats, Ints
from dragoman.native.kernels import (
    DecoderStruct,
    Kernels,
    LayerStruct,
    SentencesStruct,
    StepStruct,
    TokensStruct,
    address,
)
from dragoman.runtime.embedding import Embedding, PositionTable
from dragoman.runtime.folding import search_weights
from dragoman.runtime.packing import Packer, rounded_up
from dragoman.runtime.parameters import MASKED
from dragoman.runtime.projection import ProjectedScores
from dragoman.settings.model_config import ModelConfig
from dragoman.text.special_ids import SpecialIdPair

#: More of the highest scores than this are found in NumPy, in less than quadratic time.
MOST_SORTED = 100


class CompiledModel:
    """A Transformer's weights, packed for kernels (`dragoman.decoding.state.Model`).

    Args:
        weights: float32, by their names in `dragoman.Transformer`; of tied ones the first name is enough.
        kernels: one of `usable_kernels`.
    """

    # Whatever overflows ends in a NaN, which the search refuses with an error of its own.
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
        # Zeros, then a vector of `MASKED`: its end is what is added where all keys are seen.
        # Zeros that nobody reads take no memory.
        self._seen = np.zeros(config.max_length + kernels.lanes, dtype=np.float32)
        self._seen[config.max_length :] = MASKED
        self._seen_end = address(self._seen[config.max_length :])

    @np.errstate(all="ignore")
    def start(self, source_ids: Ints) -> CompiledSteps:
        """Read the sources (B, S), which end in eos and then padding."""
        n_sentences, length = source_ids.shape
        if not 0 < length <= self.config.max_length:
            raise ValueError(f"a source of {length} tokens for a model that reads {self.config.max_length}")
        unseen = self.unseen(source_ids != self.special_ids.source.pad)
        x = self._source_embedding(source_ids, slice(length))
        steps = CompiledSteps(self, n_sentences, length, unseen)
        angles = None if self.angles is None else self.angles.rows(slice(length))
        row = None if angles is None else address(angles)
        shape, layerwise = ctypes.byref(self.shape), self.config.memory == "layerwise"
        for number, layer in enumerate(self._encoder_layers):
            self.kernels.encode(shape, ctypes.byref(layer), address(x), n_sentences, length, address(unseen), row)
            if layerwise:
                steps.read_memory(self._memory(x.copy()), [number])
        if not layerwise:
            steps.read_memory(self._memory(x), range(len(self.decoder_layers)))
        return steps

    def project(self, hidden: Floats) -> Floats:
        """hidden (R, D) -> log-probabilities (R, V)."""
        scores = np.empty((len(hidden), self.config.target_vocab_size), dtype=np.float32)
        self.kernels.all_scores(ctypes.byref(self.output_projection), address(hidden), len(hidden), address(scores))
        return scores

    def unseen(self, seen: NDArray[np.bool_]) -> Floats:
        """seen (..., C) -> what is added to the scores of keys, 0 or `MASKED`, (..., C up to whole vectors)."""
        n_keys = seen.shape[-1]
        unseen = np.full((*seen.shape[:-1], rounded_up(n_keys, self.kernels.lanes)), MASKED)
        unseen[..., :n_keys][seen] = 0
        return unseen

    def all_seen(self, n_keys: int) -> int:
        """The address of such a row for keys that are all seen: zeros, then `MASKED` up to a whole vector.

        n_keys is at most what the model reads.
        """
        return self._seen_end - n_keys * self._seen.itemsize

    def _memory(self, x: Floats) -> Floats:
        self.kernels.normalise_rows(ctypes.byref(self.shape), ctypes.byref(self._encoder_norm), address(x), len(x))
        return x


class CompiledSteps:
    """Sentences that are being translated: the keys and values of their memory, and of the tokens read so far.

    The keys and values of a sentence stay where they were put at the start; nothing is copied when others are done.
    """

    def __init__(self, model: CompiledModel, n_sentences: int, length: int, unseen: Floats) -> None:
        self._model = model
        self._memory = Tokens(model, n_sentences, length)
        self._unseen_memory = unseen  # (B, S up to whole vectors)
        self._read = Tokens(model, n_sentences, 0)
        self._n_read = 0  # C
        self._sentences = np.arange(n_sentences)  # those that are left, as they were numbered at the start
        tokens = (ctypes.addressof(each.structs) for each in (self._memory, self._read))
        self._struct = SentencesStruct(length, *tokens, address(unseen), address(self._sentences))

    def read_memory(self, memory: Floats, layers: Sequence[int]) -> None:
        """Compute from memory (B * S, D) the keys and values that some decoder layers attend to."""
        model, length = self._model, self._struct.source_length
        sizes = len(memory) // length, length
        for number in layers:
            layer, tokens = ctypes.byref(model.decoder_layers[number]), ctypes.byref(self._memory.structs[number])
            model.kernels.read_memory(ctypes.byref(model.shape), layer, address(memory), *sizes, tokens)

    def step(self, ids: Ints, position: int, ancestry: Bools | None, slots: Ints) -> CompiledScores:
        """See `dragoman.decoding.state.Steps`."""
        model, n_slots = self._model, ids.shape[1]
        if position >= model.config.max_length:
            raise IndexError(f"position {position} of a model that has {model.config.max_length}")
        ids, slots = (np.ascontiguousarray(each, dtype=np.int64) for each in (ids, slots))
        n_read, n_rows = self._n_read, len(slots)
        self._n_read += n_slots
        # A translation is mostly as long as its source.
        self._read.make_room(self._n_read, n_read + n_slots * self._struct.source_length, self._sentences)
        if ancestry is None:
            unseen, stride = model.all_seen(self._n_read), 0
        else:
            rows = model.unseen(ancestry.reshape(-1, self._n_read)[slots])
            unseen, stride = address(rows), rows.shape[1]
        hidden = np.empty((n_rows, model.config.d_model), dtype=np.float32)
        at = slice(position, position + 1)
        added = model.target_embedding.position_vectors(at)
        angles = None if model.angles is None else model.angles.rows(at)
        tokens = address(ids), address(slots), n_slots, n_rows, n_read
        places = (None if each is None else address(each) for each in (added, angles))
        step = StepStruct(*tokens, *places, unseen, stride)
        model.kernels.decode(
            ctypes.byref(model.decoder), ctypes.byref(self._struct), ctypes.byref(step), address(hidden)
        )
        return CompiledScores(hidden, model)

    def keep(self, sentences: Ints) -> None:
        """See `dragoman.decoding.state.Steps`."""
        self._sentences = self._sentences[sentences]
        self._struct.slots = address(self._sentences)


class Tokens:
    """All decoder layers' keys and values, as `Tokens` of kernels.c has them."""

    def __init__(self, model: CompiledModel, n_sentences: int, n_tokens: int) -> None:
        n_layers, (d_k, d_v) = model.config.n_decoder_layers, model.config.head_widths
        lanes, unit = model.kernels.lanes, model.kernels.unit
        shape = n_sentences, model.config.n_heads, rounded_up(n_tokens, lanes) // lanes
        shapes = (*shape, rounded_up(d_k, unit) * lanes), (*shape, lanes * rounded_up(d_v, lanes))
        self._lanes = lanes
        # Zeros, since what stands beside the last token of a block is multiplied too.
        self._arrays = [[np.zeros(each, dtype=model.kernels.number) for each in shapes] for _ in range(n_layers)]
        self.structs = (TokensStruct * n_layers)()
        self._point()

    def make_room(self, n_tokens: int, expected: int, sentences: Ints) -> None:
        """Have room for so many tokens of each of some sentences, and if not, for twice as many or those that are
        expected."""
        n_blocks = self._arrays[0][0].shape[2]
        if n_tokens > n_blocks * self._lanes:
            more = rounded_up(max(2 * n_tokens, expected), self._lanes) // self._lanes
            for arrays in self._arrays:
                for number, array in enumerate(arrays):
                    # Zeros take no memory until they are written over.
                    arrays[number] = np.zeros((*array.shape[:2], more, array.shape[3]), dtype=array.dtype)
                    arrays[number][sentences, :, :n_blocks] = array[sentences]
            self._point()

    def _point(self) -> None:
        for struct, (keys, values) in zip(self.structs, self._arrays, strict=True):
            struct.keys, struct.values, struct.blocks = address(keys), address(values), keys.shape[2]


class CompiledScores(ProjectedScores):
    """Scores that are looked through while they are computed."""

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
