"""Tokenizers of M2M-100 (Fan et al. 2020) and NLLB-200 (NLLB Team 2022), which have tokens for languages.

Each text begins with the token of its language, `__de__` or `deu_Latn`, a translation too. Here these are tags by the
codes that people know: `>>de<<`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import permutations
from pathlib import Path

from dragoman.errors import BundleError, ConfigError
from dragoman.imports.foreign_tokenizers import MOST_BYTES, built, numbered
from dragoman.imports.hugging_face_settings import StockConfig
from dragoman.imports.hugging_face_tokenizers import content_of, read_table
from dragoman.machine.json_files import read_json
from dragoman.settings.tokenizer_config import TokenizerConfig
from dragoman.text.languages import Languages, find_code, short_codes
from dragoman.text.sentence_pieces import SentencePieces
from dragoman.text.sides import Learned
from dragoman.text.special_ids import SpecialIds
from dragoman.text.tags import Direction, require_directions, target_tag
from dragoman.text.tokenizer import Tokenizers

_PIECES, _TABLE, _FAST = "sentencepiece.bpe.model", "vocab.json", "tokenizer.json"
_NAMES = ("special_tokens_map.json", "tokenizer_config.json")
#: The first ids of both families, which fairseq gives; the model of pieces has others.
_FIRST = ("<s>", "<pad>", "</s>", "<unk>")
#: The token of a language: that of M2M-100, and that of NLLB-200, as FLORES-200 writes languages.
_LANGUAGE = re.compile(r"__(?P<m2m>[a-z]{2,3})__|(?P<code>[a-z]{3})_(?P<script>[A-Z][a-z]{3})")
#: Languages, of which NLLB-200 has 202, and ids without a piece, of which M2M-100 has 8.
_MOST_LANGUAGES, _MOST_UNUSED = 300, 1_000


def read_m2m_tokenizers(folder: Path, stock: StockConfig, languages: Languages) -> Tokenizers:
    """Read the tokenizers of a folder.

    Args:
        languages: codes of the source and the target, where the model is to have these alone.

    Raises:
        BundleError: a file is missing or damaged, or contradicts another.
        ConfigError: the model does not have one of the languages.
    """
    model = content_of(folder / _PIECES)
    try:
        pieces = SentencePieces(model).pieces
        table = _table(folder, stock, pieces)
        tokens = _language_tokens(folder, table, stock.vocab_size)
        if stock.vocab_size - len(table) - len(tokens) > _MOST_UNUSED:
            raise ValueError(f"{stock.vocab_size - len(table) - len(tokens):,} ids have no piece")
        unused = {*range(stock.vocab_size)} - {*table.values()} - {*tokens.values()}
        ids = SpecialIds(pad=1, unknown=3, start=stock.decoder_start_token_id, end=2)
        if (stock.pad_token_id, stock.eos_token_id) != (ids.pad, ids.end):
            raise ValueError("its padding and end have other ids than 1 and 2")
        filled = {**table, **{f"<unused {id}>": id for id in unused}}
        return m2m_tokenizers(model, filled, tokens, ids, languages)
    except ValueError as error:
        problem = f"not the tokenizer of M2M-100 or NLLB-200 ({error})"
        raise BundleError(problem, folder, advice="use another copy") from None


def m2m_tokenizers(
    model: bytes, table: Mapping[str, int], tokens: Mapping[str, int], ids: SpecialIds, languages: Languages
) -> Tokenizers:
    """Return the tokenizers of a SentencePiece model.

    Args:
        table: the ids of all pieces.
        tokens: those of languages; they may be in the table, too.

    Raises:
        ConfigError, ValueError: these are no such tokenizers.
    """
    codes = language_codes(tokens)
    words = {name: id for name, id in table.items() if name not in tokens}
    tags = {target_tag(codes[name]): id for name, id in tokens.items()}
    learned = Learned(model, numbered({**words, **tags}, ids), ids)
    config = TokenizerConfig(kind=SentencePieces(model).algorithm, joint=True, tags="both")
    directions = _directions(list(codes.values()), languages)
    return built([learned, learned], config, directions)


def is_language_token(piece: str) -> bool:
    """Return True for a token of a language."""
    return _LANGUAGE.fullmatch(piece) is not None


def _table(folder: Path, stock: StockConfig, pieces: list[str]) -> dict[str, int]:
    """Return the ids of pieces: those of `vocab.json` (M2M-100), or one more than the model's (NLLB-200)."""
    if (folder / _TABLE).is_file():
        table = read_table(folder / _TABLE, None)
    else:
        table = {piece: id + 1 for id, piece in enumerate(pieces) if id >= len(_FIRST) - 1}
        table |= {name: id for id, name in enumerate(_FIRST)}
    if [table.get(name) for name in _FIRST] != [*range(len(_FIRST))]:
        raise ValueError(f"the first ids are not {' '.join(_FIRST)}")
    if len(table) > stock.vocab_size:
        raise ValueError(f"it has {len(table):,} pieces, and the model {stock.vocab_size:,}")
    return table


