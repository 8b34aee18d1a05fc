"""`dragoman data clean`: it keeps the pairs that a training keeps, in files that are read as the same pairs."""

from __future__ import annotations

import contextlib
import csv
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from runs import captured_log
from test_prepare import corpus, make, texts

from dragoman.cli.program import run
from dragoman.data.corpus import languages, read_pairs
from dragoman.data.filtering import Counts
from dragoman.data.prepare import judge_corpus
from dragoman.errors import DataError
from dragoman.settings.data_config import DataConfig

Pairs = list[tuple[str, str]]
PAIRS = [
    *[(f"House {number} is old.", f"Haus {number} ist alt.") for number in range(20)],
    ("English", "German"),
    ('"Stop!" he said.', '"Halt!", sagte er.'),
    ("a < b & c > d <b>", "„a“ < b & c > d </seg>"),
    ("", "nichts"),
    ("It costs 5 euros.", "Es kostet 7 Euro."),
    ("A\x01 control", "Ein Steuerzeichen"),
    ("Yes.", "Ja " * 30),
    ("House 3 is old.", "Haus 3 ist alt."),
    ('"', '"Where is my key now?"'),
]
#: The lines of pairs that are dropped, with the reasons.
DROPPED = {24: "empty", 25: "numbers", 26: "control characters", 27: "ratio", 28: "duplicate", 29: "wordless"}
FILES = ["--source", "in/a.en", "--target", "in/a.de"]
OPTIONS = ["--set=data.drop=numbers,wordless", "--set=data.dedup=true", "--set=tokenizer.kind=characters"]


def clean(*arguments: object) -> int:
    return run(["data", "clean", *map(str, arguments)])


side = st.sampled_from(
    ["a", "b c", "b  c", "It was in 1998.", "Es war 1989.", "...", "x" * 30, " \t", "d\x07", "Where is my key?", "fÃ¼r"]
)


@given(
    pairs=st.lists(st.tuples(side, side), min_size=1, max_size=30),
    data=st.fixed_dictionaries(
        {"dedup": st.booleans(), "max_length": st.sampled_from([5, 20, 100]), "max_ratio": st.sampled_from([1.0, 4.0])},
        optional={
            "drop": st.lists(st.sampled_from(["numbers", "copied", "mojibake", "wordless", "repeated"]), unique=True),
            "clean": st.just(["mojibake"]),
        },
    ),
)
@settings(max_examples=40)
def test_what_is_kept_is_what_a_training_keeps(
    tmp_path_factory: pytest.TempPathFactory, pairs: Pairs, data: dict[str, Any]
) -> None:
    folder = tmp_path_factory.mktemp("clean")
    validation = corpus(folder / "validation", [("a", "b")]).data  # so that a training holds nothing out
    data |= {"validation_source": validation.source, "validation_target": validation.target}
    config = corpus(folder / "in", pairs, data=data, tokenizer={"kind": "characters", "joint": False})
    try:
        prepared, report = make(config, folder / "out")
    except DataError:
        with contextlib.suppress(DataError):
            assert all(reason for _, reason in judge_corpus(config)[1])
        return
    with captured_log() as lines:
        judged = list(judge_corpus(config)[1])
    kept = [sides for (_, *sides), reason in judged if reason is None]
    assert kept == [list(pair) for pair in texts(prepared.train)]
    assert [line for (line, *_), _ in judged] == list(range(1, len(pairs) + 1))
    counts = Counts(len(kept))
    for (line, *_), reason in judged:
        if reason is not None:
            counts.drop(reason, line)
    assert counts.line() == report[0]
    assert set(lines) <= set(report)


@pytest.mark.parametrize("names", [["o.tsv"], ["o.tmx"], ["o.jsonl"], ["o.tsv.gz"], ["o.tmx.xz"], ["o.en", "o.de.gz"]])
def test_the_files_are_read_as_the_pairs_that_are_kept(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], names: list[str]
) -> None:
    outputs = [tmp_path / name for name in names]
    options = [part for path in outputs for part in ("-o", path)]
    dropped = tmp_path / "dropped.tsv"
    data = corpus(tmp_path / "in", PAIRS).data
    assert clean("--source", data.source, "--target", data.target, *options, "--dropped", dropped, *OPTIONS) == 0
    said = capsys.readouterr().err
    roles = ("pairs",) if len(outputs) == 1 else ("source", "target")
    asked = {"source_lang": "en", "target_lang": "de"} if names == ["o.jsonl"] else {}  # the others tell them
    data = DataConfig(**dict(zip(roles, map(str, outputs), strict=True)), **asked)
    assert languages(data) == ("en", "de")
    kept = list(read_pairs(data, "train"))
    assert kept == [pair for line, pair in enumerate(PAIRS, start=1) if line not in DROPPED]
    table = DataConfig(pairs=str(dropped), columns="reason,line")
    assert [(int(line), reason) for reason, line in read_pairs(table, "train")] == list(DROPPED.items())
    sides = read_pairs(DataConfig(pairs=str(dropped), columns="source,target"), "train")
    expected = [tuple(side.replace("\x01", "").rstrip() for side in PAIRS[line - 1]) for line in DROPPED]
    assert [tuple(side.rstrip() for side in pair) for pair in sides] == expected
    assert "pieces" not in said
    assert re.search(rf"^ *{len(kept)} kept: ", said, re.M)
    assert re.findall(r"^ +1 dropped: (.+) \(line (\d+)\)$", said, re.M) == sorted(
        (reason, str(line)) for line, reason in DROPPED.items()
    )


