"""`dragoman translate` of many files into a folder, in this process or on a Ray cluster."""

from __future__ import annotations

import contextlib
import logging
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from dragoman.bulk.line_output import LineFormat
from dragoman.cli.flags import LineWarnings
from dragoman.cli.missing_packages import require_package
from dragoman.cli.option_groups import EngineOptions
from dragoman.cli.options import InvalidUtf8
from dragoman.cli.translate_flags import InputFlags, LineFlags, OutputFlags
from dragoman.errors import DataError, counted, printable

if TYPE_CHECKING:
    from dragoman.bulk.input_files import InputFile, InputFiles
    from dragoman.bulk.worker import BulkJob, Pool
    from dragoman.translator import TextTranslator, Translation

_log = logging.getLogger(__name__)

#: Batches of a file that are read, sorted by length and shared among the workers together.
READ_AHEAD = 128


@dataclass(frozen=True)
class ManyFiles:
    """Files and folders to translate, and the folder for their translations."""

    files: InputFlags
    to: OutputFlags
    invalid_utf8: InvalidUtf8

    def check(self, of_lines: LineFlags) -> None:
        """Refuse options that are missing, or for one file only.

        Raises:
            typer.BadParameter: names them.
        """
        if self.files.format is not None:
            of_lines.refuse_document()
        if not self.files.inputs:
            raise typer.BadParameter("--ray needs --input, files or a folder")
        if self.to.output is None:
            raise typer.BadParameter("many files need --output, a folder for their translations")


@dataclass(frozen=True)
class ModelOptions:
    """The models, where they run, and how they are called.

    Args:
        ray: the address of a cluster; None is this process.
        options: returns the options of `TextTranslator.translate_stream`, for a translator.
        pivot: the language in the middle of two steps.
    """

    names: Sequence[str]
    engine: EngineOptions
    ray: str | None
    options: Callable[[TextTranslator], dict[str, Any]]
    pivot: str | None = None

    def load(self, *, one_worker: bool) -> TextTranslator:
        """Load the models: for two steps, or one, or an ensemble. See `EngineOptions.compute`."""
        from dragoman.translator import Pivot, Translator

        compute = self.engine.compute(one_worker=one_worker)
        if self.pivot is None:
            return Translator.load(*self.names, **compute)
        return Pivot.load(*self.names, middle=self.pivot, **compute)


def translate_files(many: ManyFiles, models: ModelOptions, form: LineFormat) -> None:
    """Translate files into a folder. A finished file is passed over, and an error of one file does not stop the others.

    Raises:
        DataError: at the end, if files failed.
    """
    from dragoman.bulk.bulk_translation import BulkTranslation
    from dragoman.bulk.input_files import find_files
    from dragoman.bulk.output_folder import open_output

    if models.ray is not None:
        require_package("--ray", "ray")
    output = many.to.output or Path()
    given = many.files
    files = find_files(given.inputs or [], output, given.format, takes_tables=given.columns is not None)
    _tell_left_out(files)
    # On a cluster, this process only checks the options; its workers translate.
    translator = models.load(one_worker=models.ray is not None)
    job = _job(translator, models, form, given)
    settings = {**job.settings(), "invalid_utf8": many.invalid_utf8}
    with open_output(output, settings, overwrite=many.to.overwrite) as folder:
        translation = BulkTranslation(files.taken, folder, many.invalid_utf8, tell=_warnings())
        with _pool(translator, job, models) as pool:
            summary = translation.run(pool)
    _log.info(summary.describe())
    if summary.flags:
        flags = ", ".join(f"{name} {n:,}" for name, n in sorted(summary.flags.items()))
        _log.info(f"to be checked: {flags}")
    if summary.failures:
        advice = "the same command translates what is missing"
        was = "was" if len(summary.failures) == 1 else "were"
        problem = f"{len(summary.failures):,} of {counted(len(files.taken), 'file')} {was} not translated"
        raise DataError(problem, _few(summary.failures), advice=advice)  # each was told when it failed


def _warnings() -> Callable[[InputFile, int, Translation, str], None]:
    """Return what warns of a flagged line or segment of a file."""
    of_lines, of_segments = (LineWarnings(unit, names_all=not sys.stderr.isatty()) for unit in ("line", "segment"))

    def warn(file: InputFile, number: int, translation: Translation, text: str) -> None:
        warnings = of_lines if file.format is None else of_segments
        warnings.tell(number, translation, text, file=printable(file.name))

    return warn


def target_language(translator: TextTranslator, target_lang: str | None) -> str | None:
    """Return the code of the language of the translations, if it is known."""
    from dragoman.text.tags import UNKNOWN

    (target, *others) = dict.fromkeys(target for _, target in translator.directions)
    return target_lang or (None if others or target == UNKNOWN else target)


def _job(translator: TextTranslator, models: ModelOptions, form: LineFormat, files: InputFlags) -> BulkJob:
    """Return the job. Options that are wrong for the models are refused now, before anything is written."""
    from dragoman.bulk.worker import BulkJob, model_fingerprints

    engine = models.engine
    options = {**models.options(translator), "batch_size": engine.batch_size, "read_ahead": READ_AHEAD}
    translator.translate_stream((), **options)
    target_lang = options.get("target_lang")
    translator.tagged("", source_lang=options.get("source_lang"), target_lang=target_lang)
    target = target_language(translator, target_lang)
    names = tuple(_absolute(name) for name in models.names)
    return BulkJob(
        names,
        model_fingerprints(names),
        options,
        form,
        target,
        precision=engine.precision,
        short_list=not engine.no_short_list,
        fuzzy=files.fuzzy,
        columns=files.columns,
        pivot=models.pivot,
    )


def _absolute(name: str) -> str:
    """Return the path of a model, absolute because workers have other folders; the name of an installed one."""
    from dragoman.bundle.finding import model_path

    return name if (path := model_path(name)) is None else str(path.resolve())


@contextlib.contextmanager
def _pool(translator: TextTranslator, job: BulkJob, models: ModelOptions) -> Iterator[Pool]:
    if models.ray is None:
        from dragoman.bulk.worker import BulkWorker

        yield BulkWorker(translator, job)
        return
    from dragoman.bulk.ray_pool import ray_pool

    with ray_pool(models.ray, job, models.engine.workers, models.engine.device) as pool:
        yield pool


def _tell_left_out(files: InputFiles) -> None:
    if files.left_out:
        names = _few(path.name for path in files.left_out)
        _log.warning(f"left out, neither text nor a known document: {names}")
    if files.ambiguous:
        names = _few(path.name for path in files.ambiguous)
        suffixes = sorted({path.suffix.lower().removeprefix(".") for path in files.ambiguous})
        advice = " or ".join(f"--format {suffix}" for suffix in suffixes)
        _log.warning(f"left out, because such suffixes may be anything: {names}; {advice} takes them")
    if files.tables:
        names = _few(path.name for path in files.tables)
        _log.warning(f"left out, because --columns names no columns: {names}")


def _few(names: Iterable[object]) -> str:
    """Return the first names of many."""
    first, rest = list(islice(names := iter(names), 3)), next(names, None)
    return ", ".join(map(str, first)) + ("" if rest is None else " ...")
