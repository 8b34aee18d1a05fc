"""Languages by their codes, their English names, and how they are written: with or without spaces, in which scripts."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable
from functools import lru_cache

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


#: Languages in which words beside all whole numbers over one have the same forms, by the plural rules of CLDR.
_ONE_PLURAL = """
af bg ca da de el en eo es et eu fa fi fr gl hi hu hy id it ja ka kk ko ky lo ms my nb nl nn no pt sv sw ta te th tr ur
uz vi zh
"""


#: Scripts written from right to left by their codes (ISO 15924), and languages whose likely script in CLDR
#: (likelySubtags) is one of them: all with locales there, and some others.
_RIGHT_TO_LEFT_SCRIPTS = frozenset(("adlm", "arab", "aran", "hebr", "mand", "nkoo", "rohg", "samr", "syrc", "thaa"))
_RIGHT_TO_LEFT = """
abv acw acx afb aii ar arc azb bal bgn bqi brh ckb div dv fa glk he iw ji kas khw ks lrc mzn nqo pbt pbu ps pst pus rhg
sd sdh skr snd syc syr trw ug uig ur ydd yi yid
"""


#: Words whose forms depend on the number after them: "an 8", "az 5", "gli 8".
_BEFORE_NUMBERS = {
    "en": "a an",
    "hu": "a az",
    "it": "il lo i gli del dello dei degli al allo ai agli dal dallo dai dagli nel nello nei negli sul sullo sui sugli",
}


_LATIN = "A-Za-zÀ-ÖØ-öø-\u02af\u1d00-\u1dbf\u1e00-\u1eff\u2c60-\u2c7f\ua722-\ua7ff\uab30-\uab64\ufb00-\ufb06"
_GREEK = "\u0370-\u03ff\u1f00-\u1fff"
_CYRILLIC = "\u0400-\u052f\u1c80-\u1c8f\ua640-\ua69f"
_ARABIC = "\u0600-\u06ff\u0750-\u077f\u08a0-\u08ff\ufb50-\ufdff\ufe70-\ufefe"
_DEVANAGARI = "\u0900-\u097f\ua8e0-\ua8ff"
_BY_SCRIPT = {"latn": _LATIN, "grek": _GREEK, "cyrl": _CYRILLIC, "arab": _ARABIC, "deva": _DEVANAGARI}
#: Languages that have a script in `_SCRIPTS`, and Latin letters too.
_ALSO_LATIN = "az kk ku mn ms sr tt uz"
#: The characters of scripts, for a class of a regular expression, and the languages that are written in them. Latin is
#: left out: every language has names and words in it. So is Greek, whose letters are symbols everywhere.
_SCRIPTS = {
    _CYRILLIC: "az be bg kk ky mk mn ru sr tg tt uk uz",
    "\u0530-\u058f": "hy",
    "\u0590-\u05ff": "he",
    _ARABIC: "ar az fa kk ku ky ms pa ps tt ug ur uz",
    _DEVANAGARI: "hi mr ne sa",
    "\u0980-\u09ff": "as bn sa",
    "\u0a00-\u0a7f": "pa",
    "\u0a80-\u0aff": "gu",
    "\u0b00-\u0b7f": "or",
    "\u0b80-\u0bff": "ta",
    "\u0c00-\u0c7f": "te",
    "\u0c80-\u0cff": "kn",
    "\u0d00-\u0d7f": "ml",
    "\u0d80-\u0dff": "si",
    "\u0e00-\u0e7f": "th",
    "\u0e80-\u0eff": "lo",
    "\u0f00-\u0fff": "bo",
    "\u1000-\u109f": "my",
    "\u10a0-\u10ff\u1c90-\u1cbf": "ka",
    "\u1100-\u11ff\u3130-\u318f\uac00-\ud7af": "ko",
    "\u1200-\u139f": "am ti",
    "\u1780-\u17ff": "km",
    "\u3040-\u30ff\u31f0-\u31ff": "ja",
    "\u3100-\u312f\u31a0-\u31bf": "zh",
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff": "ja ko zh",
}


def foreign_scripts(language: str) -> str:
    """Return the characters of the scripts that a language is not written in, for a class of a regular expression.

    It is empty for a language that is not known here.

    Args:
        language: its code.
    """
    language = base_language(language)
    if language not in KNOWN_CODES:
        return ""
    return "".join(characters for characters, languages in _SCRIPTS.items() if language not in languages.split())


def own_letters(code: str) -> str | None:
    """Return the letters that a language is written in, for a class of a regular expression; None if it is not known.

    A script in its code decides.
    """
    for part in re.split("[-_]", code.lower())[1:]:
        if part in _BY_SCRIPT:
            return _BY_SCRIPT[part]
    language = base_language(code)
    own = _GREEK if language == "el" else ""
    own += "".join(characters for characters, languages in _SCRIPTS.items() if language in languages.split())
    if not own and language not in KNOWN_CODES:
        return None
    return own + _LATIN if not own or language in _ALSO_LATIN.split() else own


def has_one_plural(language: str) -> bool:
    """Return True if words beside all whole numbers over one have the same forms; False if that is not known.

    Args:
        language: its code.
    """
    return base_language(language) in _ONE_PLURAL.split()


def is_right_to_left(code: str) -> bool:
    """Return True for a language that is written from right to left; a script in its code decides.

    >>> [is_right_to_left(code) for code in ("ar", "pes_Arab", "uz-Arab", "ks-Deva", "en-US", "zh")]
    [True, True, True, False, False, False]
    """
    script = next((part for part in re.split("[-_]", code.lower())[1:] if len(part) == 4 and part.isalpha()), "")
    return script in _RIGHT_TO_LEFT_SCRIPTS if script else base_language(code) in _RIGHT_TO_LEFT.split()


def depends_on_number(word: str, language: str) -> bool:
    """Return True if a word has another form before some numbers; False if that is not known.

    Args:
        language: its code.

    >>> depends_on_number("An", "en"), depends_on_number("the", "en")
    (True, False)
    """
    return word.lower() in _BEFORE_NUMBERS.get(base_language(language), "").split()


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


#: English names, as LibreTranslate and Argos Translate give them.
_NAMES = """
af Afrikaans; am Amharic; ar Arabic; as Assamese; az Azerbaijani; be Belarusian; bg Bulgarian; bn Bengali; bo Tibetan;
br Breton; bs Bosnian; ca Catalan; cs Czech; cy Welsh; da Danish; de German; el Greek; en English; eo Esperanto;
es Spanish; et Estonian; eu Basque; fa Persian; fi Finnish; fo Faroese; fr French; fy Frisian; ga Irish; gd Gaelic;
gl Galician; gu Gujarati; ha Hausa; he Hebrew; hi Hindi; hr Croatian; ht Haitian; hu Hungarian; hy Armenian;
id Indonesian; ig Igbo; is Icelandic; it Italian; ja Japanese; jv Javanese; ka Georgian; kk Kazakh; km Khmer;
kn Kannada; ko Korean; ku Kurdish; ky Kyrgyz; la Latin; lb Luxembourgish; lg Ganda; ln Lingala; lo Lao; lt Lithuanian;
lv Latvian; mg Malagasy; mi Maori; mk Macedonian; ml Malayalam; mn Mongolian; mr Marathi; ms Malay; mt Maltese;
my Burmese; nb Norwegian; ne Nepali; nl Dutch; nn Nynorsk; no Norwegian; oc Occitan; or Odia; pa Punjabi; pl Polish;
ps Pashto; pt Portuguese; ro Romanian; ru Russian; rw Kinyarwanda; sa Sanskrit; sd Sindhi; si Sinhala; sk Slovak;
sl Slovenian; sn Shona; so Somali; sq Albanian; sr Serbian; su Sundanese; sv Swedish; sw Swahili; ta Tamil; te Telugu;
tg Tajik; th Thai; ti Tigrinya; tk Turkmen; tl Tagalog; tn Tswana; tr Turkish; tt Tatar; ug Uyghur; uk Ukrainian;
ur Urdu; uz Uzbek; vi Vietnamese; wo Wolof; xh Xhosa; yi Yiddish; yo Yoruba; zh Chinese; zt Chinese (traditional);
zu Zulu; pb Portuguese (Brazil)
"""
_BY_CODE = dict(entry.split(maxsplit=1) for entry in _NAMES.replace("\n", " ").split(";"))
_VARIANTS = {
    "zh-hant": "Chinese (traditional)",
    "zh-tw": "Chinese (traditional)",
    "pt-br": "Portuguese (Brazil)",
}


def english_name(code: str) -> str:
    """Return the English name of a language, or its code if it has none here.

    >>> english_name("de"), english_name("zho_Hans"), english_name("pt-BR"), english_name("xx")
    ('German', 'Chinese', 'Portuguese (Brazil)', 'xx')
    """
    variant = _VARIANTS.get(code.lower().replace("_", "-"))
    return variant or _BY_CODE.get(code.lower()) or _BY_CODE.get(base_language(code), code)
