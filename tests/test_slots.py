"""Slots of weighted parts: each pair as often as its weight says, within the budget; epochs of stages."""

from collections import Counter
from fractions import Fraction
from math import ceil, floor
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dragoman.data.batch_order import BatchOrder
from dragoman.data.epochs import Epochs
from dragoman.data.slots import Slots
from dragoman.data.store import PairStore, Part, StoreWriter, pack
from dragoman.errors import BundleError, DataError

sizes = st.lists(st.integers(0, 12), min_size=1, max_size=4)
weights = st.sampled_from([0.0, 0.25, 0.3, 0.5, 0.7, 0.99, 1.0, 1.5, 2.0, 3.25])


def store_of(folder: Path, sizes: list[int], seed: int = 0) -> PairStore:
    """A store with a part of each size, of sentences of random lengths."""
    generator = np.random.default_rng(seed)
    with StoreWriter(folder, (1000, 1000)) as writer:
        for number, size in enumerate(sizes):
            writer.begin(Part(f"part{number}", "en", "de"))
            ids = [[[4] * int(length) for length in generator.integers(1, 30, size)] for _ in range(2)]
            writer.add(pack(ids, [["a"] * size] * 2))
    return PairStore(folder)


def costs_of(store: PairStore) -> "np.ndarray[tuple[int], np.dtype[np.int32]]":
    return np.maximum(store.source_lengths, store.target_lengths) + 1


@given(sizes=sizes, chosen=st.lists(weights, min_size=4, max_size=4), first=st.integers(0, 50), seed=st.integers(0, 9))
@settings(max_examples=100)
def test_each_pair_is_seen_as_often_as_its_weight_says(
    sizes: list[int], chosen: list[float], first: int, seed: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    store = store_of(tmp_path_factory.getbasetemp(), sizes, seed)
    costs = costs_of(store)
    slots = Slots(costs, sizes, chosen[: len(sizes)], seed)
    bounds = np.cumsum([0, *sizes]).tolist()
    rates: list[Fraction] = []
    for size, weight in zip(sizes, chosen, strict=False):
        whole, shared = divmod(Fraction(str(weight)), 1)
        # The rest of a weight is rounded to a whole number of pairs, and to no less than one of a weight below 1.
        n_shared = round(float(shared) * size) or int(0 < weight < 1 and size > 0)
        rates += [whole + (Fraction(n_shared, size) if size else 0)]
    seen: Counter[int] = Counter()
    for done in range(1, max(sizes) + 1):
        pairs, copies = slots.filling(first + done - 1)
        assert (slots.costs >= costs[pairs]).all()
        assert len(set(zip(pairs.tolist(), copies.tolist(), strict=True))) == len(pairs)
        seen.update(pairs.tolist())
        for part, rate in enumerate(rates):
            for pair in range(bounds[part], bounds[part + 1]):
                assert floor(rate * done) <= seen[pair] <= ceil(rate * done)
                if done == sizes[part]:
                    assert seen[pair] == rate * done


def test_pairs_that_take_turns_cost_about_the_same(tmp_path: Path) -> None:
    store = store_of(tmp_path, [5000])
    costs = costs_of(store)
    slots = Slots(costs, [5000], [0.3], 1)
    assert len(slots.costs) == 1500
    wasted = [1 - costs[slots.filling(epoch)[0]].sum() / slots.costs.sum() for epoch in range(10)]
    assert max(wasted) < 0.01


def test_pairs_of_one_cost_take_turns_at_random(tmp_path: Path) -> None:
    """A corpus that is sorted by topic has all topics in each epoch."""
    slots = Slots(np.full(1000, 7, np.int32), [1000], [0.1], 1)
    pairs = slots.filling(0)[0].astype(int)
    assert set(np.bincount(pairs // 250).tolist()).isdisjoint({0})
    assert len({int(pair) % 10 for pair in pairs}) == 10
    assert Slots(np.full(1000, 7, np.int32), [1000], [0.1], 2).filling(0)[0].tolist() != pairs.tolist()


@given(
    sizes=sizes,
    part_weights=st.lists(weights, min_size=4, max_size=4),
    budget=st.integers(1, 200),
    seed=st.integers(0, 2**62),
)
@settings(max_examples=60)
def test_batches_keep_the_budget_and_have_the_slots(
    sizes: list[int],
    part_weights: list[float],
    budget: int,
    seed: int,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    store = store_of(tmp_path_factory.getbasetemp(), sizes)
    chosen = tuple(part_weights[: len(sizes)])
    slots = Slots(costs_of(store), sizes, chosen, seed)
    if not len(slots.costs):
        with pytest.raises(DataError, match="no pairs"):
            BatchOrder(store, batch_tokens=budget, seed=seed, weights=chosen)
        return
    order = BatchOrder(store, batch_tokens=budget, seed=seed, weights=chosen)
    costs, index = costs_of(store), 0
    for epoch in range(5):
        drawn: list[tuple[int, int]] = []
        assert order.epochs.start(epoch) == index
        for _ in range(order.epochs.n_batches):
            draw = order.draw(index)
            assert draw.epoch == epoch
            assert len(draw.pairs) == 1 or len(draw.pairs) * costs[draw.pairs].max() <= budget
            drawn += zip(draw.pairs.tolist(), draw.copies.tolist(), strict=True)
            index += 1
        pairs, copies = slots.filling(epoch)
        assert sorted(drawn) == sorted(zip(pairs.tolist(), copies.tolist(), strict=True))


def test_a_batch_is_a_function_of_seed_and_index(tmp_path: Path) -> None:
    store = store_of(tmp_path, [300, 200])
    one, other = (BatchOrder(store, batch_tokens=200, seed=3, weights=(0.4, 2.5)) for _ in range(2))
    n_batches = one.epochs.start(4)
    forwards = [one.draw(index).pairs.tolist() for index in range(n_batches)]
    assert [other.draw(index).pairs.tolist() for index in reversed(range(n_batches))] == forwards[::-1]


def test_weights_of_one_change_nothing(tmp_path: Path) -> None:
    store = store_of(tmp_path, [300, 200])
    plain = BatchOrder(store, batch_tokens=200, seed=3)
    weighed = BatchOrder(store, batch_tokens=200, seed=3, weights=(1.0, 1.0))
    indices = range(plain.epochs.start(2))
    assert [plain.draw(n).pairs.tolist() for n in indices] == [weighed.draw(n).pairs.tolist() for n in indices]


@given(size=st.integers(1, 7))
def test_epochs_against_a_list(size: int) -> None:
    epochs = Epochs(size)
    places = [(epoch, number) for epoch in range(5) for number in range(size)]
    assert [epochs.find(index) for index in range(len(places))] == places
    assert [epochs.start(epoch) for epoch in range(5)] == [epoch * size for epoch in range(5)]
    assert [epochs.done(index) for index in range(len(places))] == [epoch + number / size for epoch, number in places]


def test_parts_of_a_store(tmp_path: Path) -> None:
    store = store_of(tmp_path, [3, 0, 2])
    assert [(part.name, part.n_pairs, part.direction) for part in store.parts] == [
        ("part0", 3, "en-de"),
        ("part1", 0, "en-de"),
        ("part2", 2, "en-de"),
    ]
    index = tmp_path / "index.json"
    for wrong in ('"n_pairs": 1', '"n_pairs": -3', '"nothing": 3', '"n_pairs": "x"'):
        index.write_text(index.read_text().replace('"n_pairs": 3', wrong))
        with pytest.raises(BundleError, match="do not fit"):
            PairStore(tmp_path)
        index.write_text(index.read_text().replace(wrong, '"n_pairs": 3'))
