// The best segmentation of a word: byte-pair encoding, or the unigram model (SentencePiece).

import { BPE, Normalizer, TYPES, readPieceModel } from "./sentencepiece.js";

/**
 * @typedef {object} CutPiece
 * @property {number} id
 * @property {string} text as it stands in the text, or the name of a byte
 */

/** Subtracted from the lowest score for a character that no piece has. */
const UNKNOWN_PENALTY = 10;

export class SegmentedPieces {
  /** @param {Uint8Array} bytes a serialised model */
  constructor(bytes) {
    this.model = readPieceModel(bytes);
    this.normalizer = new Normalizer(this.model);
    /** @type {Map<string, number>} */
    this.ids = new Map();
    /** @type {number[]} */
    this.byteIds = [];
    this.unknown = this.model.pieces.findIndex((piece) => piece.type === TYPES.unknown);
    this.lowest = Infinity;
    this.highest = -Infinity;
    this.longest = 1;
    this.model.pieces.forEach(({ text, score, type }, id) => {
      if (type === TYPES.byte) this.byteIds[parseInt(text.slice(3, 5), 16)] = id;
      if (type !== TYPES.normal && type !== TYPES.userDefined && type !== TYPES.unused) return;
      this.ids.set(text, id);
      this.longest = Math.max(this.longest, [...text].length);
      if (type !== TYPES.normal) return;
      this.lowest = Math.min(this.lowest, score);
      this.highest = Math.max(this.highest, score);
    });
  }

  /** Return the pieces of a text. @param {string} text @returns {CutPiece[]} */
  cut(text) {
    const normal = this.normalizer.normalize(text);
    /** @type {CutPiece[]} */
    const pieces = [];
    let wasUnknown = false;
    for (const part of this.model.kind === BPE ? this.#merged(normal) : this.#likeliest(normal)) {
      const id = this.ids.get(part);
      if (id !== undefined) pieces.push({ id, text: part });
      else if (this.model.hasBytes) pieces.push(...this.#bytes(part));
      else if (wasUnknown) pieces[pieces.length - 1].text += part;
      else pieces.push({ id: this.unknown, text: part });
      wasUnknown = id === undefined;
    }
    return pieces;
  }

  /** @param {string} text @returns {CutPiece[]} */
  #bytes(text) {
    return Array.from(new TextEncoder().encode(text), (byte) => ({
      id: this.byteIds[byte] ?? this.unknown,
      text: `<0x${byte.toString(16).toUpperCase().padStart(2, "0")}>`,
    }));
  }

  /** Return characters, and user-defined pieces, which stay whole. @param {string} text */
  #symbols(text) {
    /** @type {{text: string, isFixed: boolean}[]} */
    const symbols = [];
    for (let place = 0; place < text.length; place += symbols[symbols.length - 1].text.length) {
      const own = this.normalizer.userDefinedAt(text, place);
      symbols.push({ text: own || String.fromCodePoint(/** @type {number} */ (text.codePointAt(place))), isFixed: own !== "" });
    }
    return symbols;
  }

  /** Merge the neighbours of the highest score until none are left; of equal ones the first. @param {string} text */
  #merged(text) {
    const symbols = this.#symbols(text);
    /** @type {Map<string, [string, string]>} */
    const halves = new Map();
    for (;;) {
      let [best, place] = [-Infinity, -1];
      for (let i = 0; i + 1 < symbols.length; i++) {
        if (symbols[i].isFixed || symbols[i + 1].isFixed) continue;
        const id = this.ids.get(symbols[i].text + symbols[i + 1].text);
        if (id !== undefined && this.model.pieces[id].score > best) [best, place] = [this.model.pieces[id].score, i];
      }
      if (place < 0) break;
      const [left, right] = [symbols[place].text, symbols[place + 1].text];
      if (this.#isUnused(left + right)) halves.set(left + right, [left, right]);
      symbols.splice(place, 2, { text: left + right, isFixed: false });
    }
    return symbols.flatMap((symbol) => this.#used(symbol.text, halves));
  }

  /** @param {string} text */
  #isUnused(text) {
    return this.model.pieces[this.ids.get(text) ?? -1]?.type === TYPES.unused;
  }

  /** Cut an unused piece into the halves that it was merged of. @param {string} text @param {Map<string, [string, string]>} halves @returns {string[]} */
  #used(text, halves) {
    const parts = this.#isUnused(text) ? halves.get(text) : undefined;
    return parts ? parts.flatMap((part) => this.#used(part, halves)) : [text];
  }

  /** Return the segmentation of the highest score (Viterbi). Sums are rounded as SentencePiece's are. @param {string} text */
  #likeliest(text) {
    const characters = [...text];
    const [best, from] = [[0], [0]];
    for (let end = 1; end <= characters.length; end++) best[end] = -Infinity;
    for (let start = 0; start < characters.length; start++) {
      let [part, isKnown] = ["", false];
      const propose = (/** @type {number} */ end, /** @type {number} */ score) => {
        if (best[start] + score > best[end]) [best[end], from[end]] = [Math.fround(best[start] + score), start];
      };
      for (let end = start + 1; end <= Math.min(characters.length, start + this.longest); end++) {
        part += characters[end - 1];
        const piece = this.model.pieces[this.ids.get(part) ?? -1];
        if (!piece || piece.type === TYPES.unused) continue;
        propose(end, piece.type === TYPES.userDefined ? (end - start) * this.highest - 0.1 : piece.score);
        isKnown ||= end === start + 1;
      }
      if (!isKnown) propose(start + 1, this.lowest - UNKNOWN_PENALTY);
    }
    const parts = [];
    for (let end = characters.length; end > 0; end = from[end]) parts.push(characters.slice(from[end], end).join(""));
    return parts.reverse();
  }

  /** Return the text of ids. @param {number[]} ids */
  join(ids) {
    return this.#joined(ids.map((id) => this.model.pieces[id]));
  }

  /** Return the text of pieces; null is unknown. @param {(string | null)[]} texts */
  joinPieces(texts) {
    const names = new Map(this.model.pieces.map((piece) => [piece.text, piece]));
    const unknown = this.model.pieces[this.unknown];
    return this.#joined(texts.map((text) => (text === null ? unknown : names.get(text) ?? { text, score: 0, type: TYPES.normal })));
  }

  /** @param {import("./sentencepiece.js").Piece[]} pieces */
  #joined(pieces) {
    const parts = [];
    /** @type {number[]} */
    let bytes = [];
    for (const { text, type } of pieces) {
      if (type === TYPES.byte) {
        bytes.push(parseInt(text.slice(3, 5), 16));
        continue;
      }
      parts.push(decodeUtf8(bytes));
      bytes = [];
      if (type === TYPES.unknown) parts.push(" ⁇ ");
      else if (type !== TYPES.control) parts.push(text.replaceAll("▁", " "));
    }
    return parts.join("") + decodeUtf8(bytes);
  }
}

/** Decode UTF-8; each byte that is none of a character is U+FFFD. @param {number[]} bytes */
function decodeUtf8(bytes) {
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  let text = "";
  for (let at = 0; at < bytes.length; ) {
    const size = bytes[at] < 0x80 ? 1 : bytes[at] < 0xe0 ? 2 : bytes[at] < 0xf0 ? 3 : 4;
    try {
      text += decoder.decode(new Uint8Array(bytes.slice(at, at + size)));
      at += size;
    } catch {
      text += "\ufffd";
      at += 1;
    }
  }
  return text;
}
