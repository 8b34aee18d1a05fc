"""`dragoman evaluate`: score a model on a test set, or compare outputs that exist."""

from __future__ import annotations

import contextlib
import json
import logging
from collections.abc import Container, Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple

import typer

from dragoman.cli.options import (
    AsJson,
    BatchSize,
    BeamSize,
    Columns,
    Corpus,
    Device,
    LengthPenalty,
    MaxLength,
    OptionalModels,
    Overwrite,
    Pairs,
    Precision,
    Recipe,
    Sentences,
    Source,
    SourceLang,
    Target,
    TargetLang,
    Workers,
)
from dragoman.cli.streams import input_lines, print_result, result_lines, say
from dragoman.cli.training_settings import readable, recipe_settings, require_text
from dragoman.errors import ConfigError

if TYPE_CHECKING:
    from dragoman.data.corpus import ParallelText
    from dragoman.evaluation.metrics import Comparison, Metric
    from dragoman.settings.data_config import DataConfig
    from dragoman.translator import SearchOptions, Translator

_log = logging.getLogger(__name__)

Split = Literal["train", "validation", "test"]


def evaluate(
    context: typer.Context,
    recipe: Recipe = None,
    model: OptionalModels = None,
    corpus: Corpus = None,
    split: Annotated[Split, typer.Option("--split", help="Which part of a corpus.")] = "test",
    source: Source = None,
    target: Target = None,
    pairs: Pairs = None,
    columns: Columns = None,
    source_lang: SourceLang = None,
    target_lang: TargetLang = None,
    hypotheses: Annotated[
        Path | None, typer.Option("--hypotheses", help="Score these translations of --target, without a model.")
    ] = None,
    baseline: Annotated[
        Path | None, typer.Option("--baseline", help="Other translations, which the hypotheses are compared with.")
    ] = None,
    vary: Annotated[
        list[str] | None,
        typer.Option(
            "--vary", metavar="KEY=VALUE,VALUE", help="Compare values of a search setting, e.g. beam_size=1,5."
        ),
    ] = None,
    m30k: Annotated[bool, typer.Option("--m30k", help="Add M30k-BLEU (always so for the corpus multi30k).")] = False,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Write the translations here.")] = None,
    overwrite: Overwrite = False,
    beam_size: BeamSize = None,
    length_penalty: LengthPenalty = None,
    max_length: MaxLength = None,
    sentences: Sentences = None,
    as_json: AsJson = False,
    batch_size: BatchSize = None,
    workers: Workers = None,
    precision: Precision = "float32",
    device: Device = "auto",
) -> None:
    """Score a model on a test set, or compare outputs.

    BLEU, chrF2, exact match and perplexity. The test set is a corpus known by name, two files, or a recipe's; without
    any, --split validation is the text by which a run chose its best. Or score --hypotheses against --target, and test
    whether they differ from a --baseline by more than chance. Or see which value of a search setting is best, on
    validation text.

    \b
    dragoman evaluate -m runs/my --source test.en --target test.de
    dragoman evaluate --hypotheses new.de --baseline old.de --target test.de
    dragoman evaluate -m runs/my --split validation --vary length_penalty=0,0.6,1
    """
    if hypotheses is not None or baseline is not None:
        if hypotheses is None or target is None:
            raise typer.BadParameter("--hypotheses, and --baseline with it, need --target")
        used = {"hypotheses", "baseline", "target", "target_lang", "as_json"} | (set() if baseline else {"m30k"})
        unused = {str(parameter.name) for parameter in context.command.params} - used
        _refuse(context, unused, "--baseline" if baseline else "--hypotheses")
        _evaluate_files(hypotheses, baseline, Path(target), target_lang, m30k, as_json)
        return
    if not model:
        raise typer.BadParameter("give --model, or --hypotheses and --target")
    if vary and output is not None:
        raise typer.BadParameter("--vary has no one output")
    if vary and len(vary) > 1:
        raise typer.BadParameter("one --vary at a time")
    if source or target or pairs:
        _refuse(context, {"recipe", "split"}, "--source, --target or --pairs")
    search: SearchOptions = {"beam_size": beam_size, "length_penalty": length_penalty, "max_length": max_length}
    variants = _variants(vary[0], search) if vary else None
    from dragoman.data.corpus import UNKNOWN_LANGUAGE
    from dragoman.evaluation.evaluation import evaluate, m30k_references, to_json, to_table, vary_search, vary_table
    from dragoman.machine.devices import all_cores
    from dragoman.translator import Translator

    origin = {"corpus": corpus, "source": source, "target": target, "pairs": pairs, "columns": columns}
    langs = {"source_lang": source_lang, "target_lang": target_lang}
    with contextlib.ExitStack() as stack:
        translator = Translator.load(*model, device=device, workers=workers or all_cores(), precision=precision)
        test = _test_set(recipe, {**origin, **langs}, split, model, translator)
        inputs = test.text.files.values()
        write = stack.enter_context(result_lines(output, overwrite=overwrite, inputs=inputs)) if output else None
        found = readable(test.text)
        if "pairs" in test.text.files:
            found = (pair for pair in found if any(pair))  # a blank line of a table is no pair
        sides = list(zip(*found, strict=True)) or [(), ()]
        sources, references = map(list, sides)
        known = target_lang or translator.tokenizers.target_lang
        language = test.language if known == UNKNOWN_LANGUAGE else known
        _warn_of_spaces(language, references)
        if split == "test":
            _warn_of_training(model, sources, references)
        own_split = split if test.is_multi30k else None
        tokenised = m30k_references(references, language, own_split) if m30k or test.is_multi30k else None
        _warn_of_length(zip(sources, references, strict=True), translator, varies=bool(variants))
        texts = sources, references
        asked: dict[str, Any] = {"batch_size": batch_size, "sentences": sentences}
        if variants:
            key, settings = variants
            scores = vary_search(translator, *texts, settings, language=language, m30k_references=tokenised, **asked)
            values = [each[key] for each in settings]
            print_result(_vary_json(key, values, scores) if as_json else vary_table(key, values, scores))
            return
        results = evaluate(translator, *texts, language=language, m30k_references=tokenised, **asked, **search)
        if write is not None:
            for translation in results.translations:
                write(translation)
    print_result(to_json(results) if as_json else to_table(results))


