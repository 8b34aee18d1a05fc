"""Made-up sentences with things that a translation must keep: digits, URLs, addresses, placeholders, names.

Sentences come from the templates of everyday/templates.tsv, with values drawn from a fixed seed: the same 200 for each
source language, 25 of each kind. A translation is right if it has the same digits in the same order, separators
ignored, and every span exactly once. A time may be told by the other clock (5 pm, 17:00), the parts of a date may
change places and its month may become a word; names may be written as everyday/names.tsv says.
"""

from __future__ import annotations

import itertools
import random
import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "everyday"
KINDS = ("number", "time", "date", "price", "url", "email", "placeholder", "name")
#: Sentences of each kind.
N_SENTENCES = 25
MONTHS = {
    "en": "January February March April May June July August September October November December",
    "de": "Januar Februar März April Mai Juni Juli August September Oktober November Dezember",
    "fr": "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
    "zh": "一月 二月 三月 四月 五月 六月 七月 八月 九月 十月 十一月 十二月",
}
#: Separators of thousands and of decimals.
SEPARATORS = {"en": (",", "."), "de": (".", ","), "fr": ("\N{NO-BREAK SPACE}", ","), "zh": ("", ".")}
PRICES = {"en": ("${}", "£{}", "€{}"), "de": ("{} €", "{} Euro"), "fr": ("{} €", "{} euros"), "zh": ("{}元", "{}欧元")}
PERCENT = {"en": "{}%", "de": "{} %", "fr": "{} %", "zh": "{}%"}
PHONES = {"en": "555-01{:02}", "de": "030 55501{:02}", "fr": "01 99 00 42 {:02}", "zh": "010-555501{:02}"}
TIMES = {
    "en": ("{h}:{m:02}", "{h12}:{m:02} {half}"),
    "de": ("{h}:{m:02} Uhr",),
    "fr": ("{h} h {m:02}", "{h}h{m:02}", "{h}:{m:02}"),
    "zh": ("{h}:{m:02}", "{half}{h12}:{m:02}", "{half}{h12}点{m:02}分"),
}
FULL_HOURS = {"en": "{h12} {half}", "de": "{h} Uhr", "fr": "{h} h", "zh": "{half}{h12}点"}
DATES = {
    "en": ("{month} {d}", "{d} {month} {y}", "{y}-{m:02}-{d:02}"),
    "de": ("{d}. {month}", "{d:02}.{m:02}.{y}", "{d}. {month} {y}"),
    "fr": ("{d} {month}", "{d:02}/{m:02}/{y}", "{d} {month} {y}"),
    "zh": ("{m}月{d}日", "{y}年{m}月{d}日", "{y}-{m:02}-{d:02}"),
}
_SLOT = re.compile(r"<(\w+)>")
_LATIN = "A-Za-z\u00c0-\u024f"


@dataclass(frozen=True)
class Form:
    """One way to write a number: its digits, and words of which one must stand in the sentence, if there are any."""

    digits: str
    words: tuple[str, ...] = ()


@dataclass(frozen=True)
class Value:
    """What fills a slot: its text in the source, and what a translation may make of it."""

    text: str
    #: Of a number, a time, a date or a price.
    forms: tuple[Form, ...] = ()
    #: Finds a span in the translation.
    pattern: str = ""


@dataclass(frozen=True)
class MadeUp:
    """A sentence and what must be kept of it."""

    kind: str
    text: str
    values: tuple[Value, ...]

    def fault(self, translation: str) -> str:
        """Return what is wrong with a translation; empty if nothing is."""
        rest = translation.replace("’", "'")
        for value in (each for each in self.values if each.pattern):
            n_found = len(re.findall(value.pattern, simplified(rest)))
            if n_found != 1:
                return f"{value.text} {n_found} times"
            rest = re.sub(value.pattern, " ", rest)
        found = re.sub(r"\D", "", unicodedata.normalize("NFKC", rest))
        forms = itertools.product(*(value.forms for value in self.values if value.forms))
        if not any(_has(translation, found, each) for each in forms):
            return f"digits {found or 'lost'}"
        return ""


def _has(translation: str, found: str, forms: Sequence[Form]) -> bool:
    words = [form.words for form in forms if form.words]
    lower = translation.lower()
    return found == "".join(form.digits for form in forms) and all(any(w in lower for w in each) for each in words)


def read_table(name: str) -> list[list[str]]:
    """Read the rows of a table in everyday/, without comments."""
    lines = (FOLDER / name).read_text(encoding="utf-8").splitlines()
    return [line.split("\t") for line in lines if line and not line.startswith("#")]


def simplified(text: str) -> str:
    """Replace traditional characters, as far as our lists need them, one by one."""
    return text.translate(_simplification())


@cache
def _simplification() -> dict[int, int]:
    return str.maketrans(*(FOLDER / "traditional.txt").read_text(encoding="utf-8").split())


def made_up(source: str, target: str) -> list[MadeUp]:
    """Return the sentences of a source language, with what is right in the target language."""
    templates = [(kind, text) for language, kind, text in read_table("templates.tsv") if language == source]
    slots, sentences = _Slots(source, target), {}
    for kind in KINDS:
        own = itertools.cycle(text for each, text in templates if each == kind)
        n_before = len(sentences)
        while len(sentences) < n_before + N_SENTENCES:
            sentence = slots.fill(kind, next(own))
            sentences.setdefault(sentence.text, sentence)
    return list(sentences.values())


