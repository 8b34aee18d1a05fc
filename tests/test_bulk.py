"""Many files: each has the translation that it has alone, a stopped run goes on, and one bad file stops no other."""

from __future__ import annotations

import gzip
import os
import re
import shutil
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from office_samples import xlsx
from tiny import PAIRS, tiny_bundle, tiny_tokenizers

from dragoman.bulk import bulk_translation
from dragoman.bulk.bulk_translation import BulkTranslation
from dragoman.bulk.input_files import InputFile, Lines, Part, find_files, read_parts
from dragoman.bulk.line_output import LineFormat
from dragoman.bulk.output_folder import open_output
from dragoman.bulk.ray_pool import MAX_TRIES, PARTS_A_WORKER, RayPool
from dragoman.bulk.worker import BulkJob, BulkWorker, Failure, Outcome, Result
from dragoman.bundle.bundle import write_bundle
from dragoman.cli.program import run
from dragoman.errors import BundleError, ConfigError, DataError, ResourceError, RunFolderError

SENTENCES = [source for source, _ in PAIRS] * 6
SCORE = re.compile(r"-?[0-9]+\.[0-9]+(e-[0-9]+)?")
PAGE = b"<html><body><p>A man is <b>riding</b> a horse.</p><p>She is reading a book.</p></body></html>"


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("models") / "tiny"
    write_bundle(folder, tiny_bundle(tiny_tokenizers()))
    return str(folder)


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    """A folder of four files that can be translated, and what is no text of a person."""
    folder = tmp_path / "texts"
    (folder / "more").mkdir(parents=True)
    (folder / "a.en").write_text("\n".join(SENTENCES), encoding="utf-8")  # no end of line at the end
    (folder / "empty.txt").write_bytes(b"")
    (folder / "page.html").write_bytes(PAGE)
    (folder / "more" / "b.en.gz").write_bytes(gzip.compress("\n".join(SENTENCES[:9]).encode()))
    (folder / "style.css").write_text("p { color: red }", encoding="utf-8")
    (folder / "package.json").write_text('{"name": "a cat"}', encoding="utf-8")  # may be anything
    (folder / ".hidden.txt").write_text("a cat", encoding="utf-8")
    return folder


NAMES = ("a.en", "empty.txt", "more/b.en.gz", "page.html")


def command(model: str, *arguments: object) -> list[str]:
    return ["translate", "-m", model, "--device", "cpu", *map(str, arguments)]


def written(folder: Path) -> dict[str, bytes]:
    """The translations in a folder, without what a run keeps for itself."""
    files = (path for path in folder.rglob("*") if path.is_file())
    names = {path.relative_to(folder).as_posix(): path for path in files}
    return {name: path.read_bytes() for name, path in names.items() if not name.startswith(".dragoman-bulk/")}


