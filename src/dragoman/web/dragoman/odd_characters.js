// Characters that a model can copy but not translate, as in text/odd_characters.py.

import { allMatches, pattern } from "./patterns.js";
import { MARKS, SCRIPTS, SCRIPT_LANGUAGES } from "./rules.js";

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

/** Return a function that tells if a model can translate a character from a language. @param {string} language its code, without region or script @param {IsKnown} isKnown @returns {IsKnown} */
export function knownIn(language, isKnown) {
  const ranges = Object.entries(SCRIPTS).filter(([, languages]) => !languages.split(" ").includes(language));
  const foreign = SCRIPT_LANGUAGES.includes(language) ? new RegExp(`^[${ranges.map(([range]) => range).join("")}]`, "u") : /(?!)/;
  return (one) => !foreign.test(one) && (UNSPACED.test(one) || isKnown(one));
}

/** Return the symbols of a text that every language writes in the same way. @param {string} text */
export const symbols = (text) => (isAscii(text) ? [] : [...new Set(text)].filter(isSymbol));

/** Return the places of symbols, and of words with a character that the model does not know. @param {string} text @param {IsKnown} isKnown @returns {[number, number][]} */
export function oddStretches(text, isKnown) {
  if (isAscii(text)) return [];
  const odd = new Set([...new Set(text)].filter((one) => isSymbol(one) || isUnknown(one, isKnown)));
  /** @type {[number, number][]} */
  const found = [];
  for (const match of odd.size || pattern("odd_characters.SMALL").test(text) ? allMatches("odd_characters.PART", text) : []) {
    const [start, end] = [match.index, match.index + match[0].length];
    const isNext = found.length > 0 && found[found.length - 1][1] === start;
    const isWord = match.groups?.word !== undefined;
    const isMark = isNext && /^\p{M}/u.test(match[0]);
    const goesOn = isNext && isWord && /(?![\ufe00-\ufe0f])[\p{Mn}\p{Mc}]$/u.test(text.slice(Math.max(0, start - 2), start));
    if (![...match[0]].some((one) => odd.has(one)) && !isMark && !goesOn && !hasExponent(match)) continue;
    const isJoined = goesOn || (isNext && !isWord);
    found.push([isJoined ? /** @type {[number, number]} */ (found.pop())[0] : start, end]);
  }
  return found.map(([start, end]) => withAmount(text, start, end));
}

/** Return true if a word has small letters or digits, and is no unit of a number. @param {RegExpMatchArray} match */
function hasExponent(match) {
  if (match.groups?.word === undefined || !pattern("odd_characters.SMALL").test(match[0])) return false;
  const place = match.index ?? 0;
  const before = (match.input ?? "").slice(Math.max(0, place - 2), place);
  const hasNumber = /^\p{Nd}/u.test(match[0]) || pattern("odd_characters.NUMBER_BEFORE").test(before);
  return !(pattern("odd_characters.UNIT", "whole").test(match[0]) && hasNumber);
}

/** Return true if a text has a letter that the model does not know and that is not Latin. @param {string} text @param {IsKnown} isKnown */
export function hasForeignLetter(text, isKnown) {
  return [...new Set(text)].some((one) => /\p{L}/u.test(one) && isUnknown(one, isKnown) && !/\p{Script=Latin}/u.test(one));
}

/** @param {string} character */
const isSymbol = (character) => character > "\x7f" && /[\p{So}\p{Sm}]/u.test(character) && !"°№℃℉".includes(character);

/** @param {string} character @param {IsKnown} isKnown */
function isUnknown(character, isKnown) {
  if (character <= "\x7f" || /[\p{C}\p{M}\p{Z}]/u.test(character)) return false;
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
