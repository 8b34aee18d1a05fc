// Typing errors in a source, as in text/spelling.py.

import { pattern } from "./patterns.js";
import { SPELLING } from "./rules.js";
import { rewriteWords } from "./shouting.js";

/** Characters of a text before a word that are looked at. */
const CHARACTERS_BEFORE = 4;

export class KnownWords {
  constructor() {
    /** @type {Map<string, number>} words in small letters, and the power of two of the times that each was seen */
    this.levels = new Map();
    /** @type {Set<string>} */
    this.capitalized = new Set();
    this.joined = "";
  }

  /** Return a text without typing errors in words, except in addresses and the like. @param {string} text */
  repaired(text) {
    return rewriteWords(text, (word, _, before) => this.#written(word, before), "spelling.WORD");
  }

  /** @param {string} word @param {string} before */
  #written(word, before) {
    const [letters, small] = [[...word], [...word.toLowerCase()]];
    const smallWord = small.join("");
    const isOther = small.length !== letters.length || letters.slice(1).join("") !== small.slice(1).join("");
    if (this.levels.has(smallWord) || isOther) return word;
    const hasCapital = word !== smallWord;
    const found = this.#meant(small, hasCapital);
    if (found === null) return word;
    if (hasCapital && !this.capitalized.has(found) && pattern("spelling.INSIDE").test(before.slice(-CHARACTERS_BEFORE))) return word;
    const [first, ...rest] = found;
    return hasCapital ? first.toUpperCase() + rest.join("") : found;
  }

  /** Return the known word that an unknown one stands for, if that is clear. @param {string[]} letters @param {boolean} mayBeName */
  #meant(letters, mayBeName) {
    const known = [...new Set(oneErrorAway(letters))].filter((each) => this.levels.has(each));
    if (!known.length) return null;
    const level = (/** @type {string} */ word) => this.levels.get(word) ?? 0;
    const highest = Math.max(...known.map(level));
    const [best, ...others] = known.sort((one, other) => level(other) - level(one));
    if (others.some((each) => highest < level(each) + SPELLING.clearly)) return null;
    const isSwapped = [...best].length === letters.length;
    const [plain, odd] = isSwapped ? [SPELLING.swapped, SPELLING.swappedOddly] : [SPELLING.doubled, SPELLING.doubledOddly];
    const place = Math.min(letters.length - 3, plain.length - 1);
    return (!mayBeName && highest >= plain[place]) || (highest >= odd[place] && this.#isOdd(letters)) ? best : null;
  }

  /** Return true if hardly a known word has all the letters in a row of this one. @param {string[]} letters */
  #isOdd(letters) {
    if (!this.joined) this.joined = ` ${[...this.levels].filter(([, level]) => level > 0).map(([word]) => word).join(" ")} `;
    const written = [" ", ...letters, " "];
    return letters.some((_, place) => this.#isRare(written.slice(place, place + SPELLING.row).join("")));
  }

  /** @param {string} letters */
  #isRare(letters) {
    let place = -1;
    for (let i = 0; i <= SPELLING.fewWords; i++) {
      place = this.joined.indexOf(letters, place + 1);
      if (place < 0) return true;
    }
    return false;
  }
}

/** Return the words with two letters swapped, one left out that repeats the one before it, or one written twice. @param {string[]} letters */
function oneErrorAway(letters) {
  const written = (/** @type {number} */ place, /** @type {string[]} */ ...between) =>
    [...letters.slice(0, place), ...between, ...letters.slice(place + 2)].join("");
  const found = letters.map((_, place) => [...letters.slice(0, place + 1), ...letters.slice(place)].join(""));
  for (let place = 0; place + 1 < letters.length; place++) {
    const [one, other] = letters.slice(place, place + 2);
    found.push(one === other ? written(place, one) : written(place, other, one));
  }
  return found;
}

/** Return the known words of each language, by its code. @param {string} text that of a bundle's words.gz @returns {Map<string, KnownWords>} */
export function readSpelling(text) {
  const languages = new Map();
  for (const line of text.split("\n")) {
    const [language, level, ...words] = line.split(" ");
    if (!words.length) continue;
    const known = languages.get(language) ?? new KnownWords();
    languages.set(language, known);
    for (const word of words) {
      const small = word.toLowerCase();
      known.levels.set(small, Number(level));
      if (word !== small) known.capitalized.add(small);
    }
  }
  return languages;
}
