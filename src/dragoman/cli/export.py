"""`dragoman export`: trained models for other programs."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from dragoman.cli.missing_packages import require_package
from dragoman.cli.options import Command, EachModel, OneModel, Overwrite, option
from dragoman.cli.streams import input_lines, megabytes, refuse_output, require_output, say
from dragoman.cli.training_settings import require_folder
from dragoman.errors import DataError

if TYPE_CHECKING:
    from dragoman.exchange.agreement import Agreement

export = typer.Typer(help="Write a trained model for web pages and other programs.")

Folder = Annotated[Path, option("The new folder.", "--output", "-o", show_default=False)]
Precision = Annotated[
    Literal["float32", "int8"],
    option("Precision of the weights: int8 has a quarter of the size, and is less exact.", "--precision"),
]
Compare = Annotated[
    Path | None,
    option("Text whose first 200 lines both programs translate; default: made-up text.", "--compare", metavar="FILE"),
]


@export.command("web", cls=Command)
def web(
    model: EachModel,
    output: Annotated[
        Path, option("A new folder, or with --single-file an HTML file.", "--output", "-o", show_default=False)
    ],
    single_file: Annotated[
        bool, option("Write one HTML file with everything in it, which also opens from a disk.", "--single-file")
    ] = False,
    overwrite: Overwrite = False,
) -> None:
    """Write web pages that translate in the browser.

    The folder has static files for any web server: a page, the engine in WebAssembly, a module for your own pages
    (dragoman/dragoman.js), and the models with 8-bit weights. Nothing is sent to a server.

    \b
    dragoman export web -m multi30k-en-de -o site
    dragoman export web -m multi30k-en-de --single-file -o translator.html
    """
    if single_file and output.suffix.lower() not in (".html", ".htm"):
        raise typer.BadParameter("with --single-file, --output is a file that ends in .html")
    if overwrite and not single_file:
        raise typer.BadParameter("--overwrite is for --single-file; remove the folder, or choose another --output")
    if single_file:
        refuse_output(output, overwrite=overwrite)
        from dragoman.exchange.web_site import single_page
        from dragoman.machine.files import write_file

        write_file(output, single_page(model))
        say(f"wrote {output}, {megabytes(output):.1f} MB; open it in a browser")
        return
    require_folder(output, new=True)
    from dragoman.exchange.web_site import export_site

    export_site(model, output)
    say(f"wrote {output}, {megabytes(output):.1f} MB; try it: python -m http.server -d {output}")


@export.command("ct2", cls=Command)
def ct2(model: OneModel, output: Folder, precision: Precision = "float32", compare: Compare = None) -> None:
    """Write a folder for CTranslate2, a fast translator in C++.

    The folder has the model, its vocabularies, and the SentencePiece models that cut text into pieces. At the end,
    CTranslate2 and dragoman translate 200 sentences, and the equal translations are counted.

    \b
    dragoman export ct2 -m everyday -o everyday-ct2
    dragoman export ct2 -m runs/my -o my-ct2 --precision int8 --compare test.en
    """
    from dragoman.exchange.obstacles import CTRANSLATE2, load_without

    bundle = load_without(model, *CTRANSLATE2)  # before its package is asked for
    require_package("export ct2", "ctranslate2")
    require_folder(output, new=True)
    sentences = compared_lines(compare)
    from dragoman.exchange.ctranslate2_folder import export_ctranslate2

    _say_agreement(output, "CTranslate2", precision, export_ctranslate2(model, output, precision, sentences, bundle))


@export.command("argos", cls=Command)
def argos(
    model: OneModel,
    output: Annotated[Path, option("A file that ends in .argosmodel.", "--output", "-o", show_default=False)],
    source_lang: Annotated[str | None, option("Where the model reads several languages.", metavar="CODE")] = None,
    target_lang: Annotated[str | None, option("Where the model writes several languages.", metavar="CODE")] = None,
    precision: Precision = "float32",
    compare: Compare = None,
    overwrite: Overwrite = False,
) -> None:
    """Write a package for Argos Translate and LibreTranslate.

    The package has one direction, and all that it needs without a network: a model for CTranslate2, its SentencePiece
    model, and a rule for the ends of sentences.

    \b
    dragoman export argos -m everyday --source-lang en --target-lang de \\
        -o translate-en_de.argosmodel
    """
    from dragoman.exchange.obstacles import ARGOS, load_without

    bundle = load_without(model, *ARGOS)
    require_package("export argos", "ctranslate2", "onnx")
    require_output(output, [".argosmodel"], overwrite=overwrite)
    sentences = compared_lines(compare)
    from dragoman.exchange.argos_package import argos_package
    from dragoman.machine.files import write_file

    package = argos_package(model, (source_lang, target_lang), precision, sentences, bundle)
    write_file(output, package.content)
    _say_agreement(output, "CTranslate2", precision, package.agreement)


@export.command("hf", cls=Command)
def hf(model: OneModel, output: Folder, compare: Compare = None) -> None:
    """Write a folder for transformers of Hugging Face.

    A post-norm model becomes a MarianMTModel, a pre-norm model a PegasusForConditionalGeneration, in float32, with a
    MarianTokenizer. If transformers is installed, it and dragoman translate 200 sentences at the end.

    \b
    dragoman export hf -m runs/my -o my-hf
    """
    require_folder(output, new=True)
    sentences = compared_lines(compare)
    from dragoman.exchange.hugging_face_folder import export_hugging_face

    _say_agreement(output, "transformers", "float32", export_hugging_face(model, output, sentences))


@export.command("onnx", cls=Command)
def onnx(model: OneModel, output: Folder, precision: Precision = "float32", compare: Compare = None) -> None:
    """Write a folder for transformers.js and onnxruntime.

    It has two graphs of ONNX and a tokenizer.

    \b
    dragoman export onnx -m multi30k-en-de -o multi30k-onnx
    dragoman export onnx -m everyday -o everyday-onnx --precision int8
    """
    from dragoman.exchange.obstacles import ONNX, load_without

    bundle = load_without(model, *ONNX)
    require_package("export onnx", "onnx", "onnxruntime")
    require_folder(output, new=True)
    sentences = compared_lines(compare)
    from dragoman.exchange.onnx_folder import export_onnx

    _say_agreement(output, "onnxruntime", precision, export_onnx(model, output, precision, sentences, bundle))


def compared_lines(path: Path | None) -> list[str]:
    """Return the lines to compare translations of; none without a file.

    Raises:
        DataError: the file has none.
    """
    from dragoman.exchange.agreement import N_SENTENCES

    if path is None:
        return []
    lines = list(islice(filter(str.strip, input_lines(path, "error")), N_SENTENCES))
    if not lines:
        raise DataError("no lines to compare translations of", path, advice="give a text, one sentence a line")
    return lines


def _say_agreement(output: Path, program: str, precision: str, agreement: Agreement | None) -> None:
    compared = f"{program} is not installed, so no translations were compared"
    if agreement is not None:
        others = f"; {told}" if (told := agreement.others()) else ""
        compared = (
            f"{program} in {precision} translates {agreement} sentences as dragoman does in float32 (greedy search)"
            f"{others}"
        )
    say(f"wrote {output}, {megabytes(output):.1f} MB; {compared}")
