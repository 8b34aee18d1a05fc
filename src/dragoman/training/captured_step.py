"""A training step for GPUs, whose CPUs launch functions more slowly than small ones compute.

Nothing on the way depends on a number that the CPU would have to read, and each batch is padded to one of a few shapes.
So the work of a step can be captured, once for each shape, as a CUDA graph: a list of functions that one call launches.
"""

from __future__ import annotations

import contextlib
import logging
from collections import deque
from collections.abc import Callable, Hashable, Iterator, Sequence

import torch
from torch import Tensor

from dragoman.data.batches import Batch
from dragoman.errors import is_out_of_memory
from dragoman.machine.cuda_graphs import capture
from dragoman.machine.processes import Processes
from dragoman.settings.training_config import TrainingConfig
from dragoman.text.special_ids import SpecialIdPair
from dragoman.training.checkpoint import Window
from dragoman.training.gradient import NARROW
from dragoman.training.loss import batch_loss, n_target_tokens
from dragoman.training.shapes import Shape, shape_for
from dragoman.training.step import Outcome, PlainStep, Step
from dragoman.training.training_state import TrainingState

_log = logging.getLogger(__name__)

#: Steps that the CPU may be ahead of the GPU, so that the clock, signals and progress stay true.
STEPS_AHEAD = 2
#: The loss in float16 is scaled as PyTorch's `GradScaler` does: the first scale, its factors, and the steps to a rise.
FIRST_SCALE, RISE, FALL, STEPS_TO_RISE = 2.0**16, 2.0, 0.5, 2000

Work = Callable[[], None]


class CudaGraphs:
    """Calls work when it comes for the first time, captures it the second time, and replays it from then on.

    Work of one name has the same shapes and the same tensors whenever it comes.
    """

    def __init__(self, device: torch.device) -> None:
        self._stream = torch.cuda.Stream(device)
        self._pool = torch.cuda.graph_pool_handle()
        self._graphs: dict[Hashable, torch.cuda.CUDAGraph | None] = {}
        self._unfinished: deque[torch.cuda.Event] = deque()
        self._is_refused = False

    @contextlib.contextmanager
    def in_order(self) -> Iterator[None]:
        """Let the work inside follow all that was asked for before, and precede what is asked for afterwards.

        It is done in a stream of its own, since none can be captured that others use.
        """
        outside = torch.cuda.current_stream(self._stream.device)
        self._stream.wait_stream(outside)
        with torch.cuda.stream(self._stream):
            yield
        outside.wait_stream(self._stream)

    def run(self, name: Hashable, work: Work) -> None:
        """Call, capture or replay it."""
        if name in self._graphs and self._graphs[name] is None and not self._is_refused:
            self._graphs[name] = self._capture(work)
        if (graph := self._graphs.setdefault(name, None)) is None:
            work()
        else:
            graph.replay()

    def _capture(self, work: Work) -> torch.cuda.CUDAGraph | None:
        """Return a graph, which shares its memory with the others; None, and no graph from now on, if that fails."""
        try:
            return capture(work, self._pool, self._stream)
        except RuntimeError as error:
            if is_out_of_memory(error):
                raise
            _log.info(f"going on without CUDA graphs, which are faster: {str(error).splitlines()[0]}")
            self._is_refused = True
            self.forget()
            return None

    def end_step(self) -> None:
        """Wait until the step before the last few is done."""
        event = torch.cuda.Event()
        event.record(self._stream)
        self._unfinished.append(event)
        if len(self._unfinished) > STEPS_AHEAD:
            self._unfinished.popleft().synchronize()

    def forget(self) -> None:
        """Drop all graphs, and with them their memory."""
        torch.cuda.synchronize(self._stream.device)
        self._graphs.clear()
        self._pool = torch.cuda.graph_pool_handle()  # a pool without graphs cannot be used again
        self._unfinished.clear()


