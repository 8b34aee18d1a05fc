// The options of a translation.

/**
 * @typedef {object} Options
 * @property {number} [beamSize] hypotheses; 1 is greedy search
 * @property {number} [nBest] candidates, at most beamSize
 * @property {number} [lengthPenalty]
 * @property {number} [minLength] tokens
 * @property {number} [maxLength] tokens
 * @property {number} [noRepeatNgram]
 * @property {number} [repetitionPenalty]
 * @property {number} [seconds] after which each search ends with an error
 * @property {string} [prefix] the beginning of the translation
 * @property {boolean | null} [sentences] true translates each sentence by itself, false the whole text
 * @property {string | null} [sourceLang]
 * @property {string | null} [targetLang]
 * @property {boolean} [align] align words
 * @property {boolean} [attention] give the attention of each segment's translation to its source
 * @property {boolean} [trace] give all tokens that each search has read
 */

/** Bounds of each option of a search, as in settings/search_config.py. @type {Record<string, [number, number, boolean]>} */
const BOUNDS = {
  beamSize: [1, 1000, true],
  nBest: [1, 1000, true],
  lengthPenalty: [0, 10, false],
  minLength: [0, 1e6, true],
  maxLength: [0, 1e6, true],
  noRepeatNgram: [0, 1e6, true],
  repetitionPenalty: [1, 100, false],
  seconds: [0, 1e9, false],
};
const REQUEST = ["prefix", "sentences", "sourceLang", "targetLang"];
const OUTPUTS = ["align", "attention", "trace"];

/**
 * Return the search of a call.
 *
 * @param {Options} options @param {Record<string, number>} defaults
 * @returns {import("./engine.js").Search}
 * @throws {Error} an option is not known or out of bounds, or two contradict each other
 */
export function searchOf(options, defaults) {
  const known = [...Object.keys(BOUNDS), ...REQUEST, ...OUTPUTS];
  const unknown = Object.keys(options).find((name) => !known.includes(name));
  if (unknown !== undefined) throw new Error(`there is no option ${unknown}; there are ${known.join(", ")}`);
  const given = /** @type {Record<string, any>} */ (options);
  /** @type {Record<string, number>} */
  const search = {};
  for (const [name, [least, most, isWhole]] of Object.entries(BOUNDS)) {
    const value = given[name] ?? defaults[name] ?? 0;
    if (typeof value !== "number" || !(value >= least && value <= most) || (isWhole && !Number.isInteger(value))) {
      throw new Error(`${name} is ${value}; give a${isWhole ? " whole" : ""} number from ${least} to ${most}`);
    }
    search[name] = value;
  }
  if (search.maxLength && search.minLength > search.maxLength) throw new Error("minLength is more than maxLength");
  if (search.nBest > search.beamSize) throw new Error(`nBest is ${search.nBest}, more than beamSize, ${search.beamSize}`);
  return /** @type {any} */ (search);
}

/**
 * Return what belongs to the text of a call.
 *
 * @param {Options} options
 * @throws {Error} a value is of another type
 */
export function requestOf({ prefix = "", sentences = null, sourceLang = null, targetLang = null }) {
  for (const [name, text] of Object.entries({ prefix, sourceLang, targetLang })) {
    if (text !== null && typeof text !== "string") throw new Error(`${name} is ${text}; give a string`);
  }
  if (sentences !== null && typeof sentences !== "boolean") throw new Error(`sentences is ${sentences}; give true, false or null`);
  return { prefix: prefix ?? "", sentences, sourceLang, targetLang };
}
