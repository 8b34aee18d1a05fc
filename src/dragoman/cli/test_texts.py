"""The texts that options name for a test set: files, parts of a corpus or recipe, or the validation text of a run."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import typer

from dragoman.cli.training_settings import (
    data_settings,
    known_languages,
    read_recipe_argument,
    recipe_settings,
    require_text,
)
from dragoman.errors import ConfigError

if TYPE_CHECKING:
    from dragoman.data.parallel_text import ParallelText
    from dragoman.settings.data_config import DataConfig
    from dragoman.translator import Translator

_log = logging.getLogger(__name__)

SplitName = Literal["train", "validation", "test"]
Languages = tuple[str, str]


@dataclass(frozen=True)
class FoundText:
    """A text in one direction."""

    text: ParallelText
    languages: Languages
    name: str = ""  # of the direction among several, with the corpus where two have the same
    is_multi30k: bool = False


def find_texts(
    given: Mapping[str, str], recipe: Path | None, split: SplitName, models: Sequence[str], translator: Translator
) -> list[FoundText]:
    """Return the texts that are named, one for each direction.

    Args:
        given: options of the data section.

    Raises:
        ConfigError: no text is named, or it has no such part or direction.
    """
    if given.keys() & {"source", "target", "pairs"}:
        return [_in_files(given, translator)]
    if found := _of_run(given, recipe, split, models, translator):
        return found
    from dragoman.data import multi30k
    from dragoman.data.corpus import available_splits, languages, read_pairs

    wanted = given.get("source_lang"), given.get("target_lang")
    if (corpora := _corpora(recipe)) is not None:
        return _of_mixture(corpora, split, wanted)
    settings = recipe_settings(recipe, None, dict(given))
    is_text_known = is_run(models) or split == "validation"
    require_text(settings, recipe, ", or --split validation with a run folder" if is_text_known else "")
    data = data_settings(settings["data"], recipe)
    if split not in (splits := available_splits(data)):
        advice = f"give --split {' or '.join(splits)}, or --source and --target"
        raise ConfigError(f"no {split} data is given", recipe, advice=advice)
    data = data_settings(known_languages(translator.tokenizers.languages) | settings["data"])
    text = read_pairs(data, split)
    return [FoundText(text, languages(data), is_multi30k=data.corpus == multi30k.NAME)]


def is_run(models: Sequence[str]) -> bool:
    """Return True if the models are one run folder with its text."""
    from dragoman.bundle.finding import model_path
    from dragoman.data.prepared import is_prepared

    return len(models) == 1 and (path := model_path(models[0])) is not None and is_prepared(path)


def _in_files(given: Mapping[str, str], translator: Translator) -> FoundText:
    from dragoman.data.corpus import languages, languages_differ, read_pairs

    # Columns and keys may be named after languages. The names of two files have their languages.
    own = known_languages(translator.tokenizers.languages) if "pairs" in given else {}
    unnamed = {key: language for key, language in own.items() if language not in given.values()}
    data = data_settings({**unnamed, **given})
    own_languages, now = translator.tokenizers.languages, languages(data)
    if len(translator.directions) == 1 and languages_differ(now, own_languages):
        _log.warning(f"the model translates {'-'.join(own_languages)}, and this text is {'-'.join(now)}")
    return FoundText(read_pairs(data, "train"), now)


def _of_run(
    given: Mapping[str, str], recipe: Path | None, split: SplitName, models: Sequence[str], translator: Translator
) -> list[FoundText]:
    """Return the validation text of a run, by direction, if nothing else is named."""
    from dragoman.data.prepared import validation_directions, validation_text
    from dragoman.text.tags import UNKNOWN

    if not is_run(models) or split != "validation" or recipe or "corpus" in given:
        return []
    folder, languages = Path(models[0]), translator.tokenizers.languages
    directions = validation_directions(folder)
    allowed = {"source_lang", "target_lang"} if directions else {"target_lang"} if languages[1] == UNKNOWN else set()
    if given.keys() - allowed:
        subject = "--columns has" if "columns" in given else "languages have"
        raise typer.BadParameter(f"{subject} no effect on the validation text of a run; leave them out")
    if not directions:
        return [FoundText(validation_text(folder), languages)]
    wanted = given.get("source_lang"), given.get("target_lang")
    found = [FoundText(validation_text(folder, each), each, "-".join(each)) for each in directions]
    return _chosen(found, wanted, folder)


def _corpora(recipe: Path | None) -> DataConfig | None:
    """Return the section `data` of a recipe if it has several corpora."""
    data = read_recipe_argument(recipe).get("data")
    return data_settings(data, recipe) if isinstance(data, dict) and data.get("corpora") else None


def _of_mixture(data: DataConfig, split: SplitName, wanted: tuple[str | None, str | None]) -> list[FoundText]:
    """Return this part of each corpus of a mixture, in each direction."""
    from dragoman.data.corpus import available_splits, read_pairs
    from dragoman.data.mixture import directions

    found: list[FoundText] = []
    for (name, one), corpus in zip(data.each(), data.corpora, strict=True):
        if split not in available_splits(one):
            continue
        text = read_pairs(one, split)
        forwards = directions(one)[0]
        found.append(FoundText(text, forwards, f"{name} {'-'.join(forwards)}"))
        if corpus.both_ways:
            found.append(FoundText(_turned(text), forwards[::-1], f"{name} {'-'.join(forwards[::-1])}"))
    if not found:
        raise ConfigError(f"no corpus has {split} data", advice="give another --split, or --source and --target")
    return _chosen(found, wanted, None)


def _turned(text: ParallelText) -> ParallelText:
    """Return the text with its sides exchanged."""
    from dragoman.data.parallel_text import ParallelText

    def pairs() -> Iterator[tuple[str, str]]:
        return ((target, source) for source, target in text)

    return ParallelText.of_pairs(text.name, pairs)


def _chosen(found: Sequence[FoundText], wanted: tuple[str | None, str | None], place: Path | None) -> list[FoundText]:
    """Return the texts in the directions that are wanted; None is any language."""
    chosen = [
        each
        for each in found
        if all(want in (None, language) for want, language in zip(wanted, each.languages, strict=True))
    ]
    if not chosen:
        known = ", ".join(dict.fromkeys("-".join(each.languages) for each in found))
        raise ConfigError("no text is in the languages that are given", place, advice=f"there is {known}")
    return chosen
