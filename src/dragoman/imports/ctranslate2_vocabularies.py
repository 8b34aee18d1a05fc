"""The vocabularies of a CTranslate2 folder, and the SentencePiece models beside them.

CTranslate2 reads pieces, so its folders need no tokenizer, and who cuts text adds the marks that the model was trained
with. How it was converted tells which these are: Marian's sources end with `</s>`, those of OpenNMT-py with nothing.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from dragoman.errors import BundleError, ConfigError
from dragoman.imports.compressed_files import file_content
from dragoman.imports.foreign_tokenizers import MOST_BYTES, built, tag_directions
from dragoman.imports.m2m import is_language_token, m2m_tokenizers
from dragoman.settings.tokenizer_config import TokenizerConfig
from dragoman.text.languages import Languages
from dragoman.text.sentence_pieces import SentencePieces
from dragoman.text.sides import Learned
from dragoman.text.special_ids import SpecialIds
from dragoman.text.tags import SEVERAL, TAG, target_languages, target_tag
from dragoman.text.tokenizer import Tokenizers
from dragoman.text.vocabulary import Vocabulary

_PIECES = ("sentencepiece.model", "source.spm and target.spm")
_PADDING = ("<blank>", "<pad>")
#: The beginning of codes of subword-nmt: a version, from 0.2 on, or the first pair of pieces.
_SUBWORD_NMT = re.compile(rb"#version|[^\s\x00-\x1f]+ [^\s\x00-\x1f]+\r?(\n|$)")
_COPY = "use another copy"


class SpecialTokens(NamedTuple):
    """The special pieces of a model; they are settings of `config.json`.

    Args:
        ends_source: a mark follows a source.
        starts_from_zeros: a translation starts from a vector of zeros, which no piece has.
        tag: begins each source, as in packages that dragoman made of models of several languages; "" for none.
    """

    unknown: str
    end: str
    start: str
    ends_source: bool
    starts_from_zeros: bool
    tag: str


def read_pieces(folder: Path, side: str, unknown: str) -> list[str]:
    """Return the pieces of a side, by their ids.

    Raises:
        BundleError: there is no such file, or it is damaged.
    """
    names = [f"{name}_vocabulary{end}" for name in ("shared", side) for end in (".json", ".txt")]
    path = next((folder / name for name in names if (folder / name).is_file()), None)
    if path is None:
        if (folder / f"{side}_1_vocabulary.json").is_file() or (folder / f"{side}_1_vocabulary.txt").is_file():
            raise BundleError("several inputs for each word (features)", folder, advice="take a model of plain text")
        raise BundleError(f"no vocabulary of the {side}", folder, advice=f"it needs {' or '.join(names)}")
    content = file_content(path, MOST_BYTES)
    try:
        pieces = json.loads(content) if path.suffix == ".json" else _lines(content.decode())
    except (ValueError, RecursionError) as error:
        raise BundleError(f"not a list of pieces ({error})", path, advice=_COPY) from None
    if not isinstance(pieces, list) or not all(isinstance(piece, str) for piece in pieces):
        raise BundleError("not a list of pieces", path, advice=_COPY)
    return pieces if unknown in pieces else [*pieces, unknown]


def _lines(text: str) -> list[str]:
    lines = text.removesuffix("\n").split("\n")
    return [line[:-1] for line in lines] if all(line.endswith("\r") for line in lines) else lines


def read_tokenizers(
    folder: Path, pieces: tuple[list[str], list[str]], special: SpecialTokens, languages: Languages
) -> Tokenizers:
    """Return the tokenizers of both sides.

    Args:
        pieces: of the source and of the target.
        languages: codes of both.

    Raises:
        BundleError: a file is missing or damaged, or they do not belong together.
        ConfigError: a language code is missing or invalid.
    """
    models = _piece_models(folder)
    tokens = {piece: id for id, piece in enumerate(pieces[1]) if is_language_token(piece)}
    try:
        _require_own(models, pieces)
        if len(tokens) > 1:
            return _many_languages(models[0], pieces[1], tokens, special, languages)
        ids = _special_ids(pieces[0], special, is_target=False), _special_ids(pieces[1], special, is_target=True)
        learned = [Learned(*each) for each in zip(models, map(_vocabulary, pieces, ids), ids, strict=True)]
        is_joint = models[0] == models[1] and pieces[0] == pieces[1] and ids[0] == ids[1]
        config = TokenizerConfig(kind=SentencePieces(models[0]).algorithm, joint=is_joint)
        source, target = languages
        has_tags = bool(special.tag) or sum(TAG.fullmatch(piece) is not None for piece in pieces[0]) > 1
        if source is None or (target is None and not has_tags):
            problem = "its files do not say which languages it translates"
            raise ConfigError(
                problem, folder, advice="give --source-lang" if has_tags else "give --source-lang and --target-lang"
            )
        directions = tag_directions((source, target or SEVERAL), pieces[0], None if special.tag else target)
        if special.tag and (len(directions) == 1 or special.tag not in map(target_tag, target_languages(directions))):
            raise ValueError(f"each source begins with {special.tag!r}, no tag of its languages")
        return built(learned, config, directions)
    except ValueError as error:
        problem = f"not the vocabulary and the SentencePiece model of one translator ({error})"
        raise BundleError(problem, folder, advice=_COPY) from None


def _many_languages(
    model: bytes, pieces: list[str], tokens: dict[str, int], special: SpecialTokens, languages: Languages
) -> Tokenizers:
    """Return the tokenizers of M2M-100 or NLLB-200, whose texts begin with tokens of languages."""
    table = {piece: id for id, piece in enumerate(pieces)}
    if len(table) < len(pieces):
        raise ValueError("a piece is there twice")
    names = {"padding": "<pad>", "unknown": special.unknown, "start": special.start, "end": special.end}
    pad, unknown, start, end = (_id_of(name, pieces) for name in names.values())
    return m2m_tokenizers(model, table, tokens, SpecialIds(pad=pad, unknown=unknown, start=start, end=end), languages)


def _special_ids(pieces: Sequence[str], special: SpecialTokens, *, is_target: bool) -> SpecialIds:
    """Return the special ids of a side. Padding that its pieces lack follows the last one."""
    known = next((piece for piece in _PADDING if piece in pieces), None)
    pad = len(pieces) if known is None or special.starts_from_zeros else pieces.index(known)
    start = pad if special.starts_from_zeros or special.start not in pieces else pieces.index(special.start)
    if is_target and special.start not in pieces:
        raise ValueError(f"no piece {special.start!r}, with which a translation starts")
    end = _id_of(special.end, pieces) if is_target or special.ends_source else pad
    return SpecialIds(pad=pad, unknown=_id_of(special.unknown, pieces), start=start, end=end)


def _id_of(piece: str, pieces: Sequence[str]) -> int:
    if piece not in pieces:
        raise ValueError(f"no piece {piece!r}")
    return pieces.index(piece)


def _vocabulary(pieces: Sequence[str], ids: SpecialIds) -> Vocabulary:
    """Return the vocabulary of a side. Marks that it does not use are no words, so that others may have their names."""
    unused = {"</s>", "<s>", *_PADDING}
    words = [f"<unused {id}>" if piece in unused else piece for id, piece in enumerate(pieces) if id not in ids.names]
    return Vocabulary.from_json(words, ids)


def _piece_models(folder: Path) -> tuple[bytes, bytes]:
    """Return the SentencePiece models of the source and of the target."""
    pair = [folder / f"{side}.spm" for side in ("source", "target")]
    if all(path.is_file() for path in pair):
        return file_content(pair[0], MOST_BYTES), file_content(pair[1], MOST_BYTES)
    files = sorted(path for path in folder.iterdir() if path.suffix in (".spm", ".model") and path.is_file())
    files = [path for path in files if path.name == _PIECES[0]] or files
    if len(files) != 1:
        found = ", ".join(path.name for path in files) or "none"
        advice = f"put the one of this model beside it: {' or '.join(_PIECES)}"
        raise BundleError(f"CTranslate2 keeps no tokenizer, and the folder needs one ({found})", folder, advice=advice)
    content = file_content(files[0], MOST_BYTES)
    if _SUBWORD_NMT.match(content):
        problem = "its text is cut by subword-nmt after Moses' tokenizer, which dragoman does not have"
        raise BundleError(problem, files[0], advice=f"take a model with {_PIECES[0]}")
    return content, content


def _require_own(models: tuple[bytes, bytes], pieces: tuple[list[str], list[str]]) -> None:
    """Require that most pieces of the SentencePiece models are in the vocabulary.

    Raises:
        ValueError: they are of another model.
    """
    for model, known in zip(models, pieces, strict=True):
        own = SentencePieces(model).pieces
        n_known = len({*own} & {*known})
        if 2 * n_known < len(own):
            raise ValueError(f"the vocabulary has {n_known:,} of its {len(own):,} pieces")