def test_each_file_has_the_translation_that_it_has_alone(model: str, texts: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert run(command(model, "--input", texts, "--output", out)) == 0
    assert sorted(written(out)) == sorted(NAMES)
    for number, name in enumerate(NAMES):
        alone = tmp_path / f"{number}{''.join(Path(name).suffixes)}"
        assert run(command(model, "--input", texts / name, "--output", alone)) == 0
        assert alone.read_bytes() == (out / name).read_bytes()


@pytest.mark.parametrize("form", [[], ["--n-best", "2"], ["--json"], ["--align"]])
def test_parts_join_to_the_whole(
    model: str, texts: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: list[str]
) -> None:
    """Lines keep their order, and sentences their numbers."""
    (texts / "page.html").unlink()
    assert run(command(model, "--input", texts, "--output", tmp_path / "whole", *form)) == 0
    defaults = BulkTranslation.__init__.__defaults__
    assert defaults is not None
    monkeypatch.setattr(BulkTranslation.__init__, "__defaults__", (defaults[0], 7, *defaults[2:]))
    assert run(command(model, "--input", texts, "--output", tmp_path / "parts", *form)) == 0
    parts, whole = (written(tmp_path / name)["a.en"].decode() for name in ("parts", "whole"))
    # The last digits of a score depend on what was searched together.
    assert SCORE.sub("", parts) == SCORE.sub("", whole)
    assert parts.count("\n") == len(SENTENCES) * (2 if "--n-best" in form else 1)


def test_flagged_lines_are_named_with_their_file(
    model: str, texts: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """The tiny model cannot write the address."""
    lines = ["A man is riding a horse.", *["Look at https://example.org now."] * 25, "", "See https://example.org too."]
    (texts / "more" / "c.en").write_text("\n".join(lines), encoding="utf-8")
    (texts / "page.html").write_bytes(PAGE.replace(b"a book", b"https://example.org"))
    translate = command(model, "--input", texts, "--output", tmp_path / "out")
    assert run(translate) == 0
    said = capfd.readouterr().err
    message = "an address, a placeholder, an emoji, a quotation mark or the like is missing or changed"
    assert sorted(re.findall(rf"warning: (\S+): ((?:line|segment) \d.*?): (?:.*; )?{message}", said)) == [
        *sorted(("more/c.en", f"line {number}") for number in (*range(2, 27), 28)),
        ("page.html", 'segment 2 ("She is reading https://example.org.")'),
    ]
    assert re.search("to be checked: .*span 27", said)


def test_what_to_check_in_documents_is_said_as_for_one(
    model: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "in").mkdir()
    page = tmp_path / "in" / "a.md"
    page.write_text("# A cat\n\nSee [it](#a-cat).\n", encoding="utf-8")
    assert run(command(model, "--input", page, "--output", tmp_path / "alone.md")) == 0
    note = next(line for line in capfd.readouterr().err.splitlines() if "1 link to headings" in line)
    assert run(command(model, "--input", tmp_path / "in", "--output", tmp_path / "out")) == 0
    assert note.replace("warning: ", f"warning: {page}: ") in capfd.readouterr().err.splitlines()


def test_an_input_with_nothing_to_translate_is_named(
    model: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "in").mkdir()
    files = [tmp_path / "in" / name for name in ("a.po", "b.html", "c.xlsx")]
    for file, content in zip(files, (b"", b"<p></p>", xlsx()), strict=True):
        file.write_bytes(content)
        output = tmp_path / f"out{file.suffix}"
        assert run(command(model, "--input", file, "--output", output)) == 0
        assert f"warning: nothing to translate in {file}" in capfd.readouterr().err.splitlines()
        assert output.exists()
    assert run(command(model, "--input", tmp_path / "in", "--output", tmp_path / "out")) == 0
    said = capfd.readouterr().err.splitlines()
    assert all(f"warning: {file}: nothing to translate" in said for file in files)


def test_a_cell_that_became_too_long_is_told(
    model: str, tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dragoman.documents.excel_file._MOST_CHARACTERS", 0)
    book = tmp_path / "a.xlsx"
    book.write_bytes(xlsx("<si><t>A cat sits.</t></si>"))
    assert run(command(model, "--input", book, "--output", tmp_path / "b.xlsx")) == 0
    assert capfd.readouterr().err.count("left alone, such as 'A cat sits.': their translations") == 1


def test_several_inputs_go_into_a_folder(model: str, texts: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    both = ["--input", texts / "a.en", "--input", texts / "style.css"]  # a file that is named is text
    assert run(command(model, *both, "--output", out)) == 0
    assert sorted(written(out)) == ["a.en", "style.css"]
    assert run(command(model, "--input", texts / "page.html", "--output", out)) == 0  # it is there, so it is a folder
    assert b"<b>" in written(out)["page.html"]


class Recorded:
    """A pool of one process that counts, and stops like one that is killed."""

    def __init__(self, n_parts: int = 1_000) -> None:
        self.n_left, self.parts = n_parts, list[Part]()

    def outcomes(self, parts: Iterable[Part]) -> Iterator[tuple[Part, Outcome]]:
        for part in parts:
            if not self.n_left:
                raise KeyboardInterrupt
            self.n_left -= 1
            self.parts.append(part)
            yield part, self.outcome(part)

    def outcome(self, part: Part) -> Outcome:
        if isinstance(part.work, Lines):
            return Result("".join(f"{line.upper()}\n" for line in part.work.lines).encode(), len(part.work.lines))
        return Result(part.work.content.upper(), 1)


def translate(texts: Path, out: Path, pool: Any, settings: dict[str, Any] | None = None, **options: Any) -> Any:
    files = find_files([texts], out, None).taken
    with open_output(out, settings or {"beam": (4,)}, overwrite=options.get("overwrite", False)) as folder:
        return BulkTranslation(files, folder, part_lines=5).run(pool)


def test_a_stopped_run_goes_on_with_the_parts_that_are_missing(texts: Path, tmp_path: Path) -> None:
    whole = Recorded()
    translate(texts, tmp_path / "whole", whole)
    n_parts = len(whole.parts)
    assert n_parts == 5 + 0 + 2 + 1
    for stop in range(n_parts):
        out, first, second = tmp_path / f"out-{stop}", Recorded(stop), Recorded()
        with pytest.raises(KeyboardInterrupt):
            translate(texts, out, first)
        assert len(first.parts) == stop
        assert all(content == written(tmp_path / "whole")[name] for name, content in written(out).items())
        summary = translate(texts, out, second)
        assert [part.key for part in (*first.parts, *second.parts)] == [part.key for part in whole.parts]
        assert summary.n_translated + summary.n_finished_before == len(NAMES)
        assert written(out) == written(tmp_path / "whole")
        assert not any((out / ".dragoman-bulk" / "parts").rglob("*-*"))
        assert translate(texts, out, Recorded(0)).n_finished_before == len(NAMES)  # nothing is left to do


def test_terms_and_memories_work_for_many_files_and_are_settings(
    model: str, texts: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    terms, memory, out = tmp_path / "terms.csv", tmp_path / "memory.tsv", tmp_path / "out"
    text = gzip.decompress((texts / "more/b.en.gz").read_bytes()).decode().split("\n")[0]
    memory.write_text(f"{text}\tA translation by a person.\n")
    terms.write_text(f"source,target\nnowhere,{PAIRS[0][1].split()[0]}\n")
    arguments = command(model, "--input", texts, "--output", out, "--terms", terms, "--memory", memory)
    for _ in range(2):  # the second time, nothing is left to do
        assert run(arguments) == 0
    assert "4 finished before" in capfd.readouterr().err
    assert gzip.decompress((out / "more/b.en.gz").read_bytes()).decode().startswith("A translation by a person.\n")
    for changed in (terms, memory):
        before = changed.read_text()
        changed.write_text(f"{before}{before.splitlines()[-1].replace('e', 'x')}\n")
        assert run(arguments) == 2
        assert "other settings (options)" in capfd.readouterr().err
        changed.write_text(before)
    assert run(arguments) == 0


def test_a_kept_part_is_not_taken_for_that_of_another_text(texts: Path, tmp_path: Path) -> None:
    """The input changes between two runs, in place and in length."""
    out = tmp_path / "out"
    with pytest.raises(KeyboardInterrupt):
        translate(texts, out, Recorded(3))
    lines = (texts / "a.en").read_text(encoding="utf-8").split("\n")
    lines[7] = "another line"
    (texts / "a.en").write_text("\n".join(lines[:-3]), encoding="utf-8")
    pool = Recorded()
    translate(texts, out, pool)
    assert written(out)["a.en"].decode().splitlines() == [line.upper() for line in lines[:-3]]
    assert [part.index for part in pool.parts if part.file.name == "a.en"] == [1, 3, 4]


def test_an_input_that_changed_is_translated_again(texts: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    translate(texts, out, Recorded())
    (texts / "a.en").write_text("new\n", encoding="utf-8")
    pool = Recorded()
    assert translate(texts, out, pool).n_finished_before == len(NAMES) - 1
    assert [part.file.name for part in pool.parts] == ["a.en"]
    assert written(out)["a.en"] == b"NEW\n"


def test_an_error_of_one_file_stops_no_other(
    model: str, texts: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """All bad files are told, the run fails in the end, and the same command does what is missing."""
    out = tmp_path / "out"
    (texts / "bad.txt").write_bytes(b"right\nwrong \xff\n")
    (texts / "bad.html").write_bytes(b"\xff\xfe<p>")
    (texts / "damaged.en.gz").write_bytes(gzip.compress(b"a cat\n" * 99)[:-9])
    (texts / "gone.txt").symlink_to("nowhere")
    assert run(command(model, "--input", texts, "--output", out)) == 1
    said = capsys.readouterr().err
    assert "left out, neither text nor a known document: style.css" in said
    assert "left out, because such suffixes may be anything: package.json; --format json takes them" in said
    assert (
        f"error: 4 of 8 files were not translated: {texts}/bad.html, {texts}/bad.txt, {texts}/damaged.en.gz ...;"
        in said
    )
    assert f"error: invalid UTF-8: {texts}/bad.txt:2:7" in said
    assert "damaged gzip file" in said
    assert all(said.count(name) == 2 for name in ("bad.txt", "bad.html", "damaged.en.gz"))
    assert said.count("gone.txt") == 1
    assert sorted(written(out)) == sorted(NAMES)
    for name, content in (("bad.txt", b"a cat\n"), ("bad.html", b"<p>a cat"), ("damaged.en.gz", gzip.compress(b"b\n"))):
        (texts / name).write_bytes(content)
    (texts / "gone.txt").unlink()
    assert run(command(model, "--input", texts, "--output", out)) == 0
    assert "7 files: 3 translated, 4 finished before; 3 lines" in capsys.readouterr().err
    assert sorted(written(out)) == sorted((*NAMES, "bad.txt", "bad.html", "damaged.en.gz"))


def test_what_another_run_wrote_is_not_replaced_unasked(texts: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / "a.en").write_text("mine", encoding="utf-8")
    summary = translate(texts, out, Recorded())
    assert [message.partition(":")[0] for message in summary.failures.values()] == ["the output exists"]
    assert written(out)["a.en"] == b"mine"
    with pytest.raises(ConfigError, match=r"made with other settings \(beam\)"):
        translate(texts, out, Recorded(), {"beam": 1})
    pool = Recorded()
    translate(texts, out, pool, {"beam": 1}, overwrite=True)
    assert {part.file.name for part in pool.parts} == {"a.en", "more/b.en.gz", "page.html"}
    assert written(out)["a.en"] != b"mine"


def test_a_folder_is_one_process_alone(texts: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    with open_output(out, {}, overwrite=False), pytest.raises(RunFolderError, match="in use by process"):
        translate(texts, out, Recorded(), {})


def test_links_do_not_lead_out_of_the_output(texts: Path, tmp_path: Path) -> None:
    out, elsewhere = tmp_path / "out", tmp_path / "elsewhere"
    out.mkdir()
    elsewhere.mkdir()
    (out / "more").symlink_to(elsewhere, target_is_directory=True)
    summary = translate(texts, out, Recorded())
    assert [message.partition(":")[0] for message in summary.failures.values()] == ["no place for the translation"]
    assert not list(elsewhere.iterdir())


def test_the_output_may_lie_in_the_input(texts: Path) -> None:
    """It is no input at the next start."""
    for n_finished in (0, len(NAMES)):
        assert translate(texts, texts / "out", Recorded()).n_finished_before == n_finished


def bad_inputs(texts: Path, tmp_path: Path) -> Iterator[tuple[list[object], str]]:
    out = tmp_path / "out"
    (tmp_path / "nothing").mkdir()
    (tmp_path / "other").mkdir()
    shutil.copy(texts / "a.en", tmp_path / "other" / "a.en")
    shutil.copy(texts / "a.en", tmp_path / "file")
    yield ["--input", texts], "many files need --output, a folder"
    yield ["--input", texts, "--output", texts], "the output is an input too"
    yield ["--input", tmp_path / "nothing", "--output", out], "no text and no document here"
    yield ["--input", texts, "--input", tmp_path / "missing", "--output", out], "file not found"
    yield ["--input", texts / "a.en", "--input", tmp_path / "other" / "a.en", "--output", out], "the same translation"
    yield ["--input", texts, "--output", tmp_path / "file"], "the output is a file, and must be a folder"
    yield ["--input", texts, "--output", out, "--format", "odd"], "unknown format 'odd'"
    yield ["--input", texts, "--output", out, "--format", "html", "--json"], "--json is for lines"
    yield ["--input", texts, "--output", out, "--target-lang", "xx"], "xx"
    yield ["--input", texts, "--output", out, "--beam-size", "0"], "--beam-size"
    yield ["--ray", "auto", "--output", out], "--ray needs --input"
    yield ["--ray", "auto", "--input", texts / "a.en"], "many files need --output, a folder"


def test_bad_input_is_one_line(
    model: str, texts: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for arguments, words in bad_inputs(texts, tmp_path):
        before = written(tmp_path)
        assert run(command(model, *arguments)) in (1, 2), arguments
        error = [line for line in capsys.readouterr().err.splitlines() if not line.startswith(("warning", "Usage"))]
        assert words in error[-1], arguments
        assert written(tmp_path) == before
    monkeypatch.setitem(sys.modules, "ray", None)  # not installed
    assert run(command(model, "--ray", "auto", "--input", texts, "--output", tmp_path / "out")) == 1
    assert "error: --ray needs Ray; install it" in capsys.readouterr().err


def test_ray_is_not_imported_unasked(model: str, texts: Path, tmp_path: Path) -> None:
    assert run(command(model, "--input", texts, "--output", tmp_path / "out")) == 0
    assert "ray" not in sys.modules


def test_a_worker_refuses_another_model_of_the_same_name(model: str) -> None:
    job = BulkJob((model,), ("0" * 64,), {}, LineFormat(), None)
    with pytest.raises(BundleError, match="is not the one that the translation was started with"):
        job.load("cpu")


class FakeRay:
    """Ray as far as `RayPool` knows it. A worker does its parts in order, and dies of some: all its calls fail then."""

    class RayError(Exception):
        """The error of calls to a worker that died."""

    class RayTaskError(RayError):
        """An error that the work raised."""

    def __init__(self, deadly: Iterable[int] = (), n_deaths: int = 1, n_failed_starts: int = 0) -> None:
        self.exceptions = SimpleNamespace(RayError=self.RayError, RayTaskError=self.RayTaskError)
        self.deadly, self.n_failed_starts = dict.fromkeys(deadly, n_deaths), n_failed_starts
        self.calls, self.queues, self.dead = dict[str, Any](), dict[str, list[str]](), set[str]()

    def cluster_resources(self) -> dict[str, float]:
        return {"CPU": 2.0, "memory": 1e9}

    def remote(self, actor: type) -> Any:
        return SimpleNamespace(options=lambda **_: SimpleNamespace(remote=lambda *_: self.actor()))

    def actor(self) -> Any:
        name = f"worker {len(self.queues)}"
        self.queues[name] = []
        load = SimpleNamespace(remote=lambda: self.call(name, None))
        return SimpleNamespace(name=name, load=load, outcome=SimpleNamespace(remote=lambda work: self.call(name, work)))

    def kill(self, actor: Any) -> None:
        assert actor.name in self.dead

    def call(self, name: str, work: Lines | None) -> str:
        call = f"{name}, call {len(self.calls)}"
        self.calls[call] = work
        self.queues[name].append(call)
        assert len(self.queues[name]) <= PARTS_A_WORKER
        return call

    def wait(self, calls: list[str], num_returns: int) -> tuple[list[str], list[str]]:
        ready = [
            call for call in calls if call.partition(",")[0] in self.dead or call in map(first, self.queues.values())
        ]
        return ready[-1:], [call for call in calls if call != ready[-1]]

    def get(self, call: str) -> Result | None:
        name, work = call.partition(",")[0], self.calls[call]
        if name in self.dead:
            raise self.RayError
        assert self.queues[name].pop(0) == call
        if work is None:
            self.n_failed_starts -= 1
            if self.n_failed_starts >= 0:
                raise self.RayError
            return None
        if self.deadly.get(work.first, 0):
            self.deadly[work.first] -= 1
            self.dead.add(name)
            raise self.RayError
        return Result(" ".join(work.lines).encode(), len(work.lines))


def first(queue: list[str]) -> str | None:
    return queue[0] if queue else None


JOB = BulkJob(("model",), ("0",), {}, LineFormat(), None)


def test_parts_are_read_as_workers_are_free(texts: Path) -> None:
    """Never more than two a worker are on their way, and each part comes back once."""
    pool = RayPool(FakeRay(), JOB, None, "auto")
    assert pool.n_workers == 2
    file = InputFile(texts / "a.en", "a.en", None)
    n_read = n_done = 0

    def parts() -> Iterator[Part]:
        nonlocal n_read
        for part in read_parts(file, "error", 2):
            n_read += 1
            assert n_read - n_done <= PARTS_A_WORKER * pool.n_workers
            yield part

    seen = []
    for part, outcome in pool.outcomes(parts()):
        assert isinstance(outcome, Result)
        assert isinstance(part.work, Lines)
        assert outcome.content.decode() == " ".join(part.work.lines)
        seen.append(part.index)
        n_done += 1
    assert sorted(seen) == list(range(12))


@pytest.mark.parametrize("n_workers", [1, 2, 3])
def test_a_part_whose_worker_died_is_translated_again(texts: Path, n_workers: int) -> None:
    """A part that kills every worker fails after three, and takes no other part with it."""
    file = InputFile(texts / "a.en", "a.en", None)
    parts = list(read_parts(file, "error", 2))
    for n_deaths in range(1, MAX_TRIES + 1):
        pool = RayPool(FakeRay(deadly=[4, 6, 22], n_deaths=n_deaths), JOB, n_workers, "cpu")
        outcomes = [(part.index, outcome) for part, outcome in pool.outcomes(parts)]
        assert sorted(index for index, _ in outcomes) == list(range(12))
        failed = {index for index, outcome in outcomes if isinstance(outcome, Failure)}
        assert failed == ({2, 3, 11} if n_deaths == MAX_TRIES else set())


def test_workers_that_never_start_end_the_run(texts: Path) -> None:
    parts = list(read_parts(InputFile(texts / "a.en", "a.en", None), "error", 2))
    assert len(list(RayPool(FakeRay(n_failed_starts=MAX_TRIES - 1), JOB, 2, "cpu").outcomes(parts))) == 12
    with pytest.raises(ResourceError, match="workers die while they load the model"):
        list(RayPool(FakeRay(n_failed_starts=MAX_TRIES), JOB, 2, "cpu").outcomes(parts))
    with pytest.raises(ResourceError, match="the cluster has no GPU"):
        RayPool(FakeRay(), JOB, 2, "cuda")


def test_progress_is_told_now_and_then(
    texts: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, log_lines: list[str]
) -> None:
    monkeypatch.setattr(bulk_translation, "PROGRESS_EVERY", -1.0)
    translate(texts, tmp_path / "out", Recorded())
    assert any(line.startswith("3 of 4 files; 34 lines") for line in log_lines)


def test_a_document_that_cannot_be_read_is_a_failure(texts: Path, model: str) -> None:
    from dragoman.translator import Translator

    (texts / "bad.html").write_bytes(b"\xff")
    worker = BulkWorker(Translator.load(model, device="cpu"), JOB)
    (part,) = read_parts(InputFile(texts / "bad.html", "bad.html", "html"), "error")
    assert isinstance(worker.outcome(part.work), Failure)
    with pytest.raises(DataError, match="file not found"):
        list(read_parts(InputFile(texts / "no.html", "no.html", "html"), "error"))
    assert os.listdir(texts)
