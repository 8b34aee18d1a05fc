"""Names of months and weekdays. In Chinese they are numbers, before 月 and after 星期."""

from __future__ import annotations

from collections.abc import Mapping, Sequence


def _split(names: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    return {language: tuple(words.split()) for language, words in names.items()}


MONTHS: Mapping[str, Sequence[str]] = _split(
    {
        "en": "January February March April May June July August September October November December",
        "de": "Januar Februar März April Mai Juni Juli August September Oktober November Dezember",
        "fr": "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
        "zh": "一 二 三 四 五 六 七 八 九 十 十一 十二",
    }
)
#: From Monday on.
WEEKDAYS: Mapping[str, Sequence[str]] = _split(
    {
        "en": "Monday Tuesday Wednesday Thursday Friday Saturday Sunday",
        "de": "Montag Dienstag Mittwoch Donnerstag Freitag Samstag Sonntag",
        "fr": "lundi mardi mercredi jeudi vendredi samedi dimanche",
        "zh": "一 二 三 四 五 六 日",
    }
)
