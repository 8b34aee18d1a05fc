"""`distill`: the new text is what the models write, whatever happens on the way."""

from __future__ import annotations

import dataclasses
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
import yaml
from tiny import many_tokenizers, tiny_bundle, write_tiny_bundle

from dragoman.bundle.bundle import load_bundle, write_bundle
from dragoman.cli.program import run
from dragoman.data.corpus import read_pairs, read_targets
from dragoman.data.parallel_text import ParallelText
from dragoman.data.prepare import prepare
from dragoman.errors import ConfigError, RunFolderError
from dragoman.experiments.distillation import distill
from dragoman.experiments.teachers import Teacher
from dragoman.settings.data_config import DataConfig
from dragoman.settings.parsing import parse_config
from dragoman.translator import SearchOptions, Translator

PAIRS = [
    ("A man is riding a horse.", "Ein Mann reitet."),
    ("She reads.", "Sie liest."),
    ("", "Nichts."),
    ("The cat is on the mat.", "Die Katze ist auf der Matte."),
    ("She reads.", "Sie liest."),
    ("Two dogs run.", "Zwei Hunde."),
]
OWN = [pair for pair in PAIRS if all(pair)]


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Two models of one direction, and one of the other."""
    place = tmp_path_factory.mktemp("models")
    forward = [str(write_tiny_bundle(place / str(seed), seed)) for seed in (1, 2)]
    third = load_bundle(write_tiny_bundle(place / "3", 3))
    turned = dataclasses.replace(third.tokenizers, directions=(("de", "en"),))
    write_bundle(place / "back", dataclasses.replace(third, tokenizers=turned))
    return [*forward, str(place / "back")]


@pytest.fixture
def text(tmp_path: Path) -> ParallelText:
    for side, name in enumerate(("a.en", "a.de")):
        (tmp_path / name).write_text("".join(f"{pair[side]}\n" for pair in PAIRS), encoding="utf-8")
    return read_pairs(DataConfig(source=str(tmp_path / "a.en"), target=str(tmp_path / "a.de")), "train")


def test_pairs_that_are_no_lines_are_left_out(models: list[str], tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text(
        '{"source": "She\\u0001reads.", "target": "Sie liest."}\n{"source": "A man.", "target": "Ein\\u0001Mann."}\n'
        '{"source": "Two dogs run.", "target": "Zwei Hunde."}\n'
    )
    text = read_pairs(DataConfig(pairs=str(tmp_path / "a.jsonl"), source_lang="en", target_lang="de"), "train")
    distill([Teacher.load(models[:1], device="cpu")], text, tmp_path / "new")
    pairs = written(tmp_path / "new")
    assert pairs[0] == ("Two dogs run.", "Zwei Hunde.")
    assert {source for source, _ in pairs} <= {"Two dogs run.", "A man."}


def written(folder: Path) -> list[tuple[str, str]]:
    """What the trainer reads of it."""
    return list(read_pairs(DataConfig(source=str(folder / "train.en"), target=str(folder / "train.de")), "train"))


def expected(*jobs: tuple[list[str], bool], n_best: int = 1) -> list[tuple[str, str]]:
    """The same by translating one sentence after the other."""
    pairs = list(OWN)
    for names, backward in jobs:
        translator = Translator.load(*names, device="cpu")
        for source, target in PAIRS:
            found = translator.translate(target if backward else source, n_best=n_best)
            for each in found.alternatives:
                pair = (each.text, target) if backward else (source, each.text)
                if all(pair) and pair not in pairs:
                    pairs.append(pair)
    return pairs


@pytest.mark.parametrize("part_size", [1, 4, 6, 100])
def test_an_ensemble_writes_a_translation_of_each_sentence(
    models: list[str], text: ParallelText, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, part_size: int
) -> None:
    monkeypatch.setattr("dragoman.experiments.parts.PART_SIZE", part_size)
    teacher = Teacher.load(models[:2], device="cpu")
    files = distill([teacher], text, tmp_path / "out")
    assert files == (tmp_path / "out" / "train.en", tmp_path / "out" / "train.de")
    assert written(tmp_path / "out") == expected((models[:2], False))
    assert len(written(tmp_path / "out")) > len(OWN)
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        "distill.json",
        "lock",
        "train.de",
        "train.en",
    ]


def test_each_model_and_the_other_direction_write_their_own(
    models: list[str], text: ParallelText, tmp_path: Path
) -> None:
    jobs = [(models[:1], False), (models[1:2], False), (models[2:], True)]
    teachers = [Teacher.load(names, backward=backward, device="cpu") for names, backward in jobs]
    distill(teachers, text, tmp_path / "out", n_best=2)
    assert written(tmp_path / "out") == expected(*jobs, n_best=2)


@pytest.mark.parametrize("n_allowed", range(9))
def test_a_stopped_distillation_continues_to_the_same_text(
    models: list[str],
    text: ParallelText,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    n_allowed: int,
    log_lines: list[str],
) -> None:
    """Stopped before any file gets its name: parts of both teachers, the record, and either side of the result."""
    monkeypatch.setattr("dragoman.experiments.parts.PART_SIZE", 4)
    teachers = [Teacher.load(models[:1], device="cpu"), Teacher.load(models[2:], backward=True, device="cpu")]
    distill(teachers, text, tmp_path / "whole")

    replace, names = os.replace, []

    def counted(source: Path, target: Path) -> None:
        if len(names) == n_allowed:
            raise KeyboardInterrupt
        names.append(Path(target).name)
        replace(source, target)

    with monkeypatch.context() as patch:
        patch.setattr("os.replace", counted)
        if n_allowed < 7:  # the record, two parts of each teacher, two files
            with pytest.raises(KeyboardInterrupt):
                distill(teachers, text, tmp_path / "out")
        else:
            distill(teachers, text, tmp_path / "out")
    translated: list[str] = []
    translate = Translator.translate

    def watched(self: Translator, texts: list[str], **options: Any) -> object:
        translated.extend(texts)
        return translate(self, texts, **options)

    monkeypatch.setattr(Translator, "translate", watched)
    log_lines.clear()
    distill(teachers, text, tmp_path / "out")
    assert written(tmp_path / "out") == written(tmp_path / "whole")
    n_parts = sum(name[0].isdigit() for name in names)
    assert len(translated) == {0: 12, 1: 8, 2: 6, 3: 2, 4: 0}[n_parts]  # nothing twice
    goes_on = any("goes on after 4 sentences" in line for line in log_lines)
    assert goes_on == (n_parts in (1, 3))  # between two parts
    assert not (tmp_path / "out" / "parts").exists()


def test_a_finished_one_is_not_done_again_nor_taken_for_another(
    models: list[str], text: ParallelText, tmp_path: Path, log_lines: list[str]
) -> None:
    teachers = [Teacher.load(models[:1], device="cpu")]
    distill(teachers, text, tmp_path / "out")
    times = {path: path.stat().st_mtime_ns for path in (tmp_path / "out").glob("train.*")}
    log_lines.clear()
    distill(teachers, text, tmp_path / "out")
    assert log_lines == [f"{tmp_path / 'out'} is complete"]
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / "out").glob("train.*")} == times
    others = [
        ([Teacher.load(models[1:2], device="cpu")], {}),
        ([Teacher.load(models[:2], device="cpu")], {}),
        (teachers, {"beam_size": 3}),
    ]
    for other, options in others:
        with pytest.raises(ConfigError, match="made from other text, models or options"):
            distill(other, text, tmp_path / "out", **options)
    with pytest.raises(RunFolderError, match="holds other files"):  # where the text itself is
        distill(teachers, text, tmp_path)


def test_the_directions_must_fit(models: list[str], text: ParallelText, tmp_path: Path) -> None:
    teachers = [Teacher.load(models[:1], device="cpu"), Teacher.load(models[2:], device="cpu")]
    with pytest.raises(ConfigError, match=r"gives text of de-en, and .* of en-de.*--backward"):
        distill(teachers, text, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_the_advice_fits_the_direction(models: list[str], text: ParallelText, tmp_path: Path) -> None:
    first, other = Teacher.load(models[:1], device="cpu"), load_bundle(models[1])
    write_bundle(
        tmp_path / "fr",
        dataclasses.replace(
            other, tokenizers=dataclasses.replace(other.tokenizers, directions=(("en", "fr"),)), facts={}
        ),
    )
    french = Teacher.load([str(tmp_path / "fr")], backward=True, device="cpu")
    same = Teacher.load(models[1:2], backward=True, device="cpu")
    for second, advice in ((french, "models of one pair"), (same, "same direction is no --backward one")):
        with pytest.raises(ConfigError, match=advice):
            distill([first, second], text, tmp_path / "out")


def test_files_the_wrong_way_round_are_refused(
    models: list[str], text: ParallelText, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["distill", "-m", models[0], "--device", "cpu", "-o", str(tmp_path / "out")]
    source, target = str(tmp_path / "a.de"), str(tmp_path / "a.en")
    for files in (["--source", source], ["--source", source, "--target", target]):
        assert run([*command, *files]) == 2
        assert "the name of the --source says de, and the models take en there" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("wrong", ["options", "encoding", "empty"])
def test_a_wrong_request_claims_no_folder(models: list[str], tmp_path: Path, wrong: str) -> None:
    source = tmp_path / "a.en"
    command = ["distill", "-m", models[0], "--device", "cpu", "--source", str(source), "-o", str(tmp_path / "out")]
    source.write_bytes({"options": b"A man.\n", "encoding": b"A man.\n\xff\n", "empty": b"\n\n"}[wrong])
    assert run([*command, "--n-best", "9"] if wrong == "options" else command) == (2 if wrong == "options" else 1)
    assert not (tmp_path / "out").exists()
    source.write_bytes(b"A man.\n")
    assert run([*command, "--n-best", "9", "--beam-size", "9"]) == 0


def test_a_coarser_precision_makes_another_text(models: list[str], text: ParallelText, tmp_path: Path) -> None:
    fine, coarse = (Teacher.load(models[:1], device="cpu", precision=each) for each in ("float32", "bfloat16"))
    distill([coarse], text, tmp_path / "out")
    with pytest.raises(ConfigError, match="made from other text, models or options"):
        distill([fine], text, tmp_path / "out")


def test_the_command_line(
    models: list[str], text: ParallelText, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    both = ["--source", str(tmp_path / "a.en"), "--target", str(tmp_path / "a.de")]
    command = ["distill", "-m", models[0], "-m", models[1], "--device", "cpu", "--workers", "1"]
    assert run([*command, *both, "-o", str(tmp_path / "out")]) == 0
    assert "train --source" in capsys.readouterr().err
    assert written(tmp_path / "out") == expected((models[:2], False))
    diverse = ["--each", "--backward", models[2], "--n-best", "2"]
    assert run([*command, *both, *diverse, "-o", str(tmp_path / "diverse")]) == 0
    jobs = [(models[:1], False), (models[1:2], False), (models[2:], True)]
    assert written(tmp_path / "diverse") == expected(*jobs, n_best=2)
    # Of sources alone, translations alone.
    assert run([*command, *both[:2], "-o", str(tmp_path / "alone")]) == 0
    assert written(tmp_path / "alone") == list(dict.fromkeys(expected((models[:2], False))[len(OWN) :]))
    assert run([*command, *both[:2], "--backward", models[2], "-o", str(tmp_path / "x")]) == 2
    assert run([*command, "-o", str(tmp_path / "x")]) == 2
    assert run([*command, *both, "--temperature", "0.5", "-o", str(tmp_path / "x")]) == 2
    assert run([*command, "--source", str(tmp_path / "none.en"), "-o", str(tmp_path / "x")]) == 1
    assert not (tmp_path / "x").exists()


def test_both_sides_may_be_of_one_language(models: list[str], text: ParallelText, tmp_path: Path) -> None:
    bundle = load_bundle(models[0])
    tokenizers = dataclasses.replace(bundle.tokenizers, directions=(("en", "en"),))
    write_bundle(tmp_path / "same", dataclasses.replace(bundle, tokenizers=tokenizers, facts={}))
    sources, targets = distill([Teacher.load([str(tmp_path / "same")], device="cpu")], text, tmp_path / "new")
    assert (sources.name, targets.name) == ("train.source", "train.target")
    assert sources.read_text("utf-8").splitlines()[: len(OWN)] == [source for source, _ in OWN]
    assert targets.read_text("utf-8").splitlines()[: len(OWN)] == [target for _, target in OWN]


def test_a_signal_costs_one_part(models: list[str], tmp_path: Path) -> None:
    (tmp_path / "a.en").write_text("The cat is sitting on the mat.\n" * 20_000, encoding="utf-8")
    command = [sys.executable, "-m", "dragoman", "distill", "-m", models[0], "--source", str(tmp_path / "a.en")]
    command += ["-o", str(tmp_path / "out"), "--device", "cpu", "--workers", "1", "--beam-size", "1"]
    with subprocess.Popen(command, stderr=subprocess.PIPE) as process:
        while process.poll() is None and not list((tmp_path / "out").glob("parts/1-*.json")):
            time.sleep(0.05)
        process.terminate()
        assert process.stderr is not None
        said = process.stderr.read().decode()
    assert process.returncode == 143, said
    assert said.endswith("stopped; the same command continues\n")
    assert (tmp_path / "out" / "parts" / "1-000000.json").exists()
    assert not (tmp_path / "out" / "train.en").exists()


# -- target text alone -------------------------------------------------------------------------------------------


def back_translated(targets: list[str], *names: str, **languages: str) -> list[tuple[str, str]]:
    """Pairs of a model's translation of each text, and the text, by translating one after the other."""
    pairs = []
    for name in names:
        translator = Translator.load(name, device="cpu")
        pairs += [(translator.translate(target, **languages).text, target) for target in targets if target]
    return list(dict.fromkeys(pair for pair in pairs if all(pair)))


