// Word alignments from attention, as in alignment/links.py, alignment/word_spans.py and translator/aligning.py.

import { clean, withoutJoiners } from "./cleaning.js";
import { allMatches, lengthOf, replaceAll } from "./patterns.js";

/**
 * @typedef {[number, number]} Place start and end, in visible characters
 */

/**
 * @typedef {object} Places of the tokens and the words of a part of a text, in the whole text
 * @property {Place[]} tokens
 * @property {Place[]} words
 * @property {number} firstWord the number of the first of `words` in the whole text
 */

/** Return the words of a text, in the order in which alignments number them. @param {string} text */
export const wordsOf = (text) => allMatches("word_spans.WORD", clean(text)).map((match) => match[0]);

/** @param {string} text */
const visible = (text) => withoutJoiners(replaceAll("word_spans.INVISIBLE", clean(text), () => ""));

/** @param {number[]} lengths @returns {Place[]} */
function inARow(lengths) {
  let end = 0;
  return lengths.map((length) => [end, (end += length)]);
}

/** Return the place of each token of a text. @param {string[]} pieces @param {string} text @returns {Place[]} */
function tokenPlaces(pieces, text) {
  const surfaces = surfacesOf(pieces);
  const places = inARow(surfaces.map(lengthOf));
  for (let i = 1; i < pieces.length; i++) if (!surfaces[i] && isByte(pieces[i])) places[i] = places[i - 1];
  const [written, shown] = [surfaces.join("").toLowerCase(), visible(text).toLowerCase()];
  if (written === shown) return places;
  const moved = movedPlaces([...written], [...shown]);
  return places.map(([start, end]) => [moved(start), moved(end)]);
}

/** @param {string} piece */
const isByte = (piece) => /^<0x[0-9A-F]{2}>$/.test(piece);

/** Return the visible characters of each piece; a character in bytes belongs to its first byte. @param {string[]} pieces */
function surfacesOf(pieces) {
  const surfaces = pieces.map(visible);
  for (let first = 0; first < pieces.length; first++) {
    let last = first;
    while (last < pieces.length && isByte(pieces[last])) last++;
    if (last === first) continue;
    const bytes = pieces.slice(first, last).map((piece) => parseInt(piece.slice(3, 5), 16));
    const characters = [...new TextDecoder().decode(new Uint8Array(bytes))];
    bytes.forEach((byte, i) => (surfaces[first + i] = (byte & 0xc0) === 0x80 ? "" : characters.shift() ?? ""));
    first = last;
  }
  return surfaces;
}

/** Map places of one text to another that begins and ends like it; in between by proportion. @param {string[]} written @param {string[]} shown */
function movedPlaces(written, shown) {
  const most = Math.min(written.length, shown.length);
  let [before, after] = [0, 0];
  while (before < most && written[before] === shown[before]) before++;
  while (after < most - before && written[written.length - 1 - after] === shown[shown.length - 1 - after]) after++;
  const [length, other] = [written.length - before - after, shown.length - before - after];
  return (/** @type {number} */ place) => {
    if (place <= before) return place;
    if (place >= written.length - after) return place + shown.length - written.length;
    return before + Math.floor(((place - before) * other) / length);
  };
}

/** Return the places of each part, given by its pieces and its own text, in the whole text. @param {{pieces: string[], text: string}[]} parts @param {string} text @returns {Places[]} */
export function placesInParts(parts, text) {
  const words = inARow(wordsOf(text).map((word) => lengthOf(visible(word))));
  let before = 0;
  return parts.map((part) => {
    const after = before + lengthOf(visible(part.text));
    const firstWord = words.findIndex(([, end]) => end > before);
    const own = firstWord < 0 ? [] : words.slice(firstWord).filter(([start]) => start < after);
    const shift = before;
    const tokens = tokenPlaces(part.pieces, part.text).map(([start, end]) => /** @type {Place} */ ([start + shift, end + shift]));
    before = after;
    return { tokens, words: own, firstWord: Math.max(0, firstWord) };
  });
}

/** Return the words that each token belongs to, by their numbers in `places.words`. @param {Places} places */
function wordsOfTokens(places) {
  return places.tokens.map(([start, end]) => {
    const found = [];
    for (let word = 0; word < places.words.length; word++) {
      if (places.words[word][1] > start && places.words[word][0] < end) found.push(word);
    }
    return found;
  });
}

/**
 * Link each target word to its source word of most weight.
 *
 * @param {number[][]} weights of each token of the target, for each of the source
 * @param {Places} source @param {Places} target
 * @returns {[number, number][]} source word and target word
 */
export function linkWords(weights, source, target) {
  const sums = target.words.map(() => source.words.map(() => 0));
  const sourceWords = wordsOfTokens(source);
  wordsOfTokens(target).forEach((words, token) => {
    for (const word of words) {
      sourceWords.forEach((others, i) => {
        for (const other of others) sums[word][other] += weights[token][i] / (words.length * others.length);
      });
    }
  });
  return sums.flatMap((row, word) => {
    const best = row.indexOf(Math.max(...row));
    return best >= 0 && row[best] > 0 ? [/** @type {[number, number]} */ ([best + source.firstWord, word + target.firstWord])] : [];
  });
}

/**
 * Return the mean of some heads for each token of a target: (T, S + 1).
 *
 * @param {Float32Array} attention (T + 1, layers, heads, S + 1), of which row t reads token t, the first the start mark
 * @param {{heads: [number, number][], shifted: boolean}} chosen shifted: the step that reads a token counts
 * @param {{nTokens: number, nSources: number, nHeads: number, nLayers: number}} sizes nSources: with the end mark
 */
export function tokenWeights(attention, chosen, { nTokens, nSources, nHeads, nLayers }) {
  return Array.from({ length: nTokens }, (_, token) => {
    const row = (token + Number(chosen.shifted)) * nLayers * nHeads * nSources;
    return Array.from({ length: nSources }, (_, source) => {
      const weights = chosen.heads.map(([layer, head]) => attention[row + (layer * nHeads + head) * nSources + source]);
      return weights.reduce((sum, weight) => sum + weight, 0) / weights.length;
    });
  });
}
