// Beam search over a table of probabilities, as in decoding/beam.py.

/** For each beginning the probability of each next token; "." ends. @typedef {Record<string, Record<string, number>>} Table */
/** @typedef {{parent: number, text: string, token: string, probability: number, fate: "open" | "ended" | "dropped"}} TableNode `probability` is that of all tokens up to here */
/** @typedef {{text: string, probability: number, score: number}} Ended */

const END = ".";

/** Return the score of a translation. @param {number} probability @param {number} length in tokens, the end mark included @param {number} alpha */
export const scoreOf = (probability, length, alpha) => Math.log(probability) / ((5 + length) / 6) ** alpha;

/** @param {Table} table @param {string} beginning the tokens that follow it, if their probability is not zero @returns {[string, number][]} */
const follow = (table, beginning) => Object.entries(table[beginning] ?? {}).filter(([, probability]) => probability > 0);

/** @param {Ended[]} ended */
const bestFirst = (ended) => ended.sort((one, other) => other.score - one.score);

/**
 * Search with a beam that becomes narrower by each hypothesis that ends.
 *
 * @param {Table} table @param {number} width @param {number} alpha exponent of the length penalty
 * @returns {{nodes: TableNode[], ended: Ended[]}} all continuations that were compared; the translations, best first
 */
export function beamSearch(table, width, alpha) {
  /** @type {TableNode[]} */
  const nodes = [];
  /** @type {Ended[]} */
  const ended = [];
  let open = [{ number: -1, text: "", probability: 1 }];
  while (open.length && width > 0) {
    const grown = open.flatMap(({ number, text, probability }) =>
      follow(table, text).map(([token, next]) => ({ parent: number, text: text + token, token, probability: probability * next, fate: /** @type {TableNode["fate"]} */ ("dropped") })),
    );
    const kept = [...grown].sort((one, other) => other.probability - one.probability).slice(0, width);
    for (const node of kept) node.fate = node.token === END ? "ended" : "open";
    open = kept.filter(({ fate }) => fate === "open").map((node) => ({ ...node, number: nodes.length + grown.indexOf(node) }));
    for (const { text, probability } of kept.filter(({ fate }) => fate === "ended")) {
      ended.push({ text: text.slice(0, -1), probability, score: scoreOf(probability, text.length, alpha) });
      width--;
    }
    nodes.push(...grown);
  }
  return { nodes, ended: bestFirst(ended) };
}

/** Return all translations, best first. @param {Table} table @param {number} alpha @returns {Ended[]} */
export const allTranslations = (table, alpha) => bestFirst(beamSearch(table, Infinity, alpha).ended);
