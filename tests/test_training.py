"""Training as a whole: it learns, the same seed gives the same bits, and how the work is cut changes nothing."""

from __future__ import annotations

import io
import itertools
import math
import re
import shutil
import subprocess
import sys
import time
import unicodedata
from pathlib import Path
from typing import Any

import pytest
import torch
from extras import import_extra
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console
from runs import assert_equal_but_for_rounding, assert_same_training, losses, settings
from safetensors.torch import load_file
from tiny import write_tiny_bundle

from dragoman.alignment.heads import AlignmentHeads
from dragoman.bundle.bundle import load_bundle, save_bundle
from dragoman.cli.program import run
from dragoman.data.prepared import open_prepared
from dragoman.errors import BundleError, ConfigError
from dragoman.inspection.curves import read_curves, read_metrics
from dragoman.machine.json_files import read_json
from dragoman.native.fused_library import library
from dragoman.settings.config import Config
from dragoman.settings.model_config import ModelConfig
from dragoman.settings.parsing import check_request, parse_config
from dragoman.settings.presets import PRESETS
from dragoman.settings.recipe import read_recipe
from dragoman.settings.training_config import TrainingConfig
from dragoman.text.learned_text import LearnedText
from dragoman.training import progress_bar, train
from dragoman.training.checkpoint import saved_steps
from dragoman.training.plan import plan
from dragoman.training.precision import choose_precision, multiplies_bfloat16
from dragoman.training.progress_bar import ProgressBar
from dragoman.training.ram_estimate import training_bytes
from dragoman.training.run_folder import RunFolder
from dragoman.training.schedule import peak_rate
from dragoman.training.sizes import MOST_PASSES, SIZES, sizes_for
from dragoman.training.validation import Sample, Validation, _good_samples
from dragoman.translator import Translator

pytestmark = pytest.mark.torch


def test_a_run_leaves_what_is_needed_to_use_it(reference: Path) -> None:
    assert (reference / "config.yaml").exists()
    assert saved_steps(reference / "checkpoints") == [28, 30]
    assert (reference / "best" / "model.safetensors").exists()
    assert (reference / "last").resolve().name == "step-30"
    assert list(losses(reference)) == list(range(1, 31))


def test_the_same_seed_gives_the_same_bits(corpus: Path, reference: Path, tmp_path: Path) -> None:
    train(settings(corpus), tmp_path / "run", device="cpu")
    assert_same_training(reference, tmp_path / "run")


def test_micro_batches_change_nothing(corpus: Path, reference: Path, tmp_path: Path) -> None:
    whole, cut = tmp_path / "whole", tmp_path / "cut"
    plain = settings(corpus, max_steps=5, warmup_steps=1, clip_norm=None)
    plain["model"]["dropout"] = 0.0
    train(plain, whole, device="cpu")
    plain["training"]["micro_batch_tokens"] = 40
    train(plain, cut, device="cpu")
    assert_equal_but_for_rounding(whole, cut)


def test_fine_tuning_starts_from_the_bundle(
    corpus: Path, reference: Path, tmp_path: Path, log_lines: list[str]
) -> None:
    data = {"data": settings(corpus)["data"]}
    tuning = {
        **data,
        "training": {
            "max_steps": 2,
            "warmup_steps": 1,
            "lr": 1e-6,
            "batch_tokens": 200,
            "log_every": 1,
            "label_smoothing": 0.0,
        },
    }
    train(tuning, tmp_path / "run", init_from=reference / "last", device="cpu")
    start = load_file(reference / "last" / "model.safetensors")
    tuned = load_file(tmp_path / "run" / "last" / "model.safetensors")
    assert all(torch.allclose(start[name], tuned[name], atol=1e-4) for name in start)
    with pytest.raises(ConfigError, match=r"model.d_ff is 32 in the model of --init-from, not 64"):
        train({**tuning, "model": {"d_ff": 64}}, tmp_path / "other", init_from=reference / "last", device="cpu")
    with pytest.raises(ConfigError, match=r"tokenizer.min_count is 1 in the model of --init-from, not 5"):
        train({**tuning, "tokenizer": {"min_count": 5}}, tmp_path / "other", init_from=reference / "last", device="cpu")
    with pytest.raises(ConfigError, match=r"tokenizer.lowercase is False .* not True; .* lowercase_source=true"):
        train({**tuning, "tokenizer": {"lowercase": True}}, tmp_path / "other", init_from=reference, device="cpu")
    open_still = {**tuning, "tokenizer": {"joint": None}}
    train(open_still, tmp_path / "open", init_from=reference / "last", device="cpu")
    with pytest.raises(ConfigError, match=r"starting model of this run changed since step 2: .*leave --init-from out"):
        train(tuning, tmp_path / "run", init_from=tmp_path / "run" / "last", device="cpu")
    shutil.rmtree(tmp_path / "run" / "checkpoints")  # as if it had been killed before the first
    with pytest.raises(ConfigError, match="it began with --init-from: give that again"):
        train(tuning, tmp_path / "run", device="cpu")


