"""Requests that once kept a server from answering others, or took its RAM. All of them go to this machine alone."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

#: Bytes of a body, a little below the server's limit.
SIZE = 4_190_000


def post(path: str, body: bytes, kind: str = "application/json") -> bytes:
    """Return a request."""
    head = f"POST {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: {kind}\r\n"
    return f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body


def translate(q: object, path: str = "/translate", **more: object) -> bytes:
    return post(path, json.dumps({"q": q, "source": "en", "target": "de", **more}).encode())


def upload(name: str, content: bytes, columns: str = "1") -> bytes:
    """Return a request that sends a file."""
    fields = {"source": "en", "target": "de", "columns": columns}
    form = "".join(f'--BB\r\nContent-Disposition: form-data; name="{k}"\r\n\r\n{v}\r\n' for k, v in fields.items())
    form += f'--BB\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n\r\n'
    return post("/translate_file", form.encode() + content + b"\r\n--BB--\r\n", "multipart/form-data; boundary=BB")


def filled(before: bytes, unit: bytes, after: bytes, size: int = SIZE) -> bytes:
    return before + unit * ((size - len(before) - len(after)) // len(unit)) + after


def v1(**fields: str) -> bytes:
    return json.dumps({"texts": ["a"], "target": "de", **fields}).encode()


def wrong_types(field: str, unit: bytes, last: bytes) -> bytes:
    """Return a request to /v1/translate with a field that is a long list of a wrong type."""
    return post("/v1/translate", filled(b'{"target":"de","%s":[' % field.encode(), unit, last + b"]}"))


PO = b'msgid ""\nmsgstr "Content-Type: text/plain; charset=UTF-8\\n"\n\n'

FORM = "application/x-www-form-urlencoded"

#: Each with the requests that are sent at the same time.
ATTACKS: dict[str, Callable[[], list[bytes]]] = {
    "terms of a wrong type": lambda: [wrong_types("terms", b"1,", b"1")] * 3,
    "terms of a wrong type, objects": lambda: [wrong_types("terms", b"{},", b"{}")] * 3,
    "texts of a wrong type": lambda: [wrong_types("texts", b"[],", b"[]")] * 3,
    "texts, too many": lambda: [wrong_types("texts", b'"a",', b'"a"')] * 3,
    "fields, too many": lambda: [
        post("/v1/translate", b"{" + b",".join(b'"%d":1' % n for n in range(SIZE // 11)) + b"}")
    ],
    "lists in lists": lambda: [post("/translate", b'{"q":' + b"[" * n + b"]" * n + b"}") for n in (500, 900, 50_000)],
    "many empty lists": lambda: [post("/translate", filled(b'{"q":[', b"[],", b"[]]}"))] * 3,
    "language tags": lambda: [translate((">>de<<" * 5_000 + " I'm" * 5_000)[:60_000])] * 4,
    "unclosed marks of HTML": lambda: [translate("<b>a " * 20_000, format="html")] * 2,
    "brackets": lambda: [translate("([{<" * 25_000)] * 4,
    "short lines": lambda: [translate("a\n" * 50_000), translate(["a\n" * 49_000] * 20)],
    "as many lines as the queue takes": lambda: [
        translate(["".join(f"dog {n}\n" for n in range(9_900))] * 2),
        upload("a.csv", "".join(f"dog {n}\n" for n in range(19_900)).encode()),
    ],
    "a table of short lines": lambda: [upload("a.csv", b"a\n" * (SIZE // 2 - 500))] * 2,
    "a catalogue of short messages": lambda: (
        [upload("a.po", filled(PO, b'msgid "a"\nmsgstr ""\n\n', b"", SIZE - 1_000))] * 2
    ),
    "a page of marks": lambda: [upload("a.html", filled(b"<p>", b"<b>a ", b"", SIZE - 1_000))] * 2,
    "a page of brackets": lambda: [upload("a.md", filled(b"", b"[", b"", SIZE - 1_000))] * 2,
    "a form of percent signs": lambda: [post("/translate", b"q=" + b"%" * SIZE, FORM)] * 6,
    "bodies without an end": lambda: [post("/translate", b"x" * SIZE)[:-10]] * 100,
}


def exchange(address: str, sent: bytes, seconds: float = 120) -> bytes:
    """Send a request, and return its answer; it may come before all was sent."""
    host, _, port = address.removeprefix("http://").partition(":")
    received = b""
    with socket.create_connection((host, int(port)), timeout=seconds) as connection:
        try:
            connection.sendall(sent)
            while chunk := connection.recv(65_536):
                received += chunk
        except OSError:  # it hung up
            pass
    return received


def status(answer: bytes) -> int:
    return int(answer.split()[1]) if answer else 0


def timed(work: Callable[[], bytes]) -> tuple[int, float]:
    start = time.monotonic()
    return status(work()), time.monotonic() - start


def attack(address: str, name: str) -> list[tuple[int, float]]:
    """Send the requests of an attack together, and return the status of each with the seconds that it took."""
    requests = ATTACKS[name]()
    with ThreadPoolExecutor(len(requests)) as threads:
        return list(threads.map(lambda sent: timed(lambda: exchange(address, sent)), requests))
