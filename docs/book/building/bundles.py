"""The scripts of the book's pages, each with the modules that it imports in one file."""

from pathlib import Path

from dragoman.exchange.modules import bundled

SCRIPTS = Path(__file__).resolve().parent / "scripts"


def bundle(name: str) -> str:
    """Return the script `name` of the folder `scripts`.

    Raises:
        ValueError: it imports what is not there, or two of its modules have the same name for a thing.
    """
    return bundled({path.name: path.read_text(encoding="utf-8") for path in SCRIPTS.glob("*.js")}, f"{name}.js")
