// The options of commands in a text, told from words after a dash, as in text/command_options.py.

import { matchAt, pattern } from "./patterns.js";

const NEAR_OPTION = 4;

/**
 * Return the places of a text that look like options; none if they are words after a dash.
 *
 * @template {{start: number, end: number}} Place
 * @param {string} text
 * @param {Place[]} places
 * @param {boolean} hasCode the text has other code
 * @returns {Place[]}
 */
export function withoutDashes(text, places, hasCode) {
  const options = new Set(places.map((place) => text.slice(place.start, place.end)));
  const areOptions = hasCode || options.size > 1 || pattern("command_options.ABOUT_OPTIONS").test(text);
  return areOptions || places.some((place) => isOption(text, place)) ? places : [];
}

/** @param {string} text @param {{start: number, end: number}} place */
function isOption(text, place) {
  const option = text.slice(place.start, place.end);
  const before = [...text.slice(Math.max(0, place.start - 2 * NEAR_OPTION), place.start)].slice(-NEAR_OPTION).join("");
  const after = [...text.slice(place.end, place.end + 2 * NEAR_OPTION)].slice(0, NEAR_OPTION).join("");
  const mayBeSpeech = /^--[A-Z]/.test(option);
  return Boolean(matchAt("command_options.CLEAR", option, 0)) || pattern("command_options.BEFORE").test(before)
    || (!mayBeSpeech && Boolean(matchAt("command_options.AFTER", after, 0)));
}
