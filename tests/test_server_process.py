"""`dragoman serve` as a process: clients that others wrote, broken connections, signals, a killed worker."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from urllib.error import HTTPError
from urllib.parse import urlencode

import pytest
from extras import import_extra
from forks import PATIENCE
from serving import require_server, served, write_many
from tiny import PAIRS

from dragoman.cli.serve import _listen
from dragoman.settings.server_config import ServerConfig
from dragoman.translator import Translator

require_server()
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals")

SOURCES = [source for source, _ in PAIRS]
SOURCE_FOLDER = Path(__file__).resolve().parent.parent / "src"


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_many(tmp_path_factory.mktemp("models") / "many")


@pytest.fixture(scope="module")
def address(model: Path) -> Iterator[str]:
    with served(model, "--workers", "1", "--read-timeout", "1", "--body-limit", "100000") as (_, address):
        yield address


@pytest.fixture(scope="module")
def oracle(model: Path) -> Translator:
    return Translator.load(model, device="cpu")


def german(oracle: Translator, text: str) -> str:
    return oracle.translate(text, source_lang="en", target_lang="de").text


def post(address: str, text: str, target: str = "de") -> str:
    body = json.dumps({"q": text, "source": "en", "target": target}).encode()
    request = urllib.request.Request(f"{address}/translate", body, {"content-type": "application/json"})
    with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
        translation: str = json.load(answer)["translatedText"]
    return translation


# ------------------------------------------------------------------------------------------------ clients


def test_libretranslatepy(address: str, oracle: Translator) -> None:
    package = import_extra("libretranslatepy", "dev")
    api = package.LibreTranslateAPI(f"{address}/")
    assert api.translate(SOURCES[0], "en", "de") == german(oracle, SOURCES[0])
    assert api.detect("Die Katze sitzt auf der Matte und schläft.")[0]["language"] == "de"
    assert {each["code"] for each in api.languages()} == {"en", "de", "zh"}


def test_deep_translator(address: str, oracle: Translator) -> None:
    package = import_extra("deep_translator", "dev")
    translator = package.LibreTranslator(
        source="en", target="de", api_key="x", use_free_api=False, custom_url=f"{address}/"
    )
    assert translator.translate(SOURCES[1]) == german(oracle, SOURCES[1])


def test_libretranslate_aio(address: str, oracle: Translator, tmp_path: Path) -> None:
    package = import_extra("libretranslate_aio", "dev")
    (file := tmp_path / "text.txt").write_text(f"{SOURCES[0]}\n", encoding="utf-8")

    async def ask() -> None:
        async with package.AsyncLibreTranslate(base_url=address) as client:
            answers = await asyncio.gather(*(client.translate(text, source="en", target="de") for text in SOURCES))
            assert [answer.translated_text for answer in answers] == [german(oracle, text) for text in SOURCES]
            assert await client.health()

    asyncio.run(ask())
    with package.LibreTranslate(base_url=address) as client:
        answer = client.translate(SOURCES, source="en", target="de", alternatives=1)
        assert answer.translated_text == [german(oracle, text) for text in SOURCES]
        assert len(answer.alternatives) == len(SOURCES)
        detected = client.translate("Die Katze schläft auf der Matte.", source="auto", target="en").detected_language
        assert detected.language == "de"
        assert client.detect("Die Katze schläft auf der Matte.")[0].language == "de"
        assert {each.code for each in client.languages()} == {"en", "de", "zh"}
        assert client.frontend_settings().suggestions is False
        assert client.translate_file(file, source="en", target="de") is not None
        with pytest.raises(Exception, match="zz is not supported"):
            client.translate("x", source="zz", target="de")
        with pytest.raises(Exception, match="Suggestions are disabled"):
            client.suggest(q="a", s="b", source="en", target="de")


# ------------------------------------------------------------------------------------------------ broken connections


def exchange(address: str, sent: bytes, *, ends: bool = True) -> bytes:
    """Send bytes, and return all that the server answers until it closes the connection."""
    host, _, port = address.removeprefix("http://").partition(":")
    with socket.create_connection((host, int(port)), timeout=PATIENCE) as connection:
        connection.sendall(sent)
        if ends:
            connection.shutdown(socket.SHUT_WR)
        received = b""
        while chunk := connection.recv(65_536):
            received += chunk
    return received


HEAD = b"POST /translate HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: application/json\r\n"


@pytest.mark.parametrize(
    "sent",
    [
        b"",
        b"\x00\xff\x16\x03\x01" * 50,
        b"GET / HTTP/1.1\r\n",
        b"GET /" + b"x" * 100_000 + b" HTTP/1.1\r\nHost: x\r\n\r\n",
        HEAD + b"Content-Length: 50\r\n\r\n{",
        HEAD + b"Content-Length: -1\r\n\r\n{}",
        HEAD + b"Content-Length: 999999999999999999999999\r\n\r\n{}",
        HEAD + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n",
        HEAD + b"Content-Length: 200000\r\n\r\n" + b"x" * 200_000,
        HEAD + b"Content-Length: 2\r\n\r\n\xff\xff",
        b"POST /translate HTTP/9.9\r\n\r\n",
        b"POST http://other/translate HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 0\r\n\r\n",
    ],
)
def test_a_broken_connection_is_the_clients_error(address: str, oracle: Translator, sent: bytes) -> None:
    try:
        answer = exchange(address, sent)
    except OSError:  # it hung up while the client was still sending
        answer = b""
    assert not answer or 400 <= int(answer.split()[1]) < 500
    assert post(address, SOURCES[2]) == german(oracle, SOURCES[2])


def test_a_slow_client_is_told_and_hung_up(address: str) -> None:
    answer = exchange(address, HEAD + b"Content-Length: 50\r\n\r\n{", ends=False)
    assert answer.startswith(b"HTTP/1.1 408 ")
    assert b"did not arrive within 1 seconds" in answer


@pytest.mark.parametrize("sent", [b"", b"POST /translate HT", HEAD[:-2]])
def test_a_client_that_sends_no_request_is_hung_up(address: str, sent: bytes) -> None:
    start = time.monotonic()
    assert exchange_or_reset(address, sent) == b""
    assert 0.5 < time.monotonic() - start < 15


def exchange_or_reset(address: str, sent: bytes) -> bytes:
    try:
        return exchange(address, sent, ends=False)
    except ConnectionResetError:
        return b""


def send_again_and_again(connection: socket.socket, sent: bytes, times: int) -> None:
    for _ in range(times):
        connection.sendall(sent)
        time.sleep(0.05)


@pytest.mark.parametrize("head", [b"", HEAD + b"Content-Length: 1000\r\n\r\n"], ids=["head", "body"])
def test_a_request_that_drips_is_ended(address: str, head: bytes) -> None:
    """A byte every 50 milliseconds keeps nobody's connection: the whole head, and the whole body, have a second."""
    host, _, port = address.removeprefix("http://").partition(":")
    start = time.monotonic()
    with socket.create_connection((host, int(port)), timeout=PATIENCE) as connection:
        connection.sendall(head)
        with pytest.raises(OSError, match=r"Broken pipe|reset"):
            send_again_and_again(connection, b"x", 300)
    assert time.monotonic() - start < 14


