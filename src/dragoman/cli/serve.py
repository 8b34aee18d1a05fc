"""`dragoman serve`: a translation server."""

from __future__ import annotations

import gc
import logging
import os
import socket
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from dragoman.cli.grouping import with_groups
from dragoman.cli.missing_packages import require_package
from dragoman.cli.option_groups import given_options
from dragoman.cli.options import model_option, option
from dragoman.cli.streams import say
from dragoman.errors import ConfigError
from dragoman.machine import devices

if TYPE_CHECKING:
    from dragoman.settings.server_config import ServerConfig


@dataclass(frozen=True)
class ServerOptions:
    """The settings of a server, by their names in `ServerConfig`; `models` is apart."""

    host: Annotated[
        str | None, option("Address to listen at; default: 127.0.0.1, this machine only.", metavar="HOST")
    ] = None
    port: Annotated[int | None, option("Default: 5000; 0 takes a free one.")] = None
    url_prefix: Annotated[str | None, option("Beginning of all paths, such as /translator.", metavar="PATH")] = None
    workers: Annotated[
        int | None, option("Processes that search at once; default: all cores.", "--workers/--threads")
    ] = None
    device: Annotated[str | None, option("auto, cpu, cuda, cuda:<n> or mps.", metavar="DEVICE")] = None
    precision: Annotated[
        devices.Precision | None, option("bfloat16 and int8 (CPU only) are less exact, and faster on some processors.")
    ] = None
    ram_limit: Annotated[
        int | None, option("MiB for all models; the one used least recently is unloaded.", metavar="MIB")
    ] = None
    terms: Annotated[
        list[str] | None, option("A term list that requests may name; may be repeated.", metavar="NAME=FILE")
    ] = None
    cache: Annotated[int | None, option("MiB of translations kept; default: 32.", metavar="MIB")] = None
    char_limit: Annotated[int | None, option("Characters of a text; default: 100000; -1 is no limit.")] = None
    batch_limit: Annotated[int | None, option("Texts of a request; default: 1000.")] = None
    alternatives_limit: Annotated[int | None, option("Alternatives of a text; default: 10.")] = None
    req_limit: Annotated[int | None, option("Texts of a client in a minute; default: no limit.")] = None
    body_limit: Annotated[int | None, option("Bytes of a request; default: 4 MiB.")] = None
    read_timeout: Annotated[float | None, option("Seconds for a request to arrive; default: 30.")] = None
    timeout: Annotated[float | None, option("Seconds for an answer; default: 60.")] = None
    queue_limit: Annotated[int | None, option("Lines that may wait; default: 20000.")] = None
    connection_limit: Annotated[int | None, option("Connections that may be open; default: 1000.")] = None
    api_keys: Annotated[
        list[str] | None, option("A key to translate; may be repeated. Others see it in the list of processes.")
    ] = None
    admin_key: Annotated[str | None, option("The key to load and unload models.", metavar="KEY")] = None
    metrics: Annotated[bool | None, option("Answer /metrics.")] = None
    metrics_key: Annotated[str | None, option("Bearer token for /metrics.", metavar="KEY")] = None
    disable_files_translation: Annotated[
        bool | None, option("Refuse /translate_file.", "--disable-files-translation/--enable-files-translation")
    ] = None
    disable_web_ui: Annotated[bool | None, option("Answer no page at /.", "--disable-web-ui/--enable-web-ui")] = None
    log_requests: Annotated[bool | None, option("Log each request, without its texts.")] = None
    memory: Annotated[
        list[str] | None,
        option("A translation memory: equal texts get its translations; may be repeated.", metavar="FILE"),
    ] = None
    suggestions: Annotated[
        str | None, option("A .jsonl file that keeps what clients send to /suggest.", metavar="FILE")
    ] = None


@with_groups
def serve(
    settings: ServerOptions,
    model: Annotated[list[str] | None, model_option("; may be repeated")] = None,
    config: Annotated[Path | None, option("A YAML file with these options by name, such as char_limit: 5000.")] = None,
) -> None:
    """Serve translations over HTTP, and a page.

    It speaks the protocols of LibreTranslate, OpenAI, DeepL and Apertium.

    Each option is also an environment variable, DRAGOMAN_SERVE_CHAR_LIMIT for --char-limit (DRAGOMAN_SERVE_MODELS for
    --model), and a line of the YAML file (models for --model). An option wins over a variable, and a variable over the
    file. LibreTranslate's own variables, such as LT_PORT, are read too.

    \b
    dragoman serve -m everyday
    curl -d q="Where is the station?" -d source=en -d target=de \\
        http://127.0.0.1:5000/translate
    """
    require_package("serve", "fastapi", "uvicorn", "python_multipart", "prometheus_client")
    from dragoman.settings.server_sources import read_server_config

    options = given_options(settings) | {"models": model or None}
    lists = {name: tuple(value) for name, value in options.items() if isinstance(value, list)}
    _run(read_server_config(options | lists, os.environ, config))


def _run(config: ServerConfig) -> None:
    """Serve until a signal comes; then answer what was accepted, and end."""
    import uvicorn

    from dragoman.server import app
    from dragoman.server.open_connections import GuardedConnection

    with _listen(config) as listener:  # before the models are loaded: a port in use is told at once
        application = app(config)
        gc.collect()
        gc.freeze()  # to look at the models' objects for garbage, again and again, holds up everybody
        settings = uvicorn.Config(
            application,
            http=partial(GuardedConnection, set(), config.connection_limit, config.read_timeout),  # type: ignore[arg-type]
            log_config=None,
            access_log=False,  # it would write query strings, which may have texts
            server_header=False,
            timeout_graceful_shutdown=round(config.timeout) + 1,
        )
        logging.getLogger("uvicorn").setLevel(logging.WARNING)
        host, port = listener.getsockname()[:2]
        address = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
        say(f"serving at http://{address}{config.url_prefix}; Ctrl-C ends")
        uvicorn.Server(settings).run(sockets=[listener])


def _listen(config: ServerConfig) -> socket.socket:
    family = socket.AF_INET6 if ":" in config.host else socket.AF_INET
    try:
        listener = socket.create_server((config.host, config.port), family=family, backlog=2048)
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno and error.errno > 0 else error.strerror
        problem = f"cannot listen at {config.host}, port {config.port} ({reason})"
        raise ConfigError(problem, advice="choose another --port or --host") from None
    # Connections inherit this. Otherwise the body of an answer waits 40 ms for the client to confirm its headers.
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listener
