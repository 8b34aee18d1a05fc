"""`dragoman translate`: translate standard input as it comes, a file, or lines typed at a prompt."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from dragoman.bulk.line_output import LineFormat
from dragoman.cli.flags import MOST_NAMED, LineWarnings
from dragoman.cli.grouping import with_groups
from dragoman.cli.line_progress import with_progress
from dragoman.cli.memory_options import MemoryFlags, count_matches
from dragoman.cli.option_groups import (
    DirectionOptions,
    EngineOptions,
    SamplingFlags,
    SearchFlags,
    TextFlags,
    search_options,
)
from dragoman.cli.options import Models, option
from dragoman.cli.streams import DASH, input_lines, result_bytes, say, stdin_is_file, stdout_is_terminal
from dragoman.cli.translate_files import (
    READ_AHEAD,
    ManyFiles,
    ModelOptions,
    target_language,
    translate_files,
)
from dragoman.cli.translate_flags import InputFlags, LineFlags, OutputFlags
from dragoman.machine.torchrun import refuse_copies

if TYPE_CHECKING:
    from dragoman.documents import Document
    from dragoman.translator import TextTranslator, Translation

_log = logging.getLogger(__name__)


class _Text(NamedTuple):
    """The text to translate."""

    lines: Iterator[str]
    document: Document | None  # in place of lines
    is_file: bool
    is_typed: bool  # at a prompt
    name: Path | None = None  # of its file

    @property
    def unit(self) -> str:
        """Word for what is translated at once."""
        return "line" if self.document is None else "segment"


@with_groups
def translate(
    model: Models,
    direction: DirectionOptions,
    search: SearchFlags,
    sampling: SamplingFlags,
    of_texts: TextFlags,
    memories: MemoryFlags,
    engine: EngineOptions,
    files: InputFlags,
    of_lines: LineFlags,
    to: OutputFlags,
    pivot: Annotated[
        str | None,
        option("Translate through this language: with one --model, or two, into it and from it.", metavar="CODE"),
    ] = None,
) -> None:
    """Translate text line by line, a document, or many files.

    It writes one line for each line that it reads, in order; on a terminal it prompts. Several --model are an ensemble.
    Files in HTML, Markdown, Word (.docx), PowerPoint (.pptx), Excel (.xlsx), OpenDocument (.odt), EPUB, PO, SRT,
    WebVTT, XLIFF, TMX, CSV or TSV, and strings of apps, keep their form. Long lines are cut at sentences. Warnings on
    standard error name the lines whose translations need a check. Scores are natural-log probabilities, divided by the
    length penalty ((5 + length) / 6) ** alpha.

    \b
    dragoman translate -m everyday --source-lang en --target-lang de < my.en
    dragoman translate -m runs/my -i a.csv --columns name,text -o b.csv
    dragoman translate -m runs/my --input texts/ --output translations/
    dragoman translate -m my-de-en -m my-en-zh --pivot en -i a.docx -o b.docx
    """
    of_lines.check(of_texts.min_confidence)
    given = of_texts.options(direction)

    def options(translator: TextTranslator) -> dict[str, Any]:
        of_search = search_options(search, sampling, samples=translator.search.sample)
        given_lines = {name: getattr(of_lines, name) for name in ("n_best", "align", "doubts", "as_document")}
        return of_search | asdict(direction) | given | given_lines | memories.open(translator, direction)

    refuse_copies("dragoman translate")
    models = ModelOptions(model, engine, files.ray, options, pivot)
    if files.are_many(to.output):
        many = ManyFiles(files, to, of_lines.invalid_utf8)
        many.check(of_lines)
        translate_files(many, models, of_lines.form)
    else:
        _translate_one(models, files, of_lines, to)


def _translate_one(models: ModelOptions, files: InputFlags, of_lines: LineFlags, to: OutputFlags) -> None:
    """Translate a text or a document."""
    from dragoman.translator.request import CONFIDENCE

    text = _open(files, of_lines)
    _check_output(to.output, files, is_document=text.document is not None)
    with result_bytes(to.output, overwrite=to.overwrite, inputs=[files.input]) as write:
        translator = models.load(one_worker=not text.is_file)
        options = models.options(translator)
        source_lang, target_lang = options["source_lang"], options["target_lang"]
        if text.is_typed:  # what the model needs is asked for before anybody types a text
            translator.tagged("", source_lang=source_lang, target_lang=target_lang)
        target = target_language(translator, target_lang)
        is_calibrated = target is None or translator.is_calibrated(source_lang, target)
        is_unmarked = not (is_calibrated or options.get("plain") or CONFIDENCE in (options.get("off") or ()))
        translations = _translations(text, translator, options | _amounts(models.engine, text))
        told = _tell_notes(text.document)
        results = with_progress(translations, from_file=text.is_file, output=to.output, unit=text.unit)
        if "memory" in options:
            is_shown = "memory_threshold" in options and not of_lines.as_json
            results = count_matches(results, shows_similar=is_shown)
        results = _with_warnings(results, text, target, is_unmarked=is_unmarked)
        for content in _contents(results, text, target, of_lines.form):
            write(content)
        _tell_notes(text.document, told)


def _check_output(output: Path | None, files: InputFlags, *, is_document: bool) -> None:
    """Refuse a package, such as a .docx, in a file with the suffix of something else, or on a terminal."""
    from dragoman.data.text_files.compression import uncompressed_name
    from dragoman.documents import PACKAGES

    own = files.input.suffix.lower() if files.input is not None else ""
    kind = (f".{files.format}" if files.format else own) if is_document else ""
    if output is None or output == DASH:
        if kind in PACKAGES and stdout_is_terminal():
            raise typer.BadParameter(f"a {kind} file cannot be shown on a terminal; give --output FILE{kind}")
        return
    suffix = uncompressed_name(output).suffix.lower()
    if suffix in PACKAGES and not is_document:
        raise typer.BadParameter(f"{output} would be plain text; give --input a {suffix} file, or --output a .txt file")
    if {kind, suffix} & PACKAGES and suffix not in (kind, own, ""):
        raise typer.BadParameter(f"{output} would have the form of {kind}; let the name of --output end in {kind}")


def _translations(text: _Text, translator: TextTranslator, options: dict[str, Any]) -> Iterator[Translation]:
    """Return the translations of the segments of a document, or of lines."""
    if text.document is None:
        return translator.translate_stream(text.lines, **options)
    from dragoman.documents.translating import document_options, translate_document

    return translate_document(text.document, translator, **document_options(options))


def _document(files: InputFlags, of_lines: LineFlags) -> Document | None:
    """Read a document. An input is one by a named format, or by any suffix except that of plain text."""
    if files.input is None:
        if files.format is not None:
            raise typer.BadParameter("--format needs --input")
        return None
    from dragoman.documents import FORMATS, OTHERS, open_document

    suffix = files.input.suffix.lower()
    if files.format is None and (suffix not in (*FORMATS, *OTHERS) or suffix == ".txt"):
        return None
    of_lines.refuse_document()
    return open_document(files.input, files.format, files.columns)


def _amounts(engine: EngineOptions, text: _Text) -> dict[str, Any]:
    """Return the options that say how much text is translated at once."""
    batch_size = 1 if text.is_typed else engine.batch_size
    return {"batch_size": batch_size, "read_ahead": READ_AHEAD if text.is_file else 1}


def _open(files: InputFlags, of_lines: LineFlags) -> _Text:
    document = _document(files, of_lines)
    _describe_table(document, is_asked=files.columns is not None)
    if files.fuzzy:
        _mark_fuzzy(document)
    if document is not None:
        return _Text(iter(()), document, is_file=True, is_typed=False, name=files.input)
    if files.input is None and _is_terminal():
        return _Text(_with_prompt(), None, is_file=False, is_typed=True)
    is_file = files.input is not None or stdin_is_file()
    lines = input_lines(files.input, of_lines.invalid_utf8, skip_long=True)
    return _Text(lines, None, is_file, is_typed=False, name=files.input)


def _describe_table(document: object, *, is_asked: bool) -> None:
    """Say how a table is read; refuse --columns for anything else."""
    from dragoman.documents.document import Tabular

    if isinstance(document, Tabular):
        _log.info(document.describe())
    elif is_asked:
        raise typer.BadParameter("--columns is for tables: CSV and TSV files")


def _tell_notes(document: object, told: Sequence[str] = ()) -> Sequence[str]:
    """Say what of a document a person should check, except what was told before, and return it."""
    from dragoman.documents.document import Noted

    notes = document.notes() if isinstance(document, Noted) else ()
    for note in notes:
        if note not in told:
            _log.warning(note)
    return notes


def _mark_fuzzy(document: object) -> None:
    """Have all new translations of a document marked as fuzzy."""
    from dragoman.documents.document import Reviewed

    if not isinstance(document, Reviewed):
        raise typer.BadParameter("--fuzzy is for PO, XLIFF and Qt files")
    document.is_fuzzy = True


def _contents(
    translations: Iterable[Translation], text: _Text, target: str | None, form: LineFormat
) -> Iterator[bytes]:
    """Yield the content of the output: a whole document, or lines."""
    if text.document is not None:
        yield text.document.rebuild(list(translations), target)
        return
    for number, translation in enumerate(translations):
        for line in form.lines(number, translation):
            yield line.encode() + b"\n"


def _with_warnings(
    translations: Iterable[Translation], text: _Text, target: str | None, *, is_unmarked: bool
) -> Iterator[Translation]:
    """Yield the translations, and warn of those that need a check.

    Args:
        is_unmarked: no confidence is known that would mark them; told of so many that people do not read all.
    """
    from dragoman.translator.confidence import least_confidence

    segments = None if text.document is None else text.document.segments()
    warnings, number = LineWarnings(text.unit, is_typed=text.is_typed, names_all=not sys.stderr.isatty()), 0
    for number, translation in enumerate(translations, start=1):
        warnings.tell(number, translation, "" if segments is None else segments[number - 1].text)
        yield translation
    warnings.finish(least_confidence(target or ""))
    if number == 0 and text.name is not None:
        _log.warning(f"nothing to translate in {text.name}")
    if is_unmarked and number >= MOST_NAMED and not text.is_typed:
        _log.info(f"the model is not calibrated, so no {text.unit} is marked as probably wrong")


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
