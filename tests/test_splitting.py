"""Splitting a corpus: no sentence on two sides, sizes as asked, and a test that was trained on is told."""

import contextlib
import csv
import json
import shlex
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dragoman.data.corpus import read_pairs
from dragoman.data.overlap import run_of, training_overlap
from dragoman.data.parallel_text import ParallelText
from dragoman.data.prepare import prepare
from dragoman.data.splitting import SPLITS, split_pairs
from dragoman.errors import DataError
from dragoman.settings.data_config import DataConfig
from dragoman.settings.parsing import parse_config
from dragoman.text.cleaning import comparable

Pairs = list[tuple[str, str]]


def text_of(pairs: Pairs) -> ParallelText:
    return ParallelText.of_pairs("x", lambda: iter(pairs))


def components(pairs: Pairs) -> list[set[int]]:
    """The oracle: join whatever shares a source or a target, until nothing changes."""
    groups = [{index} for index in range(len(pairs))]
    changed = True
    while changed:
        changed = False
        for one in range(len(groups)):
            for other in range(len(groups) - 1, one, -1):
                sides = [[{comparable(pairs[i][side]) for i in groups[g]} for side in (0, 1)] for g in (one, other)]
                if sides[0][0] & sides[1][0] or sides[0][1] & sides[1][1]:
                    groups[one] |= groups.pop(other)
                    changed = True
    return groups


side = st.text("abcde ", min_size=1, max_size=3).filter(str.strip)


@given(
    pairs=st.lists(st.tuples(side, side), min_size=1, max_size=40),
    sizes=st.tuples(st.integers(0, 6), st.integers(0, 6)),
    seed=st.integers(0, 3),
)
@settings(max_examples=150, deadline=None)
def test_no_sentence_is_on_two_sides(pairs: Pairs, sizes: tuple[int, int], seed: int) -> None:
    groups = components(pairs)
    n_single = sum(len(group) == 1 for group in groups)
    if n_single < sum(sizes) or sum(sizes) >= len(pairs):
        with contextlib.suppress(DataError):  # larger groups may still fit
            assert sum(split_pairs(text_of(pairs), *sizes, seed).sizes.values()) == len(pairs)
        return
    found = split_pairs(text_of(pairs), *sizes, seed)
    for group in groups:
        assert len({found.split_indices[index] for index in group}) == 1
    got = list(found.pairs())
    assert [pair for _, *pair in got] == [list(pair) for pair in pairs]
    assert [sum(name == split for name, *_ in got) for split in SPLITS] == [len(pairs) - sum(sizes), *sizes]
    assert found.sizes == {"train": len(pairs) - sum(sizes), "validation": sizes[0], "test": sizes[1]}
    assert found.largest_group == max(map(len, groups))
    assert split_pairs(text_of(pairs), *sizes, seed).split_indices == found.split_indices


