"""`dragoman translate`: from standard input as it comes, from files, or at a prompt."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dragoman.cli.flags import LineWarnings
from dragoman.cli.options import (
    AsJson,
    BeamSize,
    Device,
    LengthPenalty,
    MaxLength,
    Models,
    Overwrite,
    Precision,
    Sample,
    SampleSeed,
    Sentences,
    Temperature,
    Utf8,
    Workers,
)
from dragoman.cli.streams import input_lines, result_lines, say, stdin_is_file, with_progress
from dragoman.cli.training_settings import refuse_unused

if TYPE_CHECKING:
    from dragoman.translator import Translation


#: Batches of a file that are sorted by length and shared among the workers together.
READ_AHEAD = 128


def translate(
    model: Models,
    input: Annotated[
        Path | None, typer.Option("--input", "-i", help="Plain text (.gz, .bz2, .xz too); default: standard input.")
    ] = None,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Default: standard output.")] = None,
    overwrite: Overwrite = False,
    beam_size: BeamSize = None,
    n_best: Annotated[
        int | None, typer.Option("--n-best", help="Print the n best as: id ||| text ||| features ||| score.")
    ] = None,
    length_penalty: LengthPenalty = None,
    min_length: Annotated[int | None, typer.Option("--min-length", help="Shortest translation, in tokens.")] = None,
    max_length: MaxLength = None,
    no_repeat_ngram: Annotated[
        int | None, typer.Option("--no-repeat-ngram", help="Write no sequence of so many tokens twice.")
    ] = None,
    sample: Sample = False,
    temperature: Temperature = None,
    top_k: Annotated[int | None, typer.Option("--top-k", help="Draw from the k most probable tokens.")] = None,
    top_p: Annotated[float | None, typer.Option("--top-p", help="Draw from the tokens with this probability.")] = None,
    seed: SampleSeed = None,
    prefix: Annotated[str | None, typer.Option("--prefix", help="How each translation must begin.")] = None,
    align: Annotated[
        bool, typer.Option("--align", help="Add which word comes from which: text ||| 0-0 1-2 (source-target, from 0).")
    ] = False,
    sentences: Sentences = None,
    as_json: AsJson = False,
    batch_size: Annotated[
        int | None,
        typer.Option(
            "--batch-size",
            min=1,
            help="Source tokens searched at once; default: 512 on a CPU. 1 answers each line before the next.",
        ),
    ] = None,
    workers: Workers = None,
    precision: Precision = "float32",
    device: Device = "auto",
    invalid_utf8: Utf8 = "error",
) -> None:
    """Translate text, line by line.

    One line out for each line in, in order: from a pipe as they come, from a file in blocks. Several --model make an
    ensemble. On a terminal it prompts. Lines of another kind than the model learned from are cut or told of on standard
    error.
    Scores are natural-log probabilities, divided by the length penalty ((5 + length) / 6) ** alpha.

    \b
    echo "A man is riding a horse." | dragoman translate -m runs/my
    dragoman translate -m runs/my --input text.en --output text.de
    """
    from dragoman.machine.torchrun import refuse_copies

    refuse_copies("dragoman translate")
    prompted = input is None and _is_terminal()
    lines = _with_prompt() if prompted else input_lines(input, invalid_utf8, skip_long=True)
    with result_lines(output, overwrite=overwrite, inputs=[input]) as write:
        from dragoman.machine.devices import all_cores
        from dragoman.translator import Translator

        from_file = input is not None or stdin_is_file()
        n_workers = workers or (all_cores() if from_file else 1)
        translator = Translator.load(*model, device=device, workers=n_workers, precision=precision)
        drawing = {"--temperature": temperature, "--top-k": top_k, "--top-p": top_p, "--seed": seed}
        refuse_unused(drawing, beam_size, samples=sample or translator.search.sample)
        translations = translator.translate_stream(
            lines,
            prefixes=prefix,
            align=align,
            sentences=sentences,
            batch_size=1 if prompted else batch_size,
            read_ahead=READ_AHEAD if from_file else 1,
            beam_size=beam_size,
            n_best=n_best,
            length_penalty=length_penalty,
            min_length=min_length,
            max_length=max_length,
            no_repeat_ngram=no_repeat_ngram,
            sample=sample or None,
            temperature=temperature,
            top_k=top_k,
            top_p=top_p,
            seed=seed,
        )
        told = LineWarnings()
        for number, translation in enumerate(with_progress(translations, from_file=from_file, output=output)):
            told.tell(number + 1, translation)
            for line in _format(number, translation, moses=n_best is not None, as_json=as_json):
                write(line)
        told.finish()


def _format(number: int, translation: Translation, *, moses: bool, as_json: bool) -> Iterable[str]:
    if as_json:
        return [json.dumps(asdict(translation), ensure_ascii=False)]
    if moses:
        return [
            f"{number} ||| {each.text} ||| log_prob= {each.log_prob:.6f} ||| {each.score:.6f}{_pharaoh(each.alignment)}"
            for each in translation.alternatives
        ] or [f"{number} |||  ||| log_prob= 0 ||| 0{_pharaoh(translation.alignment)}"]
    return [f"{translation.text}{_pharaoh(translation.alignment)}"]


def _pharaoh(alignment: Sequence[tuple[int, int]] | None) -> str:
    """A last column, where alignments were asked for."""
    return "" if alignment is None else " ||| " + " ".join(f"{source}-{target}" for source, target in alignment)


def _is_terminal() -> bool:
    return sys.stdin is not None and not sys.stdin.closed and sys.stdin.isatty()


def _with_prompt() -> Iterator[str]:
    """Lines that a person types, until the end of input (Ctrl-D)."""
    say("Type a sentence and press Enter; Ctrl-D ends.")
    while True:
        print("> ", end="", file=sys.stderr, flush=True)
        line = sys.stdin.buffer.readline()
        if not line:
            say("")
            return
        yield line.decode(errors="replace").rstrip("\r\n")
