"""The Transformer that "One sentence" trains in the page: its JavaScript computes what PyTorch does."""

import importlib.util
import json
import random
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from extras import require_program
from torch import nn

BOOK = Path(__file__).resolve().parent.parent / "docs" / "book"
N_STEPS = 70

pytestmark = pytest.mark.torch

Call = Callable[[str, Any], Any]
MODULES = """
import { backward } from "./scripts/autograd.js";
import { Lesson, Training, randomNumbers } from "./scripts/small_training.js";
import { SmallTransformer } from "./scripts/small_transformer.js";
import { TRAIN_HERE_LABELS } from "./scripts/train_here_labels.js";
const { code, data } = JSON.parse((await import("node:fs")).readFileSync(0, "utf8"));
const lesson = ({ nouns, verbs }) => new Lesson(nouns, verbs);
const numbers = (weights, of) => Object.fromEntries([...weights].map(([name, each]) => [name, [...each[of]]]));
function model({ norm, weights, seed = 1 }, { sourceWords, targetWords }) {
  const made = new SmallTransformer(sourceWords.all.length, targetWords.all.length, norm, randomNumbers(seed));
  for (const [name, rows] of Object.entries(weights ?? {})) made.weights.get(name).numbers.set(rows);
  return made;
}
const imported = { backward, Training, TRAIN_HERE_LABELS, lesson, model, numbers, data };
console.log(JSON.stringify(new Function(...Object.keys(imported), code)(...Object.values(imported))));
"""


@pytest.fixture(scope="module")
def call(tmp_path_factory: pytest.TempPathFactory) -> Call:
    """Return a function that runs JavaScript with the modules of the widget, and `data`."""
    folder, program = tmp_path_factory.mktemp("modules"), require_program("node", "nodejs")
    shutil.copytree(BOOK / "building" / "scripts", folder / "scripts")
    (folder / "package.json").write_text('{"type": "module"}')
    (folder / "run.js").write_text(MODULES)

    def run(code: str, data: Any) -> Any:
        command, given = [program, str(folder / "run.js")], json.dumps({"code": code, "data": data})
        done = subprocess.run(command, input=given, capture_output=True, encoding="utf-8")
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    return run


