// The text that a model reads in place of a segment, as in translator/reading.py.

import { hasForeignLetter, oddStretches } from "./odd_characters.js";
import { allMatches, matchAt, pattern, replaceAll, strip } from "./patterns.js";
import { PARAGRAPH_END } from "./sentences.js";
import { calm, isShouted } from "./shouting.js";
import { findSpans } from "./spans.js";

/** The first and the last of the characters for private use that stand for spans, by the kind of the span. @type {Record<string, [number, number]>} */
const MARK_RANGES = { text: [0xf0000, 0xffffd], tag: [0x100000, 0x107fff], break: [0x108000, 0x10fffd] };
const FIRST_TAG = "\u{100000}";
/** Letters beside a tag that are looked at. */
const LONGEST = 40;

/** Return the letters and digits right before and right after a place. @param {string} text @param {number} start @param {number} end @returns {[string, string]} */
function lettersAround(text, start, end) {
  const before = pattern("marks.LETTERS_BEFORE").exec(text.slice(Math.max(0, start - LONGEST), start));
  return [before?.[0] ?? "", matchAt("marks.LETTERS_AFTER", text, end)?.[0] ?? ""];
}

/** Return a translation without the spaces around a piece; one outside of a tag stays if the letters there are gone. @param {string} text @param {string} piece @param {string} tag @param {[string, string]} joints */
function joinedAgain(text, piece, tag, joints) {
  const [gapBefore, gapAfter] = joints.map((joint) => (joint ? "(\\s?)" : "()"));
  return text.replace(new RegExp(`${gapBefore}${piece}${gapAfter}`, "gu"), (whole, /** @type {string} */ spaceBefore, spaceAfter, start) => {
    if (!joints[0] || !joints[1]) return piece;
    const [before, after] = lettersAround(text, start, start + whole.length);
    const isSpaced = (/** @type {string} */ letter) => matchAt("marks.SPACED", letter, 0) !== null;
    if (matchAt("marks.CLOSING", tag, 0) && after !== joints[1] && isSpaced(after)) return piece + spaceAfter;
    if (matchAt("marks.OPENING", tag, 0) && before !== joints[0] && isSpaced([...before].pop() ?? "")) return spaceBefore + piece;
    return piece;
  });
}

export class Reading {
  /** @param {string} text @param {Map<string, string>} masks reserved pieces and their spans @param {boolean} isShouted @param {boolean} hasPieces the model has reserved pieces @param {boolean} hasForeign a masked word has a letter that the model does not know, and that is not Latin @param {Map<string, [string, string]>} tags pieces that mask tags, with the letters right before and right after */
  constructor(text = "", masks = new Map(), isShouted = false, hasPieces = false, hasForeign = false, tags = new Map()) {
    this.text = text;
    this.masks = masks;
    this.isShouted = isShouted;
    this.hasPieces = hasPieces;
    this.hasForeign = hasForeign;
    this.tags = tags;
  }

