"""The translator: trained models behind text."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Self, Unpack, overload

from dragoman.alignment.heads import AlignmentHeads
from dragoman.bundle.bundle import Bundle
from dragoman.decoding.state import TransformerScorer
from dragoman.machine.devices import Precision, find_device
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
from dragoman.translator.options import AllOptions, CallOptions, LanguageOptions, ScoreOptions, SearchOptions, TextList
from dragoman.translator.pipeline import Pipeline
from dragoman.translator.planning import Planner
from dragoman.translator.repairs.phrase_book import PhraseBook
from dragoman.translator.repairs.second_search import SecondSearch
from dragoman.translator.request import Request
from dragoman.translator.results import Score, Translation
from dragoman.translator.scoring import PairScorer
from dragoman.translator.searching import Searcher, StopCondition

if TYPE_CHECKING:
    from dragoman.model.transformer import Transformer


class Translator:
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
        workers = self._models.compute.workers
        self._searcher = Searcher(self.scorer, tokenizers.target, workers, at_once, on_card=on_card)
        self._directions = Directions(tokenizers)
        self.forced_decoder = ForcedDecoder(self._models, self.scorer.models)
        self._pair_scorer = PairScorer(self.forced_decoder, tokenizers, self._directions, self.max_length, batch_size)
        planner = Planner(tokenizers, self._directions, self.scorer.max_length, facts, self._models.short_list)
        finisher = Finisher(self.forced_decoder, tokenizers, self.alignment, batch_size)
        second = SecondSearch(planner, self.forced_decoder, PhraseBook(tokenizers.target), batch_size)
        #: The stages of `translate`.
        self.pipeline = Pipeline(planner, self._searcher, finisher, second, self.search)

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
        with Batcher(self._searcher.split(), self._searcher.batch_size) as batcher:
            shared = object.__new__(type(self))
            vars(shared).update(vars(self), pipeline=replace(self.pipeline, searcher=batcher))
            yield shared

    @overload
    def translate(self, texts: str, **options: Unpack[AllOptions]) -> Translation: ...

    @overload
    def translate(self, texts: TextList, **options: Unpack[AllOptions]) -> list[Translation]: ...

    def translate(
        self,
        texts: str | TextList,
        *,
        prefixes: str | Sequence[str] | None = None,
        align: bool = False,
        sentences: bool | None = None,
        batch_size: int | None = None,
        timeout: float | None = None,
        **options: Unpack[CallOptions],
    ) -> Translation | list[Translation]:
        """Translate one text, or many.

        A text of another kind than the model learned from is cut at the ends of sentences, and a much longer sentence
        at commas or between words; its segments are translated and joined. Encoded data, hashes and marks without a
        word are copied. `Translation.flags` tells of the last two. A line break is white space, and a blank line ends a
        sentence. A translation is always one line.

        Args:
            texts: a string gives a Translation; a list or another sequence of strings (an array, a column) a list.
            prefixes, align, sentences: see `Request`; prefixes are one for all texts, or one for each.
            batch_size: source tokens, padding included, searched at once; None suits the device. It changes the speed,
                and how scores round.
            timeout: seconds after which the search is given up.
            options: `SearchOptions`, the bundle's where left out or None; for the others see `Request`.

        Raises:
            ConfigError: an option is out of range or of a wrong type, options contradict each other, a text is no
                string (the message names its place), the model has no such language, or it is not calibrated.
            DeadlineError: the timeout passed.
        """
        of_texts, search = self._directions.split(options)
        config = self.search_config(**search)
        stop = None if timeout is None else StopCondition.after(checking.positive_seconds(timeout, "timeout"))
        sources = [texts] if isinstance(texts, str) else checking.string_list(texts, "text")
        Request("", sentences=sentences, align=align, **of_texts).checked("")
        prefixes = checking.prefix_list(prefixes, len(sources))
        requests = [
            Request(text, one, sentences, align, **of_texts) for text, one in zip(sources, prefixes, strict=True)
        ]
        translations = self.pipeline.translate(requests, config, batch_size=batch_size, stop=stop)
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
        **options: Unpack[CallOptions],
    ) -> Iterator[Translation]:
        """Translate lines of any iterable as they come.

        Whenever the lines read so far fill a batch, their translations are yielded; with a `batch_size` of 1 each line
        is answered before the next is read. With a larger `read_ahead`, so many batches are read, sorted by length and
        shared among the workers, which is faster if nobody waits for a line.

        Raises:
            ConfigError: as `translate`, at once; a line that is no string raises it when it comes.
        """
        of_texts, search = self._directions.split(options)
        config = self.search_config(**search)
        batch_size = self._searcher.batch_size if batch_size is None else checking.positive(batch_size, "batch_size")
        template = Request("", "" if prefixes is None else prefixes, sentences, align, **of_texts).checked("")
        n_tokens = batch_size * checking.positive(read_ahead, "read_ahead")
        blocks = self.pipeline.planner.blocks(checking.string_stream(lines, "line"), n_tokens)
        requests = ([replace(template, text=line) for line in block] for block in blocks)
        return (one for chunk in requests for one in self.pipeline.translate(chunk, config, batch_size=batch_size))

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

    def fits(self, source: str, target: str, **languages: Unpack[LanguageOptions]) -> bool:
        """Return True if the model can read the whole pair, so that `score` takes it."""
        return self._pair_scorer.fits(source, target, languages)

    def tagged(self, text: str, **languages: Unpack[LanguageOptions]) -> str:
        """Return a text with the tags that the model reads before it: none if it has one target language."""
        return self._directions.tagged(sanitize(checking.string(text, "the source")), **languages).source

    def search_config(self, **options: Unpack[SearchOptions]) -> SearchConfig:
        """Return the configuration of a search with these options; those left out or None are the translator's own.

        Raises:
            ConfigError: an option is out of range.
        """
        return checking.changed_search(self.search, options)
