"""A tokenizer is a segmenter (text to pieces) with a vocabulary (pieces to ids); a translator has two of them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Self

from dragoman.errors import ConfigError
from dragoman.machine.json_files import to_json
from dragoman.settings.tokenizer_config import TokenizerConfig
from dragoman.text.cleaning import clean
from dragoman.text.invisible import has_joiners
from dragoman.text.segmenter import Segmenter
from dragoman.text.special_ids import SpecialIdPair, SpecialIds
from dragoman.text.tags import (
    SEVERAL,
    Direction,
    all_directions,
    list_languages,
    reserved_names,
    target_languages,
    target_tag,
)
from dragoman.text.vocabulary import Vocabulary

DESCRIPTION, FORMAT_VERSION = "tokenizer.json", 1


class Tokenizer:
    """Text to ids and back. Ids are in [0, vocab_size)."""

    def __init__(self, segmenter: Segmenter, vocabulary: Vocabulary) -> None:
        self.segmenter = segmenter
        self.vocabulary = vocabulary

    @property
    def vocab_size(self) -> int:
        """Number of ids, special ids included."""
        return len(self.vocabulary)

    @property
    def special_ids(self) -> SpecialIds:
        """The ids of padding, the unknown token, start and end."""
        return self.vocabulary.special_ids

    def encode(self, text: str) -> list[int]:
        """Return the ids of a text. The only special id among them is the unknown one: "<pad>" in a text is text."""
        return self.vocabulary.ids(self.split(text))

    def sample(self, text: str, key: tuple[int, ...]) -> list[int]:
        """Return the ids of a segmentation drawn at random, a pure function of text and key.

        There is only one segmentation here, that of `encode`.
        """
        return self.encode(text)

    def split(self, text: str) -> list[str]:
        """Return each token of `encode(text)` as it stands in the text, unknown ones too."""
        text = clean(text)
        if not has_joiners(text):
            return self.segmenter.split(text)
        pieces = self.segmenter.split(self.vocabulary.without_unknown_joiners(text))
        return [self.vocabulary.known_form(piece) for piece in pieces]

    @property
    def tags(self) -> frozenset[str]:
        """The tags that a text may begin with, for example ">>de<<"."""
        return frozenset()

    def decode(self, ids: Sequence[int]) -> str:
        """Return the text of ids, without padding and the marks of its start and end."""
        special_ids = self.special_ids
        shown = [id for id in ids if id not in special_ids.marks]
        pieces = zip(shown, self.vocabulary.pieces(shown), strict=True)
        return self.segmenter.join([None if id == special_ids.unknown else piece for id, piece in pieces])

    def pieces(self, ids: Sequence[int]) -> list[str]:
        """Return the name of each id.

        Raises:
            IndexError: an id lies outside the vocabulary.
        """
        return self.vocabulary.pieces(ids)

    def lowercasing(self) -> Self:
        """Return the tokenizer with the same vocabulary that reads text of any case as lower case."""
        return type(self)(self.segmenter.lowercasing(), self.vocabulary)

    def without_tags(self) -> Self:
        """Return the tokenizer with the same vocabulary that reads tags as text."""
        return self

    @property
    def has_piece_list(self) -> bool:
        """True if the vocabulary numbers the pieces of a model otherwise than the model does."""
        return False

    def files(self) -> dict[str, bytes]:
        """Return the contents of the tokenizer's files, by their suffix."""
        return {"json": self.vocabulary.to_bytes()}


