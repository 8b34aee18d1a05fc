"""`dragoman evaluate`: score a model on a test set."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

from dragoman.cli.grouping import with_groups
from dragoman.cli.option_groups import EngineOptions, SearchFlags
from dragoman.cli.options import AsJson, Models, Overwrite, Sentences, option
from dragoman.cli.streams import print_result, result_lines
from dragoman.cli.test_set import TestSetOptions, read_test_sets, warn_of_length

if TYPE_CHECKING:
    from dragoman.cli.test_set import TestSet
    from dragoman.evaluation.evaluation import Evaluation
    from dragoman.evaluation.perturbed import PerturbedScores
    from dragoman.translator import Translator


@with_groups
def evaluate(
    model: Models,
    options: TestSetOptions,
    search: SearchFlags,
    engine: EngineOptions,
    sentences: Sentences = None,
    perturb: Annotated[
        str | None,
        option(
            "Also score the test set as people type it: upper, title, lower, no-mark, typos, separated by commas; "
            "or all.",
            metavar="NAMES",
        ),
    ] = None,
    output: Annotated[Path | None, option("Write the translations here.", "--output", "-o")] = None,
    overwrite: Overwrite = False,
    as_json: AsJson = False,
) -> None:
    """Score a model on a test set.

    BLEU, chrF2, chrF++, exact match and perplexity; with --perturb, the cost of capitals, typos and the like. The test
    set is a corpus known by name, two files, or a recipe's; without any, --split validation reads the validation text
    of a run. A text of several directions has a line for each, and their mean. See also `compare-outputs`, for
    translations that exist, and `tune`, for settings of the search.

    \b
    dragoman evaluate -m runs/my --source test.en --target test.de
    """
    options.refuse_contradictions()
    from dragoman.evaluation.perturbed import known_perturbations

    names = known_perturbations(perturb.split(",")) if perturb is not None else []
    with contextlib.ExitStack() as stack:
        translator = engine.load(model)
        tests = read_test_sets(options, model, translator, default="test")
        inputs = [file for test in tests for file in test.text.files.values()]
        write = stack.enter_context(result_lines(output, overwrite=overwrite, inputs=inputs)) if output else None
        settings: Any = {**asdict(search), "sentences": sentences, "batch_size": engine.batch_size}
        results = [_evaluate(translator, test, names, settings) for test in tests]
        if write is not None:
            for translation in (each for result in results for each in result.evaluation.translations):
                write(translation)
    if as_json:
        print_result(_json_of_all(results))
    else:
        _print(results)


class _Results(NamedTuple):
    """The scores of one direction; its name is "" if it is the only one."""

    name: str
    evaluation: Evaluation
    perturbed: list[PerturbedScores]


def _evaluate(translator: Translator, test: TestSet, perturbations: Sequence[str], settings: Any) -> _Results:
    from dragoman.evaluation.evaluation import evaluate
    from dragoman.evaluation.perturbed import evaluate_perturbed

    warn_of_length(test, translator, has_perplexity=True)
    settings = {**settings, **test.direction, "language": test.language}
    texts = test.sources, test.references
    results = evaluate(translator, *texts, m30k_references=test.m30k_references, **settings)
    perturbed = evaluate_perturbed(translator, *texts, results, perturbations, **settings) if perturbations else []
    return _Results(test.name, results, perturbed)


def _print(results: Sequence[_Results]) -> None:
    from dragoman.cli.metric_tables import directions_table, evaluation_table, perturbation_table, signature_lines

    first = results[0].evaluation
    if len(results) == 1:
        print_result(evaluation_table(first))
        print_result(signature_lines(first.metrics))
    else:
        print_result(directions_table({each.name: each.evaluation for each in results}))
        every = (metric for each in results for metric in each.evaluation.metrics)
        print_result(signature_lines(list({metric.signature: metric for metric in every}.values())))
    for each in results:
        if each.perturbed:
            print_result(perturbation_table(each.perturbed, each.name))


def _json_of_all(results: Sequence[_Results]) -> str:
    """Return a JSON object, or a list of them, with the directions, if there are several."""
    if len(results) == 1:
        return _json(results[0].evaluation, results[0].perturbed)
    texts = [(each.name, json.loads(_json(each.evaluation, each.perturbed))) for each in results]
    return json.dumps([{"direction": name, **values} for name, values in texts], ensure_ascii=False)


def _json(results: Evaluation, perturbed: Sequence[PerturbedScores] = ()) -> str:
    """Return the results as one JSON object, without the translations."""
    values = {**asdict(results), "search": results.search.model_dump()}
    del values["translations"]
    if perturbed:
        values["perturbed"] = [asdict(scores) for scores in perturbed]
    return json.dumps(values, ensure_ascii=False)