@pytest.fixture(scope="module")
def book() -> Any:
    """The book's `transformer.py`, with numbers of 64 bits."""
    spec = importlib.util.spec_from_file_location("book_transformer_of_the_page", BOOK / "transformer.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def nine_sentences(language: str) -> dict[str, Any]:
    """Return the nouns and verbs of the page's first cell."""
    page = (BOOK / language / "one-sentence.md").read_text(encoding="utf-8")
    return {name: json.loads(re.findall(rf"^{name} = (.*)$", page, re.M)[0]) for name in ("nouns", "verbs")}


def pairs_of(words: dict[str, Any]) -> dict[str, str]:
    nouns, verbs = words["nouns"], words["verbs"]
    return {f"the {noun} {verb}": f"{nouns[noun]} {verbs[verb]}" for noun in nouns for verb in verbs}


def its_model(book: Any, norm: str, n_source: int, n_target: int) -> Any:
    """Return the model of the page in PyTorch, with random numbers everywhere, the norms' gains and biases included."""
    torch.manual_seed(5)
    model = book.Transformer(n_source, n_target, d_model=4, d_ff=8, n_heads=1).double()
    if norm == "post":
        model.encoder_norm, model.decoder_norm = nn.Identity(), nn.Identity()
    with torch.no_grad():
        for weight in model.parameters():
            weight.normal_(std=0.6)
    return model


def flat(model: Any, gradients: bool = False) -> dict[str, list[float]]:
    return {
        name: (weight.grad if gradients else weight).detach().flatten().tolist()
        for name, weight in model.named_parameters()
    }


@pytest.mark.parametrize("language", ["en", "zh"])
def test_it_learns_the_sentences_of_the_page(language: str, book: Any, call: Call) -> None:
    words = nine_sentences(language)
    code = f"const {{ nouns, verbs }} = TRAIN_HERE_LABELS.{language}; const made = lesson({{ nouns, verbs }});"
    made = call(code + "return { nouns, verbs, source: made.sourceWords.all, target: made.targetWords.all }", None)
    pairs = pairs_of(words)
    assert {name: made[name] for name in words} == words
    assert made["source"] == book.Vocabulary(pairs).words
    assert made["target"] == book.Vocabulary(pairs.values()).words


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_loss_gradients_and_training_are_those_of_pytorch(
    norm: str, book: Any, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    if norm == "post":
        monkeypatch.setattr(book.Residual, "forward", lambda self, x, sublayer: self.norm(x + sublayer(x)))
    words = nine_sentences("en")
    sentences = pairs_of(words)
    source_words, target_words = book.Vocabulary(sentences), book.Vocabulary(sentences.values())
    pairs = [(source_words.ids(one), [book.START, *target_words.ids(other)]) for one, other in sentences.items()]
    model = its_model(book, norm, len(source_words.words), len(target_words.words))
    code = f"""
        const its = lesson(data);
        const made = model(data, its);
        const loss = its.scores(made).crossEntropy(its.expected);
        backward(loss);
        const gradients = numbers(made.weights, "gradient");
        const training = new Training(made, its, {{ steps: {N_STEPS}, highest: 0.004, warmup: 50 }});
        while (!training.isDone) training.step();
        const {{ losses }} = training;
        const weights = numbers(made.weights, "numbers");
        return {{ loss: loss.numbers[0], gradients, losses, weights, texts: its.translate(made, 7) }};
    """
    found = call(code, {**words, "norm": norm, "weights": flat(model)})

    loss = book.mean_loss(model, *(book.rectangle(rows) for rows in zip(*pairs, strict=True)))
    loss.backward()
    assert found["loss"] == pytest.approx(loss.item(), abs=1e-6)
    expected = flat(model, gradients=True)
    assert found["gradients"].keys() == expected.keys()
    for name, gradient in expected.items():
        assert found["gradients"][name] == pytest.approx(gradient, abs=1e-6), name
    assert max(abs(slope) for gradient in expected.values() for slope in gradient) > 0.1
    random.seed(1)
    losses = list(book.train(model, pairs, n_steps=N_STEPS, n_rows=9))
    assert found["losses"] == pytest.approx(losses, abs=1e-5)
    for name, numbers in flat(model).items():
        assert found["weights"][name] == pytest.approx(numbers, abs=1e-4), name
    texts = [book.translate(model, source_words, target_words, source, longest=8) for source in sentences]
    assert found["texts"] == texts


def test_what_comes_later_and_other_sentences_do_not_matter(call: Call) -> None:
    """Beyond the equality with PyTorch: the mask and the parts of a product, at any lengths."""
    code = """
        const its = lesson(data);
        const made = model({ norm: "pre", seed: 3 }, its);
        const scores = (targets, sources) => made.decode(targets, made.encode(sources)).row(1);
        const [one, other, third] = [[4, 5, 6, 7, 3], [4, 9, 8, 6, 3], [10, 9, 8, 7, 3]];
        const alone = scores([[2, 6]], [one]);
        const others = [scores([[2, 6, 9]], [one]), scores([[2, 6], [2, 9], [5, 7]], [one, other, third])];
        return others.map((found) => [[...found], [...alone]]);
    """
    for found, expected in call(code, nine_sentences("en")):
        assert found == pytest.approx(expected, abs=1e-12)


def test_first_weights_are_repeatable_and_of_the_right_size(call: Call) -> None:
    code = """
        const its = lesson(data);
        return [1, 1, 2].map((seed) => numbers(model({ norm: "post", seed }, its).weights, "numbers"));
    """
    first, again, other = call(code, nine_sentences("en"))
    assert first == again
    assert first != other
    for name, numbers in first.items():
        if name.endswith("norm.weight"):
            assert set(numbers) == {1}
        elif name.endswith(".bias"):
            assert set(numbers) == {0}
        elif "embedding" in name:  # a standard deviation of 1 / 2
            assert 0.3 < torch.tensor(numbers).std() < 0.7
        else:  # Xavier's bound
            bound = (6 / (4 + len(numbers) // 4)) ** 0.5
            assert 0.5 * bound < max(map(abs, numbers)) <= bound
