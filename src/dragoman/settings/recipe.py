"""Recipes: YAML files with the sections of a `Config`, and the `--set a.b=c` that is laid over them."""

from __future__ import annotations

import io
import json
import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

import yaml

from dragoman.errors import ConfigError
from dragoman.settings.config import Config
from dragoman.settings.data_config import DataConfig
from dragoman.settings.presets import PRESETS, SIZES
from dragoman.settings.sections import Section, parse_section, problems_of
from dragoman.settings.tokenizer_config import TokenizerConfig

#: YAML is read at some 50 kB a second.
MAX_RECIPE_BYTES = 100_000
#: Sections, their settings, and lists of them: nothing in a recipe lies deeper.
MAX_DEPTH = 10
MAX_CHARACTERS = 1_000


def read_recipe(path: Path | None, overrides: Sequence[str] = ()) -> dict[str, Any]:
    """The settings of a recipe file with `a.b=c` overrides laid over it, not yet checked.

    Raises:
        ConfigError: the file is not a YAML mapping of at most 100 kB, or an override is not `key=value`.
    """
    settings = _read_yaml(path) if path is not None else {}
    if path is not None and path.name == "config.yaml":
        _drop_pad_id(settings)
    override_settings(settings, overrides)
    return settings


def _drop_pad_id(settings: dict[str, Any]) -> None:
    """Drop `model.pad_id`, which runs of release 0.1.0 have noted, and which is 0 in all of them."""
    model = settings.get("model")
    if isinstance(model, dict) and model.get("pad_id") == 0:
        del model["pad_id"]


def override_settings(settings: dict[str, Any], overrides: Sequence[str]) -> None:
    """Lay `a.b=c` overrides over settings, in place.

    Raises:
        ConfigError: an override is not `key=value`, or its value is not YAML.
    """
    for override in overrides:
        key, equals, text = override.partition("=")
        if not equals or not key or key.count(".") >= MAX_DEPTH:
            raise ConfigError(f"--set {override!r} is not of the form key=value", advice="e.g. --set training.lr=0.002")
        place = settings
        *sections, name = key.split(".")
        for section in sections:
            place = place.setdefault(section, {})
            if not isinstance(place, dict):
                raise ConfigError(f"--set {override!r}: {section!r} is not a section")
        try:
            place[name] = yaml.load(text, Loader=_RecipeLoader)
        except _UNREADABLE:
            raise ConfigError(f"--set {override!r}: the value is not readable", advice="quote it") from None


def parse_vary(vary: str, example: str) -> tuple[str, list[str]]:
    """A setting and its values, each once, from `key=value,value,...`; a value may be a list, `[0.9,0.98]`.

    Raises:
        ConfigError: it is not of that form; the advice is the example.
    """
    key, equals, text = vary.partition("=")
    values = re.split(r",(?![^\[]*\])", text)  # at commas outside brackets
    if not equals or not key or not all(values):
        raise ConfigError(f"--vary {vary!r} is not of the form key=value,value", advice=example)
    return key, list(dict.fromkeys(values))


def parse_config(settings: Mapping[str, Any], where: str | Path | None = None) -> Config:
    """Check settings, as read by `read_recipe`, and return them typed.

    `model.preset` is filled in first, and `data.max_length` where the model reads less than its default. A preset ties
    all embeddings; where the sides have vocabularies of their own, those of the decoder.

    Raises:
        ConfigError: lists every unknown key, wrong type, value out of range and contradiction.
    """
    settings = dict(settings)
    model = settings.get("model")
    if isinstance(model, dict) and "preset" in model:
        model = dict(model)
        preset = model["preset"]
        if not isinstance(preset, str) or preset not in PRESETS:
            del model["preset"]
            others = problems_of(Config, {**settings, "model": model})
            advice = f"choose one of {', '.join(PRESETS)}"
            raise ConfigError(f"unknown preset {preset!r}", where, advice=advice, details=others)
        del model["preset"]
        of_two_vocabularies = {} if _is_joint(settings.get("tokenizer")) else {"tie": "decoder"}
        model = {**PRESETS[preset], **of_two_vocabularies, **model}
        settings["model"] = model
    longest = model.get("max_length") if isinstance(model, dict) else None
    data = settings.get("data", {})
    if isinstance(longest, int) and longest <= DataConfig().max_length and isinstance(data, dict):
        settings["data"] = {"max_length": longest - 1, **data}
    return parse_section(Config, settings, where)


