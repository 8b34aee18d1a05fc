// The inside of a translation: the pages of `dragoman inspect`, each in a frame of its own.

import { interfaceLanguage } from "./sayings.js";
import { VIEW_WORDS } from "./view_words.js";
import { PLACEHOLDER, VIEWS } from "./views.js";

const SCALE = 10000;

/** Show a page with its data in a frame. @param {HTMLElement} place @param {keyof typeof VIEWS} name @param {object} data */
function showView(place, name, data) {
  const json = JSON.stringify({ ...data, words: VIEW_WORDS[interfaceLanguage()] }).replace(/[<>&]/g, (one) => `\\u00${one.charCodeAt(0).toString(16)}`);
  const frame = document.createElement("iframe");
  frame.title = name;
  frame.addEventListener("load", () => {
    const inner = /** @type {Document} */ (frame.contentDocument);
    const header = inner.getElementById("header");
    if (header) header.style.display = "none";
    Object.assign(inner.body.style, { padding: "4px", background: "transparent", overflow: "hidden" });
    const first = inner.querySelector("section");
    if (first && name === "search") first.style.marginTop = "0";
    const fit = () => (frame.style.height = `${inner.body.scrollHeight + 8}px`);
    new ResizeObserver(fit).observe(inner.body);
    fit();
  });
  frame.srcdoc = VIEWS[name].replace(PLACEHOLDER, () => json);
  place.replaceChildren(frame);
}

/** Show the attention to a source. @param {HTMLElement} place @param {import("../dragoman/dragoman.js").AttentionMap} map @param {[string, string]} texts */
export function showAttention(place, map, texts) {
  const weights = map.weights.map((layer) => layer.map((head) => head.map((row) => row.map((weight) => Math.round(weight * SCALE)))));
  const { source, read, written } = map;
  const [sourceText, targetText] = texts;
  const open = { kind: "cross", layer: weights.length - 1, head: "mean" };
  showView(place, "attention", { source_text: sourceText, target_text: targetText, source, read, written, scale: SCALE, weights: { cross: weights }, open });
}

/**
 * @typedef {object} TreeNode
 * @property {number} parent
 * @property {string} token
 * @property {number} length
 * @property {number} log_prob
 * @property {number} total
 * @property {number | null} score
 * @property {string} fate
 * @property {boolean} best
 * @property {{token: string, probability: number}[]} rivals
 */

/** Show a search. @param {HTMLElement} place @param {import("../dragoman/dragoman.js").Trace} trace @param {number} beamSize */
export function showSearch(place, trace, beamSize) {
  const nodes = treeOf(trace);
  showView(place, "search", { source_text: trace.source, target_text: trace.text, beam_size: beamSize, length_penalty: 0, nodes });
}

/** Return the tokens of a search as its page wants them: without the root, and with the ends. @param {import("../dragoman/dragoman.js").Trace} trace @returns {TreeNode[]} */
function treeOf(trace) {
  const children = trace.nodes.map(() => /** @type {Map<number, number>} */ (new Map()));
  trace.nodes.forEach((node, i) => node.parent >= 0 && children[node.parent].set(node.id, i));
  /** @type {TreeNode[]} */
  const nodes = trace.nodes.slice(1).map((node, i) => ({
    parent: node.parent - 1,
    token: node.token,
    length: 0,
    log_prob: node.logProb,
    total: node.total,
    score: null,
    fate: children[i + 1].size ? "open" : "overtaken",
    best: false,
    rivals: [],
  }));
  for (const [rank, candidate] of trace.candidates.entries()) {
    let at = 0;
    for (const id of candidate.ids) at = children[at]?.get(id) ?? -1;
    if (at < 0) continue;
    const path = [];
    for (let each = at; each > 0; each = trace.nodes[each].parent) path.push(each - 1);
    if (candidate.finished) {
      const own = { parent: at - 1, token: "<eos>", length: 0, log_prob: candidate.logProbs.at(-1) ?? 0, total: candidate.logProb };
      nodes.push({ ...own, score: candidate.score, fate: "finished", best: rank === 0, rivals: [] });
      if (at > 0 && nodes[at - 1].fate === "overtaken") nodes[at - 1].fate = "open";
    }
    if (rank === 0) for (const each of path) nodes[each].best = true;
  }
  nodes.forEach((node) => (node.length = node.parent < 0 ? 1 : nodes[node.parent].length + 1));
  for (const node of nodes) {
    const others = nodes.filter((other) => other.parent === node.parent && other !== node);
    node.rivals = others.map((other) => ({ token: other.token, probability: Math.exp(other.log_prob) }));
  }
  return nodes;
}