def _language_tokens(folder: Path, table: Mapping[str, int], size: int) -> dict[str, int]:
    """Return the ids of the tokens of languages: as `tokenizer.json` says, or in their order after the pieces."""
    listed: dict[str, int] = {}
    if (folder / _FAST).is_file():
        added = read_json((folder / _FAST).resolve(), MOST_BYTES).get("added_tokens")
        for each in added if isinstance(added, list) else ():
            if isinstance(each, dict) and isinstance(each.get("content"), str) and type(each.get("id")) is int:
                listed[each["content"]] = each["id"]
    names = [name for name in listed if is_language_token(name)]
    if not names:
        names = [name for name in _extra_tokens(folder) if is_language_token(name)]
        listed = {name: len(table) + number for number, name in enumerate(names)}
    if len(names) < 2:
        raise ValueError(f"neither {_FAST} nor {' nor '.join(_NAMES)} lists its languages")
    ids = {name: listed[name] for name in names}
    if len({*ids.values()}) < len(ids) or not {*ids.values()} <= {*range(len(table), size)}:
        raise ValueError("its languages have ids of pieces, or outside the model")
    return ids


def _extra_tokens(folder: Path) -> list[str]:
    for path in (folder / name for name in _NAMES):
        settings = read_json(path.resolve(), MOST_BYTES) if path.is_file() else {}
        for key in ("additional_special_tokens", "extra_special_tokens"):
            names = settings.get(key)
            if isinstance(names, list) and names:
                texts = [name.get("content") if isinstance(name, dict) else name for name in names]
                return [text for text in texts if isinstance(text, str)]
    return []


def language_codes(tokens: Iterable[str]) -> dict[str, str]:
    """Return the code that people know for each token of a language.

    A script is named where one language has several.

    >>> list(language_codes(["deu_Latn", "zho_Hans", "zho_Hant", "yue_Hant", "arb_Arab", "acm_Arab"]).values())
    ['de', 'zh-Hans', 'zh-Hant', 'yue', 'ar', 'acm']
    >>> list(language_codes(["__de__", "__zh__"]).values())
    ['de', 'zh']

    Raises:
        ValueError: two tokens are for one language.
    """
    parts = {token: _code_and_script(token) for token in tokens}
    short = short_codes({code for code, _ in parts.values()})
    count = Counter(code for code, _ in parts.values())
    codes = {
        token: f"{short[code]}-{script}" if count[code] > 1 and script else short[code]
        for token, (code, script) in parts.items()
    }
    if len({*codes.values()}) < len(codes):
        raise ValueError("two of its tokens are for one language")
    return codes


def _code_and_script(token: str) -> tuple[str, str]:
    match = _LANGUAGE.fullmatch(token)
    if match is None:
        raise ValueError(f"{token} is no token of a language")
    return match["m2m"] or match["code"], match["script"] or ""


def _directions(codes: list[str], languages: Languages) -> tuple[Direction, ...]:
    """Return all directions, or those of the languages that are named.

    Raises:
        ConfigError: the model does not have one of these.
    """
    if len(codes) > _MOST_LANGUAGES:
        raise ValueError(f"it has {len(codes):,} languages")
    sides = []
    for named in languages:
        found = codes if named is None else [find_code(named, codes)]
        if found == [None]:
            advice = f"name one of {', '.join(codes)}"
            raise ConfigError(f"the model has no language {named!r}, or several", advice=advice)
        sides.append({*found})
    directions = tuple(pair for pair in permutations(codes, 2) if pair[0] in sides[0] and pair[1] in sides[1])
    require_directions(directions)
    return directions
