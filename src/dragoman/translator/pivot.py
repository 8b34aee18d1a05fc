"""Two translators in a row, through a language in the middle, with the interface of one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Self, Unpack

from dragoman.errors import ConfigError
from dragoman.machine.devices import Precision
from dragoman.settings.search_config import SearchConfig
from dragoman.text.languages import find_code
from dragoman.text.tags import UNKNOWN, Direction, describe_directions
from dragoman.translator.checking import model_names
from dragoman.translator.directions import TaggedText
from dragoman.translator.options import CallOptions, LanguageOptions, SearchOptions, TextOptions, split_options
from dragoman.translator.pipeline import Pipeline
from dragoman.translator.recalling import recall
from dragoman.translator.request import Request
from dragoman.translator.results import Translation
from dragoman.translator.searching import StopCondition
from dragoman.translator.text_translator import Answer, TextTranslator
from dragoman.translator.translator import Translator
from dragoman.translator.two_steps import OF_LAST_STEP, first_request, joined, second_requests


class Pivot(TextTranslator):
    """A translator through a language in the middle: German to English, and English to Chinese.

    The text, its memory and its checks are those of the whole. Both steps have the options of the search, except the
    lengths, and protect the same; a prefix is for the second.

    Args:
        first: translates into the language in the middle.
        second: translates from it; the same one, if it has both directions.
        middle: code of that language.

    Raises:
        ConfigError: one of them has no such language, or they lead to no other language.
    """

    def __init__(self, first: Translator, second: Translator, middle: str) -> None:
        self._first, self._second, self._middle = first, second, middle
        into = _find(middle, dict.fromkeys(target for _, target in first.directions), first, "into")
        out_of = _find(middle, dict.fromkeys(source for source, _ in second.directions), second, "from")
        #: The default search of the second step.
        self.search = second.search
        self._steps = _Steps(first.pipeline, second.pipeline, into, out_of)
        sources = [source for source, target in first.directions if target in (into, UNKNOWN)]
        targets = [target for source, target in second.directions if source in (out_of, UNKNOWN)]
        ways = ((source, target) for source in sources for target in targets)
        self._directions = tuple(way for way in ways if way[0] != way[1] or UNKNOWN in way)
        if not self._directions:
            problem = f"through {middle}, these models only translate {sources[0]} into {sources[0]}"
            raise ConfigError(problem, advice="choose other models, or another language in the middle")

    @classmethod
    def load(
        cls,
        *names: str | Path,
        middle: str,
        device: str = "auto",
        workers: int = 1,
        precision: Precision = "float32",
        short_list: bool = True,
    ) -> Self:
        """Load one model that has both directions, or two: the first into the language in the middle, and the second.

        Raises:
            BundleError, ConfigError: as `Translator.load`; or there are more than two models.
        """
        if len(names) > 2:
            problem = f"{len(names)} models for two steps"
            raise ConfigError(problem, advice="give one model, or two: into the language in the middle, and from it")
        steps = [
            Translator.load(name, device=device, workers=workers, precision=precision, short_list=short_list)
            for name in model_names(names)
        ]
        return cls(steps[0], steps[-1], middle)

    def __reduce__(self) -> tuple[type[Self], tuple[object, ...]]:
        return type(self), (self._first, self._second, self._middle)

    def __repr__(self) -> str:
        return f"<Pivot {describe_directions(self.directions)}: {self._first!r}, {self._second!r}>"

    @property
    def directions(self) -> tuple[Direction, ...]:
        """(source language, target language) of each direction that both steps were trained in."""
        return self._directions

    def tagged(self, text: str, **languages: Unpack[LanguageOptions]) -> str:
        """Return a text with the tags that the first step reads before it."""
        return self._steps.tagged(Request(text, **languages)).source

    def is_calibrated(self, source_lang: str | None, target_lang: str) -> bool:
        """See `TextTranslator`. Both steps must be calibrated."""
        of_first = self._first.is_calibrated(source_lang, self._steps.into)
        return of_first and self._second.is_calibrated(self._steps.out_of, target_lang)

    def answering(self, **options: Unpack[SearchOptions]) -> Answer:
        """See `TextTranslator`."""
        of_both = {name: value for name, value in options.items() if name not in OF_LAST_STEP}
        configs = self._first.search_config(**of_both), self._second.search_config(**options)  # type: ignore[arg-type]
        return partial(self._steps.translate, configs)

    def _split(self, options: CallOptions) -> tuple[TextOptions, SearchOptions]:
        of_texts, of_search = split_options(options)
        source, target = of_texts.get("source_lang"), of_texts.get("target_lang")
        self._steps.languages(Request("", source_lang=source, target_lang=target))
        return of_texts, of_search

    def _blocks(self, lines: Iterable[str], batch_size: int | None, read_ahead: int) -> Iterator[list[str]]:
        return self._first._blocks(lines, batch_size, read_ahead)


@dataclass(frozen=True)
class _Steps:
    """The stages of both steps.

    Args:
        into, out_of: the codes of the language in the middle, as the first and the second model have it.
    """

    first: Pipeline
    second: Pipeline
    into: str
    out_of: str

    def languages(self, request: Request) -> tuple[str | None, str | None]:
        """Return the languages of a request as the models name them. None is open.

        Raises:
            ConfigError: a model has no such language, or the direction needs no language in the middle.
        """
        source, _ = self.first.planner.find(request.source_lang, None)
        _, target = self.second.planner.find(None, request.target_lang)
        if {self.into, self.out_of} & {source, target}:
            problem = f"{self.into} is the language in the middle, and also that of the text or the translation"
            raise ConfigError(problem, advice="leave --pivot out, and translate in one step")
        if source == target and source not in (None, UNKNOWN):
            raise ConfigError(f"{source} is both the source and the target language", advice="name another one")
        return source, target

    def tagged(self, request: Request) -> TaggedText:
        """Return the text of a request as the first model reads it, with the languages of the whole.

        Raises:
            ConfigError: as `languages`, one of the two is missing, or the text begins with the tag of a language.
        """
        self.languages(request)
        tagged = self.first.planner.tagged(replace(request, target_lang=self.into))
        if tagged.target_lang != self.into:
            problem = f"a text begins with the tag of {tagged.target_lang}, which --pivot does not read"
            raise ConfigError(problem, advice="name the target language by --target-lang")
        last = self.second.planner.tagged(Request("", source_lang=self.out_of, target_lang=request.target_lang))
        return tagged._replace(target_lang=last.target_lang)

    def translate(
        self,
        configs: tuple[SearchConfig, SearchConfig],
        requests: Sequence[Request],
        *,
        batch_size: int | None = None,
        stop: StopCondition | None = None,
    ) -> list[Translation]:
        """Translate requests; those of equal texts by their memory."""
        recalled = [recall(self, request, number) for number, request in enumerate(requests, 1)]
        missing = list(chain.from_iterable(one.missing for one in recalled))
        languages = [self.tagged(request).pair for request in missing]
        into = [first_request(request, self.into) for request in missing]
        firsts = self.first.translate(into, configs[0], batch_size=batch_size, stop=stop)
        n_best = configs[1].n_best
        pairs = zip(missing, firsts, strict=True)
        onward = [second_requests(request, self.out_of, first, n_best) for request, first in pairs]
        seconds = self._second_steps(onward, configs[1], batch_size, stop)
        rows = zip(missing, languages, firsts, seconds, strict=True)
        found = iter([joined(request, pair, self.into, first, second) for request, pair, first, second in rows])
        return [one.joined(found) for one in recalled]

    def _second_steps(
        self,
        onward: Sequence[Sequence[Request]],
        config: SearchConfig,
        batch_size: int | None,
        stop: StopCondition | None,
    ) -> list[list[Translation]]:
        """Translate the texts in the middle: first the best of each request, since errors count them."""
        places = sorted((rank, row) for row, requests in enumerate(onward) for rank in range(len(requests)))
        requests = [onward[row][rank] for rank, row in places]
        translations = self.second.translate(requests, config, batch_size=batch_size, stop=stop)
        found: list[list[Translation]] = [[] for _ in onward]
        for (_, row), translation in zip(places, translations, strict=True):
            found[row].append(translation)
        return found


def _find(code: str, known: Iterable[str], translator: Translator, way: str) -> str:
    """Return the code of the language in the middle, as a model has it."""
    known = list(known)
    if (found := code if known == [UNKNOWN] else find_code(code, known)) is None:
        advice = f"it translates {describe_directions(translator.directions)}"
        raise ConfigError(f"{code!r} cannot be the language in the middle: no direction goes {way} it", advice=advice)
    return found
