"""`make book`: the book as an EPUB and as a PDF, in both languages, from the sources of the site. No network is needed.

The outputs of the cells are those of the site. The PDF is the pages of the EPUB, printed by Chromium with all that is
folded open; without Chromium there is none.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from chapters import BOOK
from one_page import joined
from outputs import BUILD, ROOT, compute

HERE = Path(__file__).resolve().parent
LANGUAGES = ("en", "zh")
NAME = "the-book-of-the-transformer"
#: Programs that print, and the seconds that one may take.
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
PATIENCE_S = 900


def main(folder: Path) -> int:
    """Write four files into `folder`; 1 if one cannot be made."""
    folder.mkdir(parents=True, exist_ok=True)
    missing = []
    for language in LANGUAGES:
        if os.environ.get("DRAGOMAN_BOOK_EXECUTION") != "off":
            compute(language)
        pages = build_pages(language)
        shutil.copy(pages / "dragoman.epub", folder / f"{NAME}-{language}.epub")
        pdf = folder / f"{NAME}-{language}.pdf"
        pdf.unlink(missing_ok=True)
        if not print_page(joined(pages), pdf):
            missing.append(pdf.name)
    for path in sorted(folder.iterdir()):
        print(f"{path}: {path.stat().st_size / 1e6:.1f} MB")
    if missing:
        print(
            f"no {', '.join(missing)}: one of {', '.join(BROWSERS)} must be there and print within {PATIENCE_S} s",
            file=sys.stderr,
        )
    return 1 if missing else 0


def build_pages(language: str) -> Path:
    """Build the EPUB of a language, and return the folder with it and its pages."""
    folder = BUILD / f"book-{language}"
    shutil.rmtree(folder, ignore_errors=True)
    command = [sys.executable, "-m", "sphinx", "-b", "epub", "-E", "-W", "--keep-going", "-q", "-t", language]
    command += ["-t", "file", "-c", str(HERE), "-d", str(BUILD / f"doctrees-book-{language}")]
    subprocess.run([*command, str(BOOK / language), str(folder)], check=True)
    return folder


def print_page(page: Path, pdf: Path) -> bool:
    """Print a page to a PDF; False if no browser is there, or it fails."""
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        return False
    command = [browser, "--headless", "--no-sandbox", "--disable-gpu", "--no-pdf-header-footer"]
    command += ["--generate-pdf-document-outline", f"--print-to-pdf={pdf}", page.as_uri()]
    try:
        subprocess.run(command, check=True, timeout=PATIENCE_S, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired):
        return False
    return pdf.is_file()


if __name__ == "__main__":
    sys.exit(main(ROOT / "build" / "book"))
