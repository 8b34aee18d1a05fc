"""A check that a translation has the currencies of its source: "$2.50" may be "2,50 $" or "2.50 Dollar"."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from dragoman.text.languages import UNSPACED, base_language
from dragoman.text.scales import RANGE
from dragoman.text.separators import ascii_digits

#: Signs, and the names of their currencies in the languages whose number words are known.
_NAMES = {
    "$": r"dollar|\busd\b|us\$|[美加澳港]元|美金|[块塊刀元]|\bpesos?\b|\bbucks?\b",
    "€": r"euro|\beur\b|欧元|歐元",
    "£": r"pounds?\b|pfund|livres?\b|sterling|\bgbp\b|英镑|英鎊|[镑鎊]",
    "¥": r"￥|yens?\b|yuans?\b|renminbi|\bjpy\b|\bcny\b|\brmb\b|日元|日圆|人民币|[元块]",
    "元": r"yuans?\b|renminbi|\brmb\b|\bcny\b|人民币|[块塊¥￥$]|dollar|\bkuai\b|\bbucks?\b|美金",
}
#: Their usual names after an amount.
_USUAL_NAMES = {
    "$": {"en": "dollars", "de": "Dollar", "fr": "dollars", "zh": "美元"},
    "€": {"en": "euros", "de": "Euro", "fr": "euros", "zh": "欧元"},
    "£": {"en": "pounds", "de": "Pfund", "fr": "livres", "zh": "英镑"},
    "¥": {},
    "元": {"en": "yuan", "de": "Yuan", "fr": "yuans", "zh": "元"},
}
#: Those of the yen. The sign alone may also be the yuan.
_YEN = {"en": "yen", "de": "Yen", "fr": "yens", "zh": "日元"}
#: The football championship "Euro 2024" is no currency.
_NO_YEAR = r"(?!\s(?:19|20)\d\d(?!\d))"
#: Words of a source that name a currency and nothing else, unlike "pounds", "livres" and 元.
CURRENCY_WORDS = {
    "en": re.compile(rf"\b(?:(dollars?)|(euros?){_NO_YEAR}|(yen))\b", re.IGNORECASE),
    "de": re.compile(rf"\b(?:(dollars?)|(euros?){_NO_YEAR}|(yen))\b", re.IGNORECASE),
    "fr": re.compile(rf"\b(?:(dollars?)|(euros?){_NO_YEAR}|(yens?))\b", re.IGNORECASE),
    "zh": re.compile(r"(美元|美金)|(欧元|歐元)|(日元|日圆|日圓)|((?<=[\d十百千万亿])元|(?<=[\d百千万亿])块钱)"),
}
_SIGNS_OF_WORDS = "$€¥元"
_SIGNS = "$€£¥"
#: The sign of the yen and the yuan, as wide as a Chinese character.
_WIDE_YEN = "￥"
_PRICE = re.compile(rf"([{re.escape(_SIGNS)}])\s?\d|\d\s?([{re.escape(_SIGNS)}])")
_PATTERNS = {sign: re.compile(f"{re.escape(sign)}|{names}", re.IGNORECASE) for sign, names in _NAMES.items()}
_AMOUNT = r"\d+(?:[.,]\d+)*"
_NUMBER = re.compile(_AMOUNT)
_PRICES = re.compile(
    rf"([{re.escape(_SIGNS)}])\s?({_AMOUNT})|(?<![{re.escape(_SIGNS)}\d.,])({_AMOUNT})\s?([{re.escape(_SIGNS)}])(?!\s?\d)"
)
#: A currency after an amount, perhaps after more amounts: "5 and 6 dollars"; and one before it: "$5 to 6".
_AFTER = {
    sign: re.compile(rf"(?:[^.!?。！？]|\.(?=\d)){{0,40}}?(?:{names}|{re.escape(sign)}(?!\s?\d))", re.IGNORECASE)
    for sign, names in _NAMES.items()
}
_BEFORE = {
    sign: re.compile(rf"(?:{names}|{re.escape(sign)})\s?(?:{_AMOUNT}{RANGE.pattern})?\Z", re.IGNORECASE)
    for sign, names in _NAMES.items()
}
_LONGEST_BEFORE = 30
#: Letters of a dollar before its sign: "US$5".
_DOLLAR_LETTERS = re.compile(rf"(?<![^\W{UNSPACED}])(?:US|AU?|CA?|NZ|HK|S)\Z")
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
    source, translation = (text.replace(_WIDE_YEN, "¥") for text in (source, translation))
    signs = {before or after for before, after in _PRICE.findall(source)}
    if not all(_PATTERNS[sign].search(translation) for sign in signs):
        return False
    prices = [(before or after, ascii_digits(first or last)) for before, first, last, after in _PRICES.findall(source)]
    counts = Counter(sign for sign, _ in prices)
    rare = {sign for sign, count in counts.items() if len(_PATTERNS[sign].findall(translation)) < count}
    return not any(sign in rare and _is_bare(translation, sign, digits) for sign, digits in set(prices))


def _is_bare(text: str, sign: str, digits: str) -> bool:
    """Return True if a text has a number, but never with a currency: the 5 in "5 and $6", not in "5 and 6 dollars"."""
    found = [match.span() for match in _NUMBER.finditer(text) if ascii_digits(match[0]) == digits]
    return bool(found) and not any(
        _AFTER[sign].match(text, end) or _BEFORE[sign].search(text[max(0, start - _LONGEST_BEFORE) : start])
        for start, end in found
    )


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
    >>> with_currency("It is US$5.", 9, 10)
    (6, 10)
    """
    if start and text[start - 1] in _SIGNS + _WIDE_YEN:
        letters = _DOLLAR_LETTERS.search(text, max(0, start - 3), start - 1) if text[start - 1] == "$" else None
        return letters.start() if letters else start - 1, end
    after = _SIGN_AFTER.match(text, end)
    return start, after.end() if after else end


def written_price(amount: str, sign: str, language: str) -> list[str]:
    """Return the usual ways to write an amount with a currency.

    >>> written_price("2,50", "$", "de"), written_price("2.50", "€", "en"), written_price("5", "US$", "fr")
    (['2,50 $', '2,50 Dollar'], ['€2.50', '2.50 euros'], ['5 US$'])
    """
    sign = sign.replace(_WIDE_YEN, "¥")
    space = "" if language == "zh" else " "
    with_sign = f"{sign}{amount}" if language in ("en", "zh") else f"{amount} {sign}"
    name = _USUAL_NAMES.get(sign, {}).get(language)
    if name and language == "fr" and amount[-1].isalpha():  # 3 millions d'euros
        name = f"d'{name}" if name == "euros" else f"de {name}"
    return [with_sign, f"{amount}{space}{name}"] if name else [with_sign]
