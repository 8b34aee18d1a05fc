"""Requests through the gate: limits, headers, numbers, logs, broken ones, thousands at once."""

from __future__ import annotations

import asyncio
import json
import logging
import random
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from serving import METRICS, NamingSearch, client_of, require_server, server_config, write_many
from tiny import PAIRS

from dragoman.errors import ResourceError
from dragoman.translator import Request, Translator

require_server()

SOURCES = [source for source, _ in PAIRS]
GOOD: dict[str, Any] = {"q": SOURCES[0], "source": "en", "target": "de"}
LETTERS = "abcdefgh"


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_many(tmp_path_factory.mktemp("models") / "many")


@pytest.fixture(scope="module")
def client(model: Path) -> Iterator[Any]:
    with client_of(model, body_limit=20_000, metrics=True, metrics_key=METRICS) as client:
        yield client


# ------------------------------------------------------------------------------------------------ headers


def test_pages_of_other_sites_may_call_the_endpoints_of_libretranslate_alone(client: Any) -> None:
    open_paths = ["/languages", "/health", "/frontend/settings", "/spec", "/download_file/x"]
    for path in open_paths:
        headers = client.get(path).headers
        assert headers["access-control-allow-origin"] == "*"
        assert headers["access-control-allow-methods"] == "GET, POST"
    preflight = client.options("/translate", headers={"origin": "https://other.example"})
    assert (preflight.status_code, preflight.headers["access-control-max-age"]) == (200, "1728000")
    for path in ("/metrics", "/v1/health/live", "/v1/health/ready", "/nothing", "/"):
        for answer in (client.get(path), client.options(path, headers={"origin": "https://other.example"})):
            assert "access-control-allow-origin" not in answer.headers


def test_every_answer_has_the_headers_of_security(client: Any) -> None:
    answers = [client.get(path) for path in ("/health", "/nothing", "/metrics", "/v1/health/live")]
    answers += [client.post("/translate", json=GOOD), client.post("/translate", content=b"x" * 30_000)]
    assert [answer.status_code for answer in answers] == [200, 404, 401, 200, 200, 413]
    for answer in answers:
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["referrer-policy"] == "no-referrer"
        assert answer.headers["content-security-policy"] == "default-src 'none'; frame-ancestors 'none'"
        assert answer.headers["cache-control"] == "no-store"
        assert "server" not in answer.headers


# ------------------------------------------------------------------------------------------------ limits


def test_a_body_that_is_too_long_is_refused(client: Any, model: Path) -> None:
    answer = client.post("/translate", json={**GOOD, "q": "x" * 20_000})
    assert (answer.status_code, answer.json()) == (413, {"error": "the request has more than 20,000 bytes"})
    from dragoman.server import app

    without_its_length = call(app(server_config(model, body_limit=20_000)), messages(*[b"x" * 9_000] * 100))
    assert without_its_length[0]["status"] == 413


def test_a_client_may_send_so_many_texts(model: Path) -> None:
    with client_of(model, req_limit=4) as client:
        assert client.post("/translate", json={**GOOD, "q": SOURCES[:3]}).status_code == 200
        refused = client.post("/translate", json={**GOOD, "q": SOURCES[:2]})
        assert (refused.status_code, refused.json()) == (429, {"error": "Slowdown: 4 per 1 minute"})
        assert int(refused.headers["retry-after"]) > 0
        assert client.post("/detect", json={"q": "x"}).status_code == 200
        assert client.post("/detect", json={"q": "x"}).status_code == 429
        assert client.get("/languages").status_code == 200


def test_a_request_that_takes_too_long_is_refused_with_a_time_to_come_back(model: Path) -> None:
    with client_of(model, timeout=0.000_001) as client:
        answer = client.post("/translate", json=GOOD)
    assert answer.status_code == 503
    assert "not enough time" in answer.json()["error"]
    assert int(answer.headers["retry-after"]) > 0


# ------------------------------------------------------------------------------------------------ numbers and logs


