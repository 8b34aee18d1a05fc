"""Batches: every pair once an epoch, whoever asks; the budget kept; the order a function of seed and position."""

import threading
import time
from collections.abc import Generator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from dragoman.data.batch_order import BatchOrder
from dragoman.data.batches import Batch, Batches, Cut, collate
from dragoman.data.drawn_pairs import Drawing
from dragoman.data.prefetch import Prefetch
from dragoman.data.prepare import prepare
from dragoman.data.store import PairStore, Part, StoreWriter, pack
from dragoman.errors import DataError
from dragoman.settings.parsing import parse_config
from dragoman.settings.tokenizer_config import TokenizerConfig
from dragoman.text.learning import learn_tokenizers
from dragoman.text.special_ids import SpecialIds
from dragoman.text.tokenizer import Tokenizers

pytestmark = pytest.mark.torch

PAD_ID, SOS_ID, EOS_ID = SpecialIds().pad, SpecialIds().start, SpecialIds().end

lengths = st.integers(1, 30)
length_pairs = st.lists(st.tuples(lengths, lengths), min_size=1, max_size=60)


@pytest.fixture(scope="module")
def tokenizers() -> Tokenizers:
    words = [("an apple is here", "ein apfel ist da"), ("a banana", "eine banane")]
    return learn_tokenizers(lambda: iter(words), TokenizerConfig(sampling=0.3), "en", "de")


def store_of(folder: Path, pairs: list[tuple[int, int]], tokenizers: Tokenizers) -> PairStore:
    """A store with sentences of the given lengths; each pair's ids tell which pair it is."""
    with StoreWriter(folder, (1000, 1000)) as writer:
        ids = [[[4 + index] * pair[side] for index, pair in enumerate(pairs)] for side in range(2)]
        texts = [["an apple is here"] * len(pairs), ["ein apfel ist da"] * len(pairs)]
        writer.add(pack(ids, texts))
    return PairStore(folder)


def make(folder: Path, pairs: list[tuple[int, int]], tokenizers: Tokenizers, **options: Any) -> Batches:
    store = store_of(folder, pairs, tokenizers)
    chosen = {"batch_tokens": 64, "seed": 1, **options}
    return Batches(store, tokenizers, **chosen)


@given(pairs=length_pairs, seed=st.integers(0, 2**62), budget=st.integers(1, 200))
@settings(max_examples=60)
def test_each_epoch_has_every_pair_once_within_the_budget(
    pairs: list[tuple[int, int]],
    seed: int,
    budget: int,
    tmp_path_factory: pytest.TempPathFactory,
    tokenizers: Tokenizers,
) -> None:
    batches = make(tmp_path_factory.getbasetemp(), pairs, tokenizers, seed=seed, batch_tokens=budget)
    for epoch in range(2):
        seen: list[int] = []
        for number in range(batches.epochs.n_batches):
            indices = batches.pairs(epoch * batches.epochs.n_batches + number).tolist()
            cost = max(max(pairs[index]) + 1 for index in indices)
            assert len(indices) == 1 or len(indices) * cost <= budget
            seen += indices
        assert sorted(seen) == list(range(len(pairs)))


@given(
    pairs=length_pairs,
    position=st.integers(0, 100),
    world_size=st.integers(1, 5),
    budget=st.none() | st.integers(1, 90),
)
@settings(max_examples=60)
def test_the_processes_together_have_the_batch(
    pairs: list[tuple[int, int]],
    position: int,
    world_size: int,
    budget: int | None,
    tmp_path_factory: pytest.TempPathFactory,
    tokenizers: Tokenizers,
) -> None:
    batches = make(tmp_path_factory.getbasetemp(), pairs, tokenizers)
    together: list[int] = []
    for rank in range(world_size):
        pieces = batches.micro_batches(position, Cut(rank, world_size, budget))
        for piece in pieces:
            n_rows, width = len(piece.source_ids), max(piece.source_ids.size(1), piece.target_ids.size(1) - 1)
            assert budget is None or n_rows == 1 or n_rows * width <= budget
            together += [int(row[0]) - 4 for row in piece.source_ids]
            assert [int(row[1]) - 4 for row in piece.target_ids] == together[-n_rows:]
        assert budget is not None or len(pieces) <= 1
    assert sorted(together) == sorted(batches.pairs(position).tolist())


