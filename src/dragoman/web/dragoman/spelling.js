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
    /** @type {Map<string, number>} counts of letters in a row in the words that were seen twice or more */
    this.counts = new Map();
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
    const least = [...best].length === letters.length ? SPELLING.swapped : SPELLING.doubled;
    const isOtherStart = [...best][0] !== letters[0];
    const needed = least[Math.min(letters.length - 3, least.length - 1)] + (isOtherStart ? SPELLING.firstLetter : 0);
    return this.#evidence(highest, letters) >= needed + (mayBeName ? SPELLING.capital : 0) ? best : null;
  }

  /** Return a level, less the bits of the counts of an unknown word's rarest letters in a row. @param {number} level @param {string[]} letters */
  #evidence(level, letters) {
    if (!this.counts.size) this.#countLetters();
    const counts = rowsOf(letters).map((row) => this.counts.get(row) ?? 0).sort((one, other) => one - other);
    return counts.slice(0, SPELLING.rarest).reduce((rest, count) => rest - (32 - Math.clz32(count)), level);
  }

  #countLetters() {
    for (const [word, level] of this.levels) {
      if (level > 0) for (const row of rowsOf([...word])) this.counts.set(row, (this.counts.get(row) ?? 0) + 1);
    }
  }
}

/** Return the letters in a row of a word with spaces around. @param {string[]} letters */
function rowsOf(letters) {
  const written = [" ", ...letters, " "];
  return written.slice(SPELLING.row - 1).map((_, place) => written.slice(place, place + SPELLING.row).join(""));
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
