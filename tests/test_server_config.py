"""Settings of the server: every one as an option, a variable and a line of a file; every mistake in one line."""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from extras import import_extra
from test_config import bounds

from dragoman.cli.program import explain, run
from dragoman.cli.serve import serve
from dragoman.errors import ConfigError
from dragoman.settings.server_config import ServerConfig
from dragoman.settings.server_sources import LIBRETRANSLATE, read_server_config

#: A value of each setting that is not its default, as in a variable, and as it becomes.
VALUES: dict[str, tuple[str, Any]] = {
    "models": ("one, two", ("one", "two")),
    "host": ("0.0.0.0", "0.0.0.0"),
    "port": ("8080", 8080),
    "url_prefix": ("/translator", "/translator"),
    "workers": ("3", 3),
    "device": ("cpu", "cpu"),
    "precision": ("int8", "int8"),
    "ram_limit": ("500", 500),
    "char_limit": ("-1", -1),
    "batch_limit": ("5", 5),
    "alternatives_limit": ("3", 3),
    "req_limit": ("60", 60),
    "body_limit": ("2048", 2048),
    "read_timeout": ("2.5", 2.5),
    "timeout": ("10", 10.0),
    "queue_limit": ("7", 7),
    "connection_limit": ("9", 9),
    "cache": ("0", 0),
    "terms": ("one=a.csv, two=b.tsv", ("one=a.csv", "two=b.tsv")),
    "api_keys": ("one-long-key,another-key", ("one-long-key", "another-key")),
    "admin_key": ("12345678", "12345678"),
    "metrics": ("true", True),
    "metrics_key": ("87654321", "87654321"),
    "memory": ("one.tmx,two.tsv", ("one.tmx", "two.tsv")),
    "suggestions": ("s.jsonl", "s.jsonl"),
    "disable_files_translation": ("1", True),
    "disable_web_ui": ("yes", True),
    "log_requests": ("false", False),
}


def test_every_setting_has_a_value_here() -> None:
    assert VALUES.keys() == ServerConfig.model_fields.keys()
    defaults = ServerConfig().model_dump()
    assert all(defaults[name] != value for name, (_, value) in VALUES.items())


def test_every_setting_is_an_option() -> None:
    options = set(inspect.signature(serve).parameters) - {"config"}
    assert {name if name != "model" else "models" for name in options} == ServerConfig.model_fields.keys()


def test_variables_give_each_setting() -> None:
    environment = {f"DRAGOMAN_SERVE_{name.upper()}": text for name, (text, _) in VALUES.items()}
    assert read_server_config({}, environment).model_dump() == {name: value for name, (_, value) in VALUES.items()}


def test_a_file_gives_each_setting(tmp_path: Path) -> None:
    values = {name: list(value) if isinstance(value, tuple) else value for name, (_, value) in VALUES.items()}
    (file := tmp_path / "server.yaml").write_text(yaml.safe_dump(values), encoding="utf-8")
    expected = {name: value for name, (_, value) in VALUES.items()}
    assert read_server_config({}, {}, file).model_dump() == expected
    assert read_server_config({}, {"DRAGOMAN_SERVE_CONFIG": str(file)}).model_dump() == expected


def test_variables_of_libretranslate_mean_the_same() -> None:
    environment = {variable: VALUES[name][0] for variable, name in LIBRETRANSLATE.items()}
    config = read_server_config({}, environment)
    assert all(getattr(config, name) == VALUES[name][1] for name in LIBRETRANSLATE.values())


def test_options_win_over_variables_and_these_over_files(tmp_path: Path) -> None:
    (file := tmp_path / "server.yaml").write_text("port: 1\nchar_limit: 1\nreq_limit: 1\nbatch_limit: 1\n")
    environment = {"LT_CHAR_LIMIT": "2", "LT_REQ_LIMIT": "2", "LT_BATCH_LIMIT": "2", "DRAGOMAN_SERVE_REQ_LIMIT": "3"}
    config = read_server_config({"batch_limit": 4, "port": None}, environment, file)
    assert (config.port, config.char_limit, config.req_limit, config.batch_limit) == (1, 2, 3, 4)


