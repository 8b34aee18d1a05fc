"""A check that a translation has the currencies of its source: "$2.50" may be "2,50 $" or "2.50 Dollar"."""

from __future__ import annotations

import re

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
    return [with_sign, f"{amount}{space}{name}"] if name else [with_sign]
