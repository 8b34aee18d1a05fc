"""The formatting of words (`<w:rPr>`): which is the same, and in which language the words are."""

from __future__ import annotations

import re
from html import escape
from typing import NamedTuple

from dragoman.documents.xml_tokens import attributes, with_attribute
from dragoman.text.languages import base_language, is_right_to_left

#: A part of a tag: a character, or a value in quotes.
_INSIDE = r"""(?:[^"'>]|"[^"]*"|'[^']*')"""
#: Properties that the standard of Word puts after the language, the direction of a run, and that of a paragraph. Those
#: of newer versions (`w14:`) come last.
_LATER = {
    "lang": "eastAsianLayout|specVanish|oMath|rPrChange",
    "rtl": "cs|em|lang|eastAsianLayout|specVanish|oMath|rPrChange",
    "bidi": "adjustRightInd|snapToGrid|spacing|ind|contextualSpacing|mirrorIndents|suppressOverlap|jc|textDirection|"
    "textAlignment|textboxTightWrap|outlineLvl|divId|cnfStyle",
}
#: Properties of the end of a paragraph, of a section, and of what was before a change: each has its own direction.
_OTHERS = re.compile(r"<(\w+:)?(rPr|sectPr|pPrChange)\b")
#: Languages whose usual region has another code.
_REGIONS = {
    "ar": "ar-SA", "de": "de-DE", "en": "en-US", "es": "es-ES", "fa": "fa-IR", "fr": "fr-FR", "he": "he-IL",
    "it": "it-IT", "ja": "ja-JP", "ko": "ko-KR", "nl": "nl-NL", "pl": "pl-PL", "pt": "pt-PT", "ru": "ru-RU",
    "ur": "ur-PK", "zh": "zh-CN",
}  # fmt: skip
_EAST_ASIAN = frozenset(("zh", "ja", "ko"))


def seen_look(look: str, unseen: re.Pattern[str]) -> str:
    """Return a formatting without what a reader does not see, for comparison."""
    bare = unseen.sub("", look)
    return "" if re.fullmatch(r"<[^<>\s]+\s*/?>\s*(</[^<>]*>)?", bare) else bare


class Languages(NamedTuple):
    """Languages of a translation: that of the source, if it is known, and that of the target."""

    source: str | None
    target: str

    @property
    def is_rtl(self) -> bool:
        """True if the translation is written from right to left."""
        return is_right_to_left(self.target)

    @property
    def was_rtl(self) -> bool:
        """True if the source is known, and written from right to left."""
        return self.source is not None and is_right_to_left(self.source)


def with_word_language(look: str, languages: Languages, prefix: str) -> str:
    """Return a formatting of Word for words in a language, so that a program spells and shows them as such.

    Words of East Asia get the fonts for them, and words from right to left their direction.

    Args:
        prefix: of the elements, with its colon.
    """
    if not prefix:
        return look
    is_asian, is_rtl = base_language(languages.target) in _EAST_ASIAN, languages.is_rtl
    kind = "eastAsia" if is_asian else "bidi" if is_rtl else "val"
    body = _with(_inner(look), prefix, "lang", f' {prefix}{kind}="{_code(languages.target)}"')
    body = _directed(body, prefix, "rtl", languages)
    if is_rtl != languages.was_rtl:  # words from right to left have a bold, an italic and a size of their own
        old, new = ("", "Cs") if is_rtl else ("Cs", "")
        for name in ("b", "i", "sz"):
            own = re.search(rf"<{re.escape(prefix + name + old)}\b({_INSIDE}*?/>)", body)
            if own and not re.search(rf"<{re.escape(prefix + name + new)}\b", body):
                at = own.end() if is_rtl else own.start()
                body = f"{body[:at]}<{prefix}{name}{new}{own[1]}{body[at:]}"
    return f"<{prefix}rPr>{_with_hint(body, prefix) if is_asian else body}</{prefix}rPr>"


