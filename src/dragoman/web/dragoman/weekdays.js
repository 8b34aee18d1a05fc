// A check that a translation has the weekdays of its source, as in text/weekdays.py.

import { allMatches, baseLanguage } from "./patterns.js";
import { WEEKDAY_NUMBERS } from "./rules.js";

/** Return false if a translation lost a weekday, or has one that its source lacks. @param {string} source @param {string} translation @param {string} sourceLang @param {string} targetLang */
export function weekdaysKept(source, translation, sourceLang, targetLang) {
  const [from, to] = [baseLanguage(sourceLang), baseLanguage(targetLang)];
  if (!(from in WEEKDAY_NUMBERS && to in WEEKDAY_NUMBERS)) return true;
  const weekdays = (/** @type {string} */ kind, /** @type {string} */ text, /** @type {string} */ language) =>
    new Set(allMatches(`weekdays.${language}.${kind}`, text).map((match) => WEEKDAY_NUMBERS[language][match[1].toLowerCase()]));
  const [inSource, inTranslation] = [weekdays("MENTIONS", source, from), weekdays("MENTIONS", translation, to)];
  const isKept = [...weekdays("CLEAR", source, from)].every((number) => inTranslation.has(number));
  return isKept && [...weekdays("CLEAR", translation, to)].every((number) => inSource.has(number));
}
