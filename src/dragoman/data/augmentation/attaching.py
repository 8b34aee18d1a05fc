"""Put the same thing at the same end of both sides: a name, an address, a number, a reserved piece."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

from numpy.random import Generator

from dragoman.data.augmentation.made_up_spans import draw_verbatim
from dragoman.data.augmentation.names import draw_name
from dragoman.data.augmentation.number_values import draw_digits, written
from dragoman.data.augmentation.replacing import free_pieces
from dragoman.data.augmentation.shared import Languages, Pair
from dragoman.data.perturbations.final_marks import split_final_marks
from dragoman.data.perturbations.picking import pick
from dragoman.text.languages import WITHOUT_SPACES

#: Ways to put something ({1}) beside a text ({0}), in scripts with spaces and in scripts without.
_FORMS = (
    ("{0} {1}", "{0}{1}"),
    ("{0} {1}", "{0} {1}"),
    ("{0} ({1})", "{0}（{1}）"),
    ("{0} – {1}", "{0} – {1}"),
    ("{1}: {0}", "{1}：{0}"),
    ("{1} {0}", "{1}{0}"),
    ("[{1}] {0}", "[{1}]{0}"),
)
#: Phone numbers, dates and versions: each 0 becomes a digit.
_DIGIT_FORMS = ("+00 00 0000000", "000-0000", "0000 000 000", "00000", "0000000000", "#00000", "00.0.0", "0000-10-10")


def attach(pair: Pair, languages: Languages, texts: Pair, form: tuple[str, str]) -> Pair:
    """Return the pair with a text beside each side.

    Args:
        form: for scripts with spaces, and for others.
    """
    source, target = (
        form[language in WITHOUT_SPACES and not (text[:1].isascii() or text[-1:].isascii())].format(text, addition)
        for text, addition, language in zip(pair, texts, languages, strict=True)
    )
    return source, target


def attach_span(pair: Pair, languages: Languages, generator: Generator) -> Pair:
    """Return the pair with a name, a number or another span at the same end of both sides."""
    chance = generator.random()
    if chance < 0.35:
        return address(pair, languages, draw_name("person", generator))
    texts = _numbers(languages, generator) if chance < 0.6 else (draw_verbatim(generator),) * 2
    return attach(pair, languages, (texts[0], texts[1]), pick(_FORMS, generator))


def attach_piece(pair: Pair, languages: Languages, pieces: Sequence[str], generator: Generator) -> Pair:
    """Return the pair with one reserved piece that it does not have yet at the same end of both sides."""
    piece = next(iter(free_pieces(pair, pieces, generator)), None)
    if piece is None:
        return pair
    if generator.random() < 0.2:
        return address(pair, languages, piece)
    return attach(pair, languages, (piece, piece), pick(_FORMS, generator))


def address(pair: Pair, languages: Languages, name: str) -> Pair:
    """Return the pair spoken to somebody: "I am tired, Ann."; the same if it has no final marks."""
    sides = [split_final_marks(text) for text in pair]
    if not all(text and marks for text, marks in sides):
        return pair
    commas = ["，" if language == "zh" else ", " for language in languages]
    (source, end), (target, target_end) = sides
    return f"{source}{commas[0]}{name}{end}", f"{target}{commas[1]}{name}{target_end}"


def _numbers(languages: Languages, generator: Generator) -> Pair:
    chance = generator.random()
    if chance < 0.5:
        form = pick(_DIGIT_FORMS, generator)
        text = "".join(draw_digits(1, generator) if character == "0" else character for character in form)
        return text, text
    if chance < 0.75:
        hour, minute = int(generator.random() * 24), int(generator.random() * 60)
        text = f"{hour}:{minute:02}"
        return text, text
    whole = 2 + int(generator.random() * 10 ** pick((2, 3, 4, 5, 6), generator))
    fraction = f".{draw_digits(2, generator)}" if generator.random() < 0.5 else ""
    number = Decimal(f"{whole}{fraction}")
    sign = pick(("", " €", " %", " kg"), generator)
    return written(number, languages[0]) + sign, written(number, languages[1]) + sign
