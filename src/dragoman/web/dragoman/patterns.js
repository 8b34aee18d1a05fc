// Patterns of the Python package, and characters as Python counts them: by code points.

import { PATTERNS } from "./rules.js";

/** @type {Map<string, RegExp>} */
const compiled = new Map();

/**
 * Return a pattern: `sticky` at one place, `global` from one place on, or `whole` for all of a text.
 *
 * @param {string} name
 * @param {"" | "sticky" | "global" | "whole"} kind
 */
export function pattern(name, kind = "") {
  const key = `${kind} ${name}`;
  let found = compiled.get(key);
  if (!found) {
    const [source, flags] = PATTERNS[name];
    const letter = kind === "sticky" ? "y" : kind === "global" ? "g" : "";
    found = new RegExp(kind === "whole" ? `^(?:${source})$` : source, flags + letter);
    compiled.set(key, found);
  }
  return found;
}

/** Match at one place. @param {string} name @param {string} text @param {number} place */
export function matchAt(name, text, place) {
  const found = pattern(name, "sticky");
  found.lastIndex = place;
  const match = found.exec(text);
  found.lastIndex = 0; // the pattern is shared, and `matchAll` begins there
  return match;
}

/** Find the first match from a place on. @param {string} name @param {string} text @param {number} place */
export function searchFrom(name, text, place) {
  const found = pattern(name, "global");
  found.lastIndex = place;
  const match = found.exec(text);
  found.lastIndex = 0; // the pattern is shared, and `matchAll` begins there
  return match;
}

/** Return all matches. @param {string} name @param {string} text */
export const allMatches = (name, text) => [...text.matchAll(pattern(name, "global"))];

/** Replace all matches. @param {string} name @param {string} text @param {(...match: any[]) => string} by */
export const replaceAll = (name, text, by) => text.replace(pattern(name, "global"), by);

/** Return the character that ends before a place; "" at the beginning. @param {string} text @param {number} place */
export function characterBefore(text, place) {
  const last = text.slice(Math.max(0, place - 2), place);
  return /^[\ud800-\udbff][\udc00-\udfff]$/.test(last) ? last : last.slice(-1);
}

/** Return the character at a place; "" at the end. @param {string} text @param {number} place */
export function characterAt(text, place) {
  const code = text.codePointAt(place);
  return code === undefined ? "" : String.fromCodePoint(code);
}

/** Return the number of characters. @param {string} text */
export function lengthOf(text) {
  let length = text.length;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code >= 0xd800 && code < 0xdc00 && (text.charCodeAt(i + 1) & 0xfc00) === 0xdc00) length--;
  }
  return length;
}

/** Return the place of each character, and the end. @param {string} text */
export function placesOf(text) {
  const places = [];
  for (let place = 0; place < text.length; place += characterAt(text, place).length) places.push(place);
  places.push(text.length);
  return places;
}

/** Return the words between white space. @param {string} text */
export const splitSpaces = (text) => text.split(pattern("SPACES")).filter(Boolean);

/** Return the text without white space at its beginning. @param {string} text */
export const stripLeft = (text) => text.slice(matchAt("SPACES", text, 0)?.[0].length ?? 0);

/** Return the text without white space at its ends. @param {string} text */
export function strip(text) {
  const rest = stripLeft(text);
  let end = rest.length;
  while (end > 0 && pattern("SPACES").test(rest[end - 1])) end--;
  return rest.slice(0, end);
}

/** Return a text with one space between words. @param {string} text */
export const collapseSpaces = (text) => splitSpaces(text).join(" ");

/** The code of a language that nobody named. */
export const UNKNOWN_LANGUAGE = "und";

/** Return a code of a language without region or script. @param {string} code */
export const baseLanguage = (code) => code.split(/[-_]/)[0].toLowerCase();
