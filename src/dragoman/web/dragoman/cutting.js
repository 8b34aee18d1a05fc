// Segments of text that a model can read, as in translator/cutting.py.

import { partsOf } from "./frames.js";
import { allMatches, characterAt, collapseSpaces, lengthOf, pattern, placesOf, strip } from "./patterns.js";
import { PARAGRAPH_END, hasWords, sentenceSpans } from "./sentences.js";

/**
 * @typedef {object} Segment
 * @property {string} text
 * @property {number[]} ids
 * @property {"copied" | "unusual" | null} flag copied: the model does not read it
 * @property {boolean} [isFrame] it stands around sentences; of it, only quotation marks change
 * @property {string} [gap] the white space before it, where it or its neighbour is a frame
 * @property {string} [written] its translation, if it is a frame with quotation marks
 */

/**
 * @typedef {object} Limits the most that a segment may have
 * @property {number} maxLength tokens that the model reads
 * @property {number | null} sentences null is as many as fit
 * @property {number | null} longTokens of a sentence that is not cut
 * @property {number | null} usualTokens of the segments of a longer one
 * @property {boolean} copiesMarks copy text without letters and digits
 * @property {boolean} takesFrames off sentences
 */

/** @typedef {(text: string) => number[]} Encode */

const MOST_CHARACTERS_PER_TOKEN = 16;
const [LONG_WORD, NEAR] = [40, 200];

/** @param {Limits} limits */
const longest = (limits) => Math.min(limits.longTokens ?? limits.maxLength, limits.maxLength);

/** @param {Limits} limits */
const usual = (limits) => Math.min(limits.usualTokens ?? limits.maxLength, longest(limits));

/** @param {string} text @returns {Segment} */
const copied = (text) => ({ text: collapseSpaces(text), ids: [], flag: "copied" });

/** Cut a text into segments, none for an empty text. @param {string} text @param {Encode} encode @param {Limits} limits */
export function cut(text, encode, limits) {
  return inFrames(text, limits, (core) => cutCore(core, encode, limits));
}

/** True if the model does not read a segment. @param {{flag: string | null, isFrame?: boolean}} segment */
export const isCopied = (segment) => Boolean(segment.isFrame) || segment.flag === "copied";

/** Return the segments of a text without its frames, and the frames around them. @param {string} text @param {Limits} limits @param {(core: string) => Segment[]} cutOne */
function inFrames(text, limits, cutOne) {
  /** @type {Segment[]} */
  const segments = [];
  for (const part of limits.takesFrames ? partsOf(text) : [{ text, gap: "", isFrame: false }]) {
    /** @type {Segment[]} */
    const own = part.isFrame ? [{ text: part.text, ids: [], flag: null, isFrame: true }] : cutOne(part.text);
    const last = segments[segments.length - 1];
    if (own.length && last && (part.isFrame || last.isFrame)) own[0].gap = part.gap.replaceAll(PARAGRAPH_END, " ");
    segments.push(...own);
  }
  return segments;
}

/** @param {string} text @param {Encode} encode @param {Limits} limits */
function cutCore(text, encode, limits) {
  if (limits.copiesMarks && !hasWords(text)) return strip(text) ? [copied(text)] : [];
  /** @type {Segment[]} */
  const segments = [];
  let end = 0;
  for (const [start, nextEnd] of spansToCopy(text)) {
    segments.push(...cutWords(text.slice(end, start), encode, limits), copied(text.slice(start, nextEnd)));
    end = nextEnd;
  }
  return [...segments, ...cutWords(text.slice(end), encode, limits)];
}

/** Return the ids of a text; null if they are more than `maxLength`. @param {string} text @param {Encode} encode @param {number} maxLength */
function encodeIfShort(text, encode, maxLength) {
  if (!strip(text)) return [];
  if (lengthOf(text) > MOST_CHARACTERS_PER_TOKEN * maxLength) return null;
  const ids = encode(text);
  return ids.length <= maxLength ? ids : null;
}

/** Return the start and the end of each copied stretch. @param {string} text @returns {[number, number][]} */
function spansToCopy(text) {
  /** @type {[number, number][]} */
  const spans = [];
  for (const match of allMatches("cutting.NO_WORD", text)) {
    const [start, end] = [match.index, match.index + match[0].length];
    const last = spans[spans.length - 1];
    if (hasWords(text.slice(last ? last[1] : 0, start))) spans.push([start, end]);
    else if (last) last[1] = end;
    else spans.push([0, end]);
  }
  const last = spans[spans.length - 1];
  if (last && !hasWords(text.slice(last[1]))) last[1] = text.length;
  return spans;
}

