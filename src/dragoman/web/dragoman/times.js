// Times of the day in four languages, as in text/times.py.

import { ascii } from "./digits.js";
import { allMatches, matchAt, pattern } from "./patterns.js";
import { HALVES, MONTH_NUMBERS } from "./rules.js";

const isAfternoon = (/** @type {number} */ hour) => 12 < hour && hour < 24;
const BEFORE_HOUR = /(?:(?<![\p{L}\p{N}_])(?:à|vers|dès|avant|après|jusqu['’]à|il est)\s|^)$/iu;

/** Return the times of a text; their hours are of 24. @param {string} text @param {string} language code of a base language @returns {{start: number, end: number, hour: number, minute: string, hasHalf: boolean}[]} */
export function timesOf(text, language) {
  if (!(language in MONTH_NUMBERS)) return [];
  /** @type {Set<number>} */
  const starts = new Set();
  return [0, 1].flatMap((number) => allMatches(`times.${language}.${number}`, text).flatMap((match) => {
    const { hour: digits, half, minute, after } = /** @type {Record<string, string | undefined>} */ (match.groups);
    const hour = Number(ascii(digits ?? ""));
    const start = match.index + match[0].indexOf(digits ?? "");
    if (starts.has(start)) return [];
    starts.add(start);
    const mayLast = match[0].toLowerCase().includes("heure") && (minute ?? after ?? half) === undefined && !isAfternoon(hour);
    if (hour >= 24 || (mayLast && !BEFORE_HOUR.test(text.slice(Math.max(0, match.index - 9), match.index)))) return [];
    const last = match.index + match[0].length;
    const point = half !== undefined && language === "en" ? matchAt("times.INNER_POINT", text, last) : null;
    const end = last + (point?.[0].length ?? 0);
    return [{ start: match.index, end, hour: hourOfDay(hour, half), minute: ascii(minute ?? after ?? "00"), hasHalf: half !== undefined }];
  }));
}

/** @param {number} hour @param {string | undefined} half */
function hourOfDay(hour, half) {
  if (half === undefined) return hour;
  const first = HALVES[half.toLowerCase().replaceAll("’", "'").replace(/\s+/g, " ")];
  return (first + ((hour - first + 24) % 12)) % 24;
}

/**
 * Return false if a word of the source names the half of the day of a time, and its translation loses it.
 *
 * @param {string} source @param {string} translation @param {string} sourceLang @param {string} targetLang codes of base languages
 * @param {(text: string) => Set<bigint | number>} numbersInWords
 */
export function halvesKept(source, translation, sourceLang, targetLang, numbersInWords) {
  const named = timesOf(source, sourceLang).filter((time) => time.hasHalf);
  if (!(targetLang in MONTH_NUMBERS) || !named.length) return true;
  const hours = timesOf(translation, targetLang).map((time) => time.hour);
  const saysAfternoon = pattern(`times.${targetLang}.AFTERNOON`).test(translation) || hours.some(isAfternoon)
    || [...numbersInWords(translation)].map(Number).some(isAfternoon);
  return named.every(({ hour }) => (isAfternoon(hour) ? saysAfternoon : hours.includes(hour) || !hours.includes((hour + 12) % 24)));
}
