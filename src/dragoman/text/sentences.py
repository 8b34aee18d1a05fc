"""The sentences of a text, found by their marks."""

from __future__ import annotations

import re
from collections.abc import Iterator

from dragoman.text.cleaning import sanitize

#: Marks that end a sentence in scripts with spaces between words, and in scripts without.
_SPACED, _UNSPACED = ".!?…؟۔։", "。！？｡।॥។။"
#: Marks that end a sentence and are part of no name, so that the next sentence may follow without a space.
_CLEAR = "!?؟۔։"
_OPENING, _CLOSING = "“‘「『（《〈【", r"""\"'”’»«›‹)\]」』）》〉】"""
#: The end of a paragraph, as one character of white space. It ends a sentence too.
PARAGRAPH_END = "\u2029"
#: White space between words that is wider than any writing needs, as in tables.
_WIDE_SPACE = re.compile(r"\s{9,}")
_BLANK_LINE = re.compile(r"\n\s*\n\s*|\u2029\s*")
#: All marks in a row with what closes after them, and the space that follows; or the end of a paragraph. German closes
#: with what elsewhere opens, and French puts a space before »: these close where a space follows.
_MARKS = re.compile(
    rf"([{_SPACED}{_UNSPACED}](?:[{_SPACED}{_UNSPACED}{_CLOSING}]|(?:“|‘|\s»)(?!\S))*)(\s*)|{PARAGRAPH_END}\s*"
)
#: Titles and abbreviations that are followed by something in their sentence.
_ABBREVIATIONS = (
    "Mr|Mrs|Ms|Dr|Dra|Prof|Rev|Gen|Capt|Lt|Sgt|Cpl|Col|Maj|Adm|Gov|Sen|Rep|Pres|Hon|St|Ft|Mt|Messrs|"
    "Hr|Fr|Frl|Fa|Ing|med|Mio|Mrd|[Gg]eb|[Gg]gf|[Ss]og|[Bb]zw|[Cc]a|[Vv]gl|[Ii]nkl|[Ee]vtl|Bd|"
    "ex|env|[Tt]él|[Tt]el|MM|Mme|Mmes|Mlle|Sr|Sra|Srta|Sig|ул|им|св|акад|[Cc]f|[Aa]pprox|vs|Fig|Figs|Abb|Vol|Nr|Ave|Blvd"
)
#: Abbreviations that may also be the last word of a sentence.
_OFTEN_LAST = r"etc|al|Inc|Ltd|Corp|Co|Jr|Std|Min|(?:[ap]\.m)|(?:U\.S(?:\.A)?)|(?:U\.K)|(?:D\.C)|(?:Ph\.D)"
#: Abbreviations before a number.
_BEFORE_NUMBERS = (
    "[Nn]o|[Nn]um|Art|Kap|Abs|Tab|figs?|[Ee]qs?|[Cc]h|vols?|Vols|[Ss]ec|[Pp]p|[Oo]p|[Ee]nv|Ziff|Str|стр|рис|"
    "Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Okt|Oct|Nov|Dec|Dez|janv|févr?|avr|juil|sept|oct|nov|déc|max|bd"
)
_LONGEST_ABBREVIATION = 8
#: A dot that ends no sentence, with the character after it: of an initial ("J. Smith", "z. B."), of an abbreviation,
#: before a number ("No. 5"), of an ordinal ("3. Mai").
_INNER_DOT_PATTERN = rf"""(?<![^\s.("'“„«-])(?:
        (?:[^\W\d_]|{_ABBREVIATIONS}|{_OFTEN_LAST})\.\s+\S
        | (?:{_BEFORE_NUMBERS})\.\s+\d
        | (?<![^\s(])\d\d?\.\s+\w
    )\Z"""
