"""The two tokenizers of a translator: learned from a corpus, saved with the model, loaded again."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Literal, Protocol

from dragoman.errors import BundleError, ConfigError
from dragoman.machine.json_files import JSON_LIMIT, read_json, to_json
from dragoman.settings.data_config import LANGUAGE_CODE
from dragoman.settings.sections import parse_section
from dragoman.settings.tokenizer_config import TokenizerConfig
from dragoman.text.characters import Characters
from dragoman.text.cleaning import clean
from dragoman.text.special_ids import SpecialIdPair, SpecialIds
from dragoman.text.subword import Subword, learn_subword
from dragoman.text.vocabulary import Vocabulary
from dragoman.text.wordlist import read_words, words_to_json
from dragoman.text.words import Words

#: Version 2 has sources lower-cased, version 3 other special ids than the usual ones. All others are still written as
#: version 1, which every release reads.
FORMAT_VERSION = 3
DESCRIPTION = "tokenizer.json"

#: SentencePiece learns from at most so many sentences a model, taken evenly from a larger corpus. It holds them in
#: memory: about 300 bytes a sentence for BPE, 1,800 for unigram.
_ENOUGH_SENTENCES = {"bpe": 500_000, "unigram": 120_000}
#: With more different characters than this, the rarest become bytes.
_MANY_CHARACTERS = 1_000
#: Sizes chosen when none is given: up to so many pairs, so many pieces.
_SIZES = ((2_000, 1_000), (10_000, 4_000), (100_000, 8_000), (1_000_000, 16_000))
_LARGEST_SIZE = 32_000
#: Bytes of a vocabulary's file; a larger one has more entries than its model, or longer ones than any text.
_BASE_BYTES, _BYTES_PER_ENTRY = 1_000_000, 1_000

Pairs = Callable[[], Iterator[tuple[str, str]]]
#: A SentencePiece model, or a list of words or characters.
Learned = bytes | Vocabulary


class Tokenizer(Protocol):
    """Text to ids and back. Ids are in [0, vocab_size)."""

    @property
    def vocab_size(self) -> int:
        """Number of ids, special tokens included."""
        ...

    @property
    def special_ids(self) -> SpecialIds:
        """The ids of padding, the unknown token, start and end."""
        ...

    def encode(self, text: str) -> list[int]:
        """The ids of `text`. No special id but "unknown" is among them: "<pad>" in a text is plain text."""
        ...

    def sample(self, text: str, key: tuple[int, ...]) -> list[int]:
        """The ids of a segmentation drawn at random: a pure function of text and key. Without sampling, `encode`."""
        ...

    def split(self, text: str) -> Sequence[str]:
        """Each token of `encode(text)` as it stands in the text, those that the vocabulary does not know too."""
        ...

    def decode(self, ids: Sequence[int]) -> str:
        """The sentence of `ids`, without padding and the marks of its start and end."""
        ...

    def pieces(self, ids: Sequence[int]) -> list[str]:
        """Each id as it is called."""
        ...

    @property
    def learned(self) -> Learned:
        """What was learned from a corpus."""
        ...


@dataclass(frozen=True)
class Tokenizers:
    """A tokenizer for each side, the same object for both when one vocabulary reads them in the same way."""

    source: Tokenizer
    target: Tokenizer
    config: TokenizerConfig
    source_lang: str
    target_lang: str

    @property
    def special_ids(self) -> SpecialIdPair:
        """Those of both sides."""
        return SpecialIdPair(self.source.special_ids, self.target.special_ids)

    def require_special_ids(self, special_ids: SpecialIdPair) -> None:
        """Raise a ConfigError if a model has other special ids than these tokenizers."""
        if special_ids != self.special_ids:
            what = "the special ids of the model are not those of the tokenizers"
            raise ConfigError(what, advice="give the tokenizers that it was trained with")

    @property
    def joint(self) -> bool:
        """Whether both sides have one vocabulary."""
        return self.config.is_joint

    def save(self, folder: Path) -> None:
        """Write `tokenizer.json` and the vocabularies into `folder`, which exists."""
        for name, content in self._contents().items():
            (folder / name).write_bytes(content)

    def _contents(self) -> dict[str, bytes]:
        """What `save` writes, by the names of its files."""
        is_usual = self.special_ids == SpecialIdPair()
        description = {
            "format_version": 3 if not is_usual else 2 if self.config.lowercase_source else 1,
            **({} if is_usual else {"special_ids": asdict(self.special_ids)}),
            "config": self.config.for_older_releases(),
            "source_lang": self.source_lang,
            "target_lang": self.target_lang,
        }
        source_file, target_file = _files(self.config)
        return {
            DESCRIPTION: to_json(description),
            source_file: _to_bytes(self.source.learned),
            target_file: _to_bytes(self.target.learned),
        }

    @classmethod
    def load(cls, folder: Path, sizes: tuple[int, int] | tuple[None, None] = (None, None)) -> Tokenizers:
        """Read what `save` wrote.

        Args:
            sizes: of the source's and the target's vocabulary, where they are known.

        Raises:
            BundleError: a file is missing or damaged, or much too large for `sizes`.
        """
        path = folder / DESCRIPTION
        description = read_json(path)
        config, special_ids = _read_config(description, path), _read_special_ids(description, path)
        ids_of = special_ids.source, special_ids.target
        langs = [description.get("source_lang"), description.get("target_lang")]
        languages = _checked_lang(langs[0], path), _checked_lang(langs[1], path)
        files = [folder / name for name in _files(config)]
        source, target = _both_sides(
            config, lambda side: _load(files[side], side, config, languages, sizes[side], ids_of[side])
        )
        tokenizers = cls(source, target, config, *languages)
        if tokenizers.special_ids != special_ids:
            raise BundleError("its special ids are not those of the vocabularies", path, advice="use another copy")
        return tokenizers

    def lowercasing_source(self) -> Tokenizers:
        """The same vocabularies, for sources that are lower-cased."""
        config = self.config.model_copy(update={"lowercase_source": True})
        learned, languages = (self.source.learned, self.target.learned), (self.source_lang, self.target_lang)
        source, target = _both_sides(config, lambda side: _tokenizer(learned[side], side, config, languages))
        return Tokenizers(source, target, config, *languages)

    def fingerprint(self) -> str:
        """SHA-256 of what `save` writes."""
        contents = sorted(self._contents().items())
        lines = (f"{name} {hashlib.sha256(content).hexdigest()}\n" for name, content in contents)
        return hashlib.sha256("".join(lines).encode()).hexdigest()

    def equals(self, other: Tokenizers) -> bool:
        """Whether both turn the same texts into the same ids and back, however they were learned or are sampled."""
        ours, theirs = self._contents(), other._contents()
        del ours[DESCRIPTION], theirs[DESCRIPTION]
        return (self._rules, ours) == (other._rules, theirs)

    @property
    def _rules(self) -> tuple[object, ...]:
        """What decides, beside the vocabularies, how text is read."""
        return (
            self.config.kind,
            self.config.lowercased,
            self.joint,
            self.source_lang,
            self.target_lang,
            self.special_ids,
        )

    def describe(self) -> str:
        """One line about the vocabularies."""
        names = {"bpe": "BPE pieces", "unigram": "unigram pieces", "words": "words", "characters": "characters"}
        sizes = f"{self.source.vocab_size:,}"
        if not self.joint:
            sizes += f" and {self.target.vocab_size:,}"
        return f"{sizes} {names[self.config.kind]}, {'one vocabulary' if self.joint else 'one for each side'}"


def learn_tokenizers(pairs: Pairs, config: TokenizerConfig, source_lang: str, target_lang: str) -> Tokenizers:
    """Learn the tokenizers of a corpus. The same pairs give the same tokenizers, byte for byte.

    Args:
        pairs: called for each pass over the corpus.

    Raises:
        ConfigError: the corpus does not allow the vocabulary size (it states what it does allow), there is no text,
            or a package is missing.
    """
    config = config.model_copy(update={"joint": config.is_joint})
    languages = source_lang, target_lang
    learned = _learn_subwords(pairs, config) if config.has_pieces else _learn_lists(pairs, config, languages)
    of_side = learned[0], learned[-1]
    source, target = _both_sides(config, lambda side: _tokenizer(of_side[side], side, config, languages))
    return Tokenizers(source, target, config, source_lang, target_lang)


def _both_sides(config: TokenizerConfig, make: Callable[[int], Tokenizer]) -> tuple[Tokenizer, Tokenizer]:
    """What `make` gives for the source (0) and for the target (1), but made once where the two would be the same."""
    source = make(0)
    same = config.is_joint and config.lowercased[0] == config.lowercased[1]
    return source, source if same else make(1)


def _tokenizer(learned: Learned, side: int, config: TokenizerConfig, languages: tuple[str, str]) -> Tokenizer:
    """The tokenizer of a side from what was learned.

    Raises:
        ValueError: this is no such model.
    """
    lowercase = config.lowercased[side]
    if isinstance(learned, bytes):
        return Subword(learned, _subword_kind(config), lowercase=lowercase, sampling=config.sampling)
    if config.kind == "characters":
        return Characters(learned, lowercase=lowercase)
    language, output_language = ("xx", languages[1]) if config.is_joint else (languages[side], languages[side])
    return Words(learned, language, output_language=output_language, lowercase=lowercase)


def _vocabularies(config: TokenizerConfig) -> Sequence[Sequence[int]]:
    """The sides that each vocabulary is learned from."""
    return ((0, 1),) if config.is_joint else ((0,), (1,))


def _learn_subwords(pairs: Pairs, config: TokenizerConfig) -> list[Learned]:
    """SentencePiece models, of both sides together or of each."""
    kind = _subword_kind(config)
    n_pairs, characters = _survey(pairs)
    models: list[Learned] = []
    for sides in _vocabularies(config):
        n_characters = len(set().union(*(characters[side] for side in sides)))
        every = -(-n_pairs * len(sides) // _ENOUGH_SENTENCES[kind])
        model = learn_subword(
            _sentences(pairs, sides, every, config.lowercased),
            kind,
            config.vocab_size or _fitting_size(n_pairs, n_characters),
            exact=config.vocab_size is not None,
            byte_fallback=config.byte_fallback,
            coverage=1.0 if n_characters <= _MANY_CHARACTERS else 0.9995,
        )
        models.append(model)
    return models


def _survey(pairs: Pairs) -> tuple[int, tuple[set[str], set[str]]]:
    """How many pairs there are, and the characters of each side."""
    n_pairs = 0
    characters: tuple[set[str], set[str]] = (set(), set())
    for pair in pairs():
        n_pairs += 1
        for side, text in enumerate(pair):
            characters[side].update(clean(text))
    return n_pairs, characters


def _fitting_size(n_pairs: int, n_characters: int) -> int:
    """A vocabulary size fit for a corpus; every character needs a piece, and as many again make words of them."""
    size = next((size for limit, size in _SIZES if n_pairs <= limit), _LARGEST_SIZE)
    return max(size, 300 + 2 * n_characters)


def _sentences(pairs: Pairs, sides: Sequence[int], every: int, lowercased: Sequence[bool]) -> Iterator[str]:
    """Every so many-th pair's sentences of the given sides, as `Subword.cleaned` leaves them."""
    for index, pair in enumerate(pairs()):
        if index % every == 0:
            for side in sides:
                yield Subword.cleaned(pair[side], lowercased[side])


