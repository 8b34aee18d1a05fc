"""Greedy and beam search on the device of the model, with the candidates of `dragoman.decoding.search`.

A step (`tensor_beam`) reads nothing from the device. Every few steps the search asks which sentences are still open.
It drops the others when few are left, and makes more room when that is used up: both copy into another space
(`tensor_space`). On a CUDA device, spaces of a few rounded shapes are kept, and their steps are graphs, launched at
once (`step_graphs`).

B sentences, S source, C steps that there is room for, N slots, F forbidden ids.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from dragoman.decoding.constraints.active import ActiveConstraints
from dragoman.decoding.constraints.lengths import Limits
from dragoman.decoding.faults import MAX_PERIOD
from dragoman.decoding.grid import SENTENCES_KEPT
from dragoman.decoding.hypothesis import Hypothesis, length_penalty
from dragoman.decoding.scores import refuse_nan
from dragoman.decoding.search import returned
from dragoman.decoding.state import TransformerScorer
from dragoman.errors import ConfigError, StoppedError
from dragoman.machine.arrays import Bools, Ints, padded
from dragoman.model.masks import padding_mask
from dragoman.model.positions import RotaryPositions, SinusoidalPositions
from dragoman.model.transformer import Transformer
from dragoman.runtime.step_graphs import KEPT_SHARE, Spaces, tokens_that_fit
from dragoman.runtime.tensor_beam import NO_START, SearchTensors, SentenceTensors
from dragoman.runtime.tensor_results import Records, kept_hypotheses
from dragoman.runtime.tensor_space import Beginning, Shape, Space, empty_sentences
from dragoman.runtime.torch_model import TorchModel
from dragoman.settings.search_config import SearchConfig

#: Steps between two looks at a card, which has to wait for each. A look at the CPU's memory is free.
STEPS_UNREAD = 4
#: Larger beams are searched in Python: each hypothesis attends to the tokens of all others, under a mask.
MOST_SLOTS = 32
#: The number of forbidden ids is rounded up to a multiple of this.
FORBIDDEN_UNIT = 16


class TensorSearch:
    """Searches for any number of threads, one after the other.

    Args:
        scorer: the models.
        model: the first of them.
        kept_bytes: see `Spaces`; None is a share of a card's memory, and nothing on other devices.
    """

    def __init__(self, scorer: TransformerScorer, model: Transformer, kept_bytes: int | None = None) -> None:
        self._scorer, self._model = scorer, model
        device = next(model.parameters()).device
        config, special_ids = model.config, model.special_ids.target
        self._search = SearchTensors.on(device, config.max_length, special_ids.end)
        if kept_bytes is None:
            kept_bytes = int(KEPT_SHARE * _memory(device)) if device.type == "cuda" else 0
        self._spaces = Spaces(model, self._search, kept_bytes)
        self._steps_unread = STEPS_UNREAD if kept_bytes else 1
        self._lock = threading.Lock()

    @classmethod
    def of(cls, scorer: TransformerScorer) -> TensorSearch | None:
        """Return the search with the models of a scorer; None if they do not compute in PyTorch."""
        first = scorer.models[0]
        return cls(scorer, first.model) if isinstance(first, TorchModel) else None

    @property
    def batch_size(self) -> int:
        """Source tokens, padding included, that its card searches at once with most speed."""
        parameter = next(self._model.parameters())
        return tokens_that_fit(self._model.config, parameter.element_size(), _memory(parameter.device))

    def reason_against(self, config: SearchConfig, *, has_demands: bool = False) -> str | None:
        """Return why a search must be done in Python; None if it need not be."""
        tables = [each for each in self._model.modules() if isinstance(each, SinusoidalPositions | RotaryPositions)]
        reasons = {
            "several models": len(self._scorer.models) > 1,
            "a decoder without self-attention": self._model.config.decoder_layer != "attention",
            "positions that are computed later": any(len(each.table) < each.max_length for each in tables),
            "sampling": config.sample,
            "no_repeat_ngram": config.no_repeat_ngram > 0,
            "repetition_penalty": config.repetition_penalty != 1,
            f"a beam_size above {MOST_SLOTS}": config.beam_size > MOST_SLOTS,
            "demanded terms": has_demands,
        }
        return next((reason for reason, is_true in reasons.items() if is_true), None)

    @torch.no_grad()
    def search(
        self,
        source_ids: Ints,
        config: SearchConfig,
        *,
        prefixes: Sequence[Sequence[int]] | None = None,
        forbidden: Sequence[Sequence[int]] = (),
        should_stop: Callable[[], bool] | None = None,
    ) -> list[list[Hypothesis]]:
        """Return what `dragoman.decoding.search.search` does. There must be no `reason_against` it.

        Args:
            forbidden: the ids that each sentence's translation does not have, except in its prefix.

        Raises:
            ConfigError, StoppedError, DragomanError: as `search` does.
        """
        if not len(source_ids):
            return []
        active = ActiveConstraints(self._scorer, source_ids, config, prefixes)
        device = self._search.n_written.device
        with self._lock, torch.cuda.device(device) if device.type == "cuda" else nullcontext():
            try:
                beginning = self._beginning(source_ids, active, config, prefixes or [()] * len(source_ids), forbidden)
                beams = self._run(beginning, active.limits, config, should_stop)
            except StoppedError:
                raise
            except BaseException:
                self._spaces.clear()  # they may have numbers that are none
                raise
        return returned(beams, active, config)

    def _run(
        self, beginning: Beginning, limits: Limits, config: SearchConfig, should_stop: Callable[[], bool] | None
    ) -> list[list[Hypothesis]]:
        """Step until no sentence is open."""
        self._search.begin(config)
        device = beginning.source_mask.device
        numbers = torch.arange(len(beginning.source_mask), device=device)  # of the sentences in the space's rows
        found: list[list[Hypothesis]] = [[] for _ in numbers]

        def collect(rows: Tensor, n_steps: int) -> None:
            beams = kept_hypotheses(Records.of(space.sentences, rows, n_steps), config)
            for number, beam in zip(numbers[rows].tolist(), beams, strict=True):
                found[number] = beam

        space = self._spaces.first(beginning, config.n_best)
        for n_steps in range(1, limits.longest + 1):
            if should_stop is not None and should_stop():
                raise StoppedError("the search was stopped before it was done")
            self._spaces.step(space)
            is_full = n_steps == space.shape.n_room
            if n_steps % self._steps_unread and not is_full and n_steps < limits.longest:
                continue
            is_open = self._open_sentences(space)[: len(numbers)]
            n_open = int(is_open.sum())
            if not n_open:
                break
            if is_full or self._spaces.rounded(n_open) <= SENTENCES_KEPT * space.shape.n_sentences:
                done, rows = (torch.from_numpy(np.flatnonzero(some)).to(device) for some in (~is_open, is_open))
                collect(done, n_steps)
                space, numbers = self._spaces.moved(space, rows, is_full=is_full), numbers[rows]
        collect(torch.arange(len(numbers), device=device), n_steps)
        return found

    def _open_sentences(self, space: Space) -> Bools:
        """Wait for the device, and return True for the sentences that have an open hypothesis.

        Raises:
            DragomanError: a score was not a number.
        """
        *is_open, has_nan = torch.cat((space.sentences.is_open, self._search.has_nan)).tolist()
        if has_nan:
            refuse_nan(np.array([np.nan], dtype=np.float32))
        return np.array(is_open)

    def _beginning(
        self,
        source_ids: Ints,
        active: ActiveConstraints,
        config: SearchConfig,
        prefixes: Sequence[Sequence[int]],
        forbidden: Sequence[Sequence[int]],
    ) -> Beginning:
        """Read the sources (B, S), and begin a hypothesis of each."""
        model, device = self._model, self._search.n_written.device
        if model.training:
            raise ConfigError("search with a model in training mode", advice="call model.eval(), then model.train()")
        ids = torch.from_numpy(source_ids).to(device)
        source_mask = padding_mask(ids, model.special_ids.source.pad)
        layers = model.start_cache(model.encode(ids), source_mask).layers
        return Beginning(self._sentences(active, config, prefixes, forbidden), source_mask, layers)

    def _sentences(
        self,
        active: ActiveConstraints,
        config: SearchConfig,
        prefixes: Sequence[Sequence[int]],
        forbidden: Sequence[Sequence[int]],
    ) -> SentenceTensors:
        """Return what is known of the sentences before the first step: one hypothesis each, which is empty."""
        device, limits, special_ids = self._search.n_written.device, active.limits, self._model.special_ids.target
        n_sentences, never = len(limits.natural), special_ids.marks - {special_ids.end}
        rows = [sorted(never.union(ids)) for ids in forbidden] or [sorted(never)] * n_sentences
        never_written = padded(rows, special_ids.pad, FORBIDDEN_UNIT)
        shape = Shape(n_sentences, config.beam_size, 0, 0, config.n_best, never_written.shape[1])
        empty = empty_sentences(shape, device)

        def tensor(values: Any, dtype: torch.dtype = torch.int64) -> Tensor:
            return torch.tensor(np.asarray(values), dtype=dtype, device=device)

        empty.log_prob[:, 0] = 0
        penalties = [length_penalty(n, config.length_penalty) for n in limits.natural.tolist()]
        lengths = [finder.usual_lengths for finder in active.finders]
        # Faults rank the hypotheses of a beam; a single one has no rival.
        is_greedy = config.beam_size == 1
        fewest_repeats = [[0] * MAX_PERIOD if is_greedy else each.fewest_repeats for each in active.finders]
        return replace(
            empty,
            written=tensor(limits.written),
            usual_lengths=tensor([(each.start, each.stop - 1) for each in lengths]),
            fewest_repeats=tensor(fewest_repeats),
            largest_penalty=tensor(penalties, torch.float32),
            forbidden=tensor(never_written),
            forced=tensor(padded(prefixes, -1)),
            last_ids=empty.last_ids + special_ids.start,
            width=empty.width + config.beam_size,
            chosen_start=empty.chosen_start + NO_START,
        )


def _memory(device: torch.device) -> int:
    """Return the bytes of a card."""
    return int(torch.cuda.get_device_properties(device).total_memory)
