"""The file of a vocabulary: JSON with the list of its words from id 4 on."""

from __future__ import annotations

from pathlib import Path

from dragoman.errors import BundleError
from dragoman.storage import read_json, to_json
from dragoman.text.vocabulary import Vocabulary

MAX_BYTES = 1 << 28
#: Bytes of a vocabulary, beyond which there are more entries than its model has, or longer ones than a text.
BASE_BYTES, BYTES_PER_ENTRY = 1_000_000, 1_000


def write_words(path: Path, vocabulary: Vocabulary) -> None:
    """Write `vocabulary` to the file `path`."""
    path.write_bytes(to_json({"words": vocabulary.to_json()}))


def read_words(path: Path, size: int | None = None) -> Vocabulary:
    """Read what `write_words` wrote.

    Args:
        size: how many entries there should be, where it is known.

    Raises:
        BundleError: the file is missing, damaged, much too large for `size` words, or not a list of words.
    """
    check_file(path, size)
    try:
        value = read_json(path, MAX_BYTES)
        if value.keys() != {"words"}:
            raise ValueError("it has other keys than words")
        return Vocabulary.from_json(value["words"])
    except ValueError as error:
        raise BundleError(f"not a vocabulary ({error})", path, advice="use another copy") from None


def check_file(path: Path, size: int | None = None) -> None:
    """Refuse what is not a plain file of a size that `size` entries can have; a folder may come from a stranger.

    Raises:
        BundleError: it is a link, a folder, a device, missing, or larger than any vocabulary.
    """
    if path.is_symlink() or not path.is_file():
        raise BundleError("file not found, or not a plain file", path, advice="use another copy")
    limit = MAX_BYTES if size is None else min(MAX_BYTES, BASE_BYTES + size * BYTES_PER_ENTRY)
    if path.stat().st_size > limit:
        raise BundleError("too large to be a vocabulary", path, advice="use another copy")
