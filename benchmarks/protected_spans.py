"""Count the spans of documentation that translations keep, with and without protection.

    python benchmarks/protected_spans.py fr.tar.xz [--model everyday] [--messages 300] [--beam-size 5]

The archive has PO files in English and French: those of Python's documentation. A span is intact if the translation has
it as often as the source. The checker has patterns of its own and shares no code with the feature. The last row has the
word "this" in place of each span.
"""

import argparse
import random
import re
import tarfile
import time
from collections import Counter
from collections.abc import Callable, Sequence

import polib

import dragoman
from dragoman.documents import parse_document, translate_document
from dragoman.translator import Translation

PATTERNS = (
    r"``[^`]+``",
    r":[a-z][\w:+.-]*:`[^`]+`",
    r"%\(\w+\)[sdrif]|%[sdrif]\b",
    r"\{[\w.]*\}",
    r"https?://[^\s>`)]*[^\s>`).,;:!?'\"]",  # the mark that ends a sentence is no part of it
    r"\|[\w-]+\|",
)


def spans(text: str) -> Counter[str]:
    """Of a role with a text of its own, only the target must stay."""
    found = []
    for pattern in PATTERNS:
        for match in re.finditer(pattern, text):
            role = re.fullmatch(r":[\w:+.-]+:`[^`<]*(<[^>]+>`)", match[0])
            found.append(role[1] if role else match[0])
        text = re.sub(pattern, " ", text)
    return Counter(found)


def messages(archive: str, n: int) -> list[tuple[str, str]]:
    pairs = []
    with tarfile.open(archive) as files:
        for member in files:
            content = files.extractfile(member) if member.name.endswith(".po") else None
            for entry in polib.pofile(content.read().decode()) if content else ():
                is_line = "\n" not in entry.msgid and len(entry.msgid) < 300 and not entry.msgid_plural
                if entry.translated() and not entry.obsolete and is_line and spans(entry.msgid):
                    pairs.append((entry.msgid, entry.msgstr))
    return random.Random(7).sample(pairs, n)


def report(name: str, sources: Sequence[str], outputs: Sequence[str], seconds: float) -> None:
    n_spans = n_intact = n_whole = 0
    for source, output in zip(sources, outputs, strict=True):
        wanted = spans(source)
        kept = sum(n for span, n in wanted.items() if n <= output.count(span) <= max(n, source.count(span)))
        n_spans, n_intact = n_spans + wanted.total(), n_intact + kept
        n_whole += kept == wanted.total()
    shares = f"{n_intact}/{n_spans} spans, {n_whole}/{len(sources)} whole messages"
    print(f"{name:10}  {shares}  {seconds:6.1f} s of CPU time", flush=True)


def timed(translate: Callable[[], list[Translation]]) -> tuple[list[Translation], float]:
    begin = time.process_time()
    return translate(), time.process_time() - begin


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("archive")
    parser.add_argument("--model", default="everyday")
    parser.add_argument("--messages", type=int, default=300)
    parser.add_argument("--beam-size", type=int, default=5)
    args = parser.parse_args()
    pairs = messages(args.archive, args.messages)
    sources = [source for source, _ in pairs]
    translator = dragoman.Translator.load(args.model)
    languages = {"source_lang": "en", "target_lang": "fr"} if len(translator.directions) > 1 else {}
    options = {**languages, "beam_size": args.beam_size}
    translator.translate(sources[:3], **options)
    report("people", sources, [target for _, target in pairs], 0)
    found, seconds = timed(lambda: translator.translate(sources, **options))
    report("default", sources, [one.text for one in found], seconds)
    found, seconds = timed(lambda: translator.translate(sources, protect="rst,printf,urls,code", **options))
    report("--protect", sources, [one.text for one in found], seconds)
    content = polib.POFile()
    content.metadata = {"Content-Type": "text/plain; charset=utf-8"}
    content.extend(polib.POEntry(msgid=source) for source in sources)
    document = parse_document(str(content).encode(), "po")
    found, seconds = timed(lambda: list(translate_document(document, translator, **options)))
    written = {entry.msgid: entry.msgstr for entry in polib.pofile(document.rebuild(found, "fr").decode())}
    report("PO file", sources, [written[source] for source in sources], seconds)
    without = [re.sub("|".join(PATTERNS), "this", source) for source in sources]
    _, seconds = timed(lambda: translator.translate(without, **options))
    print(f"{'no spans':10}  {seconds:.1f} s of CPU time")


if __name__ == "__main__":
    main()
