"""The formatting of words (`<w:rPr>`): which is the same, and in which language the words are."""

from __future__ import annotations

import re
from html import escape

from dragoman.text.languages import base_language

#: A part of a tag: a character, or a value in quotes.
_INSIDE = r"""(?:[^"'>]|"[^"]*"|'[^']*')"""
#: Properties that the standard puts after the language.
_AFTER = re.compile(r"<(\w+:)?(eastAsianLayout|specVanish|oMath|rPrChange)\b")
#: Languages whose usual region has another code.
_REGIONS = {
    "de": "de-DE", "en": "en-US", "es": "es-ES", "fr": "fr-FR", "it": "it-IT", "ja": "ja-JP", "ko": "ko-KR",
    "nl": "nl-NL", "pl": "pl-PL", "pt": "pt-PT", "ru": "ru-RU", "zh": "zh-CN",
}  # fmt: skip
_EAST_ASIAN = frozenset(("zh", "ja", "ko"))


def seen_look(look: str, unseen: re.Pattern[str]) -> str:
    """Return a formatting without what a reader does not see, for comparison."""
    bare = unseen.sub("", look)
    return "" if re.fullmatch(r"<[^<>\s]+\s*/?>\s*(</[^<>]*>)?", bare) else bare


def in_language(look: str, language: str, prefix: str) -> str:
    """Return a formatting of Word for words in a language, so that a program spells and shows them as such.

    Words of East Asia get the fonts for them.

    Args:
        prefix: of the elements, with its colon.
    """
    if not prefix:
        return look
    kind = "eastAsia" if base_language(language) in _EAST_ASIAN else "val"
    code = escape(_REGIONS.get(language, language).replace("_", "-"))
    body = re.sub(r"^<[^>]*/>$|^<[^>]*>|</[^>]*>$", "", look)
    body = re.sub(rf"<{re.escape(prefix)}lang\b{_INSIDE}*?(/>|>\s*</[^>]*>)", "", body)
    after = _AFTER.search(body)
    at = after.start() if after else len(body)
    body = f'{body[:at]}<{prefix}lang {prefix}{kind}="{code}"/>{body[at:]}'
    return f"<{prefix}rPr>{_with_hint(body, prefix) if kind == 'eastAsia' else body}</{prefix}rPr>"


def _with_hint(body: str, prefix: str) -> str:
    """Return properties in which characters of several scripts, such as quotes, have the fonts of East Asia."""
    hint, name = f'{prefix}hint="eastAsia"', re.escape(prefix)
    if (fonts := re.search(rf"<{name}rFonts\b{_INSIDE}*?(?=/?>)", body)) is not None:
        bare = re.sub(rf"""\s*{name}hint=("[^"]*"|'[^']*')""", "", fonts.group())
        return f"{body[: fonts.start()]}{bare.rstrip()} {hint}{body[fonts.end() :]}"
    style = re.match(rf"<{name}rStyle\b{_INSIDE}*?/>", body)
    at = style.end() if style else 0
    return f"{body[:at]}<{prefix}rFonts {hint}/>{body[at:]}"
