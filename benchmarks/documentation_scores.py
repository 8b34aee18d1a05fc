"""Translate the files of Python's documentation that benchmarks/documentation.py holds out, and score them.

    python benchmarks/documentation_scores.py everyday runs/documentation --language fr --output written

Every message that people have translated is translated again: as a message of a PO file, and as plain text, without
protection. Prints BLEU and chrF2, of all messages and of those that the training text of `everyday` did not have, the
spans that are intact (the checker of protected_spans.py shares no code with dragoman), and the files in which
`msgfmt --check-format` finds a fault. Files that are written already are not translated again.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

import polib
from documentation import ARCHIVES, is_held_out, po_files, translated
from everyday_sets import bleu, chrf
from everyday_text import VALIDATION_SIZE, messages
from protected_spans import spans

import dragoman
from dragoman.documents import parse_document, translate_document

KINDS = ("PO", "text")
Message = tuple[str, str]


def references(content: bytes) -> polib.POFile:
    """Return the messages of a file that people have translated."""
    file = polib.POFile()
    file.metadata = polib.pofile(content.decode()).metadata
    file.extend(entry for entry in translated(content) if not entry.msgid_plural)
    return file


def as_document(file: polib.POFile, translator: dragoman.Translator, language: str) -> list[str]:
    """Return the translations of a file's messages, as `dragoman translate` writes them; the file has them too."""
    for entry in file:
        entry.msgstr = ""
    document = parse_document(str(file).encode(), "po")
    found = list(translate_document(document, translator, source_lang="en", target_lang=language))
    written = polib.pofile(document.rebuild(found, language).decode())
    for entry, new in zip(file, written, strict=True):
        entry.msgstr, entry.flags = new.msgstr, new.flags
    return [entry.msgstr for entry in file]


def as_text(file: polib.POFile, translator: dragoman.Translator, language: str) -> list[str]:
    """Return the translations of messages as plain text."""
    texts = [" ".join(entry.msgid.split()) for entry in file]
    outputs = [one.text for one in translator.translate(texts, source_lang="en", target_lang=language)]
    for entry, output in zip(file, outputs, strict=True):
        entry.msgstr = output
    return outputs


def faulty(path: Path) -> bool:
    """Return True if msgfmt finds a fault in the formats of a file."""
    command = ["msgfmt", "--check-format", "--output-file=/dev/null", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        print(done.stderr.strip())
    return done.returncode != 0


def intact(sources: Sequence[str], outputs: Sequence[str]) -> str:
    """Return how many spans, and how many messages with spans, are as in the source."""
    n_spans = n_kept = n_messages = n_whole = 0
    for source, output in zip(sources, outputs, strict=True):
        wanted = spans(source)
        kept = sum(n for span, n in wanted.items() if n <= output.count(span) <= max(n, source.count(span)))
        n_spans, n_kept = n_spans + wanted.total(), n_kept + kept
        n_messages, n_whole = n_messages + bool(wanted), n_whole + (bool(wanted) and kept == wanted.total())
    return f"{n_kept:,} of {n_spans:,} spans, {n_whole:,} of {n_messages:,} messages"


def score(name: str, rows: Sequence[tuple[Message, str]], seen: set[Message], language: str) -> None:
    """Print a line about the translations of messages, each given with that of people."""
    parts = []
    for kind in ("all", "new"):
        chosen = [
            (output, [target])
            for (source, target), output in rows
            if kind == "all" or (" ".join(source.split()), " ".join(target.split())) not in seen
        ]
        outputs, targets = [output for output, _ in chosen], [target for _, target in chosen]
        parts.append(
            f"{kind} {len(chosen):,}: BLEU {bleu(outputs, targets, language):.1f} chrF2 {chrf(outputs, targets):.1f}"
        )
    kept = intact([source for (source, _), _ in rows], [output for _, output in rows])
    print(f"{name:28} {'; '.join(parts)}; {kept}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="+")
    parser.add_argument("--language", choices=tuple(ARCHIVES), default="fr")
    parser.add_argument("--output", type=Path, default=Path("written"))
    parser.add_argument("--kind", choices=KINDS, help="only as messages of a PO file, or as text")
    parser.add_argument("--files", type=int, help="only so many of the held-out files")
    arguments = parser.parse_args()
    language = arguments.language
    held_out = {name: content for name, content in po_files(language).items() if is_held_out(name)}
    chosen = dict(list(held_out.items())[: arguments.files])
    archive = Path(os.environ["DRAGOMAN_DATA"]) / "python-docs" / ARCHIVES[language]
    seen = set(messages(archive)[:-VALIDATION_SIZE])
    people = [(entry.msgid, entry.msgstr) for content in chosen.values() for entry in references(content)]
    print(f"{len(chosen)} files, {len(people):,} messages")
    score("people", [(pair, pair[1]) for pair in people], seen, language)
    for model in arguments.models:
        translator = dragoman.Translator.load(model)
        for kind in [arguments.kind] if arguments.kind else KINDS:
            translate = {"PO": as_document, "text": as_text}[kind]
            outputs: list[str] = []
            begin, n_faulty = time.process_time(), 0
            for name, content in chosen.items():
                path = arguments.output / Path(model).name / kind / name
                if path.exists():
                    outputs += [entry.msgstr for entry in polib.pofile(str(path))]
                else:
                    file = references(content)
                    outputs += translate(file, translator, language)
                    path.parent.mkdir(parents=True, exist_ok=True)
                    path.write_text(str(file), encoding="utf-8")
                n_faulty += faulty(path)
            score(f"{Path(model).name} {kind}", list(zip(people, outputs, strict=True)), seen, language)
            print(
                f"{'':28} msgfmt: {n_faulty} faulty files; {time.process_time() - begin:.0f} s of CPU time", flush=True
            )


if __name__ == "__main__":
    main()
