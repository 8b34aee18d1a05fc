"""`dragoman evaluate`: score a model on a test set."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dragoman.cli.grouping import with_groups
from dragoman.cli.option_groups import EngineOptions, SearchFlags
from dragoman.cli.options import AsJson, Models, Overwrite, Sentences
from dragoman.cli.streams import WriteLine, print_result, result_lines
from dragoman.cli.test_set import TestSetOptions, read_test_set, warn_of_length

if TYPE_CHECKING:
    from dragoman.evaluation.evaluation import Evaluation
    from dragoman.evaluation.perturbed import PerturbedScores


Output = Annotated[Path | None, typer.Option("--output", "-o", help="Write the translations here.")]
Perturb = Annotated[
    str | None,
    typer.Option(
        "--perturb",
        metavar="NAMES",
        help="Also score the test set as people type it: upper, title, lower, no-mark, marks, typos, emoji, quotes, "
        "dashes, spaces, separated by commas; or all.",
    ),
]


@with_groups
def evaluate(
    model: Models,
    options: TestSetOptions,
    search: SearchFlags,
    engine: EngineOptions,
    sentences: Sentences = None,
    perturb: Perturb = None,
    output: Output = None,
    overwrite: Overwrite = False,
    as_json: AsJson = False,
) -> None:
    """Score a model on a test set.

    BLEU, chrF2, chrF++, exact match and perplexity; with --perturb, the cost of capitals, typos and the like. The test
    set is a corpus known by name, two files, or a recipe's; without any, --split validation reads the validation text
    of a run. See also `compare-outputs`, for translations that exist, and `tune`, for settings of the search.

    \b
    dragoman evaluate -m runs/my --source test.en --target test.de
    """
    options.refuse_contradictions()
    from dragoman.evaluation.evaluation import evaluate
    from dragoman.evaluation.perturbed import evaluate_perturbed, known_perturbations

    names = known_perturbations(perturb.split(",")) if perturb is not None else []
    with contextlib.ExitStack() as stack:
        translator = engine.load(model)
        test = read_test_set(options, model, translator, default="test")
        inputs = test.text.files.values()
        write = stack.enter_context(result_lines(output, overwrite=overwrite, inputs=inputs)) if output else None
        warn_of_length(test, translator, has_perplexity=True)
        settings: Any = {**asdict(search), "sentences": sentences, "batch_size": engine.batch_size}
        settings["language"] = test.language
        texts = test.sources, test.references
        results = evaluate(translator, *texts, m30k_references=test.m30k_references, **settings)
        if write is not None:
            _write_lines(write, results)
        perturbed = evaluate_perturbed(translator, *texts, results, names, **settings) if names else []
    _print(results, perturbed, as_json=as_json)


def _write_lines(write: WriteLine, results: Evaluation) -> None:
    for translation in results.translations:
        write(translation)


def _print(results: Evaluation, perturbed: Sequence[PerturbedScores], *, as_json: bool) -> None:
    from dragoman.cli.metric_tables import evaluation_table, perturbation_table, signature_lines

    if as_json:
        print_result(_json(results, perturbed))
        return
    print_result(evaluation_table(results))
    print_result(signature_lines(results.metrics))
    if perturbed:
        print_result(perturbation_table(perturbed))


def _json(results: Evaluation, perturbed: Sequence[PerturbedScores] = ()) -> str:
    """Return the results as one JSON object, without the translations."""
    values = {**asdict(results), "search": results.search.model_dump()}
    del values["translations"]
    if perturbed:
        values["perturbed"] = [asdict(scores) for scores in perturbed]
    return json.dumps(values, ensure_ascii=False)
