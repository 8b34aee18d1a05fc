"""The training loop: one optimizer step after another, validated, saved, and continued where it stopped."""

from __future__ import annotations

import hashlib
import logging
import math
import time
from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property

import torch

from dragoman.data.batches import Batch, Batches
from dragoman.data.context import WITHOUT_CONTEXT
from dragoman.data.drawn_pairs import Drawing
from dragoman.data.mixture import part_weights
from dragoman.data.prepared import Prepared
from dragoman.errors import is_out_of_memory
from dragoman.machine.files import write_file
from dragoman.machine.processes import Processes
from dragoman.settings.config import Config
from dragoman.settings.recipe import to_yaml
from dragoman.text.learned_text import LearnedText
from dragoman.training.captured_step import build_step
from dragoman.training.checkpoint import STARTING_MODEL
from dragoman.training.length import Length
from dragoman.training.micro_batches import MicroBatches
from dragoman.training.precision import agree_on_precision
from dragoman.training.recorder import Recorder
from dragoman.training.run_folder import RunFolder
from dragoman.training.saver import Saver
from dragoman.training.schedule import learning_rate
from dragoman.training.step import Outcome, Step
from dragoman.training.stopping import StopRequest
from dragoman.training.time_plan import TimeKeeper
from dragoman.training.training_state import TrainingState
from dragoman.training.validation import Validation, validate

_log = logging.getLogger(__name__)


