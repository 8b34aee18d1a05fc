"""Draw docs/images/speed.svg, speed beside that of others, from the committed results: python benchmarks/chart.py"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
CHART = HERE.parent / "docs" / "images" / "speed.svg"
#: The machine of the chart, by processor and one of its instruction sets: it has figures of every system.
PROCESSOR, INSTRUCTIONS = "AMD EPYC", "avx512_vnni"

#: What a reader of the chart alone must know.
AGE = "Translating: measured before translations were checked for lost numbers and names"

WIDTH, ROW, LEFT, LONGEST = 640, 30, 266, 300
#: The card has its own background, so that it can be read on any page.
STYLE = """
  .card { fill: #ffffff; stroke: #d0d7de }
  text { font: 15px system-ui, sans-serif; fill: #1f2328 }
  .title { font-weight: 600; font-size: 16px }
  .note { fill: #59636e; font-size: 13px }
  .ours { fill: #17568c }
  .theirs { fill: #a9b4c0 }
  @media (prefers-color-scheme: dark) {
    .card { fill: #0d1117; stroke: #3d444d }
    text { fill: #f0f6fc }
    .note { fill: #9198a1 }
    .ours { fill: #58a6ff }
    .theirs { fill: #59636e }
  }"""


def main() -> None:
    """Write the chart."""
    CHART.write_text(drawn(), encoding="utf-8")


def drawn() -> str:
    """Return the chart as SVG."""
    translating, training = (_result(name)["speeds"] for name in ("translate", "train"))
    first = [
        ("dragoman float32" if name == "dragoman" else name, value) for name, value in translating["beam 5"].items()
    ]
    second = [
        (f"{system} {precision}", value) for precision, systems in training.items() for system, value in systems.items()
    ]
    y, parts = 16, []
    for title, bars in (
        ("Translating: sentences a second, beam 5", first),
        ("Training: target tokens a second", second),
    ):
        parts += _panel(y, title, _medians(bars))
        y += 44 + ROW * len(list(_medians(bars))) + 14
    threads = _result("train")["machine"]["hardware_threads"]
    note = f"{PROCESSOR}, {threads} hardware threads. Commands and other processors: docs/speed.md"
    parts += [
        f'<text class="note" x="20" y="{y + 10 + 18 * row}">{line}</text>' for row, line in enumerate((note, AGE))
    ]
    height = y + 48
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}"'
            ' role="img" aria-label="Speed of dragoman beside that of other systems">',
            f"<style>{STYLE}\n</style>",
            f'<rect class="card" x="0.5" y="0.5" width="{WIDTH - 1}" height="{height - 1}" rx="8"/>',
            *parts,
            "</svg>\n",
        ]
    )


def _result(name: str) -> Mapping[str, Any]:
    """Return the results of the chart's machine."""
    results: list[Mapping[str, Any]] = json.loads((HERE / f"{name}.json").read_text(encoding="utf-8"))
    return next(
        result
        for result in results
        if result["machine"]["processor"] == PROCESSOR and INSTRUCTIONS in result["machine"]["has"]
    )


def _medians(systems: list[tuple[str, Any]]) -> Iterator[tuple[str, float]]:
    """Yield the systems with their medians, the fastest first, without what is no speed."""
    speeds = [(name, value["median"]) for name, value in systems if isinstance(value, dict)]
    yield from sorted(speeds, key=lambda bar: -bar[1])


def _panel(y: int, title: str, bars: Iterator[tuple[str, float]]) -> Iterator[str]:
    """Yield a title and one bar for each system; the first bar is the longest."""
    yield f'<text class="title" x="20" y="{y + 20}">{title}</text>'
    longest = 0.0
    for row, (name, speed) in enumerate(bars):
        longest = longest or speed
        top, width = y + 38 + ROW * row, round(LONGEST * speed / longest)
        kind = "ours" if name.startswith("dragoman") else "theirs"
        yield f'<text x="{LEFT - 10}" y="{top + 16}" text-anchor="end">{name}</text>'
        yield f'<rect class="{kind}" x="{LEFT}" y="{top}" width="{width}" height="{ROW - 8}" rx="3"/>'
        yield f'<text x="{LEFT + width + 8}" y="{top + 16}">{speed:,.0f}</text>'


if __name__ == "__main__":
    main()