@dataclass(frozen=True)
class Tokenizers:
    """A tokenizer for each side, the same object for both when one vocabulary reads them in the same way."""

    source: Tokenizer
    target: Tokenizer
    config: TokenizerConfig
    #: (source language, target language) of each direction that it was trained in.
    directions: tuple[Direction, ...]

    @property
    def source_lang(self) -> str:
        """Code of the source language; "und" if nobody named it, "mul" for several."""
        return _one(source for source, _ in self.directions)

    @property
    def target_lang(self) -> str:
        """Code of the target language, with the same exceptions."""
        return _one(self.targets)

    @property
    def targets(self) -> tuple[str, ...]:
        """Each target language once."""
        return target_languages(self.directions)

    @property
    def is_tagged(self) -> bool:
        """True if a tag says into which language to translate: there are several."""
        return len(self.targets) > 1 or self.has_both_tags

    @property
    def reserved(self) -> tuple[str, ...]:
        """The pieces that stand for what must be copied."""
        return reserved_names(self.config.reserved)

    @property
    def has_both_tags(self) -> bool:
        """True if source and target both begin with the tag of their own language."""
        return self.config.tags == "both"

    def tag(self, target_lang: str) -> str:
        """Return the tag by which a target language is chosen; "" if there is one target language.

        A source begins with it, or, if the model `has_both_tags`, a translation.
        """
        return target_tag(target_lang) if self.is_tagged else ""

    def tags_before(self, direction: Direction) -> tuple[str, str]:
        """Return the tags that a source and a target of a direction begin with; "" where there is none."""
        source, target = map(self.tag, direction)
        return (source, target) if self.has_both_tags else (target, "")

    def start_ids(self, target_lang: str) -> tuple[int, ...]:
        """Return the ids that a translation into this language begins with: that of its tag, if it `has_both_tags`."""
        return tuple(self.target.vocabulary.ids([target_tag(target_lang)])) if self.has_both_tags else ()

    def target_ids(self, text: str, target_lang: str) -> list[int]:
        """Return the ids of a translation, or of its beginning: those of `start_ids` first."""
        return [*self.start_ids(target_lang), *(self.target.encode(text) if text else ())]

    @property
    def languages(self) -> tuple[str, str]:
        """Codes of the source and the target language."""
        return self.source_lang, self.target_lang

    @property
    def special_ids(self) -> SpecialIdPair:
        """The special ids of both sides."""
        return SpecialIdPair(self.source.special_ids, self.target.special_ids)

    def require_special_ids(self, special_ids: SpecialIdPair) -> None:
        """Raise a ConfigError if a model has other special ids than these tokenizers."""
        if special_ids != self.special_ids:
            problem = "the special ids of the model are not those of the tokenizers"
            raise ConfigError(problem, advice="give the tokenizers that it was trained with")

    @property
    def joint(self) -> bool:
        """True if both sides have one vocabulary."""
        return self.config.is_joint

    def save(self, folder: Path) -> None:
        """Write `tokenizer.json` and the vocabularies into an existing folder; `load_tokenizers` reads them."""
        for name, content in self._contents().items():
            (folder / name).write_bytes(content)

    def _contents(self) -> dict[str, bytes]:
        """Return the contents of the files that `save` writes, by name."""
        return {DESCRIPTION: to_json(self._description()), **self._vocabularies()}

    def _vocabularies(self) -> dict[str, bytes]:
        sides = {"joint": self.source} if self.joint else {"source": self.source, "target": self.target}
        files = {
            f"{name}.{suffix}": content for name, side in sides.items() for suffix, content in side.files().items()
        }
        if self._has_piece_lists:
            files |= {f"{name}.json": side.vocabulary.to_bytes() for name, side in sides.items()}
        return files

    @property
    def _has_piece_lists(self) -> bool:
        """True if the files have a list of pieces beside each model: one side needs it."""
        return self.source.has_piece_list or self.target.has_piece_list

    def _description(self) -> dict[str, object]:
        """Return the content of `tokenizer.json`."""
        codes = list_languages(self.directions)
        is_all = self.directions == all_directions(codes)
        return {
            "format_version": FORMAT_VERSION,
            "config": self.config.model_dump(mode="json"),
            **({"languages": codes} if is_all else {"directions": self.directions}),
            "special_ids": asdict(self.special_ids),
            "has_piece_lists": self._has_piece_lists,
        }

    def fingerprint(self) -> str:
        """Return the SHA-256 of the files that `save` writes."""
        contents = sorted(self._contents().items())
        lines = (f"{name} {hashlib.sha256(content).hexdigest()}\n" for name, content in contents)
        return hashlib.sha256("".join(lines).encode()).hexdigest()

    def lowercasing_source(self) -> Tokenizers:
        """Return tokenizers with the same vocabularies that read sources of any case as lower case."""
        config = self.config.model_copy(update={"lowercase_source": True})
        return replace(self, source=self.source.lowercasing(), config=config)

    def equals(self, other: Tokenizers) -> bool:
        """Return True if both turn the same texts into the same ids and back. Learning and sampling may differ."""
        return (self._rules, self._vocabularies()) == (other._rules, other._vocabularies())

    @property
    def _rules(self) -> tuple[object, ...]:
        """The settings that decide, beside the vocabularies, how text is read."""
        config = self.config
        lowercase = config.lowercases_source, config.lowercase
        return config.kind, *lowercase, self.joint, self.directions, self.special_ids, config.reserved, config.tags

    def describe(self) -> str:
        """Return one line about the vocabularies."""
        names = {"bpe": "BPE pieces", "unigram": "unigram pieces", "words": "words", "characters": "characters"}
        sizes = f"{self.source.vocab_size:,}"
        if not self.joint:
            sizes += f" and {self.target.vocab_size:,}"
        return f"{sizes} {names[self.config.kind]}, {'one vocabulary' if self.joint else 'one for each side'}"


def _one(codes: Iterable[str]) -> str:
    """Return the only code, or that of several languages."""
    first, *others = dict.fromkeys(codes)
    return SEVERAL if others else first
