// Chapter 12: the attention of one pair of sentences while the model learns.

import { controls, element, shade, slider, statusLine, widget } from "./widget.js";

/** @typedef {"cross" | "encoder" | "decoder"} Kind */
/** What the chapter records. @typedef {{pieces: {source: string[], read: string[], written: string[]}, steps: {step: number, text: string, weights: Record<Kind, number[][]>}[]}} Watched */

const LABELS = {
  en: {
    title: "Watch it learn",
    hint: "Move the slider, or use the arrow keys. A row looks at the columns: the darker, the more. The numbers are percent, of the head that looks there most.",
    after: "after step", kind: "attention",
    cross: "from the translation to the source", encoder: "within the source (encoder)", decoder: "within the translation (decoder)",
    now: (/** @type {number} */ step, /** @type {string} */ text) => `After ${step} steps it writes: ${text || "nothing that is a word"}`,
  },
  zh: {
    title: "看着它学习",
    hint: "拖动滑块，或按方向键。每一行看向各列，颜色越深，看得越多。数字是百分数，取看那里看得最多的那个头。",
    after: "训练步数", kind: "注意力",
    cross: "译文看源句", encoder: "源句看源句（编码器）", decoder: "译文看译文（解码器）",
    now: (/** @type {number} */ step, /** @type {string} */ text) => `${step} 步之后，它写出：${text || "什么词也没有"}`,
  },
};
/** @type {Kind[]} */
const KINDS = ["cross", "encoder", "decoder"];

widget("learning", LABELS, (place, say) => {
  const { pieces, steps } = /** @type {Watched} */ (JSON.parse(place.dataset.record ?? "{}"));
  const sides = { cross: [pieces.written, pieces.source], encoder: [pieces.source, pieces.source], decoder: [pieces.written, pieces.read] };
  let index = 0;
  const kinds = element("select", {}, ...KINDS.map((kind) => new Option(say[kind], kind)));
  const table = element("table", { className: "widget-table learning-map" });
  const line = statusLine();

  const draw = () => {
    const kind = /** @type {Kind} */ (kinds.value);
    const [queries, keys] = sides[kind];
    const { step, text, weights } = steps[index];
    const head = element("tr", {}, element("td"), ...keys.map((key) => element("th", { scope: "col" }, element("span", {}, key))));
    const rows = queries.map((query, i) => {
      const cells = weights[kind][i].map((weight) => element("td", {}, shade(element("span", { className: "widget-cell" }, weight ? (100 * weight).toFixed(0) : "·"), weight)));
      return element("tr", {}, element("th", { scope: "row" }, query), ...cells);
    });
    table.replaceChildren(element("caption", {}, say[kind]), head, ...rows);
    line.textContent = say.now(step, text);
  };
  kinds.addEventListener("change", draw);
  const choose = (/** @type {number} */ value) => ((index = value), draw());
  place.append(
    controls(
      slider(say.after, { min: 0, max: steps.length - 1, step: 1, value: 0 }, choose, (value) => String(steps[value].step)),
      element("label", { className: "widget-slider" }, element("span", {}, say.kind), kinds),
    ),
    line, table,
  );
  draw();
});
