"""One trained model, or several that vote, behind text.

Lines are made harmless, cut into parts where they are of another kind than the model learned from, encoded, sorted by
length, searched in batches, and put back in order.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Self, TypedDict, Unpack, overload

from dragoman.alignment.heads import AlignmentHeads
from dragoman.bundle.bundle import Bundle, load_bundle
from dragoman.decoding.state import TransformerScorer
from dragoman.errors import ConfigError, DataError, printable
from dragoman.machine.devices import Precision, find_device
from dragoman.machine.workers import Workers
from dragoman.settings.search_config import SearchConfig
from dragoman.settings.sections import parse_section
from dragoman.text.cleaning import harmless
from dragoman.text.learned_text import LearnedText, fewest_sentences
from dragoman.text.tokenizer import Tokenizers
from dragoman.text.vocabulary import EOS_ID, SPECIALS
from dragoman.translator.batching import batches, pair_batches
from dragoman.translator.checking import (
    flag,
    model_names,
    plain_number,
    positive,
    prefix_list,
    string,
    string_list,
    string_stream,
)
from dragoman.translator.cutting import encode_if_short
from dragoman.translator.models import TrainedModels
from dragoman.translator.planning import Plan, Planner, Request
from dragoman.translator.results import Score, Translation, merge_flags
from dragoman.translator.writing import Job, Writer, Written

if TYPE_CHECKING:
    import torch

    from dragoman.model.transformer import Transformer

#: Source tokens, padding included, that are searched at once unless the caller says otherwise. What is kept of the
#: sentences of a small batch stays in a CPU's caches; to read more from memory costs more than small products do.
BATCH_TOKENS, CPU_BATCH_TOKENS = 2048, 512


class SearchOptions(TypedDict, total=False):
    """Options of `translate`; each stands in for the field of that name in `SearchConfig`."""

    beam_size: int | None
    n_best: int | None
    length_penalty: float | None
    min_length: int | None
    max_length: int | None
    no_repeat_ngram: int | None
    sample: bool | None
    temperature: float | None
    top_k: int | None
    top_p: float | None
    seed: int | None


class Translator:
    """One trained model, or several that vote (an ensemble), behind text.

    Args:
        models: trained models, or bundles as they were loaded; several average their probabilities. Models are put into
            evaluation mode. On a CPU their weights are read once, now.
        tokenizers: those all the models were trained with.
        search: what `translate` does unless told otherwise.
        device: where the models are moved to, e.g. "cuda"; None leaves them where they are. On a CPU, float32 models
            are searched with by `dragoman.runtime`, and those of bundles do not need PyTorch.
        workers: how many processes translate at once, each with one thread, where a list of texts fills several
            batches; on a CPU, and on Linux.
        alignment: the first model's heads that tell which word comes from which; None is `AlignmentHeads.default`.
        precision: what bundles and models compute in; see `load`.
        learned: the kind of text that the models learned from; None if nobody knows it.
    """

    def __init__(
        self,
        models: Sequence[Transformer | Bundle],
        tokenizers: Tokenizers,
        search: SearchConfig | None = None,
        device: str | torch.device | None = None,
        workers: int = 1,
        alignment: AlignmentHeads | None = None,
        precision: Precision = "float32",
        learned: LearnedText | None = None,
    ) -> None:
        self._models = TrainedModels(models, str(device) if device else None, precision)
        self.device = self._models.device
        self.tokenizers = tokenizers
        self.search = search or SearchConfig()
        self.learned = learned
        self.alignment = alignment or AlignmentHeads.default(models[0].config)
        self.scorer = TransformerScorer(self._models.for_search())
        self._writer = Writer(self.scorer, tokenizers)
        self._workers = Workers(
            self._writer.write,
            workers if self.device == "cpu" else 1,
            "use fewer --workers, or a smaller --batch-size",
        )
        #: Longest source, and longest target, in tokens; both sides end in one more token.
        self.max_length = self.scorer.max_length - 1
        self._planner = Planner(tokenizers, self.max_length, self.scorer.max_length, learned)

    @classmethod
    def load(cls, *names: str | Path, device: str = "auto", workers: int = 1, precision: Precision = "float32") -> Self:
        """Load a bundle, a run folder's best, or a shipped model; several make an ensemble.

        For `workers` see the class. A `precision` of bfloat16 is coarser, and faster where the device multiplies such
        numbers, and so is int8, which is for the CPU; one that multiplies neither searches in float32 all the same.

        Raises:
            BundleError: one of them is missing, damaged or of a newer format.
            ConfigError: they have different tokenizers, there is no such device, or no int8 on it.
        """
        names, workers = tuple(model_names(names)), positive(workers, "workers")
        place = find_device("cpu" if device == "auto" and precision == "int8" else device)
        bundles = [load_bundle(name) for name in names]
        if len(bundles) > 1:
            for name, bundle in zip(names, bundles, strict=True):
                if not bundle.tokenizers.equals(bundles[0].tokenizers):
                    what = f"its tokenizer differs from that of {names[0]}"
                    raise ConfigError(what, name, advice="an ensemble needs equal tokenizers")
        first = bundles[0]
        heads = AlignmentHeads.of_bundle(first.facts, first.config, names[0])
        texts = [LearnedText.of_bundle(bundle.facts, name) for name, bundle in zip(names, bundles, strict=True)]
        learned = fewest_sentences(texts)
        return cls(bundles, first.tokenizers, first.search, place, workers, heads, precision, learned)

    def __reduce__(self) -> tuple[type[Self], tuple[object, ...]]:
        # Packed weights and workers stay here: whoever gets a copy makes its own.
        options = (
            self.search,
            self.device,
            self._workers.n_workers,
            self.alignment,
            self._models.precision,
            self.learned,
        )
        return type(self), (self._models.given, self.tokenizers, *options)

    def __repr__(self) -> str:
        languages = f"{self.tokenizers.source_lang} to {self.tokenizers.target_lang}"
        ensemble = f", {len(self._models.given)} models" if len(self._models.given) > 1 else ""
        return f"<Translator {languages}{ensemble}, {self._models.precision} on {self.device}>"

    @property
    def models(self) -> list[Transformer]:
        """The models in PyTorch, on their device; those of bundles are built when they are first asked for."""
        return self._models.in_torch()

    @overload
    def translate(
        self,
        texts: str,
        *,
        prefixes: str | None = None,
        align: bool = False,
        sentences: bool | None = None,
        batch_size: int | None = ...,
        **options: Unpack[SearchOptions],
    ) -> Translation: ...

    @overload
    def translate(
        self,
        texts: list[str] | tuple[str, ...],
        *,
        prefixes: str | Sequence[str] | None = None,
        align: bool = False,
        sentences: bool | None = None,
        batch_size: int | None = ...,
        **options: Unpack[SearchOptions],
    ) -> list[Translation]: ...

    def translate(
        self,
        texts: str | list[str] | tuple[str, ...],
        *,
        prefixes: str | Sequence[str] | None = None,
        align: bool = False,
        sentences: bool | None = None,
        batch_size: int | None = None,
        **options: Unpack[SearchOptions],
    ) -> Translation | list[Translation]:
        """Translate one text, or many.

        An empty text stays empty. A text of another kind than the model learned from is cut at the ends of sentences,
        and a much longer sentence at commas or between words; its parts are translated and joined. What is no text
        (encoded data, a hash, marks without a word) is copied. `Translation.flags` tells of the last two. A line break
        is white space, and a blank line ends a sentence. A translation is always one line.

        Args:
            texts: a string gives a Translation; a list, a tuple or another sequence of strings (an array, a column)
                gives a list of them in the same order.
            prefixes: how each translation must begin: one for all, or one for each text.
            align: also say which source word each word comes from, by the attention of the first model.
            sentences: True translates each sentence by itself, False a text whole if the model can read it. None is
                as the model learned: so many sentences at once as lines of its training text had; whole, if its bundle
                does not say.
            batch_size: source tokens, padding included, searched at once; None is what suits the device. It changes the
                speed, and how scores round.
            options: `SearchOptions`; those left out or None are the bundle's.

        Raises:
            ConfigError: an option is out of range or of a wrong type, options contradict each other, or a text is no
                string; the message names its place.
        """
        request = self._request(options, batch_size, align, sentences)
        sources = [texts] if isinstance(texts, str) else string_list(texts, "text")
        translations = self._translate(sources, prefix_list(prefixes, len(sources)), request)
        return translations[0] if isinstance(texts, str) else translations

    def translate_stream(
        self,
        lines: Iterable[str],
        *,
        prefixes: str | None = None,
        align: bool = False,
        sentences: bool | None = None,
        batch_size: int | None = None,
        read_ahead: int = 1,
        **options: Unpack[SearchOptions],
    ) -> Iterator[Translation]:
        """Translate lines of any iterable as they come.

        Whenever those read fill a batch, their translations are given, in order; with a `batch_size` of 1 each line is
        answered before the next is read. With a larger `read_ahead` so many batches are read, sorted by length and
        shared among the workers: faster, where nobody waits for a line.

        Raises:
            ConfigError: as `translate`, at once; but of a line that is no string, when it comes.
        """
        request = self._request(options, batch_size, align, sentences)
        prefix = "" if prefixes is None else string(prefixes, "the prefix")
        return self._stream(string_stream(lines, "line"), prefix, positive(read_ahead, "read_ahead"), request)

    @overload
    def score(self, sources: str, targets: str, *, batch_size: int | None = None) -> Score: ...

    @overload
    def score(
        self,
        sources: list[str] | tuple[str, ...],
        targets: list[str] | tuple[str, ...],
        *,
        batch_size: int | None = None,
    ) -> list[Score]: ...

    def score(
        self,
        sources: str | list[str] | tuple[str, ...],
        targets: str | list[str] | tuple[str, ...],
        *,
        batch_size: int | None = None,
    ) -> Score | list[Score]:
        """The natural-log probability of a target given its source, or of each of many (forced decoding).

        An ensemble's is that of the averaged probabilities. `Score` has the sum, not normalised by length, and the mean
        for a token.

        Raises:
            DataError: the lists differ in length, or a text is longer than the model reads.
            ConfigError: a text is no string, or `batch_size` no number.
        """
        if isinstance(sources, str) or isinstance(targets, str):
            if isinstance(sources, list | tuple) or isinstance(targets, list | tuple):
                raise DataError("one side is a text and the other a list", advice="give two texts, or two lists")
            source, target = string(sources, "the source"), string(targets, "the target")
            return self.score([source], [target], batch_size=batch_size)[0]
        sources, targets = string_list(sources, "source"), string_list(targets, "target")
        batch_size = BATCH_TOKENS if batch_size is None else positive(batch_size, "batch_size")
        if len(sources) != len(targets):
            raise DataError(f"{len(sources)} sources but {len(targets)} targets", advice="give them line by line")
        from dragoman.translator.forcing import forced_log_probs

        pairs = [self._encode_pair(source, target) for source, target in zip(sources, targets, strict=True)]
        for number, pair in enumerate(pairs, 1):
            if max(map(len, pair)) > self.max_length:
                raise DataError(
                    f"pair {number} has {len(pair[0])} and {len(pair[1])} tokens, the model reads {self.max_length}",
                    advice="leave it out",
                )
        scores: list[Score | None] = [None] * len(pairs)
        for rows in pair_batches(pairs, batch_size):
            forced = forced_log_probs(self.models, [pairs[row] for row in rows])
            for row, token_log_probs in zip(rows, forced, strict=True):
                tokens = (*map(printable, self.tokenizers.target.pieces(pairs[row][1])), SPECIALS[EOS_ID])
                scores[row] = Score(math.fsum(token_log_probs), token_log_probs, tokens)
        return [score for score in scores if score is not None]

    def search_with(self, **options: Unpack[SearchOptions]) -> SearchConfig:
        """How a call with these options searches: what they leave out, or give as None, is the translator's own.

        Raises:
            ConfigError: an option is out of range.
        """
        given = {name: plain_number(value) for name, value in options.items() if value is not None}
        return parse_section(SearchConfig, {**self.search.model_dump(), **given})

    def fits(self, source: str, target: str) -> bool:
        """Whether the model can read the whole pair, so that `score` takes it."""
        pair = self._encode_pair(string(source, "the source"), string(target, "the target"))
        return max(map(len, pair)) <= self.max_length

    def _encode_pair(self, source: str, target: str) -> tuple[list[int], list[int]]:
        return self.tokenizers.source.encode(harmless(source)), self.tokenizers.target.encode(harmless(target))

    def _request(self, options: SearchOptions, batch_size: int | None, align: bool, sentences: bool | None) -> Request:
        """What was asked for, and where nothing was, what the bundle says and suits the device."""
        if batch_size is None:
            batch_size = CPU_BATCH_TOKENS if self.device == "cpu" else BATCH_TOKENS
        batch_size = positive(batch_size, "batch_size")
        sentences = None if sentences is None else flag(sentences, "sentences")
        return Request(self.search_with(**options), batch_size, flag(align, "align"), sentences)

    def _stream(self, lines: Iterable[str], prefix: str, read_ahead: int, request: Request) -> Iterator[Translation]:
        n_done = 0
        for texts in self._filled(lines, request.batch_size * read_ahead):
            yield from self._translate(texts, [prefix] * len(texts), request, n_done)
            n_done += len(texts)

    def _filled(self, lines: Iterable[str], n_tokens: int) -> Iterator[list[str]]:
        """Lines as they come, as many at once as have `n_tokens`; where one cannot be read, first those before it."""
        waiting: list[str] = []
        missing = n_tokens
        try:
            for number, line in enumerate(lines, 1):
                waiting.append(string(line, f"line {number}"))
                ids = encode_if_short(harmless(line), self.tokenizers.source.encode, self.max_length)
                missing -= 1 + (self.max_length if ids is None else len(ids))
                if missing <= 0:
                    yield waiting
                    waiting, missing = [], n_tokens
        except Exception:
            yield waiting
            raise
        yield waiting

    def _translate(
        self,
        texts: Sequence[str],
        prefixes: Sequence[str],
        request: Request,
        n_before: int = 0,
    ) -> list[Translation]:
        numbered = enumerate(zip(texts, prefixes, strict=True), n_before + 1)
        plans = [self._planner.plan(text, prefix, number, request) for number, (text, prefix) in numbered]
        searched = [each for plan in plans for each in plan.searched]
        beams = iter(self._search([ids for ids, _ in searched], [start for _, start in searched], request))
        beams_of = [self._beams(plan, beams) for plan in plans]
        translations = [
            replace(each, flags=merge_flags((*each.flags, *plan.flags)))
            for plan, each in zip(plans, map(self._writer.join, beams_of), strict=True)
        ]
        if not request.align:
            return translations
        from dragoman.translator.aligning import Found, align_words

        found = [
            Found(plan.text, plan.parts, beams, translation)
            for plan, beams, translation in zip(plans, beams_of, translations, strict=True)
        ]
        return align_words(self.models[0], self.alignment, self.tokenizers, found, request.batch_size)

    def _beams(self, plan: Plan, searched: Iterator[list[Written]]) -> list[list[Written]]:
        """The n best of each part of a text; a copied part goes with each of the others' candidates."""
        beams = [None if part.is_copied else next(searched) for part in plan.parts]
        n_best = min((len(beam) for beam in beams if beam is not None), default=1)
        return [
            self._writer.copied(plan.copy(place), n_best) if beam is None else beam for place, beam in enumerate(beams)
        ]

    def _search(
        self, sources: Sequence[list[int]], starts: Sequence[list[int]], request: Request
    ) -> list[list[Written]]:
        """The n best of each source, in the same order."""
        beams: list[list[Written]] = [[] for _ in sources]
        rows_of = list(batches([len(source) + 1 for source in sources], request.batch_size))
        jobs = [Job([sources[row] for row in rows], [starts[row] for row in rows], request.search) for rows in rows_of]
        for rows, found in zip(rows_of, self._workers.map(jobs), strict=True):
            for row, beam in zip(rows, found, strict=True):
                beams[row] = beam
        return beams
