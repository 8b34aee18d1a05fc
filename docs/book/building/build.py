"""`make docs`: the site in both languages with its notebooks, from nothing to checked. No network is needed."""

import shutil
import subprocess
import sys
from pathlib import Path

from chapters import BOOK, pages_that_run
from check import problems
from notebooks import write_notebook
from outputs import BUILD, ROOT, compute
from translated import outdated

HERE = Path(__file__).resolve().parent
LANGUAGES = ("en", "zh")
ENTRANCE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta http-equiv="refresh" content="0; url=en/index.html">
<title>dragoman</title></head>
<body><a href="en/index.html">English</a> · <a href="zh/index.html" lang="zh-CN">中文</a></body></html>
"""


def main(site: Path) -> int:
    """Build into `site`, which is made anew; 1 if anything is wrong."""
    shutil.rmtree(site, ignore_errors=True)
    for language in LANGUAGES:
        compute(language)
    builds = [start_sphinx(language, site) for language in LANGUAGES]
    codes = [build.wait() for build in builds]
    if any(codes):
        return 1
    for language in LANGUAGES:
        (site / language / ".buildinfo").unlink(missing_ok=True)
        write_notebooks(language, site)
    shutil.rmtree(site / "jupyter_execute", ignore_errors=True)  # copies that myst-nb keeps
    (site / "index.html").write_text(ENTRANCE, encoding="utf-8")
    found = problems(site)
    print("\n".join([*found, *outdated(sorted((BOOK / "zh").rglob("*.md")))]), file=sys.stderr)
    print(f"{site}: {sum(1 for _ in site.rglob('*.html'))} pages, {len(found)} problems")
    return 1 if found else 0


def start_sphinx(language: str, site: Path) -> subprocess.Popen[bytes]:
    """Begin to build one language."""
    # -E: pages show the repository's own files, which Sphinx does not watch. The cells' outputs are kept.
    command = [sys.executable, "-m", "sphinx", "-b", "html", "-E", "-W", "--keep-going", "-q"]
    command += ["-t", language, "-c", str(HERE), "-d", str(BUILD / f"doctrees-{language}")]
    return subprocess.Popen([*command, str(BOOK / language), str(site / language)])


def write_notebooks(language: str, site: Path) -> None:
    """Write the pages of a language that run as notebooks, and beside them the data and the modules that they read."""
    folder = site / language / "notebooks"
    folder.mkdir(parents=True, exist_ok=True)
    for page in pages_that_run(language):
        write_notebook(page, folder)
    shutil.copytree(BOOK / "data", site / language / "data", dirs_exist_ok=True)
    shutil.copy(BOOK / "transformer.py", site / language)
    no_cache = shutil.ignore_patterns("__pycache__")
    shutil.copytree(BOOK / "history", site / language / "history", ignore=no_cache, dirs_exist_ok=True)


if __name__ == "__main__":
    sys.exit(main(ROOT / "site"))
