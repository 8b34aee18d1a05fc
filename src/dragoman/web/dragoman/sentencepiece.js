// A SentencePiece model: its file, and its normalisation.

const SPACE = "▁";

/**
 * @typedef {object} Piece
 * @property {string} text
 * @property {number} score
 * @property {number} type one of TYPES
 */

export const TYPES = { normal: 1, unknown: 2, control: 3, userDefined: 4, unused: 5, byte: 6 };
export const BPE = 2;

/**
 * @typedef {object} PieceModel
 * @property {Piece[]} pieces
 * @property {number} kind 1 unigram, BPE
 * @property {Uint8Array} charsmap
 * @property {boolean} addsPrefix put a space before a text
 * @property {boolean} removesSpaces strip, and reduce to one space between words
 * @property {boolean} escapesSpaces write a space as ▁
 * @property {boolean} spaceIsSuffix
 * @property {boolean} hasBytes spell what no piece has in bytes
 */

/** Yield the fields of a protocol buffer: number, and a number or bytes. @param {Uint8Array} bytes */
function* fields(bytes) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let at = 0;
  const varint = () => {
    for (let value = 0, weight = 1; ; weight *= 128) {
      const byte = view.getUint8(at++);
      value += (byte & 127) * weight;
      if (byte < 128) return value;
    }
  };
  while (at < bytes.length) {
    const tag = varint();
    const [number, wire] = [tag >>> 3, tag & 7];
    if (wire === 0) yield [number, varint(), bytes.subarray(0, 0)];
    else if (wire === 5) yield [number, view.getFloat32((at += 4) - 4, true), bytes.subarray(0, 0)];
    else if (wire === 1) at += 8;
    else if (wire === 2) {
      const size = varint();
      yield [number, 0, bytes.subarray(at, (at += size))];
    } else throw new Error("not a SentencePiece model");
  }
}

/** Read a serialised model. @param {Uint8Array} bytes @returns {PieceModel} */
export function readPieceModel(bytes) {
  const text = new TextDecoder();
  /** @type {PieceModel} */
  const model = {
    ...{ pieces: [], kind: 1, charsmap: new Uint8Array(), addsPrefix: true, removesSpaces: true },
    ...{ escapesSpaces: true, spaceIsSuffix: false, hasBytes: false },
  };
  for (const [field, , content] of /** @type {Iterable<[number, number, Uint8Array]>} */ (fields(bytes))) {
    const inner = /** @type {[number, number, Uint8Array][]} */ (field <= 3 ? [...fields(content)] : []);
    if (field === 1) {
      const piece = { text: "", score: 0, type: TYPES.normal };
      for (const [name, value, bytes] of inner) {
        if (name === 1) piece.text = text.decode(bytes);
        if (name === 2) piece.score = value;
        if (name === 3) piece.type = value;
      }
      model.pieces.push(piece);
    } else if (field === 2) {
      for (const [name, value] of inner) {
        if (name === 3) model.kind = value;
        if (name === 24) model.spaceIsSuffix = value === 1;
        if (name === 35) model.hasBytes = value === 1;
      }
    } else if (field === 3) {
      for (const [name, value, bytes] of inner) {
        if (name === 2) model.charsmap = bytes;
        if (name === 3) model.addsPrefix = value === 1;
        if (name === 4) model.removesSpaces = value === 1;
        if (name === 5) model.escapesSpaces = value === 1;
      }
    }
  }
  return model;
}

/** The normalisation of a model: characters, then spaces. */
export class Normalizer {
  /** @param {PieceModel} model */
  constructor(model) {
    this.model = model;
    this.userDefined = new Set(model.pieces.filter((piece) => piece.type === TYPES.userDefined).map((piece) => piece.text));
    this.longest = Math.max(0, ...[...this.userDefined].map((text) => text.length));
    if (model.charsmap.length) {
      const { buffer, byteOffset, byteLength } = model.charsmap.slice();
      const size = new DataView(buffer, byteOffset).getUint32(0, true);
      this.trie = new Uint32Array(buffer, byteOffset + 4, size / 4);
      this.texts = new Uint8Array(buffer, byteOffset + 4 + size, byteLength - 4 - size);
    }
    this.encoder = new TextEncoder();
    this.decoder = new TextDecoder();
  }

  /** Return the longest user-defined piece at a place; "" if there is none. @param {string} text @param {number} place */
  userDefinedAt(text, place) {
    for (let length = Math.min(this.longest, text.length - place); length > 0; length--) {
      const candidate = text.slice(place, place + length);
      if (this.userDefined.has(candidate)) return candidate;
    }
    return "";
  }

  /** Return the text that pieces are cut from. @param {string} text */
  normalize(text) {
    const { addsPrefix, removesSpaces, escapesSpaces, spaceIsSuffix } = this.model;
    let normal = this.trie ? this.#mapped(text) : text;
    if (removesSpaces) normal = normal.replace(/^ +| +$/g, "").replace(/ {2,}/g, " ");
    if (!normal) return "";
    if (addsPrefix) normal = spaceIsSuffix ? `${normal} ` : ` ${normal}`;
    return escapesSpaces ? normal.replaceAll(" ", SPACE) : normal;
  }

  /** Replace the longest prefixes that the character map has. @param {string} text */
  #mapped(text) {
    const parts = [];
    const trie = /** @type {Uint32Array} */ (this.trie);
    for (let place = 0; place < text.length; ) {
      const own = this.userDefinedAt(text, place);
      if (own) {
        parts.push(own);
        place += own.length;
        continue;
      }
      const [length, value] = this.#longest(trie, text, place);
      if (value >= 0) {
        const texts = /** @type {Uint8Array} */ (this.texts);
        parts.push(this.decoder.decode(texts.subarray(value, texts.indexOf(0, value))));
        place += length;
      } else {
        const character = String.fromCodePoint(/** @type {number} */ (text.codePointAt(place)));
        parts.push(character);
        place += character.length;
      }
    }
    return parts.join("");
  }

  /** Return the length and the value of the longest key of a double-array trie (Darts) at a place. @param {Uint32Array} trie @param {string} text @param {number} place */
  #longest(trie, text, place) {
    const offset = (/** @type {number} */ unit) => (unit >>> 10) << ((unit & (1 << 9)) >>> 6);
    let [length, value, at] = [0, -1, 0];
    let node = offset(trie[0]);
    while (at + place < text.length) {
      const character = String.fromCodePoint(/** @type {number} */ (text.codePointAt(place + at)));
      for (const byte of this.encoder.encode(character)) {
        node ^= byte;
        const unit = trie[node];
        if (unit === undefined || ((unit & 0x800000ff) >>> 0) !== byte) return /** @type {const} */ ([length, value]);
        node ^= offset(unit);
        if (unit & (1 << 8)) [length, value] = [at + character.length, trie[node] & 0x7fffffff];
      }
      at += character.length;
    }
    return /** @type {const} */ ([length, value]);
  }
}
