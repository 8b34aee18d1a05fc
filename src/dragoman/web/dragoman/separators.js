// A check of the separators between the same digits, as in text/separators.py.

import { ascii } from "./digits.js";
import { allMatches, baseLanguage, matchAt, pattern, strip } from "./patterns.js";

/** @type {Record<string, string>} */
const POINT_OF = { en: ".", zh: ".", de: ",", fr: "," };
const LONGEST_BEFORE = 20;
const GROUP_SIGNS = ["", ".", ",", "'", "’", " ", "\u00a0", "\u2009", "\u202f"];

const gapsOf = (/** @type {string} */ text) => allMatches("separators.BETWEEN_DIGITS", text).map((match) => match[1]);

/** Return true if the point of a fraction became a space or nothing, or the reverse, given texts of equal digits. @param {string} source @param {string} translation */
export function losesPoint(source, translation) {
  const [gaps, others] = [gapsOf(source), gapsOf(translation)];
  const isPoint = (/** @type {string} */ gap) => [".", ",", "٫"].includes(gap);
  return gaps.some((gap, i) => {
    const other = others[i];
    return (isPoint(gap) && !strip(other) && isFraction(gaps, i)) || (isPoint(other) && !strip(gap) && isFraction(others, i));
  });
}

/** Return true if a translation has two numbers of its source as one, or the reverse, given texts of equal digits. @param {string} source @param {string} translation */
export function joinsNumbers(source, translation) {
  const [gaps, others] = [gapsOf(source), gapsOf(translation)];
  return separatesNumbers(source, gaps, others) || separatesNumbers(translation, others, gaps);
}

/** Return true if a gap that the other text lacks separates two numbers of a text, and not the parts of one. @param {string} text @param {string[]} gaps @param {string[]} others */
function separatesNumbers(text, gaps, others) {
  const digits = allMatches("separators.DIGIT", text).map((match) => match.index);
  const codes = allMatches("separators.CODE_WITH_GAPS", text).map((match) => [match.index, match.index + match[0].length]);
  return gaps.some((gap, i) => {
    if (!gap || others[i] || [".", ",", "٫"].includes(gap) || pattern("separators.METRE", "whole").test(gap)) return false;
    const isGroup = gaps[i + 1] === "" && gaps[i + 2] === "" && gaps[i + 3] !== "";
    return !(GROUP_SIGNS.includes(gap) && isGroup) && !codes.some(([start, end]) => start <= digits[i] && digits[i] < end);
  });
}

/** Return true if one or two digits follow a gap, not three, which a point may group. @param {string[]} gaps @param {number} i */
const isFraction = (gaps, i) => gaps[i + 1] !== "" || gaps[i + 2] !== "";

/** Return true if the separators of a number, a date or the like mean something else in a translation of equal digits. @param {string} source @param {string} translation @param {string} sourceLang @param {string} targetLang */
export function separatorsChanged(source, translation, sourceLang, targetLang) {
  const places = allMatches("separators.DIGIT", source).map((match) => match.index);
  const others = gapsOf(translation);
  const gaps = new Map(places.map((place, i) => [place, others[i]]));
  const rows = allMatches("separators.ROW", source).filter((match) => !/^\p{Nd}{1,3}(?:\.\p{Nd}{3})+$/u.test(match[0]));
  if (rows.some((row) => isRowChanged(source, row.index, row.index + row[0].length, gaps))) return true;
  const [own, point] = [sourceLang, targetLang].map((code) => POINT_OF[baseLanguage(code)]);
  if (own === undefined || point === undefined) return false;
  return allMatches("separators.AMBIGUOUS", source).some((match) => {
    const signs = /** @type {RegExpMatchArray} */ (match[0].match(/[.,]/));
    const before = places[places.indexOf(match.index + (signs.index ?? 0) + 1) - 1];
    const sign = gaps.get(before) ?? "?";
    const context = source.slice(Math.max(0, match.index - LONGEST_BEFORE), match.index);
    if (signs[0] === "." && pattern("separators.VERSION_BEFORE").test(context)) return GROUP_SIGNS.includes(sign) && sign !== ".";
    if (sign === signs[0] && pattern("separators.CODE_BEFORE").test(context)) return false;
    return signs[0] === own ? GROUP_SIGNS.includes(sign) && sign !== point : sign === point;
  });
}

/** Return true if a number with a point may be a version or a code. @param {string} text @param {number} start @param {number} end */
function mayBeName(text, start, end) {
  const before = text.slice(Math.max(0, start - LONGEST_BEFORE), start);
  return !matchAt("separators.UNIT_AFTER", text, end) && ["VERSION", "CODE", "NAME"].some((kind) => pattern(`separators.${kind}_BEFORE`).test(before));
}

/** Return true if a translation has a number with the same digits, but not as its language writes it. @param {string} source @param {string} translation @param {string} sourceLang @param {string} targetLang @param {boolean} isTime */
export function hasForeignSeparators(source, translation, sourceLang, targetLang, isTime) {
  const [own, other] = [sourceLang, targetLang].map((code) => POINT_OF[baseLanguage(code)]);
  if (own === undefined || other === undefined) return false;
  const found = allMatches("separators.WITH_SIGNS", translation).map(([number]) => ({ number, digits: ascii(number) }));
  return allMatches("separators.WITH_SIGNS", source).some((match) => {
    const [number, digits] = [match[0], ascii(match[0])];
    const others = found.filter((each) => each.digits === digits);
    const fraction = fractionOf(number, own);
    if (fraction === undefined || !others.length || (isTime && pattern("separators.LIKE_TIME", "whole").test(number))) return false;
    if (number.includes(".") && mayBeName(source, match.index, match.index + number.length)) return false;
    return !others.some((each) => fractionOf(each.number, other) === fraction);
  });
}

/** Return the digits after the point of a number as a language writes it; undefined if it does not write it so. @param {string} number @param {string} point */
function fractionOf(number, point) {
  const match = pattern(`separators.OWN_SIGNS.${point}`, "whole").exec(number);
  return match ? (match.groups?.fraction ?? "") : undefined;
}

/** @param {string} text @param {number} start @param {number} end @param {Map<number, string | undefined>} gaps */
function isRowChanged(text, start, end, gaps) {
  return [...gaps].some(([place, gap]) => {
    const after = place + (text.charCodeAt(place) >= 0xd800 && text.charCodeAt(place) < 0xdc00 ? 2 : 1);
    if (place < start || after >= end || /^\p{Nd}/u.test(text.slice(after, after + 2))) return false;
    return gap === "," || (gap === "." && text[after] === " ");
  });
}
