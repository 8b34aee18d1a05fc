"""Preparing a corpus: what goes in comes out or is counted, the same input gives the same bytes, and nothing is left
of a preparation that failed."""

import itertools
import os
import random
import shutil
import signal
import subprocess
import sys
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from extras import import_extra
from hypothesis import given, settings
from hypothesis import strategies as st
from runs import captured_log

from dragoman.data.corpus import read_pairs
from dragoman.data.duplicates import find_duplicates
from dragoman.data.filtering import length_problem, text_problem
from dragoman.data.hashed_pairs import HashedPairs, text_hash
from dragoman.data.parallel_text import ParallelText
from dragoman.data.prepare import prepare
from dragoman.data.prepared import Prepared, open_prepared
from dragoman.data.selection import Selection, Use, select
from dragoman.data.store import PairStore, StoreWriter, pack
from dragoman.data.text_files.lines import Line, Unreadable
from dragoman.errors import BundleError, ConfigError, DataError, ResourceError
from dragoman.settings.config import Config
from dragoman.settings.data_config import DataConfig
from dragoman.settings.parsing import parse_config
from dragoman.text.learning import learn_many_tokenizers

SENTENCES = [
    f"{who} {verb} {what}."
    for who in ("A man", "She", "Tom")
    for verb in ("sees", "has")
    for what in ("it", "a cat", "red cars")
]


def corpus(folder: Path, pairs: list[tuple[str, str]], **settings: Any) -> Config:
    folder.mkdir(exist_ok=True)
    for side, name in enumerate(("a.en", "a.de")):
        (folder / name).write_bytes("".join(pair[side] + "\n" for pair in pairs).encode(errors="surrogatepass"))
    data = {"source": str(folder / "a.en"), "target": str(folder / "a.de"), **settings.pop("data", {})}
    return parse_config({"data": data, **settings})


def sample(n_pairs: int = 60, seed: int = 1) -> list[tuple[str, str]]:
    draw = random.Random(seed)
    return [(f"{draw.choice(SENTENCES)} {index}", f"{index} {draw.choice(SENTENCES)}") for index in range(n_pairs)]


def texts(store: PairStore) -> list[tuple[str, str]]:
    return [(store.source_text(index), store.target_text(index)) for index in range(len(store))]


def make(config: Config, folder: Path, **options: Any) -> tuple[Prepared, list[str]]:
    with captured_log() as lines:
        return prepare(config, folder, **options), lines


# -- filters -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("source", "target", "problem"),
    [
        ("a", "b", None),
        ("", "b", "empty"),
        ("a", " \t\u3000", "empty"),
        ("a\0", "b", "control characters"),
        ("a", "b\x1b[0m", "control characters"),
        ("a\rb", "b\x0c", "control characters"),
        ("a\ud800", "b", "control characters"),
        ("l\x92homme", "b", "control characters"),
        ("a", "b\x85", "control characters"),
        ("a\tb", "c\u2028d", None),
        ("न\u200dम \u200f", "\u200bb\ufeff", None),
        (Unreadable.TOO_LONG, "b", "too long"),
        ("a", Unreadable.INVALID, "invalid UTF-8"),
    ],
)
def test_text_that_is_dropped(source: Line, target: Line, problem: str | None) -> None:
    assert text_problem(source, target) == problem


def test_lengths_that_are_dropped() -> None:
    data = DataConfig(max_length=100, max_ratio=4.0)
    cases = {
        (1, 12): None,
        (1, 13): "ratio",
        (13, 1): "ratio",
        (100, 100): None,
        (101, 100): "too long",
        (0, 5): "empty",
    }
    for lengths, problem in cases.items():
        assert length_problem(*lengths, data) == problem


short_pairs = st.lists(st.tuples(st.sampled_from("abc "), st.sampled_from("xy")), max_size=30)


@given(pairs=short_pairs)
@settings(max_examples=50)
def test_duplicates_against_a_set(pairs: list[tuple[str, str]]) -> None:
    with HashedPairs("source") as hashed:
        for source, target in pairs:
            hashed.add(text_hash(source), text_hash(target))
        found = find_duplicates(hashed)
    stripped = [(source.strip(), target) for source, target in pairs]
    assert found.repeated.tolist() == [pair in stripped[:index] for index, pair in enumerate(stripped)]
    assert found.n_repeated == len(stripped) - len(set(stripped))
    assert found.n_other_target == len(set(stripped)) - len({source for source, _ in stripped})


