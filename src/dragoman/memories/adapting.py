"""The translation of a text that differs in its numbers from one in a memory, where it is sure."""

from __future__ import annotations

import re
from decimal import Decimal

from dragoman.content.comparing import faults
from dragoman.content.entity import Entity
from dragoman.content.find import find
from dragoman.content.language import Language, language_of
from dragoman.content.write import write
from dragoman.memories.memory_files import Unit
from dragoman.text.languages import depends_on_number
from dragoman.text.plurals import has_one_plural

#: A number with its separators: "7", "12.50", "1,250.00", "17:45".
NUMERAL = re.compile(r"\d+(?:[.,:]\d+)*")
#: A number that can be changed: no part of a word, a date, an ordinal or a telephone number. "3 pages", "17:45".
_NUMBER = re.compile(r"(?<![\w.,:/'’+-])\d+(?:[.,:]\d+)?(?![\w/'’%°-]|[.,:]\d|\.\s)")
#: Numbers that may change the forms of words beside them: "1 page", "0 pages"; French has "1,5 page".
_WITH_FORMS = frozenset("01")
_FEWEST = 2
#: The least number that may have a separator of thousands.
_LEAST_GROUPED = 1000
#: What stands before a number: a word, or one that is written with it: "l'8".
_WORD_BEFORE = re.compile(r"(?<!\w)(\w+) \Z|['’]\Z")
#: Characters before a number that are read; no word whose form depends on a number is as long.
_MOST_BEFORE = 40
#: An ending whose form depends on the number before it: "5'te", "3-án", "5te".
_ENDING_AFTER = re.compile(r"['’-]?[^\W\d_]")
_DIGIT, _DIGITS = re.compile(r"\d"), re.compile(r"\d+")
#: A word or a number of a date.
_DATE_WORD = re.compile(r"\w+")


def shape(text: str, language: Language | None) -> str:
    """Return a text with 0 in place of each number and of each month that its language names."""
    text = NUMERAL.sub("0", text)
    return text if language is None else language.months.sub("0", text)


def adapted(unit: Unit, old: str, new: str) -> str | None:
    """Return the translation of a text with other numbers, dates, times or amounts than those of a unit.

    Args:
        unit: with the languages of both sides; else nothing is sure.
        old, new: the source of the unit, and the text, of the same `shape`.

    Returns:
        None if it is not sure: the translation has other numbers than its source, one of them would become two, or a
        word beside one may change.
    """
    source_lang, target_lang = unit.source_lang, unit.target_lang
    if source_lang is None or target_lang is None:
        return None
    has_one = has_one_plural(source_lang) and has_one_plural(target_lang)
    if has_one and (target := _with_numbers(old, new, unit.target, target_lang)) is not None:
        return target
    source, language = language_of(source_lang), language_of(target_lang)
    if source is None or language is None:
        return None
    target = _with_entities((old, new), unit.target, source, language, may_count=has_one)
    is_sure = target is not None and not faults(new, target, (source_lang, target_lang))
    return target if is_sure else None


def _with_numbers(old: str, new: str, target: str, target_lang: str) -> str | None:
    """Return a translation with new numbers that both languages write in the same way."""
    if _DIGITS.sub("0", old) != _DIGITS.sub("0", new):
        return None
    before, after = _NUMBER.findall(old), _NUMBER.findall(new)
    if _NUMBER.sub("", old) != _NUMBER.sub("", new):
        return None
    changes = dict(zip(before, after, strict=True))
    is_one_to_one = all(changes[one] == other for one, other in zip(before, after, strict=True))
    changed = {number for pair in changes.items() if pair[0] != pair[1] for number in pair}
    if not is_one_to_one or sorted(_NUMBER.findall(target)) != sorted(before) or changed & _WITH_FORMS:
        return None
    if any(
        match[0] in changed and _has_forms(target, match.start(), target_lang) for match in _NUMBER.finditer(target)
    ):
        return None
    return _NUMBER.sub(lambda match: changes[match[0]], target)


def _has_forms(text: str, start: int, language: str) -> bool:
    """Return True if the word before a number may have another form before another number."""
    before = _WORD_BEFORE.search(text, max(0, start - _MOST_BEFORE), start)
    return before is not None and (before[1] is None or depends_on_number(before[1], language))


