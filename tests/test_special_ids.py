"""Special ids are data: a model numbered otherwise is the same model, from training to translation."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import astuple, replace
from pathlib import Path
from typing import Any

import pytest
import torch
from oracles.array_model import ArrayModel
from runs import assert_same_training, losses, settings, write_rows
from tiny import tiny_model
from torch import Tensor

from dragoman.bundle.bundle import Bundle, load_bundle, save_bundle
from dragoman.bundle.weights import weights_of
from dragoman.data.batches import Batch, collate
from dragoman.decoding.search import search
from dragoman.decoding.state import Model, TransformerScorer
from dragoman.doctor import check
from dragoman.doctor.checks import CHECKS
from dragoman.errors import BundleError
from dragoman.inspection.attention_maps import inspect_attention
from dragoman.inspection.search_tree import inspect_search
from dragoman.model.masks import padding_mask
from dragoman.model.transformer import Transformer
from dragoman.native.kernels import usable_kernels
from dragoman.runtime.compiled_model import CompiledModel
from dragoman.runtime.torch_model import TorchModel
from dragoman.settings.recipe import read_recipe
from dragoman.settings.search_config import SearchConfig
from dragoman.settings.tokenizer_config import TokenizerConfig
from dragoman.text.learning import learn_tokenizers
from dragoman.text.special_ids import SpecialIdPair, SpecialIds
from dragoman.text.tokenizer import Tokenizer, Tokenizers
from dragoman.text.tokenizer_files import load_tokenizers
from dragoman.text.vocabulary import Vocabulary
from dragoman.training.loss import batch_loss, n_target_tokens
from dragoman.training.run import train
from dragoman.training.trainer import Trainer
from dragoman.training.vocabulary_transfer import with_vocabularies
from dragoman.translator import Translator
from dragoman.translator.padding import pad_sources

pytestmark = pytest.mark.torch


class Killed(BaseException):
    """Ends a training as a signal would that cannot be caught."""


PAIRS = [("a bad cab", "A BAD CAB"), ("face", "FACE"), ("fed a bee", "FED A BEE"), ("dad", "DAD"), ("h g f", "H G F")]
PADDING_5 = SpecialIdPair(SpecialIds(pad=5, unknown=0, start=7, end=2), SpecialIds(pad=5, unknown=3, start=0, end=4))
END_STARTS = SpecialIdPair(target=SpecialIds(pad=1, unknown=3, start=2, end=2))


def usual() -> Tokenizers:
    return learn_tokenizers(lambda: iter(PAIRS), TokenizerConfig(kind="characters"), "en", "de")


def renumbered(tokenizers: Tokenizers, special_ids: SpecialIdPair) -> Tokenizers:
    sides = []
    for side, ids in ((tokenizers.source, special_ids.source), (tokenizers.target, special_ids.target)):
        sides.append(Tokenizer(side.segmenter, Vocabulary(side.vocabulary.words, ids)))
    return replace(tokenizers, source=sides[0], target=sides[1])


def marian(tokenizers: Tokenizers) -> SpecialIdPair:
    """The end is 0, padding the last id, and decoding starts from padding."""
    sizes = tokenizers.source.vocab_size - 1, tokenizers.target.vocab_size - 1
    source, target = (SpecialIds(pad=size - 1, unknown=1, start=size - 1, end=0) for size in sizes)
    return SpecialIdPair(source, target)


def twin(model: Transformer, old: Tokenizers, new: Tokenizers) -> Transformer:
    """The same model for tokenizers that number the same vocabularies otherwise."""
    moved = with_vocabularies(Bundle(model.config, weights_of(model), old, SearchConfig(), {}), new)
    return moved.model.to(next(model.parameters()).dtype)


def model_for(tokenizers: Tokenizers, **shape: Any) -> Transformer:
    model = tiny_model(tokenizers, **{"tie": "decoder", **shape})
    with torch.no_grad():
        for name, weight in sorted(model.named_parameters()):
            generator = torch.Generator().manual_seed(len(name))
            weight += 0.1 * torch.randn(weight.shape, generator=generator)
        for embedding in (model.source_embedding, model.target_embedding):
            embedding.tokens.weight[embedding.tokens.padding_idx] = 0
    return model


def batch_of(tokenizers: Tokenizers) -> Batch:
    sides = (
        [side.encode(text) for text in texts]
        for side, texts in zip((tokenizers.source, tokenizers.target), zip(*PAIRS, strict=True), strict=True)
    )
    return collate(*sides, tokenizers.special_ids)


def of_rows(name: str, gradient: Tensor, old: Tokenizers, new: Tokenizers) -> Tensor:
    """A gradient of the twin in the order of the original's rows."""
    if name.startswith(("source_embedding.tokens", "target_embedding.tokens", "output_projection")):
        before, after = (each.source if name.startswith("source") else each.target for each in (old, new))
        special = dict(zip(astuple(before.special_ids), astuple(after.special_ids), strict=True))
        ids = {piece: id for id, piece in enumerate(after.pieces(range(after.vocab_size)))}
        names = before.pieces(range(before.vocab_size))
        return gradient[[special[id] if id in special else ids[name] for id, name in enumerate(names)]]
    return gradient


