// The choice among the candidates of a segment, as in translator/choosing.py.

import { clearNumbersKept } from "./clear_numbers.js";
import { clockTimesKept } from "./clock_words.js";
import { currenciesKept, currencyWordsKept } from "./currencies.js";
import { hasBrokenMoment } from "./moments.js";
import { symbols } from "./odd_characters.js";
import { allMatches, baseLanguage, replaceAll } from "./patterns.js";
import { numbersKept } from "./numbers.js";
import { reservedIn } from "./reading.js";
import { MARKS, NUMBER_WORDS } from "./rules.js";
import { shout } from "./shouting.js";
import { findSpans } from "./spans.js";
import { weekdaysKept } from "./weekdays.js";
import { unitsKept } from "./unit_symbols.js";

/** The end of a word of a script with spaces. */
const ENDS_WORD = new RegExp(`[\\p{L}](?<![${MARKS.unspaced}])$`, "u");

/**
 * @typedef {object} SegmentCandidate
 * @property {import("./engine.js").Candidate} hypothesis
 * @property {string} text
 */

/**
 * Choose the best candidate without a fault that keeps its spans and numbers, or the one with the fewest losses; the others follow.
 *
 * @param {import("./reading.js").Reading} reading
 * @param {SegmentCandidate[]} candidates best first
 * @param {[string, string]} languages
 * @returns {{candidates: SegmentCandidate[], losses: string[]}}
 */
export function choose(reading, candidates, languages) {
  const repaired = candidates.map((each) => ({ ...each, text: repair(reading, each.text) }));
  const losses = repaired.map((each) => lossesOf(reading, each.text, languages));
  const sound = repaired.map(({ hypothesis }) => hypothesis.finished && !hypothesis.faults.length);
  const isAnySound = sound.includes(true);
  const isBad = (/** @type {number} */ rank) => losses[rank].length > 0 || (isAnySound && !sound[rank]);
  const isBroken = (/** @type {number} */ rank) => hasBrokenMoment(reading.unmask(repaired[rank].text), languages[1]);
  const badness = losses.map((lost, rank) => (isBad(rank) ? 1 + lost.length : 0) + (isBroken(rank) ? 0.5 : 0));
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

/** Return "span" and "number" if one is missing, repeated or invented. @param {import("./reading.js").Reading} reading @param {string} translation @param {[string, string]} languages */
function lossesOf(reading, translation, languages) {
  const verbatim = findSpans(reading.text).filter((span) => span.isVerbatim);
  const spans = [...new Set(verbatim.map((span) => reading.text.slice(span.start, span.end)))];
  const losses = [];
  const isInvented = reservedIn(translation).some((piece) => !spans.includes(piece));
  const isSymbolLost = symbols(reading.text).some((symbol) => !translation.includes(symbol));
  if (isInvented || isSymbolLost || spans.some((span) => countOf(translation, span, reading.text) !== occurrences(reading.text, span))) losses.push("span");
  if (!languages.every((code) => baseLanguage(code) in NUMBER_WORDS)) return losses; // the rules know nothing of them
  let texts = [reading.text, translation];
  for (const span of spans.sort((one, other) => other.length - one.length)) texts = texts.map((text) => text.replaceAll(span, () => " "));
  const [source, target] = texts.map((text) => replaceAll("reading.RESERVED", text, () => " "));
  const [whole, written] = [reading.unmask(reading.text), reading.unmask(translation)]; // a mask may hide a currency's amount
  const hasCurrencies = currencyWordsKept(whole, written, baseLanguage(languages[0]), baseLanguage(languages[1]));
  if (hasDoubledPrice(whole, written) || !hasCurrencies || !quantitiesKept(source, target, ...languages)) losses.push("number");
  return losses;
}

/** Return true if a translation writes the currency of a price twice, and its source less often. @param {string} source @param {string} translation */
export function hasDoubledPrice(source, translation) {
  const [before, after] = [source, translation].map((text) => allMatches("doubled_prices.DOUBLED", text).length);
  return after > before;
}

/** Return false if a translation lost or invented a number, a weekday or a currency. @param {string} source @param {string} target @param {string} sourceLang @param {string} targetLang */
export function quantitiesKept(source, target, sourceLang, targetLang) {
  return numbersKept(source, target, sourceLang, targetLang) && currenciesKept(source, target, baseLanguage(targetLang))
    && unitsKept(source, target, baseLanguage(targetLang))
    && clockTimesKept(source, target, sourceLang, targetLang) && clockTimesKept(target, source, targetLang, sourceLang)
    && weekdaysKept(source, target, sourceLang, targetLang)
    && clearNumbersKept(source, target, sourceLang, targetLang) && clearNumbersKept(target, source, targetLang, sourceLang)
    && currencyWordsKept(source, target, baseLanguage(sourceLang), baseLanguage(targetLang));
}
