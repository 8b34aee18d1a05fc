// Quotation marks around sentences, and those without a partner, as in translator/frame_quotes.py and content_check.py.

import { allMatches, pattern } from "./patterns.js";
import { PARTNERS, QUOTES } from "./rules.js";

/** Write the quotation marks of frames as a language does. @param {import("./cutting.js").Segment[]} segments @param {string} language */
export function withOwnQuotes(segments, language) {
  const quotes = QUOTES[language];
  /** @type {string[]} */
  const opened = [];
  for (const [number, segment] of segments.entries()) {
    if (!quotes || !segment.isFrame) continue;
    const marks = [...segment.text];
    segment.written = marks.map((mark, place) => {
      const isEnd = opened.length > 0 && mark === PARTNERS[opened[opened.length - 1]];
      if (isEnd) opened.pop();
      else if (!(mark in PARTNERS)) return mark;
      const form = quotes[2 * (opened.length % 2) + Number(isEnd)];
      if (!isEnd) opened.push(mark);
      const inside = segments[isEnd ? number : number + 1];
      if (inside && place === (isEnd ? 0 : marks.length - 1)) inside.gap = "";
      return form;
    }).join("");
  }
  return segments;
}

/** True if a translation has a quotation mark without a partner, and all in its source have one. @param {string} source @param {string} translation */
export function hasLoneQuote(source, translation) {
  const [nQuotes, nWritten] = [source, translation].map((text) => [...allMatches("content_check.QUOTE", text)].length);
  return nQuotes > 0 && nQuotes % 2 === 0 && nWritten % 2 === 1 && !pattern("content_check.NO_QUOTE").test(translation);
}
