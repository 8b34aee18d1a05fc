// Cleaning that comes first, as in text/cleaning.py and text/invisible.py.

import { allMatches, characterAt, characterBefore, matchAt, pattern, replaceAll, stripLeft } from "./patterns.js";

const [NON_JOINER, JOINER] = ["\u200c", "\u200d"];
const [STYLES, FREE_VARIATIONS, VOWEL_SEPARATOR] = ["\ufe0e\ufe0f", "\u180b\u180c\u180d\u180f", "\u180e"];
const [FLAG, KEYCAP] = ["\u{1f3f4}", "\u20e3"];
const ASCII = /^[\x20-\x7e]*$/;

/** Return the text as one line without controls and invisible characters. @param {string} text */
export function sanitize(text) {
  if (ASCII.test(text)) return text;
  const visible = replaceAll("cleaning.WITHOUT_WIDTH", text, () => "");
  return withoutInvisible(replaceAll("cleaning.NOT_TEXT", visible, (one) => (one >= "\ud800" ? "\ufffd" : " ")));
}

/** Return the sanitized text with its characters composed. @param {string} text */
export const clean = (text) => sanitize(text).normalize("NFC");

/** Remove controls and invisible characters, which a model may write. @param {string} text */
export function withoutControls(text) {
  return ASCII.test(text) ? text : withoutInvisible(replaceAll("cleaning.NOT_TEXT", text, () => ""));
}

/** Remove invisible characters, except joiners that change how the text looks. @param {string} text */
export function withoutInvisible(text) {
  if (!pattern("invisible.SUSPECT").test(text)) return text;
  const rest = replaceAll("invisible.OTHER", text, (one) => (/[\u2028\u2029\u2800]/.test(one) ? " " : ""));
  if (!pattern("invisible.JOINER").test(rest)) return rest;
  const composed = rest.normalize("NFC");
  if (!pattern("invisible.UNCOMMON").test(composed)) return composed;
  const kept = replaceAll("invisible.RUN", composed, (run, place) => keptJoiners(run, composed, place));
  return kept.normalize("NFC");
}

/** Return the first of some joiners in a run; "" if there is none. @param {string} joiners @param {string} run */
const first = (joiners, run) => [...run].find((one) => joiners.includes(one)) ?? "";

/** Return the part of a run of joiners that stays. @param {string} run @param {string} text @param {number} place */
function keptJoiners(run, text, place) {
  const [before, after] = [characterBefore(text, place), characterAt(text, place + run.length)];
  const is = (/** @type {string} */ name, /** @type {string} */ one) => pattern(`invisible.${name}`).test(one);
  if (is("EMOJI", before)) {
    const region = before === FLAG ? pattern("invisible.REGION").exec(run) : null;
    const kept = region ? region[0] : first(STYLES, run);
    return run.includes(JOINER) && is("EMOJI", after) ? kept + JOINER : kept;
  }
  if (/[0-9#*]/.test(before)) return after === KEYCAP ? first(STYLES, run) : "";
  let kept = is("MONGOLIAN", before) ? first(FREE_VARIATIONS, run) : "";
  if (is("MONGOLIAN", before) && is("MONGOLIAN", after)) kept += first(VOWEL_SEPARATOR, run);
  const joining = Number(is("JOINING", before)) + Number(is("JOINING", after));
  return kept + first(["", JOINER, JOINER + NON_JOINER][joining], run);
}

/** Return true if a text has joiners. @param {string} text */
export const hasJoiners = (text) => !ASCII.test(text) && pattern("invisible.JOINER").test(text);

/** Return the joiners of some texts. @param {Iterable<string>} texts */
export function joinersOf(texts) {
  /** @type {Set<string>} */
  const found = new Set();
  for (const text of texts) if (hasJoiners(text)) for (const [one] of allMatches("invisible.JOINER", text)) found.add(one);
  return found;
}

/** Remove the joiners that are not known, and compose what is left. @param {string} text @param {Set<string>} known */
export function withoutJoiners(text, known = new Set()) {
  if (!hasJoiners(text)) return text;
  const left = replaceAll("invisible.JOINER", text, (one) => (known.has(one) ? one : ""));
  return left === text ? text : left.normalize("NFC");
}

/** Cut the tags off that a text begins with. @param {string} text @param {Set<string>} known @returns {[string[], string]} */
export function splitTags(text, known) {
  /** @type {string[]} */
  const tags = [];
  let end = text.length - stripLeft(text).length;
  for (let match = matchAt("tags.TAG", text, end); match && known.has(match[0]); match = matchAt("tags.TAG", text, end)) {
    tags.push(match[0]);
    end += match[0].length;
    end += matchAt("SPACES", text, end)?.[0].length ?? 0;
  }
  return tags.length ? [tags, text.slice(end)] : [[], text];
}
