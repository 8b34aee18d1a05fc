"""The file of a vocabulary: JSON with the list of its words in the order of their ids."""

from __future__ import annotations

from pathlib import Path

from dragoman.errors import BundleError
from dragoman.machine.json_files import read_json, to_json
from dragoman.text.special_ids import SpecialIds
from dragoman.text.vocabulary import Vocabulary

MAX_BYTES = 1 << 28


def words_to_json(vocabulary: Vocabulary) -> bytes:
    """The content of the file."""
    return to_json({"words": vocabulary.to_json()})


def read_words(path: Path, special_ids: SpecialIds = SpecialIds()) -> Vocabulary:
    """Read a file of `words_to_json`.

    Raises:
        BundleError: the file is missing, damaged, or not a list of words.
    """
    try:
        value = read_json(path, MAX_BYTES)
        if value.keys() != {"words"}:
            raise ValueError("it has other keys than words")
        return Vocabulary.from_json(value["words"], special_ids)
    except ValueError as error:
        raise BundleError(f"not a vocabulary ({error})", path, advice="use another copy") from None