class _Inputs:
    """The ids of batches of one shape, always in the same tensors.

    Rows without a pair have one source token and no target token, so that each position has something to attend to.
    """

    def __init__(self, shape: Shape, special_ids: SpecialIdPair, device: torch.device) -> None:
        source, target = special_ids.source, special_ids.target
        self._empty = tuple(
            torch.full((shape.n_pairs, length), side.pad, device=device)
            for side, length in ((source, shape.length), (target, shape.length + 1))
        )
        self._empty[0][:, 0], self._empty[1][:, 0] = source.unknown, target.start
        self.batch = Batch(*(ids.clone() for ids in self._empty))
        #: What else the work of this shape reads. A model replaces its table of positions by a longer one.
        self.buffers: list[Tensor] = []

    def fill(self, batch: Batch) -> None:
        """Take the ids of a batch that is not larger."""
        sides = (self.batch.source_ids, batch.source_ids), (self.batch.target_ids, batch.target_ids)
        for (ids, new), empty in zip(sides, self._empty, strict=True):
            ids.copy_(empty)
            ids[: new.size(0), : new.size(1)].copy_(new, non_blocking=True)


class CapturedStep:
    """A step of which the CPU reads nothing until it asks for the outcome; otherwise what `PlainStep` is.

    Whether a step is finite is decided on the device: one that is not has a rate of 0, gradients of 0, and no part in
    the averages. Weights move as in a plain step, except for rounding, and other dropout masks since more is padded.

    Args:
        n_tokens: returns the budget of a micro-batch: pairs times the longer side.
    """

    def __init__(
        self,
        state: TrainingState,
        training: TrainingConfig,
        processes: Processes,
        graphs: CudaGraphs,
        n_tokens: Callable[[], int],
    ) -> None:
        self._state, self._training, self._processes = state, training, processes
        self._graphs, self._n_tokens = graphs, n_tokens
        self._parameters = list(state.model.parameters())
        self._device = device = self._parameters[0].device
        self._gradients = [torch.zeros_like(each) for each in self._parameters]
        self._inputs: dict[Shape, _Inputs] = {}
        #: Written before each step: its target tokens, learning rate, and the share of the weights in the average.
        self._batch_tokens, self._rate, self._average_weight = (torch.zeros((), device=device) for _ in range(3))
        #: Sums of the loss and of -log p(target) over the micro-batches of a step.
        self._losses = torch.zeros(2, device=device)
        #: Sums over steps: loss, -log p, norm, tokens, finite steps, steps that are not; and those of them in a row.
        self._sums = torch.zeros(7, dtype=torch.float64, device=device)
        self._sums[6] = state.progress.skipped_in_a_row
        progress, self._is_scaled = state.progress, state.progress.precision == "float16"
        scale = (progress.loss_scale or FIRST_SCALE) if self._is_scaled else 1.0
        self._scale = torch.full((), scale, device=device)
        self._steps_of_scale = torch.full((), progress.loss_scale_steps, dtype=torch.int32, device=device)

    def make(self, micro_batches: Sequence[Batch], step: int, rate: float) -> None:
        """Make one step; see `Step`."""
        pad_id = self._state.model.special_ids.target.pad
        try:
            with self._graphs.in_order():
                self._hold_gradients()
                self._batch_tokens.fill_(sum(n_target_tokens(batch, pad_id) for batch in micro_batches))
                self._rate.fill_(rate)
                if self._state.average is not None:
                    self._average_weight.fill_(self._state.average.weight(step))
                for batch in micro_batches:
                    self._add_gradient(batch)
                self._graphs.run("update", self._update)
                self._graphs.end_step()
        except (MemoryError, RuntimeError):
            self._graphs.forget()
            self._inputs.clear()
            self._clear_gradients()
            raise

    def outcome(self) -> Outcome:
        """Return the outcome of the steps since the last call, when the device has made them."""
        loss, nll, norm, n_tokens, n_steps, n_skipped, in_a_row = self._sums.tolist()
        self._sums[:6] = 0.0
        if self._is_scaled:
            self._state.progress.loss_scale = float(self._scale)
            self._state.progress.loss_scale_steps = int(self._steps_of_scale)
        return Outcome(Window(loss, nll, norm, int(n_tokens), int(n_steps)), int(n_skipped), int(in_a_row))

    def _hold_gradients(self) -> None:
        """Give the parameters gradients that stay in place. Someone may have taken them away."""
        if self._parameters[0].grad is not self._gradients[0]:
            self._clear_gradients()
            for parameter, gradient in zip(self._parameters, self._gradients, strict=True):
                parameter.grad = gradient

    def _clear_gradients(self) -> None:
        torch._foreach_zero_(self._gradients)
        self._losses.zero_()

    def _add_gradient(self, batch: Batch) -> None:
        """Add the gradient of a micro-batch to those before it."""
        longest = max(batch.source_ids.size(1), batch.target_ids.size(1) - 1)
        shape = shape_for(len(batch.source_ids), longest, self._n_tokens())
        if shape not in self._inputs:
            self._inputs[shape] = _Inputs(shape, self._state.model.special_ids, self._device)
        inputs = self._inputs[shape]
        inputs.fill(batch)
        self._graphs.run(shape, lambda: self._backward(inputs))

    def _backward(self, inputs: _Inputs) -> None:
        narrow, training = NARROW.get(self._state.progress.precision), self._training
        with torch.autocast(self._device.type, narrow, enabled=narrow is not None):
            loss, nll = batch_loss(
                self._state.model, inputs.batch, training.label_smoothing, training.r_drop, is_static=True
            )
        inputs.buffers = list(self._state.model.buffers())
        (loss * (self._scale / self._batch_tokens)).backward()
        self._losses += torch.stack((loss.detach(), nll.detach()))

    @torch.no_grad()
    def _update(self) -> None:
        """Move the weights by the gradients, or not, and make these zeros for the next step."""
        state, loss, clip_norm = self._state, self._losses[0], self._training.clip_norm
        norm = torch.nn.utils.get_total_norm(self._gradients) / self._scale
        is_finite = (norm + loss).isfinite()
        finite, skipped = is_finite.float(), (~is_finite).float()
        factor = 1 / self._scale if clip_norm is None else (clip_norm / (norm + 1e-6)).clamp(max=1.0) / self._scale
        for gradient in self._gradients:
            gradient.masked_fill_(~is_finite, 0.0)
        torch._foreach_mul_(self._gradients, factor.where(is_finite, 0.0))
        for move in [part.prepare(state.progress.precision, self._processes) for part in state.optimizer.parts]:
            move(self._rate * finite, skipped)
        if state.average is not None:
            state.average.update(state.model, self._average_weight * finite)
        self._count(torch.stack((*self._losses, norm, self._batch_tokens)), is_finite)
        if self._is_scaled:
            torch._amp_update_scale_(self._scale, self._steps_of_scale, skipped, RISE, FALL, STEPS_TO_RISE)
        self._clear_gradients()

    def _count(self, numbers: Tensor, is_finite: Tensor) -> None:
        """Add a step to the sums."""
        self._sums[:4] += numbers.where(is_finite, 0.0)
        self._sums[4] += is_finite
        self._sums[5] += ~is_finite
        self._sums[6] += 1
        self._sums[6] *= ~is_finite


def build_step(
    state: TrainingState, training: TrainingConfig, processes: Processes, n_tokens: Callable[[], int]
) -> Step:
    """Return what makes the steps of a training on its device; see `CapturedStep` for `n_tokens`."""
    device = next(state.model.parameters()).device
    if device.type != "cuda":
        return PlainStep(state, training, processes)
    if reason := _obstacle(training, processes):
        _log.info(f"training without CUDA graphs, which are faster: {reason}")
        return PlainStep(state, training, processes)
    return CapturedStep(state, training, processes, CudaGraphs(device), n_tokens)


def _obstacle(training: TrainingConfig, processes: Processes) -> str:
    """Return why steps cannot be captured, or "" if they can."""
    if not training.cuda_graphs:
        return "training.cuda_graphs=false"
    if processes.world_size > 1:
        return "several processes add up their gradients in between"
    return "" if hasattr(torch.nn.utils, "get_total_norm") else "they need PyTorch 2.6 or newer"
