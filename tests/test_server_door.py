"""What a server looks at before it reads: keys, sizes, wrong types, bodies that never end, JSON without measure."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from serving import KEY, client_of, require_server, server_config, write_many

require_server()

from dragoman.errors import FullDiskError  # noqa: E402
from dragoman.server.api_errors import ApiError, api_error  # noqa: E402
from dragoman.server.bodies import Bodies, parse_json  # noqa: E402
from dragoman.server.native_schema import StreamRequest, TranslateRequest  # noqa: E402
from dragoman.server.pulse import Pulse  # noqa: E402
from dragoman.server.translation_service import in_turns  # noqa: E402

GOOD: dict[str, Any] = {"texts": ["A dog"], "source": "en", "target": "de"}


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_many(tmp_path_factory.mktemp("models") / "many")


@pytest.fixture(scope="module")
def client(model: Path) -> Iterator[Any]:
    with client_of(model, api_keys=[KEY], suggestions=str(model.parent / "said.jsonl"), queue_limit=2_000) as client:
        yield client


def wrong() -> ApiError:
    return ApiError(400, "no JSON")


def error_of(answer: Any) -> str:
    error = answer.json()["error"]  # a message, or OpenAI's form
    return str(error["message"] if isinstance(error, dict) else error)


# ------------------------------------------------------------------------------------------------ keys


@pytest.mark.parametrize("path", ["/v1/translate", "/v1/translate/stream", "/v1/models"])
def test_the_key_is_asked_for_before_the_body_is_read(client: Any, monkeypatch: pytest.MonkeyPatch, path: str) -> None:
    def read(*_: object) -> Any:
        raise AssertionError("the body was read")

    monkeypatch.setattr("dragoman.server.checked_route.parse_json", read)
    answer = client.post(path, content=b'{"texts": [1]}', headers={"content-type": "application/json"})
    assert answer.status_code in (400, 403)
    assert "key" in error_of(answer)


def test_a_client_that_must_wait_is_told_before_its_text_is_read(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with client_of(model, req_limit=1) as client:
        good = {"q": "A dog", "source": "en", "target": "de"}
        assert client.post("/translate", json=good).status_code == 200
        monkeypatch.setattr("dragoman.server.libretranslate_input.parse_json", None)
        assert client.post("/translate", json=good).status_code == 429


# ------------------------------------------------------------------------------------------------ wrong types

WRONG: list[Any] = [1, 0.5, True, None, {}, [], "x", {"a": 1}, [1], [[]]]


@pytest.mark.parametrize("field", sorted(TranslateRequest.model_fields))
@pytest.mark.parametrize("item", WRONG, ids=repr)
def test_the_first_wrong_item_ends_the_validation(field: str, item: Any) -> None:
    """A list of any length in any place gives no more errors than the shortest."""
    from pydantic import ValidationError

    def n_errors(length: int) -> int:
        try:
            TranslateRequest.model_validate({**GOOD, field: [item] * length})
        except ValidationError as error:
            return error.error_count()
        return 0

    assert n_errors(2_000) <= n_errors(2) <= 100


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"texts": ["a"] * 1_001}, "exceeds text limit"),
        ({"terms": [{"source": "a"}] * 50_001}, "more than 50,000 terms"),
        ({"terms": [{"source": "a", "targets": ["b"] * 50_001}]}, "more than 50,000 terms"),
        ({"texts": [{"text": "a", "terms": [{"source": "a"}] * 501}] * 100}, "more than 50,000 terms"),
        ({"term_lists": ["x"] * 1_001}, "more than 1,000 names"),
        ({f"f{n}": 1 for n in range(101)}, "more than 100 fields"),
        ({"texts": [{"text": "a"} | {f"f{n}": 1 for n in range(101)}]}, "more than 100 fields"),
    ],
)
def test_lists_are_counted_before_they_are_validated(
    client: Any, monkeypatch: pytest.MonkeyPatch, change: dict[str, Any], says: str
) -> None:
    monkeypatch.setattr(TranslateRequest, "__pydantic_validator__", None)
    answer = client.post("/v1/translate", json={**GOOD, **change}, headers={"authorization": f"Bearer {KEY}"})
    assert answer.status_code == 400
    assert says in error_of(answer)


def test_the_schema_still_has_the_requests(client: Any) -> None:
    schemas = client.get("/spec").json()["components"]["schemas"]
    assert {TranslateRequest.__name__, StreamRequest.__name__} <= schemas.keys()


# ------------------------------------------------------------------------------------------------ JSON


@pytest.mark.parametrize("depth", [500, 900, 1_100, 50_000])
@pytest.mark.parametrize("field", ["q", "source", "target", "format", "alternatives", "api_key"])
@pytest.mark.parametrize("path", ["/translate", "/detect", "/suggest", "/v1/translate"])
def test_lists_in_lists_are_the_clients_error(client: Any, path: str, field: str, depth: int) -> None:
    values = {"q": '"a"', "s": '"a"', "source": '"en"', "target": '"de"', "texts": '["a"]', "api_key": f'"{KEY}"'}
    values[field] = "[" * depth + "]" * depth
    body = "{" + ",".join(f'"{name}": {value}' for name, value in values.items()) + "}"
    headers = {"content-type": "application/json", "authorization": f"Bearer {KEY}"}
    answer = client.post(path, content=body, headers=headers)
    assert answer.status_code == 200 or 400 <= answer.status_code < 500
    assert answer.status_code != 200 or field != "q"  # other fields may be none that this path reads


@pytest.mark.parametrize("unit", [b"[],", b"{},", b"1,", b'"a",', b'"\\\\",', b"[[],", b'{"a":'])
def test_json_of_too_many_values_is_refused_before_it_is_read(unit: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json, "loads", None)
    with pytest.raises(ApiError, match="more than 200,000 values"):
        parse_json(b"[" + unit * 250_000, wrong)


@given(st.lists(st.text(alphabet='[]{},:\\"a'), max_size=8), st.integers(0, 3))
def test_values_are_counted_outside_strings_alone(texts: list[str], depth: int) -> None:
    """A long text of brackets, commas and quotation marks is one value."""
    value: Any = ["[{,:" * 60_000 + '"\\', *texts]
    for _ in range(depth):
        value = [value]
    assert parse_json(json.dumps(value).encode(), wrong) == value


@pytest.mark.parametrize("n_bytes", [2_000, 200_000])
def test_a_form_of_any_length_is_read_and_its_fields_are_counted(n_bytes: int, client: Any) -> None:
    form = {"content-type": "application/x-www-form-urlencoded"}
    good = f"api_key={KEY}&source=en&target=de&q=".encode() + b"%41" * (n_bytes // 3)
    answer = client.post("/translate", content=good, headers=form)
    assert answer.json()["translatedText"] == "A" * (n_bytes // 3)
    answer = client.post("/translate", content=good + b"&a=b" * 10_000, headers=form)
    assert (answer.status_code, error_of(answer)) == (400, "Invalid request: the form has more than 10000 fields")


# ------------------------------------------------------------------------------------------------ bodies


def body_of(bodies: Bodies, parts: list[bytes], *, announced: int | None = None) -> Any:
    messages = [{"type": "http.request", "body": part, "more_body": True} for part in parts]

    async def receive() -> Any:
        if not messages:
            await asyncio.sleep(60)
        return messages.pop(0)

    headers = [] if announced is None else [(b"content-length", str(announced).encode())]
    return bodies.open({"type": "http", "headers": headers}, receive)


def in_loop(work: Callable[[], Any]) -> None:
    asyncio.run(work())


def test_all_bodies_together_have_a_limit_and_short_ones_have_room(model: Path) -> None:
    bodies = Bodies(server_config(model, body_limit=2**20))

    async def work() -> None:
        held = []
        for _ in range(bodies.most_bytes // (2**20 - 2**16)):
            body = body_of(bodies, [b"x" * 2**20])
            await body.receive()
            held.append(body)
        with body_of(bodies, [b"x" * 2**20]) as body, pytest.raises(ApiError, match="too many long requests"):
            await body.receive()
        with body_of(bodies, [b"x" * 2**16]) as body:  # a short one
            assert len((await body.receive())["body"]) == 2**16
        for body in held:
            with body:
                pass
        assert bodies.n_bytes == 0

    in_loop(work)


def test_a_body_has_a_limit_and_a_deadline(model: Path) -> None:
    bodies = Bodies(server_config(model, body_limit=2_000, read_timeout=0.05))

    async def work() -> None:
        for announced in (2_001, 10**30):
            with pytest.raises(ApiError, match="more than 2,000 bytes"):
                body_of(bodies, [], announced=announced)
        for parts, says in (([b"x" * 1_001] * 2, "more than 2,000 bytes"), ([b"x"], "within 0.05 seconds")):
            with body_of(bodies, parts) as body:
                await body.receive()
                with pytest.raises(ApiError, match=says):
                    await body.receive()
        assert bodies.n_bytes == 0

    in_loop(work)


def test_an_upload_does_not_touch_the_disk(client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not even if it is larger than Starlette keeps in RAM, and the folder for temporary files is full."""

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("tempfile._TemporaryFileWrapper", full)
    monkeypatch.setattr("tempfile.TemporaryFile", full)
    content = b"1 2 3.\n" * 200_000
    data = {"source": "en", "target": "de", "api_key": KEY}
    answer = client.post("/translate_file", files={"file": ("a.txt", content)}, data=data)
    assert answer.status_code == 400  # more lines than the queue holds
    assert "too many" in error_of(answer)


