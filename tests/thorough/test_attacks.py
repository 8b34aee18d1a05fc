"""A server under attack answers everybody else, and gives back the RAM that it took."""

from __future__ import annotations

import http.client
import json
import os
import signal
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest
from attacks import ATTACKS, attack, exchange, timed, translate, upload
from serving import require_server, served, write_many

require_server()
pytestmark = [
    pytest.mark.thorough,
    pytest.mark.skipif(sys.platform != "linux", reason="processes that are ended, and RAM from /proc"),
]

#: Seconds in which a request must be answered, more that a busy machine takes, and the longest that /health may take.
TIMEOUT, MORE, HEALTH = 20, 5, 0.5
#: MiB that a server and each of its processes may grow by.
GROWTH = 600
#: Requests after which RAM is read first, and all of them.
N_WARM, N_ALL = 4_000, 20_000


def sizes(process: Any) -> list[float]:
    """The RAM of a process and its children, in MiB."""
    children = [
        child
        for task in os.listdir(f"/proc/{process.pid}/task")
        for child in Path(f"/proc/{process.pid}/task/{task}/children").read_text().split()
    ]
    found = []
    for each in (process.pid, *children):
        try:
            lines = Path(f"/proc/{each}/status").read_text().splitlines()
        except OSError:  # it has just ended
            continue
        found += [int(line.split()[1]) / 1024 for line in lines if line.startswith("VmRSS:")]
    return found


@contextmanager
def repeated(work: Callable[[], Any]) -> Iterator[list[Any]]:
    """Do something while the block runs, once and again, and yield what it returns."""
    is_over, found = threading.Event(), list[Any]()

    def run() -> None:
        found.append(work())
        while not is_over.wait(0.1):
            found.append(work())

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield found
    finally:
        is_over.set()
        thread.join()


@pytest.mark.parametrize("name", ATTACKS)
def test_others_are_answered_and_the_server_ends(name: str) -> None:
    health = b"GET /health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
    options = ("--timeout", str(TIMEOUT), "--read-timeout", "5", "--workers", "2")
    with served("everyday", *options) as (process, address):
        honest = (translate(f"The dog number {number} is in the garden.") for number in range(10_000))
        usual = max(timed(lambda: exchange(address, health))[1] for _ in range(20))
        assert timed(lambda: exchange(address, next(honest)))[0] == 200
        before = max(sizes(process))
        with (
            ProcessPoolExecutor(1, get_context("spawn")) as attackers,  # its threads do not delay those that measure
            repeated(lambda: timed(lambda: exchange(address, health))) as seen,
            repeated(lambda: timed(lambda: exchange(address, next(honest)))) as others,
            repeated(lambda: max(sizes(process))) as ram,
        ):
            answers = attackers.submit(attack, address, name).result()
        process.send_signal(signal.SIGTERM)
        assert process.wait(TIMEOUT + MORE) == 143
    assert {code for code, _ in answers} <= {0, 200, 400, 408, 413, 503}
    assert max(seconds for _, seconds in answers) < TIMEOUT + 2 * MORE
    assert {code for code, _ in seen} == {200}
    assert max(seconds for _, seconds in seen) < HEALTH + 3 * usual
    assert {code for code, _ in others} == {200}
    assert max(seconds for _, seconds in others) < TIMEOUT + MORE
    assert max(ram) < before + GROWTH


def test_a_server_ends_while_it_is_attacked() -> None:
    """Its grace is the timeout of a request; nothing that it does for somebody takes longer."""
    with served("everyday", "--timeout", "3", "--workers", "1") as (process, address), ThreadPoolExecutor(8) as threads:
        for sent in (translate(">>de<<" * 5_000 + " I'm" * 5_000), upload("a.csv", b"a\n" * 2_000_000)) * 4:
            threads.submit(exchange, address, sent)
        time.sleep(1)
        process.send_signal(signal.SIGTERM)
        start = time.monotonic()
        assert process.wait(60) == 143
        assert time.monotonic() - start < 3 + 2 * MORE


HOSTILE: list[tuple[str, Any, str]] = [
    ("/v1/translate", {"texts": ["a"], "target": "de", "terms": [1] * 20_000}, "application/json"),
    ("/v1/translate", {"texts": [[]] * 900, "target": "de"}, "application/json"),
    ("/translate", "[" * 900 + "]" * 900, "application/json"),
    ("/translate", {"q": ">>de<<" * 300, "source": "en", "target": "de"}, "application/json"),
    ("/translate", {"q": "<b>a " * 100, "source": "en", "target": "de", "format": "html"}, "application/json"),
    ("/translate", {"q": "a\n" * 30_000, "source": "en", "target": "de"}, "application/json"),
    ("/translate", "x" * 100_000, "multipart/form-data; boundary=BB"),
    ("/translate_file", "--BB\r\n" * 1_000, "multipart/form-data; boundary=BB"),
]


def test_ram_is_flat_over_thousands_of_requests(tmp_path: Path) -> None:
    """One in ten is hostile."""
    words = ["the", "a", "dog", "cat", "two", "men", "red", "green", "old", "house", "runs", "sits"]
    model = write_many(tmp_path / "many")
    with served(model, "--workers", "1", "--cache", "1", "--no-log-requests") as (process, address):
        host = address.removeprefix("http://")

        def ask(numbers: range) -> Counter[int]:
            codes = Counter[int]()
            connection = http.client.HTTPConnection(host, timeout=60)
            for number in numbers:
                q = f"{words[number % 12]} {words[number // 12 % 12]} {number}"
                path, body, kind = "/translate", {"q": q, "source": "en", "target": "de"}, "application/json"
                if not number % 10:
                    path, body, kind = HOSTILE[number // 10 % len(HOSTILE)]
                content = body if isinstance(body, str) else json.dumps(body)
                connection.request("POST", path, content, {"content-type": kind})
                answer = connection.getresponse()
                answer.read()
                codes[answer.status if number % 10 else answer.status // 100] += 1
            connection.close()
            return codes

        def ask_all(first: int, last: int) -> None:
            with ThreadPoolExecutor(4) as threads:
                found = sum(threads.map(ask, (range(first + part, last, 4) for part in range(4))), Counter[int]())
            assert found.keys() <= {200, 2, 4}

        ask_all(0, N_WARM)
        warm = sizes(process)
        ask_all(N_WARM, N_ALL)
        end = sizes(process)
    print(f"RSS after {N_WARM:,} and {N_ALL:,} requests, MiB: {warm} {end}")
    assert end[0] < 1.1 * warm[0]
    assert sum(end) < 1.1 * sum(warm)
