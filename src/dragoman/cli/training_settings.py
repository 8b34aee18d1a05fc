"""Settings from a recipe and the command line; the command line wins."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dragoman.cli.missing_packages import require_package
from dragoman.cli.streams import say
from dragoman.errors import ConfigError, DataError, RunFolderError

if TYPE_CHECKING:
    from dragoman.data.parallel_text import ParallelText
    from dragoman.settings.data_config import DataConfig

#: The keys of the data section that name the training text.
ORIGINS = ("corpus", "source", "target", "pairs")
#: For a file of pairs in a recipe's place.
PAIRS_ADVICE = "give pairs by --pairs FILE"


def read_recipe_argument(recipe: Path | None, advice: str = PAIRS_ADVICE) -> dict[str, Any]:
    """Return the settings of a recipe, as `read_recipe`.

    Raises:
        ConfigError: the recipe cannot be read; a file of pairs in its place gets the advice.
    """
    from dragoman.settings.recipe import read_recipe

    try:
        return read_recipe(recipe)
    except ConfigError:
        from dragoman.data.formats import FORMATS
        from dragoman.data.text_files.compression import uncompressed_name

        suffixes = {".txt"}.union(*(kind.suffixes for kind in FORMATS))
        if recipe is None or uncompressed_name(recipe).suffix.lower() not in suffixes:
            raise
        raise ConfigError("a recipe (YAML) is expected here, not a file of text", recipe, advice=advice) from None


def recipe_settings(
    recipe: Path | None,
    overrides: Sequence[str] | None,
    data: Mapping[str, str | None],
    advice: str = PAIRS_ADVICE,
) -> dict[str, Any]:
    """Return the settings of a recipe, overridden by options of the data section and by `--set`.

    Options that name another text replace all files and languages of the recipe, validation text included.

    Args:
        advice: for a file of pairs in the recipe's place.

    Raises:
        ConfigError: the recipe cannot be read, or an override is not key=value.
    """
    from dragoman.settings.recipe import override_settings

    settings = read_recipe_argument(recipe, advice)
    options = {key: value for key, value in data.items() if value is not None}
    section = {} if settings.get("data") is None else settings["data"]
    if isinstance(section, dict):
        if any(key in options for key in ORIGINS):
            belongs_to_text = ("corpus", "source", "target", "pairs", "columns", "lang")
            section = {key: value for key, value in section.items() if not key.endswith(belongs_to_text)}
        settings["data"] = {**section, **options}
    override_settings(settings, overrides or [])
    return settings


def recipe_of_run(folder: Path | None, data: Mapping[str, str], overrides: Sequence[str]) -> Path | None:
    """Return the recipe of a run to continue; None if options or `overrides` name text for a new run.

    Raises:
        ConfigError: there is neither a run nor text.
    """
    if folder is None or data.keys() - {"source_lang", "target_lang"}:
        return None
    if (folder / "config.yaml").is_file():
        return folder / "config.yaml"
    if not any(override.startswith("data.") for override in overrides):
        advice = "name text to begin a new run: --source and --target; see --help"
        raise ConfigError("there is no run to continue", folder, advice=advice)
    return None


def require_text(settings: dict[str, Any], recipe: Path | None, also: str = "") -> None:
    """Refuse settings without any text; `also` is one more way to name text."""
    data = settings.get("data") or {}
    if isinstance(data, dict) and not any(data.get(key) for key in (*ORIGINS, "corpora")):
        choices = "--source and --target, --pairs, a recipe with text, or --corpus (for a first try: captions)"
        raise ConfigError("no text given", recipe, advice=f"give {choices}{also}; see --help")


def require_extras(settings: Mapping[str, Any], *, trains: bool = True) -> None:
    """Refuse settings whose packages are missing, before a folder is made.

    Raises:
        DragomanError: an extra is not installed.
    """
    data, tokenizer, training = (_section(settings, name) for name in ("data", "tokenizer", "training"))
    if tokenizer.get("kind") == "words":
        require_package("tokenizer.kind=words", "spacy")
    if trains and training.get("tensorboard"):
        require_package("training.tensorboard", "tensorboard")
    if str(data.get("corpus")).startswith("hub:"):
        require_package("a corpus of the hub", "datasets")


def _section(settings: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """Return a section of settings; an empty one if it is left out, or no section at all."""
    section = settings.get(name)
    return section if isinstance(section, Mapping) else {}


def require_readable(settings: Mapping[str, Any]) -> None:
    """Refuse text that cannot be read, before slow imports and before a folder is made.

    Files are read up to their first pair.

    Raises:
        ConfigError: the corpus is unknown.
        DataError: a file cannot be read, or does not begin as it should.
    """
    from dragoman.data.corpus import available_splits, read_pairs
    from dragoman.data.text_files.lines import check_text_file

    for _, data in data_settings(settings["data"]).each():
        for path in (*data.files("train"), *data.files("validation"), *data.files("test")):
            if path is not None:
                check_text_file(Path(path))
        for split in ("train", *available_splits(data)):
            text = read_pairs(data, split)
            if any(data.files(split)):
                next(iter(text), None)


def require_folder(folder: Path, *, new: bool = False) -> None:
    """Refuse an output folder that cannot be made, before slow imports.

    Args:
        new: also refuse a folder that exists.

    Raises:
        RunFolderError: a file is in its place or above it, or nothing can be written there.
    """
    existing = next(candidate for candidate in (folder, *folder.absolute().parents) if os.path.lexists(candidate))
    if existing == folder and new:
        raise RunFolderError("the output exists", folder, advice="choose another --output")
    if not existing.is_dir():
        raise RunFolderError("this is no folder", existing, advice="choose another --output")
    if existing != folder and not os.access(existing, os.W_OK):
        raise RunFolderError("nothing can be written here", existing, advice="choose another --output")


def time_limit(text: str, settings: dict[str, Any], recipe: Path | None, overrides: Sequence[str]) -> float:
    """Return the seconds of `--time`.

    The length in the config.yaml of a run that goes on is not asked for, and is taken out of `settings`.

    Raises:
        ConfigError: it is no duration, or `settings` ask for a length, too.
    """
    from dragoman.settings.duration import parse_duration

    seconds, training = parse_duration(text), settings.get("training")
    if isinstance(training, dict):
        if recipe is not None and recipe.name == "config.yaml" and (recipe.parent / "checkpoints").is_dir():
            asked = {override.split("=", 1)[0] for override in overrides}
            for name in ("max_steps", "max_epochs"):
                if f"training.{name}" not in asked:
                    training.pop(name, None)
        if given := [name for name in ("max_steps", "max_epochs") if training.get(name) is not None]:
            problem = f"--time and training.{given[0]} both say how long to train"
            raise ConfigError(problem, recipe, advice="leave one of them out")
    return seconds


def known_languages(languages: tuple[str, str]) -> dict[str, str]:
    """Return the known ones of two languages (source, target), as settings of the data section."""
    from dragoman.text.tags import SEVERAL, UNKNOWN

    settings = dict(zip(("source_lang", "target_lang"), languages, strict=True))
    return {key: language for key, language in settings.items() if language not in (UNKNOWN, SEVERAL)}


def default_folder(settings: Mapping[str, Any]) -> Path:
    """Return runs/<corpus>-<source language>-<target language>, without unknown parts, or runs/mixed-<languages>.

    Raises:
        ConfigError: the data section is wrong.
    """
    from dragoman.data.corpus import languages
    from dragoman.data.mixture import directions
    from dragoman.text.tags import UNKNOWN

    data = data_settings(settings["data"])
    if data.corpora:
        codes = (code for direction in directions(data) for code in direction)
        return Path("runs") / "-".join(["mixed", *dict.fromkeys(codes)])
    langs = languages(data)
    name = data.corpus or _stem(data.source or data.pairs or "corpus", langs)
    parts = [re.sub(r"[^\w.-]+", "-", part) for part in (name, *langs) if part != UNKNOWN]
    return Path("runs") / "-".join(parts)


def data_settings(options: Mapping[str, Any], recipe: Path | None = None) -> DataConfig:
    """Return the section `data` with some settings.

    Args:
        recipe: where they stand, for messages.

    Raises:
        ConfigError: one is wrong.
    """
    from dragoman.settings.data_config import DataConfig
    from dragoman.settings.sections import parse_section

    return parse_section(DataConfig, options, recipe)


def readable(text: ParallelText) -> Iterator[tuple[str, str]]:
    """Yield every pair of a parallel text, and print notes on the way its file is read.

    A line that training would leave out is an error here.

    Raises:
        DataError: a line is too long, or the text cannot be read.
    """
    for note in text.notes:
        say(note)
    for number, source, target in text.numbered():
        if not isinstance(source, str) or not isinstance(target, str):
            raise DataError("a line is too long", text.name, line=number, advice="shorten it, or leave the pair out")
        yield source, target


def _stem(path: str, langs: tuple[str, str]) -> str:
    """Return the name of a corpus: corpus.en.gz -> corpus, corpus.en-de.tsv -> corpus."""
    from dragoman.data.formats.file_names import file_stem

    name = file_stem(path)
    for suffix in (*langs, "-".join(langs)):
        name = name.removesuffix(f".{suffix}")
    return name