def _variants(vary: str, search: SearchOptions) -> tuple[str, list[dict[str, Any]]]:
    """The setting that `key=value,value` names, and the search with each of its values."""
    from dragoman.settings.recipe import override_settings, parse_vary

    key, values = parse_vary(vary, "length_penalty=0,0.6,1")
    if search.get(key) is not None:
        raise typer.BadParameter(f"--{key.replace('_', '-')} says nothing with --vary {key}; leave it out")
    settings = []
    for value in values:
        each: dict[str, Any] = {name: given for name, given in search.items() if given is not None}
        override_settings(each, [f"{key}={value}"])
        settings.append(each)
    return key, settings


def _vary_json(key: str, values: Sequence[Any], found: Sequence[Sequence[Metric]]) -> str:
    rows = [{key: value, "metrics": list(map(asdict, each))} for value, each in zip(values, found, strict=True)]
    return json.dumps(rows, ensure_ascii=False)


class _TestSet(NamedTuple):
    """Sources and references to evaluate on."""

    text: ParallelText
    language: str  # of the references
    is_multi30k: bool = False


def _test_set(
    recipe: Path | None, options: dict[str, str | None], split: Split, model: Sequence[str], translator: Translator
) -> _TestSet:
    """The text that the options name: files, a part of a corpus or recipe, or what a run was validated on."""
    from dragoman.data.corpus import UNKNOWN_LANGUAGE, available_splits, languages, read_pairs
    from dragoman.data.prepare import is_prepared, validation_text
    from dragoman.settings.data_config import DataConfig
    from dragoman.settings.sections import parse_section

    tokenizers = translator.tokenizers
    both = ("source_lang", tokenizers.source_lang), ("target_lang", tokenizers.target_lang)
    own = {key: lang for key, lang in both if lang != UNKNOWN_LANGUAGE}
    given = {key: value for key, value in options.items() if value}
    if "source" in given or "target" in given or "pairs" in given:
        # Columns and keys may be named after languages; two files tell theirs by their names.
        others = {key: lang for key, lang in own.items() if lang not in given.values()} if "pairs" in given else {}
        files = parse_section(DataConfig, others | given)
        _warn_of_languages(files, translator)
        return _TestSet(read_pairs(files, "train"), languages(files)[1])
    is_run = len(model) == 1 and is_prepared(Path(model[0]))
    if is_run and split == "validation" and recipe is None and "corpus" not in given:
        can_be_said = {"target_lang"} if tokenizers.target_lang == UNKNOWN_LANGUAGE else set()
        if given.keys() - can_be_said:
            what = "--columns says" if "columns" in given else "languages say"
            raise typer.BadParameter(f"{what} nothing of what a run was validated on; leave them out")
        return _TestSet(validation_text(Path(model[0])), tokenizers.target_lang)
    settings = recipe_settings(recipe, None, options)
    is_text_known = is_run or split == "validation"
    require_text(settings, recipe, ", or --split validation with a run folder" if is_text_known else "")
    named = available_splits(parse_section(DataConfig, settings["data"], recipe))
    if split not in named:
        advice = f"give --split {' or '.join(named)}, or --source and --target"
        raise ConfigError(f"no {split} data is given", recipe, advice=advice)
    data = parse_section(DataConfig, own | settings["data"])
    return _TestSet(read_pairs(data, split), languages(data)[1], data.corpus == "multi30k")