def check_settings(settings: Mapping[str, Any], where: str | Path | None = None) -> Config:
    """Check the settings of a training before what they leave open is chosen.

    Some sizes alone are judged beside the others of the smallest preset, which divide those of the larger ones.

    Raises:
        ConfigError: as `parse_config`.
    """
    model = settings.get("model", {})
    if isinstance(model, dict) and not is_given(model):
        settings = {**settings, "model": {"preset": "tiny", **model}}
    return parse_config(settings, where)


def check_request(
    settings: Mapping[str, Any], where: str | Path | None = None, *, given: Mapping[str, Any] | None = None
) -> Config:
    """Check the settings of a training that begins, as `check_settings` does, and refuse what would be ignored or do
    harm. Trainings that began with an older version may have it, and go on.

    Args:
        given: whole sections that are decided already, by the starting model of a fine-tuning. What is in them and was
            not asked for is nobody's mistake.

    Raises:
        ConfigError: as `parse_config`, and for what should not be asked for.
    """
    config = parse_config({**settings, **given}, where) if given else check_settings(settings, where)
    if problems := [what for section, name, what in _in_vain(config) if name in _asked(settings, section)]:
        raise ConfigError(problems[0], where, details=problems[1:])
    return config


def is_given(model: Mapping[str, Any]) -> bool:
    """Whether a section `model` says how large the model is."""
    return "preset" in model or model.keys() >= SIZES


def _asked(settings: Mapping[str, Any], section: str) -> set[str]:
    """The names of the settings of a section that are set."""
    return {name for name, value in (settings.get(section) or {}).items() if value is not None}


def _in_vain(config: Config) -> Iterator[tuple[str, str, str]]:
    """What does nothing or harm: the section and the name of the setting, and what to say."""
    tokenizer, kind = config.tokenizer, config.tokenizer.kind
    if tokenizer.has_pieces:
        if tokenizer.min_count > 1:
            what = f"tokenizer.min_count is for words and characters; with {kind}, vocab_size limits the size"
            yield "tokenizer", "min_count", what
    else:
        if tokenizer.vocab_size is not None:
            what = f"tokenizer.vocab_size is for bpe and unigram; with {kind}, min_count limits the size"
            yield "tokenizer", "vocab_size", what
        if tokenizer.sampling:
            what = f"tokenizer.sampling is for bpe and unigram; {kind} have only one way to be cut"
            yield "tokenizer", "sampling", what
        if not tokenizer.byte_fallback:
            what = f"tokenizer.byte_fallback is for bpe and unigram; {kind} never become bytes; leave it out"
            yield "tokenizer", "byte_fallback", what
    if config.model.tie == "all" and not tokenizer.is_joint:
        what = "model.tie 'all' needs one joint vocabulary; use tokenizer.joint=true or model.tie=decoder"
        yield "model", "tie", what
    if config.training.r_drop and not any(rate for name, rate in config.model if name.endswith("dropout")):
        what = "training.r_drop compares two passes with different dropout, and there is none; set model.dropout"
        yield "training", "r_drop", what


def _is_joint(tokenizer: Any) -> bool:
    """Whether a section `tokenizer`, not yet checked, asks for one vocabulary."""
    asked = tokenizer if isinstance(tokenizer, dict) else {}
    return TokenizerConfig.model_construct(kind=asked.get("kind", "bpe"), joint=asked.get("joint")).is_joint


def to_yaml(config: Section) -> str:
    """A configuration as YAML that `read_recipe` reads back."""
    text: str = yaml.safe_dump(config.model_dump(mode="json"), sort_keys=False, allow_unicode=True)
    return text


