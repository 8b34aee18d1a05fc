"""The training loop: one optimizer step after another, validated, saved, and continued exactly where it stopped."""

from __future__ import annotations

import hashlib
import logging
import math
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import NoReturn

import torch

from dragoman.data.batches import Batch, Batches, prefetch
from dragoman.data.prepared import Prepared
from dragoman.errors import DivergedError, LostFolderError, ResourceError, RunFolderError, is_out_of_memory
from dragoman.machine.processes import Processes
from dragoman.machine.ram import peak_memory
from dragoman.model.transformer import Transformer
from dragoman.native.fused_library import library
from dragoman.settings.config import Config
from dragoman.text.learned_text import LearnedText
from dragoman.training.changes import settings_fingerprint
from dragoman.training.checkpoint import STARTING_MODEL, Checkpoint, Progress, Window
from dragoman.training.core_watch import CoreWatch
from dragoman.training.gradient import batch_gradient
from dragoman.training.metrics_log import Display, MetricsLog
from dragoman.training.optimizer import MovingAverage, Optimizer
from dragoman.training.precision import choose_precision
from dragoman.training.run_folder import RunFolder
from dragoman.training.schedule import learning_rate, total_steps
from dragoman.training.stopping import StopRequest
from dragoman.training.validation import MEANINGFUL_BLEU, validate

_log = logging.getLogger(__name__)

#: Writes to the run folder that fail after a checkpoint, until the training gives up.
MAX_FAILED_WRITES = 3
#: Where memory runs out with micro-batches of this many tokens, smaller ones would not help.
SMALLEST_MICRO_BATCH = 32
MICRO_BATCH_TOKENS = "training.micro_batch_tokens"


