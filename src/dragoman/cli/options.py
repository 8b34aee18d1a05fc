"""Options that several commands share. A name means the same in every command."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from typer.core import TyperCommand, TyperOption
from typer.exceptions import TyperException

from dragoman.cli.hints import stray_hint

InvalidUtf8 = Literal["error", "replace"]


class Command(TyperCommand):
    """A command that refuses an option given twice, unless it takes several values.

    Without this, the first of two --source would be dropped silently. For words that
    belong to no option, the error shows the right command.
    """

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """Return the parts of the usage line; a required argument is shown as FILE and not as {FILE}."""
        return [re.sub(r"\A\{(\w+)\}", r"\1", piece) for piece in super().collect_usage_pieces(ctx)]

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the arguments; first refuse repeated options and words that belong to none."""
        try:
            values, stray, order = self.make_parser(ctx).parse_args(args=list(args))
        except TyperException as error:
            if getattr(error, "ctx", None) is None:  # the parser forgets it if an option lacks its value
                error.ctx = ctx  # type: ignore[attr-defined]
            raise
        if stray:
            positional = [values.get(part.name) for part in self.params if part.param_type_name == "argument"]
            words = [*(str(value) for value in positional if isinstance(value, str)), *stray]
            model = next((values.get(parameter.name) for parameter in self.params if "--model" in parameter.opts), None)
            models = [model] if isinstance(model, str) else model or []
            options = {option for parameter in self.params for option in parameter.opts}
            problem = f"unexpected argument{'s' if len(stray) > 1 else ''} {shlex.join(stray)}"
            hint = stray_hint(ctx.command_path, words, options, models)
            raise typer.BadParameter(f"{problem}; {hint}", ctx=ctx)
        for option in self.params:
            if isinstance(option, TyperOption) and not (option.multiple or option.is_flag) and order.count(option) > 1:
                raise typer.BadParameter(f"{option.opts[0]} is given more than once; it takes one value", ctx=ctx)
        return super().parse_args(ctx, args)


def option(help: str, *names: str, **more: Any) -> Any:
    """Return an option; without names, it is called as its parameter or its field."""
    return typer.Option(*names, help=help, **more)


MODEL_HELP = "A bundle, a run folder (its best), or a model that is installed (everyday) or fetched by `dragoman get`"


def model_option(more: str = "") -> Any:
    """Return the option --model, with more to say about it."""
    return option(f"{MODEL_HELP}{more}.", "--model", "-m", metavar="MODEL", show_default=False)


#: Several make an ensemble.
Models = Annotated[list[str], model_option("; several make an ensemble")]
#: Several are examined one after the other.
EachModel = Annotated[list[str], model_option("; may be repeated")]
#: For commands about one model.
OneModel = Annotated[str, model_option()]
Device = Annotated[str, option("auto, cpu, cuda, cuda:<n> or mps.", metavar="DEVICE")]
BatchSize = Annotated[
    int | None, option("Source tokens, padding included, at once; default: chosen for the device.", min=1)
]
NewFolder = Annotated[Path, option("The new bundle.", "--output", "-o", show_default=False)]
Stored = Annotated[
    Literal["float32", "float16", "int8"],
    option("Precision of the weights on disk: float16 has half the size, int8 a quarter.", "--precision"),
]
Overwrite = Annotated[bool, option("Replace an output that exists.", "--overwrite")]
Utf8 = Annotated[InvalidUtf8, option("Refuse text that is not UTF-8, or replace it by U+FFFD.")]
DropInvalid = Annotated[
    Literal["error", "drop"] | None,
    option("Stop at pairs that are not UTF-8 (default), or drop them.", "--invalid-utf8"),
]
AsJson = Annotated[bool, option("JSON for programs.", "--json")]
BeamSize = Annotated[int | None, option("Hypotheses kept; 1 is greedy search.", min=1)]
LengthPenalty = Annotated[float | None, option("Larger prefers longer translations.")]
Sentences = Annotated[
    bool | None,
    option(
        "Translate each sentence of a line by itself, or lines whole; default: as in the training text.",
        "--sentences/--no-sentences",
    ),
]
Recipe = Annotated[Path | None, typer.Argument(help="A YAML recipe; optional.", show_default=False)]
_LANGUAGE = "Such as {}. Default: the file's suffix, or the corpus's own."
SourceLang = Annotated[str | None, option(_LANGUAGE.format("en"), metavar="CODE")]
TargetLang = Annotated[str | None, option(_LANGUAGE.format("de"), metavar="CODE")]
FromLang = Annotated[
    str | None, option("The language of the text, such as en, for a model of several.", "--source-lang", metavar="CODE")
]
IntoLang = Annotated[
    str | None, option("The language to translate into, for a model of several.", "--target-lang", metavar="CODE")
]
Portable = Annotated[
    bool, option("Choose a shape that all other programs can hold: see `dragoman export`.", "--portable")
]
Augment = Annotated[
    bool,
    option(
        "Change some pairs of the training text, so that the model reads typing errors and keeps names.", "--augment"
    ),
]
Time = Annotated[
    str | None,
    option(
        "Train for about so long on this machine, such as 90s, 30m or 1h30m, all starts of the run together. "
        "The length is chosen to fit; the default fits the corpus.",
        "--time",
        show_default=False,
    ),
]
Settings = Annotated[
    list[str] | None, option("Override a setting, e.g. training.lr=0.002.", "--set", metavar="KEY=VALUE")
]
