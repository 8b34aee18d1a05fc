"""A tokenizer is a segmenter (text to pieces) with a vocabulary (pieces to ids); a translator has two of them."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
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
from dragoman.text.vocabulary import Vocabulary

DESCRIPTION = "tokenizer.json"


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

    def tag(self, text: str) -> str:
        """Return the language tag that a text begins with, for example ">>de<<"; "" if there is none."""
        return ""

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

    @property
    def oddity(self) -> str | None:
        """The reason why releases before version 3 of the format cannot read it; None if they can."""
        return None if self.special_ids == SpecialIds() else "its special ids are not 0 to 3"

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
    source_lang: str
    target_lang: str

    @property
    def languages(self) -> tuple[str, str]:
        """Codes of the source and the target language, "und" for one that nobody named."""
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
        """Return the content of `tokenizer.json`, in the oldest version that can express it."""
        description: dict[str, object] = {
            "format_version": 2 if self.config.lowercase_source else 1,
            "config": self.config.for_older_releases(),
            "source_lang": self.source_lang,
            "target_lang": self.target_lang,
        }
        if self.source.oddity is None and self.target.oddity is None:
            return description
        return description | {
            "format_version": 3,
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
        config, languages = self.config, (self.source_lang, self.target_lang)
        return config.kind, config.lowercases_source, config.lowercase, self.joint, languages, self.special_ids

    def describe(self) -> str:
        """Return one line about the vocabularies."""
        names = {"bpe": "BPE pieces", "unigram": "unigram pieces", "words": "words", "characters": "characters"}
        sizes = f"{self.source.vocab_size:,}"
        if not self.joint:
            sizes += f" and {self.target.vocab_size:,}"
        return f"{sizes} {names[self.config.kind]}, {'one vocabulary' if self.joint else 'one for each side'}"