def test_a_fine_tuning_may_begin_to_lower_case_sources(corpus: Path, reference: Path, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    for max_steps in (1, 2):  # the second goes on
        recipe = {**settings(corpus, max_steps=max_steps, warmup_steps=1), "tokenizer": {"lowercase_source": True}}
        del recipe["model"]
        train(recipe, folder, init_from=reference, device="cpu")
    before, after = load_bundle(reference).tokenizers, load_bundle(folder / "last").tokenizers
    assert after.source.encode("A B") == before.source.encode("a b") != before.source.encode("A B")
    assert after.target.encode("A B") == before.target.encode("A B")


def test_a_fine_tuning_aligns_with_the_heads_that_were_chosen(corpus: Path, reference: Path, tmp_path: Path) -> None:
    start, heads = load_bundle(reference), {"heads": [[0, 1]], "shifted": True}
    chosen, folder = tmp_path / "chosen", tmp_path / "run"
    save_bundle(chosen, start.model, start.tokenizers, start.search, facts={"step": 7, "alignment": heads})
    for max_steps, init_from in ((2, chosen), (3, None)):  # the second goes on by its folder alone
        recipe = settings(corpus, max_steps=max_steps, warmup_steps=1)
        train(recipe, folder, init_from=init_from, device="cpu")
        assert load_bundle(folder / "last").facts["step"] == max_steps
        assert Translator.load(folder / "last").alignment == AlignmentHeads(heads=((0, 1),), shifted=True)
    average = tmp_path / "average"
    RunFolder(folder).average(2, average)
    lasting = load_bundle(folder / "last").lasting_facts
    assert load_bundle(average).lasting_facts == lasting
    assert lasting["alignment"] == heads
    wrong = tmp_path / "wrong"
    save_bundle(wrong, start.model, start.tokenizers, start.search, facts={"alignment": {}})
    with pytest.raises(BundleError, match="alignment heads"):
        train(settings(corpus), tmp_path / "other", init_from=wrong, device="cpu")


def test_a_bundle_says_what_its_model_learned_from(corpus: Path, reference: Path, tmp_path: Path) -> None:
    """A fine-tuning counts its own text."""
    lines = [f"{'He runs. ' * (1 + number % 2)}A c {'d ' * (number % 5)}" for number in range(100)]
    for name in ("rows.low", "rows.up"):
        (tmp_path / name).write_text("".join(f"{line}{number}\n" for number, line in enumerate(lines)))
    run, recipe = tmp_path / "run", settings(tmp_path, max_steps=2, warmup_steps=1, save_every=1)
    recipe["tokenizer"] = {"kind": "characters"}
    best = train(recipe, run, device="cpu")
    learned = Translator.load(best).learned
    assert learned == open_prepared(run).learned_text()
    assert learned is not None
    assert learned.n_lines + len(open_prepared(run).validation) == 100
    assert learned.known_sentences == 3
    assert 0.3 < learned.several_sentences[1] < 0.7
    assert (learned.several_sentences[0], learned.target_ratio) == (1, 1)
    state = run / "checkpoints" / "step-2" / "state.json"
    progress = read_json(state)
    assert LearnedText.of_bundle(progress["lasting_facts"], state) == learned
    tuned, before = tmp_path / "tuned", Translator.load(reference).learned
    recipe = settings(corpus, max_steps=1, warmup_steps=1)
    train(recipe, tuned, init_from=reference, device="cpu")
    assert Translator.load(tuned / "last").learned == before == open_prepared(reference).learned_text()


def test_each_loss_is_shown_under_its_name(corpus: Path, tmp_path: Path, log_lines: list[str]) -> None:
    train(settings(corpus, max_steps=20, save_every=10, r_drop=0.5), tmp_path / "run", device="cpu")
    told = "training loss: with label smoothing 0.1, R-Drop 0.5, dropout; validation loss: without, by the averaged"
    assert any(line.startswith(told) for line in log_lines)
    shown = [line for line in log_lines if "loss" in line and not line.startswith(told)]
    steps = [line for line in shown if line.startswith("step ")]
    assert len(steps) == 20
    assert all("  training loss " in line for line in steps)
    assert ["validation loss " in line for line in shown if line not in steps] == [True]
    plain = {"label_smoothing": 0, "max_steps": 1, "warmup_steps": 1}
    alike = settings(corpus, **plain) | {"model": {**settings(corpus)["model"], "dropout": 0}}
    train(alike, tmp_path / "alike", device="cpu")
    assert "training loss and validation loss: cross-entropy in nats a token" in log_lines


def test_a_log_loses_lines_of_steps_that_are_made_again(corpus: Path, reference: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    train(settings(corpus, max_steps=12), run, device="cpu")
    log = run / "metrics.jsonl"
    log.write_text(log.read_text(encoding="utf-8") + '{"step": 13, "training_loss": 1.0}\n', encoding="utf-8")
    train(settings(corpus), run, device="cpu")
    assert [record["step"] for record in read_metrics(run) if "training_loss" in record] == list(range(1, 31))
    assert read_curves(run).training_loss == read_curves(reference).training_loss


def test_tensorboard_gets_the_same_figures(corpus: Path, tmp_path: Path) -> None:
    event_accumulator = import_extra("tensorboard.backend.event_processing.event_accumulator", "tensorboard")
    run = tmp_path / "run"
    train(settings(corpus, max_steps=3, warmup_steps=1, tensorboard=True), run, device="cpu")
    events = event_accumulator.EventAccumulator(str(run / "tensorboard")).Reload()
    board = {event.step: event.value for event in events.Scalars("training_loss")}
    assert board == pytest.approx(losses(run))


def test_a_fine_tuning_goes_on_by_its_folder_alone(corpus: Path, reference: Path, tmp_path: Path) -> None:
    """And the recipe that trained the bundle may be used to fine-tune it."""
    recipe, folder = settings(corpus, max_steps=5, warmup_steps=1), tmp_path / "run"
    train(recipe, folder, init_from=reference / "last", device="cpu")
    command = ["train", "--output", str(folder), "--set", "training.max_steps=9", "--device", "cpu"]
    assert run(command) == 0
    whole = {**recipe, "training": {**recipe["training"], "max_steps": 9}}
    train(whole, tmp_path / "whole", init_from=reference / "last", device="cpu")
    assert_same_training(tmp_path / "whole", folder)


LATIN = [("a big brown dog runs over the field to its left", "ein großer brauner Hund läuft über das Feld")] * 10


def test_the_plan_fits_the_corpus() -> None:
    chosen, reasons = plan({}, 20_000, LATIN)
    assert chosen["model"]["preset"] == "tiny"
    assert "model.preset=tiny, " in " ".join(reasons)
    assert "model.norm=pre, model.positions=rotary, " in " ".join(reasons)
    assert plan({}, 1_000_000, LATIN)[0]["model"]["preset"] == "small"
    assert plan({}, 1_000_000, LATIN)[0]["model"]["norm"] == "pre"
    assert chosen["training"]["optimizer"] == "muon"
    assert "optimizer" not in plan({}, 1_000_000, LATIN)[0]["training"]
    assert plan({}, 5_000_000, LATIN)[0]["model"] == {"preset": "base"}
    chosen, reasons = plan({}, 20_000, [("a dog runs", "狗在跑")] * 10)
    assert chosen["tokenizer"] == {"joint": False}
    assert parse_config(chosen).model.tie == "decoder"
    chosen, _ = plan({"model": {"preset": "tiny"}}, 20_000, [("a dog runs", "狗在跑")] * 10)
    assert parse_config(chosen).model.tie == "decoder"


def test_the_table_of_sizes_has_a_row_for_every_corpus() -> None:
    limits = [size.below for size in SIZES]
    assert limits == sorted(set(limits))
    assert limits[-1] == math.inf
    for n_pairs in (1, *(int(limit) + more for limit in limits[:-1] for more in (-1, 0))):
        config = parse_config(plan({"data": {"corpus": "captions"}}, n_pairs, LATIN)[0])
        rows = sizes_for(n_pairs)
        assert n_pairs < rows[-1].below
        assert config.training.max_epochs == rows[-1].passes(n_pairs) <= MOST_PASSES
        for row in (*rows, *sizes_for(n_pairs, fine_tuning=True)):
            config = parse_config(plan({"data": {"corpus": "captions"}}, n_pairs, LATIN, row)[0])
            assert config.training.batch_tokens == row.training["batch_tokens"]
    passes = [sizes_for(n_pairs)[-1].passes(n_pairs) for n_pairs in (10**exponent for exponent in range(9))]
    assert passes == sorted(passes, reverse=True)


@pytest.mark.parametrize(
    ("one", "other", "is_joint"),
    [
        ("a dog runs", "Một con chó chạy qua cánh đồng.", True),
        ("THE DOG RUNS", unicodedata.normalize("NFD", "Žluťoučký kůň úpěl ďábelské ódy."), True),
        ("a dog runs", "Köpek tarlada koşuyor.", True),
        ("Собака бежит по полю.", "Собака біжить полем.", True),
        ("Собака бежит.", "A dog runs.", False),
        ("Пас трчи преко поља.", "Pas trči preko polja.", False),
        ("犬は野原を走っています。", "狗在田野上跑。", False),
        ("他的 iPhone 和 Windows 电脑都坏了，所以他今天不能上网查邮件。", "His iPhone and Windows PC broke.", False),
        ("1 2 3", "3 2 1", True),
    ],
)
def test_languages_of_one_script_have_one_vocabulary(one: str, other: str, is_joint: bool) -> None:
    for pair in ((one, other), (other, one)):
        assert parse_config(plan({}, 20_000, [pair] * 10)[0]).tokenizer.is_joint == is_joint


def test_latin_words_in_chinese_text_do_not_make_a_common_script() -> None:
    pairs = [("狗在跑", "a dog runs")] * 50 + [("The quick brown fox jumps over the lazy dog: 狗", "a dog")]
    for turned in (pairs, [(target, source) for source, target in pairs]):
        assert not parse_config(plan({}, 20_000, turned)[0]).tokenizer.is_joint


def test_a_perplexity_beyond_words_is_not_written_out() -> None:
    assert [Validation(loss, 0.0).perplexity_text for loss in (1.5, 20.0, 1e5)] == ["4.48", "5e+08", "inf"]


def test_matrices_that_are_to_be_one_have_one_vocabulary() -> None:
    chosen, _ = plan({"model": {"tie": "all"}}, 20_000, [("a dog runs", "狗在跑")] * 10)
    assert parse_config(chosen).tokenizer.is_joint


def test_without_a_moving_average_the_weights_themselves_are_kept(corpus: Path, tmp_path: Path) -> None:
    recipe = settings(corpus, ema=0, max_steps=2, warmup_steps=1)
    train(recipe, tmp_path / "run", device="cpu")
    checkpoint = RunFolder(tmp_path / "run").load()
    assert checkpoint is not None
    assert checkpoint.average is None
    kept = load_file(tmp_path / "run" / "last" / "model.safetensors")
    assert all(torch.equal(checkpoint.model[name], weight) for name, weight in kept.items())


def test_the_plan_yields_to_the_person() -> None:
    chosen, reasons = plan({"model": {"dropout": 0.3}, "training": {"lr": 0.001}}, 20_000, LATIN)
    assert chosen["model"] == {**plan({}, 20_000, LATIN)[0]["model"], "dropout": 0.3}
    assert chosen["training"]["lr"] == 0.001
    assert not any("dropout" in reason or "lr=" in reason for reason in reasons)
    chosen, reasons = plan({"training": {"optimizer": "adam"}}, 20_000, LATIN)
    assert chosen["training"]["optimizer"] == "adam"
    assert "muon" not in " ".join(reasons).lower()
    chosen, _ = plan({"training": {"ema": 0.0}}, 20_000, LATIN)
    assert parse_config(chosen).training.ema == 0  # what is null is open, and chosen
    chosen, _ = plan({"model": {"d_model": 64}}, 20_000, LATIN)
    assert chosen["model"] == {**plan({}, 20_000, LATIN)[0]["model"], "d_model": 64}
    alone = {"n_encoder_layers": 2, "n_decoder_layers": 3, "n_heads": 8, "d_model": 100, "d_ff": 9, "d_k": 15, "d_v": 7}
    for size, value in alone.items():
        shape = parse_config(plan({"model": {size: value}}, 20_000, LATIN)[0]).model
        assert (getattr(shape, size), shape.norm, shape.bias) == (value, "pre", False)
        assert (shape.memory == "layerwise") is not size.endswith("layers")
    sizes = {"d_model": 64, "d_ff": 64, "n_heads": 2, "n_encoder_layers": 1, "n_decoder_layers": 1}
    for model in (sizes, {"preset": "tiny"}):
        chosen, reasons = plan({"model": model, "training": {"max_steps": 7}}, 20_000, LATIN)
        peak = float(f"{(parse_config(chosen).model.d_model * 4000) ** -0.5:.2g}")
        assert (chosen["model"], chosen["training"]) == (model, {"max_steps": 7, "warmup_steps": 1, "lr": peak})
        assert (
            "you set sizes of the model, so its other settings and those of the training are the paper's" in reasons[-1]
        )
        long = {"max_steps": 16_000}
        assert plan({"model": model, "training": long}, 20_000, LATIN)[0]["training"] == long
        warmed = {"max_steps": 7, "warmup_steps": 5}
        assert plan({"model": model, "training": warmed}, 20_000, LATIN)[0]["training"] == warmed


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("n_pairs", [300, 1_000_000, 5_000_000])
def test_a_shorter_warm_up_ends_at_the_same_rate(preset: str, n_pairs: int) -> None:
    """As far as the paper's formula would give it a higher one, which post-norm models do not bear."""

    def planned(model: dict[str, Any], training: dict[str, Any]) -> Config:
        return parse_config(plan({"model": model, "training": training}, n_pairs, LATIN)[0])

    for model in ({"preset": preset}, {}):
        whole = planned(model, {"max_steps": 9_000_000})
        peak = peak_rate(whole.training, whole.model.d_model)
        for limits in ({"max_steps": 400}, {"max_steps": 9_000_000, "max_epochs": 1, "batch_tokens": n_pairs}):
            short = planned(model, limits)
            assert short.training.warmup_steps <= 100
            assert peak_rate(short.training, short.model.d_model) == pytest.approx(peak, rel=0.05)
            assert planned(model, {**limits, "lr": 0.1}).training.lr == 0.1


@pytest.mark.parametrize(("kind", "tokens"), [("bpe", 15), ("characters", 60)])
def test_a_character_may_be_a_token(kind: str, tokens: int) -> None:
    settings_ = {"model": {"preset": "tiny"}, "tokenizer": {"kind": kind}, "training": {"max_epochs": 16}}
    planned = parse_config(plan(settings_, 30_000, [("a" * 60, "b" * 60)])[0])
    assert planned.training.warmup_steps == 16 * 30_000 * (tokens + 1) // 4096 // 4


def test_the_recipe_for_small_data_is_what_is_chosen_for_it() -> None:
    recipe = read_recipe(Path(__file__).parents[1] / "recipes" / "small-data.yaml")
    chosen, _ = plan({}, 100_000, LATIN)
    assert plan(recipe, 100_000, LATIN)[0] == chosen
    written = {f"{section}.{key}" for section, values in recipe.items() for key in values}
    found = {f"{section}.{key}" for section, values in chosen.items() for key in values}
    assert found - written == {"model.preset", "training.max_epochs", "training.warmup_steps"}  # as its head says


@pytest.mark.parametrize(
    "path", sorted((Path(__file__).parents[1] / "recipes").glob("*.yaml")), ids=lambda path: path.stem
)
def test_every_recipe_can_be_read(path: Path) -> None:
    check_request(read_recipe(path), path)


def test_halves_of_surrogate_pairs_can_be_planned_for() -> None:
    chosen, _ = plan({}, 100, [("\ud800", "a")] * 100)
    assert chosen["model"]["preset"] == "tiny"


@pytest.mark.parametrize("training", [{"max_steps": 100}, {"max_epochs": 1}, {}])
def test_the_warm_up_is_at_most_a_quarter_of_the_training(training: dict[str, int]) -> None:
    n_pairs = 300
    config = parse_config(plan({"training": training}, n_pairs, LATIN)[0])
    tokens_of_a_pair = 12
    n_steps = config.training.max_steps or (config.training.max_epochs or 0) * n_pairs * tokens_of_a_pair // 1024
    assert 1 <= config.training.warmup_steps <= max(1, n_steps // 3)
    assert plan({"training": {"warmup_steps": 50, **training}}, n_pairs, LATIN)[0]["training"]["warmup_steps"] == 50


def test_low_bleu_does_not_choose_the_best() -> None:
    assert Validation(loss=4.0, bleu=0.7).score("bleu") > Validation(loss=5.0, bleu=2.4).score("bleu")
    assert Validation(loss=4.0, bleu=9.0).score("bleu") > Validation(loss=3.0, bleu=2.4).score("bleu")
    assert Validation(loss=4.0, bleu=30.0).score("bleu") > Validation(loss=3.0, bleu=29.0).score("bleu")
    assert Validation(loss=4.0, bleu=30.0).score("loss") < Validation(loss=3.0, bleu=29.0).score("loss")


@pytest.mark.parametrize(
    ("activation", "vocab_size", "r_drop", "length", "attention_dropout", "optimizer", "precision"),
    [
        ("relu", 2000, 0.0, 32, 0.0, "adam", "float32"),
        ("relu", 48_000, 3.0, 32, 0.0, "adam", "float32"),
        *(
            pytest.param(*each, marks=pytest.mark.thorough)
            for each in (
                ("relu", 2000, 0.0, 512, 0.0, "adam", "float32"),
                ("relu", 2000, 0.0, 32, 0.0, "muon", "float32"),
                ("relu", 2000, 0.0, 32, 0.0, "adam", "bfloat16"),
                ("swiglu", 2000, 0.0, 32, 0.0, "adam", "float32"),
                ("relu", 48_000, 0.0, 32, 0.0, "adam", "float32"),
                ("relu", 2000, 0.0, 256, 0.0, "adam", "float32"),
                ("relu", 2000, 0.0, 256, 0.1, "adam", "float32"),
            )
        ),
    ],
)
def test_the_estimate_of_memory_is_about_right(
    activation: str,
    vocab_size: int,
    r_drop: float,
    length: int,
    attention_dropout: float,
    optimizer: str,
    precision: str,
) -> None:
    """Against the peak of one real step, in a process of its own."""
    # Without instructions for it, bfloat16 is slow.
    batch_tokens = 512 if vocab_size > 2000 else 1024 if precision == "bfloat16" else 4096
    program = f"""
import torch
from dragoman.settings.model_config import ModelConfig
from dragoman.settings.presets import PRESETS
from dragoman.settings.training_config import TrainingConfig
from dragoman.data.batches import Batch
from dragoman.model.transformer import Transformer
from dragoman.machine.ram import peak_memory
from dragoman.machine.processes import Processes
from dragoman.training.loss import batch_loss
from dragoman.training.ram_estimate import training_bytes
from dragoman.training.optimizer import Optimizer

training = TrainingConfig(batch_tokens={batch_tokens}, r_drop={r_drop},
                          optimizer="{optimizer}", precision="{precision}")
sizes = {{"source_vocab_size": {vocab_size}, "target_vocab_size": {vocab_size}, "activation": "{activation}",
          "attention_dropout": {attention_dropout}}}
config = ModelConfig(**{{**PRESETS["{"small" if vocab_size == 2000 else "tiny"}"], **sizes}})
def step(n_rows, n_tokens):
    batch = Batch(torch.randint(4, 2000, (n_rows, n_tokens)), torch.randint(4, 2000, (n_rows, n_tokens + 1)))
    with torch.autocast("cpu", torch.bfloat16, enabled=training.precision == "bfloat16"):
        loss = batch_loss(model, batch, 0.1, training.r_drop)[0]
    loss.backward()
    optimizer.step(0.0, training.precision, Processes())
    model.zero_grad()

model = torch.nn.Linear(1, 1)
optimizer = Optimizer(model, training)  # imports what it needs
before = peak_memory(torch.device("cpu"))
model = Transformer(config)
optimizer = Optimizer(model, training)
step(training.batch_tokens // {length}, {length})
n_parameters = sum(parameter.numel() for parameter in model.parameters())
print((peak_memory(torch.device("cpu")) - before) * 2**20 / training_bytes(config, n_parameters, training, {length}))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    least, most = (0.8, 1.2) if library() else (0.6, 1.6)
    assert least < float(done.stdout) < most


def test_processes_share_what_a_batch_takes_and_not_the_weights() -> None:
    config, n_parameters = ModelConfig(source_vocab_size=2000, target_vocab_size=2000), 10**7

    def needed(batch_tokens: int, n_processes: int) -> int:
        training = TrainingConfig(batch_tokens=batch_tokens)
        return training_bytes(config, n_parameters, training, 64, n_processes=n_processes)

    assert needed(8192, 4) == needed(2048, 1) < needed(8192, 1)
    assert needed(1, 1) >= 4 * (1 + 3 * 2) * n_parameters  # weights, and both moments three times, while they are saved


def test_the_precision_follows_from_the_device_and_the_settings_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """No clock is read: one that runs backwards, or stands still, changes nothing."""
    for name in ("time", "perf_counter", "monotonic", "process_time", "perf_counter_ns", "monotonic_ns", "time_ns"):
        monkeypatch.setattr(time, name, lambda: pytest.fail("a clock was read"))
    cpu = torch.device("cpu")
    for has_it, d_model, batch_tokens, micro in itertools.product(
        (True, False), (16, 126, 128, 512), (100, 1023, 1024, 9000), (None, 1023, 1024)
    ):
        monkeypatch.setattr(torch.cpu, "_is_amx_tile_supported", lambda: False, raising=False)
        monkeypatch.setattr(torch.cpu, "_is_avx512_bf16_supported", lambda has_it=has_it: has_it, raising=False)
        training = {"batch_tokens": batch_tokens, "micro_batch_tokens": micro}
        config = parse_config({"model": {"d_model": d_model, "n_heads": 1}, "training": training})
        is_large = d_model >= 128 and batch_tokens >= 1024 and (micro is None or micro >= 1024)
        for _ in range(3):
            chosen, reason = choose_precision(config, cpu)
            assert chosen == ("bfloat16" if has_it and is_large else "float32")
            assert ("this processor" in reason) == (chosen == "bfloat16" or not has_it)
        for asked in ("float32", "bfloat16"):
            training["precision"] = asked
            config = parse_config({"model": {"d_model": d_model, "n_heads": 1}, "training": training})
            assert choose_precision(config, cpu)[0] == asked


def test_a_processor_is_asked_for_bfloat16_by_either_of_its_kinds(monkeypatch: pytest.MonkeyPatch) -> None:
    """An older PyTorch knows one of them only; other devices than CPUs and CUDA's were not measured."""
    for found in ({"_is_amx_tile_supported"}, {"_is_avx512_bf16_supported"}, set[str]()):
        with monkeypatch.context() as patch:
            for name in ("_is_amx_tile_supported", "_is_avx512_bf16_supported"):
                patch.delattr(torch.cpu, name, raising=False)
                if name in found:
                    patch.setattr(torch.cpu, name, lambda: True, raising=False)
            assert multiplies_bfloat16(torch.device("cpu")) == bool(found)
            assert not multiplies_bfloat16(torch.device("mps"))


def test_a_fine_tuning_searches_as_before_and_tells_of_another_language(tmp_path: Path, log_lines: list[str]) -> None:
    bundle = write_tiny_bundle(tmp_path / "start")  # English to German, with a beam of 2
    for name in ("a.en", "a.de", "a.fr"):
        (tmp_path / name).write_text("A man is riding a horse.\n" * 30, encoding="utf-8")
    training = {"max_steps": 1, "warmup_steps": 1, "batch_tokens": 200, "precision": "float32"}
    for target, warnings in (("a.de", 0), ("a.fr", 1)):
        data = {"source": str(tmp_path / "a.en"), "target": str(tmp_path / target)}
        run = tmp_path / f"run.{target}"
        train({"data": data, "training": training}, run, init_from=bundle, device="cpu")
        tuned = load_bundle(run)
        assert tuned.search.beam_size == 2
        assert "chose search.beam_size=2: as the model of --init-from has it" in log_lines
        assert f"en-{tuned.tokenizers.target_lang}" == f"en-{target[2:]}"
        assert sum("translates en-de, and this text is en-fr" in line for line in log_lines) == warnings
        data |= {"validation_source": data["source"], "validation_target": data["target"]}
    asked = {"data": data, "training": training, "search": {"beam_size": 3}}
    train(asked, tmp_path / "asked", init_from=bundle, device="cpu")
    assert load_bundle(tmp_path / "asked").search.beam_size == 3


@pytest.mark.parametrize("widths", [(130,), (80,), (60,), (50,), (42,), (130, 60), (50, 130)])
def test_the_bar_shows_step_loss_and_time_left_however_narrow(
    widths: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The terminal may be made narrower or wider meanwhile."""
    screen = io.StringIO()
    console = Console(file=screen, width=widths[0], force_terminal=True)
    monkeypatch.setattr(progress_bar, "Console", lambda **_: console)
    with ProgressBar(12_340, is_shown=True) as bar:
        for width in widths:
            console.width = width
            bar.move(1_234)
            bar.show(1_234, ["epoch 1.0", "training loss 6.692", "lr 4.8e-04", "13,085 target tokens/s"])
    escape = r"\x1b\[[0-9;?]*[A-Za-z]"
    lines = [re.sub(escape, "", line) for line in re.split(r"[\r\n]", screen.getvalue()) if "step" in line]
    assert all(part in lines[-1] for part in ("step 1234/12340", "loss 6.692", "left "))
    assert ("training loss" in lines[-1]) is (widths[-1] >= 60)
    assert len(lines[-1].rstrip()) < widths[-1]
    assert widths[-1] < 130 or all(part in lines[-1] for part in ("epoch 1.0", "lr 4.8e-04", "13,085", "elapsed 0:0"))


@given(st.lists(st.tuples(st.text(), st.text(), st.text()), min_size=1, max_size=30))
def test_samples_fit_a_terminal_and_are_the_same_whatever_was_written(texts: list[tuple[str, str, str]]) -> None:
    samples = [Sample(*(" ".join(text.split()) for text in each)) for each in texts]
    shown = _good_samples(samples)
    assert 1 <= len(shown) <= 3
    assert set(shown) <= set(samples)
    others = _good_samples([sample._replace(translation="?") for sample in samples])
    assert [each.source for each in others] == [each.source for each in shown]
    assert all(cell_len(line) <= 80 for sample in shown for line in sample.lines())


def test_a_validation_shows_three_samples_in_the_log_and_the_metrics(
    corpus: Path, tmp_path: Path, log_lines: list[str]
) -> None:
    train(settings(corpus, max_steps=4, validate_every=2), tmp_path / "run", device="cpu")
    names = [line.split()[0] for line in log_lines if line.startswith(("  source ", "  translation ", "  reference "))]
    assert names == ["source", "translation", "reference"] * 3 * 2
    records = read_metrics(tmp_path / "run")
    first, second = (record["samples"] for record in records if "samples" in record)
    assert [(each["source"], each["reference"]) for each in first] == [
        (each["source"], each["reference"]) for each in second
    ]
    assert all(each["source"].upper() == each["reference"] for each in first)
