// Contractions that are typed without their apostrophe, as in text/contractions.py.

import { baseLanguage } from "./patterns.js";
import { CONTRACTIONS } from "./rules.js";
import { rewriteWords } from "./shouting.js";

/** Return a text with the apostrophes that its contractions lack, except in addresses and the like. @param {string} text @param {string} language its code */
export function withApostrophes(text, language) {
  const forms = CONTRACTIONS[baseLanguage(language)];
  if (forms === undefined) return text;
  return rewriteWords(text, (word) => {
    const form = Object.hasOwn(forms, word.toLowerCase()) ? forms[word.toLowerCase()] : undefined;
    if (form === undefined || isUpper(word)) return word;
    return isUpper(word[0]) ? form[0].toUpperCase() + form.slice(1) : form;
  });
}

/** @param {string} text */
const isUpper = (text) => text === text.toUpperCase() && text !== text.toLowerCase();
