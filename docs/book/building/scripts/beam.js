// Chapter 13: beam search on a table of probabilities that can be changed.

import { allTranslations, beamSearch } from "./beam_search.js";
import { drawTree } from "./tree.js";
import { button, controls, element, headRow, slider, statusLine, widget } from "./widget.js";

const LABELS = {
  en: {
    title: "A beam on a table",
    hint: "The table gives the probability of the next token after each beginning; “.” ends. Change a number (each row is divided by its sum), the beam size or α, and watch the tree.",
    start: "at the start", after: (/** @type {string} */ text) => `after ${text}`, size: "beam size", alpha: "length penalty α", reset: "reset",
    cell: (/** @type {string} */ text, /** @type {string} */ token) => `probability of ${token} ${text ? `after ${text}` : "at the start"}`,
    tree: "The tree of the search",
    legend: "Each number is the probability of everything up to there. ✓ has ended, × was dropped from the beam. The winner is bold.",
    ended: "Translations that the beam found: probability and score", none: "The beam found none.",
    found: (/** @type {string} */ best) => `The winner, “${best}”, is the best of all translations.`,
    missed: (/** @type {string} */ won, /** @type {string} */ best) => `“${won}” wins, but “${best}” has a better score: the beam missed it.`,
  },
  zh: {
    title: "表格上的束搜索",
    hint: "表格给出每个开头之后下一个词元的概率，“.” 表示结束。改动一个数字（每一行都会除以它的和）、束宽或 α，看看树怎样变化。",
    start: "开头", after: (/** @type {string} */ text) => `${text} 之后`, size: "束宽", alpha: "长度惩罚 α", reset: "重置",
    cell: (/** @type {string} */ text, /** @type {string} */ token) => `${text ? `${text} 之后` : "开头"}出现 ${token} 的概率`,
    tree: "搜索树",
    legend: "每个数字是到此为止的总概率。✓ 表示已结束，× 表示被束淘汰。胜者用粗体表示。",
    ended: "束找到的译文：概率与得分", none: "束没有找到译文。",
    found: (/** @type {string} */ best) => `胜者“${best}”就是所有译文中最好的。`,
    missed: (/** @type {string} */ won, /** @type {string} */ best) => `胜者是“${won}”，但“${best}”得分更高：束错过了它。`,
  },
};
/** @type {import("./beam_search.js").Table} */
const TABLE = {
  "": { a: 0.5, b: 0.4, c: 0.1 }, a: { b: 0.4, c: 0.35, ".": 0.25 }, b: { c: 0.9, ".": 0.1 }, c: { ".": 1 },
  ab: { ".": 0.6, c: 0.4 }, ac: { ".": 1 }, bc: { ".": 1 }, abc: { ".": 1 },
};
const TOKENS = ["a", "b", "c", "."];
const MARKS = { open: "", ended: " ✓", dropped: " ×" };

widget("beam", LABELS, (place, say) => {
  const state = { size: 1, alpha: 0 };
  /** @type {Record<string, Record<string, HTMLInputElement>>} */
  const inputs = {};
  const [tree, list, line] = [element("div"), element("ol"), statusLine()];

  /** Return the table as it is now: each row divided by its sum. */
  const table = () =>
    Object.fromEntries(Object.entries(inputs).map(([text, row]) => {
      const weights = Object.entries(row).map(([token, input]) => /** @type {[string, number]} */ ([token, Math.max(0, input.valueAsNumber || 0)]));
      const sum = weights.reduce((all, [, weight]) => all + weight, 0) || 1;
      return [text, Object.fromEntries(weights.map(([token, weight]) => [token, weight / sum]))];
    }));
  const draw = () => {
    const { nodes, ended } = beamSearch(table(), state.size, state.alpha);
    const [won, best] = [ended[0], allTranslations(table(), state.alpha)[0]];
    const isBest = (/** @type {string} */ text) => won !== undefined && `${won.text}.`.startsWith(text);
    tree.replaceChildren(drawTree(say.tree, nodes.map(({ parent, token, probability, text, fate }) => ({ parent, token, probability, mark: MARKS[fate], best: isBest(text) && fate !== "dropped" }))));
    list.replaceChildren(...ended.map(({ text, probability, score }, i) => element("li", { className: i ? "" : "widget-best" }, `${text || "∅"}: ${probability.toFixed(3)}, ${score.toFixed(2)}`)));
    line.textContent = !won ? say.none : won.score < best.score - 1e-9 ? say.missed(won.text, best.text) : say.found(won.text);
  };
  const rows = Object.entries(TABLE).map(([text, row]) => {
    inputs[text] = {};
    const cells = TOKENS.map((token) => {
      if (!(token in row)) return element("td");
      inputs[text][token] = element("input", { type: "number", min: "0", max: "1", step: "0.05", value: String(row[token]), disabled: row[token] === 1, "aria-label": say.cell(text, token) });
      inputs[text][token].addEventListener("input", draw);
      return element("td", {}, inputs[text][token]);
    });
    return element("tr", {}, element("th", { scope: "row" }, text ? say.after(text) : say.start), ...cells);
  });
  const reset = () => {
    for (const [text, row] of Object.entries(inputs)) for (const [token, input] of Object.entries(row)) input.value = String(TABLE[text][token]);
    draw();
  };
  place.append(
    controls(
      slider(say.size, { min: 1, max: 3, step: 1, value: state.size }, (value) => (state.size = value, draw())),
      slider(say.alpha, { min: 0, max: 2, step: 0.1, value: state.alpha }, (value) => (state.alpha = value, draw()), (value) => value.toFixed(1)),
      button(say.reset, reset),
    ),
    element("table", { className: "widget-table" }, headRow(TOKENS), ...rows), line, tree,
    element("p", { className: "widget-hint" }, say.legend), element("p", { className: "widget-hint" }, say.ended), list,
  );
  draw();
});
