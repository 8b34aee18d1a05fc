"""The first cell of each notebook: it installs dragoman where it is missing, as on a service that runs notebooks.

The pages do not have it. What they read from the book, `../data` and `../transformer.py`, is in the repository.
"""

import tomllib

from chapters import BOOK

#: A comment, another one, and an error, by language.
WORDS = {
    "en": (
        "Installs dragoman where it is missing: from a folder `dragoman` beside this notebook, or from its repository.",
        "the address of the repository, if there is no such folder",
        "dragoman is missing: upload its repository as a folder `dragoman`, or write its address above",
    ),
    "zh": (
        "没有安装 dragoman 时，从这个 notebook 旁边的文件夹 `dragoman` 或它的仓库安装。",
        "没有这个文件夹时，填仓库的地址",
        "没有安装 dragoman：请把它的仓库作为文件夹 `dragoman` 上传，或在上面填它的地址",
    ),
}
_CELL = """\
# {purpose}
import importlib, importlib.util, os, subprocess, sys

repository = {repository!r}  # {address}

package = importlib.util.find_spec("dragoman")
if package is None or package.origin is None:  # a mere folder of this name has no origin
    if not os.path.isdir("dragoman"):
        if not repository:
            raise SystemExit("{error}")
        subprocess.run(["git", "clone", "--depth", "1", repository, "dragoman"], check=True)
    subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "./dragoman[train,plot]"], check=True)
    importlib.invalidate_caches()
if os.path.isdir("dragoman/docs/book/{language}"):
    os.chdir("dragoman/docs/book/{language}")
"""


def first_cell(language: str) -> str:
    """Return the code, with the repository's address as `pyproject.toml` has it; without one, the reader writes it."""
    project = tomllib.loads((BOOK.parents[1] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    repository = project.get("urls", {}).get("Repository", "")
    purpose, address, error = WORDS[language]
    words = {"purpose": purpose, "address": address, "error": error}
    return _CELL.format(repository=repository, language=language, **words).rstrip()
