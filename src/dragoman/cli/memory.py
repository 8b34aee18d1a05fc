"""`dragoman memory`: look into translation memories, add to them, and write them in another form."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dragoman.cli.options import AsJson, Command, Overwrite, option
from dragoman.cli.streams import print_result, refuse_output, say
from dragoman.errors import ConfigError, DataError, counted, install_advice

if TYPE_CHECKING:
    from dragoman.memories import Unit

memory = typer.Typer(
    help="Translation memories: look up, add, import, export.", context_settings={"help_option_names": ["-h", "--help"]}
)

MemoryFile = Annotated[Path, typer.Argument(help="The memory: a .jsonl file.", show_default=False)]
AnyMemory = Annotated[Path, typer.Argument(help="A memory: TMX, TSV, CSV or JSONL.", show_default=False)]
SourceLang = Annotated[str | None, option("The language of the texts, such as en.", "--source-lang", metavar="CODE")]
TargetLang = Annotated[
    str | None, option("The language of the translations, such as fr.", "--target-lang", metavar="CODE")
]
Text = Annotated[str, typer.Argument(help="The text.", show_default=False)]


@memory.command(cls=Command)
def lookup(
    file: AnyMemory,
    text: Text,
    source_lang: SourceLang = None,
    target_lang: TargetLang = None,
    threshold: Annotated[float, option("Least score of a match.", "--threshold")] = 0.7,
    as_json: AsJson = False,
) -> None:
    """Show the translations of equal and similar texts, the best first.

    \b
    dragoman memory lookup agency.tmx "Save the file." \\
        --source-lang en --target-lang fr
    """
    from dragoman.memories import TranslationMemory
    from dragoman.memories.fuzzy_index import can_search

    opened = TranslationMemory.open(file, source_lang=source_lang, target_lang=target_lang)
    matches = opened.lookup(text, source_lang, target_lang, threshold=threshold)
    if not matches and not can_search():
        say(f"nothing in {file} is equal; {install_advice('memory', 'to find similar texts, install rapidfuzz')}")
    elif not matches:
        say(f"nothing in {file} is equal or similar")
    for match in matches:
        line = json.dumps(asdict(match), ensure_ascii=False)
        print_result(line if as_json else f"{match.score:.2f}\t{match.source}\t{match.target}")


@memory.command(cls=Command)
def add(
    file: MemoryFile,
    text: Text,
    translation: Annotated[str, typer.Argument(help="Its translation.", show_default=False)],
    source_lang: SourceLang = None,
    target_lang: TargetLang = None,
) -> None:
    """Add a text with its translation. It replaces an earlier translation of the same text.

    Both languages are required.

    \b
    dragoman memory add agency.jsonl "Save the file." "Enregistrez le fichier." \\
        --source-lang en --target-lang fr
    """
    from dragoman.memories import Unit, append_new_units

    if not text.strip() or not translation.strip():
        raise typer.BadParameter("a text and its translation must have words")
    _require_codes(source_lang, target_lang)
    is_new = append_new_units(file, _in_languages([Unit(text, translation)], source_lang, target_lang, "the pair"))
    say(f"added to {file}" if is_new else f"{file} has it already")


@memory.command(cls=Command, name="import")
def import_(
    file: MemoryFile,
    inputs: Annotated[list[Path], typer.Argument(help="Files of pairs: TMX, TSV, CSV or JSONL.", show_default=False)],
    source_lang: SourceLang = None,
    target_lang: TargetLang = None,
) -> None:
    """Add the pairs of other files that are not there yet. Pairs with an empty side are left out.

    The languages are required for files that do not name them.

    \b
    dragoman memory import agency.jsonl old.tmx --source-lang en --target-lang fr
    """
    from dragoman.memories import append_new_units, open_units

    if any(path.exists() and file.exists() and path.samefile(file) for path in inputs):
        raise typer.BadParameter(f"{file} cannot be imported into itself")
    _require_codes(source_lang, target_lang)
    units: list[Unit] = []
    for path in inputs:
        opened = open_units(path, (source_lang, target_lang))
        units += _in_languages(opened, source_lang, target_lang, f"a pair of {path}")
    n_added = append_new_units(file, units)
    n_left = len(units) - n_added
    rest = "is there already, or has" if n_left == 1 else "are there already, or have"
    rest = f"; {n_left:,} {rest} an empty side" if n_left else ""
    say(f"added {counted(n_added, 'text')} to {file}{rest}")


@memory.command(cls=Command)
def export(
    file: AnyMemory,
    output: Annotated[Path, typer.Argument(help="The new file: .tmx, .tsv or .jsonl.", show_default=False)],
    source_lang: SourceLang = None,
    target_lang: TargetLang = None,
    overwrite: Overwrite = False,
) -> None:
    """Write a memory in another form.

    Each text is there once, with its last translation.

    \b
    dragoman memory export agency.jsonl agency.tmx \\
        --source-lang en --target-lang fr
    """
    from dragoman.memories import TranslationMemory, export_units

    refuse_output(output, overwrite=overwrite, inputs=[file])
    opened = TranslationMemory.open(file, source_lang=source_lang, target_lang=target_lang)
    if not len(opened):
        raise DataError("no texts in this direction", file, advice="check --source-lang and --target-lang")
    export_units(output, opened.units())
    say(f"wrote {counted(len(opened), 'text')} to {output}")


def _require_codes(source_lang: str | None, target_lang: str | None) -> None:
    """Check the languages of units that are written.

    Raises:
        ConfigError: one is no language code.
    """
    from dragoman.text.tags import UNKNOWN, require_directions

    require_directions([(source_lang or UNKNOWN, target_lang or UNKNOWN)])


def _in_languages(units: Iterable[Unit], source_lang: str | None, target_lang: str | None, name: str) -> Iterator[Unit]:
    """Yield units with the given languages in place of unknown ones.

    Raises:
        ConfigError: a language stays unknown.
    """
    for unit in units:
        whole = unit._replace(source_lang=unit.source_lang or source_lang, target_lang=unit.target_lang or target_lang)
        if not whole.source_lang or not whole.target_lang:
            raise ConfigError(f"{name} has no languages", advice="give --source-lang and --target-lang")
        yield whole
