"""`dragoman evaluate`: score a model on a test set."""

from __future__ import annotations

import contextlib
import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dragoman.cli.grouping import with_groups
from dragoman.cli.option_groups import EngineOptions, SearchFlags
from dragoman.cli.options import AsJson, Models, Overwrite, Sentences
from dragoman.cli.streams import print_result, result_lines
from dragoman.cli.test_set import TestSetOptions, read_test_set, warn_of_length

if TYPE_CHECKING:
    from dragoman.evaluation.evaluation import Evaluation


Output = Annotated[Path | None, typer.Option("--output", "-o", help="Write the translations here.")]


@with_groups
def evaluate(
    model: Models,
    options: TestSetOptions,
    search: SearchFlags,
    engine: EngineOptions,
    sentences: Sentences = None,
    output: Output = None,
    overwrite: Overwrite = False,
    as_json: AsJson = False,
) -> None:
    """Score a model on a test set.

    BLEU, chrF2, chrF++, exact match and perplexity. The test set is a corpus known by name, two files, or a recipe's;
    without any, --split validation reads the validation text of a run. See also `compare-outputs`, for translations
    that exist, and `tune`, for settings of the search.

    \b
    dragoman evaluate -m runs/my --source test.en --target test.de
    """
    options.refuse_contradictions()
    from dragoman.cli.metric_tables import evaluation_table, signature_lines
    from dragoman.evaluation.evaluation import evaluate

    with contextlib.ExitStack() as stack:
        translator = engine.load(model)
        test = read_test_set(options, model, translator, default="test")
        inputs = test.text.files.values()
        write = stack.enter_context(result_lines(output, overwrite=overwrite, inputs=inputs)) if output else None
        warn_of_length(test, translator, has_perplexity=True)
        settings: Any = {**asdict(search), "sentences": sentences, "batch_size": engine.batch_size}
        settings |= {"language": test.language, "m30k_references": test.m30k_references}
        results = evaluate(translator, test.sources, test.references, **settings)
        if write is not None:
            for translation in results.translations:
                write(translation)
    if as_json:
        print_result(_json(results))
    else:
        print_result(evaluation_table(results))
        print_result(signature_lines(results.metrics))


def _json(results: Evaluation) -> str:
    """Return the results as one JSON object, without the translations."""
    values = {**asdict(results), "search": results.search.model_dump()}
    del values["translations"]
    return json.dumps(values, ensure_ascii=False)