@pytest.mark.parametrize("max_length", [100, 1])
def test_python_and_spreadsheets_read_the_dropped_pairs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], max_length: int
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.en").write_text('A\ttab and a "quote".\n"One."\n')
    Path("a.de").write_text('\n"Eins."\n')
    assert clean(
        "--source=a.en", "--target=a.de", "-oo.tsv", "--dropped=d.tsv", f"--set=data.max_length={max_length}"
    ) == (max_length == 1)
    with open("d.tsv", newline="") as file:
        header, *rows = csv.reader(file, "excel-tab")
    assert header == ["reason", "line", "source", "target"]
    long = [["too long", "2", '"One."', '"Eins."']] * (max_length == 1)
    assert rows == [["empty", "1", 'A\ttab and a "quote".', ""], *long]
    assert Path("o.tsv").exists() == (max_length > 1)
    assert ("look at d.tsv" in capsys.readouterr().err) == (max_length == 1)


def test_the_dropped_pairs_are_written_if_no_text_is_usable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.tsv").write_text("The same on both sides.\tThe same on both sides.\n")
    options = "--source-lang=en", "--target-lang=de", "--set=data.drop=copied"
    assert clean("--pairs=a.tsv", "-oo.tsv", "--dropped=d.tsv", *options) == 1
    assert (
        "no pair is left (kept 0 of 1 pair; dropped: copied 1 (line 1)): a.tsv; look at d.tsv"
        in capsys.readouterr().err
    )
    assert Path("d.tsv").read_text().splitlines()[1:] == ['"copied"\t"1"' + 2 * '\t"The same on both sides."']
    assert not Path("o.tsv").exists()


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ([*FILES, "-o", "o.csv"], ".tsv or .tmx or .jsonl"),
        ([*FILES, "-o", "o"], "without suffix"),
        ([*FILES, "-o", "a.x", "-o", "b.x", "-o", "c.x"], "two text files"),
        ([*FILES, "-o", "o.tsv", "--dropped", "./o.tsv"], "same name"),
        ([*FILES, "-o", "in/a.en", "-o", "b.de", "--overwrite"], "an input too"),
        (["--pairs", "pairs.tsv", "-o", "o.tsv", "--dropped", "pairs.tsv", "--overwrite"], "an input too"),
        (
            [*FILES, "--set=data.validation_pairs=pairs.tsv", "-o", "pairs.tsv", "--overwrite"],
            "an input too",
        ),
        ([*FILES, "-o", "o.tsv", "--dropped", "d.jsonl"], "ends in .tsv"),
        ([*FILES, "-o", "o.tsv.zst"], "end its name in .gz"),
        ([*FILES, "-o", "exists.tsv"], "the output exists"),
        ([*FILES, "-o", "none/o.tsv"], "no such folder"),
        (["--pairs", "pairs.tsv", "-o", "o.tmx"], "languages"),
        (["recipe.yaml", "-o", "o.tsv"], "several corpora"),
        (["memory.tmx", "-o", "o.tsv"], "not a file of text: memory.tmx; give pairs by --pairs FILE"),
        (["gone.csv.gz", "-o", "o.tsv"], "not a file of text: gone.csv.gz; give pairs by --pairs FILE"),
        ([*FILES, "-o", "/proc/o.tsv"], "nothing can be written here"),
        (["-o", "o.tsv"], "no text given"),
        ([*FILES, "-o", "o.tsv", "--set", "data.drop=spam"], "data.drop"),
        ([*FILES, "-o", "o.tsv", "--set=data.max_length=1", *OPTIONS], "--dropped FILE shows them"),
    ],
)
def test_bad_requests_are_errors_of_one_line(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    options: list[str],
    problem: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("exists.tsv").write_text("mine")
    Path("pairs.tsv").write_text("One.\tEins.\nTwo.\tZwei.\n")
    Path("memory.tmx").write_text(f"<tmx><body>{'x' * 2000}</body></tmx>")
    Path("recipe.yaml").write_text("data: {corpora: [{pairs: a.en-de.tsv}, {pairs: b.en-de.tsv}]}")
    corpus(Path("in"), PAIRS)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    assert clean(*options) != 0
    error = [line for line in capsys.readouterr().err.splitlines() if line.startswith("error: ")]
    assert len(error) == 1
    assert problem in error[0]
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


@pytest.mark.parametrize("fault", ["numbers", "copied", "script"])
def test_a_rule_that_needs_the_languages_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], fault: str
) -> None:
    pairs = tmp_path / "pairs.tsv"
    pairs.write_text("My house is big.\tMein Haus ist groß.\nI have 3 cats.\tIch habe 5 Katzen.\n", encoding="utf-8")
    assert clean("--pairs", str(pairs), "-o", str(tmp_path / "kept.tsv"), f"--set=data.drop={fault}") == 0
    assert f"data.drop={fault} needs the languages of the text" in capsys.readouterr().err


def test_units_and_codes_of_a_memory_that_are_left_out_are_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    tuv = '<tuv xml:lang="{}"><seg>{}</seg></tuv>'
    units = [[("en", source), ("de", target)] for source, target in PAIRS[:20]]
    units += [[("en", "alone")], [("fr", "seul")], [("en", "<bpt i='1'>{</bpt>Bold<ept i='1'>}</ept>"), ("de", "Fett")]]
    body = "".join(f"<tu>{''.join(tuv.format(*one) for one in unit)}</tu>" for unit in units)
    Path("m.tmx").write_text(f"<tmx><header/><body>{body}</body></tmx>")
    with captured_log() as lines:
        langs = ("--source-lang", "en", "--target-lang", "de")
        assert clean("--pairs", "m.tmx", *langs, "-o", "o.tmx", "--set=tokenizer.kind=characters") == 0
    assert "m.tmx: 2 units left out: without a text in en or de" in lines
    assert sum("inline codes" in line for line in lines) == 1
    assert "m.tmx: inline codes (bpt, ept, it, ph, ut) left out of the text of 1 unit" in lines
