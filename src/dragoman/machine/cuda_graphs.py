"""Work of a GPU that is captured once, and then launched at once, as a CUDA graph."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import torch

#: A capture begins by waiting for the device, which is forbidden while another thread captures.
_ONE_AT_A_TIME = threading.Lock()


def capture(work: Callable[[], None], pool: Any, stream: torch.cuda.Stream) -> torch.cuda.CUDAGraph:
    """Return a graph of some work, which must have been done once before. It is not done now.

    Args:
        pool: graphs of one pool share memory, so they must not run at the same time.

    Raises:
        RuntimeError: something in the work cannot be captured, or there is not enough memory.
    """
    graph = torch.cuda.CUDAGraph()
    # If a capture fails, PyTorch's context leaves the stream as the current one.
    with _ONE_AT_A_TIME, torch.cuda.stream(stream):
        try:
            # Other threads may copy meanwhile, so only this one must keep to what a capture allows.
            with torch.cuda.graph(graph, pool=pool, stream=stream, capture_error_mode="thread_local"):
                work()
        except RuntimeError as error:
            # The generator of some versions would still count as captured, and draw no more numbers.
            generator = torch.cuda.default_generators[stream.device.index]
            generator.graphsafe_set_state(generator.clone_state())
            raise (error.__context__ or error) from None  # the first one says what cannot be captured
    return graph
