"""Measure how well confidence agrees with chrF2 on text that it was not calibrated on, and draw it:

    python benchmarks/confidence.py [--ship]

`everyday` is calibrated on a half of Tatoeba's validation text, `multi30k-en-de` on a half of Multi30k's, and both are
judged on the other half; `everyday` on captions too, which are another kind of text. Writes
docs/book/data/confidence.json and docs/images/confidence.svg. --ship then calibrates the shipped models on both halves.
Needs DRAGOMAN_DATA; a quarter of an hour on one thread.
"""

from __future__ import annotations

import argparse
import gzip
import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from chart import STYLE as CARD_STYLE
from everyday_sets import Direction, text_pairs
from sacrebleu.metrics.chrf import CHRF

from dragoman.bundle.bundle import Bundle, load_bundle
from dragoman.bundle.format import CONFIG
from dragoman.bundle.named_models import named_models
from dragoman.data import multi30k
from dragoman.evaluation.calibration import Reliability, calibrate, reliability
from dragoman.machine.folders import MANIFEST, save_folder
from dragoman.machine.json_files import to_json
from dragoman.translator import ComputeOptions, ModelFacts, Translator
from dragoman.translator.confidence import FACT, Calibration, Calibrations, direction_key

HERE = Path(__file__).parent
DOCS = HERE.parent / "docs"
RESULT, CHART = DOCS / "book" / "data" / "confidence.json", DOCS / "images" / "confidence.svg"
#: Pairs of each half, at most.
HALF = 800

Pairs = Sequence[tuple[str, str]]

LEFT, TOP, SIZE = 56, 44, 340
BOTTOM = TOP + SIZE
STYLE = f"""{CARD_STYLE}
  .axis, .exact {{ fill: none; stroke: #8c959f }}
  .exact {{ stroke-dasharray: 4 4 }}
  .one {{ fill: #17568c; stroke: #17568c }}
  .two {{ fill: #bc4c00; stroke: #bc4c00 }}
  .line.one, .line.two {{ fill: none; stroke-width: 2 }}
  @media (prefers-color-scheme: dark) {{
    .one {{ fill: #58a6ff; stroke: #58a6ff }}
    .two {{ fill: #f0883e; stroke: #f0883e }}
  }}"""


