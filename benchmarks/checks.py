"""Price of checks and repairs: speed of greedy int8 translation with and without them, on one thread.

    make bench-translate        # or: python benchmarks/checks.py, with DRAGOMAN_DATA set

`plain` neither checks nor repairs; `checked` plans, searches and checks; `repaired` also searches again for what was
lost, as `translate` does. Texts are 1,000 captions and 997 sentences of an encyclopedia, from English to German.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from measuring import in_turns, summary, write
from real_text_sets import data_folder, read_set

from dragoman import Translator
from dragoman.data.text_files.lines import read_lines
from dragoman.translator import Request

N_ROUNDS = 5


def systems(translator: Translator, lines: Sequence[str]) -> dict[str, Callable[[], float]]:
    """Return what is compared, by its name."""
    pipeline, config = translator.pipeline, translator.search_config(beam_size=1)

    def requests(*, plain: bool) -> list[Request]:
        return [Request(line, source_lang="en", target_lang="de", plain=plain) for line in lines]

    def staged(*, plain: bool) -> float:
        plan = pipeline.plan(requests(plain=plain), config)
        return len(pipeline.finish(plan, pipeline.search(plan.jobs)))

    def repaired() -> float:
        return len(pipeline.translate(requests(plain=False), config))

    return {"plain": lambda: staged(plain=True), "checked": lambda: staged(plain=False), "repaired": repaired}


def main() -> None:
    """Measure, and write checks.json."""
    encyclopedic = read_set("encyclopedic", ("en", "de"))
    assert encyclopedic is not None
    captions = [str(line) for line in read_lines(data_folder() / "multi30k" / "val.en.gz")][:1000]
    translator = Translator.load("everyday", device="cpu", precision="int8")
    result: dict[str, Any] = {}
    for name, lines in {"captions": captions, "encyclopedic": list(encyclopedic.sources)}.items():
        result[name] = summary(in_turns(systems(translator, lines), N_ROUNDS), "plain")
        print(name, *(f"{kind} {1 - each['ratio']:.1%}" for kind, each in result[name].items() if kind != "plain"))
    write(__file__, {"unit": "sentences a second", "speeds": result})


if __name__ == "__main__":
    main()
