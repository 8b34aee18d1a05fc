"""Made-up spans that translations keep character by character: placeholders, addresses, mentions, code."""

from __future__ import annotations

from collections.abc import Callable

from numpy.random import Generator

from dragoman.data.augmentation.names import invented_word
from dragoman.data.perturbations.picking import pick

_FIELD_NAMES = """
name user username first_name last_name count total date time city email title id order_id amount price file url link
code item items product company n x 0 1 2 value key token year day month number status
"""
_DOMAIN_ENDS = "com com com org org net de fr cn io eu info co.uk edu gov ch"
_FILE_ENDS = "txt pdf docx csv json py md jpg png html zip mp3 xlsx yaml"
_FORMAT_SIGNS = "%s %d %s %d %f %i %@ %1$s %2$s %.2f %5d %02d"
_FIELDS, _DOMAINS, _FILES, _FORMATS = (
    tuple(words.split()) for words in (_FIELD_NAMES, _DOMAIN_ENDS, _FILE_ENDS, _FORMAT_SIGNS)
)


def draw_verbatim(generator: Generator) -> str:
    """Return a span of a random kind."""
    return pick(_KINDS, generator)(generator)


def _placeholder(generator: Generator) -> str:
    field = pick(_FIELDS, generator) if generator.random() < 0.8 else invented_word(generator)
    return pick(
        (f"{{{field}}}", f"{{{field}}}", f"{{{{{field}}}}}", f"{{{{ {field} }}}}", f"${{{field}}}", f"%({field})s"),
        generator,
    )


def _format(generator: Generator) -> str:
    return pick(_FORMATS, generator)


def _domain(generator: Generator) -> str:
    return f"{invented_word(generator)}.{pick(_DOMAINS, generator)}"


def _url(generator: Generator) -> str:
    start = pick(("https://", "https://", "https://www.", "http://", "www.", ""), generator)
    path = pick(
        ("", "", f"/{invented_word(generator)}", f"/{pick(_FIELDS, generator)}/{_digits(4, generator)}"), generator
    )
    query = f"?{pick(_FIELDS, generator)}={invented_word(generator)}" if path and generator.random() < 0.3 else ""
    return f"{start}{_domain(generator)}{path}{query}"


def _email(generator: Generator) -> str:
    name = pick(("info", "contact", invented_word(generator), invented_word(generator)), generator)
    if generator.random() < 0.5:
        name += pick(".-_", generator) + pick((invented_word(generator), _digits(3, generator)), generator)
    return f"{name}@{_domain(generator)}"


def _mention(generator: Generator) -> str:
    number = _digits(3, generator) if generator.random() < 0.3 else ""
    return f"{pick('@@#', generator)}{invented_word(generator)}{number}"


def _code(generator: Generator) -> str:
    field, word = pick(_FIELDS, generator), invented_word(generator)
    field = word if field.isdecimal() else field  # "/2/word" is no path
    names = (f"`{word}`", f"``{field}``", f"{word}.{pick(_FILES, generator)}", f"{field}_{word}()", f"/{field}/{word}")
    return pick(names, generator)


def _digits(most: int, generator: Generator) -> str:
    return str(int(generator.random() * 10**most))


#: Each as often as it is drawn.
_KINDS: tuple[Callable[[Generator], str], ...] = (
    *((_placeholder,) * 4 + (_url,) * 3 + (_email,) * 2 + (_mention,) * 2),
    *(_format, _code),
)
