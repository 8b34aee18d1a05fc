"""Sources of a server's settings: options, the environment, a YAML file; the first of them wins."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, get_args, get_origin

from pydantic import TypeAdapter, ValidationError

from dragoman.errors import ConfigError
from dragoman.settings.sections import parse_section
from dragoman.settings.server_config import ServerConfig
from dragoman.settings.yaml_loader import read_yaml

PREFIX = "DRAGOMAN_SERVE_"
#: The variable that names the YAML file.
FILE = f"{PREFIX}CONFIG"
#: Variables of LibreTranslate, and the settings that mean the same.
LIBRETRANSLATE = {
    "LT_HOST": "host",
    "LT_PORT": "port",
    "LT_URL_PREFIX": "url_prefix",
    "LT_CHAR_LIMIT": "char_limit",
    "LT_BATCH_LIMIT": "batch_limit",
    "LT_ALTERNATIVES_LIMIT": "alternatives_limit",
    "LT_REQ_LIMIT": "req_limit",
    "LT_THREADS": "workers",
    "LT_METRICS": "metrics",
    "LT_METRICS_AUTH_TOKEN": "metrics_key",
    "LT_DISABLE_FILES_TRANSLATION": "disable_files_translation",
    "LT_DISABLE_WEB_UI": "disable_web_ui",
}
#: LibreTranslate's switch for its database of keys. A server that ignored it would be open to all.
KEY_DATABASE = "LT_API_KEYS"


def read_server_config(
    options: Mapping[str, Any], environment: Mapping[str, str], file: Path | None = None
) -> ServerConfig:
    """Return the settings of a server.

    Args:
        options: as given on the command line or in Python; None is not given.
        environment: variables `DRAGOMAN_SERVE_<SETTING>`, then those of LibreTranslate.
        file: a YAML file with settings by their names; None is the one that the environment names, if any.

    Raises:
        ConfigError: lists every problem found.
    """
    if file is None and environment.get(FILE):
        file = Path(environment[FILE])
    settings = read_yaml(file, "server configuration", "write, for example, port: 8080") if file is not None else {}
    settings |= _from_environment(environment)
    settings |= {name: value for name, value in options.items() if value is not None}
    asks_for_keys = environment.get(KEY_DATABASE, "").lower() not in ("", "0", "false", "no", "off")
    if asks_for_keys and not settings.get("api_keys"):
        problem = f"{KEY_DATABASE} is not supported: there is no database of keys"
        raise ConfigError(problem, advice=f"list the keys in {PREFIX}API_KEYS, or unset it")
    return parse_section(ServerConfig, settings)


def _from_environment(environment: Mapping[str, str]) -> dict[str, Any]:
    names = {f"{PREFIX}{name.upper()}": name for name in ServerConfig.model_fields}
    unknown = [name for name in environment if name.startswith(PREFIX) and name not in names and name != FILE]
    if unknown:
        raise ConfigError(f"unknown setting {unknown[0]} in the environment", advice="`dragoman serve --help` has all")
    return {
        name: _value(variable, name, environment[variable])
        for variable, name in (LIBRETRANSLATE | names).items()
        if environment.get(variable)
    }


def _value(variable: str, name: str, text: str) -> Any:
    """Return a setting's value, of its type. A list is separated by commas."""
    kind = ServerConfig.model_fields[name].annotation
    if get_origin(kind) is tuple:
        return tuple(part for part in map(str.strip, text.split(",")) if part)
    choices = [part for part in get_args(kind) or (kind,) if part is not type(None)]
    simple = [get_args(part)[0] if get_origin(part) is Annotated else part for part in choices]
    if str in simple or all(isinstance(part, str) for part in simple):
        return text
    try:
        return TypeAdapter(simple[0]).validate_strings(text)
    except ValidationError as error:
        reason = error.errors()[0]["msg"]
        problem = f"{variable}: {reason[:1].lower()}{reason[1:]}, got {text[:60]!r}"
        raise ConfigError(problem, advice="check the environment") from None
