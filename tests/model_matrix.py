"""What works with models of other programs: a table that is made by running each cell on a small model.

    python tests/model_matrix.py

writes it into docs/guide/models.md and its Chinese page. A cell has a check mark, or the note on the setting that
refuses it.
"""

from __future__ import annotations

import contextlib
import gzip
import io
import json
import re
import sys
import tempfile
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from ctranslate2_folders import folder_files as ctranslate2_files
from ctranslate2_folders import package_files, small_bundle
from ctranslate2_folders import write_folder as write_ctranslate2_folder
from m2m_folders import write_m2m_folder
from marian_folders import SSRU, write_folder
from shapes import shaped_bundle
from tiny import PAIRS, tiny_bundle, tiny_tokenizers

from dragoman.bundle.bundle import write_bundle
from dragoman.cli import program
from dragoman.exchange.export_folder import write_files
from dragoman.exchange.hugging_face_folder import folder_files
from dragoman.native.kernels import usable_kernels
from dragoman.runtime.compiled_model import CompiledModel
from dragoman.translator import Translator

ROOT = Path(__file__).resolve().parent.parent
PAGES = {"en": ROOT / "docs/guide/models.md", "zh": ROOT / "docs/book/zh/guide/models.md"}
START, END = "<!-- the matrix: python tests/model_matrix.py -->", "<!-- the end of the matrix -->"
WORKS = "✓"
#: Settings in the way, as the notes below the tables number them: in narrow cells, their names would break.
NOTES = {"`model.decoder_layer=ssru`": "– ¹", "`tokenizer.tags=both`": "– ²"}
TEXT = PAIRS[0][0]
WAY: Any = {"source_lang": "en", "target_lang": "de"}
#: The beginning of translations, which random models would end at once.
PREFIX = "Ein Mann"
OPTIONS = ("--source-lang", "en", "--target-lang", "de")
#: A setting before the reason why it is in the way.
_SETTING = re.compile(r"\b[a-z]+\.[a-z_]+=[a-z0-9.]+(?=: )")


def run(*arguments: str | Path) -> str | None:
    """Run a command; return None if it works, else the settings that its one error names."""
    told = io.StringIO()
    with contextlib.redirect_stderr(told), contextlib.redirect_stdout(io.StringIO()):
        code = program.run(list(map(str, arguments)))
    if code == 0:
        return None
    errors = [line for line in told.getvalue().splitlines() if line.startswith("error: ")]
    assert len(errors) == 1, told.getvalue()
    settings = _SETTING.findall(told.getvalue().split("error: ")[1])
    assert settings, told.getvalue()
    return ", ".join(f"`{setting}`" for setting in dict.fromkeys(settings))


# -- kinds of files: each writes a folder of its kind ------------------------------------------------------------------


def firefox(folder: Path) -> None:
    write_folder(folder, SSRU, "model.ende.intgemm.alphas.bin.gz", "intgemm8")
    for path in folder.glob("*.spm"):
        (folder / f"{path.name}.gz").write_bytes(gzip.compress(path.read_bytes()))
        path.unlink()
    (folder / "metadata.json").write_text(json.dumps({"sourceLanguage": "en", "targetLanguage": "de"}))


def transformers_marian(folder: Path) -> None:
    folder.mkdir()
    write_files(folder, folder_files(shaped_bundle("post")))


def ctranslate2(folder: Path) -> None:
    write_ctranslate2_folder(folder, ctranslate2_files(small_bundle()))


def argos(folder: Path) -> None:
    (folder / "model").mkdir(parents=True)
    write_ctranslate2_folder(folder, package_files(small_bundle()))


def own(folder: Path) -> None:
    write_bundle(folder, tiny_bundle(tiny_tokenizers()))


class Kind(NamedTuple):
    """A kind of file: a row."""

    name: str
    write: Callable[[Path], object]
    #: False for a bundle of ours.
    is_imported: bool = True
    #: Of `dragoman import`.
    options: tuple[str, ...] = ()


