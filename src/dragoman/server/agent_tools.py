"""The tools of an assistant: to translate, to detect a language, and to list languages."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, lru_cache
from typing import Annotated, Any

from pydantic import Field, ValidationError

from dragoman.bundle.finding import find_bundle
from dragoman.bundle.model_list import described_model, list_models
from dragoman.errors import BundleError, ConfigError, DragomanError, some_of
from dragoman.server.api_errors import ApiError, describe
from dragoman.server.detection import UNDETECTABLE, Detection, Detector
from dragoman.server.libretranslate_input import check_limits
from dragoman.server.native_schema import FirstError, GivenTerm, Strict, Whole
from dragoman.server.routing import Directory, Leg
from dragoman.server.term_lists import checked_terms
from dragoman.server.text_lines import split_lines
from dragoman.server.texts import AUTO, AskedText, TranslatedText, likely_sources, require_route
from dragoman.settings.server_config import ServerConfig
from dragoman.text.languages import english_name
from dragoman.text.tags import Direction
from dragoman.translator import Pivot, Request, StopCondition, Translator

#: Models that stay in RAM.
_MOST_LOADED = 4


class TranslateInput(Strict):
    """Translate a text, or each of a list of texts, on this computer; no text leaves it.

    Each translation has the source language with the confidence of its detection (0 to 100), the confidence of the
    translation (0 to 1), and its doubtful lines with their flags, such as "number" for a number that is missing or
    changed, and the terms that they lack. Check these lines, or tell the user. Other lines may be wrong, too.
    """

    text: Annotated[Whole | Annotated[list[Whole], FirstError()], Field(description="Line breaks stay.")]
    target: Annotated[str, Field(description="Code of the language to translate into, such as de.")]
    source: Annotated[
        str | None, Field(description="Language of all texts; null detects that of each: give it for short texts.")
    ] = None
    terms: Annotated[dict[Whole, Whole] | None, Field(description="Words of the texts, and what they must become.")] = (
        None
    )
    model: Annotated[str | None, Field(description="One that the tool languages names; null takes the first.")] = None


class DetectInput(Strict):
    """Detect the language of a text: those that it may be in, the most likely first, each with a confidence up to 100.

    A text without letters has none.
    """

    text: Whole


class LanguagesInput(Strict):
    """List the languages that can be translated, and the sources and targets of each model.

    Of several models with a direction, the first translates. If none has it, two translate through a third language.
    """


class AgentTools:
    """The tools. Any thread may use them; one translates at a time. Models are loaded when they are used.

    Args:
        models: bundles, run folders or installed models, the preferred ones first; none: all that are installed.

    Raises:
        BundleError: there is no such model, or it is damaged.
        ConfigError: there is no model at all.
    """

    def __init__(self, models: Sequence[str]) -> None:
        self._directions = _directions(models)
        self._load = lru_cache(_MOST_LOADED)(Translator.load)
        self._translating = threading.Lock()
        #: The tools by their names: what they take, with a description, and what they do.
        self.by_name: dict[str, tuple[type[Strict], Callable[[Any, StopCondition], dict[str, Any]]]] = {
            "translate": (TranslateInput, self._translate),
            "detect": (DetectInput, self._detect),
            "languages": (LanguagesInput, self._languages),
        }

    def call(self, name: str, arguments: Mapping[str, Any], stop: StopCondition) -> dict[str, Any]:
        """Return the result of a tool, as JSON has it.

        Raises:
            ApiError: there is no such tool, or it refuses the arguments.
        """
        if name not in self.by_name:
            raise ApiError(404, f"there is no tool {name[:100]}; use {', '.join(self.by_name)}")
        takes, run = self.by_name[name]
        try:
            return run(takes.model_validate(arguments), stop)
        except ValidationError as error:
            raise ApiError(400, describe(error.errors())) from None
        except DragomanError as error:
            raise ApiError(400, error.message) from error

    @cached_property
    def _detector(self) -> Detector:
        return Detector()

    def _translate(self, given: TranslateInput, stop: StopCondition) -> dict[str, Any]:
        texts = [given.text] if isinstance(given.text, str) else given.text
        check_limits(texts, ServerConfig())
        directory = self._directory(given.model)
        target = _language(directory, given.target)
        pairs = (given.terms or {}).items()
        terms = checked_terms([GivenTerm(source=source, targets=[to]) for source, to in pairs])
        if given.source in (None, "", AUTO):
            detected = [likely_sources(self._detector, directory, [text], target)[0] for text in texts]
        else:
            detected = [Detection(100, _language(directory, str(given.source)))] * len(texts)
        results: list[dict[str, Any]] = [{}] * len(texts)
        for source in dict.fromkeys(one.language for one in detected):
            numbers = [number for number, one in enumerate(detected) if one.language == source]
            route = require_route(directory, source, target)
            asked = [
                AskedText(Request(texts[number], source_lang=source, target_lang=target), source, target, lists=[terms])
                for number in numbers
            ]
            for number, answer in zip(numbers, self._by_models(route, asked, stop), strict=True):
                results[number] = _result(answer, detected[number])
        return {"translations": results}

    def _by_models(self, route: Sequence[Leg], texts: Sequence[AskedText], stop: StopCondition) -> list[TranslatedText]:
        """Translate texts of one language, the lines of all of them together."""
        cut = [split_lines(text.request.text) for text in texts]
        if not route:  # they are in the target language
            return [TranslatedText(route, lines, ()) for lines in cut]
        pairs = zip(texts, cut, strict=True)
        requests = [request for text, lines in pairs for request in text.of_lines(lines.lines)]
        with self._translating:
            loaded = [self._load(leg.model) for leg in route]
            translator = Pivot(loaded[0], loaded[-1], route[0].target) if len(route) > 1 else loaded[0]
            found = iter(translator.answering()(requests, stop=stop))
        return [TranslatedText(route, lines, [next(found) for _ in lines.lines]) for lines in cut]

    def _detect(self, given: DetectInput, _: StopCondition) -> dict[str, Any]:
        check_limits([given.text], ServerConfig())
        found = self._detector.detect(given.text, self._directory(None).languages)
        return {"languages": [one._asdict() for one in found if one is not UNDETECTABLE]}

    def _languages(self, _: LanguagesInput, __: StopCondition) -> dict[str, Any]:
        models = []
        for name, directions in self._directions.items():
            sources, targets = (list(dict.fromkeys(codes)) for codes in zip(*directions, strict=True))
            models.append({"name": name, "sources": sources, "targets": targets})
        return {"languages": {code: english_name(code) for code in self._directory(None).languages}, "models": models}

    def _directory(self, model: str | None) -> Directory:
        """Return the languages of a model, or of all."""
        if model is not None and model not in self._directions:
            raise ConfigError(f"there is no model {model[:100]!r} here", advice=f"use {', '.join(self._directions)}")
        return Directory(self._directions if model is None else {model: self._directions[model]})


def _directions(models: Sequence[str]) -> dict[str, Sequence[Direction]]:
    """Return the directions of models by their names, without loading any."""
    listed = [described_model(name, find_bundle(name)) for name in models]
    if damaged := next((each for each in listed if each.problem is not None), None):
        raise BundleError(damaged.problem or "", damaged.name)
    found = {each.name: each.directions for each in listed or list_models() if each.problem is None}
    if not found:
        raise ConfigError("no model is installed", advice="name one: --model")
    return found


def _language(directory: Directory, code: str) -> str:
    """Return a language as the models name it."""
    if (found := directory.find(code)) is None:
        raise ConfigError(f"no model has the language {code[:100]!r}", advice=f"use {some_of(directory.languages)}")
    return found


def _result(answer: TranslatedText, detected: Detection) -> dict[str, Any]:
    """Return a translated text as JSON has it."""
    lines = list(zip(answer.lines.lines, answer.translations, strict=False))
    return {
        "translation": answer.text,
        "source": detected.language,
        "source_confidence": detected.confidence,
        "models": [leg.model for leg in answer.legs],
        "confidence": min((one.confidence for _, one in lines if one.confidence is not None), default=None),
        "doubtful": [
            {"line": line, "translation": one.text, "flags": one.flags, "missing_terms": one.missing_terms}
            for line, one in lines
            if one.flags
        ],
    }
