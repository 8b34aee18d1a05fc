// What a person should check of a translation: reasons in words, and the passages of a text or of a document with them.

import { filled, made } from "./elements.js";
import { say } from "./sayings.js";

/** @typedef {{flags: string[], missing_terms: string[], confidence: number | null}} Checked what a server says of a translation */
/** @typedef {Checked & {number: number, text: string, translation: string}} Flagged */
/** @typedef {{segments: number, to_check: number, flags: Record<string, number>, flagged: Flagged[], notes?: string[], confidence: number | null}} Report see server/document_report.py */

const MOST_OPEN = 3;

/** Return what is said of one translation. @param {Checked} one @param {boolean} isShort: its confidence alone says that it is low */
export function reasons({ flags, missing_terms: terms, confidence }, isShort = false) {
  const told = flags.filter((flag) => flag !== "low_confidence" || confidence === null || !isShort);
  const sentences = told.map((flag) => say(flag === "copied" ? "copied_part" : flag, terms.length ? ` (${terms.join(", ")})` : ""));
  const key = flags.includes("low_confidence") ? "confidence_low" : "confidence";
  return sentences.concat(confidence === null ? [] : say(key, confidence.toFixed(2))).join(" ");
}

/** Return what is said of several passages together. @param {Report} report */
export function summary({ segments, to_check: n, confidence }) {
  return say("passages", n, segments) + (confidence === null ? "" : ` ${say("confidence_mean", confidence.toFixed(2))}`);
}

/** Show the reasons with their counts, and the first passages. @param {HTMLElement} place @param {Report | null} report @param {string} source @param {string} target */
export function showReport(place, report, source = "", target = "") {
  const { to_check: n = 0, flags = {}, flagged = [], notes = [] } = report ?? {};
  const counts = Object.entries(flags).map(([flag, count]) => made("li", `${count} × ${reasons({ flags: [flag], missing_terms: [], confidence: null })}`));
  const list = made("ol");
  for (const { number, text, translation, ...one } of flagged) {
    const item = filled("li", made("span", text, source), made("span", translation, target), made("span", reasons(one, true)));
    item.value = number;
    list.append(item);
  }
  const details = filled("details", made("summary", say("which")), list, made("p", n > flagged.length ? say("more", n - flagged.length) : ""));
  details.open = Boolean(report?.notes) && n <= MOST_OPEN; // a text stands above
  const found = [...counts, ...notes.map((note) => made("li", note, "en"))];
  place.replaceChildren(...(found.length ? [filled("ul", ...found)] : []), ...(n ? [details] : []));
}