def describe_settings() -> str:
    """Every setting with its meaning and default, as a recipe in which all is commented out."""
    lines = ["# Every setting, with its default. Take the # from the lines to change; what is left is chosen for you."]
    for section, field in Config.model_fields.items():
        assert isinstance(field.annotation, type)
        lines += ["", f"{section}:"]
        if section == "model":
            lines += ["  # Sizes known to work, which the settings below adjust.", f"  #preset: {', '.join(PRESETS)}"]
        for name, setting in field.annotation.model_fields.items():
            lines += [f"  # {line}" for line in textwrap.wrap((setting.description or "").replace("None", "null"), 110)]
            values = _choices(setting.annotation)
            default = json.dumps(setting.default)
            lines.append(f"  #{name}: {default}" + (f"  # {', '.join(values)}" if values else ""))
    return "\n".join(lines)


def _choices(annotation: Any) -> tuple[str, ...]:
    """What a setting may be, where that is one of some words."""
    literals = [each for each in (annotation, *get_args(annotation)) if get_origin(each) is Literal]
    return get_args(literals[0]) if literals else ()


class _RecipeLoader(yaml.SafeLoader):
    """YAML with repairs: `1e-4` is a number, and `no` is Norwegian; a key given twice, or one that is no word, is an
    error; no references, and no types (`!!bool yes`), which PyYAML does not always check."""

    depth = 0

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        event: Any = self.peek_event()  # type: ignore[no-untyped-call]
        mark, problem = event.start_mark, None
        if isinstance(event, yaml.AliasEvent):
            problem = "references (*) are not used in recipes"
        elif event.tag is not None:
            problem = "types (!) are not used in recipes"
        elif isinstance(event, yaml.ScalarEvent) and len(event.value) > MAX_CHARACTERS:
            problem = f"more than {MAX_CHARACTERS:,} characters"
        elif self.depth == MAX_DEPTH:
            problem = f"more than {MAX_DEPTH} levels"
        if problem is not None:
            raise yaml.MarkedYAMLError(None, None, problem, mark)
        self.depth += 1
        node = super().compose_node(parent, index)
        self.depth -= 1
        return node

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen: set[object] = set()
        for key_node, _ in node.value:
            key = self.construct_object(key_node, deep=True)
            if not isinstance(key, str):
                raise yaml.MarkedYAMLError(None, None, f"the key {key!r} is not a word", key_node.start_mark)
            if key in seen:
                raise yaml.MarkedYAMLError(None, None, f"the key {key!r} is given twice", key_node.start_mark)
            seen.add(key)
        return super().construct_mapping(node, deep)


_RecipeLoader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:bool" or first in "tTfF"]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
_RecipeLoader.add_implicit_resolver(
    "tag:yaml.org,2002:float", re.compile(r"^[-+]?[0-9]+(\.[0-9]*)?[eE][-+]?[0-9]+$"), list("-+0123456789")
)


#: What PyYAML raises for text that is no YAML, and for numbers and characters that there are not.
_UNREADABLE = (yaml.YAMLError, ValueError, OverflowError, RecursionError)


def _read_yaml(path: Path) -> dict[str, Any]:
    try:
        with open(path, "rb") as file:
            content = file.read(MAX_RECIPE_BYTES + 1)  # no more, for a device never ends
    except OSError as error:
        raise ConfigError(f"cannot read the recipe ({error.strerror})", path, advice="check the path") from None
    if len(content) > MAX_RECIPE_BYTES:
        raise ConfigError("the recipe is larger than 100 kB", path, advice="is this the right file?")
    try:
        settings = yaml.load(io.BytesIO(content), Loader=_RecipeLoader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        line, column = (mark.line + 1, mark.column + 1) if mark else (None, None)
        raise ConfigError(f"not readable as YAML ({error.problem})", path, line=line, byte=column) from None
    except _UNREADABLE as error:
        raise ConfigError(f"not readable as YAML ({getattr(error, 'reason', error)})", path) from None
    if settings is None:
        return {}
    if not isinstance(settings, dict) or not all(isinstance(key, str) for key in settings):
        sections = ", ".join(Config.model_fields)
        raise ConfigError(
            "this is no recipe",
            path,
            advice=f"text goes after --source and --target; recipes have sections ({sections})",
        )
    return {section: values for section, values in settings.items() if values is not None}  # as one without keys is