def test_duplicates_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dragoman.data.hashed_pairs._BUFFER", 7)
    numbers = [random.Random(3).randrange(40) for _ in range(300)]
    with HashedPairs("source") as hashed:
        for number in numbers:
            hashed.add(text_hash(str(number)), 0)
        assert find_duplicates(hashed).repeated.tolist() == [
            number in numbers[:index] for index, number in enumerate(numbers)
        ]


# -- what is held out --------------------------------------------------------------------------------------------


def selected(pairs: list[tuple[str, str]], **settings: Any) -> dict[Use, list[tuple[str, str]]]:
    """The pairs that are for each use."""
    data = DataConfig.model_validate(settings)
    selection = select(ParallelText.of_pairs("x", lambda: iter(pairs)), data, {}, hold_out=True)
    selection.refuse_unusable()
    by_use: dict[Use, list[tuple[str, str]]] = {use: [] for use in Use}
    for pair, use in zip(pairs, selection.uses, strict=True):
        by_use[Use(use)].append(pair)
    used = [pair for pair, use in zip(pairs, selection.uses, strict=True) if use in (Use.TRAINING, Use.VALIDATION)]
    assert [pair for (_, *pair), _ in selection.used()] == [list(pair) for pair in used]
    assert all((source, target) == pairs[line - 1] for (line, source, target), _ in selection.used())
    assert list(selection.training_pairs()) == by_use[Use.TRAINING]
    assert selection.holds_out == bool(by_use[Use.VALIDATION])
    assert selection.dropped.seen == len(pairs) - len(used)
    return by_use


words = st.text("abcdefgh ", min_size=1, max_size=3)


@given(pairs=st.lists(st.tuples(words, words), min_size=1, max_size=80), size=st.integers(1, 20), dedup=st.booleans())
@settings(max_examples=60)
def test_every_usable_pair_has_one_fate(pairs: list[tuple[str, str]], size: int, dedup: bool) -> None:
    usable = [pair for pair in pairs if pair[0].strip() and pair[1].strip()]
    if not usable:
        with pytest.raises(DataError, match="none of"):
            selected(pairs)
        return
    by_use = selected(pairs, validation_size=size, dedup=dedup)
    found = {use: [(source.strip(), target.strip()) for source, target in of_use] for use, of_use in by_use.items()}
    held_out, train = found[Use.VALIDATION], found[Use.TRAINING]
    assert len(found[Use.UNUSABLE]) == len(pairs) - len(usable)
    assert len(held_out) <= size
    assert len(held_out) + len(found[Use.SAME_SOURCE]) <= len(usable) // 10
    held_out_sources = {source for source, _ in held_out}
    assert len(held_out_sources) == len(held_out)
    assert not held_out_sources & {source for source, _ in train}
    assert {source for source, _ in found[Use.SAME_SOURCE]} <= held_out_sources
    assert set(found[Use.DUPLICATE]) <= set(train)
    assert len(train) == len(set(train)) if dedup else not found[Use.DUPLICATE]


def test_as_many_are_held_out_as_asked_for() -> None:
    for n_pairs, size, expected in ((500, 20, 20), (500, 1000, 50), (9, 5, 0), (10, 5, 1)):
        assert len(selected(sample(n_pairs), validation_size=size)[Use.VALIDATION]) == expected


def test_sources_with_many_targets_take_no_more_than_a_tenth() -> None:
    by_use = selected([(str(n % 1000), str(n)) for n in range(10_000)])
    assert {use: len(pairs) for use, pairs in by_use.items() if pairs} == {
        Use.TRAINING: 9000,
        Use.VALIDATION: 100,
        Use.SAME_SOURCE: 900,
    }
    common = [("the same", str(n)) for n in range(200)]
    assert len(selected([*common, *sample(300)])[Use.VALIDATION]) >= 30


def test_adding_lines_hardly_changes_what_is_held_out() -> None:
    def held_out(pairs: list[tuple[str, str]]) -> set[str]:
        return {source for source, _ in selected(pairs, validation_size=50)[Use.VALIDATION]}

    pairs = sample(1000)
    before, after = held_out(pairs), held_out([*sample(50, seed=7), *pairs])
    assert len(before & after) >= 35
    assert held_out(pairs[::-1]) == before


# -- preparing ---------------------------------------------------------------------------------------------------


