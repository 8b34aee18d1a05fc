"""New names: from lists of many countries, and made up of syllables, so that a model learns to copy letters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from numpy.random import Generator

from dragoman.data.augmentation.name_lists import FAMILY, FEMALE, MALE, PLACES, NameKind
from dragoman.data.perturbations.picking import pick

_LISTS: Mapping[NameKind, Sequence[str]] = {"female": FEMALE, "male": MALE, "person": MALE + FEMALE, "place": PLACES}
_KNOWN: Mapping[str, NameKind] = {
    **dict.fromkeys(FAMILY, "person"),
    **dict.fromkeys(PLACES, "place"),
    **dict.fromkeys(MALE, "male"),
    **dict.fromkeys(FEMALE, "female"),
}
_SIMPLE = "b c d f g h j k l m n p r s t v w z"
_ONSETS = f"{_SIMPLE} {_SIMPLE} {_SIMPLE} br ch cr dr fl fr gl gr kl kr ny pl pr qu sch sh sk st th tr ts x y zh"
_VOWELS = f"{'a e i o u ' * 5} ai au ee ei ie oa ou y"
_ACCENTED = "ä ö ü é è á í ó ú ø å ñ ç š ł"
_CODAS = "l m n r s t k n r l s x b d g p f z ck ff ll nd ng nk nt rd rt ss st tz"
_PARTS = tuple(tuple(part.split()) for part in (_ONSETS, _VOWELS, _CODAS, _ACCENTED))
_PLACE_ENDS = (
    "burg",
    "ville",
    "ton",
    "stadt",
    "ford",
    "grad",
    "dorf",
    "heim",
    "mouth",
    "sk",
    "nagar",
    "berg",
    "a",
    "o",
)
_PLACE_STARTS = ("New", "San", "Bad", "Port", "Fort", "Saint", "El", "Los", "Santa", "Mount", "Kota")


def known_kind(name: str) -> NameKind | None:
    """Return the kind of a name of the lists; None for any other word."""
    return _KNOWN.get(name)


def draw_name(kind: NameKind, generator: Generator) -> str:
    """Return a name of one word or two, from the lists or made up."""
    chance = generator.random()
    if kind == "place":
        return _draw_place(chance, generator)
    if chance < 0.45:
        return pick(_LISTS[kind], generator)
    if chance < 0.8:
        return _with_ending(_invented_name(generator), kind, generator)
    first = pick(_LISTS[kind], generator) if chance < 0.93 else _with_ending(_invented_name(generator), kind, generator)
    last = pick(FAMILY, generator) if chance < 0.87 else _invented_name(generator).capitalize()
    return f"{first} {last}"


def _draw_place(chance: float, generator: Generator) -> str:
    if chance < 0.5:
        return pick(PLACES, generator)
    if chance < 0.85:
        return (_invented_name(generator) + pick(_PLACE_ENDS, generator)).capitalize()
    return f"{pick(_PLACE_STARTS, generator)} {_invented_name(generator).capitalize()}"


def _with_ending(word: str, kind: NameKind, generator: Generator) -> str:
    """Return a made-up name that ends as many women's names do, if it is for one."""
    return (word + pick(("a", "e", "ia", "ina", "i"), generator) if kind == "female" else word).capitalize()


def invented_word(generator: Generator) -> str:
    """Return one to four syllables in small letters of ASCII, mostly two."""
    onsets, vowels, codas, _ = _PARTS
    n_syllables = pick((1, 2, 2, 2, 2, 2, 3, 3, 4), generator)
    parts = [pick(vowels, generator)] if n_syllables > 1 and generator.random() < 0.2 else []
    for number in range(n_syllables):
        parts += [pick(onsets, generator), pick(vowels, generator)]
        if generator.random() < (0.6 if number == n_syllables - 1 else 0.2):
            parts.append(pick(codas, generator))
    return "".join(parts)


def _invented_name(generator: Generator) -> str:
    """Return a made-up word, in one of ten cases with a letter that English lacks."""
    word = invented_word(generator)
    if generator.random() < 0.9:
        return word
    place = int(generator.random() * (len(word) + 1))
    return word[:place] + pick(_PARTS[3], generator) + word[place + (generator.random() < 0.7) :]
