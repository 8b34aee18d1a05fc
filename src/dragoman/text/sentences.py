"""The sentences of a text, found by their marks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from dragoman.text.abbreviation_files import ListName, listed
from dragoman.text.cleaning import sanitize
from dragoman.text.lazy_patterns import lazy_pattern

#: Marks that end a sentence if a space follows, and those that need none.
_SPACED, _UNSPACED = ".!?…؟۔։", "。！？｡।॥។៕။።፧፨᱾᱿꯫"
#: Marks that end a sentence and are part of no name, so that the next sentence may follow without a space.
_CLEAR = "!?؟۔։"
_OPENING, _CLOSING = "“‘「『（《〈【", r"""\"'”’»«›‹)\]」』）》〉】"""
_GREEK = "\u0370-\u03ff\u1f00-\u1fff"
_ARMENIAN, _ARMENIAN_CAPITALS = "\u0531-\u0587", "\u0531-\u0556"
#: Marks that end a sentence in one script: the question mark of Greek, for which a semicolon stands unless another
#: script goes on ("the angle α; The"), and what stands for the full stops of Armenian and Ethiopic where a keyboard
#: lacks them.
_OF_ONE_SCRIPT = (
    rf"(?:(?<=[{_GREEK}])|(?<=[{_GREEK}][{_CLOSING}]))\u037e"
    rf"|(?:(?<=[{_GREEK}])|(?<=[{_GREEK}][{_CLOSING}]));(?=[{_CLOSING}]*\s*(?:$|[«“\"(]?[{_GREEK}]))"
    rf"|(?:(?<=[{_ARMENIAN}])|(?<=[{_ARMENIAN}][{_CLOSING}])):(?=[{_CLOSING}]*\s+[«“\"(]?[{_ARMENIAN_CAPITALS}])"
    "|፡፡"
)
#: The end of a paragraph, as one character of white space. It ends a sentence too.
PARAGRAPH_END = "\u2029"
#: White space between words that is wider than any writing needs, as in tables.
_WIDE_SPACE = lazy_pattern(r"\s{9,}")
_BLANK_LINE = lazy_pattern(r"\n\s*\n\s*|\u2029\s*")
#: All marks in a row with what closes after them, and the space that follows; or the end of a paragraph. German closes
#: with what elsewhere opens, and French puts a space before »: these close where a space follows.
_MARKS = lazy_pattern(
    rf"((?:[{_SPACED}{_UNSPACED}]|{_OF_ONE_SCRIPT})(?:[{_SPACED}{_UNSPACED}{_CLOSING}]|(?:“|‘|\s»)(?!\S))*)(\s*)"
    rf"|{PARAGRAPH_END}\s*"
)
#: Capitals with points, the last one without: "U.S", "Ph.D" is listed.
_CAPITALS = r"(?:[A-Z]\.){1,7}[A-Z]"
_LONGEST_ABBREVIATION = 16
#: What begins no sentence: "Tél. : 01".
_NO_BEGINNING = lazy_pattern(r"[,;:](?=\s)")
#: The end of a sentence that the next one follows without a space: a word in small letters, or a year ("a book.A dog").
#: Names look otherwise: "U.S.A", "System.Out", "e.g.The", "v2.Beta", "www.Example.com".
_WORD_BEFORE = lazy_pattern(r"""(?:^|(?<=[\s("'“‘„«\u2014-]))(?P<word>(?:[^\W\d_]['’]?){2,}|\d{3,4})\Z""")
#: The word that begins a sentence there, up to what follows it; a name has no further capitals, dots or signs of code.
_WORD_AFTER = lazy_pattern(r"""["'“‘„«(¿¡]*(?P<word>[^\W\d_]+)(?:['’-]\w+)*(?=[,;:!?…)"'”’»—]|\.(?!\w)|\s|\Z)""")
#: Ends of names of files and of sites, which may be written with a capital.
_NAME_ENDS = lazy_pattern(
    "com|org|net|edu|gov|js|ts|py|txt|md|doc|docx|pdf|jpg|jpeg|png|gif|html|htm|xml|json|csv|exe|zip",
    re.IGNORECASE,
)
_IN_WORD = lazy_pattern(r"[^\W_]")


def any_listed(*names: ListName) -> str:
    """Return a pattern of the words of some lists, in all languages."""
    return "|".join(map(re.escape, sorted({word for name in names for word in listed(name)}, key=len, reverse=True)))


@cache
def inner_dot(flags: re.RegexFlag = re.NOFLAG) -> re.Pattern[str]:
    """Return the pattern of a dot that ends no sentence, with the character after it: of an initial ("J. Smith"), of an
    abbreviation, before a number ("No. 5"), of an ordinal ("3. Mai").

    Args:
        flags: re.IGNORECASE for a text without capitals.
    """
    return re.compile(
        rf"""(?<![^\s.("'“„«-])(?:
            (?:[^\W\d_]|{any_listed("inner", "often_last")})\.\s+\S
            | (?:{any_listed("before_numbers")})\.\s+\d
            | (?<![^\s(])\d\d?\.\s+\w
        )\Z""",
        re.VERBOSE | flags,
    )


