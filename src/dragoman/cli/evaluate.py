"""`dragoman evaluate`: score a model on a test set."""

from __future__ import annotations

import contextlib
import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dragoman.cli.grouping import with_groups
from dragoman.cli.option_groups import EngineOptions, LanguageOptions, SearchFlags, TextOptions
from dragoman.cli.options import AsJson, Models, Overwrite, Recipe, Sentences
from dragoman.cli.streams import print_result, result_lines
from dragoman.cli.test_set import M30k, Request, Split, read_test_set, refuse_options, warn_of_length

if TYPE_CHECKING:
    from dragoman.evaluation.evaluation import Evaluation


@with_groups
def evaluate(
    context: typer.Context,
    model: Models,
    text: TextOptions,
    languages: LanguageOptions,
    search: SearchFlags,
    engine: EngineOptions,
    recipe: Recipe = None,
    split: Split = "test",
    m30k: M30k = False,
    sentences: Sentences = None,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Write the translations here.")] = None,
    overwrite: Overwrite = False,
    as_json: AsJson = False,
) -> None:
    """Score a model on a test set.

    BLEU, chrF2, exact match and perplexity. The test set is a corpus known by name, two files, or a recipe's; without
    any, --split validation is the text by which a run chose its best. See also `compare-outputs`, for translations that
    exist, and `tune`, for settings of the search.

    \b
    dragoman evaluate -m runs/my --source test.en --target test.de
    """
    request = Request(recipe, text, languages, split, m30k)
    if request.has_files:
        refuse_options(context, {"recipe", "split"}, "--source, --target or --pairs")
    from dragoman.cli.metric_tables import evaluation_table
    from dragoman.evaluation.evaluation import evaluate

    with contextlib.ExitStack() as stack:
        translator = engine.load(model)
        test = read_test_set(request, model, translator)
        inputs = test.text.files.values()
        write = stack.enter_context(result_lines(output, overwrite=overwrite, inputs=inputs)) if output else None
        warn_of_length(test, translator, has_perplexity=True)
        results = evaluate(
            translator,
            test.sources,
            test.references,
            language=test.language,
            m30k_references=test.m30k_references,
            sentences=sentences,
            batch_size=engine.batch_size,
            **asdict(search),
        )
        if write is not None:
            for translation in results.translations:
                write(translation)
    print_result(_json(results) if as_json else evaluation_table(results))


def _json(results: Evaluation) -> str:
    """Return the results as one JSON object, without the translations."""
    values = {**asdict(results), "search": results.search.model_dump()}
    del values["translations"]
    return json.dumps(values, ensure_ascii=False)
