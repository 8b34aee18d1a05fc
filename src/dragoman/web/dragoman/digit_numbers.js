// Numbers in the digits of a text, as in text/digit_numbers.py and text/scales.py.

import { findDates } from "./dates.js";
import { ascii } from "./digits.js";
import { allMatches, baseLanguage, characterBefore, matchAt, pattern } from "./patterns.js";
import { HALF_MILLIONS, SCALE_MEANINGS } from "./rules.js";

/**
 * @typedef {object} NumberForms digits without separators and zeros before them, with a point before a fraction; "" is zero
 * @property {Set<string>} digits with a scale, the whole number
 * @property {Set<string>} others other ways to write it
 * @property {number} place
 * @property {number} end
 * @property {string} scale
 * @property {boolean} isSmall it has one digit, and is no part of a date or a time
 */

export const UNKNOWN_SCALES = "und";
const [LONGEST_SCALED, LONGEST_PART] = [15, 40];

/** Return true if a text may name a time of the day. @param {string} text */
export const namesTime = (text) => pattern("digit_numbers.TIME").test(text);

const scaleKey = (/** @type {string} */ language) => (baseLanguage(language) in SCALE_MEANINGS ? baseLanguage(language) : UNKNOWN_SCALES);

/** Return true if a number of a text has a scale. @param {string} text @param {string} language */
export const hasScale = (text, language) => pattern(`scales.AFTER_DIGIT.${scaleKey(language)}`).test(text);

/** Return the numbers of phrases such as "half a million". @param {string} text */
export const halvesInWords = (text) => allMatches("scales.HALF", text).map((match) => HALF_MILLIONS[match[1].toLowerCase()]);

/** Return the numbers that a text has in digits, without separators and zeros before them. @param {string} text @param {string} language */
export const valuesInDigits = (text, language) => new Set(digitNumbers(text, true, language).flatMap((number) => [...number.digits, ...number.others]));

/** Return the numbers of a text. Those of a range share its scale, and 3万5千 is one number. @param {string} text @param {boolean} isTime @param {string} language */
export function digitNumbers(text, isTime, language) {
  /** @type {NumberForms[]} */
  const numbers = [];
  for (const number of singleNumbers(text, isTime, language)) {
    const before = numbers[numbers.length - 1];
    const between = before ? text.slice(before.end, number.place) : "";
    const total = before ? sumOf(before, number, between, language) : undefined;
    if (total) {
      numbers[numbers.length - 1] = total;
      continue;
    }
    if (before && !before.scale && number.scale && pattern("scales.RANGE", "whole").test(between)) {
      const others = new Set([...before.others, ...scaled(before.digits, number.scale, language)]);
      numbers[numbers.length - 1] = { ...before, others };
    }
    numbers.push(number);
  }
  return numbers;
}

/** Return the sum of the two parts of 3万5千, 3万5, or "2 million 300 thousand"; undefined if they are two numbers. @param {NumberForms} first @param {NumberForms} second @param {string} between @param {string} language */
function sumOf(first, second, between, language) {
  const isChinese = /[十百千万萬亿億]$/u.test(first.scale);
  if (!first.scale || between !== (isChinese ? "" : " ") || !(second.scale || isChinese)) return undefined;
  const forms = [...first.digits, ...second.digits];
  if (forms.length !== 2 || !forms.every((form) => /^[0-9]+$/.test(form) && form.length <= LONGEST_PART)) return undefined;
  const unit = BigInt(Math.max(...factorsOf(first.scale, language)));
  const other = !second.scale && second.isSmall ? (BigInt(forms[1]) * unit) / 10n : BigInt(forms[1]); // 3万5 is 35,000
  return other < unit ? { ...first, digits: new Set([String(BigInt(forms[0]) + other)]), end: second.end } : undefined;
}

/** @param {Set<string>} amounts @param {string} scale @param {string} language */
function scaled(amounts, scale, language) {
  const factors = factorsOf(scale, language);
  return [...amounts].filter((amount) => amount.length <= LONGEST_SCALED).flatMap((amount) => factors.map((factor) => product(amount, factor)));
}

/** @param {string} amount @param {number} factor */
function product(amount, factor) {
  const [whole, fraction = ""] = amount.split(".");
  const digits = String(BigInt(`0${whole}${fraction}`) * BigInt(factor)).padStart(fraction.length + 1, "0");
  const end = digits.length - fraction.length;
  const rest = digits.slice(end).replace(/0+$/, "");
  return (digits.slice(0, end) + (rest ? `.${rest}` : "")).replace(/^0+/, "");
}

