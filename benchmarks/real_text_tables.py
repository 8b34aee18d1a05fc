"""Tables of benchmarks/real_text.py: on the terminal, 80 columns wide, and in Markdown; and the file to be read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from real_text_faults import FAULTS, added, share
from real_text_scores import LENGTHS
from real_text_sets import KINDS, TextSet, digest

from dragoman.errors import counted

Result = Mapping[str, Any]
PEOPLE = "people"
#: A difference that is less probable by chance has a star.
SIGNIFICANT = 0.05
#: Sentences of a direction that are written to be read.
N_READ = 60
HEAD = f"{'kind, lines, system':<29}{'BLEU':>6}{'chrF2':>6}{'p':>7}" + "".join(
    f"{name:>6}" for name in ("unk", "left", "bad", "num", "neg")
)


def number(value: float | None, digits: int = 1) -> str:
    """Return a number for a table; a dash for none."""
    return "–" if value is None else f"{value:.{digits}f}"


def terminal(result: Result) -> Iterator[str]:
    """Yield the lines of a direction, 80 columns wide."""
    yield "=" * 80
    yield result["direction"]
    yield "=" * 80
    yield HEAD
    for own in result["sets"]:
        of = f" of {own['of']:,}" if own["of"] > own["lines"] else ""
        counts = own["systems"][PEOPLE]["faults"]
        numbers, negated = counted(counts["numbers"][1], "number"), f"{counts['negations'][1]:,} negated"
        yield f"{own['kind']}, {own['lines']:,}{of}; {numbers}, {negated}"
        for name, system in own["systems"].items():
            scores = [number(system.get("BLEU")), number(system.get("chrF2"))]
            p = f"{system['p chrF2']:.3f}" if "p chrF2" in system else ""
            cells = [number(share(system["faults"][each])) for each in FAULTS]
            yield f"  {name[:27]:<27}{scores[0]:>6}{scores[1]:>6}{p:>7}" + "".join(f"{each:>6}" for each in cells)
    yield "by length of the source in words, all kinds together (BLEU/chrF2)"
    lines = next(iter(result["lengths"].values()))
    heads = [f"{name}: {lines[name]['lines']}" for name in LENGTHS]
    yield f"{'':<22}" + "".join(f"{each:>14}" for each in heads)
    for name, classes in result["lengths"].items():
        cells = [_pair(classes[each]) for each in LENGTHS]
        yield f"  {name[:20]:<20}" + "".join(f"{cell:>14}" for cell in cells)


def _pair(scores: Mapping[str, float]) -> str:
    """Return both scores in a cell."""
    return f"{scores['BLEU']:.1f} / {scores['chrF2']:.1f}" if "BLEU" in scores else "–"


def _starred(scores: Mapping[str, float]) -> str:
    """Return both scores, with a star if the system differs from the first by more than chance."""
    return _pair(scores) + ("*" if scores.get("p chrF2", 1.0) < SIGNIFICANT else "")


def markdown(report: Result) -> Iterator[str]:
    """Yield the lines of all tables for a page of documentation."""
    results = report["results"]
    for place, name in enumerate(report["systems"]):
        starred = f" (* if p < {SIGNIFICANT} that chrF2 differs from `{report['systems'][0]}`)" if place else ""
        yield f"`{name}`, BLEU / chrF2{starred}:\n"
        yield from _rows(
            ["", *(result["direction"] for result in results)],
            [[kind, *(_of_kind(result, kind, name, _starred) for result in results)] for kind in _kinds(results)],
        )
    for kind in _kinds(results):
        systems = [name for name in _systems(results, kind) if name != PEOPLE]
        rows = [[result["direction"], *(_of_kind(result, kind, name, _pair) for name in systems)] for result in results]
        rows = [row for row in rows if any(cell != "–" for cell in row[1 + len(report["systems"]) :])]
        if rows:
            yield f"{kind}, all systems on the same lines, BLEU / chrF2:\n"
            yield from _rows(["", *systems], rows)
    yield "By length of the source in words, BLEU / chrF2 of all kinds together:\n"
    yield from _rows(
        ["", "", *LENGTHS],
        [
            [result["direction"], name, *(_pair(classes[each]) for each in LENGTHS)]
            for result in results
            for name, classes in result["lengths"].items()
        ],
    )
    yield "Faults in percent, of all kinds together:\n"
    yield from _rows(["", "", *FAULTS], list(_fault_rows(results, [*report["systems"], PEOPLE])))


def _fault_rows(results: Sequence[Result], names: Sequence[str]) -> Iterator[list[str]]:
    for result in results:
        for name in names:
            counts = added([own["systems"][name]["faults"] for own in result["sets"]])
            yield [result["direction"], name, *(number(share(counts[each])) for each in FAULTS)]


def _kinds(results: Sequence[Result]) -> list[str]:
    """Return the kinds that were measured."""
    measured = {own["kind"] for result in results for own in result["sets"]}
    return [kind for kind in KINDS if kind in measured]


def _systems(results: Sequence[Result], kind: str) -> list[str]:
    """Return the systems of a kind, of all directions."""
    sets = [own for result in results for own in result["sets"] if own["kind"] == kind]
    return list(dict.fromkeys(name for own in sets for name in own["systems"]))


def _of_kind(result: Result, kind: str, name: str, cell: Callable[[Mapping[str, float]], str]) -> str:
    found = [own["systems"].get(name, {}) for own in result["sets"] if own["kind"] == kind]
    return cell(found[0]) if found else "–"


def _rows(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield a table; columns without any figure are left out."""
    full = [place for place in range(len(head)) if not rows or any(row[place] not in ("–", "") for row in rows)]
    for row in (head, ["---"] * len(head), *rows):
        yield "| " + " | ".join(row[place] for place in full) + " |"
    yield ""


def to_be_read(sets: Sequence[TextSet], outputs: Sequence[Mapping[str, Sequence[str]]]) -> Iterator[str]:
    """Yield the lines of a file for a person: equally many sentences of each kind, chosen by their hash."""
    for place, (own, written) in enumerate(zip(sets, outputs, strict=True)):
        n = N_READ // len(sets) + (place < N_READ % len(sets))
        order = sorted(range(len(own.sources)), key=lambda line: digest(f"read {own.sources[line]}"))
        for line in sorted(order[:n]):
            yield f"{own.kind}: {own.sources[line]}"
            yield f"    {PEOPLE}: {own.references[line][0]}"
            yield from (f"    {name}: {texts[line]}" for name, texts in written.items())
            yield ""
