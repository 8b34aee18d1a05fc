// Numbers in words that every translation must keep, as in text/clear_numbers.py.

import { clockTimes, clockValues } from "./clock_words.js";
import { namesTime, valuesInDigits } from "./digit_numbers.js";
import { numberRuns, numbersInWords, valueOf } from "./numbers.js";
import { allMatches, baseLanguage, characterAt, characterBefore, lengthOf, matchAt, pattern, replaceAll } from "./patterns.js";
import { NUMBER_VARIANTS, NUMBER_WORDS, UNCLEAR_NUMBERS } from "./rules.js";
import { spelled } from "./spelled_numbers.js";

/** @typedef {import("./numbers.js").NumberWord} NumberWord */

const SPELLED_END = 10 ** 12;
const [LAST_REFERRING, LONGEST_REFERRING] = [4, 8];

/** Return false if a translation has a clear number of its source neither in words nor in digits; those in clock times are compared as such. @param {string} source @param {string} translation @param {string} sourceLang @param {string} targetLang */
export function clearNumbersKept(source, translation, sourceLang, targetLang) {
  const found = clearNumbers(source, baseLanguage(sourceLang));
  if (!found.length || !(baseLanguage(targetLang) in NUMBER_WORDS)) return true;
  const kept = new Set([...numbersInWords(translation, targetLang), ...valuesInDigits(translation, targetLang)].map(String));
  const changes = namesTime(source) || namesTime(translation) ? [0, 12, -12] : [0];
  const lost = found.filter(({ value }) => !changes.some((change) => kept.has(String(value + change))));
  const clocks = lost.length ? clockTimes(source, sourceLang) : [];
  if (!clocks.length || !clockValues(translation, targetLang).size) return !lost.length;
  return lost.every(({ start }) => clocks.some((clock) => clock.start <= start && start < clock.end));
}

/** @param {string} text @param {string} language a base language */
function clearNumbers(text, language) {
  const lowered = text.toLowerCase();
  if (!(language in NUMBER_WORDS) || lengthOf(lowered) !== lengthOf(text)) return [];
  const otherEnds = new Set(allMatches("clear_numbers.OTHER_WORD", lowered).map((match) => match.index + match[0].length));
  return numberRuns(lowered, language).flatMap((run) => {
    const inner = run[0].number === 1 ? run.slice(1) : run;
    const shorter = [run, inner].filter((words) => words.length && words[words.length - 1].number === 1).map((words) => words.slice(0, -1));
    for (const words of language === "zh" ? [run] : [run, inner, ...shorter]) {
      const isNumber = words.length && !otherEnds.has(words[words.length - 1].end);
      const value = isNumber ? clearValue(lowered, words, language) : 0;
      if (value) return [{ value, start: words[0].start }];
    }
    return [];
  });
}

/** Return the value of words in a row; 0 if they are not one number as it is usually written. @param {string} text @param {NumberWord[]} words @param {string} language */
function clearValue(text, words, language) {
  const [start, end, value] = [words[0].start, words[words.length - 1].end, valueOf(words, language)];
  const written = text.slice(start, end);
  if (value < 2 || value >= SPELLED_END || UNCLEAR_NUMBERS.includes(written) || plain(written) !== plain(spelled(value, language).toLowerCase())) return 0;
  if (pattern("clear_numbers.BEFORE", "whole").test(characterBefore(text, start)) || matchAt("clear_numbers.AFTER", text, end)) return 0;
  if (value <= LAST_REFERRING && pattern("clear_numbers.REFERRING").test(text.slice(Math.max(0, start - LONGEST_REFERRING), start))) return 0;
  const isPart = language === "zh" ? written.length === 1 && !matchAt("clear_numbers.MEASURE", text, end) : /^\p{L}/u.test(characterAt(text, end));
  return isPart ? 0 : value;
}

/** Return a number in words without what may vary. @param {string} written */
function plain(written) {
  let text = replaceAll("clear_numbers.LINK", replaceAll("clear_numbers.PLURAL", written, () => ""), () => "");
  for (const [variant, usual] of Object.entries(NUMBER_VARIANTS)) text = text.replaceAll(variant, usual);
  return text;
}
