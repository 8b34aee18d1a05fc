"""Meaning of the names in a table's header, and of the keys of JSON objects: a side of a pair, or a language."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from dragoman.errors import ConfigError
from dragoman.text.languages import KNOWN_CODES, base_language

#: A language's code, or None where nobody named it: of the source and of the target.
Languages = tuple[str | None, str | None]

#: Words for each side, and words that say no more than "here is text".
_SIDES = {
    "source": "source src original input quelle quelltext ausgangstext 原文 源文 源",
    "target": "target tgt trg ref reference translation translated output ziel zieltext übersetzung 译文 翻译 目标",
}
_SIDE_OF = {word: side for side, words in _SIDES.items() for word in words.split()}
_PLAIN = frozenset(
    ("caption", "content", "phrase", "satz", "segment", "sentence", "sentences", "string", "text", "texts")
)
#: Codes that are more often the name of something else: a number, or a machine's translation.
_AMBIGUOUS = frozenset(("id", "mt", "no"))
#: Names of languages in English, in the language itself and, for the most frequent, in some others.
_NAMES = """
af afrikaans; am amharic አማርኛ; ar arabic العربية; az azerbaijani azərbaycan; be belarusian беларуская;
bg bulgarian български; bn bengali বাংলা; bs bosnian bosanski; ca catalan català; cs czech čeština česky;
cy welsh cymraeg; da danish dansk; de german deutsch allemand alemán tedesco 德语 德文; el greek ελληνικά;
en english englisch anglais inglés inglese 英语 英文; eo esperanto;
es spanish español espanol castellano spanisch espagnol; et estonian eesti; eu basque euskara;
fa persian farsi فارسی; fi finnish suomi; fr french français francais französisch francés francese 法语 法文;
ga irish gaeilge; gl galician galego; gu gujarati ગુજરાતી; he hebrew עברית; hi hindi हिन्दी; hr croatian hrvatski;
hu hungarian magyar; hy armenian հայերեն; id indonesian; is icelandic íslenska; it italian italiano italienisch;
ja japanese 日本語 japanisch 日语; ka georgian ქართული; kk kazakh қазақ; km khmer ខ្មែរ; kn kannada ಕನ್ನಡ;
ko korean 한국어; la latin latina; lb luxembourgish lëtzebuergesch; lo lao ລາວ; lt lithuanian lietuvių;
lv latvian latviešu; mk macedonian македонски; ml malayalam മലയാളം; mn mongolian монгол; mr marathi मराठी;
ms malay melayu; mt maltese malti; my burmese မြန်မာ; nb bokmål; ne nepali नेपाली; nl dutch nederlands; nn nynorsk;
no norwegian norsk; pa punjabi ਪੰਜਾਬੀ; pl polish polski; ps pashto پښتو; pt portuguese português portugues;
ro romanian română; ru russian русский russisch russe; si sinhala සිංහල; sk slovak slovenčina;
sl slovenian slovene slovenščina; so somali soomaali; sq albanian shqip; sr serbian српски srpski;
sv swedish svenska; sw swahili kiswahili; ta tamil தமிழ்; te telugu తెలుగు; th thai ไทย; tl tagalog filipino;
tr turkish türkçe; uk ukrainian українська; ur urdu اردو; uz uzbek; vi vietnamese việt; xh xhosa; yo yoruba;
zh chinese mandarin 中文 汉语 简体中文 繁體中文 chinesisch chinois; zu zulu
"""
_CODE_OF = {name: code for line in _NAMES.split(";") for code, *names in [line.split()] for name in names}
_CODES = KNOWN_CODES | frozenset(_CODE_OF.values())
#: Words beside the name of a language.
_REGIONS = frozenset(("brazilian", "brasil", "gb", "hans", "hant", "latn", "simplified", "traditional", "uk", "us"))
#: Marks that end or part a sentence, and stand in no name.
_SENTENCE = re.compile(r"\.(\s|\Z)|[!?\u2026\u3002\uff01\uff1f]|[,;:]\s")
_WORDS = re.compile(r"[^\W\d_]+")
_NUMBERED = re.compile(r"([^\W\d]+)[ -]?([12])")
_CODE = re.compile(r"([A-Za-z]{2,3})(?:[-_]([A-Za-z]{2,4}))?")


class Meaning(NamedTuple):
    """Meaning of one name: the side ("source", "target"), the language's code, and whether it may be text at all."""

    side: str | None = None
    language: str | None = None
    is_plain: bool = False