def _learn_lists(pairs: Pairs, config: TokenizerConfig, languages: tuple[str, str]) -> list[Learned]:
    """Words or characters that occur at least `min_count` times, of both sides together or of each."""
    splitters = [_tokenizer(Vocabulary([]), side, config, languages) for side in (0, 1)]
    vocabularies: list[Learned] = []
    for sides in _vocabularies(config):
        counts: Counter[str] = Counter()
        for pair in pairs():
            for side in sides:
                counts.update(splitters[side].split(pair[side]))
        vocabularies.append(Vocabulary.from_counts(counts, config.min_count))
    return vocabularies


def _files(config: TokenizerConfig) -> tuple[str, str]:
    """The file names of the source's and the target's vocabulary."""
    suffix = "model" if config.has_pieces else "json"
    return (f"joint.{suffix}",) * 2 if config.is_joint else (f"source.{suffix}", f"target.{suffix}")


def file_limits(sizes: tuple[int, int]) -> dict[str, int]:
    """The names that files of `Tokenizers.save` may have, and the most bytes of each, for these vocabulary sizes."""
    limits = {DESCRIPTION: JSON_LIMIT}
    for name, size in (("source", sizes[0]), ("target", sizes[1]), ("joint", max(sizes))):
        limits |= {f"{name}.{suffix}": _largest_vocabulary(size) for suffix in ("model", "json")}
    return limits


