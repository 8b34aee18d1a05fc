"""The test set that `evaluate` and `tune` score a model on, and warnings about it."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from dragoman.cli.option_groups import LanguageOptions, TextOptions, given_options
from dragoman.cli.options import Recipe
from dragoman.cli.streams import say
from dragoman.cli.training_settings import known_languages, readable, recipe_settings, require_text
from dragoman.errors import ConfigError

if TYPE_CHECKING:
    from dragoman.data.parallel_text import ParallelText
    from dragoman.settings.data_config import DataConfig
    from dragoman.translator import Translator

_log = logging.getLogger(__name__)

M30k = Annotated[bool, typer.Option("--m30k", help="Add M30k-BLEU, the score of the Multi30k literature.")]
SplitName = Literal["train", "validation", "test"]
Split = Annotated[
    SplitName | None,
    typer.Option("--split", help="Part of a corpus. Default: test; for `tune` validation."),
]


@dataclass(frozen=True)
class TestSetOptions:
    """The options that name a test set."""

    text: TextOptions
    languages: LanguageOptions
    recipe: Recipe = None
    split: Split = None
    m30k: M30k = False

    @property
    def has_files(self) -> bool:
        """True if the text is given as files."""
        return bool(self.text.source or self.text.target or self.text.pairs)

    @property
    def data(self) -> dict[str, str]:
        """The options of the data section that are given."""
        return given_options(self.text, self.languages)

    def refuse_contradictions(self) -> None:
        """Refuse options that have no effect beside others.

        Raises:
            typer.BadParameter: a recipe or a part of a corpus beside files.
        """
        if self.has_files:
            for name, value in (("recipe", self.recipe), ("--split", self.split)):
                if value is not None:
                    problem = f"{name} has no effect with --source, --target or --pairs; leave it out"
                    raise typer.BadParameter(problem)


@dataclass(frozen=True)
class TestSet:
    """Sources and their references."""

    text: ParallelText
    sources: list[str]
    references: list[str]
    language: str  # of the references
    #: Tokenised references for M30k-BLEU, if it is wanted.
    m30k_references: Sequence[str] | None


def read_test_set(
    options: TestSetOptions, models: Sequence[str], translator: Translator, *, default: SplitName
) -> TestSet:
    """Read the text that the options name, and warn if its scores would mislead.

    Args:
        default: the part of a corpus that is read without --split.

    Raises:
        ConfigError: no text is named, or the corpus has no such part.
        DataError: a file cannot be read.
    """
    from dragoman.data import multi30k
    from dragoman.data.corpus import UNKNOWN_LANGUAGE
    from dragoman.evaluation.evaluation import m30k_references
    from dragoman.text.tags import SEVERAL

    split: SplitName = options.split or default
    text, own_languages, is_multi30k = _find_text(options, split, models, translator)
    pairs = readable(text)
    if "pairs" in text.files:
        pairs = (pair for pair in pairs if any(pair))  # a blank line of a table is no pair
    sources, references = map(list, list(zip(*pairs, strict=True)) or [(), ()])
    named_language = options.languages.target_lang or translator.tokenizers.target_lang
    language = own_languages[1] if named_language in (UNKNOWN_LANGUAGE, SEVERAL) else named_language
    if len(translator.directions) > 1:
        direction: Any = known_languages(own_languages)
        sources = [translator.tagged(source, **direction) for source in sources]
    warn_of_spaces(language, references)
    if split == "test":
        _warn_of_training(models, sources, references)
    own = multi30k.tokenised_references(split, language) if is_multi30k else None
    tokenised = m30k_references(references, language, own) if options.m30k or is_multi30k else None
    return TestSet(text, sources, references, language, tokenised)


def _find_text(
    options: TestSetOptions, split: SplitName, models: Sequence[str], translator: Translator
) -> tuple[ParallelText, tuple[str, str], bool]:
    """Return a text, the languages of its two sides, and True if it is Multi30k.

    It comes from files, or is a part of a corpus or recipe, or the validation text of a run.
    """
    from dragoman.data import multi30k
    from dragoman.data.corpus import available_splits, languages, read_pairs
    from dragoman.settings.data_config import DataConfig
    from dragoman.settings.sections import parse_section

    given_data, recipe = options.data, options.recipe
    tokenizers = translator.tokenizers
    own = known_languages(tokenizers.languages)
    if options.has_files:
        # Columns and keys may be named after languages. The names of two files have their languages.
        unnamed = {key: language for key, language in own.items() if language not in given_data.values()}
        files = parse_section(DataConfig, (unnamed if options.text.pairs else {}) | given_data)
        _warn_of_languages(files, translator)
        return read_pairs(files, "train"), languages(files), False
    if (validated := _validation_text(options, split, models, translator)) is not None:
        return validated, tokenizers.languages, False
    settings = recipe_settings(recipe, None, given_data)
    is_text_known = _is_run(models) or split == "validation"
    require_text(settings, recipe, ", or --split validation with a run folder" if is_text_known else "")
    splits = available_splits(parse_section(DataConfig, settings["data"], recipe))
    if split not in splits:
        advice = f"give --split {' or '.join(splits)}, or --source and --target"
        raise ConfigError(f"no {split} data is given", recipe, advice=advice)
    data = parse_section(DataConfig, own | settings["data"])
    return read_pairs(data, split), languages(data), data.corpus == multi30k.NAME


def _is_run(models: Sequence[str]) -> bool:
    from dragoman.data.prepared import is_prepared

    return len(models) == 1 and is_prepared(Path(models[0]))


def _validation_text(
    options: TestSetOptions, split: SplitName, models: Sequence[str], translator: Translator
) -> ParallelText | None:
    """Return the validation text of a run, if nothing else is named."""
    from dragoman.data.corpus import UNKNOWN_LANGUAGE
    from dragoman.data.prepared import validation_text

    if not _is_run(models) or split != "validation" or options.recipe or options.text.corpus:
        return None
    allowed = {"target_lang"} if translator.tokenizers.target_lang == UNKNOWN_LANGUAGE else set()
    if options.data.keys() - allowed:
        subject = "--columns has" if options.text.columns else "languages have"
        raise typer.BadParameter(f"{subject} no effect on the validation text of a run; leave them out")
    return validation_text(Path(models[0]))


def warn_of_length(test: TestSet, translator: Translator, *, has_perplexity: bool) -> None:
    """Warn of pairs that the model cannot read whole."""
    pairs = zip(test.sources, test.references, strict=True)
    if n_too_long := sum(not translator.fits(*pair) for pair in pairs):
        problem = f"{n_too_long:,} pairs are longer than the {translator.max_length} tokens of the model"
        left_out = "they have no part in the perplexity, and " if has_perplexity else ""
        _log.warning(f"{problem}; {left_out}a source that is longer is translated in parts")


def warn_of_spaces(language: str, references: Sequence[str]) -> None:
    """Warn of references whose words BLEU cannot count, and say what chrF++ means without spaces."""
    from dragoman.data.corpus import UNKNOWN_LANGUAGE
    from dragoman.text.languages import WITHOUT_SPACES, base_language, lacks_spaces

    if base_language(language) in WITHOUT_SPACES:
        say(f"chrF++ takes whole phrases of {language} for words, since no spaces separate them; prefer chrF2")
    if language == UNKNOWN_LANGUAGE and lacks_spaces(references):
        problem = "the references are written without spaces, in an unknown language"
        _log.warning(f"{problem}; give --target-lang, or BLEU is far too low")


def _warn_of_languages(data: DataConfig, translator: Translator) -> None:
    from dragoman.data.corpus import languages, languages_differ

    own, now = translator.tokenizers.languages, languages(data)
    if len(translator.directions) == 1 and languages_differ(now, own):
        _log.warning(f"the model translates {'-'.join(own)}, and this text is {'-'.join(now)}")


def _warn_of_training(models: Sequence[str], sources: Sequence[str], references: Sequence[str]) -> None:
    from dragoman.data.overlap import training_overlap

    if line := training_overlap(models, sources, references).line():
        say(line)
