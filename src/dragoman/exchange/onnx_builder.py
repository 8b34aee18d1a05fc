"""A graph of ONNX, built operation by operation. Each tensor is written once, under its name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

#: Old enough for the runtimes of browsers, new enough for layer norms.
_OPSET, _IR = 17, 8

#: The name of a tensor, its type in ONNX, and its sizes; text names a size that is not fixed.
Signature = tuple[str, int, Sequence[int | str]]
INT64, FLOAT, BOOL = TensorProto.INT64, TensorProto.FLOAT, TensorProto.BOOL


class Builder:
    """A graph under construction. Methods add operations and return the names of their results."""

    def __init__(self) -> None:
        self._nodes: list[Any] = []
        self._tensors: dict[str, Any] = {}

    def op(
        self, kind: str, *inputs: str, attributes: Mapping[str, object] | None = None, output: str | None = None
    ) -> str:
        """Add an operation with one result.

        Args:
            output: the name of the result; None makes one.
        """
        name = output or f"{kind.lower()}_{len(self._nodes)}"
        self._nodes.append(helper.make_node(kind, list(inputs), [name], f"node_{len(self._nodes)}", **attributes or {}))
        return name

    def halves(self, x: str, size: int) -> tuple[str, str]:
        """Cut the last dimension of a tensor into two of `size`."""
        first, second = (f"half_{len(self._nodes)}_{number}" for number in (0, 1))
        sizes = self.ints(size, size)
        self._nodes.append(helper.make_node("Split", [x, sizes], [first, second], f"node_{len(self._nodes)}", axis=-1))
        return first, second

    def tensor(self, name: str, values: NDArray[Any]) -> str:
        """Return a constant; the name belongs to these values."""
        if name not in self._tensors:
            self._tensors[name] = numpy_helper.from_array(np.ascontiguousarray(values), name)
        return name

    def ints(self, *values: int) -> str:
        """Return a constant vector of int64."""
        return self.tensor(f"ints_{'_'.join(map(str, values))}", np.array(values, dtype=np.int64))

    def number(self, value: float) -> str:
        """Return a constant float32."""
        return self.tensor(f"number_{value!r}", np.array(value, dtype=np.float32))

    def size(self, x: str, axis: int) -> str:
        """Return the size of a dimension, as a vector of one number."""
        return self.op("Gather", self.op("Shape", x), self.ints(axis), attributes={"axis": 0})

    def model(self, name: str, inputs: Sequence[Signature], outputs: Sequence[Signature]) -> bytes:
        """Return the file of the finished graph."""
        signatures = ([helper.make_tensor_value_info(*each) for each in side] for side in (inputs, outputs))
        graph = helper.make_graph(self._nodes, name, *signatures, initializer=list(self._tensors.values()))
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", _OPSET)], ir_version=_IR)
        onnx.checker.check_model(model)
        content: bytes = model.SerializeToString(deterministic=True)
        return content