def test_what_is_prepared_is_the_corpus(tmp_path: Path) -> None:
    pairs = sample()
    prepared, lines = make(corpus(tmp_path, pairs), tmp_path / "run")
    train, validation = texts(prepared.train), texts(prepared.validation)
    assert sorted(train + validation) == sorted(pairs)
    assert len(validation) == 6
    assert train == [pair for pair in pairs if pair in set(train)]
    for store in (prepared.train, prepared.validation):
        for index, (source, target) in enumerate(texts(store)):
            assert store.source_ids(index).tolist() == prepared.tokenizers.source.encode(source)
            assert store.target_ids(index).tolist() == prepared.tokenizers.target.encode(target)
            assert store.source_lengths[index] == len(store.source_ids(index))
            assert store.target_lengths[index] == len(store.target_ids(index))
    assert prepared.tokenizers.languages == ("en", "de")
    assert lines[:2] == ["kept 54 of 54 pairs", "held out for validation: kept 6 of 6 pairs"]
    assert "chosen to fit" in lines[-1]


def test_several_processes_write_the_same_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dragoman.data.encode_corpus._CHUNK", 7)
    config = corpus(tmp_path, [*sample(100), ("a", "b " * 40)])
    made = []
    for n_cores in ("1", "3"):
        monkeypatch.setenv("OMP_NUM_THREADS", n_cores)
        _, lines = make(config, tmp_path / n_cores)
        made.append((lines, contents(tmp_path / n_cores)))
    assert made[0] == made[1]


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere there is one process")
def test_with_several_processes_errors_are_told_and_nothing_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dragoman.data.encode_corpus._CHUNK", 7)
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    config = corpus(tmp_path, sample(100))
    tokenizers = make(config, tmp_path / "first")[0].tokenizers
    this_process, used = os.getpid(), Selection.used

    def die(text: str) -> list[int]:
        assert os.getpid() != this_process
        os.kill(os.getpid(), signal.SIGKILL)
        return []

    def stop(selection: Selection) -> Iterator[tuple[str, str, int]]:
        yield from itertools.islice(used(selection), 50)
        raise DataError("no more of it")

    with monkeypatch.context() as patch:
        patch.setattr(tokenizers.source, "encode", die)
        with pytest.raises(ResourceError, match="a worker process was killed; if RAM is short, set OMP_NUM_THREADS"):
            make(config, tmp_path / "run", tokenizers=tokenizers)
    assert not contents(tmp_path / "run")
    with monkeypatch.context() as patch:
        patch.setattr(Selection, "used", stop)
        with pytest.raises(DataError, match="no more of it"):
            make(config, tmp_path / "run", tokenizers=tokenizers)
    assert not contents(tmp_path / "run")
    make(config, tmp_path / "run", tokenizers=tokenizers)


@pytest.mark.parametrize("change", [b"\xff", b"a" * 200_000, b"\n"])
def test_a_file_that_changes_between_two_passes_is_refused(tmp_path: Path, change: bytes) -> None:
    config = corpus(tmp_path, sample(100), data={"invalid_utf8": "drop"})
    selection = select(read_pairs(config.data, "train"), config.data, {}, hold_out=True)
    pairs = selection.used()
    next(pairs)
    target = tmp_path / "a.de"
    target.write_bytes(change + target.read_bytes()[len(change) :] + change)
    with pytest.raises(DataError, match="changed while reading"):
        for _ in pairs:
            pass


def test_of_validation_data_that_are_empty_their_files_are_named(tmp_path: Path) -> None:
    validation = corpus(tmp_path / "other", [("", ""), ("", "")]).data
    config = corpus(
        tmp_path, sample(20), data={"validation_source": validation.source, "validation_target": validation.target}
    )
    with pytest.raises(DataError, match=r"no validation pair is left .*other/a\.en"):
        make(config, tmp_path / "run")


def test_one_file_as_both_sides_is_told(tmp_path: Path) -> None:
    _, lines = make(corpus(tmp_path, [(source, source) for source, _ in sample(100)]), tmp_path / "run")
    assert "warning: 100 of 100 pairs have equal source and target; is one file given for both?" in lines
    _, lines = make(parse_config({"data": {"corpus": "copy"}, "tokenizer": {"kind": "words"}}), tmp_path / "copy")
    assert "20,000 pairs have equal source and target (kept)" in lines


