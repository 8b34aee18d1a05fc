// The options of commands in a text, told from words after a dash, as in text/command_options.py.

import { matchAt, pattern } from "./patterns.js";

const [BEFORE, AFTER] = [72, 64];

/**
 * Return the places of a text that look like options without those that are words after a dash.
 *
 * @template {{start: number, end: number}} Place
 * @param {string} text
 * @param {Place[]} places
 * @param {boolean} isTechnical the text has code or placeholders
 * @returns {Place[]}
 */
export function withoutDashes(text, places, isTechnical) {
  if (places.some((place) => isOption(text, place))) return places;
  const isAboutOptions = isTechnical || pattern("command_options.ABOUT_OPTIONS").test(text);
  return isAboutOptions ? places.filter((place) => !isProse(text, place)) : [];
}

/** Return true if there is evidence at a place that an option is there. @param {string} text @param {{start: number, end: number}} place */
function isOption(text, place) {
  const [before, option, after] = [beforeOf(text, place.start), text.slice(place.start, place.end), afterOf(text, place.end)];
  const ends = (/** @type {string} */ name) => pattern(`command_options.${name}`).test(before);
  const begins = (/** @type {string} */ name, following = after) => Boolean(matchAt(`command_options.${name}`, following, 0));
  const isQuoted = ends("OPENED") && begins("CLOSED");
  if (begins("CLEAR", option) || isQuoted || ends("CLEARLY_BEFORE") || begins("CLEARLY_AFTER")) return true;
  const isLong = option.startsWith("--");
  if (isProse(text, place) || (isLong && /^[A-Z]/.test(option[2]))) return false;
  const isAfterCommand = ends("COMMAND_BEFORE") && !begins("FOUR_WORDS");
  const isBeforeWord = begins("VALUE_AFTER") || begins("WORD_AFTER") || (isLong && begins("WORD_AFTER_LONG"));
  return isAfterCommand || isBeforeWord || ends("LINE_START") || ends("WORD_BEFORE");
}

/** @param {string} text @param {{start: number, end: number}} place */
function isProse(text, place) {
  return Boolean(matchAt("command_options.PROSE", text.slice(place.start, place.end).toLowerCase() + afterOf(text, place.end), 0));
}

/** Return the last characters before a place, as many code points as in Python. @param {string} text @param {number} place */
const beforeOf = (text, place) => [...text.slice(Math.max(0, place - 2 * BEFORE), place)].slice(-BEFORE).join("");

/** @param {string} text @param {number} place */
const afterOf = (text, place) => [...text.slice(place, place + 2 * AFTER)].slice(0, AFTER).join("");
