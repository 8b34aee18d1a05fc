"""The vocabularies of a Marian model: SentencePiece models, and tables of ids (`.yml`) where the model has others.

Marian has no padding and no start. Here both follow the last piece, as in transformers' versions of such models.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from dragoman.errors import BundleError
from dragoman.imports.compressed_files import file_content
from dragoman.imports.foreign_tokenizers import MOST_BYTES, built, numbered, tag_directions
from dragoman.settings.tokenizer_config import TokenizerConfig
from dragoman.text.sentence_pieces import SentencePieces
from dragoman.text.sides import Learned
from dragoman.text.special_ids import SpecialIds
from dragoman.text.tokenizer import Tokenizers

_END, _UNKNOWN, _COPY = "</s>", "<unk>", "use another copy"
#: What Nematus called these two, which have the ids 0 and 1 then.
_OLD_NAMES = {"eos": _END, "UNK": _UNKNOWN}


def read_vocabularies(
    models: tuple[Path, Path], tables: tuple[Path, Path] | None, languages: tuple[str, str], chosen: str | None
) -> Tokenizers:
    """Read the vocabularies of the source and of the target.

    Args:
        models: SentencePiece models; one for both sides is given twice.
        tables: ids of their pieces, where they are not the models' own.
        languages: codes of the source and the target.
        chosen: the target language that the user wants of a model that has tags for several.

    Raises:
        BundleError: a file is damaged, or contradicts another.
        ConfigError: a language code is invalid.
    """
    try:
        learned = [_learned(*files) for files in zip(models, tables or (None, None), strict=True)]
        pieces = SentencePieces(learned[0].model or b"")
        is_joint = models[0] == models[1] and (tables is None or tables[0] == tables[1])
        config = TokenizerConfig(kind=pieces.algorithm, joint=is_joint)
        table = [] if learned[0].vocabulary is None else learned[0].vocabulary.words
        directions = tag_directions(languages, table, chosen)
        return built(learned, config, directions)
    except ValueError as error:
        raise BundleError(f"not the vocabulary of a Marian model ({error})", models[0], advice=_COPY) from None


def _learned(model: Path, table: Path | None) -> Learned:
    """Return a side's vocabulary; a ValueError says what is wrong with it."""
    content = file_content(model, MOST_BYTES)
    pieces = SentencePieces(content)
    if table is None:
        size, end = len(pieces), pieces.special_ids.end
        if end == size:
            raise ValueError(f"{model.name} has no end of a sentence")
        ids = SpecialIds(pad=size, unknown=pieces.special_ids.unknown, start=size, end=end)
        pieces.vocabulary(ids)
        return Learned(content, None, ids)
    numbers = read_table(table)
    size = len(numbers)
    if missing := {_END, _UNKNOWN} - numbers.keys():
        raise ValueError(f"{' and '.join(sorted(missing))} missing in {table.name}")
    ids = SpecialIds(pad=size, unknown=numbers[_UNKNOWN], start=size, end=numbers[_END])
    return Learned(content, numbered({**numbers, "<pad>": size}, ids), ids)


def read_table(path: Path) -> dict[str, int]:
    """Read a vocabulary in YAML: pieces and their ids, and nothing else that YAML can say.

    Raises:
        BundleError: it has something else, or cannot be read.
        ValueError: a piece is there twice.
    """
    content = file_content(path, MOST_BYTES)
    try:
        pairs = [*_pairs(content)]
    except (yaml.YAMLError, ValueError) as error:
        problem = getattr(error, "problem", None) or error
        raise BundleError(f"not a table of pieces and their ids ({problem})", path, advice=_COPY) from None
    table = dict(pairs)
    if len(table) != len(pairs):
        raise ValueError(f"a piece is twice in {path.name}")
    return {_OLD_NAMES.get(piece, piece) if id < len(_OLD_NAMES) else piece: id for piece, id in table.items()}


def _pairs(content: bytes) -> Iterator[tuple[str, int]]:
    """Yield the pairs of a flat mapping. Events are read, which build no objects and need no stack."""
    events: Iterator[Any] = yaml.parse(content, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    kinds = (yaml.StreamStartEvent, yaml.DocumentStartEvent, yaml.MappingStartEvent)
    if not all(isinstance(next(events), kind) for kind in kinds):
        raise ValueError("it does not begin with a piece")
    while not isinstance(event := next(events), yaml.MappingEndEvent):
        value = next(events)
        for each in (event, value):
            if not isinstance(each, yaml.ScalarEvent) or each.anchor or each.tag:
                raise ValueError(f"line {each.start_mark.line + 1} is more than a piece and its id")
        if not (value.value.isascii() and value.value.isdigit() and len(value.value) < 10):
            raise ValueError(f"line {value.start_mark.line + 1} has no id")
        yield event.value, int(value.value)
