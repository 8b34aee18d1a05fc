"""What repairs do to real text: how often a second search changes a translation, and whether for the better.

    python benchmarks/repairs.py everyday --directions en-de,de-en --sample 500

For each repaired translation it says by how much less probable than the best candidate before the model finds it, in
nats, and what the repair changed in chrF, compared with a translation by a person. `--show` prints the translations.
The most that a repair may cost (`translator/repairs/second_search.py`) is lifted, so that the table shows what it
keeps out.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from typing import NamedTuple

from real_text_sets import KINDS, TextSet, read_set
from sacrebleu import CHRF

from dragoman import Translator
from dragoman.translator import Request
from dragoman.translator.choosing import ranked
from dragoman.translator.repairs import second_search

#: Upper ends of the groups, in nats.
GROUPS = (0.0, 5.0, 10.0, 20.0, 30.0, float("inf"))
#: A difference in chrF that a reader sees.
LEAST = 0.5


class Repaired(NamedTuple):
    """A translation that a repair changed."""

    cost: float
    gain: float
    source: str
    before: str
    after: str


def repaired(translator: Translator, texts: TextSet, beam_size: int) -> tuple[int, list[Repaired]]:
    """Return how many second searches there were, and the translations that they changed."""
    pipeline, metric = translator.pipeline, CHRF()
    source_lang, target_lang = texts.direction
    requests = [Request(text, source_lang=source_lang, target_lang=target_lang) for text in texts.sources]
    plan = pipeline.plan(requests, translator.search_config(beam_size=beam_size))
    choices = ranked(plan, pipeline.search(plan.jobs))
    proposals = pipeline.second.proposals(plan, choices)
    found = pipeline.search([proposal.job for proposal in proposals.values()])
    before = pipeline.finisher.finish(plan, choices)
    better = pipeline.second.accepted(plan, choices, proposals, found)
    after = pipeline.finisher.finish(plan, better)
    owners = [number for number, text in enumerate(plan.texts) for each in text.segments if not each.is_copied]
    cost_of: dict[int, float] = defaultdict(float)
    for job, proposal in proposals.items():
        cost = second_search.cost(proposal, better[job])
        cost_of[owners[job]] = max(cost, cost_of.get(owners[job], cost))
    changed = []
    for number, (old, new) in enumerate(zip(before, after, strict=True)):
        if old.text != new.text:
            references = list(texts.references[number])
            scores = [metric.sentence_score(each.text, references).score for each in (old, new)]
            changed.append(Repaired(cost_of[number], scores[1] - scores[0], texts.sources[number], old.text, new.text))
    return len(proposals), changed


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("--directions", default="en-de,de-en,en-fr,fr-en,en-zh,zh-en")
    parser.add_argument("--kinds", default="encyclopedic,news,dialogue,chat,mail,interface")
    parser.add_argument("--sample", type=int, default=300, help="lines of each kind")
    parser.add_argument("--beam", type=int, default=1)
    parser.add_argument("--show", action="store_true")
    options = parser.parse_args()
    second_search.MOST_COST = float("inf")
    translator = Translator.load(options.model, device="cpu", precision="int8")
    groups: dict[float, list[Repaired]] = defaultdict(list)
    for name in options.directions.split(","):
        source_lang, target_lang = name.split("-")
        for kind in options.kinds.split(","):
            if kind not in KINDS:
                parser.error(f"no kind {kind}; choose from {', '.join(KINDS)}")
            if (texts := read_set(kind, (source_lang, target_lang))) is None:
                continue
            texts = texts.sample(options.sample)
            n_searches, changed = repaired(translator, texts, options.beam)
            print(f"{name} {kind}: {len(texts.sources)} lines, {n_searches} second searches, {len(changed)} changed")
            for each in changed:
                groups[next(end for end in GROUPS if each.cost <= end)].append(each)
    print("\ncost up to   changed   better   worse   mean chrF")
    for end in GROUPS:
        if rows := groups[end]:
            better, worse = (sum(sign * row.gain > LEAST for row in rows) for sign in (1, -1))
            mean = sum(row.gain for row in rows) / len(rows)
            print(f"{end:10g} {len(rows):9} {better:8} {worse:7} {mean:+11.2f}")
    if options.show:
        for row in sorted((row for rows in groups.values() for row in rows), key=lambda row: row.gain):
            print(f"\n{row.gain:+.1f} chrF, {row.cost:.1f} nats\n  {row.source}\n- {row.before}\n+ {row.after}")


if __name__ == "__main__":
    main()
