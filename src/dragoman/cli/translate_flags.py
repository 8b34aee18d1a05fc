"""Options that `dragoman translate` alone has, as groups."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated

import typer

from dragoman.bulk.line_output import LineFormat
from dragoman.cli.options import AsJson, Overwrite, Utf8, option
from dragoman.cli.streams import DASH


@dataclass(frozen=True)
class InputFlags:
    """The lines, the document or the files to translate."""

    inputs: Annotated[
        list[Path] | None,
        option(
            "Lines of text (.gz, .bz2, .xz too), or a document; default: standard input. Several, or a folder, become "
            "files of the same names in the folder --output.",
            "--input",
            "-i",
            metavar="PATH",
        ),
    ] = None
    format: Annotated[
        str | None,
        option(
            "Keep the form of a document: html, md, docx, pptx, xlsx, odt, epub, po, srt, vtt, xlf, tmx, "
            "xml (Android), resx, properties, strings, xcstrings, arb, json, ts, ftl, csv, tsv or txt. Default: by its "
            "suffix.",
            metavar="NAME",
        ),
    ] = None
    columns: Annotated[
        str | None,
        option(
            "Columns of a CSV or TSV file to translate, by the names in its first row, which stays, or by numbers: "
            "name,text or 2,4. text=text_de fills the empty cells of another column, or a new one.",
            metavar="NAMES",
        ),
    ] = None
    fuzzy: Annotated[
        bool, option("Mark all new translations of a PO, XLIFF or Qt file as to be checked.", "--fuzzy")
    ] = False
    ray: Annotated[
        str | None,
        option(
            "Translate many files on a Ray cluster; auto is this machine's, or a new one on it. --workers says how "
            "many at once; default: one a GPU or core.",
            metavar="ADDRESS",
        ),
    ] = None

    @property
    def input(self) -> Path | None:
        """The only input, if there is one; `-` is standard input, as none is."""
        return self.inputs[0] if self.inputs and self.inputs != [DASH] else None

    def are_many(self, output: Path | None) -> bool:
        """Return True if the inputs become files in a folder."""
        inputs = self.inputs or []
        is_to_folder = len(inputs) == 1 and output is not None and output.is_dir()
        return self.ray is not None or len(inputs) > 1 or is_to_folder or any(map(Path.is_dir, inputs))


@dataclass(frozen=True)
class OutputFlags:
    """The file or folder for the translations."""

    output: Annotated[
        Path | None, option("A file, or the folder for many; default: standard output.", "--output", "-o")
    ] = None
    overwrite: Overwrite = False


@dataclass(frozen=True)
class LineFlags:
    """The form of lines of results, which documents do not have."""

    n_best: Annotated[int | None, option("Print the n best as: id ||| text ||| features ||| score.", min=1)] = None
    align: Annotated[bool, option("Add the alignment of words: text ||| 0-0 1-2 (source-target).", "--align")] = False
    doubts: Annotated[bool, option("Mark doubtful words: [?word]; --json numbers them.", "--doubts")] = False
    as_document: Annotated[
        bool,
        option(
            "The lines follow each other, up to an empty one: a model with data.context reads those before each.",
            "--as-document",
        ),
    ] = False
    as_json: AsJson = False
    invalid_utf8: Utf8 = "error"

    def refuse_document(self) -> None:
        """Refuse a document if one of them was given.

        Raises:
            typer.BadParameter: names those.
        """
        names = [field.name for field in fields(self) if getattr(self, field.name) != field.default]
        if given := ", ".join(f"--{name.replace('as_json', 'json').replace('_', '-')}" for name in names):
            raise typer.BadParameter(f"{given} is for lines, and this is a document; leave it out")

    def check(self, min_confidence: float | None) -> None:
        """Refuse what a list of candidates cannot show.

        Raises:
            typer.BadParameter: names it.
        """
        if self.n_best is not None and not self.as_json and (self.doubts or min_confidence is not None):
            problem = "--n-best prints candidates as they are; --doubts and --min-confidence need --json"
            raise typer.BadParameter(problem)

    @property
    def form(self) -> LineFormat:
        """The form of a line."""
        return LineFormat(moses=self.n_best is not None, as_json=self.as_json)
