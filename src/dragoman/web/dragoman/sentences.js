// The sentences of a text, as in text/sentences.py.

import { sanitize } from "./cleaning.js";
import { allMatches, characterAt, matchAt, pattern, replaceAll, searchFrom, strip } from "./patterns.js";
import { MARKS } from "./rules.js";

/** The end of a paragraph, as one character of white space. */
export const PARAGRAPH_END = "\u2029";
const [LONGEST_ABBREVIATION, LONGEST_WORD] = [16, 60];

/** Return true if a text has a letter or a digit. @param {string} text */
export const hasWords = (text) => pattern("sentences.IN_WORD").test(text);

/** Return the sanitized text, with PARAGRAPH_END between its paragraphs. @param {string} text */
export function sanitizeParagraphs(text) {
  const paragraphs = text.split(pattern("sentences.BLANK_LINE"));
  return paragraphs.map((each) => replaceAll("sentences.WIDE_SPACE", sanitize(each), () => " ")).join(PARAGRAPH_END);
}

/** Return the start and the end of each sentence. @param {string} text @returns {[number, number][]} */
export function sentenceSpans(text) {
  const hasCapitals = text !== text.toLowerCase();
  /** @type {[number, number][]} */
  const spans = [];
  let start = 0;
  for (const match of allMatches("sentences.MARKS", text)) {
    const [whole, marks, space] = match;
    const [from, to] = [match.index, match.index + whole.length];
    const endsParagraph = marks === undefined || space.includes(PARAGRAPH_END);
    if (!endsParagraph && !endsSentence(text, start, from, to, marks, space, hasCapitals)) continue;
    const end = marks === undefined ? from : from + marks.length;
    if (strip(text.slice(start, end))) spans.push([start, end]);
    start = to;
  }
  if (strip(text.slice(start))) spans.push([start, text.length]);
  return spans;
}

/** @param {string} one a character */
const isSmall = (one) => one !== one.toUpperCase() && !/[\u10d0-\u10ff]/.test(one);

/**
 * Return true if the sentence that begins at `start` ends with the marks from `from` to `to`; in doubt it does not.
 *
 * @param {string} text @param {number} start @param {number} from @param {number} to
 * @param {string} marks @param {string} space @param {boolean} hasCapitals
 */
function endsSentence(text, start, from, to, marks, space, hasCapitals) {
  const after = characterAt(text, to);
  if ([...marks].some((mark) => MARKS.unspaced.includes(mark))) {
    return space !== "" || MARKS.unspaced.includes(marks[marks.length - 1]) || (after !== "" && MARKS.opening.includes(after)) || !after;
  }
  if (!space) return endsBefore(text, start, from, to, marks);
  if (matchAt("sentences.NO_BEGINNING", text, to)) return false;
  const before = Math.max(0, from - LONGEST_ABBREVIATION);
  const near = text.slice(0, to + after.length);
  if (isSmall(after)) {
    if (hasCapitals || marks.replace(/^[.!?]+|[.!?]+$/g, "")) return false;
    return marks !== "." || !searchFrom("sentences.SMALL_INNER_DOT", near, before);
  }
  if (marks !== "." || !searchFrom("sentences.INNER_DOT", near, before)) return true;
  const nextWord = matchAt("sentences.WORD_AFTER", text.slice(0, to + LONGEST_WORD), to);
  const maybeLast = pattern("sentences.MAYBE_LAST").exec(text.slice(Math.max(start, before), from));
  if (!nextWord || !maybeLast) return false;
  if (maybeLast.groups?.capitals) {
    const isFirst = !strip(text.slice(start, from - maybeLast[0].length));
    return !isFirst && pattern("sentences.MORE_BEGINNINGS", "whole").test(nextWord.groups?.word ?? "");
  }
  const beginnings = maybeLast.groups?.number ? "PRONOUNS" : "BEGINNINGS";
  return pattern(`sentences.${beginnings}`, "whole").test(nextWord.groups?.word ?? "");
}

/**
 * Return true if a sentence ends with marks that the next one follows without a space.
 *
 * @param {string} text @param {number} start @param {number} from @param {number} to @param {string} marks
 */
function endsBefore(text, start, from, to, marks) {
  const after = matchAt("sentences.WORD_AFTER", text.slice(0, to + LONGEST_WORD), to);
  const before = pattern("sentences.WORD_BEFORE").exec(text.slice(Math.max(start, from - LONGEST_WORD), from));
  if (!after || !before) return false;
  const [word, next] = [before.groups?.word ?? "", after.groups?.word ?? ""];
  const whole = (/** @type {string} */ name, /** @type {string} */ one) => pattern(`sentences.${name}`, "whole").test(one);
  const first = characterAt(next, 0);
  const rest = next.slice(first.length);
  if (/\p{Lowercase}/u.test(first) || rest !== rest.toLowerCase() || whole("NAME_ENDS", next)) return false;
  const isCapital = /\p{Uppercase}/u.test(first);
  if (marks !== ".") return isCapital || [...marks].some((mark) => MARKS.clear.includes(mark));
  if (whole("ABBREVIATIONS", word)) return false;
  if (word !== word.toLowerCase()) return whole("BEGINNINGS", next);
  return isCapital && (whole("MORE_BEGINNINGS", next) || first > "\x7f");
}
