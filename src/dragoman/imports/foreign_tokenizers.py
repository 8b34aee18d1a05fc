"""The parts that all kinds of tokenizers share: limits of files, numbered pieces, languages by tags, and building."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence

from dragoman.settings.text_origin import LANGUAGE_CODE
from dragoman.settings.tokenizer_config import TokenizerConfig
from dragoman.text.sides import Learned, build_both, sides_of
from dragoman.text.special_ids import SpecialIds
from dragoman.text.tags import MOST_NAMED, SEVERAL, TAG, UNKNOWN, Direction, require_directions
from dragoman.text.tokenizer import Tokenizers
from dragoman.text.vocabulary import Vocabulary

#: Bytes of a SentencePiece model, and of a table of ids.
MOST_BYTES = 50_000_000

_log = logging.getLogger(__name__)


def numbered(table: Mapping[str, int], ids: SpecialIds) -> Vocabulary:
    """Return a vocabulary from the ids of its pieces, with the checks of one that is loaded.

    Raises:
        ValueError: the ids are not 0, 1, 2 and so on, or a piece is none.
    """
    vocabulary = Vocabulary.from_ids(table, ids)
    Vocabulary.from_json(list(vocabulary.words), ids)
    return vocabulary


def built(learned: Sequence[Learned], config: TokenizerConfig, directions: tuple[Direction, ...]) -> Tokenizers:
    """Return tokenizers.

    Args:
        learned: the pieces of the source and of the target.

    Raises:
        ValueError: they contradict each other.
    """
    source, target = build_both(sides_of(config, directions), lambda side: side.tokenizer(learned[side.index]))
    return Tokenizers(source, target, config, directions)


def tag_directions(languages: tuple[str, str], table: Iterable[str], chosen: str | None) -> tuple[Direction, ...]:
    """Return one direction for each tag of a target language; without tags, the one that the folder or the user names.

    A model of several languages whose source nobody can name has one direction, and its users write the tags.

    Args:
        languages: codes of the source and the target.
        table: all pieces.
        chosen: the target language that the user names.
    """
    source, target = languages
    tags = sorted(code[2:-2] for code in table if TAG.fullmatch(code))
    codes = [code for code in tags if LANGUAGE_CODE.fullmatch(code) and code not in (SEVERAL, UNKNOWN)]
    directions: tuple[Direction, ...] = ((source, target),)
    if len(codes) > 1 and chosen is None:
        if source in (SEVERAL, UNKNOWN) or len(codes) > MOST_NAMED:
            listed = " ".join(f">>{code}<<" for code in codes[:5])
            _log.warning(
                f"begin each text with the language to translate into: {listed} ...; or import the model with "
                "--source-lang, so that --target-lang chooses it"
            )
        else:
            directions = tuple((source, code) for code in codes)
    require_directions(directions)
    return directions