_INNER_DOT = re.compile(_INNER_DOT_PATTERN, re.VERBOSE)
#: The same in text without capitals.
_SMALL_INNER_DOT = re.compile(_INNER_DOT_PATTERN, re.VERBOSE | re.IGNORECASE)
#: A word before such a dot that may still end the sentence: an abbreviation, or a number ("She is 5. He is 6.").
_MAYBE_LAST = re.compile(rf"(?<![^\s(])(?:{_OFTEN_LAST}|(?<=\s)(?P<number>\d\d?))\Z")
#: What begins no sentence: "Tél. : 01".
_NO_BEGINNING = re.compile(r"[,;:](?=\s)")
#: The end of a sentence that the next one follows without a space: a word in small letters, or a year ("a book.A dog").
#: Names look otherwise: "U.S.A", "System.Out", "e.g.The", "v2.Beta", "www.Example.com".
_WORD_BEFORE = re.compile(r"""(?:^|(?<=[\s("'“‘„«\u2014-]))(?P<word>(?:[^\W\d_]['’]?){2,}|\d{3,4})\Z""")
#: The word that begins a sentence there, up to what follows it; a name has no further capitals, dots or signs of code.
_WORD_AFTER = re.compile(r"""["'“‘„«(¿¡]*(?P<word>[^\W\d_]+)(?:['’-]\w+)*(?=[,;:!?…)"'”’»—]|\.(?!\w)|\s|\Z)""")
#: Words that begin a sentence even after a name or a German noun ("ein Pferd.Eine Frau"), unlike "System.Out".
_PRONOUNS = "He|She|It|They|We|Er|Sie|Wir|Il|Elle|Ils|Elles"
_BEGINNINGS = re.compile(f"{_PRONOUNS}|A|An|The|Der|Die|Das|Ein|Eine|Le|La|Les|Un|Une|Des")
#: More of them, which are hardly ever names in programs: after a word in small letters, others are ("torch.Tensor").
_MORE_BEGINNINGS = re.compile(
    "I|You|His|Her|Its|Their|Our|My|Your|This|That|These|Those|There|Here|Who|What|Why|How|When|While|But|And|So|In|On|At|"
    "With|One|Two|Three|Four|Five|Six|Several|Some|Many|Most|Both|Another|Other|People|Men|Women|Children|Kids|Someone|"
    "Everyone|Young|Ich|Du|Ihr|Es|Sein|Seine|Ihre|Dies|Diese|Dieser|Dieses|Einige|Mehrere|Viele|Zwei|Drei|Vier|Fünf|"
    "Im|Am|Auf|Mit|Und|Aber|Dann|Dort|Da|Hier|Männer|Frauen|Kinder|Leute|Menschen|Jemand|Junge|Je|Tu|Nous|Vous|On|Ce|"
    "Cet|Cette|Ces|Mais|Et|Dans|Sur|Deux|Trois|Quatre|Cinq|Plusieurs|Son|Sa|Ses|Leur|El|Los|Las|Una|Yo|Él|Ella|Ellos"
)
#: Ends of names of files and of sites, which may be written with a capital.
_NAME_ENDS = re.compile(
    "com|org|net|edu|gov|js|ts|py|txt|md|doc|docx|pdf|jpg|jpeg|png|gif|html|htm|xml|json|csv|exe|zip",
    re.IGNORECASE,
)
_IN_WORD = re.compile(r"[^\W_]")
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
        return marks != "." or not _SMALL_INNER_DOT.search(text, before, match.end() + 1)
    if marks != "." or not _INNER_DOT.search(text, before, match.end() + 1):
        return True
    next_word = _WORD_AFTER.match(text, match.end(), match.end() + _LONGEST_WORD)
    maybe_last = _MAYBE_LAST.search(text[max(start, before) : match.start()])
    if next_word is None or maybe_last is None:
        return False
    beginnings = _PRONOUNS if maybe_last["number"] else _BEGINNINGS
    return re.fullmatch(beginnings, next_word["word"]) is not None


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
    if re.fullmatch(_ABBREVIATIONS, word):
        return False
    if word != word.lower():
        return _BEGINNINGS.fullmatch(next_word) is not None
    is_beginning = _BEGINNINGS.fullmatch(next_word) or _MORE_BEGINNINGS.fullmatch(next_word)
    return first.isupper() and (is_beginning is not None or not first.isascii())  # programs have names in ASCII
