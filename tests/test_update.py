"""`dragoman update`: new text is learned, old text is kept, and a model is never made worse."""

from __future__ import annotations

import itertools
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from runs import captured_log
from test_short_list import whole
from tiny import PAIRS, tiny_bundle, tiny_tokenizers, with_calibration, write_tiny_bundle

from dragoman.bundle.bundle import load_bundle
from dragoman.cli.program import run
from dragoman.cli.update import report
from dragoman.errors import ConfigError, DataError, RunFolderError
from dragoman.experiments import replaying, updating
from dragoman.experiments.replaying import Translate, hold_out, replay
from dragoman.experiments.updating import Candidate, Outcome, _p_value, _settings, _Trial, update
from dragoman.memories import Unit, export_units
from dragoman.settings.parsing import parse_config
from dragoman.translator import Translator

pytestmark = pytest.mark.torch
NEW = [(f"{source[:-1]} {number}.", f"{target[:-1]} {number}.") for number in range(15) for source, target in PAIRS]


@pytest.fixture(scope="module")
def start(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tiny_bundle(tmp_path_factory.mktemp("start") / "m", max_length=40)


def same() -> Translate:
    """A model that copies."""
    return list


def test_an_update_is_better_or_the_old_model(start: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    memory, output = tmp_path / "m.tmx", tmp_path / "new"
    export_units(memory, [Unit(*pair, "en", "de") for pair in NEW])
    assert run(["update", "-m", str(start), "--memory", str(memory), "-o", str(output)]) == 0
    told = capfd.readouterr().err
    assert "no old text" in told
    before, after = load_bundle(start), load_bundle(output)
    is_same = all(np.array_equal(before.weights[name], weight) for name, weight in after.weights.items())
    assert is_same == ("has the old weights" in told)
    assert told.count(" %   new text ") == 9  # each candidate, and the old weights
    assert after.tokenizers.equals(before.tokenizers)
    assert run(["update", "-m", str(start), "--memory", str(memory), "-o", str(output)]) == 1
    assert capfd.readouterr().err == f"error: the output exists: {output}; choose another --output\n"


def outcome(max_loss: float, *tried: tuple[int, float, float]) -> Outcome:
    return Outcome(100, 10, max_loss, Candidate(0, 50.74, 64.2), [Candidate(*one) for one in tried])


LADDER = ((100, 59.66, 62.6), (70, 58.0, 62.5), (40, 55.0, 63.5), (10, 51.0, 64.1))


def written(max_loss: float, output: Path, *tried: tuple[int, float, float]) -> list[str]:
    """The report of an update with these candidates, whose weights are not looked at."""
    made = outcome(max_loss, *tried)
    kept = {one.share: output.with_name(f"{output.name}-share-{one.share}") for one in made.better[:3]}
    return report(replace(made, refused=kept), output)


def test_the_most_that_old_text_may_lose_chooses(tmp_path: Path) -> None:
    assert [outcome(most, *LADDER).chosen.share for most in (0.0, 0.2, 0.8, 2.0)] == [0, 10, 40, 100]
    assert [one.share for one in outcome(0.2, *LADDER).better] == [100, 40]  # 70 is worse than 100 on both texts
    assert not outcome(2.0, *LADDER).better


def test_the_report_says_what_was_found_and_what_was_refused(tmp_path: Path) -> None:
    output = Path("runs/new")
    lines = written(0.2, output, *LADDER)
    assert "  100 %   new text  59.66   old text  62.60   refused: loses 1.60, more than --max-loss 0.2; " in lines[1]
    assert lines[1].endswith("kept in runs/new-share-100")
    assert "   10 %   new text  51.00   old text  64.10   written to runs/new" in lines
    assert "runs/new gains 0.26 on new text and loses 0.10 on old text" in lines
    assert lines[-1].startswith("refused: 8.92 gained on new text for 1.60 lost on old text; if you want that, use ")
    assert lines[-1].endswith("runs/new-share-100, or give --max-loss 1.7") or lines[-1].endswith("--max-loss 1.6")
    unsure = report(replace(outcome(2.0, *LADDER), p_value=0.31), output)
    assert "on 10 pairs, chance alone gives such a gain with p = 0.31; the gain is not significant" in unsure
    nothing_allowed = written(0.0, output, *LADDER)
    assert "better weights were refused; runs/new has the old weights" in nothing_allowed
    nothing_better = written(0.2, output, (100, 50.0, 64.2))
    assert nothing_better[-1] == "none translated new text better (50.00 at best); runs/new has the old weights"


def test_weights_that_forget_are_kept_beside(start: Path, tmp_path: Path) -> None:
    """The old pairs are the old model's translations, and the new ones a model's with other weights."""
    tokenizers = load_bundle(start).tokenizers
    old, new = load_bundle(start), tiny_bundle(tokenizers, seed=2, max_length=40)
    trial, sources = _Trial(old, ("en", "de"), "cpu"), [source for source, _ in PAIRS]
    old_pairs = list(zip(sources, trial.translate(old)(sources), strict=True))
    new_pairs = list(zip(sources, trial.translate(new)(sources), strict=True))
    tried = trial.candidates(new, new_pairs, old_pairs)
    found = Outcome(1, 1, 0.0, trial.candidate(old, 0, new_pairs, old_pairs), tried)
    assert found.before.old == pytest.approx(100)
    assert tried[0].new == pytest.approx(100)
    found = trial.write(new, found, output := tmp_path / "out")
    assert found.chosen.loss(found.before) <= 0.0
    assert 100 in found.refused
    assert len(found.refused) <= 3
    for name, weight in load_bundle(found.refused[100]).weights.items():
        assert np.array_equal(weight, new.weights[name])
    if found.chosen is found.before:
        assert all(np.array_equal(old.weights[name], one) for name, one in load_bundle(output).weights.items())


def test_old_text_is_held_out_from_what_is_replayed() -> None:
    held, replayed = replay([*NEW, *NEW], ["a"], (), same)  # text that repeats itself counts once
    assert not set(held) & set(replayed)
    assert sorted([*held, *replayed]) == sorted(NEW)
    held, replayed = replay([source for source, _ in NEW], ["a"], (), same)
    assert held == []
    assert set(replayed) == {(source, source) for source, _ in NEW}
    assert replay([], ["a", "b"], (), same)[1] == [("a", "a"), ("b", "b")]


def test_translations_to_be_replayed_take_a_share_of_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each look at the clock is a second later: with 2.5 seconds, two parts are translated."""
    monkeypatch.setattr(replaying, "time", SimpleNamespace(monotonic=itertools.count().__next__))
    monkeypatch.setattr(replaying, "_PART_SIZE", 10)
    sources = [source for source, _ in NEW[:35]]
    with captured_log() as lines:
        assert [source for source, _ in replay([], sources, (), same, 2.5)[1]] == sources[:20]
    assert "20 of them are translated, as many as --time allows" in lines
    assert [source for source, _ in replay([], sources, (), same)[1]] == sources
    monkeypatch.setattr(replaying, "_MOST_TRANSLATED", 15)
    assert [source for source, _ in replay([], sources, (), same)[1]] == sources[:15]


def test_a_source_is_trained_on_or_held_out() -> None:
    """Equal sources are on one side, and text of the memory is no old text: it may be held out."""
    pairs = [(f"{source}{spaces}", target) for source, target in NEW for spaces in ("", "  ")]
    held, learned = hold_out(pairs, 10)
    assert len(held) == 20
    assert sorted([*held, *learned]) == sorted(pairs)
    assert not {source.strip() for source, _ in held} & {source.strip() for source, _ in learned}
    memory = {source for source, _ in NEW[10:]}
    for old in (pairs, [source for source, _ in pairs]):
        judged, replayed = replay(old, ["a"], memory, same)
        assert {source.strip() for source, _ in [*judged, *replayed]} == {source for source, _ in NEW[:10]}
    with pytest.raises(DataError, match="1 old source is not in the memory"):
        replay([*NEW[9:], *NEW[9:]], ["a"], memory, same)


def test_a_few_old_pairs_weigh_as_much_as_a_setting_may_say(tmp_path: Path) -> None:
    """Each side may be much larger than the other; what is held out is validated once."""
    many = [(f"a {number}", f"b {number}") for number in range(2_500)]
    for corpora in ({"new": many, "replayed": many[:2]}, {"new": many[:2], "replayed": many}):
        both = parse_config(_settings(tmp_path, corpora, NEW, ("en", "de"), has_time=True)).data.corpora
        assert sorted(corpus.weight for corpus in both) == [1, 1000]
        assert [corpus.validation_source is not None for corpus in both] == [True, False]


def test_new_and_old_text_are_translated_by_one_translator(start: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Translator] = []

    def counted_translator(*parts: Any) -> Translator:
        made.append(Translator(*parts))
        return made[-1]

    monkeypatch.setattr(updating, "Translator", counted_translator)
    trial = _Trial(load_bundle(start), ("en", "de"), "cpu")
    assert trial.candidate(trial.start, 0, PAIRS, PAIRS).old is not None
    assert len(made) == 1


def test_what_new_weights_lose_is_told(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    tokenizers, sources = tiny_tokenizers(), [source for source, _ in PAIRS]
    before, after = tiny_bundle(tokenizers, seed=1), tiny_bundle(tokenizers, seed=2)
    short_list = whole(Translator([before], tokenizers))
    trial = _Trial(with_calibration(replace(before, short_list=short_list), "en-de"), ("en", "de"), "cpu")
    held = list(zip(sources, trial.translate(after)(sources), strict=True))
    made = Outcome(1, 1, 0.2, trial.candidate(trial.start, 0, held, []), trial.candidates(after, held, []))
    assert trial.write(after, made, tmp_path / "new").chosen.share
    assert 0 <= (_p_value(made, held, "de") or 1) < 0.5
    assert _p_value(replace(made, tried=[]), held, "de") is None
    assert "no short-list (--short-list) and no confidence (--calibrate); run dragoman package" in caplog.text
    assert load_bundle(tmp_path / "new").short_list is None


def test_bad_updates_are_refused(start: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(DataError, match="needs 20"):
        update(start, [*NEW[:19], (NEW[0][0], "Ein anderer Satz.")], tmp_path / "x", ("en", "de"))
    memory = tmp_path / "m.tsv"
    export_units(memory, [Unit(*pair, "en", "de") for pair in NEW])
    command = ["update", "-m", str(start), "--memory", str(memory), "-o", str(tmp_path / "x")]
    assert run([*command, "--old-pairs", str(memory), "--old-source", str(memory)]) == 2
    capfd.readouterr()
    assert run([*command, "--target-lang", "fr"]) == 2
    assert "the model translates en to de" in capfd.readouterr().err
    assert not (tmp_path / "x").exists()
    with pytest.raises(ConfigError, match="the time is too short to judge"):
        update(start, NEW, tmp_path / "x", ("en", "de"), seconds=0.001)
    (tmp_path / "x-share-70").mkdir()
    with pytest.raises(RunFolderError, match="x-share-70"):
        update(start, NEW, tmp_path / "x", ("en", "de"))
