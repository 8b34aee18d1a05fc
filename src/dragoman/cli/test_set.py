"""The test set that `evaluate` and `tune` score a model on, and warnings about it."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dragoman.cli.option_groups import LanguageOptions, TextOptions, given_options
from dragoman.cli.options import Recipe, option
from dragoman.cli.streams import say
from dragoman.cli.test_texts import SplitName
from dragoman.cli.training_settings import known_languages, readable
from dragoman.errors import counted

if TYPE_CHECKING:
    from dragoman.cli.test_texts import FoundText
    from dragoman.data.parallel_text import ParallelText
    from dragoman.translator import Translator
    from dragoman.translator.options import LanguageOptions as Direction

_log = logging.getLogger(__name__)

M30k = Annotated[bool, option("Add M30k-BLEU, the score of the Multi30k literature.", "--m30k")]
Split = Annotated[
    SplitName | None,
    option("Part of a corpus. Default: test; for `tune` validation.", "--split"),
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

    name: str  # of a direction among several; "" for the only one
    text: ParallelText
    sources: list[str]
    references: list[str]
    language: str  # of the references
    #: The direction to translate in, for a model of several.
    direction: Direction
    #: Tokenised references for M30k-BLEU, if it is wanted.
    m30k_references: Sequence[str] | None


def read_test_set(
    options: TestSetOptions, models: Sequence[str], translator: Translator, *, default: SplitName
) -> TestSet:
    """Read the text that the options name, as `read_test_sets`, in one direction.

    Raises:
        typer.BadParameter: it has several.
    """
    first, *others = read_test_sets(options, models, translator, default=default)
    if others:
        names = ", ".join(test.name for test in (first, *others))
        raise typer.BadParameter(f"the text has several directions ({names}); give --source-lang and --target-lang")
    return first


def read_test_sets(
    options: TestSetOptions, models: Sequence[str], translator: Translator, *, default: SplitName
) -> list[TestSet]:
    """Read the text that the options name, each direction by itself, and warn if its scores would mislead.

    Args:
        default: the part of a corpus that is read without --split.

    Raises:
        ConfigError: no text is named, the corpus has no such part, or the model does not translate in its direction.
        DataError: a file cannot be read.
    """
    from dragoman.cli.test_texts import find_texts

    split: SplitName = options.split or default
    tests = [
        _read(found, options, translator, split)
        for found in find_texts(options.data, options.recipe, split, models, translator)
    ]
    if split == "test":
        for test in tests:
            _warn_of_training(models, test.sources, test.references)
    return tests


def _read(found: FoundText, options: TestSetOptions, translator: Translator, split: SplitName) -> TestSet:
    from dragoman.data import multi30k
    from dragoman.evaluation.evaluation import m30k_references
    from dragoman.text.tags import SEVERAL, UNKNOWN, split_tags

    pairs = readable(found.text)
    if "pairs" in found.text.files:
        pairs = (pair for pair in pairs if any(pair))  # a blank line of a table is no pair
    sources, references = map(list, list(zip(*pairs, strict=True)) or [(), ()])
    named_language = options.languages.target_lang or translator.tokenizers.target_lang
    language = found.languages[1] if named_language in (UNKNOWN, SEVERAL) else named_language
    direction: Any = known_languages(found.languages) if len(translator.directions) > 1 else {}
    if direction:  # the text of a run has tags
        sources = [split_tags(source, translator.tokenizers.source.tags)[1] for source in sources]
    translator.tagged("", **direction)
    warn_of_spaces(language, references)
    own = multi30k.tokenised_references(split, language) if found.is_multi30k else None
    tokenised = m30k_references(references, language, own) if options.m30k or found.is_multi30k else None
    return TestSet(found.name, found.text, sources, references, language, direction, tokenised)


def warn_of_length(test: TestSet, translator: Translator, *, has_perplexity: bool) -> None:
    """Warn of pairs that the model cannot read whole."""
    pairs = zip(test.sources, test.references, strict=True)
    if n_too_long := sum(not translator.fits(*pair, **test.direction) for pair in pairs):
        problem = (
            f"{counted(n_too_long, 'pair is', 'pairs are')} longer than the {translator.max_length} tokens of the model"
        )
        left_out = "they have no part in the perplexity, and " if has_perplexity else ""
        _log.warning(f"{problem}; {left_out}a source that is longer is translated in parts")


def warn_of_spaces(language: str, references: Sequence[str]) -> None:
    """Warn of references whose words BLEU cannot count, and say what chrF++ means without spaces."""
    from dragoman.text.languages import WITHOUT_SPACES, base_language, lacks_spaces
    from dragoman.text.tags import UNKNOWN

    if base_language(language) in WITHOUT_SPACES:
        say(f"chrF++ takes whole phrases of {language} for words, since no spaces separate them; prefer chrF2")
    if language == UNKNOWN and lacks_spaces(references):
        problem = "the references are written without spaces, in an unknown language"
        _log.warning(f"{problem}; give --target-lang, or BLEU is far too low")


def _warn_of_training(models: Sequence[str], sources: Sequence[str], references: Sequence[str]) -> None:
    from dragoman.bundle.finding import model_path
    from dragoman.data.overlap import training_overlap

    paths = [path for path in map(model_path, models) if path is not None]
    if line := training_overlap(paths, sources, references).line():
        say(line)
