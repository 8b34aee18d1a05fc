// Units of measurement and codes of currencies beside numbers, as in text/unit_symbols.py.

import { allMatches } from "./patterns.js";
import { UNITS } from "./rules.js";

/** Return false if a translation has a unit of its source less often. @param {string} source @param {string} translation @param {string} targetLang code of a base language */
export function unitsKept(source, translation, targetLang) {
  if (!["en", "de", "fr", "zh"].includes(targetLang)) return true;
  /** @type {Map<string, number>} */
  const counts = new Map();
  const count = (/** @type {string} */ symbol) => counts.set(symbol, (counts.get(symbol) ?? 0) + 1);
  for (const { groups } of allMatches("unit_symbols.IN_SOURCE", source)) {
    count(UNITS[Number(Object.keys(groups ?? {}).find((name) => groups?.[name] !== undefined)?.slice(1))]);
  }
  for (const match of allMatches("unit_symbols.CODES_BEFORE", source)) count(match[1]);
  return [...counts].every(([symbol, most]) => allMatches(`units.${symbol}`, translation).length >= most);
}
