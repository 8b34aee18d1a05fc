"""The work of one part: a translator, and what a bulk translation asks of it."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from itertools import repeat
from typing import Any, Protocol

from dragoman.bulk.input_files import DocumentContent, Lines, Part
from dragoman.bulk.line_output import LineFormat
from dragoman.bundle.finding import find_bundle
from dragoman.errors import BundleError, DataError
from dragoman.machine.devices import Precision
from dragoman.machine.folders import MANIFEST
from dragoman.machine.json_files import read_json
from dragoman.memories import TranslationMemory
from dragoman.text.terms import TermList
from dragoman.translator import Pivot, TextTranslator, Translation, Translator


@dataclass(frozen=True)
class Result:
    """The translation of a part: the bytes of its output, and how many translations have each flag.

    Args:
        flagged: these translations, each with the number of its line or segment in the file, from 1, and with the text
            of the segment.
        notes: lines for people on the document, see `Noted`.
    """

    content: bytes
    n_translations: int
    flags: Mapping[str, int] = field(default_factory=dict)
    flagged: Sequence[tuple[int, Translation, str]] = ()
    notes: Sequence[str] = ()


@dataclass(frozen=True)
class Failure:
    """A part that could not be translated, and why, in one line."""

    message: str


Outcome = Result | Failure


class Pool(Protocol):
    """Something that translates parts: one process, or a cluster."""

    def outcomes(self, parts: Iterable[Part]) -> Iterator[tuple[Part, Outcome]]:
        """Yield each part with its outcome, in any order, while parts are still being read."""


@dataclass(frozen=True)
class BulkJob:
    """The settings of a bulk translation, as they are sent to other processes.

    Args:
        models: names or paths, the same on all machines.
        fingerprints: of their bundles, which must be equal everywhere.
        options: of `Translator.translate_stream`.
        target: the code of the language of the translations, if it is known.
        fuzzy: new translations in PO and XLIFF files are marked as to be checked.
        columns: of tables, to translate.
        pivot: the language in the middle of two steps.
    """

    models: tuple[str, ...]
    fingerprints: tuple[str, ...]
    options: Mapping[str, Any]
    output: LineFormat
    target: str | None
    precision: Precision = "float32"
    short_list: bool = True
    fuzzy: bool = False
    columns: str | None = None
    pivot: str | None = None

    def settings(self) -> dict[str, Any]:
        """Return all that the translations depend on, in a form for JSON. The fingerprints stand for the models."""
        settings = {each.name: getattr(self, each.name) for each in fields(self) if each.name != "models"}
        options = {name: _for_json(value) for name, value in self.options.items()}
        return {**settings, "options": options, "output": asdict(self.output)}

    def load(self, device: str) -> BulkWorker:
        """Load the models, for one process of one thread.

        Raises:
            BundleError: they are missing or damaged here, or other ones than those of the job.
        """
        if model_fingerprints(self.models) != self.fingerprints:
            problem = f"the model {self.models[0]} here is not the one that the translation was started with"
            raise BundleError(problem, advice="copy it to the same path on every machine")
        options: Any = {"device": device, "precision": self.precision, "short_list": self.short_list}
        if self.pivot is None:
            return BulkWorker(Translator.load(*self.models, **options), self)
        return BulkWorker(Pivot.load(*self.models, middle=self.pivot, **options), self)


@dataclass(frozen=True)
class BulkWorker:
    """A translator that does a job's parts. It is a pool of one process, too."""

    translator: TextTranslator
    job: BulkJob

    def outcomes(self, parts: Iterable[Part]) -> Iterator[tuple[Part, Outcome]]:
        """See `Pool`: one part after the other."""
        return ((part, self.outcome(part.work)) for part in parts)

    def outcome(self, work: Lines | DocumentContent) -> Outcome:
        """Translate a part. A document that cannot be read is a failure; any other error is raised."""
        try:
            return self._lines(work) if isinstance(work, Lines) else self._document(work)
        except DataError as error:
            return Failure(error.message)

    def _lines(self, work: Lines) -> Result:
        translations = list(self.translator.translate_stream(work.lines, **self.job.options))
        lines = (
            line
            for number, translation in enumerate(translations, work.first)
            for line in self.job.output.lines(number, translation)
        )
        return _result("".join(f"{line}\n" for line in lines).encode(), translations, work.first)

    def _document(self, work: DocumentContent) -> Result:
        from dragoman.documents import parse_document, translate_document
        from dragoman.documents.document import Noted, Reviewed
        from dragoman.documents.translating import document_options

        document = parse_document(work.content, work.format, work.name, self.job.columns)
        if self.job.fuzzy and isinstance(document, Reviewed):
            document.is_fuzzy = True
        translations = list(translate_document(document, self.translator, **document_options(self.job.options)))
        texts = [segment.text for segment in document.segments()]
        result = _result(document.rebuild(translations, self.job.target), translations, texts=texts)
        notes = document.notes() if isinstance(document, Noted) else ()
        return replace(result, notes=notes if texts else (*notes, "nothing to translate"))


def model_fingerprints(models: Iterable[str]) -> tuple[str, ...]:
    """Return a hash of each model's files.

    Raises:
        BundleError: a model is missing, or its manifest is damaged.
    """
    manifests = (read_json(find_bundle(name) / MANIFEST) for name in models)
    return tuple(str(manifest.get("self")) for manifest in manifests)


def _for_json(value: object) -> object:
    """Return the value of an option; for a term list or a memory, a hash of its content."""
    if isinstance(value, TermList):
        content: Sequence[object] = list(value)
    elif isinstance(value, TranslationMemory):
        content = value.units()
    else:
        return value
    return hashlib.sha256(repr(content).encode()).hexdigest()


def _result(
    content: bytes, translations: Sequence[Translation], n_before: int = 0, texts: Sequence[str] = ()
) -> Result:
    flags = Counter(str(flag) for translation in translations for flag in translation.flags)
    quoted = zip(translations, texts or repeat(""), strict=False)
    flagged = [(number, each, text) for number, (each, text) in enumerate(quoted, n_before + 1) if each.flags]
    return Result(content, len(translations), dict(flags), flagged)
