// Frames around the sentences of a text: marks of lists, tags, brackets and quotes, as in translator/frames.py.

import { allMatches, characterAt, matchAt, pattern, strip } from "./patterns.js";
import { hasWords } from "./sentences.js";

/** @typedef {{text: string, gap: string, isFrame: boolean}} Part a part of a text, and the white space before it */

/** @type {Record<string, string>} */
const BRACKETS = { "(": ")", "[": "]", "{": "}", "“": "”", "‘": "’", "«": "»", "„": "“", "‚": "‘", "»": "«", "‹": "›" };

const MOST_LAYERS = 12;

/** Return the parts of a text that a model reads, and the frames around them. @param {string} text with marks in place of tags @returns {Part[]} */
export function partsOf(text) {
  /** @type {Part[]} */
  const parts = [];
  let gap = "";
  for (const [stretch, isFrame] of stretchesOf(text)) {
    const inner = strip(stretch);
    if (!inner) {
      gap += stretch;
      continue;
    }
    const at = stretch.indexOf(inner);
    parts.push({ text: inner, gap: gap + stretch.slice(0, at), isFrame });
    gap = stretch.slice(at + inner.length);
  }
  return parts;
}

/** Return the stretches of a text, and true for those that belong to a frame. @param {string} text @returns {[string, boolean][]} */
function stretchesOf(text) {
  /** @type {[string, boolean][]} */
  const stretches = [];
  let end = 0;
  for (const match of allMatches("frames.BETWEEN", text)) {
    stretches.push(...framed(text.slice(end, match.index)), [match[0], true]);
    end = match.index + match[0].length;
  }
  return [...stretches, ...framed(text.slice(end))];
}

/** @param {string} text @returns {[string, boolean][]} */
function framed(text) {
  const [start, end] = core(text);
  if (!hasWords(text.slice(start, end))) return [[text, false]];
  return [[text.slice(0, start), true], [text.slice(start, end), false], [text.slice(end), true]];
}

/** Return the start and the end of what a frame leaves of a text. @param {string} text @returns {[number, number]} */
function core(text) {
  let [start, end, mayBeItem] = [0, text.length, true];
  for (let layer = 0; layer < MOST_LAYERS; layer += 1) {
    const before = [start, end];
    const inner = strip(text.slice(start, end));
    if (inner) start = text.indexOf(inner, start);
    end = start + inner.length;
    const tags = matchAt("frames.LEADING_TAGS", text.slice(0, end), start);
    const item = mayBeItem ? matchAt("frames.ITEM", text.slice(0, end), start) : null;
    const closing = pattern("frames.TRAILING_TAGS").exec(text.slice(start, end));
    if (tags) start += tags[0].length;
    else if (item?.[0]) [start, mayBeItem] = [start + item[0].length, false];
    else if (closing) end = start + closing.index;
    else if (isEnclosed(text.slice(start, end))) [start, end] = [start + 1, end - 1];
    if (start === before[0] && end === before[1]) break;
  }
  return [start, end];
}

/** Return true if brackets or quotes open at the beginning of a text and close at its end, and have words in them. @param {string} text */
function isEnclosed(text) {
  if (!pattern("frames.LETTER").test(text)) return false;
  const [first, last, whole] = [characterAt(text, 0), text.slice(-1), text.slice(1, -1)];
  const inner = whole.replace(/(?<=[\p{L}\p{N}_])['’](?=[\p{L}\p{N}_])/gu, "");
  if ((first === '"' || first === "'") && first === last) return !inner.includes(first);
  if (BRACKETS[first] !== last || (first === "{" && !/[.!?…]$/.test(strip(whole)))) return false;
  let depth = 0;
  for (const one of inner) {
    depth += Number(one === first) - Number(one === last);
    if (depth < 0) return false;
  }
  return depth === 0;
}
