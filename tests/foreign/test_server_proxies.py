"""The server behind nginx and Caddy, with the files of docs/guide/serve.md."""

from __future__ import annotations

import json
import re
import socket
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.error import HTTPError

import pytest
from extras import require_program
from serving import require_server, served, write_many
from tiny import PAIRS

require_server()

PAGE = Path(__file__).resolve().parents[2] / "docs/guide/serve.md"
PREFIX = "/translator"
SOURCES = [source for source, _ in PAIRS]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    model = write_many(tmp_path_factory.mktemp("models") / "many")
    with served(model, "--workers", "1", "--url-prefix", PREFIX, "--req-limit", "30") as (_, address):
        yield address.removesuffix(PREFIX)


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
    return port


@contextmanager
def proxy(name: str, server: str, folder: Path) -> Iterator[str]:
    """Run a proxy with the settings that the page shows, except the addresses."""
    program = require_program(name, name, "/usr/sbin:/usr/bin:/usr/local/bin")
    port, page = free_port(), PAGE.read_text(encoding="utf-8")
    if name == "nginx":
        (shown,) = re.findall(r"^location .*?^}", page, re.M | re.S)
        site = shown.replace("http://127.0.0.1:5000", server)
        paths = "".join(
            f"{kind}_temp_path {folder}/{kind};" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
        )
        whole = f"""daemon off; pid {folder}/pid; error_log stderr; events {{}}
        http {{ access_log off; {paths} server {{ listen 127.0.0.1:{port}; {site} }} }}"""
        (file := folder / "nginx.conf").write_text(whole)
        command = [program, "-p", str(folder), "-c", str(file)]
    else:
        (shown,) = re.findall(r"`(reverse_proxy .*?)`", page)
        site = shown.replace("127.0.0.1:5000", server.removeprefix("http://"))
        (file := folder / "Caddyfile").write_text(f"{{\n admin off\n}}\nhttp://127.0.0.1:{port} {{\n {site}\n}}\n")
        command = [program, "run", "--adapter", "caddyfile", "--config", str(file)]
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL, env={"HOME": str(folder), "PATH": "/usr/bin:/bin"})
    try:
        for _ in range(200):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.05)
        yield f"http://127.0.0.1:{port}{PREFIX}"
    finally:
        process.terminate()
        process.wait(20)


def ask(address: str, path: str, body: object = None, headers: dict[str, str] | None = None) -> str:
    content = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(address + path, content, {"Content-Type": "application/json", **(headers or {})})
    with urllib.request.urlopen(request, timeout=30) as answer:
        text: str = answer.read().decode()
    return text


@pytest.mark.parametrize("name", ["nginx", "caddy"])
def test_the_documented_settings_work(name: str, server: str, tmp_path: Path) -> None:
    text = {"q": SOURCES[0], "source": "en", "target": "de"}
    with proxy(name, server, tmp_path) as address:
        direct = ask(server + PREFIX, "/translate", text)
        assert ask(address, "/translate", text) == direct
        page = ask(address, "/")
        assert "page/page.js" in page
        assert "import" in ask(address, "/page/page.js")
        events = ask(address, "/v1/translate/stream", {"text": SOURCES[0], "source": "en", "target": "de"})
        assert "event: done" in events
        boundary = "x"
        part = "--x\r\nContent-Disposition: form-data; name="
        form = "".join(f'{part}"{key}"\r\n\r\n{value}\r\n' for key, value in (("source", "en"), ("target", "de")))
        form += f'{part}"file"; filename="a.txt"\r\n\r\n{SOURCES[0]}\n\r\n--x--\r\n'
        request = urllib.request.Request(
            f"{address}/translate_file",
            form.encode(),
            {"Content-Type": f"multipart/form-data; boundary={boundary}"},
        )
        with urllib.request.urlopen(request, timeout=30) as answer:
            url = json.load(answer)["translatedFileUrl"]
        assert url.startswith(f"{address}/download_file/")
        with urllib.request.urlopen(url, timeout=30) as file:
            assert file.read().strip()


@pytest.mark.parametrize("name", ["nginx", "caddy"])
def test_a_client_cannot_choose_the_address_that_limits_count(name: str, server: str, tmp_path: Path) -> None:
    """Each request claims another address. The proxy tells the true one, so the limit of texts is reached."""
    body = {"q": [SOURCES[0]] * 20, "source": "en", "target": "de"}
    with proxy(name, server, tmp_path) as address:
        statuses = []
        for number in range(3):
            try:
                ask(address, "/translate", body, {"X-Forwarded-For": f"10.0.0.{number}"})
                statuses.append(200)
            except HTTPError as error:
                statuses.append(error.code)
                error.close()
    assert 429 in statuses
