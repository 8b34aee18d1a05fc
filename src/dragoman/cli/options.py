"""Options that several commands share. A name means the same in every command."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from typer.core import TyperCommand, TyperOption

from dragoman.cli.hints import stray_hint
from dragoman.machine import devices

InvalidUtf8 = Literal["error", "replace"]


class Command(TyperCommand):
    """A command that refuses an option given twice, unless it takes several values.

    Without this, the first of two --source would be dropped silently. For words that
    belong to no option, the error shows the right command.
    """

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the arguments; first refuse repeated options and words that belong to none."""
        values, stray, order = self.make_parser(ctx).parse_args(args=list(args))
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


MODEL_HELP = "A bundle, a run folder (its best), or an installed model, such as everyday"

#: Several make an ensemble.
Models = Annotated[
    list[str],
    typer.Option("--model", "-m", metavar="MODEL", help=f"{MODEL_HELP}; several make an ensemble.", show_default=False),
]
#: Several are examined one after the other.
EachModel = Annotated[
    list[str],
    typer.Option("--model", "-m", metavar="MODEL", help=f"{MODEL_HELP}; may be repeated.", show_default=False),
]
#: For commands about one model.
OneModel = Annotated[str, typer.Option("--model", "-m", metavar="MODEL", help=f"{MODEL_HELP}.", show_default=False)]
Device = Annotated[str, typer.Option("--device", help="auto, cpu, cuda, cuda:<n> or mps.")]
BatchSize = Annotated[
    int | None,
    typer.Option(
        "--batch-size", min=1, help="Source tokens, padding included, at once; default: chosen for the device."
    ),
]
Workers = Annotated[
    int | None,
    typer.Option("--workers", min=1, help="Processes that search at once; default: all cores, for a file on a CPU."),
]
Precision = Annotated[
    devices.Precision,
    typer.Option(
        "--precision",
        help="bfloat16 and int8 (CPU only) are less exact, and faster on processors that support them.",
    ),
]
NoShortList = Annotated[
    bool, typer.Option("--no-short-list", help="Score all tokens, even if the model has a short-list.")
]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace an output that exists.")]
Utf8 = Annotated[
    InvalidUtf8, typer.Option("--invalid-utf8", help="Refuse text that is not UTF-8, or replace it by U+FFFD.")
]
DropInvalid = Annotated[
    Literal["error", "drop"] | None,
    typer.Option("--invalid-utf8", help="Stop at pairs that are not UTF-8 (default), or drop them."),
]
AsJson = Annotated[bool, typer.Option("--json", help="JSON for programs.")]

