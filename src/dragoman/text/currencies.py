"""A check that a translation has the currencies of its source: "$2.50" may be "2,50 $" or "2.50 Dollar"."""

from __future__ import annotations

import re
from collections.abc import Iterator

from dragoman.text.languages import base_language

#: Signs, and the names of their currencies in the languages whose number words are known.
_NAMES = {
    "$": r"dollar|\busd\b|us\$|[美加澳港]元|美金|[块塊刀元]|\bpesos?\b|\bbucks?\b",
    "€": r"euro|\beur\b|欧元|歐元",
    "£": r"pounds?\b|pfund|livres?\b|sterling|\bgbp\b|英镑|英鎊|[镑鎊]",
    "¥": r"yens?\b|yuans?\b|renminbi|\bjpy\b|\bcny\b|\brmb\b|日元|日圆|人民币|[元块]",
}
#: Their usual names after an amount.
_USUAL_NAMES = {
    "$": {"en": "dollars", "de": "Dollar", "fr": "dollars", "zh": "美元"},
    "€": {"en": "euros", "de": "Euro", "fr": "euros", "zh": "欧元"},
    "£": {"en": "pounds", "de": "Pfund", "fr": "livres", "zh": "英镑"},
    "¥": {},
}
#: Those of the yen. The sign alone may also be the yuan.
_YEN = {"en": "yen", "de": "Yen", "fr": "yens", "zh": "日元"}
#: Words of a source that name a currency and nothing else, unlike "pounds", "livres" and 元.
CURRENCY_WORDS = {
    "en": re.compile(r"\b(?:(dollars?)|(euros?)|(yen))\b", re.IGNORECASE),
    "de": re.compile(r"\b(?:(dollars?)|(euros?)|(yen))\b", re.IGNORECASE),
    "fr": re.compile(r"\b(?:(dollars?)|(euros?)|(yens?))\b", re.IGNORECASE),
    "zh": re.compile("(美元|美金)|(欧元|歐元)|(日元|日圆|日圓)"),
}
_SIGNS_OF_WORDS = "$€¥"
_SIGNS = "".join(_NAMES)
_PRICE = re.compile(rf"([{re.escape(_SIGNS)}])\s?\d|\d\s?([{re.escape(_SIGNS)}])")
_PATTERNS = {sign: re.compile(f"{re.escape(sign)}|{names}", re.IGNORECASE) for sign, names in _NAMES.items()}
_SIGN_AFTER = re.compile(rf"\s?[{re.escape(_SIGNS)}](?!\s?\d)")
#: Languages whose names of currencies are known.
_LANGUAGES = frozenset(("en", "de", "fr", "zh"))


def currencies_kept(source: str, translation: str, target_lang: str) -> bool:
    """Return False if a translation lacks a currency that its source has beside an amount.

    Args:
        target_lang: the code of a base language; in languages without known names, every translation passes.

    >>> [currencies_kept("It is $2.50.", f"Es kostet {price}.", "de") for price in ("2,50 Dollar", "2,50")]
    [True, False]
    """
    if target_lang not in _LANGUAGES:
        return True
    signs = {before or after for before, after in _PRICE.findall(source)}
    return all(_PATTERNS[sign].search(translation) for sign in signs)


def find_currency_words(text: str, language: str) -> Iterator[tuple[int, int, str]]:
    """Yield the start, the end and the sign of each currency that a text names in words.

    >>> list(find_currency_words("Twenty dollars are enough.", "en"))
    [(7, 14, '$')]
    """
    if pattern := CURRENCY_WORDS.get(base_language(language)):
        for match in pattern.finditer(text):
            yield *match.span(), _SIGNS_OF_WORDS[(match.lastindex or 1) - 1]


def lost_currency_words(source: str, translation: str, source_lang: str, target_lang: str) -> list[int]:
    """Return the places of the currencies that a source names in words and its translation does not have.

    >>> lost_currency_words("It is twenty dollars.", "Es sind zwanzig Euro.", "en", "de")
    [13]
    """
    if base_language(target_lang) not in _LANGUAGES:
        return []
    found = find_currency_words(source, source_lang)
    return [start for start, _, sign in found if not _PATTERNS[sign].search(translation)]


def written_currency(sign: str, language: str) -> tuple[str, ...]:
    """Return the usual ways to write a currency after an amount.

    >>> written_currency("$", "de"), written_currency("¥", "fr")
    (('Dollar', '$'), ('yens', '¥'))
    """
    return (_YEN if sign == "¥" else _USUAL_NAMES[sign])[language], sign


def with_currency(text: str, start: int, end: int) -> tuple[int, int]:
    """Return the start and end of an amount with its currency sign, given those of its number.

    >>> with_currency("It is $2.50.", 7, 11), with_currency("20 €", 0, 2), with_currency("20 men", 0, 2)
    ((6, 11), (0, 4), (0, 2))
    """
    if start and text[start - 1] in _SIGNS:
        return start - 1, end
    after = _SIGN_AFTER.match(text, end)
    return start, after.end() if after else end


def written_price(amount: str, sign: str, language: str) -> list[str]:
    """Return the usual ways to write an amount with a currency.

    >>> written_price("2,50", "$", "de"), written_price("2.50", "€", "en")
    (['2,50 $', '2,50 Dollar'], ['€2.50', '2.50 euros'])
    """
    space = "" if language == "zh" else " "
    with_sign = f"{sign}{amount}" if language in ("en", "zh") else f"{amount} {sign}"
    name = _USUAL_NAMES[sign].get(language)
    if name and language == "fr" and amount[-1].isalpha():  # 3 millions d'euros
        name = f"d'{name}" if name == "euros" else f"de {name}"
    return [with_sign, f"{amount}{space}{name}"] if name else [with_sign]
