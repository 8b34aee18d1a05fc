"""Options come in groups: each field is an option, with its default, and the command gets the group back."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass, fields
from typing import Annotated, get_type_hints

import typer
from typer.testing import CliRunner

from dragoman.cli.grouping import with_groups
from dragoman.cli.option_groups import SamplingFlags, SearchFlags, TextFlags
from dragoman.settings.search_config import SearchConfig
from dragoman.translator.request import SWITCHES


@dataclass(frozen=True)
class Weather:
    rain: Annotated[int, typer.Option("--rain")] = 3
    wind: Annotated[str | None, typer.Option("--wind")] = None


@dataclass(frozen=True)
class Journey:
    weather: Weather
    by_night: Annotated[bool, typer.Option("--by-night")] = False


def run(*arguments: str) -> tuple[str, Journey, bool]:
    calls: list[tuple[str, Journey, bool]] = []

    @with_groups
    def command(
        place: Annotated[str, typer.Argument()], journey: Journey, loud: Annotated[bool, typer.Option("--loud")] = False
    ) -> None:
        """Go there."""
        calls.append((place, journey, loud))

    app = typer.Typer()
    app.command()(command)
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output
    return calls[0]


def test_a_command_gets_its_group_with_defaults_and_with_values() -> None:
    assert run("here") == ("here", Journey(Weather()), False)
    journey = Journey(Weather(5, "north"), by_night=True)
    assert run("--wind", "north", "here", "--rain", "5", "--by-night", "--loud") == ("here", journey, True)


def test_every_setting_of_a_search_is_an_option_of_translate() -> None:
    options = {field.name for group in (SearchFlags, SamplingFlags) for field in fields(group)} | {"n_best"}
    assert options == SearchConfig.model_fields.keys()


def test_the_help_names_every_check_that_can_be_switched_off() -> None:
    (off,) = get_type_hints(TextFlags, include_extras=True)["off"].__metadata__
    assert f": {', '.join(SWITCHES)}. Repeatable" in off.help


def test_help_shows_the_options_of_the_groups() -> None:
    done = subprocess.run([sys.executable, "-m", "dragoman", "translate", "--help"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    for group in (SearchFlags, SamplingFlags):
        for field in fields(group):
            assert f"--{field.name.replace('_', '-')}" in done.stdout
