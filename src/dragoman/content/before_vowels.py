"""Words that change before a vowel: "le" and "l'", "nouveau" and "nouvel", "a" and "an"."""

from __future__ import annotations

import unicodedata

from dragoman.content.language import Language


def fitted(words: str, next_word: str, language: Language) -> list[str]:
    """Return the forms that words may have before the next, each with the space after it; those that fit always first.

    A letter may be doubtful ("l'hôpital", "le hasard"), and one form may stand for several ("l'" for "le" and "la"):
    then there are several.

    >>> from dragoman.content.language import language_of
    >>> french = language_of("fr")
    >>> [fitted(word, "ami", french) for word in ("Le", "de l'", "nouveau", "petit")]
    [["L'"], ["de l'"], ['nouvel '], ['petit ']]
    >>> fitted("l'", "bailleur", french), fitted("du", "hasard", french)
    (['le ', 'la '], ['du ', "de l'"])
    """
    small, forms = words.lower(), language.before_vowels
    others = [word for word, form in forms.items() if form == small]
    letter = unicodedata.normalize("NFD", next_word[:1].lower())[:1]
    if not letter.isalpha():
        found = [small]
    elif letter in language.vowels:
        found = [forms.get(small, small)]
    elif letter in language.doubtful_vowels:
        found = [small, *others, *([forms[small]] if small in forms else [])]
    else:
        found = others if small.endswith("'") and others else [small, *others]
    cased = [form[:1].upper() + form[1:] if words[:1].isupper() else form for form in found]
    return [form if form.endswith("'") else f"{form} " for form in cased]
