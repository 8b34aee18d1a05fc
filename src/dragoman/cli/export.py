"""`dragoman export`: trained models for other programs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dragoman.cli.options import Command, EachModel, Overwrite
from dragoman.cli.streams import refuse_output, say, write_output
from dragoman.cli.training_settings import require_folder

export = typer.Typer(help="Write a trained model for other programs: a web page.")

SingleFile = Annotated[
    bool, typer.Option("--single-file", help="Write one HTML file with everything in it, which also opens from a disk.")
]


@export.command("web", cls=Command)
def web(
    model: EachModel,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="A folder, or with --single-file an HTML file.", show_default=False)
    ],
    single_file: SingleFile = False,
    overwrite: Overwrite = False,
) -> None:
    """Write web pages that translate in the browser.

    The folder has static files for any web server: a page, the engine in WebAssembly, a module for your own pages
    (dragoman/dragoman.js), and the models with 8-bit weights. Nothing is sent to a server. An earlier, unchanged site
    in its place is replaced.

    \b
    dragoman export web -m multi30k-en-de -o site
    dragoman export web -m multi30k-en-de --single-file -o translator.html
    """
    if single_file and output.suffix.lower() not in (".html", ".htm"):
        raise typer.BadParameter("with --single-file, --output is a file that ends in .html")
    if overwrite and not single_file:
        raise typer.BadParameter(
            "--overwrite is for --single-file; an unchanged site in a folder is replaced without it"
        )
    if not single_file:
        require_folder(output)
        from dragoman.exchange.site_folder import require_free, write_site
        from dragoman.exchange.web_site import site_files

        require_free(output)
        contents = site_files(model)
        write_site(output, contents)
        size = sum(map(len, contents.values()))
        say(f"wrote {output}, {size / 1e6:.1f} MB; try it: python -m http.server -d {output}")
        return
    from dragoman.exchange.web_site import single_page

    refuse_output(output, overwrite=overwrite)
    write_output(output, single_page(model))
