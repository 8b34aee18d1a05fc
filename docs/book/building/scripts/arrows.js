// Chapter 4: a query and keys as arrows to drag, with the weights that follow.

import { softmax } from "./softmax.js";
import { controls, element, headRow, shade, slider, statusLine, svg, widget } from "./widget.js";

const LABELS = {
  en: {
    title: "Queries and keys to drag",
    hint: "Drag the tip of an arrow, or focus it with Tab and move it with the arrow keys. The scores are dot products with the query, as large as they typically are in width d: the sum of d products spreads √(d/2) times as wide as that of two.",
    query: "query", key: (/** @type {number} */ i) => `key ${i}`, divide: "divide by √d", width: "width d", temperature: "temperature",
    score: "score", weight: "weight", value: "value", picture: "Arrows of the query and the keys",
    arrow: (/** @type {string} */ name, /** @type {string} */ x, /** @type {string} */ y) => `${name}: ${x}, ${y}. Move it with the arrow keys.`,
    result: (/** @type {string} */ mixed, /** @type {string} */ slope) => `The weighted mean of the values is ${mixed}; the plain mean is 30. The steepest slope of the softmax is ${slope}`,
    flat: ": next to nothing is left to learn from.", steep: ".",
  },
  zh: {
    title: "可以拖动的查询和键",
    hint: "拖动箭头的尖端，或用 Tab 选中它、用方向键移动。分数是键与查询的点积，大小按宽度为 d 时的典型情形计算：d 个乘积之和的离散程度，是两个乘积之和的 √(d/2) 倍。",
    query: "查询", key: (/** @type {number} */ i) => `键 ${i}`, divide: "除以 √d", width: "宽度 d", temperature: "温度",
    score: "分数", weight: "权重", value: "值", picture: "查询和键的箭头",
    arrow: (/** @type {string} */ name, /** @type {string} */ x, /** @type {string} */ y) => `${name}：${x}，${y}。用方向键移动。`,
    result: (/** @type {string} */ mixed, /** @type {string} */ slope) => `值的加权平均是 ${mixed}；普通平均是 30。softmax 最陡处的斜率是 ${slope}`,
    flat: "：几乎学不到东西了。", steep: "。",
  },
};
const WIDTHS = [2, 8, 32, 128, 512];
const VALUES = [10, 20, 60];
const [REACH, STEP, FLAT] = [3, 0.25, 0.02];

widget("arrows", LABELS, (place, say) => {
  const arrows = [[2, 0.5], [1, 0], [0, 1], [1, 1]]; // the query, then the keys
  const names = [say.query, ...VALUES.map((_, i) => say.key(i))];
  const state = { isScaled: true, width: 2, temperature: 1 };
  const picture = svg("svg", { viewBox: `${-REACH} ${-REACH} ${2 * REACH} ${2 * REACH}`, class: "arrows-picture", role: "group", "aria-label": say.picture });
  picture.append(svg("path", { d: `M${-REACH} 0H${REACH}M0 ${-REACH}V${REACH}`, class: "arrows-axes" }));
  const [body, line] = [element("tbody"), statusLine()];
  const drawn = arrows.map((_, i) => {
    const [shaft, tip, name] = [svg("line", { x1: 0, y1: 0 }), svg("circle", { r: 0.14 }), svg("text")];
    const group = svg("g", { tabindex: 0, role: "button", class: i ? "arrows-key" : "arrows-query" });
    name.textContent = i ? `k${i - 1}` : "q";
    group.append(shaft, tip, name);
    picture.append(group);
    group.addEventListener("pointerdown", (event) => group.setPointerCapture(event.pointerId));
    group.addEventListener("pointermove", (event) => {
      if (!group.hasPointerCapture(event.pointerId)) return;
      const { left, top, width } = picture.getBoundingClientRect();
      move(i, ((event.clientX - left) / width) * 2 * REACH - REACH, REACH - ((event.clientY - top) / width) * 2 * REACH);
    });
    group.addEventListener("keydown", (event) => {
      const moves = /** @type {Record<string, [number, number]>} */ ({ ArrowLeft: [-STEP, 0], ArrowRight: [STEP, 0], ArrowUp: [0, STEP], ArrowDown: [0, -STEP] });
      if (!(event.key in moves)) return;
      event.preventDefault();
      move(i, arrows[i][0] + moves[event.key][0], arrows[i][1] + moves[event.key][1]);
    });
    return { group, shaft, tip, name };
  });
  const move = (/** @type {number} */ i, /** @type {number} */ x, /** @type {number} */ y) => {
    arrows[i] = [x, y].map((one) => Math.min(Math.max(one, 0.2 - REACH), REACH - 0.2));
    draw();
  };
  const draw = () => {
    const [[qx, qy], ...keys] = arrows;
    const factor = Math.sqrt(state.width / 2) / (state.isScaled ? Math.sqrt(state.width) : 1);
    const scores = keys.map(([x, y]) => (qx * x + qy * y) * factor);
    const weights = softmax(scores.map((score) => score / state.temperature));
    drawn.forEach(({ group, shaft, tip, name }, i) => {
      const [x, y] = arrows[i];
      for (const [part, at] of /** @type {const} */ ([[shaft, { x2: x, y2: -y }], [tip, { cx: x, cy: -y }], [name, { x: x + 0.2, y: -y - 0.15 }]])) {
        for (const [key, value] of Object.entries(at)) part.setAttribute(key, String(value));
      }
      group.setAttribute("aria-label", say.arrow(names[i], x.toFixed(2), y.toFixed(2)));
    });
    body.replaceChildren(...weights.map((weight, i) => {
      const cell = shade(element("span", { className: "widget-cell" }, weight.toFixed(2)), weight);
      return element("tr", {}, element("th", { scope: "row" }, `k${i}`), element("td", {}, scores[i].toFixed(2)), element("td", {}, cell), element("td", {}, String(VALUES[i])));
    }));
    const slope = Math.max(...weights.map((weight) => weight * (1 - weight)));
    const mixed = weights.reduce((sum, weight, i) => sum + weight * VALUES[i], 0);
    line.textContent = say.result(mixed.toFixed(1), slope.toFixed(3)) + (slope < FLAT ? say.flat : say.steep);
  };
  const divide = element("input", { type: "checkbox", checked: state.isScaled });
  divide.addEventListener("change", () => (state.isScaled = divide.checked, draw()));
  place.append(
    controls(
      element("label", { className: "widget-slider" }, divide, say.divide),
      slider(say.width, { min: 0, max: WIDTHS.length - 1, step: 1, value: 0 }, (i) => (state.width = WIDTHS[i], draw()), (i) => String(WIDTHS[i])),
      slider(say.temperature, { min: 0.1, max: 3, step: 0.1, value: 1 }, (value) => (state.temperature = value, draw()), (value) => value.toFixed(1)),
    ),
    element("div", { className: "arrows-both" }, picture, element("table", { className: "widget-table" }, element("thead", {}, headRow([say.score, say.weight, say.value])), body)),
    line,
  );
  draw();
});
