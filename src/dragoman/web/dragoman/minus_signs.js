// A check that a translation has the minus signs of its source, as in text/minus_signs.py.

import { allMatches, baseLanguage, pattern } from "./patterns.js";
import { NUMBER_WORDS } from "./rules.js";

/** Return false if a translation has fewer minus signs than its source, and no word for them. @param {string} source @param {string} translation @param {string} targetLang */
export function minusSignsKept(source, translation, targetLang) {
  const [signs, other] = [source, translation].map((text) => allMatches("minus_signs.MINUS", text).length);
  const count = signs + allMatches("minus_signs.WORDED", source).length;
  const base = baseLanguage(targetLang);
  return count <= other || !(base in NUMBER_WORDS) || pattern(`minus_signs.${base}`).test(translation);
}
