"""Languages by their codes, their English names, and how they are written: with or without spaces, in which scripts."""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, NamedTuple

#: Codes of the source and the target language; None for one that is not named.
Languages = tuple[str | None, str | None]

#: Languages written without spaces between words.
WITHOUT_SPACES = frozenset(("zh", "ja", "th", "lo", "km", "my"))
#: Their characters, for a class of a regular expression: Thai, Lao, Burmese, Khmer, kana, Chinese characters.
UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
)

#: The code of two letters (ISO 639-1), then those of three (ISO 639-2 and 639-3, and members of the language that the
#: field's corpora name one by one, as FLORES does), for each language that a rule of Moses, spaCy or sacreBLEU is for.
_CODES = """
af afr; am amh; ar ara arb acm acq aeb ajp apc ars ary arz; as asm; az aze azj; bg bul; bn ben; bo bod tib; ca cat;
cs ces cze; da dan; de deu ger; el ell gre; en eng; es spa; et est ekk; eu eus baq; fa fas per pes prs; fi fin; fo fao;
fr fra fre; ga gle; gd gla; gu guj; he heb; hi hin; hr hrv; ht hat; hu hun; hy hye arm; id ind; is isl ice; it ita;
ja jpn; km khm; kn kan; ko kor; ky kir; la lat; lb ltz; lg lug; lo lao; lt lit; lv lav lvs; mk mkd mac; ml mal; mr mar;
ms msa may zsm; my mya bur; nb nob; ne nep npi; nl nld dut; nn nno; or ori ory; pa pan; pl pol; pt por; ro ron rum;
ru rus; sa san; si sin; sk slk slo; sl slv; sq sqi alb als; sr srp; sv swe; ta tam; te tel; th tha; ti tir; tl tgl fil;
tn tsn; tr tur; tt tat; uk ukr; ur urd; vi vie; yo yor; zh zho chi cmn yue lzh wuu gan hsn
"""
_SHORT = {code: short for line in _CODES.split(";") for short, *codes in [line.split()] for code in codes}
#: All codes of these languages.
KNOWN_CODES = frozenset(_CODES.replace(";", " ").split())


class Script(NamedTuple):
    """A script of `languages.toml`."""

    #: For a class of a regular expression.
    characters: str
    #: The codes of those that are written in it.
    languages: str
    code: str | None = None
    is_everywhere: bool = False


@cache
def _data() -> Mapping[str, Any]:
    return tomllib.loads(Path(__file__).with_name("languages.toml").read_text(encoding="utf-8"))


@cache
def known_scripts() -> Sequence[Script]:
    """Return all scripts that are known, Latin last."""
    return [Script(**each) for each in _data()["scripts"].values()]


def foreign_scripts(language: str) -> str:
    """Return the characters of the scripts that a language is not written in, for a class of a regular expression.

    It is empty for a language that is not known here.

    Args:
        language: its code.
    """
    language = base_language(language)
    if language not in KNOWN_CODES:
        return ""
    foreign = (one for one in known_scripts() if not one.is_everywhere and language not in one.languages.split())
    return "".join(script.characters for script in foreign)


def own_letters(code: str) -> str | None:
    """Return the letters that a language is written in, for a class of a regular expression; None if it is not known.

    A script in its code decides.
    """
    by_code = {script.code: script.characters for script in known_scripts()}
    for part in re.split("[-_]", code.lower())[1:]:
        if part in by_code:
            return by_code[part]
    language = base_language(code)
    own = "".join(script.characters for script in known_scripts() if language in script.languages.split())
    return own or (by_code["latn"] if language in KNOWN_CODES else None)


def is_right_to_left(code: str) -> bool:
    """Return True for a language that is written from right to left; a script in its code decides.

    >>> [is_right_to_left(code) for code in ("ar", "pes_Arab", "uz-Arab", "ks-Deva", "en-US", "zh")]
    [True, True, True, False, False, False]
    """
    script = next((part for part in re.split("[-_]", code.lower())[1:] if len(part) == 4 and part.isalpha()), "")
    if script:
        return script in _data()["right_to_left_scripts"].split()
    return base_language(code) in _data()["right_to_left"].split()


def depends_on_number(word: str, language: str) -> bool:
    """Return True if a word has another form before some numbers; False if that is not known.

    Args:
        language: its code.

    >>> depends_on_number("An", "en"), depends_on_number("the", "en")
    (True, False)
    """
    return word.lower() in _data()["before_numbers"].get(base_language(language), "").split()


@lru_cache(maxsize=256)
def base_language(code: str) -> str:
    """Return the language of a code, without region or script; in two letters if any rule here is for that language.

    >>> [base_language(code) for code in ("pt-BR", "zho_Hans", "cmn", "und")]
    ['pt', 'zh', 'zh', 'und']
    """
    language = re.split("[-_]", code)[0].lower()
    return _SHORT.get(language, language)


def find_code(code: str, known: Iterable[str]) -> str | None:
    """Return the known code that is equal to a code, or the only one of the same language; None if there is none.

    >>> find_code("zh-CN", ["en", "zh"]), find_code("pt", ["pt-BR", "pt-PT"])
    ('zh', None)
    >>> find_code("zho_Hans", ["zh-Hans", "zh-Hant"]), find_code("acm_Arab", ["ar", "acm"])
    ('zh-Hans', 'acm')
    """
    known = list(known)
    base, _, script = code.replace("_", "-").partition("-")
    for spelled in (code, f"{base}-{script}", base, f"{_SHORT.get(base, base)}-{script}"):
        if spelled in known:
            return spelled
    related = [each for each in known if base_language(each) == base_language(code)]
    return related[0] if len(related) == 1 else None


def short_codes(codes: Collection[str]) -> dict[str, str]:
    """Return the code of two letters of each code of three; of several such languages only the usual one has it.

    >>> short_codes(["deu", "zho", "yue", "fur"])
    {'deu': 'de', 'zho': 'zh', 'yue': 'yue', 'fur': 'fur'}
    """
    usual = {short: code for code, short in reversed(_SHORT.items()) if code in codes}
    return {code: _SHORT[code] if usual.get(_SHORT.get(code, "")) == code else code for code in codes}


def scripts(texts: Iterable[str]) -> Counter[str]:
    """Count the letters of each script; it is the first word of a letter's name in Unicode."""
    counts: Counter[str] = Counter()
    for letter, count in _letters(texts).items():
        counts[unicodedata.name(letter, "").split(" ")[0]] += count
    return counts


def lacks_spaces(texts: Iterable[str]) -> bool:
    """Return True if most letters of the texts are of scripts without spaces between words."""
    letters = _letters(texts)
    return 2 * sum(count for letter, count in letters.items() if re.match(f"[{UNSPACED}]", letter)) > letters.total()


def _letters(texts: Iterable[str]) -> Counter[str]:
    characters: Counter[str] = Counter()
    for text in texts:
        characters.update(text)
    return Counter({character: count for character, count in characters.items() if character.isalpha()})


def english_name(code: str) -> str:
    """Return the English name of a language, or its code if it has none here.

    >>> english_name("de"), english_name("zho_Hans"), english_name("pt-BR"), english_name("xx")
    ('German', 'Chinese', 'Portuguese (Brazil)', 'xx')
    """
    names: Mapping[str, str] = _data()["names"]
    return names.get(code.lower().replace("_", "-")) or names.get(base_language(code), code)
