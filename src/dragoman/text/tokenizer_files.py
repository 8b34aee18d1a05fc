"""Reading the files of tokenizers, also those of a stranger.

tokenizer.json        format version, settings, special ids; the directions, or languages for all between them
joint.model           a SentencePiece model; or source.model and target.model
joint.json            a list of words or characters, or of a model's pieces that are numbered otherwise than there;
                      or source.json and target.json
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from functools import partial
from itertools import permutations
from pathlib import Path

from dragoman.errors import BundleError, ConfigError
from dragoman.machine.json_files import JSON_LIMIT, read_json
from dragoman.settings.sections import parse_section
from dragoman.settings.tokenizer_config import TokenizerConfig
from dragoman.text.sides import Learned, Side, build_both, sides_of
from dragoman.text.special_ids import SpecialIdPair, SpecialIds
from dragoman.text.tags import MOST_DIRECTIONS, Direction, require_directions
from dragoman.text.tokenizer import DESCRIPTION, FORMAT_VERSION, Tokenizer, Tokenizers
from dragoman.text.vocabulary import Vocabulary

#: Bytes of a vocabulary's file; a larger one has more entries than its model, or longer ones than any text.
_BASE_BYTES, _BYTES_PER_ENTRY = 1_000_000, 1_000
#: Where the number of entries is not known.
_MAX_BYTES = 1 << 28
_OTHER_COPY = "use another copy"


@dataclass(frozen=True)
class _Description:
    """The content of `tokenizer.json`."""

    config: TokenizerConfig
    directions: tuple[Direction, ...]
    special_ids: SpecialIdPair
    has_piece_lists: bool


def load_tokenizers(folder: Path, sizes: tuple[int, int] | tuple[None, None] = (None, None)) -> Tokenizers:
    """Read the tokenizers that `Tokenizers.save` wrote.

    Args:
        sizes: of the source's and the target's vocabulary, where they are known.

    Raises:
        BundleError: a file is missing or damaged, or much too large for `sizes`.
    """
    description = _read_description(folder / DESCRIPTION)
    config, directions = description.config, description.directions
    build = partial(_load_side, folder, description, sizes)
    source, target = build_both(sides_of(config, directions), build)
    tokenizers = Tokenizers(source, target, config, directions)
    if missing := [*_without_tags(tokenizers)]:
        problem = f"no tag of its vocabulary is for the language {missing[0]!r}"
        raise BundleError(problem, folder / DESCRIPTION, advice=_OTHER_COPY)
    if tokenizers.special_ids != description.special_ids:
        problem = "its special ids are not those of the vocabularies"
        raise BundleError(problem, folder / DESCRIPTION, advice=_OTHER_COPY)
    return tokenizers


def _without_tags(tokenizers: Tokenizers) -> Iterator[str]:
    """Yield the languages whose tags a source or a target cannot begin with."""
    sides = [(tokenizers.source, tokenizers.targets)]
    if tokenizers.has_both_tags:
        sources = tuple(dict.fromkeys(source for source, _ in tokenizers.directions))
        sides = [(tokenizers.source, sources), (tokenizers.target, tokenizers.targets)]
    for tokenizer, codes in sides:
        yield from (code for code in codes if tokenizers.tag(code) not in {"", *tokenizer.tags})


def file_limits(sizes: tuple[int, int]) -> dict[str, int]:
    """Return the names that files of `Tokenizers.save` may have, with the most bytes of each for vocabulary sizes."""
    limits = {DESCRIPTION: JSON_LIMIT}
    for name, size in (("source", sizes[0]), ("target", sizes[1]), ("joint", max(sizes))):
        limits |= {f"{name}.{suffix}": _largest_file(size) for suffix in ("model", "json")}
    return limits


def _largest_file(n_entries: int) -> int:
    return _BASE_BYTES + n_entries * _BYTES_PER_ENTRY


def _load_side(
    folder: Path, description: _Description, sizes: tuple[int, int] | tuple[None, None], side: Side
) -> Tokenizer:
    """Read the vocabulary of a side, and build its tokenizer."""
    n_entries = sizes[side.index]
    limit = _MAX_BYTES if n_entries is None else _largest_file(n_entries)
    special_ids = (description.special_ids.source, description.special_ids.target)[side.index]
    has_model = side.config.has_pieces
    path = folder / f"{side.vocabulary_name}.{'model' if has_model else 'json'}"
    try:
        vocabulary = None
        if description.has_piece_lists or not has_model:
            vocabulary = _read_list(path.with_suffix(".json"), limit, special_ids)
        model = _read_model(path, limit) if has_model else None
        return side.tokenizer(Learned(model, vocabulary, special_ids))
    except ValueError as error:
        raise BundleError(f"not a tokenizer model ({error})", path, advice=_OTHER_COPY) from None


def _read_model(path: Path, limit: int) -> bytes:
    _require_file(path, limit)
    return path.read_bytes()


def _read_list(path: Path, limit: int, special_ids: SpecialIds) -> Vocabulary:
    _require_file(path, limit)
    value = read_json(path, limit)
    if value.keys() != {"words"}:
        raise ValueError("it has other keys than words")
    return Vocabulary.from_json(value["words"], special_ids)


def _require_file(path: Path, limit: int) -> None:
    if path.is_symlink() or not path.is_file():
        raise BundleError("file not found, or not a plain file", path, advice=_OTHER_COPY)
    if path.stat().st_size > limit:
        raise BundleError(f"larger than {limit:,} bytes", path, advice=_OTHER_COPY)


def _read_description(path: Path) -> _Description:
    description = read_json(path)
    version = description.get("format_version")
    if type(version) is not int or version != FORMAT_VERSION:
        raise BundleError(
            f"tokenizer format {version!r} is not known (this is dragoman's format {FORMAT_VERSION})",
            path,
            advice="install a newer dragoman",
        )
    kind = "languages" if "directions" not in description else "directions"
    if unknown := description.keys() - {"format_version", "config", kind, "special_ids", "has_piece_lists"}:
        raise BundleError(f"unknown key {min(unknown)!r}", path, advice=_OTHER_COPY)
    has_piece_lists = description.get("has_piece_lists")
    if type(has_piece_lists) is not bool:
        raise BundleError("has_piece_lists is not true or false", path, advice=_OTHER_COPY)
    return _Description(
        _read_config(description, path),
        _read_directions(description, path),
        _read_special_ids(description, path),
        has_piece_lists,
    )


def _read_config(description: Mapping[str, object], path: Path) -> TokenizerConfig:
    config = description.get("config")
    if not isinstance(config, dict):
        raise BundleError("the tokenizer's configuration is missing", path, advice=_OTHER_COPY)
    try:
        return parse_section(TokenizerConfig, config)
    except ConfigError as error:
        problems = error.message.split("\n  ")
        raise BundleError("the tokenizer's settings are wrong", path, advice=_OTHER_COPY, details=problems) from None


def _read_special_ids(description: Mapping[str, object], path: Path) -> SpecialIdPair:
    sides = description.get("special_ids")
    try:
        if not isinstance(sides, dict) or sides.keys() != {"source", "target"}:
            raise ValueError("not those of a source and a target")
        return SpecialIdPair(**{side: _special_ids_of(sides[side]) for side in sides})
    except ValueError as error:
        raise BundleError(f"the special ids are wrong ({error})", path, advice=_OTHER_COPY) from None


def _special_ids_of(value: object) -> SpecialIds:
    names = {field.name for field in fields(SpecialIds)}
    if not isinstance(value, dict) or value.keys() != names or not all(type(id) is int for id in value.values()):
        raise ValueError("not the four ids of a side")
    return SpecialIds(**value)


def _all_directions(languages: object) -> object:
    """Return all directions of a list of languages; what is none, or too long to be one, as it is."""
    if not isinstance(languages, list) or len(languages) ** 2 > 2 * MOST_DIRECTIONS:
        return languages
    return [[source, target] for source, target in permutations(languages, 2)]


def _read_directions(description: Mapping[str, object], path: Path) -> tuple[Direction, ...]:
    value = description.get("directions")
    if value is None:
        value = _all_directions(description.get("languages"))
    problem = "the directions are not a list of pairs of language codes"
    if not isinstance(value, list) or not all(isinstance(pair, list) and len(pair) == 2 for pair in value):
        raise BundleError(problem, path, advice=_OTHER_COPY)
    if not all(isinstance(code, str) for pair in value for code in pair):
        raise BundleError(problem, path, advice=_OTHER_COPY)
    directions = tuple((source, target) for source, target in value)
    try:
        require_directions(directions)
    except ConfigError as error:
        raise BundleError(f"the directions are wrong ({error.message})", path, advice=_OTHER_COPY) from None
    return directions
