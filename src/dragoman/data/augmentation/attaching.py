"""Put the same thing at the same end of both sides: a name, an address, a reserved piece."""

from __future__ import annotations

from numpy.random import Generator

from dragoman.data.augmentation.shared import Languages, Pair
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


def attach(pair: Pair, languages: Languages, addition: str, generator: Generator) -> Pair:
    """Return the pair with the same text at the same end of both sides."""
    form = pick(_FORMS, generator)
    source, target = (
        form[language in WITHOUT_SPACES and not (text[:1].isascii() or text[-1:].isascii())].format(text, addition)
        for text, language in zip(pair, languages, strict=True)
    )
    return source, target
