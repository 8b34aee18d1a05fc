"""Models that Marian's own code made: scores and greedy translations are its own."""

import gzip
import os
import struct
from pathlib import Path

import numpy as np
import pytest
import torch
from marian_program import PYTHON, REASON, greedy, marian, scores, train

from dragoman.bundle.bundle import Bundle
from dragoman.imports.marian import import_marian
from dragoman.imports.marian_short_list import read_marian_short_list

pytestmark = [pytest.mark.torch, pytest.mark.skipif(not PYTHON, reason=REASON)]

SSRU = ("--transformer-decoder-autoreg", "rnn", "--dec-cell", "ssru")
PRE_NORM = (
    *("--transformer-preprocess", "n"),
    *("--transformer-postprocess", "da"),
    *("--transformer-postprocess-top", "n"),
)
#: Two steps leave the weights almost random.
SHAPES: dict[str, tuple[int, tuple[str, ...]]] = {
    "random": (2, ("--tied-embeddings-all",)),
    "random, pre-norm": (2, (*PRE_NORM, "--tied-embeddings-src", "--transformer-ffn-activation", "relu")),
    "random SSRU": (2, (*SSRU, "--tied-embeddings", "--transformer-ffn-activation", "gelu")),
    "random SSRU, pre-norm": (2, (*SSRU, *PRE_NORM)),
    "trained": (150, ("--tied-embeddings-all",)),
    "trained SSRU": (150, (*SSRU, "--tied-embeddings-all")),
}
#: Of a log-probability.
TOLERANCE = 1e-4


def captions(count: int) -> tuple[list[str], list[str]]:
    """Captions of Multi30k in English and German."""
    folder = Path(os.environ.get("DRAGOMAN_DATA", "")) / "multi30k"
    if not folder.is_dir():
        pytest.skip("needs Multi30k: set DRAGOMAN_DATA")
    texts = [gzip.decompress((folder / f"train.{language}.gz").read_bytes()).decode() for language in ("en", "de")]
    first, second = (text.splitlines()[:count] for text in texts)
    return first, second


@pytest.fixture(scope="module", params=[*SHAPES])
def trained(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    n_steps, options = SHAPES[request.param]
    folder: Path = tmp_path_factory.mktemp("marian") / "model"
    train(folder, captions(2_000), n_steps, *options)
    return folder


def log_probabilities(bundle: Bundle, source: str, target_ids: list[int]) -> torch.Tensor:
    """Return those of all tokens in the place of each target id, and of the end: (T, V)."""
    ids = bundle.tokenizers.source.encode(source), bundle.tokenizers.target.special_ids.start
    sources = torch.tensor([[*ids[0], bundle.tokenizers.source.special_ids.end]])
    with torch.inference_mode():
        return bundle.model(sources, torch.tensor([[ids[1], *target_ids]]))[0].double().log_softmax(-1)


def test_scores_are_theirs(trained: Path) -> None:
    bundle, (sources, targets) = import_marian(trained), captions(60)
    end, ours = bundle.tokenizers.target.special_ids.end, []
    for source, target in zip(sources, targets, strict=True):
        ids = bundle.tokenizers.target.encode(target)
        values = log_probabilities(bundle, source, ids)
        ours.append(float(values[range(len(ids) + 1), [*ids, end]].sum()))
    theirs = scores(trained, sources, targets)
    differences = np.abs(np.array(ours) - theirs)
    assert (differences < 1e-6 * np.abs(theirs) + 1e-5).all()  # they are sums of 32-bit numbers
    assert np.median(differences) < TOLERANCE / 4


def test_greedy_translations_are_theirs(trained: Path) -> None:
    """Except where both tokens have the same probability, to `TOLERANCE`. Each token of theirs is our best one.

    In a pre-norm model with self-attention, Marian's search reads earlier tokens without their norm, and its training
    and scores read them with it, as we do.
    """
    if "decoder_l1_self_Wo_ln_scale_pre" in np.load(trained / "model.npz"):
        pytest.skip("Marian's search does not compute what its training does")
    bundle, sources = import_marian(trained), captions(2_000)[0][1_000:]
    target = bundle.tokenizers.target
    numbers = {piece: id for id, piece in enumerate(target.vocabulary.pieces(range(target.vocab_size)))}
    wrong = []
    for source, pieces in zip(sources, greedy(trained, sources), strict=True):
        ids = [numbers.get(piece, target.special_ids.unknown) for piece in pieces]
        values = log_probabilities(bundle, source, ids)
        is_cut = len(ids) >= 2 * (len(bundle.tokenizers.source.encode(source)) + 1)
        theirs = values[range(len(ids)), ids] if is_cut else values[range(len(ids) + 1), [*ids, target.special_ids.end]]
        gaps = values[: len(theirs)].max(-1).values - theirs
        if gaps.max() > TOLERANCE:
            wrong.append((source, pieces))
    assert not wrong


@pytest.mark.parametrize("kind", ["float32", "intgemm8"])
def test_what_their_converter_writes_is_read(kind: str, tmp_path: Path) -> None:
    train(tmp_path / "model", captions(200), 2, *SSRU, "--tied-embeddings-all")
    plain = import_marian(tmp_path / "model").weights
    marian(tmp_path / "model", "convert", "-f", "model.npz", "-t", "model.bin", "-g", kind)
    (tmp_path / "model" / "model.npz").unlink()
    (tmp_path / "model" / "model.npz.optimizer.npz").unlink()
    packed = import_marian(tmp_path / "model").weights
    for name, weight in plain.items():
        step = np.abs(weight).max() / 127
        assert np.abs(weight - packed[name]).max() <= (0.5001 * step if kind == "intgemm8" else 0)


def test_their_binary_short_list_is_that_of_the_text(tmp_path: Path) -> None:
    train(tmp_path / "model", captions(200), 2, *SSRU, "--tied-embeddings-all")
    folder, tokenizers = tmp_path / "model", import_marian(tmp_path / "model").tokenizers
    draw, pieces = np.random.default_rng(1), tokenizers.source.vocabulary.words
    lines = [f"{draw.choice(pieces)} {piece} {draw.random():.6f}\n" for piece in pieces for _ in range(9)]
    (folder / "lex.s2t").write_text("".join(lines))
    vocabularies = "vocab.ende.spm", "vocab.ende.spm"
    marian(folder, "convert", "-s", "lex.s2t", "20", "5", "0", "-d", "lex.s2t.bin", "-V", *vocabularies)
    assert struct.unpack("<Q", (folder / "lex.s2t.bin").read_bytes()[:8]) == (0xF11A48D5013417F5,)
    lists = [read_marian_short_list(folder / name, tokenizers, (20, 5)) for name in ("lex.s2t", "lex.s2t.bin")]
    for id in range(tokenizers.source.vocab_size - 1):
        first, second = (each.ids([id], "de").tolist() for each in lists)
        assert first == second