class _Slots:
    """Values for the slots of templates, in an order that the source language alone decides."""

    def __init__(self, source: str, target: str) -> None:
        self._source, self._target = source, target
        self._draw = random.Random(f"everyday {source}")
        spans = read_table("spans.tsv")
        self._spans = {kind: self._endless([text for each, text in spans if each == kind]) for kind, _ in spans}
        self._names = self._endless([tuple(each.split("|") for each in row) for row in read_table("names.tsv")])
        self._makers: dict[str, Callable[[], Value]] = {
            "count": lambda: _number(str(self._draw.randint(13, 999))),
            "label": lambda: _number(str(self._draw.randint(2, 12))),
            "big": lambda: _number(self._amount(self._draw.randint(12, 485) * 100, "")),
            "percent": lambda: _number(PERCENT[source].format(self._draw.randint(3, 97))),
            "year": lambda: _number(str(self._draw.randint(1950, 2024))),
            "phone": lambda: _number(PHONES[source].format(self._draw.randint(0, 99))),
            "price": self._price,
            "time": self._time,
            "date": self._date,
            "name": self._name,
        }

    def fill(self, kind: str, template: str) -> MadeUp:
        """Make a sentence of a template."""
        values = [
            self._makers[slot]() if slot in self._makers else self._span(slot) for slot in _SLOT.findall(template)
        ]
        remaining = iter(values)
        return MadeUp(kind, _SLOT.sub(lambda _: next(remaining).text, template), tuple(values))

    def _endless(self, items: list[Any]) -> Iterator[Any]:
        """Yield all items in a random order, then all in another, and so on."""
        while True:
            yield from self._draw.sample(items, len(items))

    def _span(self, kind: str) -> Value:
        text = next(self._spans[kind])
        return Value(text, pattern=rf"(?<![A-Za-z0-9{{$%]){re.escape(text)}(?![A-Za-z0-9}}])")

    def _name(self) -> Value:
        latin, chinese, further = next(self._names)
        text = chinese[0] if self._source == "zh" and chinese[0] else latin[0]
        pattern = rf"(?<![{_LATIN}])(?:{'|'.join(map(re.escape, latin))})(?:'?s|')?(?![{_LATIN}])"
        other = "|".join(filter(None, (*chinese, *further)))
        return Value(text, pattern=f"(?:{pattern}|{other})" if other and self._target == "zh" else pattern)

    def _amount(self, whole: int, decimals: str) -> str:
        thousands, point = SEPARATORS[self._source]
        return f"{whole:,}".replace(",", thousands) + (point + decimals if decimals else "")

    def _price(self) -> Value:
        cents = self._draw.choice(("", "50", "99", "80", "25"))
        amount = self._amount(self._draw.randint(3, 99) if cents else self._draw.randint(13, 1900), cents)
        return _number(self._draw.choice(PRICES[self._source]).format(amount))

    def _time(self) -> Value:
        hour, minute = self._draw.choice((7, 8, 9, 10, 11, *range(13, 22))), self._draw.choice((0, *range(5, 60, 5)))
        half = ["早上", "下午", "晚上"][(hour > 12) + (hour > 18)] if self._source == "zh" else "ap"[hour > 12] + "m"
        pattern = FULL_HOURS[self._source] if minute == 0 else self._draw.choice(TIMES[self._source])
        hours = [each for number in {hour, hour % 12 or 12} for each in {f"{number}", f"{number:02}"}]
        minutes = ["", "00"] if minute == 0 else [f"{minute:02}", str(minute)]
        forms = tuple(Form(each + minutes_) for each in hours for minutes_ in minutes)
        return Value(pattern.format(h=hour, h12=hour % 12 or 12, m=minute, half=half), forms)

    def _date(self) -> Value:
        year, month, day = self._draw.randint(2025, 2028), self._draw.randint(1, 12), self._draw.randint(2, 28)
        pattern = self._draw.choice(DATES[self._source])
        name = MONTHS[self._source].split()[month - 1]
        text = pattern.format(y=year, m=month, d=day, month=name)
        return Value(text, tuple(date_forms(year if "{y}" in pattern else None, month, day, self._target)))


def date_forms(year: int | None, month: int, day: int, language: str) -> Iterator[Form]:
    """Yield the ways to write a date in a language: in any order of its parts, the month in digits or as a word."""
    names = MONTHS[language].lower().split()
    words = (names[month - 1], names[month - 1][:3]) if language == "en" else (names[month - 1],)
    days, months = ({str(each), f"{each:02}"} for each in (day, month))
    years = [] if year is None else [{str(year)}]
    for parts in ([days, months, *years], [months, days, *years], [*years, months, days]):
        yield from (Form("".join(each)) for each in itertools.product(*parts))
    for parts in ([days, *years], [*years, days]):
        yield from (Form("".join(each), words) for each in itertools.product(*parts))


def _number(text: str) -> Value:
    return Value(text, (Form(re.sub(r"\D", "", text)),))
