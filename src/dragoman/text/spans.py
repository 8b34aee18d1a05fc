"""Spans of a text that every translation keeps: addresses, placeholders, code, identifiers, emoji, and numbers.

Verbatim spans have the same characters in a translation. Numbers have the same digits: their separators, and the words
beside them ("3 pm", "20 €"), follow the language.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from typing import Literal, NamedTuple, get_args

from dragoman.text.command_options import without_dashes
from dragoman.text.languages import UNSPACED
from dragoman.text.lazy_patterns import lazy_pattern
from dragoman.text.sentences import more_beginnings

Kind = Literal[
    "email", "url", "placeholder", "code", "break", "tag", "mention", "reserved", "identifier", "emoji", "number"
]
#: The kinds that are copied character by character.
VERBATIM: frozenset[Kind] = frozenset(get_args(Kind)) - {"number"}


class Span(NamedTuple):
    """A stretch of a text, and its kind."""

    start: int
    end: int
    kind: Kind


#: A letter, digit or underscore of a script with spaces. In "写信给ann@b.co吧", the address begins at "a".
_W = rf"[^\W{UNSPACED}]"
_START, _STOP = rf"(?<!{_W})", rf"(?!{_W})"
#: Ends of addresses without "http" or "www", in small letters or in capitals. None of them is a common word.
_DOMAIN_ENDS = "com|org|net|edu|gov|info|io|eu|de|fr|cn|uk|ch|jp|ru|pl|nl|au|kr|tw|hk|app|dev"
_FILE_ENDS = (
    "txt|pdf|docx?|xlsx?|pptx?|odt|csv|json|xml|ya?ml|toml|html?|png|jpe?g|gif|svg|webp|mp[34]|wav|zip|exe|apk|py|js|md|"
    "sh|log|srt"
)
_DOMAIN_END, _FILE_END = (rf"(?:{ends}|{ends.upper()})(?![.@-]?{_W})" for ends in (_DOMAIN_ENDS, _FILE_ENDS))
_NOT_IN_URL = rf"\s<>\"“”„«»`|\\^…、。！？，；：（）《》「」『』【】{UNSPACED}"
#: Characters of a URL. Marks at its end belong to the sentence.
_URL = rf"[^{_NOT_IN_URL}]*[^{_NOT_IN_URL}.,;:!?'’‘*()\[\]{{}}]"
#: Addresses of the web with "http", "ftp" or "www", and of e-mail.
_WEB_ADDRESS = rf"{_START}(?i:(?:https?|ftp)://|www\.){_URL}"
#: Words that lose a vowel before another in French or Italian: the address in "l'ann@b.co" begins at "a".
_ELIDED = "[cdjlmnst]|(?:jus|lors|puis|quoi)?qu|(?:a|da|de|ne|su|que)ll|un"
_EMAIL = (
    rf"{_START}(?<![.+-])(?:mailto:|(?!(?i:{_ELIDED})['’])){_W}(?:{_W}|[.+-]|(?<={_W})['’&](?={_W})){{0,63}}"
    rf"@(?:[A-Za-z0-9-]{{1,63}}\.){{1,8}}[A-Za-z]{{2,24}}{_STOP}"
)
WEB_ADDRESS, EMAIL = lazy_pattern(_WEB_ADDRESS), lazy_pattern(_EMAIL)
#: An option of a command: "-v", "--help", "--output=FILE", "--color[=WHEN]". Not "well-known --- and", "+/-i", "-I am".
#: `command_options.py` leaves out words after a dash.
_OPTION_START = (
    rf"""(?<![^\s"'“„«‘(\[{{<=,;:/|（、，：。{UNSPACED}])(?<!\+/)"""
    rf"""(?!(?<!.)-[AIO]\s{_W})"""
)
_OPTION = (
    rf"{_OPTION_START}(?:-[A-Za-z]|--[A-Za-z][A-Za-z0-9]{{0,40}}(?:[._-][A-Za-z0-9]{{1,40}}){{0,8}}"
    rf"(?:\[=[^\s\[\]]{{1,80}}\]|=\{{[^\s{{}}]{{1,200}}\}}|=<[^\s<>]{{1,80}}>"
    rf"|=[^{_NOT_IN_URL},;()\[\]]{{0,200}}[^{_NOT_IN_URL},;()\[\].:!?'])?)(?!-|{_W})"
)
_GAP = "[ \u00a0\u202f]"
#: The attributes of a tag, and its end.
_ATTRIBUTES = (
    r"""(?:\s{1,3}[\w:@.-]{1,40}\s?=\s?(?:"[^"<>]{0,300}"|'[^'<>]{0,300}'|[^\s"'<>=]{1,300})){0,12}\s{0,2}/?>"""
)
#: Elements of HTML that end a line.
_BREAKS = "br|hr|p|div|li|ul|ol|dl|dt|dd|tr|td|th|table|h[1-6]|blockquote|pre|section|article"
#: Elements of HTML and DocBook whose content is code.
_CODE_ELEMENTS = (
    "code|kbd|samp|tt|var|literal|command|filename|option|parameter|function|varname|classname|constant|envar|"
    "replaceable|userinput|computeroutput|systemitem|keycap"
)
#: The place of the words that begin a sentence, which are read from files when the pattern is made.
_BEGINNINGS = "BEGINNINGS"
#: Capitals with points that each language writes in its own way.
_WORDED = r"U\.S\.|[AP]\.M\."
_FIELD_WORD = r"\w(?:[\w.-]|\[\w{0,20}\]){0,60}"
_TROFF = r"\\{1,2}f(?:[BIRPC]|\[\w{0,8}\]|\(\w\w)"
_PICTURE = "[\u231a\u231b\u23e9-\u23f3\u23f8-\u23fa\u2600-\u27bf\u2b50\u2b55\U0001f000-\U0001faff]"
_JOINED = "[\u200d\ufe0e\ufe0f\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f]"

#: Patterns in the order in which they are tried at a place. Repeats are bounded, or begin where no other match of the
#: same pattern can, so that the time grows with the length of the text.
_PATTERNS: dict[Kind, str] = {
    "email": _EMAIL,
    "url": rf"""
        {_WEB_ADDRESS}
        | {_START}(?<![.@/\\-])(?:[A-Za-z0-9][A-Za-z0-9-]{{0,62}}\.){{1,8}}{_DOMAIN_END}
            (?::\d{{2,5}})?(?:/(?:{_URL})?|[?\#]{_URL})?""",
    "placeholder": rf"""
        \{{\{{[^{{}}]{{1,80}}\}}\}}
        | [$%\#]?\{{(?:{_FIELD_WORD}(?:\ {_FIELD_WORD}){{0,2}}(?<!\.))?(?:![rsa])?(?::[^{{}}\s]{{0,20}})?
            (?:,\ ?(?:number|date|time|spellout|ordinal|duration)(?:,\ ?[^{{}}]{{1,60}})?)?\}}
        | {_START}(?<!\$)\$[A-Za-z_][A-Za-z0-9_]{{1,60}}(?![\w$])
        | {_START}(?<!%)%[A-Za-z](?:[-/:.]%[A-Za-z]){{1,11}}{_STOP}
        | (?<![\d%])%(?:\(\w{{1,60}}\)|\d{{1,2}}\$)?[\#0+-]{{0,4}}\d{{0,3}}(?:\.\d{{1,3}})?(?:hh?|ll?|z)?
            (?:[diouxXeEfFgGcrsa]{_STOP}|@)
        | (?<![\d%])%L?[0-9](?![0-9])(?:%L?[0-9](?![0-9]))*(?:%(?![\w%]))?
        | {_START}(?<!%)%(?:Ln|[A-Za-z]){_STOP}(?!%) | \[X\d{{1,6}}X\]""",
    "code": rf"""
        {_START}``[^`\s](?:[^`]{{0,198}}[^`\s])?``{_STOP} | {_START}`[^`\s](?:[^`]{{0,198}}[^`\s])?`{_STOP}
        | {_START}(?<![./\\-]){_W}(?:{_W}|[.-]){{0,79}}\.{_FILE_END}
        | {_START}[A-Za-z0-9]{{1,40}}(?:_{{1,2}}[A-Za-z0-9]{{1,40}}){{1,20}}(?:\(\))?{_STOP}
        | {_START}__[A-Za-z0-9]{{1,40}}__{_STOP}
        | {_START}(?<![./\\~>])~?(?:/[A-Za-z_.-][A-Za-z0-9_.-]{{0,80}}){{2,30}}(?<![.-])/?
        | {_START}[A-Za-z]:\\(?:[A-Za-z0-9_.~-]{{1,80}}\\?){{1,30}}(?<![.-])
        | {_OPTION}
        | <(?:{_CODE_ELEMENTS})>[^<>]{{1,80}}</(?:{_CODE_ELEMENTS})>
        | {_START}[BCEFILSXZ]<(?:<\ (?:[^<>]|>(?!>)){{1,80}}\ >>|[^\s<>](?:[^<>]{{0,80}}[^\s<>])?>){_STOP}
        | {_TROFF}(?:[^\s\\]{{1,80}}{_TROFF})? | \\(?![nrt][A-Z\\])[A-Za-z]{{2,20}}\*?
        | \[(?:\d{{1,3}}|[*†‡§]|\#\w{{0,40}}|[A-Za-z]\w{{0,40}})\]_{_STOP}
        | (?<![\w|])\|[A-Za-z][\w.-]{{0,60}}\|_{{0,2}}(?![\w|]) | (?<=\s)&&(?=\s)""",
    # Tags that end a line, and line breaks as programs write them: "one\\nTwo".
    "break": rf"""
        </?(?i:{_BREAKS})(?![\w:.-]){_ATTRIBUTES} | \\[nrt](?:\\[nrt])*(?![a-z])""",
    # Tags of HTML and XML, "<your name>", entities, tags of forums and of templates.
    "tag": rf"""
        </?[A-Za-z][\w:.-]{{0,40}}{_ATTRIBUTES}
        | {_START}<[A-Za-z][\w.-]{{0,30}}(?:[\ |][A-Za-z][\w.-]{{0,30}}){{1,4}}>{_STOP}
        | <!--(?:[^-]|-(?!->)){{0,300}}--> | &(?:[A-Za-z]{{2,8}}|\#[0-9]{{2,6}}|\#x[0-9A-Fa-f]{{2,5}});
        | \[(?:/[a-z]{{1,12}}|[a-z]{{1,12}}=[^\s\[\]]{{1,200}}|[biu])\] | \{{%[^{{}}%]{{1,80}}%\}}""",
    "mention": rf"{_START}(?<![&/@\#])(?:@|\#(?=[0-9_]{{0,60}}[^\W\d_{UNSPACED}])){_W}{{1,60}}{_STOP}",
    "reserved": r"⟨[0-9]{1,3}⟩",
    # An IBAN in groups of four; letters joined with digits, all of them capitals: "A380", "B2B", "A320-200"; capitals
    # with points, and those joined with "&".
    "identifier": rf"""
        {_START}(?:IBAN:?{_GAP})?[A-Z]{{2}}[0-9]{{2}}{_GAP}[A-Z0-9]{{4}}(?:{_GAP}(?=[A-Z]{{0,3}}[0-9])[A-Z0-9]{{4}}){{1,6}}
            (?:{_GAP}[0-9][A-Z0-9]{{0,2}})?{_STOP}
        | {_START}(?<![.+/&@\#\\-])[A-Z]{{1,12}}[0-9][A-Z0-9]{{0,39}}(?:[.-][0-9][A-Z0-9]{{0,20}}){{0,4}}{_STOP}
            (?!-[^\W\d])
        | {_START}(?<!\.)(?!{_WORDED})(?:[A-Z]\.){{1,7}}[A-Z](?=\.)
            (?:\.(?:(?<=(?<!.)\w\.\w\.)|(?<=(?<!.)\w\.\w\.\w\.)|(?!\s*\Z|\s+(?:{_BEGINNINGS})(?!\w))))?(?!\.?\w)
        | {_START}[A-Z](?:\ &(?:amp;)?\ [A-Z]){{1,3}}{_STOP}
        | {_START}[A-Z][A-Za-z]{{0,20}}(?:&(?:amp;)?[A-Z][A-Za-z]{{0,20}}){{1,3}}{_STOP}""",
    "emoji": rf"""
        (?:(?:{_PICTURE}|[0-9\#*]\ufe0f?\u20e3){_JOINED}*)+
        | (?<![\w:])(?::(?:[A-Za-z][\w+-]{{1,40}}|[+-]1):)+(?:`[^`]{{1,200}}`)?{_STOP}(?!:)
        | (?<!\S)(?:[:;]['-]?[()DPpO|/]|:-?3|<3|\^_?\^)(?![^\s.,!?])""",
    "number": rf"""
        {_START}(?<!\d[.,:/'’：．٫٬])(?:
            \d{{4}}-\d{{1,2}}-\d{{1,2}}(?!\d)(?:T\d\d:\d\d(?::\d\d)?Z?)?
            | (?:\d{{1,3}}(?:[ \u00a0\u2009\u202f]\d{{3}})+ | \d{{1,3}}(?:['’]\d{{3}})+)(?!\d)(?:[.,]\d+)?
            | \d+(?:[.,:/：．٫٬]\d+)*)""",
}
#: A place where a span may begin: not between two letters, unless one is part of an emoji. Most places are left out at
#: once, and the pattern is found in a third of the time.
_BEGIN = rf"(?:(?<!{_W})|(?!{_W})|(?={_PICTURE}|[0-9]\ufe0f?\u20e3))"
#: A character that every span has. Most texts have none.
_SIGN = lazy_pattern(rf"[\d@#{{%$`_/\\:;^⟨\u20e3&|]|<[\w/!]|\[[\w/]|-[A-Za-z](?![A-Za-z])|--[A-Za-z]|\.{_W}|{_PICTURE}")
_CLOSING = {")": "(", "]": "[", "}": "{"}


def find_spans(text: str) -> list[Span]:
    """Return the spans of a text in their order. They do not overlap.

    >>> text = "Send {name} 1,250 files by 3pm: www.example.org."
    >>> [(text[span.start : span.end], span.kind) for span in find_spans(text)]
    [('{name}', 'placeholder'), ('1,250', 'number'), ('3', 'number'), ('www.example.org', 'url')]
    """
    return [*_found(text)]


@lru_cache(maxsize=16)
def _found(text: str) -> Sequence[Span]:
    """Return the spans of a text. Reading, checking and repairing look for those of one text, one after the other."""
    return _without_dashes(text, list(_spans(text))) if _SIGN.search(text) else ()


def _spans(text: str) -> Iterator[Span]:
    start, pattern = 0, _span_pattern()
    while match := pattern.search(text, start):
        (kind,) = (kind for kind in _PATTERNS if match[kind] is not None)
        start = _end_of_url(text, match) if kind == "url" else match.end()
        yield Span(match.start(), start, kind)


def _without_dashes(text: str, spans: list[Span]) -> list[Span]:
    """Return spans without words after a dash that look like options."""
    like_options = {span[:2] for span in spans if span.kind == "code" and text[span.start] == "-"}
    if not like_options:
        return spans
    has_code = any(span.kind == "code" and span[:2] not in like_options for span in spans)
    dashes = like_options.difference(without_dashes(text, sorted(like_options), has_code=has_code))
    return [span for span in spans if span[:2] not in dashes]


@cache
def _span_pattern() -> re.Pattern[str]:
    """Return the pattern of all spans. To compile it takes longer than to translate a sentence that has none."""
    patterns = "|".join(f"(?P<{kind}>{pattern})" for kind, pattern in _PATTERNS.items())
    return re.compile(f"{_BEGIN}(?:{patterns.replace(_BEGINNINGS, more_beginnings().pattern)})", re.VERBOSE)


def _end_of_url(text: str, match: re.Match[str]) -> int:
    """Return the end of a URL, with the brackets after it that were opened in it: "https://a.org/b_(c)"."""
    end = match.end()
    n_open = {mark: match[0].count(opening) - match[0].count(mark) for mark, opening in _CLOSING.items()}
    while n_open.get(text[end : end + 1], 0) > 0:
        n_open[text[end]] -= 1
        end += 1
    return end