class Choice(NamedTuple):
    """Places of the source and of the target among the names, and their languages as far as the names say them."""

    source: int
    target: int
    languages: Languages
    #: The reason, if the columns stand the other way round in the table.
    swapped_by: str | None = None


def language_code(text: str) -> str | None:
    """Return the code that a cell is, such as EN, en-US or zho_Hans, in its usual spelling; else None.

    >>> [language_code(text) for text in ("EN", "de_DE", "eng", "Hello", "ab")]
    ['en', 'de_DE', 'eng', None, None]
    """
    match = _CODE.fullmatch(text.strip())
    if match is None or match[1].lower() not in _CODES:
        return None
    code = match[1].lower()
    return code + text.strip()[len(code) :]


def meaning(name: str, wanted: Sequence[str | None] = (), *, ambiguous: bool = False) -> Meaning:
    """Say what a column's name means.

    Args:
        wanted: codes of languages that count besides those known here.
        ambiguous: take `id`, `mt` and `no` for Indonesian, Maltese and Norwegian.

    >>> [tuple(meaning(name)) for name in ("English sentence", "src_text", "sourceLang")]
    [(None, 'en', False), ('source', None, False), (None, None, False)]
    """
    name = name.strip().strip("\ufeff\"'#")
    code = name if name in wanted else language_code(name)
    if code is not None and (code not in _AMBIGUOUS or ambiguous or code in wanted):
        return Meaning(language=code)
    whole = _CODE_OF.get(name.casefold())
    if whole is not None:
        return Meaning(language=whole)
    words = [word.casefold() for word in _WORDS.findall(re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name))]
    rest = [word for word in words if word not in _PLAIN]
    sides = [_SIDE_OF[word] for word in rest if word in _SIDE_OF]
    languages = [code for word in rest if word not in _SIDE_OF and (code := _language(word, wanted)) is not None]
    n_known = len(sides) + len(languages) + sum(word in _REGIONS for word in rest)
    if not words or _SENTENCE.search(name) or len(set(sides)) > 1 or len(languages) > 1 or n_known < len(rest):
        return Meaning()
    return Meaning(sides[0] if sides else None, languages[0] if languages else None, not rest)


def choose_by_name(names: Sequence[str], wanted: Languages, where: Path | str | None = None) -> Choice | None:
    """Find the two sides of a pair among the names of columns; None if the names do not say them.

    Args:
        where: the file, for messages.

    Raises:
        ConfigError: they contradict the languages that are wanted, or name too many languages.
    """
    for ambiguous in (False, True):
        meanings = [meaning(name, wanted, ambiguous=ambiguous) for name in names]
        found = _by_side(meanings, wanted, where) or _by_language(meanings, wanted, where) or _by_rest(meanings)
        if found is not None:
            return found
    return _by_number(names)


def are_names(cells: Sequence[str]) -> bool:
    """Say if cells name two sides of a pair, or more languages than two."""
    try:
        return len(cells) > 1 and choose_by_name(cells, (None, None)) is not None
    except ConfigError:
        return True


def same_language(one: str, other: str) -> bool:
    """Compare two codes without their regions."""
    return base_language(one) == base_language(other)


def is_swapped(languages: Languages, wanted: Languages) -> bool | None:
    """Say if columns of these languages stand the other way round than wanted; None if they contradict it."""
    if _fit(languages, wanted):
        return False
    return True if _fit(languages[::-1], wanted) else None