def test_a_client_that_does_not_read_is_hung_up(address: str) -> None:
    """Its answers fill the buffers of both sides, and then it is gone: the server goes on."""
    host, _, port = address.removeprefix("http://").partition(":")
    request = b"GET /spec HTTP/1.1\r\nHost: x\r\n\r\n"
    with socket.create_connection((host, int(port)), timeout=PATIENCE) as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        with pytest.raises(OSError, match=r"Broken pipe|reset"):
            send_again_and_again(connection, request * 10, 400)
    assert post(address, SOURCES[2])


def test_more_connections_than_allowed_are_refused(model: Path, oracle: Translator) -> None:
    with served(model, "--workers", "1", "--connection-limit", "4", "--read-timeout", "3") as (_, address):
        host, _, port = address.removeprefix("http://").partition(":")
        idle = [socket.create_connection((host, int(port)), timeout=PATIENCE) for _ in range(4)]
        time.sleep(0.3)
        answer = exchange_or_reset(address, b"")
        assert answer.startswith(b"HTTP/1.1 503 ")
        assert b"Retry-After: 1" in answer
        assert b"too many connections" in answer
        idle.pop().close()
        time.sleep(0.3)
        assert post(address, SOURCES[2]) == german(oracle, SOURCES[2])
        for connection in idle:  # they are hung up, and make room
            assert connection.recv(1) == b""
            connection.close()
        assert len([post(address, SOURCES[2]) for _ in range(5)]) == 5


# ------------------------------------------------------------------------------------------------ life and death


def test_a_server_that_is_asked_to_end_answers_what_it_has_accepted(model: Path) -> None:
    text = "\n".join(f"Two dogs run over the {word} grass." for word in ("green", "red", "old", "new", "wet") * 60)
    with served(model, "--workers", "1", "--cache", "0") as (process, address), ThreadPoolExecutor(3) as threads:
        answers = [threads.submit(post, address, text) for _ in range(3)]
        time.sleep(0.3)
        process.send_signal(signal.SIGTERM)
        assert process.wait(PATIENCE) == 143
        for answer in answers:
            assert answer.result().count("\n") == text.count("\n")
        with pytest.raises(OSError, match="refused"):
            post(address, text)


