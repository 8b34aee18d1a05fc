"""The book's own Transformer computes what the toolkit's does, and learns to translate."""

from __future__ import annotations

import ast
import importlib.util
import io
import random
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import torch
from models import sentences
from torch import nn

from dragoman.corpora.synthetic import make_corpus
from dragoman.model.transformer import Transformer
from dragoman.settings.model_config import ModelConfig

pytestmark = pytest.mark.torch

FILE = Path(__file__).resolve().parent.parent / "docs" / "book" / "transformer.py"
SIZES: dict[str, Any] = {"d_model": 16, "d_ff": 24, "n_heads": 4}
SOURCE = sentences([5, 6, 7, 3], [8, 3], [1, 9, 3])
TARGET = sentences([2, 4, 8, 9, 3], [2, 10, 3], [2, 6, 6, 3])


@pytest.fixture(scope="module")
def book() -> ModuleType:
    spec = importlib.util.spec_from_file_location("book_transformer", FILE)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def models(book: ModuleType, n_layers: int = 2) -> tuple[nn.Module, nn.Module]:
    """Return the book's model and the toolkit's, with different weights, none of them zero or one by rule."""
    torch.manual_seed(1)
    config = ModelConfig(
        source_vocab_size=10,
        target_vocab_size=11,
        n_encoder_layers=n_layers,
        n_decoder_layers=n_layers,
        norm="pre",
        tie="decoder",
        dropout=0.0,
        **SIZES,
    )
    both = book.Transformer(10, 11, n_layers=n_layers, **SIZES), Transformer(config)
    for model in both:
        model.double().train()
        with torch.no_grad():
            for weight in model.parameters():
                weight.normal_(std=0.3)
    return both


def test_it_stands_on_pytorch_alone() -> None:
    imported = set()
    for node in ast.walk(ast.parse(FILE.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            imported |= {each.name for each in node.names}
        elif isinstance(node, ast.ImportFrom):
            imported.add(node.module or ".")
    others = {name for name in imported if name.partition(".")[0] != "torch"}
    assert others <= set(sys.stdlib_module_names)


@pytest.mark.parametrize("n_layers", [1, 3])
@pytest.mark.parametrize("direction", ["book to toolkit", "toolkit to book"])
def test_it_equals_the_toolkit_with_the_same_weights(book: ModuleType, direction: str, n_layers: int) -> None:
    """Logits, loss and the gradient of every weight, with padding on both sides and in every row but one."""
    ours, theirs = models(book, n_layers)
    giver, taker = (ours, theirs) if direction == "book to toolkit" else (theirs, ours)
    assert not torch.allclose(ours(SOURCE, TARGET), theirs(SOURCE, TARGET))
    taker.load_state_dict(giver.state_dict())
    assert torch.allclose(ours(SOURCE, TARGET), theirs(SOURCE, TARGET), rtol=1e-12, atol=1e-12)
    losses = [book.mean_loss(model, SOURCE, TARGET) for model in (ours, theirs)]
    assert torch.allclose(*losses, rtol=1e-12)
    for loss in losses:
        loss.backward()
    gradients = [{name: weight.grad for name, weight in model.named_parameters()} for model in (ours, theirs)]
    assert gradients[0].keys() == gradients[1].keys()
    for name, gradient in gradients[0].items():
        assert gradient is not None
        assert torch.allclose(gradient, gradients[1][name], rtol=1e-9, atol=1e-12), name


def test_first_weights_are_drawn_as_the_toolkit_draws_them(book: ModuleType) -> None:
    """The same spread for every matrix, and the same values for all that is not random."""
    torch.manual_seed(1)
    sizes = {"d_model": 64, "d_ff": 256, "n_heads": 4}
    config: dict[str, Any] = {"source_vocab_size": 300, "target_vocab_size": 200, "norm": "pre", "tie": "decoder"}
    theirs = Transformer(ModelConfig(n_encoder_layers=1, n_decoder_layers=1, **config, **sizes)).state_dict()
    for name, weight in book.Transformer(300, 200, n_layers=1, **sizes).state_dict().items():
        if weight.std() > 0:
            assert weight.std().item() == pytest.approx(theirs[name].std().item(), rel=0.05), name
        else:
            assert torch.equal(weight, theirs[name]), name


def test_a_vocabulary_gives_back_the_sentence(book: ModuleType) -> None:
    words = book.Vocabulary(["A dog sleeps.", "A cat sleeps."])
    assert words.text([book.START, *words.ids("A cat sleeps."), book.PAD]) == "A cat sleeps."
    assert words.text(words.ids("A cow sleeps.")) == "A <unk> sleeps."
    assert words.ids("")[-1] == book.END
    assert book.rectangle([[5, 3], [6, 7, 3]]).tolist() == [[5, 3, 0], [6, 7, 3]]


def test_it_learns_forty_captions_by_heart_and_translates_them(book: ModuleType) -> None:
    torch.manual_seed(1)
    random.seed(1)
    corpus = make_corpus("captions", 40, 0, 0).train
    english, german = (book.Vocabulary(side) for side in zip(*corpus, strict=True))
    pairs = [(english.ids(source), [book.START, *german.ids(target)]) for source, target in corpus]
    model = book.Transformer(len(english.words), len(german.words))
    before = sum(book.translate(model, english, german, source) == target for source, target in corpus)
    losses = list(book.train(model, pairs, n_steps=150, n_rows=20))
    after = sum(book.translate(model, english, german, source) == target for source, target in corpus)
    assert losses[0] > 3 > 0.3 > losses[-1]
    assert before == 0
    assert after >= 36


def test_it_is_a_program_of_two_files(
    book: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for side, name in enumerate(("a.en", "a.de")):
        lines = [f"{pair[side]}\n" for pair in make_corpus("captions", 100, 0, 0).train]
        (tmp_path / name).write_text("".join(lines), encoding="utf-8")
    monkeypatch.setattr(sys, "stdin", io.StringIO("A man is riding a horse.\n\n"))
    book.main(tmp_path / "a.en", tmp_path / "a.de", n_steps=100)
    shown = capsys.readouterr().out.splitlines()
    assert shown[0].startswith("step   100: loss ")
    assert len(shown) == 3  # and a translation for each line
    assert shown[1]


def test_without_its_two_files_it_says_how_it_is_called() -> None:
    done = subprocess.run([sys.executable, FILE, "only-one.en"], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr == "usage: python transformer.py train.en train.de\n"
