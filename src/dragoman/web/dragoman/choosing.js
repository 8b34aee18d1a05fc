// The choice among the candidates of a segment, as in translator/choosing.py.

import { symbols } from "./odd_characters.js";
import { reservedIn } from "./reading.js";
import { MARKS } from "./rules.js";
import { shout } from "./shouting.js";
import { findSpans } from "./spans.js";

/** The end of a word of a script with spaces. */
const ENDS_WORD = new RegExp(`[\\p{L}](?<![${MARKS.unspaced}])$`, "u");

/**
 * @typedef {object} SegmentCandidate
 * @property {import("./engine.js").Candidate} hypothesis
 * @property {string} text
 */

/**
 * Choose the best candidate without a fault that keeps its spans, or the one with the fewest losses; the others follow.
 *
 * @param {import("./reading.js").Reading} reading
 * @param {SegmentCandidate[]} candidates best first
 * @param {[string, string]} languages
 * @returns {{candidates: SegmentCandidate[], losses: string[]}}
 */
export function choose(reading, candidates, languages) {
  const repaired = candidates.map((each) => ({ ...each, text: repair(reading, each.text) }));
  const losses = repaired.map((each) => lossesOf(reading, each.text));
  const sound = repaired.map(({ hypothesis }) => hypothesis.finished && !hypothesis.faults.length);
  const isAnySound = sound.includes(true);
  const isBad = (/** @type {number} */ rank) => losses[rank].length > 0 || (isAnySound && !sound[rank]);
  const badness = losses.map((lost, rank) => (isBad(rank) ? 1 + lost.length : 0));
  const first = Math.max(0, badness.indexOf(Math.min(...badness)));
  const order = [repaired[first], ...repaired.filter((_, rank) => rank !== first)];
  const restored = order.map((each) => ({
    ...each,
    text: reading.unmask(written(reading, each.text, languages[1])),
  }));
  return { candidates: restored, losses: losses[first] ?? [] };
}

/** Return a translation with the capitals that its segment has. @param {import("./reading.js").Reading} reading @param {string} text @param {string} language */
function written(reading, text, language) {
  return reading.isShouted ? shout(text, language) : text;
}

/** Put the one mask that a translation lacks in place of the one that its source lacks. @param {import("./reading.js").Reading} reading @param {string} translation */
function repair(reading, translation) {
  const masks = [...reading.masks.keys()];
  const written = reservedIn(translation);
  const missing = masks.filter((piece) => !written.includes(piece));
  const invented = written.filter((piece) => !masks.includes(piece));
  return missing.length === 1 && invented.length === 1 ? translation.replaceAll(invented[0], () => missing[0]) : translation;
}

const occurrences = (/** @type {string} */ text, /** @type {string} */ span) => text.split(span).length - 1;

/** Return how often a translation has a span. One at the end of a word does not count. @param {string} translation @param {string} span @param {string} source */
function countOf(translation, span, source) {
  const nJoined = (/** @type {string} */ text) => text.split(span).slice(0, -1).filter((before) => ENDS_WORD.test(before)).length;
  return occurrences(translation, span) - (nJoined(source) || span.charCodeAt(0) > 127 ? 0 : nJoined(translation));
}

/** Return "span" if one is missing, repeated or invented. Numbers are not checked. @param {import("./reading.js").Reading} reading @param {string} translation */
function lossesOf(reading, translation) {
  const verbatim = findSpans(reading.text).filter((span) => span.isVerbatim);
  const spans = [...new Set(verbatim.map((span) => reading.text.slice(span.start, span.end)))];
  const isInvented = reservedIn(translation).some((piece) => !spans.includes(piece));
  const isSymbolLost = symbols(reading.text).some((symbol) => !translation.includes(symbol));
  const isMiscounted = spans.some((span) => countOf(translation, span, reading.text) !== occurrences(reading.text, span));
  return isInvented || isSymbolLost || isMiscounted ? ["span"] : [];
}