KINDS = (
    Kind("Marian `.npz`", write_folder, options=OPTIONS),
    Kind("Marian `.bin`, intgemm8", lambda folder: write_folder(folder, {}, "model.bin", "intgemm8"), options=OPTIONS),
    Kind("Firefox (SSRU)", firefox),
    Kind("transformers: Marian", transformers_marian),
    Kind("M2M-100", lambda folder: write_m2m_folder(folder, "m2m")),
    Kind("NLLB-200", lambda folder: write_m2m_folder(folder, "nllb")),
    Kind("CTranslate2", ctranslate2, options=OPTIONS),
    Kind("Argos", argos),
    Kind("dragoman, portable", own, is_imported=False),
)


def bundle_of(kind: Kind, folder: Path) -> Path:
    """Write a model of a kind below a folder, and return the bundle that it becomes."""
    kind.write(folder / "theirs")
    if not kind.is_imported:
        return folder / "theirs"
    assert run("import", folder / "theirs", "-o", folder / "ours", *kind.options) is None
    return folder / "ours"


# -- what may work: each returns None, or the setting that refuses it --------------------------------------------------


def translate(model: Path, folder: Path) -> str | None:
    (folder / "text").write_text(f"{TEXT}\n")
    command = ("translate", "-m", model, "-i", folder / "text", "-o", folder / "out", "--prefix", PREFIX, *OPTIONS)
    refused = run(*command)
    assert refused or (folder / "out").read_text().startswith(PREFIX)
    return refused


def int8(model: Path, folder: Path) -> None:
    translator = Translator.load(model, device="cpu", precision="int8")
    assert "int8" in repr(translator)
    assert isinstance(translator.scorer.models[0], CompiledModel) == bool(usable_kernels("int8"))
    assert translator.translate(TEXT, prefixes=PREFIX, **WAY).text.startswith(PREFIX)


def serve(model: Path, folder: Path) -> None:
    from serving import client_of

    with client_of(model, workers=1) as client:
        codes = {each["code"]: each["targets"] for each in client.get("/languages").json()}
        assert "de" in codes["en"]
        answer = client.post("/translate", json={"q": TEXT, "source": "en", "target": "de"})
    expected = Translator.load(model, device="cpu").translate(TEXT, **WAY).text
    assert answer.json() == {"translatedText": expected}


def align(model: Path, folder: Path) -> None:
    translation = Translator.load(model, device="cpu").translate(TEXT, prefixes=PREFIX, align=True, **WAY)
    assert translation.alignment
    assert all(source < len(TEXT.split()) for source, _ in translation.alignment)


def tune(model: Path, folder: Path) -> str | None:
    for name, side in (("my.en", 0), ("my.de", 1)):
        (folder / name).write_text("".join(f"{pair[side]}\n" for pair in PAIRS * 3), encoding="utf-8")
    settings = ("training.max_steps=2", "training.batch_tokens=200", "training.precision=float32")
    options = [word for setting in settings for word in ("--set", setting)]
    texts = ("--source", folder / "my.en", "--target", folder / "my.de")
    refused = run("train", *texts, "--init-from", model, "-o", folder / "run", "--device", "cpu", *options)
    assert refused or translate(folder / "run", folder) is None
    return refused


def web(model: Path, folder: Path) -> str | None:
    refused = run("export", "web", "-m", model, "-o", folder / "page")
    assert refused or (folder / "page" / "index.html").is_file()
    return refused


def exported(command: str, output: str, *options: str) -> Callable[[Path, Path], str | None]:
    """Return what exports a model: the command compares translations with those of the other program."""
    return lambda model, folder: run("export", command, "-m", model, "-o", folder / output, *options)


class Use(NamedTuple):
    """What may be done with a model: a column."""

    name: str
    chinese: str
    check: Callable[[Path, Path], str | None]
    #: Packages that it needs.
    packages: tuple[str, ...] = ()


