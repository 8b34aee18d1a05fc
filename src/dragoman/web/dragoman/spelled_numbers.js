// Numbers in words, as in text/spelled_numbers.py.

import { NUMBER_ONES, NUMBER_TENS, NUMBER_UNITS } from "./rules.js";

/** Return a number below a million in words. @param {number} number @param {string} language a base language @returns {string} */
export function spelled(number, language) {
  if (number < 100) return belowHundred(number, language);
  const [size, word] = /** @type {[number, string]} */ (NUMBER_UNITS[language].find(([each]) => number >= each));
  const [head, rest] = [Math.floor(number / size), number % size];
  const parts = language === "fr" && head === 1 ? [word] : [spelled(head, language), word];
  if (rest) {
    const zero = language === "zh" && rest < Math.floor(size / 10) ? "零" : "";
    const one = language === "zh" && rest >= 10 && rest < 20 ? "一" : "";
    parts.push(zero + one + spelled(rest, language));
  }
  return parts.join(language === "en" || language === "fr" ? " " : "");
}

/** @param {number} number @param {string} language */
function belowHundred(number, language) {
  const ones = NUMBER_ONES[language];
  if (number < 20) return ones[number];
  const ten = Math.floor(number / 10);
  const one = (number % 10) + (language === "fr" && (ten === 7 || ten === 9) ? 10 : 0);
  const tens = NUMBER_TENS[language][ten - 2];
  if (!one) return tens;
  if (language === "de") return `${ones[one]}und${tens}`;
  if (language === "fr" && (one === 1 || one === 11) && number < 80) return `${tens} et ${ones[one]}`;
  return `${tens}${language === "zh" ? "" : "-"}${ones[one]}`;
}
