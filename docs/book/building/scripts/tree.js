// The tree of a search: lists in lists, which screen readers read as they are.

import { element, shade } from "./widget.js";

/**
 * @typedef {object} Branch
 * @property {number} parent the number of another one before it, or -1
 * @property {string} token
 * @property {number} probability
 * @property {string} mark what became of it, for example "✓"
 * @property {boolean} best it is a part of the best translation
 */

/** Draw a tree that grows to the right. @param {string} name @param {Branch[]} branches */
export function drawTree(name, branches) {
  const root = element("ul");
  /** @type {HTMLElement[]} */
  const lists = [];
  for (const { parent, token, probability, mark, best } of branches) {
    const box = element("span", { className: best ? "widget-token widget-best" : "widget-token" }, token, element("small", {}, ` ${probability < 0.005 ? "<0.01" : probability.toFixed(2)}${mark}`));
    const list = element("ul");
    lists.push(list);
    (lists[parent] ?? root).append(element("li", {}, shade(box, probability), list));
  }
  return element("div", { className: "widget-tree", role: "region", "aria-label": name, tabIndex: 0 }, root);
}
