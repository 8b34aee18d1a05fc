// A check that a translation has the numbers of its source, as in text/numbers.py and text/number_words.py.

import { findDates, monthsKept } from "./dates.js";
import { digitNumbers, halvesInWords, hasScale, namesTime, UNKNOWN_SCALES } from "./digit_numbers.js";
import { ascii } from "./digits.js";
import { minusSignsKept } from "./minus_signs.js";
import { momentsKept } from "./moments.js";
import { allMatches, baseLanguage, characterBefore, pattern, replaceAll } from "./patterns.js";
import { MONTH_NUMBERS, NUMBER_WORDS } from "./rules.js";
import { hasForeignSeparators, joinsNumbers, losesPoint, separatorsChanged } from "./separators.js";
import { halvesKept } from "./times.js";

/** @typedef {import("./digit_numbers.js").NumberForms} NumberForms */

/** @typedef {{start: number, end: number, number: number, multiplies: boolean}} NumberWord a word of a number in a text; `multiplies` if the number before it is multiplied by it */

const [MANY_WORDS, LONG_ROW] = [12, 240];
/** @type {Record<string, number>} */
const ROMAN = { I: 1, V: 5, X: 10, L: 50, C: 100 };

/** Return false if a translation lost a number, a month or the half of the day of a time, or has a number or a month that its source lacks. @param {string} source @param {string} translation @param {string} sourceLang @param {string} targetLang */
export function numbersKept(source, translation, sourceLang, targetLang) {
  if (!monthsKept(source, translation, baseLanguage(sourceLang), baseLanguage(targetLang))) return false;
  if (!halvesKept(source, translation, baseLanguage(sourceLang), baseLanguage(targetLang), (text) => numbersInWords(text, targetLang))) return false;
  if (!momentsKept(source, translation, sourceLang, targetLang)) return false;
  if (!minusSignsKept(source, translation, targetLang)) return false;
  const isTime = [source, translation].some(namesTime);
  if (hasForeignSeparators(source, translation, sourceLang, targetLang, isTime)) return false;
  if (ascii(source) === ascii(translation)) {
    if (separatorsChanged(source, translation, sourceLang, targetLang)) return false;
    const isScaled = hasScale(source, sourceLang) || hasScale(translation, targetLang);
    if (!isScaled && !losesPoint(source, translation) && !joinsNumbers(source, translation)) return true;
  }
  const areKnown = [sourceLang, targetLang].every((code) => baseLanguage(code) in NUMBER_WORDS);
  const sources = digitNumbers(source, isTime, areKnown ? sourceLang : UNKNOWN_SCALES);
  const targets = digitNumbers(translation, isTime, areKnown ? targetLang : UNKNOWN_SCALES);
  const lost = unmatched(sources, targets).filter((number) => !number.isSmall);
  const gained = unmatched(targets, sources);
  const dates = findDates(source, baseLanguage(sourceLang));
  const isDay = (/** @type {NumberForms} */ number) =>
    Math.max(...[...number.digits].map((form) => form.length)) <= 2 && !["月", "年"].includes(source.slice(number.end, number.end + 1))
    && dates.some(({ start, end }) => start <= number.place && number.place < end) && !targets.some((other) => areEqual(number, other));
  const days = lost.filter(isDay);
  if (days.length && !areInWords(days, withoutMonthsAndClocks(translation, baseLanguage(targetLang)), targetLang)) return false;
  return areInWords(lost.filter((number) => !isDay(number)), translation, targetLang) && areInWords(gained, source, sourceLang);
}

/** @param {NumberForms} one @param {NumberForms} other */
function areEqual(one, other) {
  return [...one.digits].some((form) => other.digits.has(form) || other.others.has(form)) || [...one.others].some((form) => other.digits.has(form));
}

/** Return the numbers that have no equal one among the others, each of which equals one of them. @param {NumberForms[]} numbers @param {NumberForms[]} others */
function unmatched(numbers, others) {
  /** @type {[Map<string, number[]>, Map<string, number[]>]} */
  const [byDigits, byForm] = [new Map(), new Map()];
  const add = (/** @type {Map<string, number[]>} */ map, /** @type {string} */ form, /** @type {number} */ index) => {
    const queue = map.get(form);
    if (queue) queue.push(index);
    else map.set(form, [index]);
  };
  for (let index = others.length - 1; index >= 0; index--) {
    const { digits, others: more } = others[index];
    for (const form of digits) add(byDigits, form, index);
    for (const form of new Set([...digits, ...more])) add(byForm, form, index);
  }
  const taken = new Set();
  return numbers.filter((number) => {
    const queues = [...[...number.digits].map((form) => byForm.get(form)), ...[...number.others].map((form) => byDigits.get(form))];
    const firsts = queues.flatMap((queue) => {
      while (queue?.length && taken.has(queue[queue.length - 1])) queue.pop();
      return queue?.slice(-1) ?? [];
    });
    if (firsts.length) taken.add(Math.min(...firsts));
    return !firsts.length && [...number.digits].some((form) => /[^0.]/.test(form));
  });
}

