// Contractions that are typed without their apostrophe, as in text/contractions.py.

import { baseLanguage } from "./patterns.js";
import { CONTRACTIONS } from "./rules.js";
import { rewriteWords } from "./shouting.js";

/** Characters of the longest word that is looked at. */
const LONGEST = 40;

/** Return a text with the apostrophes that its contractions lack, except in addresses and the like. @param {string} text @param {string} language its code */
export function withApostrophes(text, language) {
  const forms = CONTRACTIONS[baseLanguage(language)];
  if (forms === undefined) return text;
  return rewriteWords(text, (word, _, before) => {
    const form = Object.hasOwn(forms, word.toLowerCase()) ? forms[word.toLowerCase()] : undefined;
    if (form === undefined || isUpper(word)) return word;
    if (!isUpper(word[0])) return form;
    const previous = /(\p{L}{2,}) $/u.exec(before.slice(-LONGEST))?.[1] ?? "";
    return isUpper([...previous][0] ?? "") && word !== "Im" ? word : form[0].toUpperCase() + form.slice(1);
  });
}

/** @param {string} text */
const isUpper = (text) => text === text.toUpperCase() && text !== text.toLowerCase();
