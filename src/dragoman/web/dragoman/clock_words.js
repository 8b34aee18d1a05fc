// A check of clock times in words, as in text/clock_words.py.

import { allMatches, baseLanguage, splitSpaces } from "./patterns.js";
import { HOUR_WORDS, MINUTE_WORDS } from "./rules.js";
import { timesOf } from "./times.js";

const HALF_DAY = 720;

/** Return the times of a text in words that name a part of an hour. @param {string} text @param {string} language */
export const clockTimes = (text, language) => clockWords(text, baseLanguage(language), ["CLEAR"]);

/** Return all times of a text, in minutes since midnight or noon. @param {string} text @param {string} language */
export function clockValues(text, language) {
  const inDigits = timesOf(text, baseLanguage(language)).map(({ hour, minute }) => (60 * hour + Number(minute)) % HALF_DAY);
  return new Set([...inDigits, ...clockWords(text, baseLanguage(language), ["CLEAR", "ALL"]).map(({ time }) => time)]);
}

/** Return false if a translation has other times of the day in place of one that its source has in words. @param {string} source @param {string} translation @param {string} sourceLang @param {string} targetLang */
export function clockTimesKept(source, translation, sourceLang, targetLang) {
  const named = clockTimes(source, sourceLang);
  if (!named.length) return true;
  const found = clockValues(translation, targetLang);
  return !found.size || named.every(({ time }) => found.has(time));
}

/** @param {string} text @param {string} language @param {string[]} kinds */
function clockWords(text, language, kinds) {
  if (!(language in HOUR_WORDS)) return [];
  return kinds.flatMap((kind) => allMatches(`clock_words.${language}.${kind}`, text)).map((match) => {
    const { hour, minute } = /** @type {Record<string, string | undefined>} */ (match.groups);
    const minutes = minute === undefined ? 0 : MINUTE_WORDS[language][splitSpaces(minute.toLowerCase()).join(" ")];
    const time = (60 * HOUR_WORDS[language][(hour ?? "").toLowerCase()] + minutes + HALF_DAY) % HALF_DAY;
    return { start: match.index, end: match.index + match[0].length, time };
  });
}