  /** @param {string} piece */
  #isNothing(piece) {
    return this.hasPieces && !this.text.includes(piece);
  }

  /** Return a translation with the spans in place of their masks, without pieces that stand for nothing. @param {string} text */
  unmask(text) {
    for (const [piece, joints] of this.tags) text = joinedAgain(text, piece, this.masks.get(piece) ?? "", joints);
    for (const [piece, span] of this.masks) if (span.endsWith(".")) text = text.replace(new RegExp(`${piece}\\.(?!\\.)`, "gu"), piece);
    const isClean = !reservedIn(text).some((piece) => this.#isNothing(piece));
    const restored = replaceAll("reading.AFTER_SPACE", text, (whole, piece) =>
      this.#isNothing(piece) ? "" : whole.replace(piece, () => this.masks.get(piece) ?? piece),
    );
    return isClean ? restored : strip(restored);
  }

  /** Return the pieces of a text with the spans in place of their masks. @param {string[]} pieces */
  unmaskPieces(pieces) {
    const isReserved = pattern("reading.RESERVED", "whole");
    return pieces.map((piece) => (isReserved.test(piece) && this.#isNothing(piece) ? "" : this.masks.get(piece) ?? piece));
  }

  /** Return the beginning of a translation with masks in place of the spans, each once. @param {string} text */
  mask(text) {
    const left = new Map([...this.masks].reverse().map(([piece, span]) => [span, piece]));
    const parts = [];
    let end = 0;
    for (const span of left.size ? findSpans(text) : []) {
      const found = text.slice(span.start, span.end);
      const piece = left.get(found);
      if (piece === undefined) continue;
      left.delete(found);
      parts.push(text.slice(end, span.start), piece);
      end = span.end;
    }
    return [...parts, text.slice(end)].join("");
  }
}

/** Return the reserved pieces of a text. @param {string} text */
export const reservedIn = (text) => allMatches("reading.RESERVED", text).map((match) => match[0]);

/** The readings of the segments of one text. */
export class TextReader {
  /**
   * @param {string} text sanitized, without tags
   * @param {string} language its code
   * @param {string[]} reserved pieces that may mask spans
   * @param {(word: string) => number} cost the number of a word's pieces
   * @param {import("./odd_characters.js").IsKnown} isKnown
   */
  constructor(text, language, reserved, cost, isKnown) {
    this.language = language;
    this.reserved = reserved;
    this.cost = cost;
    this.isKnown = isKnown;
    /** @type {Map<string, string>} spans by their marks */
    this.spans = new Map();
    this.text = this.#mark(text);
  }

  /** Return a stretch of `text` as it was. @param {string} segment */
  original(segment) {
    return this.spans.size ? [...segment].map((one) => this.spans.get(one) ?? one).join("") : segment;
  }

  /** Return what the model reads in place of a stretch of `text`. @param {string} segment */
  read(segment) {
    const shouted = isShouted(segment);
    const text = shouted ? calm(segment, this.language, this.cost) : segment;
    if (!this.spans.size) return new Reading(text, new Map(), shouted, this.reserved.length > 0);
    const pieces = new Map(this.#masked(text).map((mark, i) => [mark, this.reserved[i]]));
    /** @type {Map<string, [string, string]>} */
    const tags = new Map();
    const ones = [...text];
    let end = 0;
    for (const one of ones) {
      const start = end;
      end += one.length;
      const piece = pieces.get(one);
      if (piece !== undefined && one >= FIRST_TAG) tags.set(piece, lettersAround(text, start, end));
    }
    const apart = (/** @type {string} */ piece) => `${tags.get(piece)?.[0] ? " " : ""}${piece}${tags.get(piece)?.[1] ? " " : ""}`;
    const read = ones.map((one) => (pieces.has(one) ? apart(/** @type {string} */ (pieces.get(one))) : this.spans.get(one) ?? one)).join("");
    const masks = new Map([...pieces].map(([mark, piece]) => [piece, /** @type {string} */ (this.spans.get(mark))]));
    const hasForeign = [...masks.values()].some((span) => hasForeignLetter(span, this.isKnown) && !findSpans(span).length);
    return new Reading(read, masks, shouted, this.reserved.length > 0, hasForeign, tags);
  }

  /** Return the marks of a text to be masked: as many as there are reserved pieces; text that looks like one comes first. @param {string} text */
  #masked(text) {
    const isReserved = pattern("reading.RESERVED", "whole");
    const marks = [...text].filter((one) => this.spans.has(one));
    const alike = marks.filter((mark) => isReserved.test(/** @type {string} */ (this.spans.get(mark))));
    if (alike.length > this.reserved.length) return [];
    const others = marks.filter((mark) => !alike.includes(mark)).slice(0, this.reserved.length - alike.length);
    return marks.filter((mark) => alike.includes(mark) || others.includes(mark));
  }

  /** Return the spans to be masked, and the places of characters that the model cannot translate. @param {string} text */
  #stretches(text) {
    const found = oddStretches(text, this.isKnown);
    for (const { start, end, isVerbatim } of findSpans(text)) {
      if (isVerbatim && !text.slice(start, end).includes(PARAGRAPH_END)) found.push([start, end]);
    }
    found.sort(([one, oneEnd], [other, otherEnd]) => one - other || oneEnd - otherEnd);
    /** @type {[number, number][]} */
    const together = [];
    for (const [start, end] of found) {
      const last = together[together.length - 1];
      if (last && start < last[1]) last[1] = Math.max(last[1], end);
      else if (start < end) together.push([start, end]);
    }
    return together;
  }

  /** @param {string} text */
  #mark(text) {
    const taken = new Set(text);
    const spans = findSpans(text).filter((span) => ["tag", "break"].includes(span.kind) && !text.slice(span.start, span.end).includes(PARAGRAPH_END));
    const kinds = new Map(spans.map((span) => [`${span.start} ${span.end}`, span.kind]));
    /** @type {[number, number][]} */
    const tags = spans.map((span) => [span.start, span.end]);
    /** @type {Record<string, number>} */
    const next = { text: MARK_RANGES.text[0], tag: MARK_RANGES.tag[0], break: MARK_RANGES.break[0] };
    const parts = [];
    let end = 0;
    for (const [start, spanEnd] of this.reserved.length ? this.#stretches(text) : tags) {
      const kind = kinds.get(`${start} ${spanEnd}`) ?? "text";
      while (taken.has(String.fromCodePoint(next[kind]))) next[kind]++;
      if (next[kind] > MARK_RANGES[kind][1]) break;
      const mark = String.fromCodePoint(next[kind]++);
      parts.push(text.slice(end, start), mark);
      this.spans.set(mark, text.slice(start, spanEnd));
      end = spanEnd;
    }
    return [...parts, text.slice(end)].join("");
  }
}
