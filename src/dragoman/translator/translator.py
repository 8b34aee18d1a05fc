"""The translator: trained models behind text."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, Unpack, overload

from dragoman.alignment.heads import AlignmentHeads
from dragoman.bundle.bundle import Bundle
from dragoman.decoding.state import TransformerScorer
from dragoman.errors import DeadlineError
from dragoman.machine.devices import Precision, find_device
from dragoman.machine.workers import Workers
from dragoman.settings.search_config import SearchConfig
from dragoman.text.cleaning import sanitize
from dragoman.text.tags import Direction, describe_directions
from dragoman.text.tokenizer import Tokenizers
from dragoman.translator import checking
from dragoman.translator.batcher import Batcher
from dragoman.translator.directions import Directions
from dragoman.translator.finishing import Finisher
from dragoman.translator.forced_decoding import ForcedDecoder
from dragoman.translator.model_facts import ModelFacts
from dragoman.translator.models import ComputeOptions, TrainedModels, load_ensemble
from dragoman.translator.options import CallOptions, LanguageOptions, ScoreOptions, SearchOptions, TextList, TextOptions
from dragoman.translator.parallel import Portion, Portions
from dragoman.translator.pipeline import Pipeline
from dragoman.translator.planning import Planner
from dragoman.translator.quality import QualityEstimator
from dragoman.translator.repairs.phrase_book import PhraseBook
from dragoman.translator.repairs.second_search import SecondSearch
from dragoman.translator.results import Score, Translation
from dragoman.translator.scoring import PairScorer
from dragoman.translator.searching import FEWER_WORKERS, Batch, Candidate, Searcher
from dragoman.translator.text_translator import Answer, TextTranslator

if TYPE_CHECKING:
    from dragoman.model.transformer import Transformer


class Translator(TextTranslator):
    """One trained model, or an ensemble of several, that translates text.

    Args:
        models: trained models, or bundles as they were loaded; several average their probabilities. Models are put into
            evaluation mode. On a CPU their weights are copied now.
        tokenizers: those that all the models were trained with.
        search: the search of `translate` unless a call says otherwise.
        compute: device, worker processes and precision.
        facts: what is known of the models.
    """

    def __init__(
        self,
        models: Sequence[Transformer | Bundle],
        tokenizers: Tokenizers,
        search: SearchConfig | None = None,
        compute: ComputeOptions | None = None,
        facts: ModelFacts | None = None,
    ) -> None:
        self._models = TrainedModels(models, compute or ComputeOptions())
        self.device = self._models.device
        self.tokenizers = tokenizers
        self.search = search or SearchConfig()
        self._facts = facts = facts or ModelFacts()
        self.learned = facts.learned
        self.alignment = facts.alignment or AlignmentHeads.default(models[0].config)
        self.scorer = TransformerScorer(self._models.for_search())
        tokenizers.require_special_ids(self.scorer.special_ids)
        self.max_length = self.scorer.max_length - 1  # of a source and of a target; both end in one more token
        batch_size = self._models.batch_size
        on_card = self._models.on_card(self.scorer)
        at_once = batch_size if on_card is None else on_card.batch_size
        self._directions = Directions(tokenizers)
        self.forced_decoder = ForcedDecoder(self._models, self.scorer.models)
        self._pair_scorer = PairScorer(self.forced_decoder, tokenizers, self._directions, self.max_length, batch_size)
        self._estimator = QualityEstimator(self._pair_scorer, self._directions)
        self._workers: Workers[Any, Any] = Workers(self._work, self._models.compute.workers, FEWER_WORKERS)
        self._searcher = Searcher(
            self.scorer, tokenizers.target, at_once, self._workers, on_card=on_card, estimator=self._estimator
        )
        planner = Planner(tokenizers, self._directions, self.scorer.max_length, facts, self._models.short_list)
        finisher = Finisher(self.forced_decoder, tokenizers, self.alignment, batch_size)
        second = SecondSearch(planner, self.forced_decoder, PhraseBook(tokenizers.target), batch_size)
        #: The stages of `translate`.
        self.pipeline = Pipeline(
            planner, self._searcher, finisher, second, self.search, Portions(self._workers, at_once)
        )

    @classmethod
    def load(
        cls,
        *names: str | Path,
        device: str = "auto",
        workers: int = 1,
        precision: Precision = "float32",
        short_list: bool = True,
    ) -> Self:
        """Load a bundle, a run folder's best, or an installed model; several make an ensemble. The options are those of
        `ComputeOptions`; the device "auto" is a GPU if there is one.

        Raises:
            BundleError: one of them is missing, damaged or of a newer format.
            ConfigError: they have different tokenizers, there is no such device, or no int8 on it.
        """
        names, workers = tuple(checking.model_names(names)), checking.positive(workers, "workers")
        device = find_device("cpu" if device == "auto" and precision == "int8" else device)
        first, *_ = bundles = load_ensemble(names)
        compute = ComputeOptions(device, workers, precision, short_list)
        return cls(bundles, first.tokenizers, first.search, compute, ModelFacts.of_bundles(bundles, names))

    def __reduce__(self) -> tuple[type[Self], tuple[object, ...]]:
        # A copy packs its weights and starts its workers itself.
        models, compute = self._models.models, self._models.compute
        return type(self), (models, self.tokenizers, self.search, compute, self._facts)

    def __repr__(self) -> str:
        ensemble = f", {len(self._models.models)} models" if len(self._models.models) > 1 else ""
        return f"<Translator {describe_directions(self.directions)}{ensemble}, {self._models.describe()}>"

    @property
    def models(self) -> list[Transformer]:
        """The models in PyTorch, on their device; those of bundles are built at the first use."""
        return self._models.in_torch()

    @property
    def directions(self) -> tuple[Direction, ...]:
        """(source language, target language) of each direction that the models were trained in."""
        return self.tokenizers.directions

    @contextlib.contextmanager
    def shared(self) -> Iterator[Self]:
        """Yield this translator for the threads of a server; their calls are searched together, in batches.

            with translator.shared() as shared:
                ...  # in each thread: shared.translate(text, timeout=5)

        Calls of equal search options share batches; prefixes, timeouts and alignment may differ. A call that fails or
        is late does so alone. The end of the block waits for earlier calls. The batch can change the last digits of
        a score.
        """
        searcher = self._searcher
        with Batcher(searcher.split(), searcher.batch_size, searcher.least_batch) as batcher:
            shared = object.__new__(type(self))
            vars(shared).update(vars(self), pipeline=replace(self.pipeline, searcher=batcher, portions=None))
            yield shared

    @overload
    def score(self, sources: str, targets: str, **options: Unpack[ScoreOptions]) -> Score: ...

    @overload
    def score(self, sources: TextList, targets: TextList, **options: Unpack[ScoreOptions]) -> list[Score]: ...

    def score(
        self, sources: str | TextList, targets: str | TextList, **options: Unpack[ScoreOptions]
    ) -> Score | list[Score]:
        """Return the probability of a target, given its source, or of each of many (forced decoding).

        The probabilities of an ensemble's models are averaged.

        Args:
            options: `batch_size`, as for `translate`; `source_lang` and `target_lang`, see `Request`.

        Raises:
            DataError: the lists differ in length, or a text is longer than the model reads.
            ConfigError: a text is no string, `batch_size` no number, or the model has no such language.
        """
        return self._pair_scorer.score(sources, targets, options)

    @overload
    def quality(self, sources: str, targets: str, **options: Unpack[ScoreOptions]) -> float: ...

    @overload
    def quality(self, sources: TextList, targets: TextList, **options: Unpack[ScoreOptions]) -> list[float]: ...

    def quality(
        self, sources: str | TextList, targets: str | TextList, **options: Unpack[ScoreOptions]
    ) -> float | list[float]:
        """Estimate the quality of a translation without a reference, or of each of many: from 0 to 1, higher is better.

        It is the geometric mean of the probabilities of a token: those of the target given the source, and with half
        the weight those of the source given the target, if the model translates both ways and both languages are
        named. It orders the translations of one direction; it is not the share of right ones.

        Raises:
            DataError, ConfigError: as `score`.
        """
        return self._estimator.quality(sources, targets, options)

    def reads_back(self, source_lang: str | None, target_lang: str | None) -> bool:
        """Return True if `quality` has both directions: the languages are known, and the model translates both ways.

        Raises:
            ConfigError: the model has no such language.
        """
        return self._directions.both_ways(source_lang, target_lang) is not None

    def fits(self, source: str, target: str, **languages: Unpack[LanguageOptions]) -> bool:
        """Return True if the model can read the whole pair, so that `score` takes it."""
        return self._pair_scorer.fits(source, target, languages)

    def tagged(self, text: str, **languages: Unpack[LanguageOptions]) -> str:
        """See `TextTranslator`."""
        return self._directions.tagged(sanitize(checking.string(text, "the source")), **languages).source

    def is_calibrated(self, source_lang: str | None, target_lang: str) -> bool:
        """See `TextTranslator`."""
        source, target = self.pipeline.planner.find(source_lang, target_lang)
        return self.pipeline.planner.is_calibrated(source, target or target_lang)

    def answering(self, **options: Unpack[SearchOptions]) -> Answer:
        """See `TextTranslator`."""
        return partial(self.pipeline.translate, config=self.search_config(**options))

    def search_config(self, **options: Unpack[SearchOptions]) -> SearchConfig:
        """Return the configuration of a search with these options; those left out or None are the translator's own.

        Raises:
            ConfigError: an option is out of range.
        """
        return checking.changed_search(self.search, options)

    def _work(self, job: Batch | Portion) -> list[list[Candidate]] | list[Translation] | DeadlineError | None:
        """Do what a worker process is asked for. Lateness is returned, because an error that is raised ends it."""
        if isinstance(job, Batch):
            return self._searcher.search_batch(job)
        try:
            if job.stop is not None and job.stop():
                raise job.stop.error()  # before a plan that nobody waits for
            alone = replace(self.pipeline, portions=None)
            return alone.translate(job.requests, job.config, batch_size=job.batch_size, stop=job.stop)
        except DeadlineError as error:
            return error

    def _split(self, options: CallOptions) -> tuple[TextOptions, SearchOptions]:
        return self._directions.split(options)

    def _blocks(self, lines: Iterable[str], batch_size: int | None, read_ahead: int) -> Iterator[list[str]]:
        n_tokens = self._searcher.batch_size if batch_size is None else checking.positive(batch_size, "batch_size")
        return self.pipeline.planner.blocks(lines, n_tokens * read_ahead)