USES = (
    Use("translate", "翻译", translate),
    Use("8 bits", "8 位", int8),
    Use("serve", "服务器", serve, ("fastapi", "uvicorn", "python_multipart", "prometheus_client", "httpx2")),
    Use("web page", "网页", web),
    Use("align words", "词对齐", align),
    Use("fine-tune", "微调", tune, ("torch",)),
)
FOREIGN_USES = (
    Use("to CTranslate2", "导出到 CTranslate2", exported("ct2", "ct2"), ("ctranslate2",)),
    Use("to Argos", "导出到 Argos", exported("argos", "a.argosmodel", *OPTIONS), ("ctranslate2", "onnxruntime")),
    Use("to transformers", "导出到 transformers", exported("hf", "hf"), ("transformers",)),
    Use("to ONNX", "导出到 ONNX", exported("onnx", "onnx"), ("onnx", "onnxruntime")),
)


def missing(use: Use) -> str | None:
    """Return a package that a use lacks here."""
    return next((name for name in use.packages if find_spec(name) is None), None)


def cell(use: Use, model: Path, folder: Path) -> str:
    """Return the cell of a model, by running it."""
    folder.mkdir(exist_ok=True)
    refused = use.check(model, folder)
    return NOTES.get(refused, refused) if refused else WORKS


# -- the table in the pages --------------------------------------------------------------------------------------------


def read_table(page: Path) -> list[list[str]]:
    """Return the cells of a page's table: the head, and a row for each kind."""
    lines = page.read_text(encoding="utf-8").split(START)[1].split(END)[0].strip().splitlines()
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return [rows[0], *rows[2:]]


def table_text(language: str, rows: list[list[str]]) -> str:
    """Return the table of a page, given a row of cells for each kind."""
    uses = (*USES, *FOREIGN_USES)
    head = ["files", *(use.name for use in uses)] if language == "en" else ["文件", *(use.chinese for use in uses)]
    body = [[kind.name, *row] for kind, row in zip(KINDS, rows, strict=True)]
    return "\n".join(f"| {' | '.join(row)} |" for row in [head, ["---"] * len(head), *body])


def write_tables() -> None:
    """Run every cell, and write the table into both pages. A cell without its package stays as it was."""
    before: dict[tuple[str, str], str] = {}
    with contextlib.suppress(IndexError):
        head, *rows = read_table(PAGES["en"])
        before = {(row[0], name): value for row in rows for name, value in zip(head, row, strict=True)}
    cells = []
    with tempfile.TemporaryDirectory() as name:
        for number, kind in enumerate(KINDS):
            folder = Path(name) / str(number)
            folder.mkdir()
            model = bundle_of(kind, folder)
            cells.append([_cell(use, kind, model, folder, before) for use in (*USES, *FOREIGN_USES)])
    for language, page in PAGES.items():
        first, rest = page.read_text(encoding="utf-8").split(START)
        last = rest.split(END)[1]
        page.write_text(f"{first}{START}\n\n{table_text(language, cells)}\n\n{END}{last}", encoding="utf-8")


def _cell(use: Use, kind: Kind, model: Path, folder: Path, before: dict[tuple[str, str], str]) -> str:
    if lacking := missing(use):
        print(f"{kind.name}, {use.name}: no {lacking}", file=sys.stderr)
        return before.get((kind.name, use.name), "?")
    return cell(use, model, folder / use.name.replace(" ", "-"))


def assert_cell(use: Use, kind: Kind, model: Path, folder: Path) -> None:
    """Compare a cell with the table of both pages."""
    found: Any = cell(use, model, folder)
    for page in PAGES.values():
        head, *rows = read_table(page)
        column = 1 + (*USES, *FOREIGN_USES).index(use)
        row = next(row for row in rows if row[0] == kind.name)
        assert len(row) == len(head)
        assert row[column] == found, f"{page.name}: run python tests/model_matrix.py"


if __name__ == "__main__":
    write_tables()