def contradiction(where: Path | str | None, languages: Sequence[str | None], wanted: Languages) -> ConfigError:
    """Return an error: the columns are of other languages than are wanted."""
    there, asked = ", ".join(filter(None, languages)), " to ".join(code or "any language" for code in wanted)
    advice = "give the languages that are there (--source-lang, --target-lang), or other columns (--columns)"
    return ConfigError(f"the columns are {there}, and {asked} is asked for", where, advice=advice)


def _fit(languages: Languages, wanted: Languages) -> bool:
    pairs = zip(languages, wanted, strict=True)
    return all(one is None or other is None or same_language(one, other) for one, other in pairs)


def _language(word: str, wanted: Sequence[str | None]) -> str | None:
    is_code = (word in wanted or word in _CODES) and word not in _AMBIGUOUS and word not in _REGIONS
    return word if is_code else _CODE_OF.get(word)


def _by_side(meanings: Sequence[Meaning], wanted: Languages, where: Path | str | None) -> Choice | None:
    """One column named source and one named target."""
    places = [[at for at, each in enumerate(meanings) if each.side == side] for side in ("source", "target")]
    if [len(each) for each in places] != [1, 1]:
        return None
    (source,), (target,) = places
    languages = meanings[source].language, meanings[target].language
    swapped = is_swapped(languages, wanted)
    if swapped is None:
        raise contradiction(where, languages, wanted)
    return Choice(target, source, languages[::-1], "the header") if swapped else Choice(source, target, languages)


def _by_language(meanings: Sequence[Meaning], wanted: Languages, where: Path | str | None) -> Choice | None:
    """Two columns named after two languages: those that are wanted, else in the order of the table."""
    places = [at for at, each in enumerate(meanings) if each.language is not None]
    codes = [meanings[at].language or "" for at in places]
    if len({base_language(code) for code in codes}) < 2:
        return None
    chosen = [None if code is None else _place(code, places, codes) for code in wanted]
    rest = [at for at in places if at not in chosen]
    if any(code is not None and at is None for code, at in zip(wanted, chosen, strict=True)):
        raise contradiction(where, codes, wanted)
    if len(rest) > 2 - sum(at is not None for at in chosen) and None in chosen:
        advice = "say which two: --source-lang and --target-lang, or --columns"
        raise ConfigError(f"the columns are of more than two languages ({', '.join(codes)})", where, advice=advice)
    source, target = (rest.pop(0) if at is None else at for at in chosen)
    swapped_by = "the header" if source > target else None
    return Choice(source, target, (meanings[source].language, meanings[target].language), swapped_by)


def _place(code: str, places: Sequence[int], codes: Sequence[str]) -> int | None:
    """Place of a language: of the very code first, then of one with another region."""
    exact = [at for at, other in zip(places, codes, strict=True) if other.lower() == code.lower()]
    alike = [at for at, other in zip(places, codes, strict=True) if same_language(other, code)]
    return next(iter([*exact, *alike]), None)


def _by_rest(meanings: Sequence[Meaning]) -> Choice | None:
    """One side is named, and one other column is a language or just text: ("sentence", "translation")."""
    sides = [at for at, each in enumerate(meanings) if each.side is not None]
    others = [at for at, each in enumerate(meanings) if each.side is None and (each.language or each.is_plain)]
    if len(sides) != 1 or len(others) != 1:
        return None
    is_source = meanings[sides[0]].side == "source"
    source, target = (sides[0], others[0]) if is_source else (others[0], sides[0])
    return Choice(source, target, (meanings[source].language, meanings[target].language))


def _by_number(names: Sequence[str]) -> Choice | None:
    """Two columns of one name and the numbers 1 and 2: ("sentence1", "sentence2")."""
    places = {match.groups(): at for at, name in enumerate(names) if (match := _NUMBERED.fullmatch(name.strip()))}
    pairs = [
        (at, places[stem, "2"]) for (stem, number), at in places.items() if number == "1" and (stem, "2") in places
    ]
    return Choice(*pairs[0], (None, None)) if len(pairs) == 1 else None
