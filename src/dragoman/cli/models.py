"""`dragoman models`: the models that are found by their names."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import typer

from dragoman.cli.options import AsJson
from dragoman.cli.streams import print_result, say

if TYPE_CHECKING:
    from rich.table import Table

    from dragoman.bundle.model_list import ListedModel


def models(as_json: AsJson = False) -> None:
    """List the installed models, their sizes and their terms.

    Each name stands wherever a model is named (-m). Own models are named by their folders and are not in the list.
    The exit code is 1 if a model is damaged.
    """
    from dragoman.bundle.finding import model_path
    from dragoman.bundle.model_list import list_models
    from dragoman.bundle.named_models import CAPTION_MODELS, fetched_models, installing_advice

    listed = list_models()
    print_result(json.dumps([_row(model) for model in listed], ensure_ascii=False) if as_json else _table(listed))
    for model in listed:
        if model.problem is not None:
            say(f"{model.name} cannot be used: {model.problem}")
        if (path := model_path(model.name)) is not None:
            say(f"{path.absolute()} comes before the installed model of that name")
    if (fetched := next(iter(fetched_models().values()), None)) is not None:
        say(f"models that were fetched are in {fetched.parent}; to remove one, remove its folder")
    if missing := [name for name in CAPTION_MODELS if name not in {model.name for model in listed}]:
        say(f"not installed, for non-commercial use: {', '.join(missing)}; {installing_advice(missing[0])}")
    if any(model.problem is not None for model in listed):
        raise typer.Exit(1)


def _row(model: ListedModel) -> dict[str, Any]:
    return {
        "name": model.name,
        "directions": [list(direction) for direction in model.directions],
        "bytes": model.n_bytes,
        "parameters": model.n_parameters,
        "license": model.terms.license,
        "license_link": model.terms.license_link,
        "commercial_use": model.terms.commercial_use,
        "folder": str(model.folder),
        "problem": model.problem,
    }


def _table(listed: list[ListedModel]) -> Table:
    from rich.table import Column, Table
    from rich.text import Text

    from dragoman.errors import printable

    numbers = (Column(name, justify="right", no_wrap=True) for name in ("size", "parameters"))
    table = Table("model", "languages", *numbers, "terms")
    for model in listed:
        size, parameters = f"{model.n_bytes / 1e6:.1f} MB", f"{model.n_parameters / 1e6:.1f} M"
        texts = [model.name, _languages(model), size, parameters, model.terms.describe().replace(": ", ":\n")]
        if model.problem is not None:
            texts[1:4] = ["damaged", size, ""]
        table.add_row(*(Text(printable(text)) for text in texts))
    return table


def _languages(model: ListedModel) -> str:
    """Return a line for each direction; both directions of a pair share one."""
    lines = {}
    for source, target in model.directions:
        if f"{target} to {source}" in lines:
            lines[f"{target} to {source}"] = f"{target} and {source}"
        else:
            lines[f"{source} to {target}"] = f"{source} to {target}"
    return "\n".join(lines.values())