def _largest_vocabulary(n_entries: int) -> int:
    return _BASE_BYTES + n_entries * _BYTES_PER_ENTRY


def _to_bytes(learned: Learned) -> bytes:
    """The file of a vocabulary."""
    return learned if isinstance(learned, bytes) else words_to_json(learned)


def _load(
    path: Path,
    side: int,
    config: TokenizerConfig,
    languages: tuple[str, str],
    n_entries: int | None,
    special_ids: SpecialIds,
) -> Tokenizer:
    if path.is_symlink() or not path.is_file():
        raise BundleError("file not found, or not a plain file", path, advice="use another copy")
    if n_entries is not None and path.stat().st_size > _largest_vocabulary(n_entries):
        raise BundleError(f"too large for {n_entries:,} entries", path, advice="use another copy")
    learned = path.read_bytes() if config.has_pieces else read_words(path, special_ids)
    try:
        return _tokenizer(learned, side, config, languages)
    except ValueError as error:
        raise BundleError(f"not a tokenizer model ({error})", path, advice="use another copy") from None


def _subword_kind(config: TokenizerConfig) -> Literal["bpe", "unigram"]:
    return "bpe" if config.kind == "bpe" else "unigram"


def _read_config(description: dict[str, object], path: Path) -> TokenizerConfig:
    version = description.get("format_version")
    if type(version) is not int or not 1 <= version <= FORMAT_VERSION:
        raise BundleError(
            f"tokenizer format {version!r} is not known (this is dragoman's format {FORMAT_VERSION})",
            path,
            advice="install a newer dragoman",
        )
    config = description.get("config")
    known = {"format_version", "config", "source_lang", "target_lang"} | ({"special_ids"} if version == 3 else set())
    if unknown := description.keys() - known:
        raise BundleError(f"unknown key {min(unknown)!r}", path, advice="use another copy")
    if not isinstance(config, dict):
        raise BundleError("the tokenizer's configuration is missing", path, advice="use another copy")
    try:
        return parse_section(TokenizerConfig, config)
    except ConfigError as error:
        problems = error.message.split("\n  ")
        raise BundleError(
            "the tokenizer's settings are wrong", path, advice="use another copy", details=problems
        ) from None


def _read_special_ids(description: dict[str, object], path: Path) -> SpecialIdPair:
    """Return the usual special ids where the description names none."""
    if description.get("format_version") != 3:
        return SpecialIdPair()
    sides = description.get("special_ids")
    try:
        if not isinstance(sides, dict) or sides.keys() != {"source", "target"}:
            raise ValueError("not those of a source and a target")
        return SpecialIdPair(**{side: _special_ids(sides[side]) for side in sides})
    except ValueError as error:
        raise BundleError(f"the special ids are wrong ({error})", path, advice="use another copy") from None


def _special_ids(value: object) -> SpecialIds:
    names = {field.name for field in fields(SpecialIds)}
    if not isinstance(value, dict) or value.keys() != names or not all(type(id) is int for id in value.values()):
        raise ValueError("not the four ids of a side")
    return SpecialIds(**value)


def _checked_lang(lang: object, path: Path) -> str:
    if not isinstance(lang, str) or not LANGUAGE_CODE.fullmatch(lang):
        raise BundleError("a language code is missing or wrong", path, advice="use another copy")
    return lang