def test_sources_are_written_for_target_text_alone(
    models: list[str], text: ParallelText, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["distill", "--backward", models[2], "--device", "cpu", "--workers", "1", "--target"]
    assert run([*command, str(tmp_path / "a.de"), "-o", str(tmp_path / "out")]) == 0
    expected_pairs = back_translated([target for _, target in PAIRS], models[2])
    assert written(tmp_path / "out") == expected_pairs
    assert len(expected_pairs) >= 4
    err = capsys.readouterr().err
    assert f"wrote {len(expected_pairs)} new pairs" in err
    # The line for a recipe marks them with a tag, which training sources then begin with.
    (line,) = (line for line in err.splitlines() if line.startswith("  - {"))
    own = {"source": str(tmp_path / "a.en"), "target": str(tmp_path / "a.de"), "source_lang": "en", "target_lang": "de"}
    corpora = [own, *yaml.safe_load(line)]
    prepared = prepare(parse_config({"data": {"corpora": corpora}}), tmp_path / "prepared")
    sources = {prepared.train.source_text(index) for index in range(len(prepared.train))}
    back = {source for source in sources if source.startswith(">>bt<< ")}
    assert back
    assert {source.removeprefix(">>bt<< ") for source in back} <= {source for source, _ in expected_pairs}
    assert sources - back <= {source for source, _ in PAIRS}


def test_two_backward_models_write_sources_of_their_own(models: list[str], text: ParallelText, tmp_path: Path) -> None:
    other = load_bundle(models[2])
    write_bundle(tmp_path / "second", dataclasses.replace(other, weights=load_bundle(models[0]).weights, facts={}))
    names = models[2], str(tmp_path / "second")
    teachers = [Teacher.load([name], backward=True, device="cpu") for name in names]
    distill(teachers, read_targets(tmp_path / "a.de"), tmp_path / "out")
    assert written(tmp_path / "out") == back_translated([target for _, target in PAIRS], *names)


def test_a_stopped_back_translation_continues_to_the_same_text(
    models: list[str], text: ParallelText, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dragoman.experiments.parts.PART_SIZE", 2)
    targets, sample = read_targets(tmp_path / "a.de"), SearchOptions(sample=True, seed=3, top_k=5)
    teachers = [Teacher.load(models[2:], backward=True, device="cpu")]
    distill(teachers, targets, tmp_path / "whole", **sample)
    names = []

    def write_one(path: Path, content: bytes) -> None:
        if names:
            raise KeyboardInterrupt
        names.append(path.name)
        path.write_bytes(content)

    with monkeypatch.context() as patch:
        patch.setattr("dragoman.experiments.parts.write_file", write_one)
        with pytest.raises(KeyboardInterrupt):
            distill(teachers, targets, tmp_path / "out", **sample)
    assert names == ["1-000000.json"]
    distill(teachers, targets, tmp_path / "out", **sample)
    assert written(tmp_path / "out") == written(tmp_path / "whole")


def test_a_model_of_several_directions_needs_the_languages_of_the_text(
    text: ParallelText, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tokenizers = many_tokenizers()
    name = str(tmp_path / "many")
    write_bundle(tmp_path / "many", tiny_bundle(tokenizers))
    command = ["distill", "--device", "cpu", "--workers", "1", "-o", str(tmp_path / "out")]
    backward = [*command, "--backward", name, "--target", str(tmp_path / "a.de")]
    assert run(backward) == 2
    err = capsys.readouterr().err
    assert "several directions: en to de, de to en, en to zh: " in err
    assert err.endswith("say the languages of the text: --source-lang and --target-lang\n")
    assert run([*backward, "--target-lang", "de"]) == 2
    assert not (tmp_path / "out").exists()
    languages = ["--source-lang", "en", "--target-lang", "de"]
    assert run([*backward, *languages]) == 0, capsys.readouterr().err
    pairs = back_translated([target for _, target in PAIRS], name, source_lang="de", target_lang="en")
    assert written(tmp_path / "out") == pairs
    forward = ["distill", "--device", "cpu", "--workers", "1", "-m", name, "--source", str(tmp_path / "a.en")]
    assert run([*forward, *languages, "-o", str(tmp_path / "forward")]) == 0, capsys.readouterr().err
    translator = Translator.load(name, device="cpu")
    sources = dict.fromkeys(source for source, _ in PAIRS if source)
    found = [(source, translator.translate(source, source_lang="en", target_lang="de").text) for source in sources]
    assert written(tmp_path / "forward") == [pair for pair in found if all(pair)]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--target", "a.de"], "give a model: --model, or --backward"),
        (["-m", "x", "--target", "a.de"], "--model translates sources: give --source too"),
        (["-m", "x", "--backward", "x", "--target", "a.de"], "--model translates sources: give --source too"),
        (["--backward", "x", "--source", "a.en"], "--backward translates targets: give --target too"),
        (["--backward", "x"], "or --target with --backward"),
        (["--backward", "x", "--target", "a.de", "--each"], "--each has no effect without --model"),
        (["--backward", "BACK", "--target", "none.de"], "none.de"),
        (
            ["--backward", "BACK", "--target", "a.de", "--source-lang", "en"],
            "give both --source-lang and --target-lang",
        ),
        (["--backward", "BACK", "--target", "a.de", "--source-lang", "en", "--target-lang", "zh"], "zh"),
        (["--backward", "BACK", "--target", "a.en"], "the name of the --target says en, and the models take de there"),
    ],
)
def test_target_text_alone_in_a_wrong_way_is_refused_in_one_line(
    models: list[str],
    text: ParallelText,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
    message: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    command = [models[2] if argument == "BACK" else argument for argument in arguments]
    assert run(["distill", *command, "--device", "cpu", "-o", "out"]) in (1, 2)
    assert message in capsys.readouterr().err.splitlines()[-1]
    assert not (tmp_path / "out").exists()