@cache
def maybe_last() -> re.Pattern[str]:
    """Return the pattern of a word before such a dot that may still end the sentence: an abbreviation, or a number
    ("She is 5. He is 6.")."""
    often_last = any_listed("often_last")
    return re.compile(rf"(?<![^\s(])(?:{often_last}|(?P<capitals>{_CAPITALS})|(?<=\s)(?P<number>\d\d?))\Z")


@cache
def pronouns() -> re.Pattern[str]:
    """Return the pattern of words that begin a sentence even after a number."""
    return re.compile(any_listed("pronouns"))


@cache
def beginnings() -> re.Pattern[str]:
    """Return the pattern of words that begin a sentence even after a name or a German noun ("ein Pferd.Eine Frau"),
    unlike "System.Out"."""
    return re.compile(any_listed("pronouns", "beginnings"))


@cache
def more_beginnings() -> re.Pattern[str]:
    """Return the pattern of more of them, which are hardly ever names in programs: after a word in small letters,
    others are ("torch.Tensor")."""
    return re.compile(any_listed("pronouns", "beginnings", "more_beginnings"))


@cache
def abbreviation() -> re.Pattern[str]:
    """Return the pattern of an abbreviation that is followed by something in its sentence."""
    return re.compile(any_listed("inner"))


#: The longest word that is considered, in characters.
_LONGEST_WORD = 60


def has_words(text: str) -> bool:
    """Return True if a text has a letter or a digit, and so something to translate."""
    return _IN_WORD.search(text) is not None


def sanitize_paragraphs(text: str) -> str:
    """Return the sanitized text, with `PARAGRAPH_END` between its paragraphs.

    Line breaks within paragraphs become spaces, and very wide white space becomes one space.
    """
    return PARAGRAPH_END.join(_WIDE_SPACE.sub(" ", sanitize(paragraph)) for paragraph in _BLANK_LINE.split(text))


def sentences(text: str) -> Iterator[str]:
    """Yield the sentences of a text, which together are the whole text except the white space between them."""
    return (text[start:end] for start, end in sentence_spans(text))


def sentence_spans(text: str) -> Iterator[tuple[int, int]]:
    """Yield the start and the end of each sentence. No sentence is only white space."""
    has_capitals = text != text.lower()
    start = 0
    for match in _MARKS.finditer(text):
        marks, space = match.groups()
        if match.end(1) == len(text):  # the end of a text ends its last sentence
            break
        ends_paragraph = marks is None or PARAGRAPH_END in space
        if not ends_paragraph and not _ends_sentence(text, start, match, has_capitals=has_capitals):
            continue
        end = match.start() if marks is None else match.end(1)
        if text[start:end].strip():
            yield start, end
        start = match.end()
    if text[start:].strip():
        yield start, len(text)


def _ends_sentence(text: str, start: int, match: re.Match[str], *, has_capitals: bool) -> bool:
    """Return True if the sentence that begins at `start` ends with these marks; in doubt it does not."""
    marks, space = match.groups()
    after = text[match.end() : match.end() + 1]
    if any(mark in _UNSPACED for mark in marks):  # after a quote it may go on: 「はい。」と言った。
        return bool(space) or marks[-1] in _UNSPACED or after in _OPENING
    if not space:
        return _ends_before(text, start, match)
    if _NO_BEGINNING.match(text, match.end()):
        return False
    before = max(0, match.start() - _LONGEST_ABBREVIATION)
    if after != after.title():  # a small letter, except in scripts without capitals, like Georgian
        if has_capitals or marks.strip(".!?"):
            return False
        return marks != "." or not inner_dot(re.IGNORECASE).search(text, before, match.end() + 1)
    if marks != "." or not inner_dot().search(text, before, match.end() + 1):
        return True
    next_word = _WORD_AFTER.match(text, match.end(), match.end() + _LONGEST_WORD)
    last = maybe_last().search(text[max(start, before) : match.start()])
    if next_word is None or last is None:
        return False
    if last["capitals"]:  # "P.S. I love you." is one sentence, "in the U.S. Now" ends one
        is_first = not text[start : match.start() - len(last[0])].strip()
        return not is_first and more_beginnings().fullmatch(next_word["word"]) is not None
    return (pronouns() if last["number"] else beginnings()).fullmatch(next_word["word"]) is not None


def _ends_before(text: str, start: int, match: re.Match[str]) -> bool:
    """Return True if a sentence ends with marks that the next one follows without a space."""
    marks = match.group(1)
    after = _WORD_AFTER.match(text, match.end(), match.end() + _LONGEST_WORD)
    before = _WORD_BEFORE.search(text[max(start, match.start() - _LONGEST_WORD) : match.start()])
    if after is None or before is None:
        return False
    word, next_word = before["word"], after["word"]
    first, rest = next_word[0], next_word[1:]
    if first.islower() or rest != rest.lower() or _NAME_ENDS.fullmatch(next_word):
        return False
    if marks != ".":
        return first.isupper() or any(mark in _CLEAR for mark in marks)
    if abbreviation().fullmatch(word):
        return False
    if word != word.lower():
        return beginnings().fullmatch(next_word) is not None
    return first.isupper() and (
        more_beginnings().fullmatch(next_word) is not None or not first.isascii()
    )  # programs have names in ASCII