def test_what_is_dropped_is_counted(tmp_path: Path) -> None:
    pairs = sample(100)
    bad = [("", "x"), ("a", " "), ("a\0", "b"), ("a\x1bb", "c"), ("long " * 300, "long " * 300), ("a", "b " * 40)]
    mixed = [*pairs[:50], *bad, *pairs[50:], pairs[3], ("same", "same"), (pairs[4][0], "other")]
    validation = corpus(tmp_path / "other", [*pairs[:5], ("", ""), ("new", "neu")]).data
    settings = {"validation_source": validation.source, "validation_target": validation.target, "dedup": True}
    prepared, lines = make(corpus(tmp_path, mixed, data=settings), tmp_path / "run")
    assert texts(prepared.train) == [*pairs, ("same", "same"), (pairs[4][0], "other")]
    assert texts(prepared.validation) == [*pairs[:5], ("new", "neu")]
    assert lines[:6] == [
        "kept 102 of 109 pairs; dropped: control characters 2 (from line 53), duplicate 1 (line 107), "
        "empty 2 (from line 51), ratio 1 (line 56), too long 1 (line 55)",
        "validation: kept 6 of 7 pairs; dropped: empty 1 (line 6)",
        "1 pair repeats an earlier one (removed)",
        "1 pair has a source that occurs before with another target (kept)",
        "2 pairs have equal source and target (kept)",
        "warning: 7 training pairs have a source that is also in the validation data",
    ]


@pytest.mark.parametrize(
    ("suffix", "target", "warns"), [("", "狗在跑。", True), ("", "Ein Hund.", False), (".zh", "狗在跑。", False)]
)
def test_text_without_spaces_in_an_unknown_language_is_told(
    tmp_path: Path, suffix: str, target: str, warns: bool
) -> None:
    for name, text in (("source", "A dog."), (f"target{suffix}", target)):
        (tmp_path / name).write_text(f"{text}\n" * 20, encoding="utf-8")
    data = {"source": str(tmp_path / "source"), "target": str(tmp_path / f"target{suffix}")}
    config = parse_config({"data": data, "tokenizer": {"kind": "characters"}})
    for _ in ("made", "used"):
        lines = make(config, tmp_path / "run")[1]
        assert sum(line.startswith("warning: ") and "; give --target-lang" in line for line in lines) == warns


def test_marks_and_carriage_returns_are_not_text(tmp_path: Path) -> None:
    config = corpus(tmp_path, [("\ufeffa b\r", "x y\r"), ("c d\r", "z\u2028w\r")])
    prepared, lines = make(config, tmp_path / "run")
    assert texts(prepared.train) == [("a b", "x y"), ("c d", "z\u2028w")]
    assert f"byte order mark left out: {tmp_path / 'a.en'}" in lines


def test_special_tokens_in_text_are_text(tmp_path: Path) -> None:
    hostile = ["</s> <pad> a", "<unk> <sos> <eos>", "<2de> ▁ b", "<s>"]
    prepared, _ = make(corpus(tmp_path, [(text, text) for text in hostile] * 5), tmp_path / "run")
    for index in range(len(prepared.train)):
        assert prepared.train.source_ids(index).min() > 3
    assert {source for source, _ in texts(prepared.train)} | {
        source for source, _ in texts(prepared.validation)
    } == set(hostile)


