// Abbreviations with a point, read as the words that they stand for, as in text/abbreviations.py.

import { baseLanguage } from "./patterns.js";
import { ABBREVIATIONS } from "./rules.js";
import { rewriteWords } from "./shouting.js";

/** Return a text with words in place of its abbreviations, except in addresses and the like. @param {string} text @param {string} language its code */
export function withoutAbbreviations(text, language) {
  const words = ABBREVIATIONS[baseLanguage(language)];
  if (words === undefined) return text;
  return rewriteWords(text, (written) => {
    const own = words[written.toLowerCase().replace(/\s/g, "").replace(/\.$/, "")];
    return /^\p{Uppercase}/u.test(written) ? own[0].toUpperCase() + own.slice(1) : own;
  }, `abbreviations.${baseLanguage(language)}`);
}
