"""Learning the two tokenizers of a translator from a corpus, or from several in many languages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

from dragoman.errors import ConfigError
from dragoman.settings.tokenizer_config import TokenizerConfig
from dragoman.text.cleaning import clean
from dragoman.text.language_sampling import LanguagePairs, Pairs, count_languages, sample_languages
from dragoman.text.sentence_pieces import split_words
from dragoman.text.sides import Learned, Side, build_both, sides_of
from dragoman.text.subword_learning import PieceRules, learn_subword
from dragoman.text.tags import (
    MOST_LEARNED,
    require_directions,
    require_tag_names,
    reserved_names,
    target_languages,
    target_tag,
)
from dragoman.text.tokenizer import Tokenizers
from dragoman.text.vocabulary import Vocabulary

#: SentencePiece learns from at most this many sentences a model, taken evenly from a larger corpus. It holds them in
#: RAM: about 300 bytes a sentence for BPE, 1,800 for unigram.
_ENOUGH_SENTENCES = {"bpe": 500_000, "unigram": 120_000}
#: With more different characters than this, the rarest become bytes.
_MANY_CHARACTERS = 1_000
_HIGH_COVERAGE = 0.9995
#: Default sizes: (most pairs, pieces).
_SIZES = ((2_000, 1_000), (10_000, 4_000), (100_000, 8_000), (1_000_000, 16_000))
_LARGEST_SIZE = 32_000


def learn_tokenizers(pairs: Pairs, config: TokenizerConfig, source_lang: str, target_lang: str) -> Tokenizers:
    """Learn the tokenizers of a corpus. The same pairs give the same tokenizers, byte for byte.

    Args:
        pairs: called for each pass over the corpus.

    Raises:
        ConfigError: the corpus does not allow the vocabulary size (it states what it does allow), there is no text,
            or a package is missing.
    """
    return learn_many_tokenizers([LanguagePairs(pairs, source_lang, target_lang)], config)


def learn_many_tokenizers(
    texts: Sequence[LanguagePairs], config: TokenizerConfig, tags: Sequence[str] = ()
) -> Tokenizers:
    """Learn the tokenizers of a model of several corpora and directions. The same texts give the same tokenizers.

    Args:
        texts: the corpora; their sources may already begin with tags, which are left out.
        tags: names of tags for kinds of text, such as "bt". The target languages have tags if there are several.

    Raises:
        ConfigError: as `learn_tokenizers`; or the directions cannot be those of one model.
    """
    if config.tags == "both":
        raise ConfigError("tokenizer.tags=both is what imported models have", advice="leave it out")
    directions = tuple(dict.fromkeys(direction for text in texts for direction in text.directions))
    require_directions(directions, MOST_LEARNED)
    require_tag_names(tags)
    targets = target_languages(directions)
    names = tuple(dict.fromkeys(map(target_tag, [*(targets if len(targets) > 1 else ()), *tags])))
    if (len(texts) > 1 or len(directions) > 1 or names) and not config.has_pieces:
        problem = f"several corpora, directions or tags need tokenizer.kind bpe or unigram, not {config.kind}"
        raise ConfigError(problem, advice="choose one of these, or train one corpus in one direction")
    config = config.model_copy(update={"joint": config.is_joint})
    sides = sides_of(config, directions)
    by_vocabulary: dict[str, list[Side]] = {}
    for side in sides:
        by_vocabulary.setdefault(side.vocabulary_name, []).append(side)
    if not config.has_pieces:
        learned = {name: _learn_list(texts[0].pairs, readers) for name, readers in by_vocabulary.items()}
    elif len(texts) > 1 or texts[0].both_ways:
        learned = {name: _learn_languages(texts, readers, names) for name, readers in by_vocabulary.items()}
    else:
        survey = _survey(texts[0].pairs)
        learned = {
            name: _learn_pieces(texts[0].pairs, readers, survey, names) for name, readers in by_vocabulary.items()
        }
    source, target = build_both(sides, lambda side: side.tokenizer(learned[side.vocabulary_name]))
    return Tokenizers(source, target, config, directions)


def _learn_pieces(
    pairs: Pairs, sides: Sequence[Side], survey: tuple[int, tuple[set[str], set[str]]], tags: Sequence[str]
) -> Learned:
    """Learn a SentencePiece model from the text of one side or of both, given what `_survey` found."""
    config, (n_pairs, characters) = sides[0].config, survey
    n_characters = len(set().union(*(characters[side.index] for side in sides)))
    interval = -(-n_pairs * len(sides) // _ENOUGH_SENTENCES[config.subword_kind])
    rules = _piece_rules(config, _fitting_size(n_pairs, n_characters), n_characters, tags)
    return Learned(model=learn_subword(_sentences(pairs, sides, interval), config.subword_kind, rules))


def _learn_languages(texts: Sequence[LanguagePairs], sides: Sequence[Side], tags: Sequence[str]) -> Learned:
    """Learn a SentencePiece model from the text of several languages, of one side or of both."""
    config = sides[0].config
    lowercased: dict[int, bool] = {side.index: side.lowercase for side in sides}
    counts = count_languages(texts, lowercased, tags)
    characters = counts.learnable_characters
    size = _fitting_size_of_languages(list(counts.sentences.values()), len(characters))
    rules = replace(_piece_rules(config, size, len(characters), tags), required_characters=characters)
    sentences = sample_languages(texts, lowercased, tags, counts.rates(_ENOUGH_SENTENCES[config.subword_kind]))
    return Learned(model=learn_subword(sentences, config.subword_kind, rules))


def _piece_rules(config: TokenizerConfig, fitting_size: int, n_characters: int, tags: Sequence[str]) -> PieceRules:
    return PieceRules(
        vocab_size=config.vocab_size or fitting_size,
        is_exact=config.vocab_size is not None,
        byte_fallback=config.byte_fallback,
        coverage=1.0 if n_characters <= _MANY_CHARACTERS else _HIGH_COVERAGE,
        split_digits=config.split_digits,
        reserved=reserved_names(config.reserved),
        tags=tuple(tags),
    )


def _survey(pairs: Pairs) -> tuple[int, tuple[set[str], set[str]]]:
    """Count the pairs, and collect the characters of each side."""
    n_pairs = 0
    characters: tuple[set[str], set[str]] = (set(), set())
    for pair in pairs():
        n_pairs += 1
        for index, text in enumerate(pair):
            characters[index].update(clean(text))
    return n_pairs, characters


def _fitting_size(n_pairs: int, n_characters: int) -> int:
    """Return a vocabulary size for a corpus: a piece for each character, and at least as many pieces of several
    characters."""
    return max(_size_for(n_pairs), 300 + 2 * n_characters)


def _fitting_size_of_languages(n_sentences: Sequence[int], n_characters: int) -> int:
    """Return the same for several languages: each adds half of the size for a corpus of two that are as large."""
    halves = sum(_size_for(count) for count in n_sentences) // 2
    return max(min(halves, _LARGEST_SIZE), _size_for(max(n_sentences, default=0)), 300 + 2 * n_characters)


def _size_for(n_pairs: int) -> int:
    return next((size for limit, size in _SIZES if n_pairs <= limit), _LARGEST_SIZE)


def _sentences(pairs: Pairs, sides: Sequence[Side], interval: int) -> Iterator[str]:
    """Yield the sentences of the given sides of every `interval`-th pair, as words with single spaces."""
    for number, pair in enumerate(pairs()):
        if number % interval == 0:
            for side in sides:
                yield " ".join(split_words(clean(pair[side.index]), side.lowercase))


def _learn_list(pairs: Pairs, sides: Sequence[Side]) -> Learned:
    """List the words or characters that occur at least `min_count` times in one side or in both."""
    tokenizers = [(side.index, side.tokenizer(Learned())) for side in sides]
    counts: Counter[str] = Counter()
    for pair in pairs():
        for index, tokenizer in tokenizers:
            counts.update(tokenizer.split(pair[index]))
    return Learned(vocabulary=Vocabulary.from_counts(counts, sides[0].config.min_count))