@pytest.mark.parametrize("shape", [{}, {"tie": "none", "positions": "rotary", "bias": False}])
def test_a_renumbered_model_has_the_same_loss_and_gradients(shape: dict[str, Any]) -> None:
    old = usual()
    new = renumbered(old, PADDING_5)
    model = model_for(old, **shape).double()
    other = twin(model, old, new)
    results = []
    for one, tokenizers in ((model, old), (other, new)):
        batch = batch_of(tokenizers)
        assert n_target_tokens(batch, tokenizers.special_ids.target.pad) == sum(len(text) + 1 for _, text in PAIRS)
        loss, nll = batch_loss(one, batch, smoothing=0.1)
        loss.backward()
        results.append((loss.item(), nll.item()))
    assert results[1] == pytest.approx(results[0], rel=1e-12)
    gradients = {name: weight.grad for name, weight in other.named_parameters()}
    for name, weight in model.named_parameters():
        assert weight.grad is not None
        found = gradients[name]
        assert found is not None
        torch.testing.assert_close(of_rows(name, found, old, new), weight.grad, rtol=1e-9, atol=1e-12)


def same_start(model: Transformer, old: Tokenizers, new: Tokenizers) -> Transformer:
    """Make a model with an id of its own for the start equal to one that starts with its end mark or padding."""
    ids, other = old.special_ids.target, new.special_ids.target
    if other.start in (other.pad, other.end):
        with torch.no_grad():
            weight, bias = model.target_embedding.tokens.weight, model.output_projection.bias
            weight[ids.start] = weight[ids.end if other.start == other.end else ids.pad]
            bias[[ids.start, ids.pad]] = -1e9  # neither is ever probable, so that it does not matter which there are
    return model


def engines(model: Transformer) -> Iterator[Model]:
    weights = weights_of(model)
    yield TorchModel(model)
    yield ArrayModel(model.config, weights, model.special_ids)
    for kernels in usable_kernels("float32"):
        yield CompiledModel(model.config, weights, kernels, model.special_ids)


def numbered(kind: str) -> tuple[Tokenizers, Tokenizers]:
    old = usual()
    special_ids = {"padding 5": PADDING_5, "end starts": END_STARTS, "padding starts": marian(old)}[kind]
    return old, renumbered(old, special_ids)


