"""English names of languages, as LibreTranslate and Argos Translate give them."""

from __future__ import annotations

from dragoman.text.languages import base_language

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