class Trainer:
    """One training in one run folder.

    Every step is a pure function of the weights before it and (seed, step, length): the batch, its subword sampling,
    the dropout masks, and the learning rate. So a training that was killed continues to the same bits, except one for a
    given time (`time_keeper`), whose length depends on the clock. The gradient is that of the whole batch, however it
    is cut into micro-batches or spread over processes (which do change the dropout masks).
    """

    def __init__(
        self,
        config: Config,
        prepared: Prepared,
        state: TrainingState,
        folder: RunFolder,
        processes: Processes,
        *,
        time_keeper: TimeKeeper | None = None,
        progress_bar: bool = False,
    ) -> None:
        self.config, self.training, self.prepared = config, config.training, prepared
        self.state, self.folder, self.processes, self.time_keeper = state, folder, processes, time_keeper
        self.device, is_main = next(state.model.parameters()).device, processes.is_main
        batches = Batches(
            prepared.train,
            prepared.tokenizers,
            batch_tokens=self.training.batch_tokens,
            seed=self.training.seed,
            weights=part_weights(config.data, prepared.train.parts),
            drawing=Drawing(
                config.tokenizer.sampling > 0, config.data.max_length, config.augmentation, WITHOUT_CONTEXT
            ),
        )
        self.length = Length(self.training, batches.epochs, state.model.config.d_model)
        self.epochs = batches.epochs
        self.micro_batches = MicroBatches(batches, self.training, state, processes)
        self.stop = StopRequest()
        self.saver = Saver(state, folder, self.training, is_main=is_main)
        self.recorder = Recorder(
            state,
            self.training,
            folder,
            batches.epochs,
            self.micro_batches.watch,
            is_main=is_main,
            progress_bar=progress_bar,
        )

    @cached_property
    def step(self) -> Step:
        """Makes the steps, from the first one of this start on: what it needs to know may come from a checkpoint."""
        micro_batches = self.micro_batches
        return build_step(self.state, self.training, self.processes, lambda: micro_batches.n_tokens)

    @property
    def n_steps(self) -> int:
        """Steps of the whole training."""
        return self.length.n_steps

    def run(self) -> None:
        """Train from the newest checkpoint, or from the start, to the end.

        Raises:
            DivergedError: too many steps in a row gave numbers that are not finite.
            KeyboardInterrupt, SystemExit: a signal asked to stop; everything is saved.
        """
        is_new = not self.saver.resume()
        state, processes = self.state, self.processes
        with self.stop, self.recorder, self.micro_batches:
            if is_new:
                state.progress.precision = agree_on_precision(self.config, self.device, processes)
            self._start_length()
            upcoming = self.micro_batches.upcoming(self.n_steps)
            if is_new:
                self._save()  # from now on, a run without checkpoints is one that lost them
            saved_step = state.progress.step
            while True:
                is_validated = self._is_validation_due()
                if is_validated:
                    self.saver.attempt(self._validate, is_last=state.progress.step >= self.n_steps)
                    self._share_patience()
                is_over, is_stopped = self._is_over(), self.stop.agree(processes, self.device)
                is_save_due = is_validated or is_over or is_stopped or processes.any(self._is_save_due(), self.device)
                if is_save_due and state.progress.step > saved_step:
                    self.saver.attempt(self._save, is_last=is_over or is_stopped)
                    processes.barrier()
                    saved_step = state.progress.step
                if is_stopped:
                    self._leave(is_over)
                if is_over:
                    break
                upcoming = self._make_step(upcoming)
                if self.time_keeper is not None and self._has_new_length(self.time_keeper):
                    upcoming = self.micro_batches.upcoming(self.n_steps)
                if self._is_report_due():
                    self.saver.attempt(self.recorder.log_steps)

    def _make_step(self, upcoming: Iterator[list[Batch]]) -> Iterator[list[Batch]]:
        """Make the next step and return what comes after it; if RAM runs out, it comes again in smaller parts."""
        try:
            with self.recorder.timed_step():
                self.train_step(next(upcoming))
        except (MemoryError, RuntimeError) as error:
            self.micro_batches.halve(error)
            return self.micro_batches.upcoming(self.n_steps)
        return upcoming

    def _start_length(self) -> None:
        """Say what this start changes about the length of the training, or that nothing is left to train."""
        progress, length = self.state.progress, self.length
        step, before = progress.step, progress.n_steps or self.n_steps
        if 0 < step < self.n_steps != before:
            _log.info(f"{before:,} -> {self.n_steps:,} steps: {length.describe_rates(step, before)}")
        if step >= self.n_steps and not self._is_validation_due():
            _log.info(length.describe_end(step, self.folder.path))
        progress.n_steps = self.n_steps

    def _has_new_length(self, time_keeper: TimeKeeper) -> bool:
        """Give the training another length and return True, if it would miss the time by which it should end."""
        self.saver.count_time()
        progress, every = self.state.progress, self.training.validate_every or self.epochs.n_batches
        n_steps = time_keeper.better_length(progress, self.n_steps, every)
        if n_steps in (None, self.n_steps):
            return False
        way = "more" if n_steps < self.n_steps else "less"
        _log.info(f"steps take {way} time than planned: {self.n_steps:,} -> {n_steps:,} steps, to end in time")
        self.training = self.training.model_copy(update={"max_epochs": None, "max_steps": n_steps})
        self.config = self.config.model_copy(update={"training": self.training})
        self.length = replace(self.length, training=self.training)
        progress.n_steps = n_steps
        progress.chosen_for_time = {**progress.chosen_for_time, "training.max_steps": n_steps}
        self.saver.attempt(lambda: write_file(self.folder.config, to_yaml(self.config).encode()))
        return True

    def train_step(self, micro_batches: list[Batch]) -> None:
        """Make one optimizer step, or skip it if the loss or the gradient is not finite."""
        model, progress, training = self.state.model, self.state.progress, self.training
        _seed_step(training.seed, progress.step, self.processes.rank)
        model.train()
        rate = learning_rate(progress.step + 1, training, model.config.d_model, self.n_steps)
        outcome = self.step.make(micro_batches, progress.step + 1, rate)
        progress.step += 1
        is_at_report = self._is_at_validation() or progress.step % training.log_every == 0
        if outcome is None and (is_at_report or progress.step >= self.n_steps):
            outcome = self.step.outcome()
        if outcome is not None:
            self._count(outcome)

    def _count(self, outcome: Outcome) -> None:
        """Add the outcome of some steps to the progress.

        Raises:
            DivergedError: too many steps in a row were skipped.
        """
        progress, sums = self.state.progress, outcome.sums
        progress.target_tokens += sums.n_tokens
        progress.window.add(sums)
        progress.skipped_steps += outcome.n_skipped
        progress.skipped_in_a_row = outcome.skipped_in_a_row
        if outcome.n_skipped:
            which = "the step is" if outcome.n_skipped == 1 else f"{outcome.n_skipped} steps up to here are"
            _log.warning(f"step {progress.step}: the gradient is not finite; {which} skipped")
        if (n_skipped := outcome.skipped_in_a_row) >= self.training.max_skipped_steps:
            raise self.saver.diverged(f"{n_skipped} steps in a row up to step {progress.step} were not finite")

    def _is_report_due(self) -> bool:
        """Return True if the steps since the last time are to be logged."""
        return self._is_validation_due() or self.state.progress.step % self.training.log_every == 0

    def _is_validation_due(self) -> bool:
        """Return True after every `validate_every` steps or each epoch, at the end, and before a fine-tuning, which may
        make its model no better; but never after a skipped step."""
        step, progress = self.state.progress.step, self.state.progress
        is_trained = step > 0 or STARTING_MODEL in progress.fingerprints
        is_due = self._is_at_validation() and not progress.skipped_in_a_row
        return is_trained and step != progress.last_validation and (is_due or step >= self.n_steps)

    def _is_at_validation(self) -> bool:
        """Return True after every `validate_every` steps, or each epoch."""
        step, every = self.state.progress.step, self.training.validate_every
        return (step % every if every else self.epochs.find(step)[1]) == 0

    def _is_save_due(self) -> bool:
        """Return True if it is time to save.

        Never after a skipped step: what came before it may be unsound, and must not replace a sound checkpoint.
        """
        if not self.saver.is_due():
            return False
        self._count(self.step.outcome())
        return not self.state.progress.skipped_in_a_row

    def _is_over(self) -> bool:
        """Return True if all steps are done, or validation has not improved for too long."""
        progress, patience = self.state.progress, self.training.patience
        is_impatient = patience is not None and progress.validations_since_best >= patience
        if is_impatient:
            _log.info(f"no better validation for {patience} times; the best is step {progress.best_step}")
        return progress.step >= self.n_steps or is_impatient

    def _validate(self) -> None:
        """Validate the model that would be used, keep it as a bundle, and log how good it is."""
        self.saver.refuse_non_finite_weights()
        progress, started = self.state.progress, time.perf_counter()
        if not self.processes.is_main:
            progress.last_validation = progress.step
            return
        result = self._validation()
        if result is None:
            return  # the next start does it
        if not math.isfinite(result.loss):
            raise self.saver.diverged(f"the validation loss is not finite at step {progress.step}")
        self.saver.keep_bundle(result, self.prepared.tokenizers, self.config.search)
        self.state.progress.validation_seconds = seconds = time.perf_counter() - started
        self.recorder.log_validation(result, seconds)

    def _validation(self) -> Validation | None:
        """Return the figures of a validation; None if it was called off.

        Where memory runs out, it is made again without what is captured of steps, which they capture anew.
        """
        learned = LearnedText.of_bundle(self.state.progress.lasting_facts, self.folder.path)
        model, store, tokenizers = self.state.usable_model, self.prepared.validation, self.prepared.tokenizers
        arguments = model, store, tokenizers, self.micro_batches.n_tokens, self._is_called_off, learned
        try:
            return validate(*arguments)
        except (MemoryError, RuntimeError) as error:
            if not is_out_of_memory(error):
                raise
        vars(self).pop("step", None)  # another one is built for the next step
        self.state.model.zero_grad()
        torch.cuda.empty_cache()
        return validate(*arguments)

    def _is_called_off(self) -> bool:
        """Return True if a validation is left to the next start. The last one is not: its checkpoint would never note
        it."""
        return self.stop.is_asked() and self.state.progress.step < self.n_steps

    def _share_patience(self) -> None:
        """Tell all processes what only the main one knows: how long validation has not improved."""
        known = self.state.progress.validations_since_best if self.processes.is_main else 0
        self.state.progress.validations_since_best = self.processes.max(known, self.device)

    def _save(self) -> None:
        """Write a checkpoint, and what the logs could not write before."""
        self._count(self.step.outcome())
        self.recorder.flush()
        self.saver.save()

    def _leave(self, is_over: bool) -> None:
        """End the process as the signal that asked for it would have."""
        what = ", the last" if is_over else "; the same command continues"
        _log.info(f"stopped after step {self.state.progress.step:,}{what}")
        self.stop.leave()


def _seed_step(seed: int, step: int, rank: int) -> None:
    """Make the dropout masks of a step a pure function of (seed, step, rank)."""
    key = f"{seed} {step} {rank}".encode()
    torch.manual_seed(int.from_bytes(hashlib.sha256(key).digest()[:7]))
