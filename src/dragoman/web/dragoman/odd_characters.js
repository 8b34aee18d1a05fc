// Characters that a model can copy but not translate, as in text/odd_characters.py.

import { allMatches } from "./patterns.js";
import { MARKS } from "./rules.js";

/** @typedef {(character: string) => boolean} IsKnown */

const UNSPACED = new RegExp(`[${MARKS.unspaced}]`, "u");
const NEAR_AMOUNT = 22;
const isAscii = (/** @type {string} */ text) => /^[\0-\x7f]*$/.test(text);

/** Return a function that tells if a tokenizer has a piece for a character. @param {(text: string) => number[]} encode @param {number} unknown @returns {IsKnown} */
export function knownCharacters(encode, unknown) {
  /** @type {Map<string, boolean>} */
  const known = new Map();
  return (character) => {
    let isKnown = known.get(character);
    if (isKnown === undefined) {
      const ids = encode(character);
      isKnown = ids.length <= 2 && !ids.includes(unknown);
      known.set(character, isKnown);
    }
    return isKnown;
  };
}

/** Return the symbols of a text that every language writes in the same way. @param {string} text */
export const symbols = (text) => (isAscii(text) ? [] : [...new Set(text)].filter(isSymbol));

/** Return the places of symbols, and of words with a character that the model does not know. @param {string} text @param {IsKnown} isKnown @returns {[number, number][]} */
export function oddStretches(text, isKnown) {
  if (isAscii(text)) return [];
  const odd = new Set([...new Set(text)].filter((one) => isSymbol(one) || isUnknown(one, isKnown)));
  /** @type {[number, number][]} */
  const found = [];
  for (const match of odd.size ? allMatches("odd_characters.PART", text) : []) {
    if (![...match[0]].some((one) => odd.has(one))) continue;
    const [start, end] = [match.index, match.index + match[0].length];
    const isRow = match.groups?.word === undefined && found.length && found[found.length - 1][1] === start;
    found.push([isRow ? /** @type {[number, number]} */ (found.pop())[0] : start, end]);
  }
  return found.map(([start, end]) => withAmount(text, start, end));
}

/** Return true if a text has a letter that the model does not know and that is not Latin. @param {string} text @param {IsKnown} isKnown */
export function hasForeignLetter(text, isKnown) {
  return [...new Set(text)].some((one) => /\p{L}/u.test(one) && isUnknown(one, isKnown) && !/\p{Script=Latin}/u.test(one));
}

/** @param {string} character */
const isSymbol = (character) => character > "\x7f" && /[\p{So}\p{Sm}]/u.test(character) && !"°№℃℉".includes(character);

/** @param {string} character @param {IsKnown} isKnown */
function isUnknown(character, isKnown) {
  if (character <= "\x7f" || UNSPACED.test(character) || /[\p{C}\p{M}\p{Z}]/u.test(character)) return false;
  return !isKnown(character);
}

/** @param {string} text @param {number} start @param {number} end @returns {[number, number]} */
function withAmount(text, start, end) {
  if (!/^\p{Sc}$/u.test(text.slice(start, end))) return [start, end];
  const after = /^ ?\p{Nd}(?:[\p{Nd}.,]{0,20}\p{Nd})?/u.exec(text.slice(end));
  if (after) return [start, end + after[0].length];
  const before = /\p{Nd}[\p{Nd}.,]{0,20} ?$/u.exec(text.slice(Math.max(0, start - NEAR_AMOUNT), start));
  return [start - (before ? before[0].length : 0), end];
}
