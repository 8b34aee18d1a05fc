"""Rules of gettext for plural forms, by language: the number of forms, and the form of a number n."""

from __future__ import annotations

_NONE = "nplurals=1; plural=0;"
_ONE = "nplurals=2; plural=(n != 1);"
_UP_TO_ONE = "nplurals=2; plural=(n > 1);"
_FEW = "n%10>=2 && n%10<=4 && (n%100<10 || n%100>=20)"
_ONES_AND_FEW = f"nplurals=3; plural=(n%10==1 && n%100!=11 ? 0 : {_FEW} ? 1 : 2);"
_ONE_AND_FEW = "nplurals=3; plural=(n==1) ? 0 : (n>=2 && n<=4) ? 1 : 2;"

#: Those of the manual of gettext, for languages whose file names none.
PLURAL_FORMS = {
    **dict.fromkeys(("id", "ja", "km", "ko", "lo", "ms", "my", "th", "vi", "zh"), _NONE),
    **dict.fromkeys(("bg", "bn", "ca", "da", "de", "el", "en", "eo", "es", "et", "eu", "fi", "fo", "gl", "gu"), _ONE),
    **dict.fromkeys(("he", "hi", "hu", "it", "kn", "ml", "mr", "nb", "nl", "nn", "no", "pa", "pt", "sq"), _ONE),
    **dict.fromkeys(("sv", "sw", "ta", "te", "ur"), _ONE),
    **dict.fromkeys(("fr", "hy", "oc", "tr"), _UP_TO_ONE),
    **dict.fromkeys(("be", "bs", "hr", "ru", "sr", "uk"), _ONES_AND_FEW),
    **dict.fromkeys(("cs", "sk"), _ONE_AND_FEW),
    "pl": f"nplurals=3; plural=(n==1 ? 0 : {_FEW} ? 1 : 2);",
    "lt": "nplurals=3; plural=(n%10==1 && n%100!=11 ? 0 : n%10>=2 && (n%100<10 || n%100>=20) ? 1 : 2);",
    "lv": "nplurals=3; plural=(n%10==1 && n%100!=11 ? 0 : n != 0 ? 1 : 2);",
    "ro": "nplurals=3; plural=(n==1 ? 0 : (n==0 || (n%100 > 0 && n%100 < 20)) ? 1 : 2);",
    "ga": "nplurals=3; plural=(n==1 ? 0 : n==2 ? 1 : 2);",
    "sl": "nplurals=4; plural=(n%100==1 ? 0 : n%100==2 ? 1 : n%100==3 || n%100==4 ? 2 : 3);",
    "ar": "nplurals=6; plural=(n==0 ? 0 : n==1 ? 1 : n==2 ? 2 : n%100>=3 && n%100<=10 ? 3 : n%100>=11 ? 4 : 5);",
}
