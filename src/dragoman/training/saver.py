"""The files of a run: checkpoints to continue from, and the bundles of its validations."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import replace

from dragoman.errors import DivergedError, LostFolderError, ResourceError, RunFolderError
from dragoman.settings.search_config import SearchConfig
from dragoman.settings.training_config import TrainingConfig
from dragoman.text.tokenizer import Tokenizers
from dragoman.training.run_folder import RunFolder
from dragoman.training.training_state import TrainingState
from dragoman.training.validation import Validation

_log = logging.getLogger(__name__)

#: Writes to the run folder that fail after a checkpoint, until the training gives up.
MAX_FAILED_WRITES = 3


class Saver:
    """Reads and writes the state of a training. Only the main process writes."""

    def __init__(self, state: TrainingState, folder: RunFolder, training: TrainingConfig, *, is_main: bool) -> None:
        self._state, self._folder, self._training, self._is_main = state, folder, training, is_main
        self._failed_writes = 0
        self._last_save = self._counted = time.monotonic()

    def resume(self) -> bool:
        """Go back to the newest whole checkpoint and return True, or return False if there is none."""
        checkpoint = self._folder.load()
        if checkpoint is None:
            return False
        self._state.restore(checkpoint, self._folder.path)
        if self._is_main:
            self._folder.forget_after(self._state.progress)
        _log.info(f"continuing after step {self._state.progress.step:,}")
        return True

    def is_due(self) -> bool:
        """Return True every `save_every` steps, and `save_minutes` after the last save."""
        progress, training = self._state.progress, self._training
        is_late = time.monotonic() - self._last_save >= 60 * training.save_minutes
        return progress.step % training.save_every == 0 or is_late

    def save(self) -> None:
        """Write a checkpoint.

        Raises:
            DivergedError: a weight is not finite.
            ResourceError, RunFolderError: it cannot be written.
        """
        self.refuse_non_finite_weights()
        self.count_time()
        if self._is_main:
            self._folder.save(self._state.checkpoint(), self._training.keep_checkpoints)
            self._failed_writes = 0
            if self._state.progress.step:
                _log.info(f"saved step {self._state.progress.step}")
        self._last_save = time.monotonic()

    def count_time(self) -> None:
        """Add the time since the last call to what the run has spent."""
        now = time.monotonic()
        self._state.progress.spent += now - self._counted
        self._counted = now

    def keep_bundle(self, result: Validation, tokenizers: Tokenizers, search: SearchConfig) -> None:
        """Write the model that was validated as a bundle, and note whether it is the best.

        The progress changes only when the bundle is there.

        Raises:
            ResourceError, RunFolderError: it cannot be written.
        """
        progress = replace(self._state.progress, last_validation=self._state.progress.step)
        score = result.score(self._training.best_by)
        is_lost = progress.best_step is not None and not self._folder.has_bundle(progress.best_step)
        if progress.best_score is None or score > progress.best_score or is_lost:
            progress.best_score, progress.best_step, progress.validations_since_best = score, progress.step, 0
        else:
            progress.validations_since_best += 1
        facts = {**progress.lasting_facts, "step": progress.step, "loss": result.loss, "bleu": result.bleu}
        if result.bleu_by_direction:
            facts["bleu_by_direction"] = dict(result.bleu_by_direction)
        self._folder.keep_bundle(progress, self._state.usable_model, tokenizers, search, facts)
        self._state.progress = progress

    def attempt(self, write: Callable[[], None], *, is_last: bool = False) -> None:
        """Write something to the run folder. A disk that is full is given time: the next write tries again.

        Raises:
            ResourceError, RunFolderError: it is the third failure since the last checkpoint, or the last chance.
            LostFolderError: the run folder was taken away; a folder that now has its name is not written to.
        """
        try:
            write()
        except LostFolderError:
            raise
        except (ResourceError, RunFolderError) as error:
            self._failed_writes += 1
            self._last_save = time.monotonic()  # a full disk is given as much time again
            if is_last or self._failed_writes >= MAX_FAILED_WRITES:
                raise
            _log.warning(f"step {self._state.progress.step}: not saved ({error}); the last checkpoint is intact")

    def refuse_non_finite_weights(self) -> None:
        """Raise `DivergedError` for weights that must be neither validated nor saved."""
        if not self._state.is_finite:
            raise self.diverged(f"weights are not finite after step {self._state.progress.step}")

    def diverged(self, problem: str) -> DivergedError:
        """Return the error of a training that cannot go on."""
        last = max(self._folder.steps, default=0)
        advice = f"train in another --output with a lower training.lr; the last checkpoint here is step {last}"
        return DivergedError(problem, self._folder.path, advice=advice)