def _with_entities(
    texts: tuple[str, str], target: str, source: Language, language: Language, *, may_count: bool
) -> str | None:
    """Return a translation with the numbers, dates, times and amounts of a new text.

    Args:
        texts: the old one and the new one.
        may_count: a number beside a word may change.
    """
    before, after = (find(text, source) for text in texts)
    if [one.kind for one in before] != [one.kind for one in after]:
        return None
    if _rest(texts[0], before, source) != _rest(texts[1], after, source):
        return None
    changes = dict[tuple[str, object], Entity]()
    for old, new in zip(before, after, strict=True):
        if changes.setdefault((old.kind, old.value), new)[::3] != new[::3]:  # kind and value
            return None
    written = find(target, language)
    if sorted(str(one[::3]) for one in written) != sorted(str(one[::3]) for one in before):
        return None
    parts, end = [], 0
    for entity in written:
        new, own = changes[entity.kind, entity.value], target[entity.start : entity.end]
        if new.value != entity.value:
            has_ending = language.has_spaces and _ENDING_AFTER.match(target, entity.end)
            has_forms = has_ending or _has_forms(target, entity.start, language.code)
            is_grouped = source.cldr["group"] in texts[1][new.start : new.end]
            rewritten = None if has_forms else _rewritten(own, entity, new, language, may_count, is_grouped=is_grouped)
            if rewritten is None:
                return None
            own = rewritten
        parts += [target[end : entity.start], own]
        end = entity.end
    return "".join([*parts, target[end:]])


def _rest(text: str, entities: list[Entity], language: Language) -> list[str]:
    """Return what stands between entities, and the shapes of entities."""
    parts, end = [], 0
    for entity in entities:
        parts += [text[end : entity.start], shape(text[entity.start : entity.end], language)]
        end = entity.end
    return [*parts, text[end:]]


def _rewritten(
    own: str, old: Entity, new: Entity, language: Language, may_count: bool, *, is_grouped: bool
) -> str | None:
    """Return the words of an entity with another value; None if that is not sure.

    Args:
        is_grouped: the new text has a separator of thousands, which counts where the old number was too small for one.
    """
    if isinstance(old.value, tuple) and isinstance(new.value, tuple) and len(old.value) == len(new.value) == 3:
        return _date(own, old, new, language)
    values = [one.value[0] if isinstance(one.value, tuple) else one.value for one in (old, new)]
    numbers = [value for value in values if isinstance(value, Decimal)]
    if len(numbers) < 2:
        return _as_usual(own, old, new, language)
    is_beside_sign = old.kind == "percent" or (old.kind == "money" and not any(map(str.islower, own)))
    if not is_beside_sign and (not may_count or min(map(abs, numbers)) < _FEWEST):
        return None
    first, second = (write(Entity("decimal", 0, 0, number), language) for number in numbers)
    group = language.cldr["group"]
    form = next((form for form in first if own.count(form) == 1 and not _DIGIT.search(own.replace(form, ""))), None)
    if abs(numbers[0]) >= _LEAST_GROUPED:
        is_grouped = form is not None and group in form
    return form and own.replace(form, max(second, key=lambda one: (group in one) == is_grouped))


def _as_usual(own: str, old: Entity, new: Entity, language: Language) -> str | None:
    """Return an entity with another value, if its words are a usual way to write it."""
    forms = zip(write(old, language), write(new, language), strict=False)
    return next((other for one, other in forms if one == own), None)


def _date(own: str, old: Entity, new: Entity, language: Language) -> str | None:
    """Return a date with the parts of another one in their places.

    None if a part is written otherwise ("3rd"), if the day becomes the first, which some languages write so, or if
    there is no day before another month, on whose name a word may depend: "de mai", "d'avril".
    """
    assert isinstance(old.value, tuple)
    assert isinstance(new.value, tuple)
    (year, month, day), (new_year, new_month, new_day) = old.value, new.value  # type: ignore[misc]
    if (
        (day is None and month != new_month)
        or new_day == 1
        or [one is None for one in old.value] != [one is None for one in new.value]
    ):
        return None
    if not language.has_spaces:
        return _as_usual(own, old, new, language)
    names = zip(*(language.cldr["months"][each - 1] for each in (month, new_month)), strict=False)
    changes = {**dict(names), str(year): str(new_year), str(day): str(new_day)}
    words = _DATE_WORD.findall(own)
    is_known = all(word in changes for word in words if _DIGIT.search(word) or month != new_month)
    return _DATE_WORD.sub(lambda match: changes.get(match[0], match[0]), own) if is_known else None