def main() -> None:
    """Read the arguments."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ship", action="store_true")
    ships = parser.parse_args().ship
    results = {**measure("everyday", ships=ships), **measure("multi30k-en-de", ships=ships)}
    if ships:
        measure("multi30k-en-fr", ships=True)
    RESULT.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    CHART.write_text(drawn(results), encoding="utf-8")


def measure(name: str, *, ships: bool) -> dict[str, Any]:
    """Return the reliability of a shipped model in each of its directions, on text of the kind that it learned."""
    bundle, found, results = load_bundle(name), {}, {}
    for direction in bundle.tokenizers.directions:
        pairs = pairs_of(name, direction)
        first, second = pairs[:HALF], pairs[HALF : 2 * HALF]
        calibration = _calibrated(bundle, first, direction)
        results[f"{name} {direction_key(direction)}"] = _judged(bundle, calibration, second, direction)
        if (name, direction) == ("everyday", ("en", "de")):
            captions = pairs_of("multi30k-en-de", direction)[:HALF]
            results["everyday en-de, captions"] = _judged(bundle, calibration, captions, direction)
        if ships:
            found[direction_key(direction)] = _calibrated(bundle, pairs[: 2 * HALF], direction)
    for title, result in results.items():
        print(f"{title}: off by {result['error']:.3f}, correlation {result['correlation']:.2f}", flush=True)
    if ships:
        _ship(name, found)
    return results


def pairs_of(name: str, direction: Direction) -> Pairs:
    """Return validation pairs of the kind of text that a model learned, in an order of chance."""
    if name == "everyday":
        pairs = sorted(set(text_pairs(direction)))
    else:
        texts = (gzip.decompress(multi30k.multi30k_file("validation", language).read_bytes()) for language in direction)
        pairs = list(zip(*(text.decode().splitlines() for text in texts), strict=True))
    return [pairs[index] for index in np.random.default_rng(1).permutation(len(pairs))]


def _calibrated(bundle: Bundle, pairs: Pairs, direction: Direction) -> Calibration:
    translator = Translator([bundle], bundle.tokenizers, bundle.search, ComputeOptions("cpu"))
    return calibrate(translator, *map(list, zip(*pairs, strict=True)), direction=direction)


def _judged(bundle: Bundle, calibration: Calibration, pairs: Pairs, direction: Direction) -> dict[str, Any]:
    facts = ModelFacts(calibrations=Calibrations(directions={direction_key(direction): calibration}))
    translator = Translator([bundle], bundle.tokenizers, bundle.search, ComputeOptions("cpu"), facts)
    sources, references = map(list, zip(*pairs, strict=True))
    translations = translator.translate(sources, source_lang=direction[0], target_lang=direction[1])
    metric = CHRF()
    rows = [
        (one.confidence, metric.sentence_score(one.text, [reference]).score / 100)
        for one, reference in zip(translations, references, strict=True)
        if one.confidence is not None
    ]
    judged: Reliability = reliability(*np.array(rows).T)
    return {
        "groups": [[round(group.confidence, 4), round(group.chrf, 4)] for group in judged.groups],
        "error": round(judged.error, 4),
        "correlation": round(judged.correlation, 4),
        "sentences": len(rows),
    }


def _ship(name: str, found: dict[str, Calibration]) -> None:
    """Write the facts of a shipped bundle anew; all other files stay as they are."""
    folder = named_models()[name]
    new = folder.with_name(f"{name}.new")
    settings = json.loads((folder / CONFIG).read_text(encoding="utf-8"))
    settings["facts"][FACT] = Calibrations(directions=found).model_dump(mode="json")

    def write(temporary: Path) -> None:
        shutil.copytree(folder, temporary, dirs_exist_ok=True, ignore=shutil.ignore_patterns(MANIFEST))
        (temporary / CONFIG).write_bytes(to_json(settings))

    save_folder(new, write, facts={"format_version": settings["format_version"]})
    shutil.rmtree(folder)
    new.rename(folder)


def drawn(results: dict[str, Any]) -> str:
    """Return the reliability diagram as SVG: confidence to the right, chrF2 upwards, a line for each model."""
    lines = [
        _line(results[title], name) for title, name in (("everyday en-de", "one"), ("multi30k-en-de en-de", "two"))
    ]
    ticks = []
    for tenth in range(0, 11, 2):
        x, y = _place(tenth / 10, 0)[0], _place(0, tenth / 10)[1]
        ticks.append(f'<text x="{x}" y="{BOTTOM + 20}" text-anchor="middle">{tenth / 10:.1f}</text>')
        ticks.append(f'<text x="{LEFT - 8}" y="{y + 5}" text-anchor="end">{tenth / 10:.1f}</text>')
    (x, y), (end_x, end_y) = _place(0, 0), _place(1, 1)
    return "\n".join(
        [
            '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 480 440" width="480" height="440" role="img"'
            ' aria-label="Confidence and chrF2 agree in ten groups of sentences">',
            f"<style>{STYLE}</style>",
            '<rect class="card" x="0.5" y="0.5" width="479" height="439" rx="6"/>',
            f'<path class="exact" d="M{x} {y}L{end_x} {end_y}"/>',
            f'<path class="axis" d="M{LEFT} {TOP}V{BOTTOM}H{LEFT + SIZE}"/>',
            *ticks,
            *lines,
            f'<text x="{LEFT + SIZE / 2}" y="{BOTTOM + 44}" text-anchor="middle">confidence</text>',
            f'<text x="{LEFT}" y="{TOP - 14}">mean chrF2 of ten groups of sentences</text>',
            f'<circle class="one" cx="{LEFT + 20}" cy="{TOP + 18}" r="5"/>',
            f'<text x="{LEFT + 32}" y="{TOP + 23}">everyday, English-German</text>',
            f'<circle class="two" cx="{LEFT + 20}" cy="{TOP + 42}" r="5"/>',
            f'<text x="{LEFT + 32}" y="{TOP + 47}">multi30k-en-de</text>',
            "</svg>",
            "",
        ]
    )


def _place(confidence: float, chrf: float) -> tuple[float, float]:
    return round(LEFT + SIZE * confidence, 1), round(BOTTOM - SIZE * chrf, 1)


def _line(result: dict[str, Any], name: str) -> str:
    places = [_place(*group) for group in result["groups"]]
    path = "L".join(f"{x} {y}" for x, y in places)
    dots = "".join(f'<circle class="{name}" cx="{x}" cy="{y}" r="4"/>' for x, y in places)
    return f'<path class="line {name}" d="M{path}"/>{dots}'


if __name__ == "__main__":
    main()