def _warn_of_languages(data: DataConfig, translator: Translator) -> None:
    from dragoman.data.corpus import are_others, languages

    own, now = (translator.tokenizers.source_lang, translator.tokenizers.target_lang), languages(data)
    if are_others(now, own):
        _log.warning(f"the model translates {'-'.join(own)}, and this text is {'-'.join(now)}")


def _warn_of_length(pairs: Iterable[tuple[str, str]], translator: Translator, *, varies: bool) -> None:
    if n_too_long := sum(not translator.fits(*pair) for pair in pairs):
        what = f"{n_too_long:,} pairs are longer than the {translator.max_length} tokens of the model"
        left_out = "" if varies else "they have no part in the perplexity, and "
        _log.warning(f"{what}; {left_out}a source that is longer is translated in parts")


def _warn_of_training(models: Sequence[str], sources: Sequence[str], references: Sequence[str]) -> None:
    from dragoman.data.overlap import training_overlap

    if line := training_overlap(models, sources, references).line():
        say(line)


def _warn_of_spaces(language: str, references: Sequence[str]) -> None:
    from dragoman.data.corpus import UNKNOWN_LANGUAGE
    from dragoman.text.languages import lacks_spaces

    if language == UNKNOWN_LANGUAGE and lacks_spaces(references):
        what = "the references are written without spaces, in a language that nobody named"
        _log.warning(f"{what}; give --target-lang, or BLEU is far too low")


def _refuse(context: typer.Context, unused: Container[str], with_what: str) -> None:
    """Refuse what is given but says nothing beside other options."""
    for parameter in context.command.params:
        source = context.get_parameter_source(str(parameter.name))
        if parameter.name in unused and source is not None and source.name == "COMMANDLINE":
            raise typer.BadParameter(f"{max(parameter.opts, key=len)} says nothing with {with_what}; leave it out")


def _evaluate_files(
    hypotheses: Path, baseline: Path | None, target: Path, target_lang: str | None, m30k: bool, as_json: bool
) -> None:
    from dragoman.data.formats.file_names import file_language
    from dragoman.evaluation.evaluation import comparison_table, m30k_references, metrics_table, score_all
    from dragoman.evaluation.metrics import paired_test

    language = target_lang or file_language(str(target))
    system, references = (list(input_lines(path, "error")) for path in (hypotheses, target))
    _warn_of_spaces(language, references)
    if baseline is not None:
        comparisons = paired_test(list(input_lines(baseline, "error")), system, references, language)
        print_result(_json(comparisons) if as_json else comparison_table(comparisons))
    else:
        tokenised = m30k_references(references, language) if m30k else None
        metrics = score_all(system, references, tokenised, language)
        print_result(_json(metrics) if as_json else metrics_table(metrics))


def _json(results: Sequence[Metric] | Sequence[Comparison]) -> str:
    return json.dumps([asdict(each) for each in results], ensure_ascii=False)
