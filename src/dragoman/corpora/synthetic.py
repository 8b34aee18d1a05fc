"""Corpora that the project generates: copy, reverse, sort, and captions of everyday scenes in German or Chinese.

The sentence alone decides to which split it belongs, through a hash that is the same on every machine. So splits of
different sizes and seeds never overlap.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from hashlib import blake2b
from types import MappingProxyType
from typing import Final

from dragoman.corpora.caption_drawing import draw
from dragoman.corpora.captions import Sentence
from dragoman.corpora.chinese import read_chinese
from dragoman.errors import ConfigError

Pair = tuple[str, str]

TASKS: Final = ("copy", "reverse", "sort", "captions", "captions-zh")
#: Languages of the captions; their sources are English sentences of one grammar.
CAPTIONS_LANGUAGES: Final[Mapping[str, tuple[str, str]]] = MappingProxyType(
    {"captions": ("en", "de"), "captions-zh": ("en", "zh")}
)

SHOWCASE: Final[tuple[Pair, ...]] = (
    ("A man is riding a horse.", "Ein Mann reitet auf einem Pferd."),
    ("She is reading a book.", "Sie liest ein Buch."),
    ("The cat is sitting on the mat.", "Die Katze sitzt auf der Matte."),
)
"""Captions that belong to no split, so that a demonstration can ask for them unseen."""

SYMBOLS: Final = tuple("abcdefghijklmnopqrst")
LENGTHS: Final = range(3, 13)

_VALIDATION_SHARE = 0.05
_TEST_SHARE = 0.05
_HELD_OUT_SHARE = 0.05
_MOST_PAIRS = 1_000_000
_PATIENCE = 10_000  # draws in a row without a new sentence: the pool is used up

#: Pairs of `standard_corpus` to train on; of captions, the default of `make_corpus`.
_N_STANDARD: Final = 20_000


@dataclass(frozen=True)
class SyntheticCorpus:
    """Pairs of (source, target). No source sentence occurs twice, within a split or across them."""

    train: list[Pair]
    validation: list[Pair]
    test: list[Pair]


def make_corpus(
    task: str, n_train: int = 25_000, n_validation: int = 500, n_test: int = 1_000, seed: int = 1
) -> SyntheticCorpus:
    """Make one of `TASKS`; the same arguments give the same corpus on every machine.

    Of captions, some combinations of known words are held out on purpose (`is_held_out`): sentences with one of them
    are in the test split only, where they are about half.

    Raises:
        ConfigError: an unknown task, a negative number, or more pairs than can be drawn.
    """
    if task not in TASKS:
        raise ConfigError(f"unknown task {task!r}", advice=f"choose one of {', '.join(TASKS)}")
    sizes = {"train": n_train, "validation": n_validation, "test": n_test}
    if min(sizes.values()) < 0:
        raise ConfigError(f"a negative number of pairs in {sizes}", advice="ask for 0 or more of each")
    if sum(sizes.values()) > _MOST_PAIRS:
        raise ConfigError(f"more than {_MOST_PAIRS:,} pairs asked for", advice="ask for fewer pairs")
    draw_pair = partial(_draw_caption, _READERS[task]) if task in _READERS else partial(_draw_sequence, _TARGETS[task])
    return _fill(task, sizes, partial(draw_pair, random.Random(f"{task} {seed}")))


@lru_cache(maxsize=1)
def standard_corpus(task: str) -> SyntheticCorpus:
    """Return the default corpus of a task."""
    return make_corpus(task) if task in CAPTIONS_LANGUAGES else make_corpus(task, _N_STANDARD)


def in_direction(task: str, pairs: Sequence[Pair], source_lang: str, target_lang: str) -> Sequence[Pair]:
    """Return the pairs of a task in the requested direction; only captions have one.

    Raises:
        ConfigError: captions have other languages.
    """
    languages = CAPTIONS_LANGUAGES.get(task)
    if languages is None or (source_lang, target_lang) == languages:
        return pairs
    if (target_lang, source_lang) != languages:
        advice = "use these two, either way round"
        advice += "".join(f"; for {to} there is {name}" for name, (_, to) in CAPTIONS_LANGUAGES.items() if name != task)
        problem = f"{task} are {' and '.join(languages)}, not {source_lang} and {target_lang}"
        raise ConfigError(problem, advice=advice)
    return [(target, source) for source, target in pairs]


def _fill(task: str, sizes: dict[str, int], draw: Callable[[], tuple[Pair, str | None]]) -> SyntheticCorpus:
    drawn: dict[str, dict[str, str]] = {split: {} for split in sizes}
    idle = 0
    while any(len(drawn[split]) < sizes[split] for split in sizes):
        (source, target), split = draw()
        if split and source not in drawn[split] and len(drawn[split]) < sizes[split]:
            drawn[split][source] = target
            idle = 0
        elif (idle := idle + 1) > _PATIENCE:
            raise ConfigError(f"no new {task} pair in {_PATIENCE:,} attempts", advice="ask for fewer pairs")
    return SyntheticCorpus(**{split: list(pairs.items()) for split, pairs in drawn.items()})


# ------------------------------------------------------------------------------------------------------- splits


def is_held_out(first: str, second: str) -> bool:
    """Return True if two words are kept from training together: a subject noun and its verb, a colour and its noun."""
    return _hash_share(f"{first} + {second}") < _HELD_OUT_SHARE


def _hash_share(text: str) -> float:
    """Return a number from 0 to 1 that depends on the text alone (Python's own `hash` differs between processes)."""
    return int.from_bytes(blake2b(text.encode(), digest_size=6).digest(), "big") / 2**48


def _split_of(source: str) -> str:
    share = _hash_share(source)
    if share < _TEST_SHARE:
        return "test"
    return "validation" if share < _TEST_SHARE + _VALIDATION_SHARE else "train"


_READERS: Final[Mapping[str, Callable[[Sentence], str]]] = MappingProxyType(
    {"captions": Sentence.german, "captions-zh": read_chinese}
)


def _draw_caption(read: Callable[[Sentence], str], generator: random.Random) -> tuple[Pair, str | None]:
    sentence = draw(generator)
    source = sentence.english()
    if any(source == shown for shown, _ in SHOWCASE):
        split = None
    elif any(is_held_out(*combination) for combination in sentence.combinations()):
        split = "test"
    else:
        split = _split_of(source)
    return (source, read(sentence)), split


# ---------------------------------------------------------------------------------------- copy, reverse and sort

_TARGETS: Final[dict[str, Callable[[list[str]], list[str]]]] = {
    "copy": list,
    "reverse": lambda symbols: symbols[::-1],
    "sort": sorted,
}


def _draw_sequence(transform: Callable[[list[str]], list[str]], generator: random.Random) -> tuple[Pair, str]:
    symbols = generator.choices(SYMBOLS, k=generator.choice(LENGTHS))
    source = " ".join(symbols)
    return (source, " ".join(transform(symbols))), _split_of(source)