def test_a_huge_group_goes_to_training() -> None:
    chain = [(str(n // 2), str((n + 1) // 2)) for n in range(900)]
    single = [(f"source {n}", f"target {n}") for n in range(300)]
    found = split_pairs(text_of([*chain, *single]), 50, 50, 1)
    assert set(found.split_indices[:900]) == {0}
    assert found.largest_group == 900
    with pytest.raises(DataError, match="pairs with an equal source or target stay together, here up to 900"):
        split_pairs(text_of([*chain, *single]), 200, 200, 1)


def test_lines_that_look_equal_are_together_and_unusable_ones_are_left_out() -> None:
    pairs = [
        ("a  b", "x"),
        ("a b ", "y"),
        ("", "z"),
        ("e\u0301", "u"),
        ("\u00e9", "v"),
        *((f"{n}", f"{n}") for n in range(20)),
    ]
    for seed in range(20):
        found = split_pairs(text_of(pairs), 3, 3, seed)
        assert found.split_indices[0] == found.split_indices[1]
        assert found.split_indices[3] == found.split_indices[4]
        assert found.dropped.reasons() == "empty 1 (line 3)"
        assert sum(found.sizes.values()) == len(pairs) - 1


def test_another_seed_sets_other_pairs_apart() -> None:
    pairs = [(f"s{n}", f"t{n}") for n in range(200)]
    places = {split_pairs(text_of(pairs), 20, 20, seed).split_indices for seed in range(5)}
    assert len(places) == 5


# -- the command -------------------------------------------------------------------------------------------------


def write(path: Path, lines: list[str]) -> Path:
    path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    return path


@pytest.mark.parametrize("kind", ["files", "tsv", "jsonl"])
def test_the_parts_are_of_the_kind_that_was_given(tmp_path: Path, kind: str, run: Callable[..., str]) -> None:
    pairs = [(f"word {n % 90}", f"Wort {n}") for n in range(100)]
    if kind == "files":
        given = ["--source", write(tmp_path / "a.en", [one for one, _ in pairs])]
        given += ["--target", write(tmp_path / "a.de", [other for _, other in pairs])]
        names = [["train.en", "train.de"], ["validation.en", "validation.de"], ["test.en", "test.de"]]
    else:
        rows = {
            "tsv": ["\t".join(pair) for pair in pairs],
            "jsonl": [json.dumps({"source": one, "target": other}) for one, other in pairs],
        }
        given = ["--pairs", write(tmp_path / f"a.en-de.{kind}", rows[kind])]
        names = [[f"{split}.en-de.{kind}"] for split in SPLITS]
    said = run("data", "split", *given, "--validation", 10, "--test", 20, "-o", tmp_path / "parts")
    assert sorted(path.name for path in (tmp_path / "parts").iterdir()) == sorted(
        name for part in names for name in part
    )
    lines = [[(tmp_path / "parts" / name).read_text().split("\n")[:-1] for name in part] for part in names]
    assert [len(part[0]) for part in lines] == [70, 10, 20]
    assert "the largest group has 2" in said
    _, _, command = said.partition("train: dragoman train ")
    run("prepare", *shlex.split(command), "--dry-run")  # it takes the same options
    original = [path.read_text().split("\n")[:-1] for path in map(Path, given[1::2])]
    for position, whole in enumerate(original):
        assert sorted(line for part in lines for line in part[position]) == sorted(whole)
        for part in lines:
            places = [whole.index(line) for line in dict.fromkeys(part[position])]
            assert all(one < other for one, other in pairwise(places))
    assert "the output exists" in run("data", "split", *given, "-o", tmp_path / "parts", code=1)
    assert "cannot be set apart" in run("data", "split", *given, "--test", 1000, "-o", tmp_path / "other", code=1)
    assert not (tmp_path / "other").exists()


@pytest.mark.parametrize("rows", [
    [(f'"Sentence {n}."', f'"Satz {n}."') if n % 9 else (f"Word {n}", f'Wort "{n}"') for n in range(60)],
    [("English", "German"), *((f"Sentence {n}.", f"Satz {n}.") for n in range(60))],
])  # fmt: skip
def test_a_table_is_split_into_tables_of_the_same_pairs(
    tmp_path: Path, rows: list[tuple[str, str]], run: Callable[..., str]
) -> None:
    with open(tmp_path / "a.csv", "w", encoding="utf-8", newline="") as file:
        csv.writer(file, quoting=csv.QUOTE_ALL).writerows([("source", "target"), *rows])
    run("data", "split", "--pairs", tmp_path / "a.csv", "--validation", 5, "--test", 9, "-o", tmp_path / "parts")
    parts = [DataConfig(pairs=str(tmp_path / "parts" / f"{split}.tsv")) for split in SPLITS]
    assert sorted(pair for part in parts for pair in read_pairs(part, "train")) == sorted(rows)


def test_a_tenth_is_set_apart_of_few_pairs_and_a_warning_told_of_little_training_text(
    tmp_path: Path, run: Callable[..., str]
) -> None:
    pairs = write(tmp_path / "a.tsv", [f"word {n}\tWort {n}" for n in range(210)])
    whole = run("data", "split", "--pairs", pairs, "-o", tmp_path / "one")
    assert [len((tmp_path / "one" / f"{split}.tsv").read_text().splitlines()) for split in SPLITS] == [168, 21, 21]
    assert "warning" not in whole
    said = run("data", "split", "--pairs", pairs, "--validation", 100, "-o", tmp_path / "two")
    assert "warning: less than half" in said
    assert said.count("\n") == whole.count("\n") + 1


def test_a_part_of_no_pairs_is_not_written(tmp_path: Path, run: Callable[..., str]) -> None:
    pairs = write(tmp_path / "a.tsv", [f"word {n}\tWort {n}" for n in range(10)])
    run("data", "split", "--pairs", pairs, "--validation", 0, "--test", 2, "-o", tmp_path / "parts")
    assert sorted(path.name for path in (tmp_path / "parts").iterdir()) == ["test.tsv", "train.tsv"]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """Runs a command and returns what it says to people."""
    from dragoman.cli.program import run as run_command

    def run(*arguments: object, code: int = 0) -> str:
        found = run_command([str(argument) for argument in arguments])
        said = capsys.readouterr().err
        assert found == code, said
        return said

    return run


# -- a test that was trained on ----------------------------------------------------------------------------------


def test_a_test_that_was_trained_on_is_told(tmp_path: Path) -> None:
    pairs = [(f"The  number {n}", f"Die Zahl {n}") for n in range(100)]
    write(tmp_path / "a.en", [one for one, _ in pairs])
    write(tmp_path / "a.de", [other for _, other in pairs])
    data = {"source": str(tmp_path / "a.en"), "target": str(tmp_path / "a.de"), "validation_size": 1}
    run = tmp_path / "run"
    prepare(parse_config({"data": data, "tokenizer": {"kind": "characters"}}), run)
    bundle = run / "bundles" / "step-1"
    bundle.mkdir(parents=True)
    (run / "best").symlink_to(Path("bundles") / "step-1")
    held_out = [index for index in range(100) if f"The  number {index}" not in trained_sources(run)]
    test = [("The number 5", "Die Zahl 5"), ("The number 6 ", "Sechs"), ("Something new", "Die Zahl 7"), ("", "")]
    assert not {5, 6} & set(held_out), "choose other numbers"
    for model in (run, run / "best", bundle):
        assert run_of(model) is not None
        overlap = training_overlap([model], *map(list, zip(*test, strict=True)))
        assert (overlap.n_lines, overlap.n_sources, overlap.n_pairs) == (4, 2, 1)
        assert (overlap.line() or "").startswith("warning: 2 of 4 test sources were in the training text, 1 of them")
    assert training_overlap([run], ["new"], ["neu"]).line() is None
    assert training_overlap([Path("tiny-en-de"), tmp_path], ["The number 5"], ["Die Zahl 5"]).line() is None
    for path in (run / "data" / "train").glob("source_text*"):
        path.write_bytes(b"\xff" * 8)
    assert training_overlap([run], ["The number 5"], ["Die Zahl 5"]).line() is None


def trained_sources(run: Path) -> set[str]:
    from dragoman.data.store import PairStore

    store = PairStore(run / "data" / "train")
    return {store.source_text(index) for index in range(len(store))}