def test_the_order_is_a_function_of_seed_and_position(tmp_path: Path, tokenizers: Tokenizers) -> None:
    pairs = [(1 + index % 9, 1 + index * 7 % 11) for index in range(400)]
    one = make(tmp_path, pairs, tokenizers)
    n_positions = 3 * one.epochs.n_batches
    forwards = [one.pairs(position).tolist() for position in range(n_positions)]
    other = make(tmp_path, pairs, tokenizers)
    assert [other.pairs(position).tolist() for position in reversed(range(n_positions))] == forwards[::-1]
    epochs = [
        {tuple(sorted(batch)) for batch in forwards[start::1][: one.epochs.n_batches]}
        for start in (0, one.epochs.n_batches)
    ]
    assert len(epochs[0] & epochs[1]) < one.epochs.n_batches / 2
    assert make(tmp_path, pairs, tokenizers, seed=2).pairs(0).tolist() != forwards[0]


def test_the_order_is_by_cost_then_by_similar_lengths_with_chance(tmp_path: Path, tokenizers: Tokenizers) -> None:
    """Against NumPy's own sort by several keys, over all pairs at once."""
    generator = np.random.default_rng(3)
    lengths = generator.integers(1, 400, (3000, 2)) // generator.integers(1, 40, (3000, 1)) + 1
    batches = make(tmp_path, [(int(source), int(target)) for source, target in lengths], tokenizers, seed=5)
    source, target = lengths.T
    costs = np.maximum(source, target) + 1
    for epoch in range(2):
        chance = np.random.default_rng((5, epoch))
        key = chance.normal(scale=0.5, size=3000).astype(np.float32) + (source - target).astype(np.float32)
        expected = np.lexsort((np.where(costs % 2 == 1, -key, key), -costs))
        numbers = chance.permutation(batches.epochs.n_batches).tolist()
        found = {
            numbers[place]: batches.pairs(epoch * batches.epochs.n_batches + place)
            for place in range(batches.epochs.n_batches)
        }
        assert (
            np.concatenate([found[number] for number in range(batches.epochs.n_batches)]).tolist() == expected.tolist()
        )


def test_collating() -> None:
    batch = collate([[5, 6, 7], np.array([8], np.uint16)], [[9], [10, 11]])
    assert batch.source_ids.tolist() == [[5, 6, 7, EOS_ID], [8, EOS_ID, PAD_ID, PAD_ID]]
    assert batch.target_ids.tolist() == [[SOS_ID, 9, EOS_ID, PAD_ID], [SOS_ID, 10, 11, EOS_ID]]
    assert batch.source_ids.dtype == batch.target_ids.dtype == torch.int64
    assert isinstance(batch.to(torch.device("cpu")), Batch)
    assert collate([[]], [[]]).source_ids.tolist() == [[EOS_ID]]


def test_batches_whose_sides_are_read_at_one_length_hold_the_same(tmp_path: Path, tokenizers: Tokenizers) -> None:
    batches = make(tmp_path, [(n % 7 + 1, n % 5 + 1) for n in range(60)], tokenizers)
    for position in range(batches.epochs.n_batches):
        (plain,), (even,) = (batches.micro_batches(position, Cut(one_length=each)) for each in (False, True))
        n_source, n_target = plain.source_ids.size(1), plain.target_ids.size(1)
        assert even.source_ids.size(1) == even.target_ids.size(1) - 1 == max(n_source, n_target - 1)
        for narrow, wide in ((plain.source_ids, even.source_ids), (plain.target_ids, even.target_ids)):
            assert torch.equal(wide[:, : narrow.size(1)], narrow)
            assert (wide[:, narrow.size(1) :] == 0).all()


def test_sampled_batches_are_the_same_for_whoever_asks(tmp_path: Path, tokenizers: Tokenizers) -> None:
    sampled = make(tmp_path, [(3, 4)] * 20, tokenizers, drawing=Drawing(sampling=True))
    again = make(tmp_path, [(3, 4)] * 20, tokenizers, drawing=Drawing(sampling=True))
    position = sampled.epochs.n_batches + 1
    whole = sampled.micro_batches(position)[0]
    rows = [
        [int(each) for each in row if each != PAD_ID]
        for rank in range(2)
        for piece in again.micro_batches(position, Cut(rank, 2, 12))
        for row in piece.source_ids
    ]
    assert sorted(rows) == sorted([int(each) for each in row if each != PAD_ID] for row in whole.source_ids)
    assert len({tuple(row) for row in rows}) > 1
    assert {tokenizers.source.decode(row) for row in rows} == {"an apple is here"}
    epochs = [sampled.micro_batches(epoch * sampled.epochs.n_batches)[0].source_ids.tolist() for epoch in range(3)]
    assert epochs[0] != epochs[1] != epochs[2]
    assert sampled.pairs(position).tolist() == make(tmp_path, [(3, 4)] * 20, tokenizers).pairs(position).tolist()