def answered(answer: Future[str]) -> str:
    """The translation, or the status that refuses it."""
    try:
        return answer.result()
    except HTTPError as error:
        error.close()
        return str(error.code)


@pytest.mark.skipif(sys.platform != "linux", reason="workers are copies of the process, which Linux makes")
def test_a_killed_worker_costs_no_request(model: Path, oracle: Translator) -> None:
    texts = [f"{source} {word}" for source in SOURCES for word in ("one", "two", "green", "old")]
    text = "\n".join(texts * 20)
    expected = "\n".join([german(oracle, each) for each in texts] * 20)
    with served(model, "--workers", "2", "--cache", "0") as (process, address):
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        assert len(children) == 4  # two search, two prepare texts
        with ThreadPoolExecutor(4) as threads:
            answers = [threads.submit(post, address, text) for _ in range(4)]
            for child in (children[0], children[-1]):
                os.kill(int(child), signal.SIGKILL)
            assert {answered(answer) for answer in answers} <= {expected, "503"}
        assert post(address, text) == expected


def test_an_address_in_use_is_one_line(model: Path, address: str) -> None:
    port = address.rpartition(":")[2]
    command = [sys.executable, "-m", "dragoman", "serve", "-m", str(model), "--port", port, "--workers", "1"]
    environment = {**os.environ, "PYTHONPATH": str(SOURCE_FOLDER)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert done.returncode == 2
    assert f"error: cannot listen at 127.0.0.1, port {port} (Address already in use)" in done.stderr.splitlines()[-1]


def test_it_listens_at_this_machine_only(address: str) -> None:
    assert address.startswith("http://127.0.0.1:")


def test_answers_are_sent_at_once() -> None:
    """Otherwise an answer's body waits until the client has confirmed its headers."""
    with _listen(ServerConfig(port=0)) as listener:
        assert listener.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


# ------------------------------------------------------------------------------------------------ log


def test_the_log_of_the_process_has_no_text_and_no_key(model: Path) -> None:
    """Whatever writes to it: requests in every form, a document, refusals, broken requests, a client that goes away."""
    text, key = "SecretWord", "secret-key-5"
    form = urlencode({"q": text, "source": "en", "target": "de", "api_key": key})
    file = f'--b\r\nContent-Disposition: form-data; name="file"; filename="{text}.txt"\r\n\r\n{text}\r\n'
    file += "".join(
        f'--b\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'
        for name, value in (("source", "en"), ("target", "de"), ("api_key", key))
    )
    v1 = {"source": "en", "target": "de"}
    sent = [
        ("/translate", "application/x-www-form-urlencoded", form),
        (f"/translate?{form}", "", ""),
        ("/translate", "application/json", json.dumps({"q": [text], "source": text, "target": "de"})),
        ("/translate_file", "multipart/form-data; boundary=b", f"{file}--b--\r\n"),
        ("/v1/translate", "application/json", json.dumps({"texts": [text], "terms": f"{text} = x", **v1})),
        ("/v1/translate/stream", "application/json", json.dumps({"text": text, **v1})),
        (f"/{text}", "application/json", f'{{"q": "{text}'),
    ]
    log: list[str] = []
    with served(model, "--workers", "1", "--api-keys", key, log=log) as (process, address):
        for path, kind, body in sent:
            headers = {"content-type": kind, "authorization": f"Bearer {key}"}
            request = urllib.request.Request(f"{address}{path}", body.encode(), headers, method="POST")
            try:
                urllib.request.urlopen(request, timeout=PATIENCE).close()
            except HTTPError as error:
                error.close()
        host, _, port = address.removeprefix("http://").partition(":")
        for broken in (
            f"{text} {key}\r\n\r\n",
            f"POST /translate HTTP/1.1\r\nHost: x\r\nContent-Length: 99\r\n\r\n{text}",
        ):
            with socket.create_connection((host, int(port))) as connection:
                connection.sendall(broken.encode())
        process.terminate()
        process.wait(60)
    written = "".join(log)
    lines = [json.loads(line[line.index("{") :]) for line in log if "{" in line]
    statuses = {(line["endpoint"], line["status"]) for line in lines}
    assert {("/translate", 200), ("/translate_file", 200), ("/v1/translate", 200), ("other", 404)} <= statuses
    assert text.lower() not in written.lower()
    assert key not in written
