"""Numbers written in words, in four languages: "twenty-one", "einundzwanzig", "vingt et un", 二十一."""

from __future__ import annotations

_ONES = {
    "en": "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
    "seventeen eighteen nineteen",
    "de": "null ein zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn sechzehn "
    "siebzehn achtzehn neunzehn",
    "fr": "zéro un deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze seize dix-sept "
    "dix-huit dix-neuf",
    "zh": "零 一 二 三 四 五 六 七 八 九 十 十一 十二 十三 十四 十五 十六 十七 十八 十九",
}
#: From twenty on.
_TENS = {
    "en": "twenty thirty forty fifty sixty seventy eighty ninety",
    "de": "zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig",
    "fr": "vingt trente quarante cinquante soixante soixante quatre-vingt quatre-vingt",
    "zh": "二十 三十 四十 五十 六十 七十 八十 九十",
}
#: Words of larger units, the largest first, in the singular and the plural.
_UNITS = {
    "en": (
        (10**9, "billion", "billion"),
        (10**6, "million", "million"),
        (1000, "thousand", "thousand"),
        (100, "hundred", "hundred"),
    ),
    "de": (
        (10**9, "Milliarde", "Milliarden"),
        (10**6, "Million", "Millionen"),
        (1000, "tausend", "tausend"),
        (100, "hundert", "hundert"),
    ),
    "fr": (
        (10**9, "milliard", "milliards"),
        (10**6, "million", "millions"),
        (1000, "mille", "mille"),
        (100, "cent", "cents"),
    ),
    "zh": ((10**8, "亿", "亿"), (10**4, "万", "万"), (1000, "千", "千"), (100, "百", "百")),
}
_ONE_WORDS = {language: words.split() for language, words in _ONES.items()}
_TEN_WORDS = {language: words.split() for language, words in _TENS.items()}
#: Ends of a number that are shorter before another word of it: "deux cents", "deux cent mille"; "eins", "eintausend".
_LONG_ENDS = {"fr": ("cents", "quatre-vingts"), "de": ("eins",)}
#: What is between the words of a number from 100 on.
_JOINTS = {"en": " ", "de": "", "fr": " ", "zh": ""}
#: The first number that has no words here, and the first whose unit is a noun: "eine Million".
SPELLED_END = 10**12
_NOUNS = 10**6


def spelled(number: int, language: str) -> str:
    """Return a number in words.

    Args:
        number: from 0 to 999,999,999,999.
        language: a base language: en, de, fr or zh.

    >>> [spelled(71, language) for language in ("en", "de", "fr", "zh")]
    ['seventy-one', 'einundsiebzig', 'soixante et onze', '七十一']
    >>> [spelled(3_000_000, language) for language in ("en", "de", "fr", "zh")]
    ['three million', 'drei Millionen', 'trois millions', '三百万']
    >>> [spelled(1205, language) for language in ("en", "de", "fr", "zh")]
    ['one thousand two hundred five', 'eintausendzweihundertfünf', 'mille deux cent cinq', '一千二百零五']
    >>> spelled(101, "de"), spelled(101_000, "de"), spelled(80_000_000, "fr"), spelled(280_000, "fr")
    ('einhunderteins', 'einhunderteintausend', 'quatre-vingts millions', 'deux cent quatre-vingt mille')
    """
    if number < 100:
        return _below_hundred(number, language)
    size, one, many = next(unit for unit in _UNITS[language] if number >= unit[0])
    head, rest = divmod(number, size)
    first = {"fr": "" if size < _NOUNS else "un", "de": "ein" if size < _NOUNS else "eine"}.get(language)
    heads = [_count(head, size, language) if head > 1 or first is None else first]
    parts = [*filter(None, heads), one if head == 1 or (size == 100 and rest) else many]
    if rest:
        zero = "零" if language == "zh" and rest < size // 10 else ""
        ten = "一" if language == "zh" and 10 <= rest < 20 else ""
        parts.append(zero + ten + spelled(rest, language) + "s" * (language == "de" and rest == 1))
    return (" " if language == "de" and size >= _NOUNS else _JOINTS[language]).join(parts)


def _count(number: int, size: int, language: str) -> str:
    """Return a number before a unit in words, without an ending that it has at the end: "deux cent mille"."""
    word = spelled(number, language)
    keeps_end = language == "fr" and size >= _NOUNS
    return word[:-1] if not keeps_end and word.endswith(_LONG_ENDS.get(language, ())) else word


def _below_hundred(number: int, language: str) -> str:
    ones = _ONE_WORDS[language]
    if number < 20:
        return ones[number]
    tens, one = _TEN_WORDS[language][number // 10 - 2], number % 10
    if language == "fr" and number // 10 in (7, 9):
        one += 10
    if not one:
        return f"{tens}s" if tens == "quatre-vingt" else tens
    if language == "de":
        return f"{ones[one]}und{tens}"
    if language == "fr" and one in (1, 11) and number < 80:
        return f"{tens} et {ones[one]}"
    return f"{tens}{'' if language == 'zh' else '-'}{ones[one]}"
