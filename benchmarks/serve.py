"""Throughput and waiting times of `dragoman serve`, and of CTranslate2 with the same weights behind FastAPI.

    make bench-serve RUN=runs/multi30k-en-de     # or: python benchmarks/serve.py RUN SOURCE

`wrk` asks over the loopback, on the same cores. The yardstick is `translate` of the same lines as one list. No cache,
the model's own beam. The last row has one more client, which sends 1,000 lines in a request again and again.
"""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

from ctranslate2_peer import save
from measuring import write

from dragoman import Translator
from dragoman.data.text_files.lines import read_lines
from dragoman.machine.devices import all_cores

HERE = Path(__file__).parent
#: Clients, texts in each request, and seconds: many times what a request waits, because only whole ones are counted.
LOADS = ((1, 1, 8), (8, 1, 8), (64, 1, 8), (64, 8, 40))


def main() -> None:
    """Measure, and write docs/book/data/serve.json."""
    model, lines = sys.argv[1], [str(line) for line in islice(read_lines(Path(sys.argv[2])), 1000)]
    with TemporaryDirectory() as folder:
        source = Path(folder) / "source"
        source.write_text("".join(f"{line}\n" for line in lines))
        save(model, f"{folder}/ct2")
        results: dict[str, Any] = {"translate, lines/s": round(speed_of_translate(model, lines), 1)}
        ours = [sys.executable, "-m", "dragoman", "serve", "-m", model, "--cache", "0", "--no-log-requests", "--port"]
        theirs = [sys.executable, str(HERE / "serve_peer.py"), f"{folder}/ct2"]
        for name, command in {"dragoman serve": ours, "CTranslate2": theirs}.items():
            with server(command) as address:
                results[name] = {f"{c} clients, {n} texts": ask(address, source, c, n, s) for c, n, s in LOADS}
                with asking_for_all(address, lines) as seconds:
                    results[name]["8 clients, 1 text, beside 1,000 lines"] = ask(address, source, 8, 1, 8)
                results[name]["1,000 lines beside them, s"] = round(median(seconds), 1)
    write(str(HERE.parent / "docs" / "book" / "data" / "serve.json"), {"results": results})


def speed_of_translate(model: str, lines: list[str]) -> float:
    """Return lines a second."""
    translator = Translator.load(model, device="cpu", workers=all_cores())
    translator.translate(lines)
    started = time.perf_counter()
    translator.translate(lines)
    return len(lines) / (time.perf_counter() - started)


@contextmanager
def server(command: list[str]) -> Iterator[str]:
    """Run a server, and yield its address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = subprocess.Popen([*command, str(port)])
    address = f"http://127.0.0.1:{port}/translate"
    try:
        while not answers(address, ["A dog."]):
            time.sleep(0.2)
        yield address
    finally:
        process.terminate()
        process.wait()


def answers(address: str, texts: list[str]) -> bool:
    """Translate, and return True if the server answered."""
    body = json.dumps({"q": texts, "source": "en", "target": "de"}).encode()
    request = urllib.request.Request(address, body, {"Content-Type": "application/json"})
    try:
        with urllib.request.urlopen(request) as answer:
            return len(json.load(answer)["translatedText"]) == len(texts)
    except OSError:
        return False


def ask(address: str, source: Path, n_clients: int, n_texts: int, seconds: int) -> dict[str, float]:
    """Return lines a second, and milliseconds of a request."""
    options = ["-t1", f"-c{n_clients}", f"-d{seconds}s", "--timeout", "60s", "-s", str(HERE / "serve.lua")]
    command = ["wrk", *options, address, "--", str(source), str(n_texts)]
    found = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()[-1])
    lines = found.pop("requests") * n_texts / found.pop("seconds")
    return {"lines/s": round(lines, 1), **found}


@contextmanager
def asking_for_all(address: str, lines: list[str]) -> Iterator[list[float]]:
    """Translate all lines in one request, again and again; yield the seconds of each, which grow."""
    is_over, seconds = threading.Event(), list[float]()

    def work() -> None:
        while not is_over.is_set():
            started = time.perf_counter()
            assert answers(address, lines)
            seconds.append(time.perf_counter() - started)

    client = threading.Thread(target=work)
    client.start()
    time.sleep(0.5)
    yield seconds
    is_over.set()
    client.join()


if __name__ == "__main__":
    main()
