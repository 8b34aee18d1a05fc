// A check that a translation has the currencies of its source, as in text/currencies.py.

import { ascii } from "./digits.js";
import { allMatches, matchAt, pattern } from "./patterns.js";

const SIGNS = "$€£¥";
const LANGUAGES = ["en", "de", "fr", "zh"];

/** Return false if a translation names a currency of its source nowhere. @param {string} source @param {string} translation @param {string} targetLang a base language */
export function currenciesKept(source, translation, targetLang) {
  if (!LANGUAGES.includes(targetLang)) return true;
  [source, translation] = [source, translation].map((text) => text.replaceAll("￥", "¥"));
  if (!allMatches("currencies.PRICE", source).every((match) => pattern(`currencies.${match[1] ?? match[2]}`).test(translation))) return false;
  const prices = allMatches("currencies.PRICES", source).map((match) => ({ sign: match[1] ?? match[4], digits: ascii(match[2] ?? match[3]) }));
  const isRare = (/** @type {string} */ sign) => allMatches(`currencies.${sign}`, translation).length < prices.filter((price) => price.sign === sign).length;
  const rare = new Set([...SIGNS].filter(isRare));
  const different = new Set(prices.map(({ sign, digits }) => sign + digits));
  return ![...different].some((price) => rare.has(price[0]) && isBare(translation, price[0], price.slice(1)));
}

/** Return true if a text has a number, and nowhere with a currency. @param {string} text @param {string} sign @param {string} digits */
function isBare(text, sign, digits) {
  const found = allMatches("currencies.NUMBER", text).filter((match) => ascii(match[0]) === digits);
  return found.length > 0 && !found.some(({ index, 0: number }) => matchAt(`currencies.AFTER.${sign}`, text, index + number.length)
    || pattern(`currencies.BEFORE.${sign}`).test(text.slice(Math.max(0, index - 30), index)));
}

/** Return false if a translation names a currency nowhere that its source has in words. @param {string} source @param {string} translation @param {string} sourceLang @param {string} targetLang base languages */
export function currencyWordsKept(source, translation, sourceLang, targetLang) {
  if (!LANGUAGES.includes(sourceLang) || !LANGUAGES.includes(targetLang)) return true;
  return allMatches(`currency_words.${sourceLang}`, source).every((match) => {
    const sign = match[1] !== undefined ? "$" : match[2] !== undefined ? "€" : match[3] !== undefined ? "¥" : "元";
    return pattern(`currencies.${sign}`).test(translation);
  });
}

/** Return the place of an amount with the sign of its currency, given that of its number. @param {string} text @param {number} start @param {number} end @returns {[number, number]} */
export function withCurrency(text, start, end) {
  if (start && SIGNS.includes(text[start - 1])) {
    const letters = text[start - 1] === "$" ? pattern("currencies.DOLLAR_LETTERS").exec(text.slice(0, start - 1)) : null;
    return [letters ? letters.index : start - 1, end];
  }
  const after = allMatches("currencies.SIGN_AFTER", text).find((match) => match.index === end);
  return [start, after ? end + after[0].length : end];
}