@pytest.mark.parametrize(
    ("environment", "message"),
    [
        ({"DRAGOMAN_SERVE_PROT": "80"}, "unknown setting DRAGOMAN_SERVE_PROT in the environment"),
        ({"DRAGOMAN_SERVE_PORT": "many"}, "DRAGOMAN_SERVE_PORT: input should be a valid integer.*'many'"),
        ({"LT_METRICS": "perhaps"}, "LT_METRICS: input should be a valid boolean"),
        ({"DRAGOMAN_SERVE_PORT": "99999"}, "port: input should be less than or equal to 65535"),
        ({"DRAGOMAN_SERVE_URL_PREFIX": "translator/"}, "url_prefix 'translator/' is no path"),
        ({"DRAGOMAN_SERVE_API_KEYS": "short"}, "api_keys: a key has 8 to 200 ASCII characters"),
        ({"DRAGOMAN_SERVE_ADMIN_KEY": "with a space"}, "admin_key: a key has 8 to 200"),
        ({"DRAGOMAN_SERVE_METRICS_KEY": "12345678"}, "metrics_key is for metrics"),
        ({"DRAGOMAN_SERVE_PRECISION": "int4"}, "precision: input should be 'float32', 'bfloat16' or 'int8'"),
        ({"DRAGOMAN_SERVE_CONFIG": "/no/such/file"}, "server configuration not found: /no/such/file"),
        (
            {"LT_API_KEYS": "true"},
            "LT_API_KEYS is not supported.*; list the keys in DRAGOMAN_SERVE_API_KEYS, or",
        ),
    ],
)
def test_a_wrong_variable_is_one_line(environment: dict[str, str], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        read_server_config({}, environment)


def test_a_file_that_is_no_settings_is_told(tmp_path: Path) -> None:
    (file := tmp_path / "server.yaml").write_text("- port\n", encoding="utf-8")
    with pytest.raises(ConfigError, match=r"^this is no server configuration: .*; write, for example, port: 8080$"):
        read_server_config({}, {}, file)


def test_the_switch_for_keys_may_be_off_or_followed_by_keys() -> None:
    assert read_server_config({}, {"LT_API_KEYS": "false"}) == ServerConfig()
    keys = ("one-long-key",)
    assert read_server_config({"api_keys": keys}, {"LT_API_KEYS": "true"}) == ServerConfig(api_keys=keys)


def test_an_unknown_line_of_a_file_is_told_with_the_right_one(tmp_path: Path) -> None:
    (file := tmp_path / "server.yaml").write_text("char_limits: 5\nzebra: 1\n", encoding="utf-8")
    with pytest.raises(ConfigError) as caught:
        read_server_config({}, {}, file)
    assert "unknown key 'char_limits' (did you mean 'char_limit'?)" in str(caught.value)
    assert "unknown key 'zebra' (`dragoman serve --help` has them all)" in str(caught.value)


def test_every_number_has_both_bounds() -> None:
    sides: dict[str, set[str]] = {}
    for name, kind, _ in bounds(ServerConfig):
        sides.setdefault(name, set()).add(kind[0])
    numbers = {name for name, (_, value) in VALUES.items() if type(value) in (int, float)}
    assert {name for name, found in sides.items() if found == {"g", "l"}} == numbers


def test_a_server_without_a_model_says_what_is_missing(capsys: pytest.CaptureFixture[str]) -> None:
    import_extra("fastapi", "serve")
    assert run(["serve"]) == 2
    assert "a server without a model; name one: --model everyday" in capsys.readouterr().err
    assert run(["serve", "-m", "no-such-model"]) == 3
    assert explain(ConfigError("x")) == (2, "x")


def test_the_examples_of_a_deployment_name_settings_that_exist() -> None:
    root = Path(__file__).resolve().parent.parent
    text = "".join(path.read_text(encoding="utf-8") for path in (root / "Dockerfile", *root.glob("deploy/*")))
    names = {*re.findall(r"\b(?:DRAGOMAN_SERVE|LT)_[A-Z_]+", text)}
    assert len(names) > 4
    assert names <= {*LIBRETRANSLATE, *(f"DRAGOMAN_SERVE_{name.upper()}" for name in ServerConfig.model_fields)}
