"""Learning the two tokenizers of a translator from a corpus."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from dragoman.settings.tokenizer_config import TokenizerConfig
from dragoman.text.cleaning import clean
from dragoman.text.sentence_pieces import split_words
from dragoman.text.sides import Learned, Side, build_both, sides_of
from dragoman.text.subword_learning import learn_subword
from dragoman.text.tokenizer import Tokenizers
from dragoman.text.vocabulary import Vocabulary

#: SentencePiece learns from at most this many sentences a model, taken evenly from a larger corpus. It holds them in
#: RAM: about 300 bytes a sentence for BPE, 1,800 for unigram.
_ENOUGH_SENTENCES = {"bpe": 500_000, "unigram": 120_000}
#: With more different characters than this, the rarest become bytes.
_MANY_CHARACTERS = 1_000
#: Default sizes: (most pairs, pieces).
_SIZES = ((2_000, 1_000), (10_000, 4_000), (100_000, 8_000), (1_000_000, 16_000))
_LARGEST_SIZE = 32_000

Pairs = Callable[[], Iterator[tuple[str, str]]]


def learn_tokenizers(pairs: Pairs, config: TokenizerConfig, source_lang: str, target_lang: str) -> Tokenizers:
    """Learn the tokenizers of a corpus. The same pairs give the same tokenizers, byte for byte.

    Args:
        pairs: called for each pass over the corpus.

    Raises:
        ConfigError: the corpus does not allow the vocabulary size (it states what it does allow), there is no text,
            or a package is missing.
    """
    config = config.model_copy(update={"joint": config.is_joint})
    sides = sides_of(config, source_lang, target_lang)
    by_vocabulary: dict[str, list[Side]] = {}
    for side in sides:
        by_vocabulary.setdefault(side.vocabulary_name, []).append(side)
    if config.has_pieces:
        survey = _survey(pairs)
        learned = {name: _learn_subwords(pairs, readers, survey) for name, readers in by_vocabulary.items()}
    else:
        learned = {name: _learn_list(pairs, readers) for name, readers in by_vocabulary.items()}
    source, target = build_both(sides, lambda side: side.tokenizer(learned[side.vocabulary_name]))
    return Tokenizers(source, target, config, source_lang, target_lang)


def _learn_subwords(pairs: Pairs, sides: Sequence[Side], survey: tuple[int, tuple[set[str], set[str]]]) -> Learned:
    """Learn a SentencePiece model from the text of one side or of both, given what `_survey` found."""
    config, (n_pairs, characters) = sides[0].config, survey
    n_characters = len(set().union(*(characters[side.index] for side in sides)))
    interval = -(-n_pairs * len(sides) // _ENOUGH_SENTENCES[config.subword_kind])
    model = learn_subword(
        _sentences(pairs, sides, interval),
        config.subword_kind,
        config.vocab_size or _fitting_size(n_pairs, n_characters),
        exact=config.vocab_size is not None,
        byte_fallback=config.byte_fallback,
        coverage=1.0 if n_characters <= _MANY_CHARACTERS else 0.9995,
    )
    return Learned(model=model)


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
    size = next((size for limit, size in _SIZES if n_pairs <= limit), _LARGEST_SIZE)
    return max(size, 300 + 2 * n_characters)


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
