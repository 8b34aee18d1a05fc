"""`dragoman inspect`: looking inside a trained model."""

from __future__ import annotations

import typer

from dragoman.cli.options import EachModel

inspect = typer.Typer(no_args_is_help=True, help="Look inside a trained model.")


@inspect.callback()
def _group() -> None:
    """A group, even while it has a single command."""


@inspect.command("model")
def inspect_model(model: EachModel) -> None:
    """Print the tree of modules, with shapes and parameter counts."""
    from dragoman.bundle import load_bundle

    for name in model:
        print(load_bundle(name).model)
