"""`dragoman translate`: translate standard input as it comes, a file, or lines typed at a prompt."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from dragoman.cli.flags import LineWarnings
from dragoman.cli.grouping import with_groups
from dragoman.cli.option_groups import (
    DirectionOptions,
    EngineOptions,
    SamplingFlags,
    SearchFlags,
    TextFlags,
    search_options,
)
from dragoman.cli.options import AsJson, InvalidUtf8, Models, Overwrite, Utf8
from dragoman.cli.streams import input_lines, result_bytes, say, stdin_is_file, with_progress

if TYPE_CHECKING:
    from dragoman.documents import Document
    from dragoman.translator import Translation, Translator


#: Batches of a file that are read, sorted by length and shared among the workers together.
READ_AHEAD = 128


Input = Annotated[
    Path | None,
    typer.Option("--input", "-i", help="Lines of text (.gz, .bz2, .xz too), or a document; default: standard input."),
]
DocumentFile = Annotated[Path | None, typer.Option("--document", help="The same as --input FILE with a --format.")]
Format = Annotated[
    str | None,
    typer.Option(
        "--format", help="Keep the form of a document: html, md, po, srt, vtt or txt. Default: by its suffix."
    ),
]
Fuzzy = Annotated[bool, typer.Option("--fuzzy", help="Mark all new translations of a PO file as fuzzy, to be checked.")]
Output = Annotated[Path | None, typer.Option("--output", "-o", help="Default: standard output.")]
NBest = Annotated[int | None, typer.Option("--n-best", help="Print the n best as: id ||| text ||| features ||| score.")]
Align = Annotated[bool, typer.Option("--align", help="Add the alignment of words: text ||| 0-0 1-2 (source-target).")]


@dataclass(frozen=True)
class InputFlags:
    """The lines or the document to translate."""

    input: Input = None
    document: DocumentFile = None
    format: Format = None
    fuzzy: Fuzzy = False


class _Text(NamedTuple):
    """The text to translate."""

    lines: Iterator[str]
    document: Document | None  # in place of lines
    is_file: bool
    is_typed: bool  # at a prompt


@with_groups
def translate(
    model: Models,
    direction: DirectionOptions,
    search: SearchFlags,
    sampling: SamplingFlags,
    of_texts: TextFlags,
    engine: EngineOptions,
    files: InputFlags,
    output: Output = None,
    overwrite: Overwrite = False,
    n_best: NBest = None,
    align: Align = False,
    as_json: AsJson = False,
    invalid_utf8: Utf8 = "error",
) -> None:
    """Translate text line by line, or a document.

    It writes one line for each line that it reads, in order; on a terminal it prompts. Several --model are an ensemble.
    Files in HTML, Markdown, PO, SRT or WebVTT keep their form. Long lines are cut at sentences. Warnings on standard
    error name the lines whose translations need a check. Scores are natural-log probabilities, divided by the length
    penalty ((5 + length) / 6) ** alpha.

    \b
    echo "Where is the station?" | dragoman translate -m everyday --source-lang en --target-lang de
    dragoman translate -m runs/my --input text.en --output text.de
    dragoman translate -m runs/my --input page.html --output seite.html
    """
    is_for_lines = n_best is not None or align or as_json or invalid_utf8 != "error"
    given = of_texts.options()
    text = _open(files, invalid_utf8, is_for_lines=is_for_lines)
    with result_bytes(output, overwrite=overwrite, inputs=[files.input, files.document]) as write:
        translator = engine.load(model, one_worker=not text.is_file)
        options = search_options(search, sampling, samples=translator.search.sample)
        options |= _languages(direction, translator, is_typed=text.is_typed)
        options |= _amounts(engine, text) | {"n_best": n_best, "align": align} | given
        translations = _translations(text, translator, options)
        results = _with_warnings(with_progress(translations, from_file=text.is_file, output=output), text)
        target = _target(translator, direction.target_lang)
        for content in _contents(results, text, target, moses=n_best is not None, as_json=as_json):
            write(content)


def _translations(text: _Text, translator: Translator, options: dict[str, Any]) -> Iterator[Translation]:
    """Return the translations of the segments of a document, or of lines."""
    if text.document is None:
        return translator.translate_stream(text.lines, **options)
    from dragoman.documents import translate_document

    options = {name: value for name, value in options.items() if name not in ("read_ahead", "align", "n_best")}
    return translate_document(text.document, translator, prefix=options.pop("prefixes") or "", **options)


def _document(files: InputFlags, *, is_for_lines: bool) -> Path | None:
    """Return the path of a document. An input is one by a named format, or by any suffix except that of plain text.

    Args:
        is_for_lines: there are options that only lines have.
    """
    input, document, format = files.input, files.document, files.format
    if document is not None and input is not None:
        raise typer.BadParameter("use --document without --input")
    if input is None and document is None and format is not None:
        raise typer.BadParameter("--format needs --input")
    if input is not None:
        from dragoman.documents import FORMATS

        suffix = input.suffix.lower()
        document = input if format is not None or (suffix in FORMATS and suffix != ".txt") else None
    if document is not None and is_for_lines:
        raise typer.BadParameter("a document has no --n-best, --align, --json and --invalid-utf8")
    return document


def _target(translator: Translator, target_lang: str | None) -> str | None:
    """Return the code of the language of the translations, if it is known."""
    from dragoman.text.tags import UNKNOWN

    (target, *others) = dict.fromkeys(target for _, target in translator.directions)
    return target_lang or (None if others or target == UNKNOWN else target)


def _languages(direction: DirectionOptions, translator: Translator, *, is_typed: bool) -> dict[str, Any]:
    """Return the options of a translation; those that the model needs are asked for before anybody types a text."""
    languages = asdict(direction)
    if is_typed:
        translator.tagged("", **languages)
    return languages


def _amounts(engine: EngineOptions, text: _Text) -> dict[str, Any]:
    """Return the options that say how much text is translated at once."""
    batch_size = 1 if text.is_typed else engine.batch_size
    return {"batch_size": batch_size, "read_ahead": READ_AHEAD if text.is_file else 1}


def _open(files: InputFlags, invalid_utf8: InvalidUtf8, *, is_for_lines: bool) -> _Text:
    from dragoman.machine.torchrun import refuse_copies

    refuse_copies("dragoman translate")
    input = files.input
    if (document := _document(files, is_for_lines=is_for_lines)) is not None:
        from dragoman.documents import open_document

        opened = open_document(document, files.format)
        if files.fuzzy:
            _mark_fuzzy(opened)
        return _Text(iter(()), opened, is_file=True, is_typed=False)
    if files.fuzzy:
        _mark_fuzzy(None)
    if input is None and _is_terminal():
        return _Text(_with_prompt(), None, is_file=False, is_typed=True)
    is_file = input is not None or stdin_is_file()
    return _Text(input_lines(input, invalid_utf8, skip_long=True), None, is_file, is_typed=False)


def _mark_fuzzy(document: object) -> None:
    """Have all new translations of a document marked as fuzzy."""
    from dragoman.documents.document import Reviewed

    if not isinstance(document, Reviewed):
        raise typer.BadParameter("--fuzzy is for PO files")
    document.is_fuzzy = True


def _contents(
    translations: Iterable[Translation], text: _Text, target: str | None, *, moses: bool, as_json: bool
) -> Iterator[bytes]:
    """Yield the content of the output: a whole document, or lines."""
    if text.document is not None:
        yield text.document.rebuild(list(translations), target)
        return
    for number, translation in enumerate(translations):
        for line in _format(number, translation, moses=moses, as_json=as_json):
            yield line.encode() + b"\n"


def _with_warnings(translations: Iterable[Translation], text: _Text) -> Iterator[Translation]:
    """Yield the translations, and warn of those that need a check."""
    segments = None if text.document is None else text.document.segments()
    warnings = LineWarnings("line" if segments is None else "segment")
    for number, translation in enumerate(translations, start=1):
        warnings.tell(number, translation, "" if segments is None else segments[number - 1].text)
        yield translation
    warnings.finish()


def _format(number: int, translation: Translation, *, moses: bool, as_json: bool) -> Iterable[str]:
    if as_json:
        return [json.dumps(asdict(translation), ensure_ascii=False)]
    if moses:
        return [
            f"{number} ||| {result.text} ||| log_prob= {result.log_prob:.6f} ||| {result.score:.6f}"
            f"{_pharaoh(result.alignment)}"
            for result in translation.alternatives
        ] or [f"{number} |||  ||| log_prob= 0 ||| 0{_pharaoh(translation.alignment)}"]
    return [f"{translation.text}{_pharaoh(translation.alignment)}"]


def _pharaoh(alignment: Sequence[tuple[int, int]] | None) -> str:
    """Return the column of alignments; nothing if there is none."""
    return "" if alignment is None else " ||| " + " ".join(f"{source}-{target}" for source, target in alignment)


def _is_terminal() -> bool:
    return sys.stdin is not None and not sys.stdin.closed and sys.stdin.isatty()


def _with_prompt() -> Iterator[str]:
    """Yield the lines that a person types, until the end of input (Ctrl-D)."""
    say("Type a sentence and press Enter; Ctrl-D ends.")
    while True:
        print("> ", end="", file=sys.stderr, flush=True)
        line = sys.stdin.buffer.readline()
        if not line:
            say("")
            return
        yield line.decode(errors="replace").rstrip("\r\n")
