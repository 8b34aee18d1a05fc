// A check that a translation has the currencies of its source, as in text/currencies.py.

import { allMatches, pattern } from "./patterns.js";

const SIGNS = "$€£¥";
const LANGUAGES = ["en", "de", "fr", "zh"];

/** Return false if a translation names a currency of its source nowhere. @param {string} source @param {string} translation @param {string} targetLang a base language */
export function currenciesKept(source, translation, targetLang) {
  if (!LANGUAGES.includes(targetLang)) return true;
  return allMatches("currencies.PRICE", source).every((match) => pattern(`currencies.${match[1] ?? match[2]}`).test(translation));
}

/** Return false if a translation names a currency nowhere that its source has in words. @param {string} source @param {string} translation @param {string} sourceLang @param {string} targetLang base languages */
export function currencyWordsKept(source, translation, sourceLang, targetLang) {
  if (!LANGUAGES.includes(sourceLang) || !LANGUAGES.includes(targetLang)) return true;
  return allMatches(`currency_words.${sourceLang}`, source).every((match) => {
    const sign = match[1] !== undefined ? "$" : match[2] !== undefined ? "€" : "¥";
    return pattern(`currencies.${sign}`).test(translation);
  });
}

/** Return the place of an amount with the sign of its currency, given that of its number. @param {string} text @param {number} start @param {number} end @returns {[number, number]} */
export function withCurrency(text, start, end) {
  if (start && SIGNS.includes(text[start - 1])) return [start - 1, end];
  const after = allMatches("currencies.SIGN_AFTER", text).find((match) => match.index === end);
  return [start, after ? end + after[0].length : end];
}
