"""`dragoman tune`: find the value of a search setting that is best on validation text."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dragoman.cli.grouping import with_groups
from dragoman.cli.option_groups import EngineOptions, SearchFlags, given_options
from dragoman.cli.options import AsJson, Models, Sentences, option
from dragoman.cli.streams import print_result
from dragoman.cli.test_set import TestSetOptions, read_test_set, warn_of_length
from dragoman.errors import ConfigError

if TYPE_CHECKING:
    from dragoman.evaluation.metrics import Metric


@with_groups
def tune(
    model: Models,
    vary: Annotated[
        list[str],
        option("A search setting and its values, e.g. beam_size=1,5.", metavar="KEY=VALUE,VALUE", show_default=False),
    ],
    options: TestSetOptions,
    search: SearchFlags,
    engine: EngineOptions,
    sentences: Sentences = None,
    as_json: AsJson = False,
) -> None:
    """Score each value of a search setting on validation text.

    Without any text, it reads the validation text of the run. Choose a value on validation text, and report its score
    on other text: the best of several values scores too well on the text that chose it.

    \b
    dragoman tune -m runs/my --vary length_penalty=0,0.6,1
    dragoman tune -m everyday --source my.en --target my.de \\
        --vary beam_size=1,5,10
    """
    if len(vary) > 1:
        raise typer.BadParameter("one --vary at a time")
    fixed = {**given_options(search), "sentences": sentences, "batch_size": engine.batch_size}
    key, settings = _settings(vary[0], fixed)
    options.refuse_contradictions()
    from dragoman.cli.metric_tables import tuning_table
    from dragoman.evaluation.evaluation import vary_search

    translator = engine.load(model)
    test = read_test_set(options, model, translator, default="validation")
    warn_of_length(test, translator, has_perplexity=False)
    scores = vary_search(
        translator,
        test.sources,
        test.references,
        [each | test.direction for each in settings],
        language=test.language,
        m30k_references=test.m30k_references,
    )
    values = [varied[key] for varied in settings]
    print_result(_json(key, values, scores) if as_json else tuning_table(key, values, scores))


def _settings(vary: str, options: dict[str, Any]) -> tuple[str, list[Any]]:
    """Return the setting that `key=value,value` names, and the options with each of its values."""
    from dragoman.settings.recipe import override_settings, parse_vary
    from dragoman.settings.search_config import SearchConfig

    key, values = parse_vary(vary, "length_penalty=0,0.6,1")
    if key not in SearchConfig.model_fields:
        advice = f"choose one of {', '.join(SearchConfig.model_fields)}"
        raise ConfigError(f"{key!r} is no setting of the search", advice=advice)
    if key in options:
        raise typer.BadParameter(f"--{key.replace('_', '-')} has no effect with --vary {key}; leave it out")
    settings = []
    for value in values:
        varied = dict(options)
        override_settings(varied, [f"{key}={value}"])
        settings.append(varied)
    return key, settings


def _json(key: str, values: Sequence[Any], scores: Sequence[Sequence[Metric]]) -> str:
    rows = [{key: value, "metrics": list(map(asdict, metrics))} for value, metrics in zip(values, scores, strict=True)]
    return json.dumps(rows, ensure_ascii=False)
