"""Faults of a translation, on made loops and on what people wrote."""

import gzip
import itertools
from collections.abc import Callable, Sequence
from pathlib import Path
from zlib import crc32

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.bundle.bundle import load_bundle
from dragoman.decoding.faults import FaultFinder, most_repeats

Encode = Callable[[str], Sequence[int]]

WORDS = st.lists(st.integers(4, 200), min_size=1, max_size=30)
#: Few different tokens, so that many repeat.
SYMBOLS = st.lists(st.integers(4, 7), min_size=1, max_size=60)


def find(source: Sequence[int], target: Sequence[int], prefix: Sequence[int] = ()) -> tuple[str, ...]:
    return FaultFinder(source, prefix).find(target)


@given(ids=st.lists(st.integers(4, 6), max_size=14), period=st.integers(1, 5))
def test_repeats_are_those_of_a_search_through_everything(ids: list[int], period: int) -> None:
    def count(start: int) -> int:
        stretch = ids[start : start + period]
        times = itertools.count(1)
        return next(
            n - 1 for n in times if ids[start : start + n * period] != stretch * n or start + n * period > len(ids)
        )

    starts = [start for start in range(len(ids)) if period == 1 or len(set(ids[start : start + period])) > 1]
    assert most_repeats(ids, period) == max(map(count, starts), default=0)


@given(
    source=st.lists(st.integers(4, 200), min_size=1, max_size=30, unique=True),
    before=WORDS,
    stretch=st.lists(st.integers(300, 320), min_size=1, max_size=8, unique=True),
    n_more=st.integers(0, 30),
    after=WORDS,
)
def test_made_loops_are_found(
    source: list[int], before: list[int], stretch: list[int], n_more: int, after: list[int]
) -> None:
    n_times = max(5, -(-10 // len(stretch))) + n_more
    assert "repetition" in find(source, [*before, *stretch * n_times, *after])
    assert "repetition" not in find(source, [*range(400, 410), *stretch * 4, *range(410, 420)])


@given(source=SYMBOLS, data=st.data())
def test_what_repeats_as_its_source_does_is_no_loop(source: list[int], data: st.DataObject) -> None:
    """Copied, reversed, sorted, shuffled, or each token written as several others."""
    several = {id: [1000 + id, 2000, *range(3000, 3000 + id)] for id in source}
    spaced = [token for id in source for token in (id, 3)]
    ordered = [token for id in sorted(source) for token in (id, 3)]
    assert find(spaced, ordered) == ()
    shuffled = data.draw(st.permutations(source))
    for target in (source, source[::-1], sorted(source), shuffled, [token for id in source for token in several[id]]):
        assert "repetition" not in find(source, target)


@given(prefix=SYMBOLS, more=st.integers(0, 8))
def test_what_was_asked_for_is_not_held_against_a_translation(prefix: list[int], more: int) -> None:
    assert "repetition" not in find([10, 11, 12], [*prefix, *prefix[-1:] * more], prefix)
    assert find([10, 11, 12], prefix, prefix) == ()


def test_nothing_and_lengths_beyond_reason_are_flagged() -> None:
    assert find([5], []) == find([5] * 90, []) == ("length",)
    assert find([5], range(100, 141)) == find(range(100), [5, 6]) == ("length",)
    assert find([5], range(100, 130)) == find(range(100), range(20)) == find(range(24), [5]) == ()
    assert FaultFinder(range(100), ()).find([5, 6], is_cut=True) == ()
    assert FaultFinder([], ()).find([]) == ()


# --- what people wrote -----------------------------------------------------------------------------------------------

#: What repeats because its source does, or because that is how it is written.
HONEST = [
    ("ha ha ha ha ha ha", "ha ha ha ha ha ha"),
    ("哈哈哈哈哈哈", "ha ha ha ha ha ha"),
    ("不不不不不不", "no, no, no, no, no, no"),
    ("no no no no no no no no", "nein nein nein nein nein nein nein nein"),
    ("----------------", "----------------"),
    ("!!!!!!!!!!!!!", "！！！！！！！！！！！！！"),
    ("……", "......"),
    ("10 000 000", "10,000,000"),
    ("一万亿", "1,000,000,000,000"),
    ("one trillion", "1 000 000 000 000"),
    ("aaaaaaaaaaaaaaaaaaaa", "aaaaaaaaaaaaaaaaaaaa"),
    ("b a b a b a b a b a b a", "a a a a a a b b b b b b"),
    ("very very very very very good", "sehr sehr sehr sehr sehr gut"),
    ("1 1 1 1 1 1 1 1 1 1 1 1", "1 1 1 1 1 1 1 1 1 1 1 1"),
    ("Go.", "Geh doch jetzt bitte!"),
]


def tokenizations() -> dict[str, tuple[Encode, Encode]]:
    """Ways to cut a text and its translation."""

    def words(text: str) -> list[int]:
        return [crc32(word.encode()) for word in text.split()]

    def characters(text: str) -> list[int]:
        return list(map(ord, text))

    def in_bytes(text: str) -> list[int]:
        return list(text.encode())

    shipped = {name: load_bundle(name).tokenizers for name in ("multi30k-en-de", "multi30k-en-fr")}
    return {
        "words": (words, words),
        "characters": (characters, characters),
        "bytes": (in_bytes, in_bytes),
        **{name: (each.source.encode, each.target.encode) for name, each in shipped.items()},
    }


@pytest.fixture(scope="module")
def encoders() -> dict[str, tuple[Encode, Encode]]:
    return tokenizations()


@pytest.mark.captions
@pytest.mark.parametrize("pair", HONEST)
def test_honest_repetitions_are_not_flagged(pair: tuple[str, str], encoders: dict[str, tuple[Encode, Encode]]) -> None:
    for name, (of_source, of_target) in encoders.items():
        for source, target in (pair, pair[::-1]):
            assert find(of_source(source), of_target(target)) == (), name


@pytest.mark.captions
@pytest.mark.parametrize(
    ("corpus", "languages"),
    [
        ("multi30k", ("en", "de")),
        ("multi30k", ("en", "fr")),
        ("tatoeba-en-de", ("en", "de")),
        ("tatoeba-en-fr", ("en", "fr")),
        ("tatoeba-zh-en", ("zh", "en")),
    ],
)
def test_human_translations_are_not_flagged(
    corpus: str, languages: tuple[str, str], encoders: dict[str, tuple[Encode, Encode]], data_folder: Path
) -> None:
    def lines(language: str) -> list[str]:
        with gzip.open(data_folder / corpus / f"val.{language}.gz", "rt", encoding="utf-8", newline="\n") as file:
            return [line.rstrip("\n") for line in file][:2000]

    pairs = list(zip(*map(lines, languages), strict=True))
    for name, (of_source, of_target) in encoders.items():
        for source, target in [*pairs, *((target, source) for source, target in pairs)]:
            assert find(of_source(source), of_target(target)) == (), (name, source, target)
