// Text to ids and back, as in text/subword.py, text/segmenter.py and text/tokenizer.py.

import { clean, hasJoiners, joinersOf, sanitize, splitTags, withoutControls, withoutJoiners } from "./cleaning.js";
import { collapseSpaces, splitSpaces, strip } from "./patterns.js";
import { SegmentedPieces } from "./segmentation.js";

/**
 * @typedef {object} SpecialIds
 * @property {number} pad
 * @property {number} unknown
 * @property {number} start
 * @property {number} end
 */

/**
 * @typedef {object} TokenizerSettings
 * @property {"bpe" | "unigram" | "characters"} kind
 * @property {boolean} lowercase
 * @property {SpecialIds} specialIds
 * @property {string[]} tags that a text may begin with
 * @property {boolean} cutsWords each word by itself
 * @property {string[] | null} words the vocabulary, if it does not have the numbers of a SentencePiece model
 */

const MOST_KNOWN_WORDS = 1 << 16;

export class Tokenizer {
  /** @param {TokenizerSettings} settings @param {Uint8Array | null} model of SentencePiece */
  constructor(settings, model) {
    this.settings = settings;
    const { pad, start, end, unknown } = settings.specialIds;
    this.marks = new Set([pad, start, end]);
    this.unknown = unknown;
    this.tags = new Set(settings.tags);
    this.segmentation = model ? new SegmentedPieces(model) : null;
    /** @type {string[]} the name of each id */
    this.pieces = settings.words ? withSpecial(settings.words, settings.specialIds) : [];
    if (this.segmentation && !settings.words) this.pieces = this.segmentation.model.pieces.map((piece) => piece.text);
    this.ids = new Map(this.pieces.map((piece, id) => [piece, id]));
    for (const id of [pad, start, end, unknown]) if (this.ids.get(this.pieces[id]) === id) this.ids.delete(this.pieces[id]);
    this.knownJoiners = joinersOf(this.ids.keys());
    /** @type {Map<string, [number[], string[]]>} */
    this.knownWords = new Map();
  }

  /** Return the ids of a text. @param {string} text */
  encode(text) {
    return this.#parts(text).flatMap(([ids]) => ids);
  }

  /** Return each token of `encode(text)` as it stands in the text. @param {string} text */
  split(text) {
    return this.#parts(text).flatMap(([, pieces]) => pieces);
  }

  /** Return the text of ids: one line. @param {number[]} ids */
  decode(ids) {
    const shown = ids.filter((id) => !this.marks.has(id));
    let text;
    if (!this.segmentation) {
      text = withoutControls(shown.map((id) => (id === this.unknown ? "\ufffd" : this.pieces[id])).join(""));
    } else {
      const joined = this.settings.words
        ? this.segmentation.joinPieces(shown.map((id) => (id === this.unknown ? null : this.pieces[id])))
        : this.segmentation.join(shown);
      text = collapseSpaces(withoutControls(joined));
    }
    return strip(sanitize(text));
  }

  /** Return the ids and the pieces of each part of a text. @param {string} text @returns {[number[], string[]][]} */
  #parts(text) {
    const cleaned = clean(text);
    const [tags, rest] = this.tags.size ? splitTags(cleaned, this.tags) : [[], cleaned];
    /** @type {[number[], string[]]} */
    const read = [tags.map((tag) => this.ids.get(tag) ?? this.unknown), tags];
    const known = hasJoiners(rest) ? withoutJoiners(rest, this.knownJoiners) : rest;
    return [read, ...this.#words(known).map((word) => this.#cut(word))];
  }

  /** Return the parts that are cut by themselves. @param {string} text */
  #words(text) {
    const { cutsWords, lowercase } = this.settings;
    if (!this.segmentation || !cutsWords) return text ? [lowercase ? text.toLowerCase() : text] : [];
    const spaced = text.replaceAll("▁", " ");
    return splitSpaces(lowercase ? spaced.toLowerCase() : spaced);
  }

  /** Return the ids and the pieces of one part. @param {string} word @returns {[number[], string[]]} */
  #cut(word) {
    let found = this.knownWords.get(word);
    if (!found) {
      if (this.knownWords.size >= MOST_KNOWN_WORDS) this.knownWords.clear();
      found = this.segmentation ? this.#pieces(this.segmentation.cut(word)) : this.#characters(word);
      this.knownWords.set(word, found);
    }
    return found;
  }

  /** @param {import("./segmentation.js").CutPiece[]} cut @returns {[number[], string[]]} */
  #pieces(cut) {
    const ids = this.settings.words ? cut.map(({ text }) => this.ids.get(text) ?? this.unknown) : cut.map(({ id }) => id);
    return [ids, cut.map(({ text }) => text)];
  }

  /** @param {string} text @returns {[number[], string[]]} */
  #characters(text) {
    const characters = [...text].map((one) => (this.ids.has(one) ? one : withoutJoiners(one) || one));
    return [characters.map((one) => this.ids.get(one) ?? this.unknown), characters];
  }
}

/** Return the name of each id. @param {string[]} words @param {SpecialIds} ids */
function withSpecial(words, ids) {
  const names = new Map([
    [ids.start, "<sos>"],
    [ids.pad, "<pad>"],
    [ids.unknown, "<unk>"],
    [ids.end, "<eos>"],
  ]);
  const pieces = [...words];
  for (const [id, name] of [...names].sort(([one], [other]) => one - other)) pieces.splice(id, 0, name);
  return pieces;
}
