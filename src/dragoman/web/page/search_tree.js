// The tokens of a search as a tree.

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

/** Return the tokens of a search, without the root, and with the ends. @param {import("../dragoman/dragoman.js").Trace} trace @returns {TreeNode[]} */
export function treeOf(trace) {
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