/** Return a text without what is no day of a month. @param {string} text @param {string} language a base language */
function withoutMonthsAndClocks(text, language) {
  if (!(language in MONTH_NUMBERS)) return text;
  const names = [`clock_words.${language}.CLEAR`, `clock_words.${language}.ALL`, `dates.${language}.FULL_NAMES`];
  return names.reduce((rest, name) => replaceAll(name, rest, () => " "), text);
}

/** @param {NumberForms[]} numbers @param {string} text @param {string} language */
function areInWords(numbers, text, language) {
  if (!numbers.length) return true;
  const words = new Set([...numbersInWords(text, language), ...halvesInWords(text)].map(String));
  return numbers.every((number) => [...number.digits, ...number.others].some((form) => words.has(form)));
}

/** Return the numbers that a text may have in words. @param {string} text @param {string} language */
export function numbersInWords(text, language) {
  /** @type {Set<number>} */
  const numbers = new Set();
  for (const match of allMatches("number_words.ROMAN", text)) if (match[0] !== "I") numbers.add(roman(match[1] ?? match[2]));
  const lowered = text.toLowerCase();
  const base = baseLanguage(language);
  for (const known of base in NUMBER_WORDS ? [base] : Object.keys(NUMBER_WORDS)) {
    for (const run of numberRuns(lowered, known)) {
      const most = Math.min(MANY_WORDS, Math.max(2, Math.floor(LONG_ROW / run.length)));
      for (let first = 0; first < run.length; first++) {
        for (let end = first + 1; end <= Math.min(run.length, first + most); end++) {
          for (const value of values(run.slice(first, end), known)) numbers.add(value);
        }
      }
    }
  }
  if (pattern("number_words.PARTS_OF_HOUR").test(lowered)) {
    for (const number of [...numbers, 45]) numbers.add(number >= 1 && number <= 12 ? ((number + 10) % 12) + 1 : number);
  }
  return numbers;
}

/** Return the words of each number, or of several in a row. @param {string} text @param {string} language */
export function numberRuns(text, language) {
  /** @type {NumberWord[][]} */
  const found = [];
  let end = -1;
  for (const match of allMatches(`number_words.${language}`, text)) {
    const follows = end >= 0 && pattern(`number_gaps.${language}`, "whole").test(text.slice(end, match.index));
    if (language === "de" && !follows && /\p{L}/u.test(characterBefore(text, match.index))) continue; // "acht" in "machte"
    if (!follows) found.push([]);
    end = match.index + match[0].length;
    const [number, multiplies] = NUMBER_WORDS[language][match[1]];
    found[found.length - 1].push({ start: match.index, end, number, multiplies });
  }
  return found;
}

/** Return the number of all words; as a year; and as digits in a row. @param {NumberWord[]} words @param {string} language */
function values(words, language) {
  const found = [valueOf(words, language)];
  for (let cut = 1; cut < words.length; cut++) {
    const [first, second] = [valueOf(words.slice(0, cut), language), valueOf(words.slice(cut), language)];
    if (first >= 10 && first < 100 && second < 100) found.push(100 * first + second);
  }
  if (words.length > 1 && words.every(({ number, multiplies }) => number < 10 && !multiplies)) found.push(Number(words.map(({ number }) => number).join("")));
  return found;
}

/** @param {NumberWord[]} words @param {string} language */
export function valueOf(words, language) {
  let [total, hundreds, unit] = [0, 0, 0];
  const least = language === "zh" ? 10_000 : 1000;
  for (const { number, multiplies } of words) {
    if (multiplies && number >= least) {
      const below = hundreds + unit;
      total = number > total ? (total + below || 1) * number : total + (below || 1) * number;
      hundreds = unit = 0;
    } else if (multiplies) [hundreds, unit] = [hundreds + (unit || 1) * number, 0];
    else if (language === "fr" && unit === 4 && number === 20) unit = 80;
    else unit += number;
  }
  return total + hundreds + unit;
}

/** @param {string} letters */
function roman(letters) {
  const numbers = [...letters].map((letter) => ROMAN[letter]);
  return numbers.reduce((sum, value, i) => sum + (value < (numbers[i + 1] ?? 0) ? -value : value), 0);
}
