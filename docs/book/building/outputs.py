"""The outputs of the chapters' cells: computed once, kept as long as nothing they could depend on has changed.

Sphinx runs a chapter whose outputs are not there in a kernel of its own. `compute` goes before: one kernel runs all of
them, so that PyTorch is imported once and not once a page.

A chapter (one of each language) may save models. It asks the environment variable `DRAGOMAN_BOOK_MODELS` for the
folder, and without it writes into the folder it runs in:
`Path(os.environ.get("DRAGOMAN_BOOK_MODELS", ".")) / "captions-en-de"`. After `compute("en")` that bundle is
`models("en") / "captions-en-de"`, for pages that show it. The Chinese chapter saves "captions-en-zh".
What a widget shows of a run, a hidden cell writes into the same folder.
"""

import hashlib
import os
import shutil
from pathlib import Path

import nbformat
from chapters import BOOK, pages_that_run
from jupyter_cache import get_cache
from jupyter_cache.base import CacheBundleIn, JupyterCacheAbstract
from jupyter_client.manager import KernelManager
from myst_nb.core.read import myst_nb_reader_plugin
from nbclient import NotebookClient

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
BUILD = ROOT / "build" / "docs"
TIMEOUT_S = 300
#: The environment variable that names the folder of a language's models, for the cells.
MODELS = "DRAGOMAN_BOOK_MODELS"


def folder() -> Path:
    """Return the folder of the outputs; its name is a hash of all files, except the cells, that could change them."""
    digest = hashlib.sha256()
    files = [*(ROOT / "src").rglob("*.py"), *(BOOK / "data").iterdir(), *(BOOK / "history").glob("*.py")]
    files += [BOOK / "transformer.py", HERE / "matplotlibrc", HERE / "kernel.py"]
    for path in sorted(files):
        digest.update(path.relative_to(ROOT).as_posix().encode() + path.read_bytes())
    return BUILD / f"outputs-{digest.hexdigest()[:16]}"


def models(language: str) -> Path:
    """Return the folder of the bundles that the chapters of a language save; they are kept as long as the outputs."""
    return folder() / f"models-{language}"


def set_up_kernels(language: str) -> None:
    """Set the book's style of figures, figures as SVG, and one thread, which is best for small tensors.

    Chinese stays text in a figure, in a font of the reader's: no font of the machine that builds needs to have it.
    """
    profile = BUILD / "ipython" / "profile_default"
    profile.mkdir(parents=True, exist_ok=True)
    (profile / "ipython_kernel_config.py").write_bytes((HERE / "kernel.py").read_bytes())
    os.environ["IPYTHONDIR"] = str(profile.parent)
    style = BUILD / f"matplotlibrc-{language}"
    lines = (HERE / "matplotlibrc").read_text(encoding="utf-8")
    if language == "zh":
        lines = lines.replace("svg.fonttype: path", "svg.fonttype: none")
    style.write_text(lines, encoding="utf-8")
    os.environ["MATPLOTLIBRC"] = str(style)
    os.environ["PYTHONWARNINGS"] = "ignore:Glyph"  # of Matplotlib, which has no font with Chinese
    os.environ.setdefault("OMP_NUM_THREADS", "1")


def compute(language: str) -> None:
    """Run the chapters of a language whose outputs are not there, each with names of its own.

    Raises:
        CellExecutionError: a cell failed.
    """
    set_up_kernels(language)
    cache = get_cache(folder())
    missing = []
    for page in pages_that_run(language):
        notebook = myst_nb_reader_plugin(str(page))
        if not _is_known(cache, notebook) or (_saves_a_model(page) and not models(language).exists()):
            missing.append((page, notebook))
    if not missing:
        return
    os.environ[MODELS] = str(models(language))
    manager = KernelManager()
    manager.start_kernel(cwd=str(BOOK / language))
    try:
        for page, notebook in missing:
            print(f"running {page.relative_to(ROOT)}", flush=True)
            if _saves_a_model(page):
                shutil.rmtree(models(language), ignore_errors=True)
            _run(notebook, manager)
            cache.cache_notebook_bundle(CacheBundleIn(notebook, str(page)), check_validity=False, overwrite=True)
            _run(_forgetting(), manager)
    finally:
        manager.shutdown_kernel(now=True)


def _is_known(cache: JupyterCacheAbstract, notebook: nbformat.NotebookNode) -> bool:
    try:
        cache.match_cache_notebook(notebook)
    except KeyError:
        return False
    return True


def _saves_a_model(page: Path) -> bool:
    return MODELS in page.read_text(encoding="utf-8")


def _run(notebook: nbformat.NotebookNode, manager: KernelManager) -> None:
    # Times would be metadata of the cells, by which the outputs are found again.
    NotebookClient(notebook, km=manager, timeout=TIMEOUT_S, startup_timeout=TIMEOUT_S, record_timing=False).execute()


def _forgetting() -> nbformat.NotebookNode:
    """Return a cell that forgets the names of the last chapter."""
    code = "import torch\ntorch.set_printoptions(profile='default')\n%reset -f"
    return nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(code)])
