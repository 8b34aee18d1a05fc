"""The file of a vocabulary: JSON with the list of its words from id 4 on."""

from __future__ import annotations

from pathlib import Path

from dragoman.errors import BundleError
from dragoman.storage import read_json, to_json
from dragoman.text.vocabulary import Vocabulary

MAX_BYTES = 1 << 28


def write_words(path: Path, vocabulary: Vocabulary) -> None:
    """Write `vocabulary` to the file `path`."""
    path.write_bytes(to_json({"words": vocabulary.to_json()}))


def read_words(path: Path) -> Vocabulary:
    """Read what `write_words` wrote.

    Raises:
        BundleError: the file is missing, damaged, or not a list of words.
    """
    check_file(path)
    try:
        return Vocabulary.from_json(read_json(path).get("words"))
    except ValueError as error:
        raise BundleError(f"not a vocabulary ({error})", path, advice="use another copy") from None


def check_file(path: Path) -> None:
    """Refuse what is not a plain file of a reasonable size; a model folder may come from a stranger.

    Raises:
        BundleError: it is a link, a folder, a device, missing, or larger than any vocabulary.
    """
    if path.is_symlink() or not path.is_file():
        raise BundleError("file not found, or not a plain file", path, advice="use another copy")
    if path.stat().st_size > MAX_BYTES:
        raise BundleError("too large to be a vocabulary", path, advice="use another copy")
