"""The corpora of a training: their texts, their languages and directions, and their weights."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest

from dragoman.data.checks.markup import cleaned
from dragoman.data.corpus import Split, available_splits, languages, read_pairs
from dragoman.data.parallel_text import ParallelText
from dragoman.data.slots import pairs_in_epoch
from dragoman.data.store import Part
from dragoman.errors import ConfigError, counted
from dragoman.settings.corpus_config import MOST_TIMES, corpus_names
from dragoman.settings.data_config import DataConfig
from dragoman.text.tags import UNKNOWN, Direction


@dataclass(frozen=True)
class Corpus:
    """One corpus of a training, and its text by split. The only corpus of a training has no name."""

    name: str
    data: DataConfig
    texts: Mapping[str, ParallelText]
    languages: tuple[str, str]
    both_ways: bool = False
    #: The name of a tag that sources begin with.
    tag: str | None = None
    #: True if pairs are held out where there is no validation text.
    may_hold_out: bool = True

    @property
    def directions(self) -> tuple[Direction, ...]:
        """(source language, target language) of each direction that is trained."""
        return (self.languages, self.languages[::-1]) if self.both_ways else (self.languages,)

    def label(self, line: str) -> str:
        """Return a line for people that begins with the name; "warning: " stays in front, and so does indentation."""
        if not self.name or line.startswith(" "):
            return line
        text = line.removeprefix("warning: ")
        return f"{'' if text == line else 'warning: '}{self.name}: {text}"


def open_corpora(data: DataConfig) -> list[Corpus]:
    """Open the text of each corpus, cleaned as the settings ask.

    Nothing is held out of a corpus if other corpora without a tag have validation text for all its directions, and
    nothing of one with a tag if others without a tag have its direction: people's text says more than a machine's.
    Where pairs are held out of several corpora, `validation_size` is shared equally among them.

    Raises:
        ConfigError: as `read_pairs`; or the languages of a corpus of several are not known, or its tag is a language's.
        DataError: as `read_pairs`.
    """
    if not data.corpora:
        return [Corpus("", data, _texts(data), languages(data))]
    corpora = [
        Corpus(name, one, _texts(one), _known(name, one), settings.both_ways, settings.tag)
        for (name, one), settings in zip(data.each(), data.corpora, strict=True)
    ]
    _refuse_tags_of_languages(corpora)
    untagged = {direction for corpus in corpora if corpus.tag is None for direction in corpus.directions}
    validated = {
        each for corpus in corpora if corpus.tag is None and "validation" in corpus.texts for each in corpus.directions
    }
    may_hold_out = [
        not (validated if corpus.tag is None else untagged).issuperset(corpus.directions) for corpus in corpora
    ]
    n_without = sum(may and "validation" not in corpus.texts for may, corpus in zip(may_hold_out, corpora, strict=True))
    size = {"validation_size": max(1, data.validation_size // max(1, n_without))}
    return [
        replace(corpus, data=corpus.data.model_copy(update=size), may_hold_out=may)
        for may, corpus in zip(may_hold_out, corpora, strict=True)
    ]


def _refuse_tags_of_languages(corpora: Sequence[Corpus]) -> None:
    codes = {code for corpus in corpora for code in corpus.languages}
    for corpus in corpora:
        if corpus.tag in codes:
            problem = f"the tag of the corpus {corpus.name} is that of a language, {corpus.tag!r}"
            raise ConfigError(problem, advice="give another tag, such as bt")


def _texts(data: DataConfig) -> dict[str, ParallelText]:
    splits: tuple[Split, ...] = ("train", *available_splits(data))
    return {split: cleaned(read_pairs(data, split), data.clean) for split in dict.fromkeys(splits)}


def directions(data: DataConfig) -> tuple[Direction, ...]:
    """Return each direction that the settings train, once; without names or content of files "und" may be in it.

    Raises:
        ConfigError: the languages of a corpus of several are not known.
    """
    if not data.corpora:
        return (languages(data),)
    found: list[Direction] = []
    for (name, one), corpus in zip(data.each(), data.corpora, strict=True):
        source, target = _known(name, one)
        found += [(source, target), (target, source)] if corpus.both_ways else [(source, target)]
    return tuple(dict.fromkeys(found))


def _known(name: str, data: DataConfig) -> tuple[str, str]:
    source, target = languages(data)
    if UNKNOWN in (source, target) or source == target:
        are = f"are both {source}" if source == target != UNKNOWN else "are not known"
        raise ConfigError(f"the languages of the corpus {name} {are}", advice="give its source_lang and target_lang")
    return source, target


def planned_text(data: DataConfig) -> tuple[int, ParallelText]:
    """Return the number of pairs in an epoch, and text that begins with pairs of all corpora.

    Raises:
        ConfigError, DataError: as `read_pairs`.
    """
    if not data.corpora:
        text = read_pairs(data, "train")
        return text.count(), text
    texts = [read_pairs(one, "train") for _, one in data.each()]
    parts = [
        (text, Part(name, *direction, n_pairs))
        for (name, one), corpus, text in zip(data.each(), data.corpora, texts, strict=True)
        for n_pairs in (text.count(),)
        for direction in (_known(name, one), _known(name, one)[::-1])[: 1 + corpus.both_ways]
    ]
    weights = part_weights(data, [part for _, part in parts])
    n_pairs = sum(weight * part.n_pairs for weight, (_, part) in zip(weights, parts, strict=True))
    name = ", ".join(text.name for text in texts)
    return round(n_pairs), ParallelText.of_pairs(name, lambda: _in_turn(texts))


def _in_turn(texts: Sequence[ParallelText]) -> Iterator[tuple[str, str]]:
    """Yield a pair of each text, then the next of each."""
    for pairs in zip_longest(*texts):
        yield from (pair for pair in pairs if pair is not None)


def part_weights(data: DataConfig, parts: Sequence[Part]) -> tuple[float, ...]:
    """Return the weights of the parts of a store; none for a corpus that is no mixture.

    With a temperature T, a part of n pairs counts as n^(1/T) (Arivazhagan et al. 2019, section 4), and an epoch has as
    many pairs as without; but no pair more than 1,000 times.
    """
    if not data.corpora:
        return ()
    if data.temperature == 1:
        named = dict(zip(corpus_names(data.corpora), (corpus.weight for corpus in data.corpora), strict=True))
        return tuple(named[part.name] for part in parts)
    shares = [part.n_pairs ** (1 / data.temperature) for part in parts]
    scale = sum(part.n_pairs for part in parts) / max(1.0, sum(shares))
    return tuple(
        min(MOST_TIMES, scale * share / max(1, part.n_pairs)) for share, part in zip(shares, parts, strict=True)
    )


def describe_epoch(data: DataConfig, parts: Sequence[Part]) -> list[str]:
    """Return a line for people about the pairs in an epoch; none for a corpus that is no mixture."""
    if not data.corpora:
        return []
    weights = part_weights(data, parts)
    sizes = [pairs_in_epoch(part.n_pairs, weight) for part, weight in zip(parts, weights, strict=True)]
    listed = ", ".join(f"{_label(part)} {size:,}" for part, size in zip(parts, sizes, strict=True))
    return [f"an epoch has {counted(sum(sizes), 'pair')}: {listed}"]


def _label(part: Part) -> str:
    """Return the name of a part's corpus, with the direction if the name is not its languages."""
    return part.name if part.name == part.direction else f"{part.name} ({part.direction})"