@pytest.mark.parametrize("kind", ["bpe", "unigram", "words", "characters"])
def test_one_sentence_is_enough(tmp_path: Path, kind: str) -> None:
    if kind == "words":
        import_extra("spacy", "words")
    prepared, lines = make(corpus(tmp_path, [("A man.", "Ein Mann.")], tokenizer={"kind": kind}), tmp_path / "run")
    assert texts(prepared.train) == texts(prepared.validation) == [("A man.", "Ein Mann.")]
    assert any("too few pairs" in line for line in lines)


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("kind", ["bpe", "unigram", "characters"])
def test_the_same_input_gives_the_same_bytes(tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    first = corpus(tmp_path / "one", sample(), tokenizer={"kind": kind})
    second = corpus(tmp_path / "two", sample(), tokenizer={"kind": kind})
    make(first, tmp_path / "run")
    monkeypatch.setattr("dragoman.data.encode_corpus._CHUNK", 7)
    monkeypatch.setattr("dragoman.data.hashed_pairs._BUFFER", 11)
    monkeypatch.setattr("os.cpu_count", lambda: 1)
    make(second, tmp_path / "moved")
    assert contents(tmp_path / "run") == contents(tmp_path / "moved")


def test_another_locale_and_process_give_the_same_bytes(tmp_path: Path) -> None:
    config = corpus(tmp_path, [(source, target + " äß你") for source, target in sample()])
    make(config, tmp_path / "run")
    program = (
        "import sys; from pathlib import Path; from dragoman.settings.parsing import parse_config;"
        "from dragoman.data.prepare import prepare;"
        "data = dict(source=sys.argv[1], target=sys.argv[2]);"
        "prepare(parse_config(dict(data=data)), Path(sys.argv[3]))"
    )
    environment = {"PYTHONPATH": ":".join(sys.path), "LC_ALL": "C", "PYTHONIOENCODING": "ascii", "PYTHONHASHSEED": "5"}
    arguments = [
        sys.executable,
        "-c",
        program,
        str(config.data.source),
        str(config.data.target),
        str(tmp_path / "other"),
    ]
    subprocess.run(arguments, check=True, env=environment)
    assert contents(tmp_path / "run") == contents(tmp_path / "other")


def test_what_is_prepared_already_is_used(tmp_path: Path) -> None:
    config = corpus(tmp_path, sample())
    first, lines = make(config, tmp_path / "run")
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "run").rglob("*")}
    again, more = make(config, tmp_path / "run")
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / "run").rglob("*")} == before
    assert again.fingerprints == first.fingerprints
    assert more == [f"using the corpus prepared in {tmp_path / 'run'}", *lines]
    shutil.move(tmp_path / "run", tmp_path / "elsewhere")
    assert texts(open_prepared(tmp_path / "elsewhere").train) == texts(first.train)


def test_another_preparation_is_refused_and_named(tmp_path: Path) -> None:
    make(corpus(tmp_path, sample()), tmp_path / "run")
    before = contents(tmp_path / "run")
    other = corpus(tmp_path, sample(seed=2), data={"max_length": 99}, tokenizer={"kind": "characters"})
    with pytest.raises(ConfigError, match="something else") as caught:
        make(other, tmp_path / "run")
    for key in ("data.max_length: 256 (then), 99 (now)", "tokenizer.kind: bpe (then)", "SHA-256 of train source"):
        assert key in caught.value.message
    assert contents(tmp_path / "run") == before
    make(other, tmp_path / "run", overwrite=True)
    assert contents(tmp_path / "run").keys() != before.keys()


def test_damage_is_found(tmp_path: Path) -> None:
    config = corpus(tmp_path, sample())
    make(config, tmp_path / "run")
    path = tmp_path / "run" / "data" / "train" / "source_ids.bin"
    path.write_bytes(bytes([path.read_bytes()[0] ^ 1]) + path.read_bytes()[1:])
    with pytest.raises(BundleError, match=r"SHA-256 .*source_ids.bin; remove tokenizer and data there"):
        make(config, tmp_path / "run")
    for name in ("tokenizer", "data"):
        shutil.rmtree(tmp_path / "run" / name)
    make(config, tmp_path / "run")


def test_given_tokenizers_are_used(tmp_path: Path) -> None:
    first, _ = make(corpus(tmp_path, sample()), tmp_path / "run")
    config = corpus(tmp_path / "b", [("an entirely different text", "etwas ganz anderes")] * 20)
    second, _ = make(config, tmp_path / "tuned", tokenizers=first.tokenizers)
    assert second.tokenizers.fingerprint() == first.tokenizers.fingerprint()
    assert second.fingerprints["tokenizer"] == first.fingerprints["tokenizer"]
    make(config, tmp_path / "tuned", tokenizers=first.tokenizers)
    with pytest.raises(ConfigError, match="the given tokenizers"):
        make(config, tmp_path / "tuned")


@pytest.mark.parametrize(
    ("source", "target", "message"),
    [
        (b"a\nb\n", b"x\n", "different numbers of lines, 2 and 1"),
        (b"", b"", "the corpus is empty"),
        (b"\n\n", b"x\n\n", "none of 2 pairs can be used"),
        (b"a\n\xff\n", b"x\ny\n", "invalid UTF-8"),
        (b"a\n" * 5, b"x " * 90 + b"\n" + b"x" * 4 + b"\n" * 4, "no train pair is left|none"),
    ],
)
def test_a_failure_leaves_nothing(tmp_path: Path, source: bytes, target: bytes, message: str) -> None:
    config = corpus(tmp_path, [])
    (tmp_path / "a.en").write_bytes(source)
    (tmp_path / "a.de").write_bytes(target)
    if message.startswith("no train"):
        config = corpus(tmp_path, [("a", "b " * 50)] * 3)
    with pytest.raises(DataError, match=message):
        make(config, tmp_path / "run")
    assert not contents(tmp_path).keys() - {"a.en", "a.de"}


