"""One-line errors for packages that are missing or broken, with the command that installs them.

A command that cannot do without an extra asks for it first, by `require_package`. Other packages that are missing are
found when they are imported.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from itertools import takewhile
from types import TracebackType

from dragoman.errors import DragomanError, install_advice, printable

#: Modules that every installation has, and the names of their packages for pip.
_SAME = ("numpy", "pydantic", "py3langid", "rich", "sacrebleu", "sacremoses", "safetensors", "sentencepiece", "typer")
PACKAGES = {"threadpoolctl": "threadpoolctl", "yaml": "pyyaml", **dict(zip(_SAME, _SAME, strict=True))}
#: Modules that an extra brings, and the extra.
_OF_EXTRAS = {
    "train": ("torch",),
    "words": ("spacy",),
    "plot": ("matplotlib",),
    "tensorboard": ("tensorboard",),
    "hub": ("datasets",),
    "get": ("huggingface_hub",),
    "documents": ("markdown_it", "polib"),
    "memory": ("rapidfuzz",),
    "sentences": ("pythainlp", "pycrfsuite"),
    "serve": ("fastapi", "uvicorn", "python_multipart", "prometheus_client"),
    "mcp": ("mcp", "mcp_types"),
    "ctranslate2": ("ctranslate2",),
    "onnx": ("onnx", "onnxruntime"),
    "ray": ("ray",),
}
EXTRAS = {module: extra for extra, modules in _OF_EXTRAS.items() for module in modules}
#: Usual names that differ from the module's.
TITLES = {
    "torch": "PyTorch",
    "numpy": "NumPy",
    "spacy": "spaCy",
    "yaml": "PyYAML",
    "tensorboard": "TensorBoard",
    "ctranslate2": "CTranslate2",
    "mcp": "the package mcp",
    "mcp_types": "the package mcp from version 2 on",
    "onnx": "ONNX",
    "ray": "Ray",
    "fastapi": "FastAPI",
    "markdown_it": "markdown-it-py",
    "python_multipart": "python-multipart",
    "prometheus_client": "prometheus-client",
    "pythainlp": "PyThaiNLP",
    "pycrfsuite": "python-crfsuite",
}


def require_package(user: str, *modules: str) -> None:
    """Refuse a command if one of its packages is missing, before it does anything.

    Args:
        user: of the packages, as people type it: a command, an option or a setting.

    Raises:
        DragomanError: a package is not installed.
    """
    for module in modules:
        try:
            is_installed = find_spec(module) is not None
        except ModuleNotFoundError:
            is_installed = False
        if not is_installed:
            raise DragomanError(f"{user} needs {_title(module)}", advice=_install(module))


def explain_import(error: BaseException) -> str | None:
    """Return one line for a package that is not installed or cannot be loaded; None for any other error."""
    is_import = isinstance(error, ImportError)
    if not is_import and not (isinstance(error, OSError) and error.errno is None):  # a library that cannot be loaded
        return None
    missing = (error.name or "") if isinstance(error, ImportError) else ""
    module = missing.partition(".")[0]
    if isinstance(error, ModuleNotFoundError) and _is_ours(missing):
        return f"{_title(missing)} is not installed; {_install(missing)}"
    if not _is_ours(module):
        module = next(filter(_is_ours, _modules(error.__traceback__)), "")
    if not module:
        return None
    reason = next(iter(str(error).strip().splitlines()), type(error).__name__)
    return f"{_title(module)} cannot be loaded ({printable(reason)}); {_install(module, 'install it again')}"


def _title(module: str) -> str:
    return TITLES.get(module, module)


def _is_ours(module: str) -> bool:
    return module in PACKAGES or module in EXTRAS


def _install(module: str, beginning: str = "install it") -> str:
    if module in PACKAGES:
        return f"{beginning}: pip install {PACKAGES[module]}"
    advice = install_advice(EXTRAS[module], beginning)
    return f"{advice} (pytorch.org tells how to get the small build for CPUs)" if module == "torch" else advice


def _modules(trace: TracebackType | None) -> Iterator[str]:
    """Yield the outermost packages of the frames, the innermost frame first, up to the first of our own."""
    frames = []
    while trace is not None:
        frames.append(str(trace.tb_frame.f_globals.get("__name__", "")).partition(".")[0])
        trace = trace.tb_next
    return takewhile(lambda name: name != "dragoman", reversed(frames))