class Trainer:
    """One training in one run folder.

    Every step is a pure function of the weights before it and (seed, step): the batch, its subword sampling, and the
    dropout masks. So a training that was killed continues to the same bits. The gradient is that of the whole batch,
    however it is cut into micro-batches or spread over processes (which do change the dropout masks).
    """

    def __init__(
        self,
        config: Config,
        prepared: Prepared,
        model: Transformer,
        folder: RunFolder,
        processes: Processes,
        *,
        progress_bar: bool = False,
    ) -> None:
        self.config, self.training, self.prepared = config, config.training, prepared
        self.model, self.folder, self.processes = model, folder, processes
        self._has_bar = progress_bar and processes.is_main
        self.device = next(model.parameters()).device
        self.batches = Batches(
            prepared.train,
            prepared.tokenizers,
            batch_tokens=self.training.batch_tokens,
            seed=self.training.seed,
            sampling=config.tokenizer.sampling > 0,
            max_length=config.data.max_length,
        )
        self.optimizer = Optimizer(model, self.training)
        self.average = MovingAverage(model, self.training.ema) if self.training.ema else None
        fingerprints = {"configuration": settings_fingerprint(config), **prepared.fingerprints}
        self.progress = Progress(fingerprints=fingerprints, environment=self._environment())
        self.n_steps = total_steps(self.training, self.batches.per_epoch)
        self.validate_every = self.training.validate_every or self.batches.per_epoch
        self._failed_writes = 0
        self.cores = CoreWatch(torch.get_num_threads() if self.device.type == "cpu" else 1)

    # -- the loop ------------------------------------------------------------------------------------------------

    def run(self) -> None:
        """Train from the newest checkpoint, or from the start, to the end.

        Raises:
            DivergedError: too many steps in a row gave numbers that are not finite.
            KeyboardInterrupt, SystemExit: a signal asked to stop; everything is saved.
        """
        new = not self._resume()
        main = self.processes.is_main
        if main:
            progress, tensorboard = self.progress, self.training.tensorboard
            self.metrics = MetricsLog(
                self.folder.metrics, progress.step, progress.last_validation, tensorboard=tensorboard
            )
        with StopRequest() as self.stop, Display(self.n_steps, bar=self._has_bar) as self.display:
            if new:
                self._choose_precision()
            upcoming = self._upcoming()
            if new:
                self._save()  # from now on, a run without checkpoints is one that lost them
            saved = self.progress.step
            while True:
                validating = self._is_validation_due()
                if validating:
                    self._keep(self._validate, last=self.progress.step >= self.n_steps)
                    self._share_patience()
                over, stopping = self._is_over(), self.stop.agree(self.processes, self.device)
                if self.progress.step > saved and (validating or over or stopping or self._is_save_due()):
                    self._keep(self._save, last=over or stopping)
                    self.processes.barrier()
                    saved = self.progress.step
                if stopping:
                    what = ", the last" if over else "; the same command continues"
                    _log.info(f"stopped after step {self.progress.step:,}{what}")
                    self.stop.leave()
                if over:
                    break
                started, cpu_started = time.perf_counter(), time.process_time()
                try:
                    self._train_step(next(upcoming))
                except (MemoryError, RuntimeError) as error:
                    self._use_less_memory(error)
                    upcoming = self._upcoming()
                    continue
                seconds = time.perf_counter() - started
                self.cores.add(seconds, time.process_time() - cpu_started)
                self.progress.seconds += seconds
                self.progress.window.seconds += seconds
                self.display.step(self.progress.step)
                if self._is_validation_due() or self.progress.step % self.training.log_every == 0:
                    self._keep(self._log)

    def _is_validation_due(self) -> bool:
        """After every `validate_every` steps, at the end, and before a fine-tuning, which may make its model no better;
        but what a row of skipped steps left is not validated."""
        step, progress = self.progress.step, self.progress
        is_trained = step > 0 or STARTING_MODEL in progress.fingerprints
        due = step % self.validate_every == 0 and not progress.skipped_in_a_row
        return is_trained and step != progress.last_validation and (due or step >= self.n_steps)

    def _is_save_due(self) -> bool:
        """Skipped steps change nothing, and what came before them may be unsound: it must not replace what is not."""
        return self.progress.step % self.training.save_every == 0 and not self.progress.skipped_in_a_row

    def _train_step(self, micro_batches: list[Batch]) -> None:
        """One optimizer step. It is skipped if the loss or the gradient is not finite."""
        progress, training = self.progress, self.training
        self._seed_step(progress.step)
        self.model.train()
        n_tokens, loss, nll = batch_gradient(self.model, micro_batches, training, self.processes, progress.precision)
        norm = float(torch.nn.utils.clip_grad_norm_(self.model.parameters(), training.clip_norm or math.inf))
        is_finite = math.isfinite(norm + loss)
        if is_finite:
            rate = learning_rate(progress.step + 1, training, self.model.config.d_model, self.n_steps)
            self.optimizer.step(rate, progress.precision, self.processes)
        progress.step += 1  # from here on, memory is not asked for: a step that runs out of it is done again
        if is_finite:
            if self.average is not None:
                self.average.update(self.model, progress.step)
            progress.skipped_in_a_row = 0
            progress.target_tokens += n_tokens
            progress.window.add(loss, nll, norm, n_tokens)
        else:
            self._skip()
        self.model.zero_grad()

    def _upcoming(self) -> Iterator[list[Batch]]:
        """The micro-batches of each step to come, made ready ahead of time."""
        return prefetch(self._micro_batches(step) for step in range(self.progress.step, self.n_steps))

    def _use_less_memory(self, error: Exception) -> None:
        """After a step that ran out of memory: halve the micro-batches, so that it can be done again.

        Raises:
            ResourceError: they cannot be halved.
            Exception: the error, if it is another one.
        """
        if not is_out_of_memory(error):
            raise error
        self.model.zero_grad()
        size = (self._micro_batch_tokens or self.training.batch_tokens) // 2
        if size < SMALLEST_MICRO_BATCH or self.processes.world_size > 1:
            advice = "use a smaller model, or training.micro_batch_tokens; the same command continues"
            raise ResourceError(f"out of memory at step {self.progress.step + 1}", advice=advice) from error
        if self.device.type == "cuda":
            torch.cuda.empty_cache()
        self.progress.micro_batch_tokens = size
        _log.info(f"step {self.progress.step + 1}: out of memory; going on in micro-batches of {size:,} tokens")

    def _skip(self) -> None:
        """Leave the weights as they were after a step whose loss or gradient is not finite."""
        progress = self.progress
        progress.skipped_steps += 1
        progress.skipped_in_a_row += 1
        _log.info(f"step {progress.step}: the gradient is not finite; the step is skipped")
        if progress.skipped_in_a_row >= self.training.max_skipped_steps:
            self._diverged(f"{progress.skipped_in_a_row} steps in a row up to step {progress.step} were not finite")

    @property
    def _micro_batch_tokens(self) -> int | None:
        """What the memory allowed, else what was asked for; None is a whole batch."""
        return self.progress.micro_batch_tokens or self.training.micro_batch_tokens

    def _micro_batches(self, step: int) -> list[Batch]:
        return self.batches.micro_batches(
            step,
            micro_batch_tokens=self._micro_batch_tokens,
            rank=self.processes.rank,
            world_size=self.processes.world_size,
            # On a CPU, PyTorch compiles a product in bfloat16 for each shape; so there are half as many shapes.
            one_length=self.progress.precision == "bfloat16" and self.device.type == "cpu",
        )

    def _seed_step(self, step: int) -> None:
        """Make the dropout masks of a step a pure function of (seed, step, rank)."""
        key = f"{self.training.seed} {step} {self.processes.rank}".encode()
        torch.manual_seed(int.from_bytes(hashlib.sha256(key).digest()[:7]))

    def _keep(self, write: Callable[[], None], *, last: bool = False) -> None:
        """Write something to the run folder. A disk that is full is given time: the next write tries again.

        Raises:
            ResourceError, RunFolderError: it is the third failure since the last checkpoint, or the last chance.
            LostFolderError: the run folder was taken away; whatever has its name now is not written to.
        """
        try:
            write()
        except LostFolderError:
            raise
        except (ResourceError, RunFolderError) as error:
            self._failed_writes += 1
            if last or self._failed_writes >= MAX_FAILED_WRITES:
                raise
            _log.info(f"step {self.progress.step}: not saved ({error}); the last checkpoint is intact")

    # -- reporting, validating, saving ---------------------------------------------------------------------------

    def _log(self) -> None:
        window, self.progress.window = self.progress.window, Window()
        self.cores.log()
        if not self.processes.is_main or not window.n_tokens:
            return
        step = self.progress.step
        rate = learning_rate(step, self.training, self.model.config.d_model, self.n_steps)
        speed = window.n_tokens / window.seconds
        epoch = step / self.batches.per_epoch
        record = {
            "step": step,
            "epoch": round(epoch, 3),
            "loss": window.loss / window.n_tokens,
            "nll": window.nll / window.n_tokens,
            "lr": rate,
            "grad_norm": window.norm / window.n_steps,
            "target_tokens": self.progress.target_tokens,
            "target_tokens_per_second": round(speed, 1),
            "seconds": round(self.progress.seconds, 3),
        }
        self.metrics.write(record)
        loss = f"loss {record['loss']:.3f}"
        self.display.figures(step, [f"epoch {epoch:.1f}", loss, f"lr {rate:.1e}", f"{speed:,.0f} target tokens/s"])

    def _validate(self) -> None:
        """Validate what would be used (the average, if there is one), and keep it as a bundle."""
        self._refuse_non_finite_weights()
        progress, started = self.progress, time.perf_counter()
        model = self.average.model if self.average is not None else self.model
        if not self.processes.is_main:
            progress.last_validation = progress.step
        else:
            tokenizers = self.prepared.tokenizers
            size = self._micro_batch_tokens or self.training.batch_tokens
            learned = LearnedText.of_bundle(progress.lasting_facts, self.folder.path)
            result = validate(model, self.prepared.validation, tokenizers, size, self._is_called_off, learned)
            if result is None:
                return  # the next start does it
            if not math.isfinite(result.loss):
                self._diverged(f"the validation loss is not finite at step {progress.step}")
            score = result.score(self.training.best_by)
            progress = replace(progress, last_validation=progress.step)  # not noted unless its bundle is there
            is_lost = progress.best_step is not None and not self.folder.has_bundle(progress.best_step)
            if progress.best_score is None or score > progress.best_score or is_lost:
                progress.best_score, progress.best_step, progress.validations_since_best = score, progress.step, 0
            else:
                progress.validations_since_best += 1
            facts = {**progress.lasting_facts, "step": progress.step, "loss": result.loss, "bleu": result.bleu}
            self.folder.keep_bundle(progress, model, tokenizers, self.config.search, facts)
            self.progress = progress
            seconds = time.perf_counter() - started
            self.metrics.write(
                {
                    "step": progress.step,
                    "validation_loss": result.loss,
                    "validation_bleu": result.bleu,
                    "seconds": round(seconds, 3),
                    "n_parameters": sum(parameter.numel() for parameter in model.parameters()),
                    "peak_memory_mib": peak_memory(self.device),
                }
            )
            by_loss = self.training.best_by == "bleu" and result.bleu < MEANINGFUL_BLEU
            best = f"  (best{', by its loss' if by_loss else ''})" if progress.best_step == progress.step else ""
            what = f"step {progress.step:,}" if progress.step else "step 0, the starting model"
            _log.info(
                f"validation at {what}: loss {result.loss:.3f}  perplexity {result.perplexity_text}  "
                f"BLEU {result.bleu:.2f}{best}  ({seconds:.0f} s)"
            )

    def _is_called_off(self) -> bool:
        """Whether a validation is left to the next start. The last one is not: its checkpoint would never note it."""
        return self.stop.is_asked() and self.progress.step < self.n_steps

    def _is_over(self) -> bool:
        """Whether all steps are done, or validation has not improved for too long; equal in all processes."""
        progress, patience = self.progress, self.training.patience
        impatient = patience is not None and progress.validations_since_best >= patience
        if impatient:
            _log.info(f"no better validation for {patience} times; the best is step {progress.best_step}")
        return progress.step >= self.n_steps or impatient

    def _share_patience(self) -> None:
        """Tell all processes what only the main one knows: how long validation has not improved."""
        known = self.progress.validations_since_best if self.processes.is_main else 0
        self.progress.validations_since_best = self.processes.max(known, self.device)

    def _refuse_non_finite_weights(self) -> None:
        """Finite gradients can still lead to weights that are not: those are never validated, nor saved."""
        if not all(bool(parameter.isfinite().all()) for parameter in self.model.parameters()):
            self._diverged(f"weights are not finite after step {self.progress.step}")

    def _diverged(self, what: str) -> NoReturn:
        last = max(self.folder.steps, default=0)
        advice = f"train in another --output with a lower training.lr; the last checkpoint here is step {last}"
        raise DivergedError(what, self.folder.path, advice=advice)

    def _save(self) -> None:
        self._refuse_non_finite_weights()
        if self.processes.is_main:
            self.metrics.flush()
            checkpoint = Checkpoint(
                progress=self.progress,
                model=dict(self.model.named_parameters()),
                optimizer=self.optimizer.tensors(),
                average=dict(self.average.model.named_parameters()) if self.average else None,
            )
            self.folder.save(checkpoint, self.training.keep_checkpoints)
            self._failed_writes = 0
            if self.progress.step:
                _log.info(f"saved step {self.progress.step}")

    def _resume(self) -> bool:
        """Go back to the newest whole checkpoint and return True, or return False if there is none."""
        checkpoint = self.folder.load()
        if checkpoint is None:
            return False
        self.progress.follow(checkpoint.progress, self.folder.path)
        self.model.load_state_dict(dict(checkpoint.model), strict=False)
        self.optimizer.restore(checkpoint.optimizer)
        if self.average is not None and checkpoint.average is not None:
            self.average.model.load_state_dict(dict(checkpoint.average), strict=False)
        environment, earlier = self.progress.environment, checkpoint.progress
        asked = environment[MICRO_BATCH_TOKENS]
        as_before = earlier.environment.get(MICRO_BATCH_TOKENS, asked) == asked
        allowed = earlier.micro_batch_tokens if as_before else None
        lasting = {**self.progress.lasting_facts, **earlier.lasting_facts}  # an older checkpoint has fewer
        self.progress = replace(earlier, environment=environment, micro_batch_tokens=allowed, lasting_facts=lasting)
        if self.processes.is_main:
            self.folder.forget_after(self.progress)
        _log.info(f"continuing after step {self.progress.step:,}")
        return True

    def _choose_precision(self) -> None:
        """Choose once, for the whole training; the main process decides for all."""
        chosen, reason = choose_precision(self.config, self.device)
        plain = self.processes.any(self.processes.is_main and chosen == "float32", self.device)
        self.progress.precision = "float32" if plain else "bfloat16"
        if self.training.precision == "auto":
            _log.info(f"precision: {self.progress.precision} ({reason})")

    def _environment(self) -> dict[str, str]:
        """What the last bits of the sums, and the dropout masks, depend on beside the settings that may not change."""
        on_cpu, compiled = self.device.type == "cpu", library()
        facts = {
            "device": self.device.type,
            "threads": torch.get_num_threads() if on_cpu else 0,
            "processes": self.processes.world_size,
            "PyTorch": torch.__version__,
            "compiled functions": compiled.name if on_cpu and compiled is not None else None,
            MICRO_BATCH_TOKENS: self.training.micro_batch_tokens,
        }
        return {name: str(value) for name, value in facts.items()}
