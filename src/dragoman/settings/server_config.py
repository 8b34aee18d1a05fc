"""Settings of `dragoman serve`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from dragoman.settings.ranges import Positive
from dragoman.settings.sections import Section

#: A limit on what a request may ask for; -1 is none, as LibreTranslate has it.
Limit = Annotated[int, Field(ge=-1, le=10**9)]
Seconds = Annotated[float, Field(gt=0, le=86_400)]
MebiBytes = Annotated[int, Field(ge=0, le=2**20)]


class ServerConfig(Section):
    """A server: its models, its address, and what it allows."""

    listed_by: ClassVar[str] = "dragoman serve --help"

    models: tuple[str, ...] = ()
    """Bundles, run folders (their best) or installed models. Of two with the same direction, the first one is used."""
    host: str = "127.0.0.1"
    """The address to listen at; 0.0.0.0 is every address of this machine."""
    port: Annotated[int, Field(ge=0, le=65_535)] = 5000
    """0 takes a free one."""
    url_prefix: str = ""
    """The beginning of all paths, such as /translator."""
    workers: Annotated[int, Field(ge=1, le=1_024)] | None = None
    """Processes that search at once; None is all cores."""
    device: str = "auto"
    """auto, cpu, cuda, cuda:<n> or mps."""
    precision: Literal["float32", "bfloat16", "int8"] = "float32"
    """bfloat16 and int8 (CPU only) are less exact, and faster on processors that support them."""
    ram_limit: MebiBytes = 0
    """MiB that loaded models may take, estimated; the model that was used least recently is unloaded. 0 is no limit."""
    char_limit: Limit = 100_000
    """The most characters of a text; -1 is no limit, here and below."""
    batch_limit: Limit = 1_000
    """The most texts of a request."""
    alternatives_limit: Limit = 10
    """The most alternatives that a request may ask for."""
    req_limit: Limit = -1
    """The most texts that a client may send in a minute."""
    body_limit: Annotated[int, Field(ge=1_024, le=2**30)] = 4 * 2**20
    """The most bytes of a request."""
    read_timeout: Seconds = 30.0
    """Seconds in which the head of a request must have arrived, then its body, and in which a client must read."""
    timeout: Seconds = 60.0
    """Seconds in which a request must be answered; it is refused when they have passed."""
    queue_limit: Positive = 20_000
    """Lines that are accepted and not translated yet, and lines of one request; what comes beyond is refused."""
    connection_limit: Positive = 1_000
    """Connections that may be open to `dragoman serve`; what comes beyond is refused."""
    cache: MebiBytes = 32
    """MiB of translations that are kept for the next time that somebody asks; 0 is none."""
    terms: tuple[str, ...] = ()
    """Term lists that requests may name, each as NAME=FILE."""
    api_keys: tuple[str, ...] = ()
    """If there are any, a request to translate needs one of them."""
    admin_key: str | None = None
    """Allows to load and unload models; without it, nobody may."""
    metrics: bool = False
    """Answer /metrics, for Prometheus."""
    metrics_key: str | None = None
    """If set, /metrics needs it as its bearer token."""
    memory: tuple[str, ...] = ()
    """Translation memories (TMX, tables, JSONL), whose translations of equal texts are used; the later file wins."""
    suggestions: str | None = None
    """A .jsonl file that keeps what clients send to /suggest, which is used at once; None refuses it."""
    disable_files_translation: bool = False
    """Refuse /translate_file."""
    disable_web_ui: bool = False
    """Answer 404 at /, where the page is."""
    log_requests: bool = True
    """Log a line for each request, without its texts."""

    def contradictions(self) -> Iterator[str]:
        """Yield a prefix that is no path, and keys that nobody could send."""
        if self.url_prefix and not re.fullmatch(r"(/[A-Za-z0-9._~-]+)+", self.url_prefix):
            yield f"url_prefix {self.url_prefix!r} is no path such as /translator"
        names = [re.match(r"([A-Za-z0-9._-]{1,64})=.", entry) for entry in self.terms]
        for entry, match in zip(self.terms, names, strict=True):
            if match is None:
                yield f"terms: {entry!r} is no NAME=FILE, such as medicine=terms.csv"
        if len({match[1] for match in names if match}) < sum(match is not None for match in names):
            yield "terms: two lists have the same name"
        keys = [("api_keys", key) for key in self.api_keys]
        keys += [(name, key) for name in ("admin_key", "metrics_key") if (key := getattr(self, name)) is not None]
        for name, key in keys:
            if not re.fullmatch(r"[!-~]{8,200}", key):
                yield f"{name}: a key has 8 to 200 ASCII characters without spaces"
        if self.metrics_key is not None and not self.metrics:
            yield "metrics_key is for metrics; set metrics too"
