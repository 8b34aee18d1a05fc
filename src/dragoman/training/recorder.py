"""The display and the log of a run: a bar or lines for people, figures for programs."""

from __future__ import annotations

import contextlib
import logging
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Self

import torch

from dragoman.data.epochs import Epochs
from dragoman.machine.ram import peak_memory
from dragoman.settings.model_config import ModelConfig
from dragoman.settings.training_config import TrainingConfig
from dragoman.training.batch_watch import BatchWatch
from dragoman.training.checkpoint import Window
from dragoman.training.core_watch import CoreWatch
from dragoman.training.metrics_log import MetricsLog, open_logs
from dragoman.training.progress_bar import ProgressBar
from dragoman.training.run_folder import RunFolder
from dragoman.training.schedule import learning_rate, total_steps
from dragoman.training.training_state import TrainingState
from dragoman.training.validation import MEANINGFUL_BLEU, Validation

_log = logging.getLogger(__name__)


def describe_losses(training: TrainingConfig, model: ModelConfig) -> str:
    """Return a line for people about the two losses, which must not be compared where they measure other things."""
    parts = {
        f"label smoothing {training.label_smoothing:g}": training.label_smoothing,
        f"R-Drop {training.r_drop:g}": training.r_drop,
        "dropout": any(value for name, value in model.model_dump().items() if name.endswith("dropout")),
    }
    extra = [name for name, value in parts.items() if value]
    if not extra:
        return "training loss and validation loss: cross-entropy in nats a token"
    average = ", by the averaged weights" if training.ema else ""
    return (
        f"training loss: with {', '.join(extra)}; validation loss: without{average}; both in nats a token, "
        "not to be compared with each other"
    )


class Recorder:
    """Records a training while it is entered. Only the main process writes figures.

    Args:
        epochs: their numbers of batches.
        batch_watch: knows how long the steps waited for their batches.
        progress_bar: show a bar, if standard error is a terminal.
    """

    def __init__(
        self,
        state: TrainingState,
        training: TrainingConfig,
        folder: RunFolder,
        epochs: Epochs,
        batch_watch: BatchWatch,
        *,
        is_main: bool,
        progress_bar: bool,
    ) -> None:
        self._state, self._training, self._folder = state, training, folder
        self._epochs, self._is_main = epochs, is_main
        self._device = next(state.model.parameters()).device
        self._bar = ProgressBar(total_steps(training, epochs), is_shown=is_main and progress_bar)
        self._cores = CoreWatch(torch.get_num_threads() if self._device.type == "cpu" else 1)
        self._batches = batch_watch
        self._logs: Sequence[MetricsLog] = ()

    def __enter__(self) -> Self:
        if self._is_main:
            progress, is_on_board = self._state.progress, self._training.tensorboard
            self._logs = open_logs(
                self._folder.metrics, progress.step, progress.last_validation, tensorboard=is_on_board
            )
        _log.info(describe_losses(self._training, self._state.model.config))
        self._bar.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.__exit__()

    @contextlib.contextmanager
    def timed_step(self) -> Iterator[None]:
        """Count the time of the step that is made inside; of one that fails nothing is counted."""
        started, cpu_started = time.perf_counter(), time.process_time()
        yield
        seconds, progress = time.perf_counter() - started, self._state.progress
        self._cores.add(seconds, time.process_time() - cpu_started)
        self._batches.add(seconds)
        progress.seconds += seconds
        progress.window.seconds += seconds
        self._bar.move(progress.step, progress.n_steps)

    def log_steps(self) -> None:
        """Log the steps since the last time.

        Raises:
            ResourceError, RunFolderError: the figures cannot be written now; they will be with the next.
        """
        progress = self._state.progress
        window, progress.window = progress.window, Window()
        self._cores.log()
        waiting = self._batches.log()
        if not self._is_main or not window.n_tokens:
            return
        epoch, speed = self._epochs.done(progress.step), window.n_tokens / window.seconds
        d_model, n_steps = (
            self._state.model.config.d_model,
            progress.n_steps or total_steps(self._training, self._epochs),
        )
        rate = learning_rate(progress.step, self._training, d_model, n_steps)
        loss = window.loss / window.n_tokens
        self._write(
            {
                "step": progress.step,
                "epoch": round(epoch, 3),
                "training_loss": loss,
                "training_nll": window.nll / window.n_tokens,
                "lr": rate,
                "grad_norm": window.norm / window.n_steps,
                "target_tokens": progress.target_tokens,
                "target_tokens_per_second": round(speed, 1),
                "seconds": round(progress.seconds, 3),
                "waiting_for_batches": round(waiting, 3),
            }
        )
        figures = [f"epoch {epoch:.1f}", f"training loss {loss:.3f}", f"lr {rate:.1e}", f"{speed:,.0f} target tokens/s"]
        self._bar.show(progress.step, figures)

    def log_validation(self, result: Validation, seconds: float) -> None:
        """Log the validation that was just noted in the progress.

        Raises:
            ResourceError, RunFolderError: the figures cannot be written now; they will be with the next.
        """
        progress = self._state.progress
        self._write(
            {
                "step": progress.step,
                "validation_loss": result.loss,
                "validation_bleu": result.bleu,
                "samples": [sample._asdict() for sample in result.samples],
                **{f"validation_bleu_{direction}": bleu for direction, bleu in result.bleu_by_direction.items()},
                "seconds": round(seconds, 3),
                "n_parameters": sum(parameter.numel() for parameter in self._state.usable_model.parameters()),
                "peak_memory_mib": peak_memory(self._device),
            }
        )
        is_by_loss = self._training.best_by == "bleu" and result.bleu < MEANINGFUL_BLEU
        best = f"  (best{', by its loss' if is_by_loss else ''})" if progress.best_step == progress.step else ""
        which = f"step {progress.step:,}" if progress.step else "step 0, the starting model"
        _log.info(
            f"validation at {which}: validation loss {result.loss:.3f}  perplexity {result.perplexity_text}  "
            f"BLEU {result.bleu:.2f}{best}  ({seconds:.0f} s)"
        )
        if result.bleu_by_direction:
            _log.info("BLEU of " + ", ".join(f"{name} {bleu:.2f}" for name, bleu in result.bleu_by_direction.items()))
        for sample in result.samples:
            for line in sample.lines():
                _log.info(line)

    def flush(self) -> None:
        """Write the figures that could not be written before; raises as `log_steps` does."""
        for log in self._logs:
            log.flush()

    def _write(self, record: Mapping[str, Any]) -> None:
        for log in self._logs:
            log.write(record)
