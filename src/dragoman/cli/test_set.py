"""The test set that `evaluate` and `tune` score a model on, and warnings about it."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from dragoman.cli.option_groups import LanguageOptions, TextOptions, given
from dragoman.cli.streams import say
from dragoman.cli.training_settings import known_languages, readable, recipe_settings, require_text
from dragoman.errors import ConfigError

if TYPE_CHECKING:
    from dragoman.data.parallel_text import ParallelText
    from dragoman.settings.data_config import DataConfig
    from dragoman.translator import Translator

_log = logging.getLogger(__name__)

SplitName = Literal["train", "validation", "test"]
Split = Annotated[SplitName, typer.Option("--split", help="Which part of a corpus.")]
M30k = Annotated[bool, typer.Option("--m30k", help="Add M30k-BLEU (always so for the corpus multi30k).")]


@dataclass(frozen=True)
class Request:
    """The options that name a test set."""

    recipe: Path | None
    text: TextOptions
    languages: LanguageOptions
    split: SplitName
    m30k: bool

    @property
    def has_files(self) -> bool:
        """True if the text is given as files."""
        return bool(self.text.source or self.text.target or self.text.pairs)


@dataclass(frozen=True)
class TestSet:
    """Sources and their references."""

    text: ParallelText
    sources: list[str]
    references: list[str]
    language: str  # of the references
    #: Tokenised references for M30k-BLEU, if it is wanted.
    m30k_references: Sequence[str] | None


def read_test_set(request: Request, models: Sequence[str], translator: Translator) -> TestSet:
    """Read the text that the options name, and warn where its scores would mislead.

    Raises:
        ConfigError: no text is named, or the corpus has no such part.
        DataError: a file cannot be read.
    """
    from dragoman.data import multi30k
    from dragoman.data.corpus import UNKNOWN_LANGUAGE
    from dragoman.evaluation.evaluation import m30k_references

    text, own_language, is_multi30k = _find_text(request, models, translator)
    pairs = readable(text)
    if "pairs" in text.files:
        pairs = (pair for pair in pairs if any(pair))  # a blank line of a table is no pair
    sources, references = map(list, list(zip(*pairs, strict=True)) or [(), ()])
    asked = request.languages.target_lang or translator.tokenizers.target_lang
    language = own_language if asked == UNKNOWN_LANGUAGE else asked
    warn_of_spaces(language, references)
    if request.split == "test":
        _warn_of_training(models, sources, references)
    own = multi30k.tokenised_references(request.split, language) if is_multi30k else None
    tokenised = m30k_references(references, language, own) if request.m30k or is_multi30k else None
    return TestSet(text, sources, references, language, tokenised)


def _find_text(request: Request, models: Sequence[str], translator: Translator) -> tuple[ParallelText, str, bool]:
    """Return a text, the language of its targets, and True if it is Multi30k's: files, a part of a corpus or recipe, or
    the text that a run was validated on."""
    from dragoman.data import multi30k
    from dragoman.data.corpus import available_splits, languages, read_pairs
    from dragoman.settings.data_config import DataConfig
    from dragoman.settings.sections import parse_section

    options = given(request.text, request.languages)
    tokenizers = translator.tokenizers
    own = known_languages((tokenizers.source_lang, tokenizers.target_lang))
    if request.has_files:
        # Columns and keys may be named after languages; two files tell theirs by their names.
        others = {key: lang for key, lang in own.items() if lang not in options.values()} if request.text.pairs else {}
        files = parse_section(DataConfig, others | options)
        _warn_of_languages(files, translator)
        return read_pairs(files, "train"), languages(files)[1], False
    if (validated := _validation_text(request, models, translator)) is not None:
        return validated, tokenizers.target_lang, False
    settings = recipe_settings(request.recipe, None, options)
    is_text_known = _is_run(models) or request.split == "validation"
    require_text(settings, request.recipe, ", or --split validation with a run folder" if is_text_known else "")
    splits = available_splits(parse_section(DataConfig, settings["data"], request.recipe))
    if request.split not in splits:
        advice = f"give --split {' or '.join(splits)}, or --source and --target"
        raise ConfigError(f"no {request.split} data is given", request.recipe, advice=advice)
    data = parse_section(DataConfig, own | settings["data"])
    return read_pairs(data, request.split), languages(data)[1], data.corpus == multi30k.NAME


def _is_run(models: Sequence[str]) -> bool:
    from dragoman.data.prepared import is_prepared

    return len(models) == 1 and is_prepared(Path(models[0]))


def _validation_text(request: Request, models: Sequence[str], translator: Translator) -> ParallelText | None:
    """Return the text by which a run chose its best, where nothing else is named."""
    from dragoman.data.corpus import UNKNOWN_LANGUAGE
    from dragoman.data.prepared import validation_text

    if not _is_run(models) or request.split != "validation" or request.recipe or request.text.corpus:
        return None
    allowed = {"target_lang"} if translator.tokenizers.target_lang == UNKNOWN_LANGUAGE else set()
    if given(request.text, request.languages).keys() - allowed:
        options = "--columns says" if request.text.columns else "languages say"
        raise typer.BadParameter(f"{options} nothing of what a run was validated on; leave them out")
    return validation_text(Path(models[0]))


def warn_of_length(test: TestSet, translator: Translator, *, has_perplexity: bool) -> None:
    """Warn of pairs that the model cannot read whole."""
    pairs = zip(test.sources, test.references, strict=True)
    if n_too_long := sum(not translator.fits(*pair) for pair in pairs):
        what = f"{n_too_long:,} pairs are longer than the {translator.max_length} tokens of the model"
        left_out = "they have no part in the perplexity, and " if has_perplexity else ""
        _log.warning(f"{what}; {left_out}a source that is longer is translated in parts")


def warn_of_spaces(language: str, references: Sequence[str]) -> None:
    """Warn of references whose words BLEU cannot count."""
    from dragoman.data.corpus import UNKNOWN_LANGUAGE
    from dragoman.text.languages import lacks_spaces

    if language == UNKNOWN_LANGUAGE and lacks_spaces(references):
        what = "the references are written without spaces, in a language that nobody named"
        _log.warning(f"{what}; give --target-lang, or BLEU is far too low")


def refuse_options(context: typer.Context, names: set[str], reason: str) -> None:
    """Refuse options of the command line that say nothing beside others.

    Raises:
        typer.BadParameter: one of `names` is given.
    """
    for parameter in context.command.params:
        source = context.get_parameter_source(str(parameter.name))
        if parameter.name in names and source is not None and source.name == "COMMANDLINE":
            raise typer.BadParameter(f"{max(parameter.opts, key=len)} says nothing with {reason}; leave it out")


def _warn_of_languages(data: DataConfig, translator: Translator) -> None:
    from dragoman.data.corpus import are_others, languages

    own, now = (translator.tokenizers.source_lang, translator.tokenizers.target_lang), languages(data)
    if are_others(now, own):
        _log.warning(f"the model translates {'-'.join(own)}, and this text is {'-'.join(now)}")


def _warn_of_training(models: Sequence[str], sources: Sequence[str], references: Sequence[str]) -> None:
    from dragoman.data.overlap import training_overlap

    if line := training_overlap(models, sources, references).line():
        say(line)
