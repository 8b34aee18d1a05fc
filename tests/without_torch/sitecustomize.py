"""Hides PyTorch from a Python that has this folder on its PYTHONPATH."""

import sys


class _Hidden:
    def find_spec(self, name: str, path: object = None, target: object = None) -> None:
        if name == "torch":
            raise ModuleNotFoundError("No module named 'torch'", name="torch")


sys.meta_path.insert(0, _Hidden())  # type: ignore[arg-type]
