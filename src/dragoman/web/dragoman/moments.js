// Dates with a time of the day beside them, as in text/moments.py.

import { clockValues } from "./clock_words.js";
import { findDates } from "./dates.js";
import { ascii } from "./digits.js";
import { allMatches, baseLanguage, matchAt, pattern } from "./patterns.js";
import { MONTH_NUMBERS } from "./rules.js";
import { timesOf } from "./times.js";

/** @typedef {{start: number, end: number, month: number, day: number, hour: number, minute: number}} Moment places in UTF-16 */

/** Return the dates of a text in digits. @param {string} kind @param {string} text */
function digitDates(kind, text) {
  return allMatches(`moments.${kind}`, text).map((match) => {
    const [month, day] = [match.groups?.month, match.groups?.day].map((digits) => Number(ascii(digits ?? "")));
    return { start: match.index, end: match.index + match[0].length, month, day };
  });
}

/** Return the dates of a text that have a time beside them. @param {string} text @param {string} language code of a base language @returns {Moment[]} */
function findMoments(text, language) {
  if (!(language in MONTH_NUMBERS)) return [];
  const named = findDates(text, language).filter(({ day }) => day);
  const inDigits = [...digitDates("ISO_DATE", text), ...(["de", "fr"].includes(language) ? digitDates("NUMERIC_DATE", text) : [])];
  const dates = [...named, ...inDigits].map((date) => ({ ...date, isDate: true }));
  const times = dates.length ? timesOf(text, language).map((time) => ({ ...time, isDate: false })) : [];
  const parts = [...dates, ...times];
  const starts = new Map(parts.map((part) => [part.start, part]));
  parts.sort((one, other) => one.start - other.start);
  /** @type {Moment[]} */
  const found = [];
  let end = 0;
  for (const first of parts) {
    if (first.start < end || (language === "zh" && !first.isDate)) continue;
    const gap = matchAt(`moments.${language}.${first.isDate ? "TIME_NEXT" : "DATE_NEXT"}`, text, first.end);
    const second = gap ? starts.get(first.end + gap[0].length) : undefined;
    if (!second || first.isDate === second.isDate) continue;
    end = second.end;
    const { month, day, hour, minute } = /** @type {Record<string, any>} */ ({ ...first, ...second });
    found.push({ start: first.start, end, month, day, hour, minute: Number(minute) });
  }
  return found;
}

/** Return false if a translation lost the time of a date, or Chinese has it before the date. @param {string} source @param {string} translation @param {string} sourceLang @param {string} targetLang */
export function momentsKept(source, translation, sourceLang, targetLang) {
  const target = baseLanguage(targetLang);
  const moments = target in MONTH_NUMBERS ? findMoments(source, baseLanguage(sourceLang)) : [];
  if (!moments.length || pattern(`moments.${target}.IN_WORDS`).test(translation)) return true;
  if (target !== "zh") {
    const values = clockValues(translation, target);
    return moments.every(({ hour, minute }) => values.has(60 * (hour % 12) + minute));
  }
  const dates = [...findDates(translation, target), ...digitDates("ISO_DATE", translation), ...digitDates("NUMERIC_DATE", translation)];
  const times = timesOf(translation, target).filter((time) => !matchAt("moments.NOT_AFTER", translation, time.end));
  return moments.every(({ month, day, hour, minute }) => {
    const ends = dates.filter((date) => date.month === month && date.day === day).map((date) => date.end);
    const isTime = (/** @type {{hour: number, minute: string}} */ time) => time.hour % 12 === hour % 12 && Number(time.minute) === minute;
    return times.filter(isTime).some((time) => ends.some((place) => place <= time.start));
  });
}

/** Return true if a Chinese text has a date and its time between signs that do not belong there. @param {string} text @param {string} language */
export function hasBrokenMoment(text, language) {
  return baseLanguage(language) === "zh" && findMoments(text, "zh").some(
    ({ start, end }) => text[start - 1] === "月" || matchAt("moments.NOT_AFTER", text, end) !== null,
  );
}