def test_a_full_disk_is_said_and_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config = corpus(tmp_path, sample())

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(StoreWriter, "add", full)
        with pytest.raises(ResourceError, match="no space left"):
            make(config, tmp_path / "run")
    assert not contents(tmp_path / "run")
    make(config, tmp_path / "run")


def test_a_million_tokens_on_a_line_are_dropped_in_flat_memory(tmp_path: Path) -> None:
    config = corpus(tmp_path, [*sample(20), ("a " * 1_000_000, "b"), ("b", "x" * 10_000_000), *sample(20, seed=2)])
    tracemalloc.start()
    prepared, lines = make(config, tmp_path / "run")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 10_000_000
    assert sorted(texts(prepared.train) + texts(prepared.validation)) == sorted(sample(20) + sample(20, seed=2))
    assert any("dropped: too long 2 (from line 21)" in line for line in lines)


@pytest.mark.parametrize("change", [b"one more line\n", b""])
def test_a_corpus_that_changes_between_the_passes_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: bytes
) -> None:
    """What is written must be what the SHA-256 in its manifest says."""
    config = corpus(tmp_path, sample())
    real = learn_many_tokenizers

    def interfering(*arguments: Any) -> Any:
        for name in ("a.en", "a.de"):
            (tmp_path / name).write_bytes((tmp_path / name).read_bytes() + change if change else b"a\n")
        return real(*arguments)

    monkeypatch.setattr("dragoman.data.prepare.learn_many_tokenizers", interfering)
    with pytest.raises(DataError, match=r"changed while reading: .*a\.(en|de)"):
        make(config, tmp_path / "run")
    assert not contents(tmp_path / "run")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize("at", [1, 2, 5, 9, 12, 14])
def test_killed_on_the_way_it_ends_in_the_same_bytes(tmp_path: Path, at: int) -> None:
    """`kill -9` at a flush of a file; then the same again."""
    config = corpus(tmp_path / "text", sample(), tokenizer={"kind": "characters"})
    make(config, tmp_path / "whole")
    child = os.fork()
    if child == 0:
        try:
            calls, real = itertools.count(1), os.fsync
            os.fsync = lambda descriptor: real(descriptor) if next(calls) < at else os._exit(9)
            make(config, tmp_path / "run")
        finally:
            os._exit(70)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9
    make(config, tmp_path / "run")
    assert contents(tmp_path / "run") == contents(tmp_path / "whole")


def test_output_over_input_is_refused(tmp_path: Path) -> None:
    config = corpus(tmp_path / "data", sample())
    with pytest.raises(ConfigError, match="where the output goes"):
        make(config, tmp_path)
    assert (tmp_path / "data" / "a.en").exists()


@pytest.mark.parametrize("name", ["data", "tokenizer"])
def test_a_folder_of_something_else_is_left_alone(tmp_path: Path, name: str) -> None:
    config = corpus(tmp_path / "text", sample())
    precious = tmp_path / name / "precious.txt"
    precious.parent.mkdir()
    precious.write_text("x", encoding="utf-8")
    with pytest.raises(ConfigError, match="something else than a prepared corpus"):
        make(config, tmp_path)
    assert precious.exists()


@pytest.mark.thorough
@pytest.mark.torch
def test_memory_does_not_grow_with_the_corpus(tmp_path: Path) -> None:
    """Ten times the corpus; what is held of it are a byte a pair, and a vocabulary."""
    program = (
        "import sys; from pathlib import Path; import torch; from dragoman.settings.parsing import parse_config;"
        "from dragoman.data.prepare import prepare; from dragoman.machine.ram import peak_memory;"
        "data = dict(source=sys.argv[1], target=sys.argv[2]); tokenizer = dict(kind='characters');"
        "prepare(parse_config(dict(data=data, tokenizer=tokenizer)), Path(sys.argv[3]));"
        "print(peak_memory(torch.device('cpu')))"
    )
    peaks = []
    for n_pairs in (3_000, 30_000):
        config = corpus(tmp_path / str(n_pairs), sample(n_pairs))
        output = str(tmp_path / f"run-{n_pairs}")
        arguments = [sys.executable, "-c", program, str(config.data.source), str(config.data.target), output]
        peaks.append(float(subprocess.run(arguments, check=True, capture_output=True, text=True).stdout))
    assert peaks[1] - peaks[0] < 40


