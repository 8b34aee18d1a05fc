// Addresses, placeholders, code, emoji and numbers of a text, as in text/spans.py.

import { withoutDashes } from "./command_options.js";
import { pattern, searchFrom } from "./patterns.js";

/**
 * @typedef {object} Span
 * @property {number} start
 * @property {number} end
 * @property {string} kind
 * @property {boolean} isVerbatim it is copied character by character
 */

/** @type {Record<string, string>} */
const OPENING = { ")": "(", "]": "[", "}": "{" };

/** Return the spans of a text in their order. They do not overlap. @param {string} text @returns {Span[]} */
export function findSpans(text) {
  /** @type {Span[]} */
  const spans = [];
  if (!pattern("spans.SIGN").test(text)) return spans;
  for (let match = searchFrom("spans.SPAN", text, 0); match; match = searchFrom("spans.SPAN", text, spans[spans.length - 1].end)) {
    const groups = /** @type {Record<string, string | undefined>} */ (match.groups);
    const kind = Object.keys(groups).find((name) => groups[name] !== undefined) ?? "";
    const end = match.index + match[0].length;
    spans.push({ start: match.index, end: kind === "url" ? endOfUrl(text, match[0], end) : end, kind, isVerbatim: kind !== "number" });
  }
  const likeOptions = spans.filter((span) => span.kind === "code" && text[span.start] === "-");
  if (!likeOptions.length) return spans;
  const hasCode = spans.some((span) => span.kind === "code" && !likeOptions.includes(span));
  const options = withoutDashes(text, likeOptions, hasCode);
  return spans.filter((span) => !likeOptions.includes(span) || options.includes(span));
}

/** Return the end of a URL, with the brackets after it that were opened in it. @param {string} text @param {string} url @param {number} end */
function endOfUrl(text, url, end) {
  const count = (/** @type {string} */ mark) => url.split(mark).length - 1;
  const nOpen = new Map(Object.entries(OPENING).map(([mark, opening]) => [mark, count(opening) - count(mark)]));
  for (; (nOpen.get(text[end]) ?? 0) > 0; end++) nOpen.set(text[end], /** @type {number} */ (nOpen.get(text[end])) - 1);
  return end;
}
