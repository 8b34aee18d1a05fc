"""Write the measured figures into the tables of docs/speed.md: python benchmarks/tables.py"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
PAGE = HERE.parent / "docs" / "speed.md"


def main() -> None:
    """Put every table where its mark stands."""
    PAGE.write_text(filled(PAGE.read_text()))


def filled(page: str) -> str:
    """Return the page with the tables of the committed results."""
    tables = {"translate": translate, "opus_mt": translate, "train": train, "latency": latency}
    tables |= {"lengths": lengths, "scale": scale, "epochs": epochs, "processes": processes}
    for name, rows in tables.items():
        results = json.loads((HERE / f"{name}.json").read_text())  # of one processor each
        shown = [
            "\n".join("| " + " | ".join(row) + " |" for row in rows(result)) + "\n\n" + machine(result["machine"])
            for result in results
        ]
        page = re.sub(
            rf"(<!-- {name} -->\n).*?(<!-- end -->)",
            lambda mark, tables=shown: mark[1] + "\n\n".join(tables) + "\n" + mark[2],
            page,
            flags=re.DOTALL,
        )
    return page


def machine(facts: Mapping[str, Any]) -> str:
    """Return the line below a table: the machine that it was measured on."""
    names = {"avx512f": "AVX-512", "avx512_bf16": "bfloat16", "avx512_vnni": "int8", "amx_bf16": "AMX"}
    has = [name for flag, name in names.items() if flag in facts["has"]]
    threads = f"{facts['hardware_threads']} hardware threads"
    return f"*{facts['processor']}, {threads}, {', '.join(has) or 'none of AVX-512'}; PyTorch {facts['torch']}.*"


def translate(result: Mapping[str, Any]) -> Iterator[list[str]]:
    yield ["", *(f"{beam}, sentences/s" for beam in result["speeds"])]
    yield ["---"] + ["---"] * len(result["speeds"])
    columns = list(result["speeds"].values())
    for system in [name for name, value in columns[0].items() if isinstance(value, dict)]:
        yield [system, *(_speed(column[system]) for column in columns)]
    equal = [f"{column['equal_to_ctranslate2_float32']:,} of {result['sentences']:,}" for column in columns]
    yield ["equal translations", *equal]


def train(result: Mapping[str, Any]) -> Iterator[list[str]]:
    yield ["", *(f"{precision}, target tokens/s" for precision in result["speeds"])]
    yield ["---"] + ["---"] * len(result["speeds"])
    columns = list(result["speeds"].values())
    for system in columns[0]:
        yield [system, *(_speed(column[system]) for column in columns)]
    for system in columns[0]:
        yield [f"{system}, most memory, MiB", *(f"{column[system]:,}" for column in result["memory, MiB"].values())]


def latency(result: Mapping[str, Any]) -> Iterator[list[str]]:
    systems = list(result["one sentence, ms"]["beam 1"])
    yield ["", *systems]
    yield ["---"] * (1 + len(systems))
    for beam, times in result["one sentence, ms"].items():
        yield [f"one sentence, {beam}, ms", *(str(times[each]) for each in systems)]
    yield ["memory, 1,000 sentences, MiB", *(str(result["memory, MiB"].get(each, "")) for each in systems)]
    for name, seconds in result["start, s"].items():
        yield [f"start of `{name}`, s", str(seconds), *[""] * (len(systems) - 1)]


def lengths(result: Mapping[str, Any]) -> Iterator[list[str]]:
    return _columns(result["lengths"])


def scale(result: Mapping[str, Any]) -> Iterator[list[str]]:
    return _columns(result["corpora"])


def epochs(result: Mapping[str, Any]) -> Iterator[list[str]]:
    return _columns(result["stores"])


def processes(result: Mapping[str, Any]) -> Iterator[list[str]]:
    columns = list(result["speeds"].values())
    yield ["", *(f"{size}, target tokens/s" for size in result["speeds"])]
    yield ["---"] + ["---"] * len(columns)
    for system, first in columns[0].items():
        if isinstance(first, dict):
            yield [system, *(_speed(column[system]) for column in columns)]
        else:
            yield [system, *(str(column[system]) for column in columns)]


def _columns(sizes: Sequence[Mapping[str, Any]]) -> Iterator[list[str]]:
    """A column for each number of pairs or of tokens, a row for each figure."""
    for number, name in enumerate(sizes[0]):
        yield [name, *(f"{size[name]:,}" for size in sizes)]
        if number == 0:
            yield ["---"] + ["---"] * len(sizes)


def _speed(speeds: Mapping[str, float]) -> str:
    """Median, range and ratio."""
    return f"{speeds['median']:,.0f} ({speeds['lowest']:,.0f}-{speeds['highest']:,.0f}), ratio {speeds['ratio']:.2f}"


if __name__ == "__main__":
    main()