def test_numbers_need_their_key_and_tell_what_happened(client: Any, model: Path) -> None:
    headers = {"authorization": f"Bearer {METRICS}"}
    for _ in range(2):
        client.post("/translate", json={**GOOD, "q": "Two dogs"})
    client.post("/translate", content=b"x" * 30_000)
    text = client.get("/metrics", headers=headers).text
    assert 'dragoman_http_request_duration_seconds_count{endpoint="/translate",status="200"}' in text
    assert 'dragoman_refused_requests_total{status="413"}' in text
    assert "dragoman_models_loaded 1.0" in text
    assert "process_resident_memory_bytes" in text
    values = dict(line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#"))
    for name in ("cached_lines_total", "lines_total", "target_tokens_total", "batch_segments_count"):
        assert float(values[f"dragoman_{name}"]) >= 1
    assert "Two dogs" not in text
    answer = client.get("/metrics", headers={"authorization": "Bearer wrong"})
    assert (answer.status_code, answer.json()) == (401, {"error": "Unauthorized"})
    with client_of(model) as other:
        assert other.get("/metrics").status_code == 404


def test_the_log_has_a_line_for_each_request_and_no_text(client: Any, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "dragoman"):
        client.post("/translate?api_key=hidden", params={**GOOD, "q": "secret words"})
        client.post("/translate", json={**GOOD, "q": ["secret words", "x"], "target": "secret"})
    lines = [json.loads(record.getMessage()) for record in caplog.records if record.name == "dragoman.server.gate"]
    assert [(line["endpoint"], line["status"]) for line in lines] == [("/translate", 200), ("/translate", 400)]
    assert [(line["texts"], line["characters"]) for line in lines] == [(1, 12), (2, 13)]
    assert "secret" not in caplog.text
    assert "hidden" not in caplog.text


def test_the_log_can_be_turned_off(model: Path, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "dragoman"), client_of(model, log_requests=False) as client:
        client.get("/health")
    assert "dragoman.server.gate" not in {record.name for record in caplog.records}


def test_an_internal_error_is_told_without_its_text(
    model: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise ValueError("secret words")

    monkeypatch.setattr("dragoman.server.libretranslate.translate_texts", fail)
    with client_of(model) as client, caplog.at_level(logging.INFO, "dragoman"):
        answer = client.post("/translate", json=GOOD)
    assert (answer.status_code, answer.json()) == (500, {"error": "internal error"})
    assert "internal error: ValueError in" in caplog.text
    assert "secret" not in caplog.text


# ------------------------------------------------------------------------------------------------ health


def test_alive_is_not_ready(model: Path) -> None:
    from starlette.testclient import TestClient

    from dragoman.server import app

    api = app(server_config(model))
    with TestClient(api) as client:
        assert client.get("/v1/health/ready").json() == {"status": "ok"}
    after = TestClient(api)
    assert after.get("/v1/health/live").status_code == 200
    assert after.get("/v1/health/ready").status_code == 503
    answer = after.post("/translate", json=GOOD)
    assert (answer.status_code, answer.json()) == (400, {"error": "en is not supported"})


# ------------------------------------------------------------------------------------------------ broken requests

KINDS = ["application/json", "application/x-www-form-urlencoded", "multipart/form-data; boundary=b", "text/plain", "x"]
KINDS += ["multipart/form-data", "application/json; charset=x", "multipart/form-data; boundary=b; charset=nothing"]
PIECES = [
    b"--b\r\n",
    b'Content-Disposition: form-data; name="q"\r\n\r\n',
    b"\r\n",
    b"--b--\r\n",
    b"%zz%ff",
    b"q=a&source=",
]
PIECES += [
    b'{"q": "',
    b'"}',
    b"\\ud800",
    b"en",
    b"de",
    b'", "source": "',
    b'", "target": "',
    b"\x00\xff\xfe",
    b"[",
    b"]",
]
PIECES += [b'filename="\xff.txt"', b"name=", b"file", b"\xf0\x9f", b"NaN", b"9" * 50]


@given(
    st.sampled_from(["/translate", "/detect", "/translate_file", "/suggest"]),
    st.sampled_from(KINDS),
    st.lists(st.one_of(st.sampled_from(PIECES), st.binary(max_size=8)), max_size=12),
    st.binary(max_size=12),
)
def test_a_broken_request_is_the_clients_error(
    client: Any, path: str, kind: str, body: list[bytes], query: bytes
) -> None:
    answer = client.post(path, content=b"".join(body), headers={"content-type": kind}, params={"target": query})
    assert answer.status_code < 500
    if answer.status_code >= 400:
        assert isinstance(answer.json()["error"], str)


def messages(*bodies: bytes, ends: bool = True, waits_for: threading.Event | None = None) -> Callable[[], Any]:
    """A client that sends the parts of a body and goes away, at the end or before, or at an event."""
    sent = [{"type": "http.request", "body": body, "more_body": True} for body in bodies]
    if ends and sent:
        sent[-1]["more_body"] = False
    waiting = iter([*sent, {"type": "http.disconnect"}])

    async def receive() -> Any:
        await asyncio.sleep(0.01)
        message = next(waiting)
        while message["type"] == "http.disconnect" and waits_for is not None and not waits_for.is_set():
            await asyncio.sleep(0.01)
        return message

    return receive


def call(api: Any, receive: Callable[[], Any]) -> list[Any]:
    """Post JSON to /translate, and return what the server sends."""
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": "POST",
        "scheme": "http",
        "path": "/translate",
        "raw_path": b"/translate",
        "query_string": b"",
        "root_path": "",
        "headers": [(b"content-type", b"application/json"), (b"host", b"x")],
        "client": ("127.0.0.1", 1),
        "server": ("x", 80),
    }
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    asyncio.run(api(scope, receive, send))
    return sent


def test_a_request_that_is_cut_off_gets_no_answer(model: Path) -> None:
    from dragoman.server import app

    assert call(app(server_config(model)), messages(b'{"q":', ends=False)) == []


def test_a_request_that_comes_too_slowly_is_refused(model: Path) -> None:
    from dragoman.server import app

    sent = call(app(server_config(model, read_timeout=0.05)), messages(*[b"x"] * 100))
    assert sent[0]["status"] == 408
    assert json.loads(sent[1]["body"]) == {"error": "the request did not arrive within 0.05 seconds"}
    assert (b"connection", b"close") in sent[0]["headers"]


def test_nobody_searches_for_a_client_that_has_gone(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The search sees within its next step that it is for nobody, long before its deadline."""
    from dragoman.server import app, model_shelf

    stopped: list[bool] = []
    started = threading.Event()

    class EndlessSearch(NamingSearch):
        def search(self, jobs: Any, *, batch_size: Any = None, stop: Any = None) -> Any:
            started.set()
            while not stop():
                pass
            stopped.append(stop.seconds_left > 10)
            raise stop.error()

    monkeypatch.setattr(model_shelf, "MeasuredSearch", EndlessSearch)
    api = app(server_config(model))
    assert call(api, messages(json.dumps(GOOD).encode(), waits_for=started))[0]["status"] == 499
    for _ in range(1_000):
        if not stopped:
            time.sleep(0.01)
    assert stopped == [True]


def test_a_killed_worker_costs_no_request(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its texts are searched once more; if that fails too, the client is told to come back."""
    from dragoman.server import model_shelf

    failures = [1]

    class KilledSearch(NamingSearch):
        def search(self, jobs: Any, *, batch_size: Any = None, stop: Any = None) -> Any:
            if failures[0]:
                failures[0] -= 1
                raise ResourceError("a worker process was killed")
            return super().search(jobs)

    monkeypatch.setattr(model_shelf, "MeasuredSearch", KilledSearch)
    with client_of(model) as client:
        assert client.post("/translate", json=GOOD).status_code == 200
        failures[0] = 2
        answer = client.post("/translate", json={**GOOD, "q": "Two dogs"})
        assert answer.status_code == 503
        assert int(answer.headers["retry-after"]) > 0
        assert client.post("/translate", json={**GOOD, "q": "Two dogs"}).status_code == 200


# ------------------------------------------------------------------------------------------------ many at once


def distinct_texts(n_texts: int, seed: int) -> list[str]:
    """Texts of one to four words, in one to three lines, all different."""
    draw = random.Random(seed)
    texts: dict[str, None] = {}
    while len(texts) < n_texts:
        words = ["".join(draw.choices(LETTERS, k=draw.randint(1, 6))) for _ in range(draw.randint(1, 4))]
        texts["\n".join(" ".join(words) for _ in range(draw.choice((1, 1, 1, 3))))] = None
    return list(texts)


def expected_name(translator: Translator, text: str) -> str:
    """The name that `NamingSearch` gives to each line of a text."""
    names = []
    for line in text.split("\n"):
        plan = translator.pipeline.plan([Request(line, source_lang="en", target_lang="de")])
        names.append(" ".join("-".join(map(str, job.ids)) for job in plan.jobs))
    return "\n".join(names)


def test_thousands_of_texts_in_flight_are_never_mixed(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import httpx2

    from dragoman.server import app, model_shelf

    monkeypatch.setattr(model_shelf, "MeasuredSearch", NamingSearch)
    translator, texts = Translator.load(model, device="cpu"), distinct_texts(3_000, seed=1)
    api, draw = app(server_config(model, cache=1)), random.Random(2)
    requests: list[list[str]] = []
    while len(flat := [text for each in requests for text in each]) < len(texts):
        requests.append(texts[len(flat) : len(flat) + draw.choice((1, 1, 1, 2, 8, 100))])

    async def post(client: Any, wanted: list[str]) -> None:
        q = wanted if len(wanted) > 1 else wanted[0]
        answer = await client.post("/translate", json={"q": q, "source": "en", "target": "de"})
        assert answer.status_code == 200
        found = answer.json()["translatedText"]
        for text, translation in zip(wanted, found if len(wanted) > 1 else [found], strict=True):
            assert translation == expected_name(translator, text)

    async def post_all() -> None:
        transport = httpx2.ASGITransport(api)
        async with httpx2.AsyncClient(transport=transport, base_url="http://server", timeout=60) as client:
            await asyncio.gather(*(post(client, wanted) for wanted in requests))

    asyncio.run(post_all())
    assert len(requests) > 100


def test_a_thousand_lines_do_not_hold_up_one(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import httpx2

    from dragoman.server import app, model_shelf

    class SlowSearch(NamingSearch):
        def search(self, jobs: Any, *, batch_size: Any = None, stop: Any = None) -> Any:
            time.sleep(0.02)
            return super().search(jobs)

    monkeypatch.setattr(model_shelf, "MeasuredSearch", SlowSearch)
    api, ends = app(server_config(model, cache=0)), list[str]()

    async def post(client: Any, name: str, q: Any) -> None:
        answer = await client.post("/translate", json={**GOOD, "q": q})
        assert answer.status_code == 200
        ends.append(name)

    async def post_all() -> None:
        transport = httpx2.ASGITransport(api)
        async with httpx2.AsyncClient(transport=transport, base_url="http://server", timeout=60) as client:
            large = asyncio.create_task(post(client, "large", distinct_texts(1_000, seed=4)))
            await asyncio.sleep(0.1)
            await asyncio.gather(*(post(client, "small", text) for text in SOURCES))
            await large

    asyncio.run(post_all())
    assert ends == ["small"] * len(SOURCES) + ["large"]


def test_more_than_the_queue_holds_is_refused_and_the_rest_is_answered(
    model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import httpx2

    from dragoman.server import app, model_shelf

    monkeypatch.setattr(model_shelf, "MeasuredSearch", NamingSearch)
    api = app(server_config(model, queue_limit=50, cache=0))

    async def post_all() -> list[Any]:
        transport = httpx2.ASGITransport(api)
        async with httpx2.AsyncClient(transport=transport, base_url="http://server", timeout=60) as client:
            texts = distinct_texts(200, seed=3)
            return await asyncio.gather(*(client.post("/translate", json={**GOOD, "q": text}) for text in texts))

    answers = asyncio.run(post_all())
    refused = [answer for answer in answers if answer.status_code == 503]
    assert {answer.status_code for answer in answers} == {200, 503}
    assert len(refused) < 195
    assert all("the server is busy" in answer.json()["error"] for answer in refused)
    assert all(1 <= int(answer.headers["retry-after"]) <= 60 for answer in refused)
