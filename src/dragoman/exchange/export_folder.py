"""The files of an export that several programs read."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from dragoman.text.subword import Subword
from dragoman.text.tokenizer import Tokenizers

#: Of the weights on disk.
Precision = Literal["float32", "int8"]


def write_files(folder: Path, contents: Mapping[str, bytes]) -> None:
    """Write files into an existing folder, by their paths."""
    for path, content in contents.items():
        (folder / path).parent.mkdir(exist_ok=True)
        (folder / path).write_bytes(content)


def sentencepiece_files(tokenizers: Tokenizers) -> dict[str, bytes]:
    """Return `source.spm` and `target.spm`, the SentencePiece models of subwords; other tokens have none."""
    sides = {"source.spm": tokenizers.source, "target.spm": tokenizers.target}
    return {name: side.segmenter.model for name, side in sides.items() if isinstance(side, Subword)}
