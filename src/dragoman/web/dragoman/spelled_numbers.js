// Numbers in words, as in text/spelled_numbers.py.

import { NUMBER_ONES, NUMBER_TENS, NUMBER_UNITS } from "./rules.js";

const NOUNS = 10 ** 6;

/** Return a number below 10 ** 12 in words. @param {number} number @param {string} language a base language @returns {string} */
export function spelled(number, language) {
  if (number < 100) return belowHundred(number, language);
  const [size, one, many] = /** @type {[number, string, string]} */ (NUMBER_UNITS[language].find(([each]) => number >= each));
  const [head, rest] = [Math.floor(number / size), number % size];
  const isNoun = size >= NOUNS;
  const first = { fr: isNoun ? "un" : "", de: isNoun ? "eine" : "ein" }[language];
  const count = head > 1 || first === undefined ? countWord(head, size, language) : first;
  const parts = [count, head === 1 || (size === 100 && rest) ? one : many].filter(Boolean);
  if (rest) {
    const zero = language === "zh" && rest < Math.floor(size / 10) ? "零" : "";
    const ten = language === "zh" && rest >= 10 && rest < 20 ? "一" : "";
    parts.push(zero + ten + spelled(rest, language) + (language === "de" && rest === 1 ? "s" : ""));
  }
  return parts.join(language === "en" || language === "fr" || (language === "de" && isNoun) ? " " : "");
}

/** Return a number before a unit in words, without an ending that it has at the end. @param {number} number @param {number} size @param {string} language */
function countWord(number, size, language) {
  const word = spelled(number, language);
  const isLong = { fr: size < NOUNS && /(?:cents|quatre-vingts)$/.test(word), de: word.endsWith("eins") }[language];
  return isLong ? word.slice(0, -1) : word;
}

/** @param {number} number @param {string} language */
function belowHundred(number, language) {
  const ones = NUMBER_ONES[language];
  if (number < 20) return ones[number];
  const ten = Math.floor(number / 10);
  const one = (number % 10) + (language === "fr" && (ten === 7 || ten === 9) ? 10 : 0);
  const tens = NUMBER_TENS[language][ten - 2];
  if (!one) return tens === "quatre-vingt" ? `${tens}s` : tens;
  if (language === "de") return `${ones[one]}und${tens}`;
  if (language === "fr" && (one === 1 || one === 11) && number < 80) return `${tens} et ${ones[one]}`;
  return `${tens}${language === "zh" ? "" : "-"}${ones[one]}`;
}