/** Cut a text that has words only. @param {string} text @param {Encode} encode @param {Limits} limits @returns {Segment[]} */
function cutWords(text, encode, limits) {
  if (limits.sentences !== null) {
    const groups = sentenceGroups(text, encode, limits).map((group) => group.replaceAll(PARAGRAPH_END, " "));
    const cutOne = (/** @type {string} */ core) => cutSentence(core, encode, limits);
    // What is left of a text without its frame has no other one.
    return groups.flatMap((group) => (group === text ? cutOne(group) : inFrames(group, limits, cutOne)));
  }
  const whole = text.replaceAll(PARAGRAPH_END, " ");
  const ids = encodeIfShort(whole, encode, limits.maxLength);
  if (ids) return ids.length ? [{ text: whole, ids, flag: ids.length > longest(limits) ? "unusual" : null }] : [];
  const sentences = sentenceSpans(text).map(([start, end]) => text.slice(start, end));
  const segments = sentences.flatMap((sentence) => cutSentence(sentence, encode, limits));
  return segments.map((segment) => (segment.flag === "copied" ? segment : { ...segment, flag: "unusual" }));
}

/** Return groups of as many sentences as a segment may have. @param {string} text @param {Encode} encode @param {Limits} limits */
function sentenceGroups(text, encode, limits) {
  const groups = [];
  let [first, end, nSentences, nTokens] = [0, 0, 0, 0];
  for (const [start, nextEnd] of sentenceSpans(text)) {
    const ids = limits.sentences === 1 ? null : encodeAtMost(text.slice(start, nextEnd), encode, longest(limits), limits);
    const size = ids ? ids.length : longest(limits);
    if (nSentences === limits.sentences || (nSentences && nTokens + size > longest(limits))) {
      groups.push(text.slice(first, end));
      nSentences = nTokens = 0;
    }
    if (!nSentences) first = start;
    [end, nSentences, nTokens] = [nextEnd, nSentences + 1, nTokens + size];
  }
  if (nSentences) groups.push(text.slice(first, end));
  return groups;
}

/** @param {string} text @param {Encode} encode @param {Limits} limits @returns {Segment[]} */
function cutSentence(text, encode, limits) {
  if (limits.copiesMarks && !hasWords(text)) return strip(text) ? [copied(text)] : [];
  const ids = encodeAtMost(text, encode, longest(limits), limits);
  if (ids) return ids.length ? [{ text, ids, flag: null }] : [];
  return halve(text, encode, limits);
}

/** Return the ids of a text that the model can read; null if they are more than `nTokens`. @param {string} text @param {Encode} encode @param {number} nTokens @param {Limits} limits */
function encodeAtMost(text, encode, nTokens, limits) {
  const ids = encodeIfShort(text, encode, limits.maxLength);
  return ids && ids.length <= nTokens ? ids : null;
}

/** @param {string} text @param {Encode} encode @param {Limits} limits @returns {Segment[]} */
function halve(text, encode, limits) {
  let ids = encodeAtMost(text, encode, usual(limits), limits);
  let place = ids ? null : placeToCut(text);
  if (!ids && place === null) {
    ids = encodeIfShort(text, encode, limits.maxLength);
    const isTooLong = !ids || ids.length > longest(limits);
    if (limits.longTokens !== null && isTooLong && lengthOf(text) > LONG_WORD) return [copied(text)];
  }
  if (ids) return ids.length ? [{ text, ids, flag: "unusual" }] : [];
  const places = placesOf(text);
  if (places.length === 2) return [{ text, ids: encode(text).slice(0, limits.maxLength), flag: "unusual" }];
  place ??= places[(places.length - 1) >> 1];
  return [...halve(text.slice(0, place), encode, limits), ...halve(text.slice(place), encode, limits)];
}

/** Return the best place to cut near the middle: after a clause, else at a space, else between characters that need no space; null if there is none. @param {string} text */
function placeToCut(text) {
  const places = placesOf(text);
  const numbers = new Map(places.map((place, number) => [place, number]));
  const length = places.length - 1;
  const middle = length >> 1;
  const near = Math.min(length >> 2, NEAR);
  const [from, to] = [places[middle - near], places[middle + near]];
  const distance = (/** @type {number} */ place) => Math.abs(/** @type {number} */ (numbers.get(place)) - middle);
  for (const mark of ["CLAUSE", "SPACE", "BETWEEN_UNBROKEN"]) {
    const ends = matchEnds(`cutting.${mark}`, text.slice(0, to), from);
    const cuts = ends.filter((end) => !/^\p{M}/u.test(characterAt(text, end)));
    if (cuts.length) return cuts.reduce((best, end) => (distance(end) < distance(best) ? end : best));
  }
  const after = text.indexOf(" ", places[middle]);
  const before = text.lastIndexOf(" ", places[middle] - 1);
  return [after, before].find((place) => place > 0 && place < text.length - 1) ?? null;
}

/** Return the ends of the matches from a place on. @param {string} name @param {string} text @param {number} from */
function matchEnds(name, text, from) {
  const found = pattern(name, "global");
  found.lastIndex = from;
  const ends = [];
  for (let match = found.exec(text); match; match = found.exec(text)) ends.push(match.index + match[0].length);
  return ends;
}