def with_word_direction(properties: str, languages: Languages, prefix: str) -> str:
    """Return properties of a paragraph of Word with the direction of a language. Its sides turn with it."""
    inner = _inner(properties)
    others = _OTHERS.search(inner)
    at = others.start() if others else len(inner)
    body = _directed(inner[:at], prefix, "bidi", languages) + inner[at:]
    return f"<{prefix}pPr>{body}</{prefix}pPr>" if prefix and (properties or body) else properties


def with_slide_language(look: str, languages: Languages, prefix: str) -> str:
    """Return a formatting of PowerPoint for words in a language, without the note of a mistake in spelling."""
    tag, rest = _tag(look or f"<{prefix}rPr/>")
    return with_attribute(with_attribute(tag, "err", ""), "lang", _code(languages.target)) + rest


def with_slide_direction(properties: str, languages: Languages, prefix: str, side: str) -> str:
    """Return properties of a paragraph of PowerPoint with the direction of a language; its side is the other one.

    Args:
        side: of a paragraph without one of its own.
    """
    tag, rest = _tag(properties or f"<{prefix}pPr/>")
    own = dict(attributes(tag))
    was_rtl = own["rtl"] in ("1", "true") if "rtl" in own else languages.was_rtl
    if was_rtl == languages.is_rtl:
        return properties
    if other := {"l": "r", "r": "l"}.get(own.get("algn", side)):
        tag = with_attribute(tag, "algn", other)
    return with_attribute(tag, "rtl", "1" if languages.is_rtl else "0") + rest


def _tag(properties: str) -> tuple[str, str]:
    """Return the start tag of an element, and the rest of it."""
    match = re.match(rf"<{_INSIDE}*>", properties)
    end = match.end() if match else 0
    return properties[:end], properties[end:]


def _code(language: str) -> str:
    return escape(_REGIONS.get(language, language).replace("_", "-"))


def _inner(properties: str) -> str:
    """Return what is inside an element."""
    return re.sub(r"^<[^>]*/>$|^<[^>]*>|</[^>]*>$", "", properties)


def _directed(body: str, prefix: str, name: str, languages: Languages) -> str:
    """Return properties of Word with an element for a direction.

    A style may have the other direction, so that of the target is written if it is another one than that of the source.
    """
    if languages.is_rtl or languages.source is None:
        return _with(body, prefix, name, "" if languages.is_rtl else None)
    return _with(body, prefix, name, f' {prefix}val="0"') if languages.was_rtl else body


def _with(body: str, prefix: str, name: str, attributes: str | None) -> str:
    """Return properties of Word with one of `_LATER` in its place, or without it."""
    body = re.sub(rf"<{re.escape(prefix)}{name}\b{_INSIDE}*?(/>|>\s*</[^>]*>)", "", body)
    if attributes is None:
        return body
    after = re.search(rf"<((\w+:)?({_LATER[name]})\b|w1\d)", body)
    at = after.start() if after else len(body)
    return f"{body[:at]}<{prefix}{name}{attributes}/>{body[at:]}"


def _with_hint(body: str, prefix: str) -> str:
    """Return properties in which characters of several scripts, such as quotes, have the fonts of East Asia."""
    hint, name = f'{prefix}hint="eastAsia"', re.escape(prefix)
    if (fonts := re.search(rf"<{name}rFonts\b{_INSIDE}*?(?=/?>)", body)) is not None:
        bare = re.sub(rf"""\s*{name}hint=("[^"]*"|'[^']*')""", "", fonts.group())
        return f"{body[: fonts.start()]}{bare.rstrip()} {hint}{body[fonts.end() :]}"
    style = re.match(rf"<{name}rStyle\b{_INSIDE}*?/>", body)
    at = style.end() if style else 0
    return f"{body[:at]}<{prefix}rFonts {hint}/>{body[at:]}"
