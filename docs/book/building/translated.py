"""Chinese pages that translate a page of `docs/`, and those whose English has changed since.

A translated page begins with a line such as `% translates docs/guide/train.md at 0123456789ab`. The number is a hash of
the English text. `python docs/book/building/translated.py` names the pages to look at; `make docs` does so, too. With
the names of pages, it writes that they are up to date.
"""

import hashlib
import re
import sys
from pathlib import Path

from chapters import BOOK

ROOT = BOOK.parents[1]
#: Pages whose English is at the root of the repository.
_AT_ROOT = {"architecture.md": "ARCHITECTURE.md", "changelog.md": "CHANGELOG.md"}
_HEAD = re.compile(r"\A% translates (?P<english>\S+) at (?P<hash>\w+)\n")


def english_of(page: Path) -> Path:
    """Return the English page that a Chinese page translates or includes."""
    name = page.relative_to(BOOK / "zh")
    root = _AT_ROOT.get(name.as_posix())
    return ROOT / root if root else BOOK.parent / name


def hash_of(english: Path) -> str:
    """Return a hash of an English page."""
    return hashlib.sha256(english.read_bytes()).hexdigest()[:12]


def outdated(pages: list[Path]) -> list[str]:
    """Return a line for each translated page whose English is not what it was then."""
    found = []
    for page in pages:
        head = _HEAD.match(page.read_text(encoding="utf-8"))
        if head and (not (ROOT / head["english"]).is_file() or hash_of(ROOT / head["english"]) != head["hash"]):
            name = page.relative_to(ROOT).as_posix()
            found.append(f"{name}: {head['english']} has changed since it was translated")
    return found


def mark(page: Path) -> None:
    """Write at the head of a page that it is up to date."""
    english = english_of(page)
    text = _HEAD.sub("", page.read_text(encoding="utf-8")).lstrip("\n")
    head = f"% translates {english.relative_to(ROOT).as_posix()} at {hash_of(english)}"
    page.write_text(f"{head}\n\n{text}", encoding="utf-8")


def main(names: list[str]) -> None:
    """Mark pages as up to date, or name those that are not."""
    for name in names:
        mark(Path(name).resolve())
    if not names:
        print("\n".join(outdated(sorted((BOOK / "zh").rglob("*.md")))))


if __name__ == "__main__":
    main(sys.argv[1:])