def test_a_pair_is_sampled_by_seed_epoch_pair_and_side_and_by_its_copy(tmp_path: Path, tokenizers: Tokenizers) -> None:
    """A pair that an epoch has once is sampled as in runs of older versions; its copies are sampled anew."""
    store = store_of(tmp_path, [(3, 4)] * 20, tokenizers)
    sides = ((tokenizers.source, "an apple is here"), (tokenizers.target, "ein apfel ist da"))

    def expected(epoch: int, pair: int, *copy: int) -> list[list[int]]:
        return [sampler.sample(text, (7, epoch, pair, side, *copy)) for side, (sampler, text) in enumerate(sides)]

    plain = Batches(store, tokenizers, batch_tokens=64, seed=7, drawing=Drawing(sampling=True))
    weights = (2.5,)
    with StoreWriter(tmp_path, (1000, 1000)) as writer:
        writer.begin(Part("a", "en", "de"))
        writer.add(pack([[[4] * 3] * 20, [[4] * 4] * 20], [["an apple is here"] * 20, ["ein apfel ist da"] * 20]))
    weighed = Batches(
        PairStore(tmp_path), tokenizers, batch_tokens=64, seed=7, drawing=Drawing(sampling=True), weights=weights
    )
    order = BatchOrder(PairStore(tmp_path), batch_tokens=64, seed=7, weights=weights)
    for index in range(weighed.epochs.start(2)):
        draw = order.draw(index)
        drawn = list(zip(draw.pairs.tolist(), draw.copies.tolist(), strict=True))
        for rank in range(2):
            rows = [
                [[int(id) for id in row if id not in (PAD_ID, SOS_ID, EOS_ID)] for row in side]
                for batch in weighed.micro_batches(index, Cut(rank, 2))
                for side in (batch.source_ids, batch.target_ids)
            ]
            wanted = [expected(draw.epoch, pair, *([copy] if copy else [])) for pair, copy in drawn[rank::2]]
            assert list(map(list, zip(*rows, strict=True))) == wanted
    for index in range(plain.epochs.start(2)):
        (batch,) = plain.micro_batches(index)
        rows = [[int(id) for id in row if id not in (PAD_ID, EOS_ID)] for row in batch.source_ids]
        epoch = plain.epochs.find(index)[0]
        assert rows == [expected(epoch, int(pair))[0] for pair in plain.pairs(index)]


def test_sampled_sentences_that_are_too_long_are_used_unsampled(tmp_path: Path, tokenizers: Tokenizers) -> None:
    batches = make(tmp_path, [(3, 4)] * 20, tokenizers, drawing=Drawing(sampling=True, max_length=1))
    for position in range(batches.epochs.n_batches):
        for batch in batches.micro_batches(position):
            assert batch.source_ids.size(1) == 4


def test_no_pairs(tmp_path: Path, tokenizers: Tokenizers) -> None:
    with pytest.raises(DataError, match="no pairs"):
        make(tmp_path, [], tokenizers)


def test_there_is_little_padding(data_folder: Path, tmp_path: Path) -> None:
    config = parse_config({"data": {"corpus": "multi30k"}})
    prepared = prepare(config, tmp_path / "run")
    batches = Batches(prepared.train, prepared.tokenizers, batch_tokens=4096, seed=1)
    for lengths_ in (prepared.train.source_lengths + 1, prepared.train.target_lengths + 1):
        chosen = [lengths_[batches.pairs(position)] for position in range(batches.epochs.n_batches)]
        assert sum(each.sum() for each in chosen) / sum(each.max() * each.size for each in chosen) > 0.94


# -- fetching ahead ----------------------------------------------------------------------------------------------


def counted(number: int, made: list[int] | None = None) -> Generator[int]:
    for each in range(number):
        if made is not None:
            made.append(each)
        yield each


def test_items_come_in_order_and_errors_in_their_place() -> None:
    with Prefetch(counted(100)) as fetched:
        assert list(fetched) == list(range(100))
        assert next(fetched, None) is None

    def failing() -> Generator[int]:
        yield 1
        raise DataError("damaged")

    with Prefetch(failing()) as failed:
        assert next(failed) == 1
        for _ in range(2):
            with pytest.raises(DataError, match="damaged"):
                next(failed)


def test_only_so_many_are_fetched_ahead_and_none_after_the_end() -> None:
    made: list[int] = []
    before = threading.active_count()
    with Prefetch(counted(1000, made), ahead=2) as fetched:
        assert [next(fetched) for _ in range(3)] == [0, 1, 2]
        while not fetched.is_ready:
            time.sleep(0.001)
        time.sleep(0.05)
        assert len(made) <= 3 + 2 + 1
    assert threading.active_count() == before
