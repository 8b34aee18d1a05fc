// Times of the day in four languages, as in text/times.py.

import { ascii } from "./digits.js";
import { allMatches, pattern } from "./patterns.js";
import { AFTERNOON, MONTH_NUMBERS } from "./rules.js";

const LAST_HOUR = 23;

/** Return true if a text has a time that it says is after noon. @param {string} text @param {string} language code of a base language @param {boolean} inWords it says so in words, and it is not noon itself */
function hasAfternoon(text, language, inWords) {
  if (!(language in MONTH_NUMBERS)) return false;
  return [0, 1].some((number) => allMatches(`times.${language}.${number}`, text).some((match) => {
    const groups = /** @type {Record<string, string | undefined>} */ (match.groups);
    const [hour, half] = [Number(ascii(groups.hour ?? "")), groups.half?.toLowerCase() ?? ""];
    if (hour > LAST_HOUR || (inWords && (hour === 12 || !half))) return false;
    return hour > 12 || AFTERNOON.includes(half) || (half === "中午" && hour < 3);
  }));
}

/**
 * Return false if a source says that a time is after noon, and its translation says so nowhere.
 *
 * @param {string} source @param {string} translation @param {string} sourceLang @param {string} targetLang codes of base languages
 * @param {(text: string) => Set<bigint | number>} numbersInWords
 */
export function afternoonsKept(source, translation, sourceLang, targetLang, numbersInWords) {
  if (!(targetLang in MONTH_NUMBERS) || !hasAfternoon(source, sourceLang, true)) return true;
  if (pattern(`times.${targetLang}.SAID`).test(translation) || hasAfternoon(translation, targetLang, false)) return true;
  return [...numbersInWords(translation)].map(Number).some((number) => 12 < number && number <= LAST_HOUR);
}
