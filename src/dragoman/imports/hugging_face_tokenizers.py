"""The tokenizers of a Marian model of transformers: two SentencePiece models, and tables of ids.

Both sides usually share `vocab.json`, which has pieces of both models, language tags (`>>deu<<`) that no model has, and
special ids of its own. A piece of a model that the table lacks is unknown.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import takewhile
from pathlib import Path
from typing import Any

from dragoman.errors import BundleError
from dragoman.imports.compressed_files import file_content
from dragoman.imports.foreign_tokenizers import MOST_BYTES, built, numbered, tag_directions
from dragoman.imports.hugging_face_settings import READ, StockConfig
from dragoman.machine.json_files import JSON_LIMIT, read_json
from dragoman.settings.text_origin import LANGUAGE_CODE
from dragoman.settings.tokenizer_config import TokenizerConfig
from dragoman.text.languages import Languages
from dragoman.text.sentence_pieces import SPACE, SentencePieces
from dragoman.text.sides import Learned
from dragoman.text.special_ids import SpecialIds
from dragoman.text.tags import UNKNOWN, reserved_names
from dragoman.text.tokenizer import Tokenizers

_SETTINGS, _TABLE, _TARGET_TABLE = "tokenizer_config.json", "vocab.json", "target_vocab.json"


def read_tokenizers(folder: Path, stock: StockConfig, languages: Languages) -> Tokenizers:
    """Read the tokenizers of a folder.

    Args:
        languages: codes of the source and the target, in place of those that the folder names.

    Raises:
        BundleError: a file is missing or damaged, or contradicts another.
        ConfigError: a language code is invalid.
    """
    settings = _optional(folder / _SETTINGS)
    models = [content_of(folder / name) for name in ("source.spm", "target.spm")]
    is_separate = settings.get("separate_vocabs") is True
    names = _TABLE, _TARGET_TABLE if is_separate else _TABLE
    sizes = stock.vocab_size, stock.target_vocab_size
    tables = [read_table(folder / name, size) for name, size in zip(names, sizes, strict=True)]
    is_joint = not is_separate and models[0] == models[1]
    try:
        learned = [_learned(*each, settings, stock) for each in zip(models, tables, (False, True), strict=True)]
        config = TokenizerConfig(
            kind=SentencePieces(models[0]).algorithm, joint=is_joint, reserved=_n_reserved(learned)
        )
        named = (languages[0] or _language(settings, "source_lang"), languages[1] or _language(settings, "target_lang"))
        directions = tag_directions(named, tables[0], languages[1])
        return built(learned, config, directions)
    except ValueError as error:
        raise BundleError(f"not the tokenizer of a Marian model ({error})", folder, advice="use another copy") from None


def _learned(
    model: bytes, table: Mapping[str, int], is_target: bool, settings: Mapping[str, Any], stock: StockConfig
) -> Learned:
    """Return a side's vocabulary: that of the model, if the table numbers its pieces as the model does.

    Raises:
        ValueError: the table has no such special ids.
    """
    names = {name: _token(settings, name, usual) for name, usual in _SPECIAL_NAMES.items()}
    unknown = table.get(names["unk_token"])
    if unknown is None:
        raise ValueError(f"{names['unk_token']} is missing in the vocabulary")
    start = stock.decoder_start_token_id if is_target else table.get(names["bos_token"], stock.pad_token_id)
    ids = SpecialIds(pad=stock.pad_token_id, unknown=unknown, start=start, end=stock.eos_token_id)
    if not ids.has_end:
        raise ValueError("two special ids are equal")
    for name, id in (("pad_token", ids.pad), ("eos_token", ids.end)):
        if table.get(names[name]) != id:
            raise ValueError(f"{names[name]} has the id {table.get(names[name])} in the vocabulary, {id} in the model")
    vocabulary = numbered(table, ids)
    try:
        if SentencePieces(model).vocabulary(ids).words == vocabulary.words:
            return Learned(model, None, ids)
    except ValueError:
        pass
    return Learned(model, vocabulary, ids)


_SPECIAL_NAMES = {"unk_token": "<unk>", "eos_token": "</s>", "pad_token": "<pad>", "bos_token": "<s>"}


def _token(settings: Mapping[str, Any], name: str, usual: str) -> str:
    """Return the piece of a special id. transformers writes it as text, or as an object with its rules."""
    value = settings.get(name) or usual
    value = value.get("content") if isinstance(value, dict) else value
    return value if isinstance(value, str) else usual


def _n_reserved(learned: list[Learned]) -> int:
    """Return how many reserved pieces of ours both sides have and never cut: ⟨1⟩, ⟨2⟩ and so on."""
    segmenters = [SentencePieces(side.model) for side in learned if side.model is not None]
    known = set.intersection(*({*segmenter.pieces} for segmenter in segmenters))
    names = [*takewhile(known.__contains__, reserved_names(1_000))]
    cuts = [segmenter.cut("".join(names)) for segmenter in segmenters] if names else []
    return len(names) if all([piece for piece in cut if piece != SPACE] == names for cut in cuts) else 0


def _language(settings: Mapping[str, Any], name: str) -> str:
    code = settings.get(name)
    return code if isinstance(code, str) and LANGUAGE_CODE.fullmatch(code) else UNKNOWN


def _optional(path: Path) -> Mapping[str, Any]:
    return read_json(path.resolve(), JSON_LIMIT) if path.is_file() else {}


def content_of(path: Path) -> bytes:
    """Return the content of a file of a tokenizer.

    Raises:
        BundleError: it is missing, too large, or cannot be read.
    """
    if not path.is_file():
        raise BundleError("a file of the tokenizer is missing", path, advice=READ)
    return file_content(path, MOST_BYTES)


def read_table(path: Path, size: int | None) -> dict[str, int]:
    """Return the ids of pieces.

    Raises:
        BundleError: the file is missing or damaged, or has not `size` pieces.
    """
    if not path.is_file():
        raise BundleError("a file of the tokenizer is missing", path, advice=READ)
    table = read_json(path.resolve(), MOST_BYTES)
    if not all(type(id) is int for id in table.values()):
        raise BundleError("not a table of pieces and their ids", path, advice="use another copy")
    if size is not None and len(table) != size:
        problem = f"it has {len(table):,} pieces, and the model {size:,}"
        raise BundleError(problem, path, advice="use the vocabulary that belongs to the model")
    return table
