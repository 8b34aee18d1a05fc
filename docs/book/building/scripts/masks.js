// Chapter 6: a mask to click, and the weights that it leaves.

import { softmax } from "./softmax.js";
import { button, controls, element, headRow, moveByArrows, shade, statusLine, widget } from "./widget.js";

const LABELS = {
  en: {
    title: "A mask to click",
    hint: "Each number is a weight: row = query, column = key. Click a cell, or move with the arrow keys and press Space, to hide a key from a query or to show it again.",
    query: "query", key: "key", all: "nothing hidden", padding: "padding", causal: "causal", both: "both",
    cell: (/** @type {number} */ i, /** @type {number} */ j, /** @type {string} */ weight) => `query ${i}, key ${j}: ${weight || "hidden"}`,
    row: (/** @type {number} */ i, /** @type {number} */ n) => `Query ${i} sees ${n} of 5 keys. Their weights still sum to 1.`,
    empty: (/** @type {number} */ i) => `Query ${i} sees nothing. With scores of −∞, its softmax is 0/0: NaN, which spreads to nearly every weight of the model. dragoman gives such a row weights of zero.`,
  },
  zh: {
    title: "可以点击的掩码",
    hint: "每个数字是一个权重：行是查询，列是键。点击一格（或用方向键移动，再按空格键），就能让一个查询看不见某个键，或重新看见它。",
    query: "查询", key: "键", all: "全部可见", padding: "填充掩码", causal: "因果掩码", both: "两者合用",
    cell: (/** @type {number} */ i, /** @type {number} */ j, /** @type {string} */ weight) => `查询 ${i}，键 ${j}：${weight || "已遮住"}`,
    row: (/** @type {number} */ i, /** @type {number} */ n) => `查询 ${i} 能看到 5 个键中的 ${n} 个。它们的权重之和仍是 1。`,
    empty: (/** @type {number} */ i) => `查询 ${i} 什么也看不到。如果分数都是 −∞，softmax 就是 0/0，结果是 NaN，并会传到模型的几乎每个权重。dragoman 把这样一行的权重设为零。`,
  },
};
const SCORES = [[1.2, 0.3, -0.5, 0.8, 0.1], [0.2, 1.5, 0.6, -0.4, 0.3], [-0.3, 0.9, 1.1, 0.4, -0.8], [0.7, -0.2, 0.5, 1.3, 0.6], [0.1, 0.4, -0.6, 0.9, 1.4]];
const PADDED = 3; // keys 3 and 4 are padding
const MASKS = {
  all: () => true,
  padding: (/** @type {number} */ _, /** @type {number} */ j) => j < PADDED,
  causal: (/** @type {number} */ i, /** @type {number} */ j) => j <= i,
  both: (/** @type {number} */ i, /** @type {number} */ j) => j <= i && j < PADDED,
};

widget("masks", LABELS, (place, say) => {
  let mask = SCORES.map((row, i) => row.map((_, j) => MASKS.causal(i, j)));
  const line = statusLine();
  const cells = SCORES.map((row, i) => row.map((_, j) => button("", () => change(i, j), { className: "widget-cell" })));
  const head = headRow(SCORES.map((_, j) => `${say.key} ${j}`));
  const rows = cells.map((row, i) => element("tr", {}, element("th", { scope: "row" }, `${say.query} ${i}`), ...row.map((one) => element("td", {}, one))));

  const draw = () =>
    mask.forEach((seen, i) =>
      softmax(SCORES[i], seen).forEach((weight, j) => {
        const text = seen[j] ? weight.toFixed(2) : "";
        cells[i][j].textContent = text || "·";
        shade(cells[i][j], weight);
        cells[i][j].setAttribute("aria-pressed", String(seen[j]));
        cells[i][j].setAttribute("aria-label", say.cell(i, j, text));
      }),
    );
  const change = (/** @type {number} */ i, /** @type {number} */ j) => {
    mask[i][j] = !mask[i][j];
    draw();
    const n = mask[i].filter(Boolean).length;
    line.textContent = n ? say.row(i, n) : say.empty(i);
  };
  const choose = (/** @type {keyof typeof MASKS} */ name) => {
    mask = SCORES.map((row, i) => row.map((_, j) => MASKS[name](i, j)));
    line.textContent = "";
    draw();
  };
  moveByArrows(cells);
  const names = /** @type {(keyof typeof MASKS)[]} */ (["all", "padding", "causal", "both"]);
  place.append(controls(...names.map((name) => button(say[name], () => choose(name)))), element("table", { className: "widget-table" }, head, ...rows), line);
  draw();
});
