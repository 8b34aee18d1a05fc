// Dates and months in four languages, as in text/dates.py.

import { ascii } from "./digits.js";
import { allMatches, pattern } from "./patterns.js";
import { DATE_PATTERNS, MONTH_NUMBERS } from "./rules.js";

/** @typedef {{start: number, end: number, month: number, day: number | undefined}} DatePlace places in UTF-16 */

/** Return the dates of a text that name a month. @param {string} text @param {string} language code of a base language @returns {DatePlace[]} */
export function findDates(text, language) {
  const names = Array.from({ length: DATE_PATTERNS[language] ?? 0 }, (_, number) => `dates.${language}.${number}`);
  const matches = names.flatMap((name) => allMatches(name, text)).filter((match) => !["may", "march"].includes(match.groups?.month ?? ""));
  const found = matches.map((match) => ({
    start: match.index,
    end: match.index + match[0].length,
    month: monthOf(/** @type {Record<string, string>} */ (match.groups).month, language),
    day: match.groups?.day === undefined ? undefined : Number(ascii(match.groups.day)),
  }));
  found.sort((one, other) => one.start - other.start || other.end - one.end);
  let end = 0;
  return found.filter((date) => {
    const isFirst = date.start >= end;
    if (isFirst) end = date.end;
    return isFirst;
  });
}

/** @param {string} name @param {string} language */
const monthOf = (name, language) => MONTH_NUMBERS[language][name.toLowerCase()];

/** Return false if a translation lost a month, or has one that its source lacks. @param {string} source @param {string} translation @param {string} sourceLang @param {string} targetLang codes of base languages */
export function monthsKept(source, translation, sourceLang, targetLang) {
  if (!(sourceLang in MONTH_NUMBERS && targetLang in MONTH_NUMBERS)) return true;
  const dates = findDates(source, sourceLang);
  if (!dates.length && !pattern("dates.DIGIT").test(source)) return true;
  const [inSource, inTranslation] = [mentioned(source, sourceLang), mentioned(translation, targetLang)];
  return dates.every(({ month }) => inTranslation.has(month)) && findDates(translation, targetLang).every(({ month }) => inSource.has(month));
}

/** Return the months that a text may name, in words or in the digits of a date. @param {string} text @param {string} language */
function mentioned(text, language) {
  const inDigits = allMatches("dates.IN_DIGITS", text).map((match) => Number(match[1] ?? match[2]));
  const inWords = allMatches(`dates.${language}.MENTIONS`, text).map((match) => monthOf(match[1], language));
  return new Set([...inDigits, ...inWords]);
}
