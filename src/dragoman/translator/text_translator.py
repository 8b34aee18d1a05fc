"""The calls that translate texts, whatever is behind them: one model, several, or two in a row."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Protocol, Unpack, overload

from dragoman.settings.search_config import SearchConfig
from dragoman.text.tags import Direction
from dragoman.translator import checking
from dragoman.translator.options import AllOptions, CallOptions, LanguageOptions, SearchOptions, TextList, TextOptions
from dragoman.translator.request import Request, context_after, in_document
from dragoman.translator.results import Translation
from dragoman.translator.searching import StopCondition


class Answer(Protocol):
    """Translates requests, with a search that was chosen before."""

    def __call__(
        self, requests: Sequence[Request], *, batch_size: int | None = None, stop: StopCondition | None = None
    ) -> list[Translation]:
        """See `Pipeline.translate`."""


class TextTranslator(ABC):
    """A translator of texts: a `Translator`, or a `Pivot` of two."""

    #: The search of `translate` unless a call says otherwise.
    search: SearchConfig

    @property
    @abstractmethod
    def directions(self) -> tuple[Direction, ...]:
        """(source language, target language) of each direction that it was trained in."""

    @abstractmethod
    def tagged(self, text: str, **languages: Unpack[LanguageOptions]) -> str:
        """Return a text with the tags that a model reads before it: none if it has one target language.

        Raises:
            ConfigError: a language is missing, or wrong.
        """

    @abstractmethod
    def is_calibrated(self, source_lang: str | None, target_lang: str) -> bool:
        """Return True if translations in a direction have a confidence."""

    @abstractmethod
    def answering(self, **options: Unpack[SearchOptions]) -> Answer:
        """Return what translates requests with these options of the search; those left out or None are its own.

        Raises:
            ConfigError: an option is out of range.
        """

    @abstractmethod
    def _split(self, options: CallOptions) -> tuple[TextOptions, SearchOptions]:
        """Return the options of texts, their languages checked, and those of the search."""

    @abstractmethod
    def _blocks(self, lines: Iterable[str], batch_size: int | None, read_ahead: int) -> Iterator[list[str]]:
        """Read lines as they come, and yield as many at once as fill the batches."""

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
        as_document: bool = False,
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
            as_document: the texts follow each other in a document, up to an empty one; a model with `data.context`
                reads those before each.
            options: `SearchOptions`, the bundle's where left out or None; for the others see `Request`.

        Raises:
            ConfigError: an option is out of range or of a wrong type, options contradict each other, a text is no
                string (the message names its place), the model has no such language, or it is not calibrated.
            DeadlineError: the timeout passed.
        """
        of_texts, search = self._split(options)
        answer = self.answering(**search)
        stop = None if timeout is None else StopCondition.after(checking.positive_seconds(timeout, "timeout"))
        sources = [texts] if isinstance(texts, str) else checking.string_list(texts, "text")
        Request("", sentences=sentences, align=align, **of_texts).checked("")
        prefixes = checking.prefix_list(prefixes, len(sources))
        requests = [
            Request(text, one, sentences, align, **of_texts) for text, one in zip(sources, prefixes, strict=True)
        ]
        requests = list(in_document(requests)) if as_document else requests
        translations = answer(requests, batch_size=batch_size, stop=stop)
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
        as_document: bool = False,
        **options: Unpack[CallOptions],
    ) -> Iterator[Translation]:
        """Translate lines of any iterable as they come.

        Whenever the lines read so far fill a batch, their translations are yielded; with a `batch_size` of 1 each line
        is answered before the next is read. With a larger `read_ahead`, so many batches are read, sorted by length and
        shared among the workers, which is faster if nobody waits for a line. For `as_document`, see `translate`.

        Raises:
            ConfigError: as `translate`, at once; a line that is no string raises it when it comes.
        """
        of_texts, search = self._split(options)
        answer = self.answering(**search)
        template = Request("", "" if prefixes is None else prefixes, sentences, align, **of_texts).checked("")
        blocks = self._blocks(
            checking.string_stream(lines, "line"), batch_size, checking.positive(read_ahead, "read_ahead")
        )

        def chunks() -> Iterator[list[Request]]:
            before: Sequence[str] = ()
            for block in blocks:
                requests = [replace(template, text=line, context=before) for line in block]
                if as_document and requests:
                    requests = list(in_document(requests))
                    before = context_after(requests[-1])
                yield requests

        return (one for chunk in chunks() for one in answer(chunk, batch_size=batch_size))
