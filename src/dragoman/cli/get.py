"""`dragoman get`: fetch a published model by its name."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from dragoman.cli.options import Stored, option
from dragoman.cli.streams import command_line, megabytes, say, translate_command

if TYPE_CHECKING:
    from dragoman.imports.remote import Progress


def get(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Such as opus-mt-en-de or firefox:en-de.")],
    precision: Stored = "int8",
    source_lang: Annotated[str | None, option("Of its texts, if the model names none.", metavar="CODE")] = None,
    target_lang: Annotated[
        str | None, option("Of its translations, if the model names none, or several.", metavar="CODE")
    ] = None,
    offline: Annotated[bool, option("Use no network: say whether the model is here.", "--offline")] = False,
) -> None:
    """Fetch a published model by its name, and keep it.

    Names are those of OPUS-MT, NLLB-200 and M2M100 (opus-mt-en-de, nllb-200-distilled-600M, m2m100_418M),
    hf:OWNER/MODEL of the Hugging Face hub, firefox:en-de of Firefox, and argos:en-de of Argos Translate. Before
    anything is fetched, licence, size and origin are shown. Files whose hashes are published are compared with them,
    and all are converted. From then on -m takes the name, and `dragoman models` lists it. An interrupted download is
    continued by the same command.

    Models are kept in ~/.local/share/dragoman/models (macOS: ~/Library/Application Support, Windows: AppData/Local), or
    in the folder that DRAGOMAN_MODELS names.

    \b
    dragoman get opus-mt-en-de
    dragoman translate -m opus-mt-en-de -i letter.docx -o brief.docx
    """
    from dragoman.bundle.named_models import local_name, named_model

    if (folder := named_model(name)) is not None:
        use = command_line("translate", "-m", local_name(name))
        say(f"{name} is here already: {folder}; use it: {use}; to fetch it anew, remove this folder first")
        return
    from dragoman.imports.getting import find_remote, get_model

    remote = find_remote(name, is_offline=offline)
    say(remote.describe())
    with _shown(remote.n_bytes) as progress:
        folder, bundle = get_model(name, remote, precision, (source_lang, target_lang), progress)
    say(f"kept in {folder}, {megabytes(folder):.1f} MB: {bundle.describe()}")
    say(f"use it: {translate_command(local_name(name), bundle)}")


@contextmanager
def _shown(n_bytes: int | None) -> Iterator[Progress]:
    """Show the bytes that have come, on a terminal. Before the first ones nothing is shown: the hub shows its own."""
    if not sys.stderr.isatty():
        yield lambda n_bytes: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TimeRemainingColumn, TransferSpeedColumn

    columns = (BarColumn(), DownloadColumn(), TransferSpeedColumn(), TimeRemainingColumn())
    bar = Progress(*columns, console=Console(stderr=True), transient=True)
    task = bar.add_task("", total=n_bytes)

    def show(n_new: int) -> None:
        bar.start()
        bar.update(task, advance=n_new)

    try:
        yield show
    finally:
        bar.stop()
