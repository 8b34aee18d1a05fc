"""A server under many requests, good and broken: each good one gets its own text, and RAM stays flat."""

from __future__ import annotations

import asyncio
import json
import random
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from amount import FULL
from serving import require_server, served
from tiny import PAIRS, many_tokenizers, tiny_bundle

from dragoman.bundle.bundle import write_bundle
from dragoman.settings.search_config import SearchConfig
from dragoman.translator import Translator

require_server()
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="RAM is read from /proc")

#: Good requests, broken ones, those after which RAM is read, again and again, and connections at the same time.
N_GOOD, N_BROKEN, N_WARM = (100_000, 1_000, 10_000) if FULL else (800, 24, 300)
N_CONNECTIONS = 16
#: Short translations, of which few are equal: the server is under test, not the search.
SEARCH = SearchConfig(beam_size=1, max_length=8, repetition_penalty=3.0)
WORDS = " ".join(source for source, _ in PAIRS).split()
BROKEN = [
    b"POST /translate HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 90\r\n\r\n{",
    b"POST /translate HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999\r\n\r\n" + b"x" * 1_000,
    b"POST /v1/translate HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 3\r\n\r\n\xff\xfe{",
    b"\x16\x03\x01\x00\x00" * 20,
    b"GET / HTTP/1.1\r\nHost: " + b"x" * 70_000,
    b"POST /translate HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n-5\r\n",
]


class Connection:
    """A connection that is kept open."""

    def __init__(self, address: str) -> None:
        host, _, port = address.removeprefix("http://").partition(":")
        self._place = host, int(port)

    async def __aenter__(self) -> Connection:
        self._reader, self._writer = await asyncio.open_connection(*self._place)
        return self

    async def __aexit__(self, *_: object) -> None:
        self._writer.close()

    async def send(self, content: bytes) -> None:
        self._writer.write(content)
        await self._writer.drain()

    async def post(self, path: str, body: dict[str, Any]) -> Any:
        content = json.dumps(body).encode()
        head = f"POST {path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
        await self.send(f"{head}Content-Length: {len(content)}\r\n\r\n".encode() + content)
        head_of_answer = (await self._reader.readuntil(b"\r\n\r\n")).decode().lower()
        length = next(
            int(line.split(":")[1]) for line in head_of_answer.split("\r\n") if line[:15] == "content-length:"
        )
        return int(head_of_answer.split()[1]), json.loads(await self._reader.readexactly(length))

    async def is_closed(self) -> bool:
        """Read until the server closes the connection; True if it had no answer, or refused with a 4xx."""
        answer = await self._reader.read()
        return not answer or answer.split()[1][:1] == b"4"


def resident(process: Any) -> int:
    """The server's RAM, in kibibytes."""
    lines = Path(f"/proc/{process.pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS:"))


def known_texts(folder: Path) -> dict[str, str]:
    """Texts of one to eight words, and their translations."""
    draw = random.Random(1)
    texts = list({" ".join(draw.choices(WORDS, k=draw.randint(1, 8))) for _ in range(400)})
    translations = Translator.load(folder, device="cpu").translate(texts, source_lang="en", target_lang="de")
    return dict(zip(texts, (each.text for each in translations), strict=True))


async def ask(connection: Connection, known: dict[str, str], draw: random.Random) -> None:
    """Send a request of some size, and compare the answer."""
    texts = draw.sample(list(known), draw.choice((1, 1, 1, 2, 5, 30)))
    expected = [known[text] for text in texts]
    if draw.random() < 0.2:
        status, answer = await connection.post("/v1/translate", {"texts": texts, "source": "en", "target": "de"})
        found = [each["text"] for each in answer.get("translations", ())]
    else:
        q = "\n".join(texts) if draw.random() < 0.5 else texts
        status, answer = await connection.post("/translate", {"q": q, "source": "en", "target": "de"})
        found = answer["translatedText"].split("\n") if isinstance(q, str) else answer["translatedText"]
    assert (status, found) == (200, expected)


async def soak(address: str, known: dict[str, str], counts: Counter[str], process: Any, ram: list[int]) -> None:
    async def client(number: int) -> None:
        draw = random.Random(number)
        async with Connection(address) as connection:
            while counts["good"] < N_GOOD:
                counts["good"] += 1
                await ask(connection, known, draw)
                if counts["good"] >= N_WARM * (len(ram) + 1):
                    ram.append(resident(process))
                    print(f"{counts['good']:,} requests; RAM {ram[-1]:,} KiB", flush=True)
                if counts["broken"] * N_GOOD < counts["good"] * N_BROKEN:
                    counts["broken"] += 1
                    async with Connection(address) as broken:
                        try:
                            await broken.send(draw.choice(BROKEN))
                            if draw.random() < 0.5:
                                assert await broken.is_closed()
                        except ConnectionError:  # the server hung up first
                            counts["hung up"] += 1

    async with asyncio.TaskGroup() as tasks:
        for number in range(N_CONNECTIONS):
            tasks.create_task(client(number))
    ram.append(resident(process))


def test_many_requests_get_their_own_answers_and_ram_stays_flat(tmp_path: Path) -> None:
    folder = tmp_path / "many"
    write_bundle(folder, replace(tiny_bundle(many_tokenizers(), max_length=40), search=SEARCH))
    known, counts, ram = known_texts(folder), Counter[str](), list[int]()
    options = ["--workers", "2", "--cache", "1", "--read-timeout", "1", "--no-log-requests"]
    with served(folder, *options) as (process, address):
        asyncio.run(soak(address, known, counts, process, ram))
        assert process.poll() is None
    print(f"{counts['good']:,} good requests, {counts['broken']:,} broken ones; RAM {ram[0]:,} to {ram[-1]:,} KiB")
    assert counts["broken"] >= N_BROKEN - 1
    assert max(ram) < 1.1 * ram[0]