def test_a_full_disk_says_so(client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    import errno

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    said = {"q": "A dog", "s": "Ein Hund", "source": "en", "target": "de", "api_key": KEY}
    answer = client.post("/suggest", json=said)
    assert (answer.status_code, error_of(answer)) == (507, "the server's disk is full")
    monkeypatch.undo()
    assert client.post("/suggest", json={**said, "q": "Two dogs"}).status_code == 200
    assert api_error(FullDiskError("x"), 1).status == 507


# ------------------------------------------------------------------------------------------------ lines and health


@pytest.mark.parametrize("q", ["a\n" * 2_001, "\r" * 2_001, ["a\n" * 30] * 100])
def test_more_lines_than_the_queue_holds_are_refused(client: Any, q: Any) -> None:
    answer = client.post("/translate", json={"q": q, "source": "en", "target": "de", "api_key": KEY})
    assert answer.status_code == 400
    assert "exceeds line limit (2000)" in error_of(answer)


def test_health_is_bad_while_somebody_waits_and_nobody_is_answered() -> None:
    now = [0.0]
    pulse = Pulse(10, lambda: now[0])
    now[0] = 1_000  # nobody asked for long
    pulse.require()
    with pulse.waiting():
        pulse.require()
        now[0] += 9
        with pulse.waiting():
            pass
        now[0] += 9
        pulse.require()
        now[0] += 2
        with pytest.raises(ApiError, match="nobody was answered for 11 seconds"):
            pulse.require()
        with contextlib.suppress(ApiError), pulse.waiting():
            raise ApiError(400, "a client's error is an answer")
        pulse.require()


def test_failures_are_no_answers() -> None:
    now = [0.0]
    pulse = Pulse(10, lambda: now[0])
    for _ in range(2):
        with contextlib.suppress(ApiError), pulse.waiting():
            now[0] += 6
            raise ApiError(503, "late")
    pulse.require()  # nobody waits
    with pulse.waiting(), pytest.raises(ApiError, match="12 seconds"):
        pulse.require()


def test_health_tells_it(client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    assert client.get("/health").status_code == 200
    refusal = ApiError(503, "nobody was answered")
    monkeypatch.setattr(Pulse, "require", lambda _: (_ for _ in ()).throw(refusal))
    for path in ("/health", "/v1/health/ready"):
        assert client.get(path).status_code == 503
    assert client.get("/v1/health/live").status_code == 200


def test_others_are_answered_between_two_bodies_that_are_read(model: Path) -> None:
    bodies, steps = Bodies(server_config(model)), list[str]()

    async def read() -> None:
        async with bodies.turn():
            steps.append("body")

    async def answer() -> None:
        while steps.count("body") < 4:
            steps.append("other")
            await asyncio.sleep(0)

    async def work() -> None:
        await asyncio.gather(*(read() for _ in range(4)), answer())

    in_loop(work)
    assert "bodybody" not in "".join(steps)


def test_others_are_answered_between_the_lines_of_a_request() -> None:
    n_others, found = 0, list[int]()

    async def answer() -> None:
        nonlocal n_others
        while len(found) < 5_000:
            n_others += 1
            await asyncio.sleep(0)

    async def read() -> None:
        found.extend([number async for number in in_turns(range(4_000))])
        found.extend([number async for number in in_turns(range(4_000, 5_000))])

    async def work() -> None:
        await asyncio.gather(read(), answer())

    in_loop(work)
    assert found == [*range(5_000)]
    assert n_others >= 10
