"""Probabilities of given translations (forced decoding)."""

from __future__ import annotations

import math
from collections.abc import Sequence

from dragoman.errors import DataError, counted, printable
from dragoman.text.cleaning import sanitize
from dragoman.text.tokenizer import Tokenizers
from dragoman.translator.checking import positive, string, string_list
from dragoman.translator.directions import Directions
from dragoman.translator.forced_decoding import ForcedDecoder
from dragoman.translator.options import LanguageOptions, ScoreOptions, languages_of
from dragoman.translator.padding import pair_batches
from dragoman.translator.results import Score

Ids = Sequence[int]


class PairScorer:
    """Scorer of given translations.

    Args:
        decoder: the models.
        tokenizers: those of the models.
        directions: those of the models.
        max_length: tokens of the longest source, and of the longest target, the end mark not counted.
        batch_size: tokens that are scored at once unless a call says otherwise.
    """

    def __init__(
        self,
        decoder: ForcedDecoder,
        tokenizers: Tokenizers,
        directions: Directions,
        max_length: int,
        batch_size: int,
    ) -> None:
        self._decoder = decoder
        self._directions = directions
        self._tokenizers = tokenizers
        self._max_length = max_length
        self._batch_size = batch_size

    def fits(self, source: str, target: str, languages: LanguageOptions) -> bool:
        """Return True if the models can read the whole pair."""
        source, target = string(source, "the source"), string(target, "the target")
        return max(map(len, self._encode(source, target, languages))) <= self._max_length

    def score(
        self, sources: str | Sequence[str], targets: str | Sequence[str], options: ScoreOptions
    ) -> Score | list[Score]:
        """See `Translator.score`."""
        if not isinstance(sources, str) and not isinstance(targets, str):
            return self.score_lists(string_list(sources, "source"), string_list(targets, "target"), options)
        if isinstance(sources, list | tuple) or isinstance(targets, list | tuple):
            raise DataError("one side is a text and the other a list", advice="give two texts, or two lists")
        pair = string(sources, "the source"), string(targets, "the target")
        return self.score_lists(pair[:1], pair[1:], options)[0]

    def score_lists(self, sources: Sequence[str], targets: Sequence[str], options: ScoreOptions) -> list[Score]:
        """Return the scores of many pairs; see `Translator.score`."""
        batch_size = options.get("batch_size")
        batch_size = self._batch_size if batch_size is None else positive(batch_size, "batch_size")
        languages = languages_of(options)
        if len(sources) != len(targets):
            raise DataError(
                f"{counted(len(sources), 'source')} but {counted(len(targets), 'target')}",
                advice="give them line by line",
            )
        pairs = [self._encode(source, target, languages) for source, target in zip(sources, targets, strict=True)]
        for number, (source_ids, target_ids) in enumerate(pairs, 1):
            lengths = len(source_ids), len(target_ids)
            if max(lengths) > self._max_length:
                problem = f"pair {number} has {lengths[0]} and {lengths[1]} tokens, the model reads {self._max_length}"
                raise DataError(problem, advice="leave it out")
        log_probs: dict[int, tuple[float, ...]] = {}
        for rows in pair_batches(pairs, batch_size):
            log_probs.update(zip(rows, self._decoder.log_probs([pairs[row] for row in rows]), strict=True))
        return [self._score(target_ids, log_probs[row]) for row, (_, target_ids) in enumerate(pairs)]

    def _score(self, target_ids: Ids, token_log_probs: tuple[float, ...]) -> Score:
        tokenizer = self._tokenizers.target
        tokens = tuple(map(printable, tokenizer.pieces([*target_ids, tokenizer.special_ids.end])))
        return Score(math.fsum(token_log_probs), token_log_probs, tokens)

    def _encode(self, source: str, target: str, languages: LanguageOptions) -> tuple[Ids, Ids]:
        tagged, tokenizers = self._directions.tagged(sanitize(source), **languages), self._tokenizers
        return tokenizers.source.encode(tagged.source), tokenizers.target_ids(sanitize(target), tagged.target_lang)
