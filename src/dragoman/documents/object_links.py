"""Objects with a text, such as a field: each is linked to its own text in the translation, and to nothing else."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from dragoman.alignment.links import Link
from dragoman.alignment.word_spans import touching, words_in_place
from dragoman.text.protection import Stretch, occurrences

#: More are left to the alignment: each takes a pass over both texts.
_MOST = 200


def with_objects(
    source: str, translation: str, alignment: Iterable[Link] | None, objects: Sequence[Stretch]
) -> list[Link]:
    """Return an alignment of words, or one by proportion, with links for objects.

    The n-th copy of a text belongs to the n-th one of the source, if both have as many, else to the next object.

    Args:
        objects: their places in the source.
    """
    before, after = words_in_place(source), words_in_place(translation)
    links = [(number * len(before) // len(after), number) for number in range(len(after))] if before else []
    links = links if alignment is None else [*alignment]
    own: dict[int, set[int]] = {}
    taken: set[Stretch] = set()
    for start, end in objects[:_MOST]:
        copies, places = occurrences(source, source[start:end]), occurrences(translation, source[start:end])
        free = [place for place in places if place not in taken]
        if not free:
            continue
        is_same = len(copies) == len(places) and (start, end) in copies
        place = places[[*copies].index((start, end))] if is_same else free[0]
        taken.add(place)
        words = set(touching(before, (start, end)))
        for word in touching(after, place):
            own[word] = own.get(word, set()) | words
    theirs = {word for words in own.values() for word in words}
    kept = [link for link in links if link[0] not in theirs and link[1] not in own]
    return kept + [(word, target) for target, words in own.items() for word in sorted(words)]