KINDS = ["padding 5", "end starts", "padding starts"]
SEARCHES: list[dict[str, Any]] = [
    {"beam_size": 1},
    {"beam_size": 4, "n_best": 4},
    {"beam_size": 3, "min_length": 9, "no_repeat_ngram": 2},
]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("options", SEARCHES)
def test_a_renumbered_model_translates_to_the_same_text(kind: str, options: dict[str, Any]) -> None:
    old, new = numbered(kind)
    model = same_start(model_for(old), old, new)
    other = twin(model, old, new)

    def searched(engine: Model, tokenizers: Tokenizers) -> tuple[list[list[str]], list[float]]:
        sources = pad_sources([tokenizers.source.encode(text) for text, _ in PAIRS], tokenizers.special_ids.source)
        prefixes = [tokenizers.target.encode(text) for text in ("A", "", "FED", "", "H G")]
        found = search(TransformerScorer([engine]), sources, SearchConfig(**options), prefixes=prefixes)
        scores = [each.score for beam in found for each in beam]
        return [[tokenizers.target.decode(each.ids) for each in beam] for beam in found], scores

    texts, scores = searched(TorchModel(model), old)
    for engine in engines(other):
        assert searched(engine, new) == (texts, pytest.approx(scores, abs=1e-4))
    before, after = Translator([model], old), Translator([other], new)
    sources = [source for source, _ in PAIRS]
    for one, same in zip(after.translate(sources, **options), before.translate(sources, **options), strict=True):
        assert (one.text, one.tokens) == (same.text, same.tokens)
    forced = [translator.score(*map(list, zip(*PAIRS, strict=True))) for translator in (before, after)]
    for one, same in zip(*forced, strict=True):
        assert one.token_log_probs == pytest.approx(same.token_log_probs, abs=1e-4)
    trees = [inspect_search(translator, sources[0], 3) for translator in (before, after)]
    assert [tree.target_text for tree in trees] == [trees[0].target_text] * 2
    maps = [inspect_attention(translator, sources[0], PAIRS[0][1]) for translator in (before, after)]
    torch.testing.assert_close(maps[1].decoder, maps[0].decoder, atol=1e-5, rtol=1e-4)
    torch.testing.assert_close(maps[1].cross, maps[0].cross, atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize("kind", KINDS)
def test_a_step_with_a_cache_reads_the_start_as_all_at_once_does(kind: str) -> None:
    """Also where the start has the id of padding, which every other query must not see."""
    _, new = numbered(kind)
    model, target = model_for(new).double(), batch_of(new).target_ids[:, :-1]
    source = batch_of(new).source_ids
    cache = model.start_cache(model.encode(source), padding_mask(source, new.special_ids.source.pad))
    steps = torch.cat([model.step(ids, cache) for ids in target.split(1, dim=1)], dim=1)
    at_once = model.decode(target, model.encode(source), padding_mask(source, new.special_ids.source.pad))
    real = target != new.special_ids.target.pad
    real[:, 0] = True
    torch.testing.assert_close(steps[real], at_once[real])
    longer = torch.nn.functional.pad(target, (0, 3), value=new.special_ids.target.pad)
    padded = model.decode(longer, model.encode(source), padding_mask(source, new.special_ids.source.pad))
    torch.testing.assert_close(padded[:, : target.size(1)][real], at_once[real])


@pytest.mark.parametrize("kind", KINDS)
def test_a_renumbered_model_is_sound(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "dragoman.doctor.checks.CHECKS", [each for each in CHECKS if "overfitting" not in each.__name__]
    )
    _, new = numbered(kind)
    examination = check(model_for(new, tie="none"))
    assert examination.passed, examination


@pytest.mark.parametrize("kind", KINDS)
def test_a_bundle_keeps_its_special_ids(kind: str, tmp_path: Path) -> None:
    old, new = numbered(kind)
    model = model_for(new)
    save_bundle(tmp_path / "bundle", model, new, SearchConfig(beam_size=2), facts={})
    loaded = load_bundle(tmp_path / "bundle")
    assert loaded.tokenizers.special_ids == loaded.model.special_ids == new.special_ids
    assert loaded.tokenizers.fingerprint() == new.fingerprint() != old.fingerprint()
    assert not new.equals(old)
    texts = [source for source, _ in PAIRS]
    found = [Translator([each], new).translate(texts) for each in (model, loaded)]
    assert [each.text for each in found[0]] == [each.text for each in found[1]]


SOURCE = {"pad": 5, "unknown": 0, "start": 7, "end": 2}


@pytest.mark.parametrize(
    "wrong",
    [
        None,
        {},
        {"source": SOURCE},
        {"source": SOURCE, "target": SOURCE, "third": SOURCE},
        {"source": SOURCE, "target": [5, 3, 0, 4]},
        {"source": SOURCE, "target": {**SOURCE, "mask": 9}},
        *({"source": SOURCE, "target": {**SOURCE, "pad": pad}} for pad in (True, "5", -1, 10**12, 0, 2, None)),
        {"source": SOURCE, "target": {**SOURCE, "start": 0}},
    ],
)
def test_wrong_special_ids_are_refused(wrong: object, tmp_path: Path) -> None:
    renumbered(usual(), PADDING_5).save(tmp_path)
    path = tmp_path / "tokenizer.json"
    description = json.loads(path.read_text())
    path.write_text(json.dumps({**description, "special_ids": wrong}))
    with pytest.raises(BundleError, match=r"special id|not a vocabulary"):
        load_tokenizers(tmp_path)


@pytest.mark.parametrize("kind", ["padding 5", "padding starts"])
def test_a_renumbered_model_trains_alike_and_goes_on_to_the_same_bits(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old, new = numbered(kind)
    model = same_start(model_for(old, max_length=64), old, new)
    corpus = write_rows(tmp_path)
    recipe = {"data": settings(corpus)["data"], "training": settings(corpus, max_steps=12, save_every=5)["training"]}
    for name, one, tokenizers in (("old", model, old), ("new", twin(model, old, new), new)):
        save_bundle(tmp_path / f"start-{name}", one, tokenizers, SearchConfig(), facts={})
        train(recipe, tmp_path / name, init_from=tmp_path / f"start-{name}", device="cpu")
    if kind == "padding 5":
        assert losses(tmp_path / "new") == pytest.approx(losses(tmp_path / "old"), rel=1e-3)
    real = Trainer.train_step

    def killed(self: Trainer, batches: list[Batch]) -> None:
        if self.state.progress.step == 8:
            raise Killed
        real(self, batches)

    run = tmp_path / "again"
    with monkeypatch.context() as patch:
        patch.setattr(Trainer, "train_step", killed)
        with pytest.raises(Killed):
            train(recipe, run, init_from=tmp_path / "start-new", device="cpu")
    train(read_recipe(run / "config.yaml"), run, device="cpu")
    assert_same_training(tmp_path / "new", run)
    assert load_bundle(run).tokenizers.special_ids == new.special_ids
