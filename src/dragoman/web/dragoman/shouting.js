// Capitals, as in text/shouting.py.

import { UNKNOWN_LANGUAGE, allMatches, baseLanguage, pattern, replaceAll, searchFrom } from "./patterns.js";
import { sentenceSpans } from "./sentences.js";
import { findSpans } from "./spans.js";

const MOST_OTHERS = 0.1;
const [FEWEST_LETTERS, FEWEST_OF_ONE, FEWEST_EXCLAIMED] = [5, 7, 3];
const DOTTED = ["tr", "az"];

/** @param {string} text @param {RegExp} kind */
const count = (text, kind) => text.match(kind)?.length ?? 0;

/** Return true if the letters of a text are capitals, and it is no short name. @param {string} text */
export function isShouted(text) {
  if (count(text, /\p{Uppercase}/gu) < FEWEST_EXCLAIMED) return false;
  const plain = parts(text).filter((part) => !part.isVerbatim).map((part) => part.text).join("");
  const letters = plain.match(/\p{L}/gu)?.join("") ?? "";
  const nCapitals = count(letters, /\p{Uppercase}/gu);
  if (nCapitals < (1 - MOST_OTHERS) * [...letters].length) return false;
  if (allMatches("shouting.WORD", text).length > 1) return nCapitals >= FEWEST_LETTERS;
  const last = text.split(pattern("shouting.WORD_CHARACTER")).at(-1) ?? "";
  return nCapitals >= (/[!！]/.test(last) ? FEWEST_EXCLAIMED : FEWEST_OF_ONE);
}

/**
 * Return a text in capitals as a sentence. A word keeps its capitals, or the first one, if it costs less so.
 *
 * @param {string} text @param {string} language @param {(word: string) => number} cost
 */
export function calm(text, language, cost) {
  const starts = new Set();
  for (const [start, end] of sentenceSpans(text)) {
    const match = searchFrom("shouting.WORD", text.slice(0, end), start);
    if (match) starts.add(match.index);
  }
  const base = baseLanguage(language);
  return rewriteWords(text, (word, place) => {
    const small = lower(word, base);
    const [first, rest] = [String.fromCodePoint(/** @type {number} */ (word.codePointAt(0))), [...small].slice(1).join("")];
    const isSameLength = [...small].length === [...word].length;
    const capital = isSameLength ? first + rest : upperFirst(small);
    const forms = [small, capital, word];
    if (base === "de" && small.includes("ss")) forms.push(small.replaceAll("ss", "ß"), capital.replaceAll("ss", "ß"));
    const isPronoun = ["en", UNKNOWN_LANGUAGE].includes(base) && /^i(?:['’]|$)/.test(small);
    const costs = forms.map(cost);
    const best = isPronoun ? capital : forms[costs.indexOf(Math.min(...costs))];
    return starts.has(place) && best[0] !== "ß" ? upperFirst(best) : best;
  });
}

/** Return a text in capitals, except addresses and text of a script without them. @param {string} text @param {string} language */
export function shout(text, language) {
  const characters = [...text];
  const nCased = characters.filter((one) => one.toLowerCase() !== one.toUpperCase()).length;
  if (2 * nCased < count(text, /\p{L}/gu)) return text;
  return rewriteWords(text, (word) => upper(word, baseLanguage(language)));
}

/** Return a text with its words rewritten, except in addresses and the like. @param {string} text @param {(word: string, place: number) => string} rewrite */
function rewriteWords(text, rewrite) {
  const written = parts(text).map(({ start, text: part, isVerbatim }) =>
    isVerbatim ? part : replaceAll("shouting.WORD", part, (word, place) => rewrite(word, place + start)),
  );
  return written.join("");
}

/** Return addresses and the like, and the stretches between. @param {string} text */
function parts(text) {
  const found = [];
  let end = 0;
  for (const span of findSpans(text).filter((each) => each.isVerbatim)) {
    found.push({ start: end, text: text.slice(end, span.start), isVerbatim: false });
    found.push({ start: span.start, text: text.slice(span.start, span.end), isVerbatim: true });
    end = span.end;
  }
  return [...found, { start: end, text: text.slice(end), isVerbatim: false }];
}

/** @param {string} text */
function upperFirst(text) {
  const first = String.fromCodePoint(/** @type {number} */ (text.codePointAt(0)));
  return first.toUpperCase() + text.slice(first.length);
}

/** @param {string} text @param {string} base */
const lower = (text, base) => (DOTTED.includes(base) ? text.replaceAll("I", "ı").replaceAll("İ", "i") : text).toLowerCase();

/** @param {string} text @param {string} base */
function upper(text, base) {
  const german = base === "de" ? text.replaceAll("ß", "ẞ") : text;
  return (DOTTED.includes(base) ? german.replaceAll("i", "İ") : german).toUpperCase();
}
