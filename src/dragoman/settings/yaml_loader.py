"""YAML as a person writes it by hand: within limits, and without the traps of YAML 1.1."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import yaml

from dragoman.errors import ConfigError, reading_problem

#: PyYAML reads about 50 kB a second.
MAX_BYTES = 100_000
#: Sections, their settings, and lists of them: nothing in a recipe lies deeper.
MAX_DEPTH = 10
MAX_CHARACTERS = 1_000
#: PyYAML's errors for text that is no YAML, and for numbers and characters that do not exist.
UNREADABLE = (yaml.YAMLError, ValueError, OverflowError, RecursionError)


def load_yaml(text: str | bytes) -> Any:
    """Return the value that `text` describes.

    Raises:
        UNREADABLE: it is no YAML, or uses more of YAML than recipes do.
    """
    return yaml.load(text, Loader=_RecipeLoader)


def read_yaml(path: Path, title: str, advice: str) -> dict[str, Any]:
    """Return the mapping in a YAML file, without keys that have no value: an empty section is as good as none.

    Args:
        title: of what the file should have, for messages.
        advice: for a file that has something else.

    Raises:
        ConfigError: the file is not a YAML mapping of at most 100 kB.
    """
    try:
        with open(path, "rb") as file:
            content = file.read(MAX_BYTES + 1)  # a device never ends
    except OSError as error:
        raise ConfigError(reading_problem(error, title), path, advice="check the path") from None
    if len(content) > MAX_BYTES:
        raise ConfigError(f"the {title} is larger than 100 kB", path, advice=advice)
    try:
        settings = load_yaml(content)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        line, column = (mark.line + 1, mark.column + 1) if mark else (None, None)
        raise ConfigError(f"not readable as YAML ({error.problem})", path, line=line, byte=column) from None
    except UNREADABLE as error:
        raise ConfigError(f"not readable as YAML ({getattr(error, 'reason', error)})", path) from None
    if settings is None:
        return {}
    if not isinstance(settings, dict):
        raise ConfigError(f"this is no {title}", path, advice=advice)
    return {name: value for name, value in settings.items() if value is not None}


class _RecipeLoader(yaml.SafeLoader):
    """YAML in which `1e-4` is a number and `no` is Norwegian.

    A key that is given twice or is no word is an error; so are references, and types (`!!bool yes`), which PyYAML does
    not always check.
    """

    depth = 0

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        event: Any = self.peek_event()  # type: ignore[no-untyped-call]
        mark, problem = event.start_mark, None
        if isinstance(event, yaml.AliasEvent):
            problem = "references (*) are not used here"
        elif event.tag is not None:
            problem = "types (!) are not used here"
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