/** Return the factors that a scale may mean. @param {string} scale @param {string} language */
function factorsOf(scale, language) {
  const meanings = SCALE_MEANINGS[scaleKey(language)];
  let products = [1];
  for (let place = 0; place < scale.length; ) {
    const found = meanings.map((factors, i) => ({ factors, match: matchAt(`scales.${scaleKey(language)}.${i}`, scale, place) })).filter(({ match }) => match);
    const factors = [...new Set(found.flatMap((each) => each.factors))];
    if (factors.length) products = products.flatMap((one) => factors.map((factor) => one * factor));
    place = found.length ? Math.max(...found.map(({ match }) => place + (match?.[0].length ?? 0))) : place + 1;
  }
  return [...new Set(products)];
}

/** @param {string} text @param {boolean} isTime @param {string} language @returns {NumberForms[]} */
function singleNumbers(text, isTime, language) {
  return allMatches(`digit_numbers.${scaleKey(language)}`, text).flatMap((match) => {
    const { row, whole, fraction, gap, scale: written } = /** @type {Record<string, string | undefined>} */ (match.groups);
    const isCode = /[A-Za-z]/.test(characterBefore(text, match.index)); // CO2, orf3b
    const scale = isCode ? "" : (written ?? "");
    const isSmall = [...match[0]].length === 1 && !isInDateOrTime(text, match.index, language);
    const place = { place: match.index, end: match.index + match[0].length, isSmall };
    const partsOf = (/** @type {string[]} */ parts) => parts.map((part) => ({ ...numberForms(part, "", isTime), ...place, scale: "" }));
    if (row !== undefined && !pattern("digit_numbers.GROUPED", "whole").test(row)) return partsOf(row.match(/\p{Nd}+/gu) ?? []);
    if (isTime && fraction !== undefined && whole && [...whole].length <= 2 && [...fraction].length === 2 && !scale) return partsOf([whole, fraction]);
    if (isCode && [...(row ?? whole ?? "")].length === 1 && fraction === undefined) return [];
    const forms = numberForms(row ?? whole ?? "", fraction ?? "", isTime && !scale);
    return [{ ...(scale ? withScale(forms, gap, scale, language) : forms), ...place, scale }];
  });
}

/** Return the forms of a number with its scale. "2.125 million" may have thousands or a fraction. @param {{digits: Set<string>, others: Set<string>}} forms @param {string | undefined} gap @param {string} scale @param {string} language */
function withScale(forms, gap, scale, language) {
  const amounts = new Set(forms.digits);
  const [whole] = [...amounts].sort((one, other) => other.length - one.length);
  if (gap !== undefined && ".,".includes(gap) && whole.length <= 6) amounts.add(`${whole.slice(0, -3)}.${whole.slice(-3)}`);
  const values = new Set(scaled(amounts, scale, language));
  return values.size ? { digits: values, others: new Set() } : forms;
}

/** @param {string} text @param {number} place @param {string} language */
function isInDateOrTime(text, place, language) {
  const times = allMatches("digit_numbers.TIME", text).map((match) => ({ start: match.index, end: match.index + match[0].length }));
  return [...times, ...findDates(text, baseLanguage(language))].some(({ start, end }) => start <= place && place < end);
}

/** @param {string} wholeText @param {string} fractionText @param {boolean} isTime */
function numberForms(wholeText, fractionText, isTime) {
  const [whole, fraction] = [ascii(wholeText), ascii(fractionText)];
  const point = fraction ? "." : "";
  const digits = new Set([whole + point + fraction]);
  const others = new Set([(whole + point + fraction.replace(/0+$/, "")).replace(/\.+$/, "")]);
  const early = whole.replace(/^0+/, "") || "0";
  if (isTime && !fraction && early.length <= 2 && Number(early) <= 24) {
    const hour = (Number(early) + 12) % 24;
    others.add(String(hour)).add(String(hour || 24));
  }
  const decade = pattern("digit_numbers.DECADE", "whole").exec(whole);
  if (decade) others.add(decade[1]);
  const withoutZeros = (/** @type {Set<string>} */ forms) => new Set([...forms].map((form) => form.replace(/^0+/, "")));
  return { digits: withoutZeros(digits), others: withoutZeros(others) };
}