BeamSize = Annotated[int | None, typer.Option("--beam-size", min=1, help="Hypotheses kept; 1 is greedy search.")]
LengthPenalty = Annotated[float | None, typer.Option("--length-penalty", help="Larger prefers longer translations.")]
MaxLength = Annotated[
    int | None, typer.Option("--max-length", min=1, help="Cut translations to this many tokens, the end mark included.")
]
MinLength = Annotated[int | None, typer.Option("--min-length", min=0, help="Shortest translation, in tokens.")]
NoRepeatNgram = Annotated[
    int | None, typer.Option("--no-repeat-ngram", min=0, help="Write no sequence of this many tokens twice.")
]
RepetitionPenalty = Annotated[
    float | None,
    typer.Option(
        "--repetition-penalty", min=1, help="Above 1: make tokens that the translation already has less probable."
    ),
]
Sentences = Annotated[
    bool | None,
    typer.Option(
        "--sentences/--no-sentences",
        help="Translate each sentence of a line by itself, or lines whole; default: as in the training text.",
    ),
]
Prefix = Annotated[str | None, typer.Option("--prefix", help="Begin each translation with these words.")]
Protect = Annotated[
    list[str] | None,
    typer.Option(
        "--protect",
        metavar="RULE",
        help="Keep what a regular expression finds, or a preset: printf, urls, code, mentions, emoji, rst. Repeatable.",
    ),
]
Doubts = Annotated[bool, typer.Option("--doubts", help="Mark doubtful words: [?word]; --json numbers them.")]
MinConfidence = Annotated[
    float | None,
    typer.Option("--min-confidence", min=0, max=1, metavar="0..1", help="Leave a text as it is below this confidence."),
]
Plain = Annotated[
    bool,
    typer.Option("--plain", help="Return what the model says: nothing is read into the text, checked or repaired."),
]
Off = Annotated[
    list[str] | None,
    typer.Option(
        "--off",
        metavar="NAME",
        help="Switch a check off, and what it repairs: numbers or spans. Repeatable.",
    ),
]
Terms = Annotated[
    Path | None,
    typer.Option(
        "--terms",
        metavar="FILE",
        help="A term list, TBX, CSV or TSV: source, target (several with | between them, Vertrag* for a beginning), "
        "do-not-translate, case.",
    ),
]
Sample = Annotated[bool, typer.Option("--sample", help="Draw from the model instead of searching.")]
Temperature = Annotated[float | None, typer.Option("--temperature", help="Lower is closer to greedy.")]
TopK = Annotated[int | None, typer.Option("--top-k", min=0, help="Draw from the k most probable tokens.")]
TopP = Annotated[
    float | None,
    typer.Option(
        "--top-p", min=0, max=1, help="Draw from the most probable tokens that together have this probability."
    ),
]
SampleSeed = Annotated[int | None, typer.Option("--seed", help="The same seed gives the same draws.")]

Recipe = Annotated[Path | None, typer.Argument(help="A YAML recipe; optional.", show_default=False)]
Corpus = Annotated[
    str | None,
    typer.Option("--corpus", help="A corpus known by name: multi30k, captions, captions-zh, copy, reverse, sort."),
]
Source = Annotated[str | None, typer.Option("--source", help="Source text, one sentence a line (.gz, .bz2, .xz too).")]
Target = Annotated[str | None, typer.Option("--target", help="Target text, line by line with the source.")]
Pairs = Annotated[
    str | None, typer.Option("--pairs", help="Both in one file: a table (TSV, CSV), JSONL, TMX or PO, compressed too.")
]
Columns = Annotated[
    str | None,
    typer.Option(
        "--columns",
        metavar="SOURCE,TARGET",
        help="The two columns in files of pairs, by number or name: 2,4 or en,de. Default: by header or content.",
    ),
]
ValidationSource = Annotated[
    str | None, typer.Option("--validation-source", help="Validation text; some is held out if there is none.")
]
ValidationTarget = Annotated[str | None, typer.Option("--validation-target", help="Its translation.")]
ValidationPairs = Annotated[
    str | None, typer.Option("--validation-pairs", help="Validation text and its translation in one file.")
]
SourceLang = Annotated[
    str | None,
    typer.Option("--source-lang", metavar="CODE", help="Such as en. Default: the file's suffix, or the corpus's own."),
]
TargetLang = Annotated[
    str | None,
    typer.Option("--target-lang", metavar="CODE", help="Such as de. Default: the file's suffix, or the corpus's own."),
]
FromLang = Annotated[
    str | None,
    typer.Option("--source-lang", metavar="CODE", help="The language of the text, such as en, for a model of several."),
]
IntoLang = Annotated[
    str | None,
    typer.Option("--target-lang", metavar="CODE", help="The language to translate into, for a model of several."),
]
Portable = Annotated[
    bool, typer.Option("--portable", help="Choose a shape that all other programs can hold: see `dragoman export`.")
]
Augment = Annotated[
    bool,
    typer.Option(
        "--augment",
        help="Change some pairs of the training text, so that the model reads typing errors and keeps names.",
    ),
]
Time = Annotated[
    str | None,
    typer.Option(
        "--time",
        help="Train for about so long on this machine, such as 90s, 30m or 1h30m, all starts of the run together. "
        "The length is chosen to fit; the default fits the corpus.",
        show_default=False,
    ),
]
Settings = Annotated[
    list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="Override a setting, e.g. training.lr=0.002.")
]