# -- the store ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("vocab_size", "kind"), [(256, "uint8"), (257, "uint16"), (65_537, "uint32")])
def test_ids_have_the_smallest_type(tmp_path: Path, vocab_size: int, kind: str) -> None:
    with StoreWriter(tmp_path, (vocab_size, 10)) as writer:
        writer.add(pack(([[vocab_size - 1], []], [[1, 2], [3]]), (["a", ""], ["ä", "你"])))
        writer.add(pack(([], []), ([], [])))
        writer.add(pack(([[7]], [[]]), (["b"], ["c"])))
    store = PairStore(tmp_path)
    assert len(store) == 3
    assert store.source_ids(0).dtype == kind
    assert [store.source_ids(index).tolist() for index in range(3)] == [[vocab_size - 1], [], [7]]
    assert texts(store) == [("a", "ä"), ("", "你"), ("b", "c")]
    assert store.target_lengths.tolist() == [2, 1, 0]


def test_a_store_that_does_not_fit_together_is_refused(tmp_path: Path) -> None:
    with StoreWriter(tmp_path, (10, 10)) as writer:
        writer.add(pack(([[1, 2]], [[3]]), (["a"], ["b"])))
    (tmp_path / "source_ids.bin").write_bytes(np.zeros(1, np.uint8).tobytes())
    with pytest.raises(BundleError, match="do not fit together"):
        PairStore(tmp_path)
    (tmp_path / "source_ids.bin").unlink()
    with pytest.raises(BundleError, match="cannot be read"):
        PairStore(tmp_path)
    (tmp_path / "index.json").write_text('{"format_version": 1, "n_pairs": "1"}')
    with pytest.raises(BundleError, match="not the index"):
        PairStore(tmp_path)


# -- markup ------------------------------------------------------------------------------------------------------


def test_cleaning_holds_for_every_text_and_belongs_to_what_is_prepared(tmp_path: Path) -> None:
    pairs = [(f"<b>{source}</b> &amp; x", target) for source, target in sample()]
    plain = corpus(tmp_path / "plain", [(f"{source} & x", target) for source, target in sample()])
    dirty = corpus(tmp_path / "dirty", pairs)
    clean = corpus(tmp_path / "dirty", pairs, data={"clean": ["entities", "tags"]})
    _, lines = make(dirty, tmp_path / "kept")
    assert any(
        line.startswith("warning: 60 pairs have tags (the first in line 1: <b>, 60 in the source") for line in lines
    )
    wanted, _ = make(plain, tmp_path / "wanted")
    made, lines = make(clean, tmp_path / "made")
    assert not any("tags" in line for line in lines)
    for found, expected in ((made.train, wanted.train), (made.validation, wanted.validation)):
        assert texts(found) == texts(expected)
    assert made.fingerprints["tokenizer"] == wanted.fingerprints["tokenizer"]
    with pytest.raises(ConfigError, match="something else") as caught:
        make(clean, tmp_path / "kept")
    assert "data.clean: [] (then), ['entities', 'tags'] (now)" in caught.value.message


def test_a_corpus_that_lost_a_line_is_told_and_refused_before_anything_is_written(
    tmp_path: Path, log_lines: list[str]
) -> None:
    words = [("word " * (n * 7919 % 23 + 1), "wort " * (n * 7919 % 23 + 1)) for n in range(400)]
    shifted = list(zip([source for source, _ in words[1:]], [target for _, target in words], strict=False))
    with pytest.raises(DataError, match="do not belong together from line 1 on"):
        prepare(corpus(tmp_path / "text", shifted), tmp_path / "run")
    assert any(line.startswith("warning: from line 1 on (399 pairs)") for line in log_lines)
    assert not (tmp_path / "run").exists()
    config = corpus(tmp_path / "text", shifted, data={"misaligned": "keep"})
    _, lines = make(config, tmp_path / "run")
    assert any(line.startswith("warning: from line 1 on") for line in lines)
