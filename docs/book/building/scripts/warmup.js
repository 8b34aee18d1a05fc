// Chapter 12: the learning rate over the steps, as sliders shape it.

import { cosineRate } from "./learning_rate.js";
import { controls, element, slider, statusLine, svg, widget } from "./widget.js";

const LABELS = {
  en: {
    title: "Warm-up and decay",
    hint: "Move the sliders. The solid line is your file's rate, down along a cosine; the dashed one is the paper's formula with the same peak. The dot is the chosen step.",
    highest: "highest rate", warmup: "warm-up steps", steps: "all steps", step: "step", picture: "The learning rate over the steps",
    rate: (/** @type {number} */ step, /** @type {string} */ ours, /** @type {string} */ papers) => `Step ${step}: ${ours} along the cosine, ${papers} by the paper's formula.`,
    width: (/** @type {number} */ width) => ` The formula has this peak for D = ${width.toLocaleString("en")}.`,
  },
  zh: {
    title: "预热与衰减",
    hint: "移动滑块。实线是你的文件里的学习率，沿余弦下降；虚线是论文的公式，峰值相同。圆点是选中的那一步。",
    highest: "最高学习率", warmup: "预热步数", steps: "总步数", step: "步", picture: "学习率随步数的变化",
    rate: (/** @type {number} */ step, /** @type {string} */ ours, /** @type {string} */ papers) => `第 ${step} 步：沿余弦是 ${ours}，按论文的公式是 ${papers}。`,
    width: (/** @type {number} */ width) => `D = ${width.toLocaleString("en")} 时，公式的峰值正是这么高。`,
  },
};
const [WIDTH, HEIGHT, N_POINTS, HIGHEST] = [400, 150, 200, 0.01];

/** Return the rate of a step in the paper, scaled to a peak. @param {number} step @param {number} highest @param {number} warmup */
const paperRate = (step, highest, warmup) => highest * Math.min(step / warmup, Math.sqrt(warmup / step));

widget("warmup", LABELS, (place, say) => {
  const state = { highest: 0.004, warmup: 50, steps: 600, step: 100 };
  const line = statusLine();
  const picture = svg("svg", { viewBox: `-4 -16 ${WIDTH + 8} ${HEIGHT + 36}`, class: "warmup-picture", role: "img", "aria-label": say.picture });
  const [ours, papers, dot] = [svg("path", { class: "warmup-ours" }), svg("path", { class: "warmup-papers" }), svg("circle", { r: 4, class: "warmup-dot" })];
  picture.append(svg("path", { d: `M0 0V${HEIGHT}H${WIDTH}`, class: "warmup-axes" }), papers, ours, dot);
  const [top, end] = [svg("text", { x: 6, y: -4 }), svg("text", { x: WIDTH, y: HEIGHT + 16, "text-anchor": "end" })];
  top.textContent = String(HIGHEST);
  picture.append(top, end);
  const point = (/** @type {number} */ step, /** @type {number} */ rate) => `${((WIDTH * step) / state.steps).toFixed(2)} ${(HEIGHT * (1 - rate / HIGHEST)).toFixed(2)}`;
  const path = (/** @type {(step: number) => number} */ rate) =>
    `M${Array.from({ length: N_POINTS }, (_, i) => ((i + 1) * state.steps) / N_POINTS).map((step) => point(step, rate(step))).join("L")}`;
  const draw = () => {
    const { highest, warmup, steps } = state;
    const step = Math.min(state.step, steps);
    end.textContent = String(steps);
    const [mine, theirs] = [cosineRate(step, steps, highest, warmup), paperRate(step, highest, warmup)];
    ours.setAttribute("d", path((each) => cosineRate(each, steps, highest, warmup)));
    papers.setAttribute("d", path((each) => paperRate(each, highest, warmup)));
    const [x, y] = point(step, mine).split(" ");
    dot.setAttribute("cx", x);
    dot.setAttribute("cy", y);
    line.textContent = say.rate(step, mine.toFixed(5), theirs.toFixed(5)) + say.width(Math.round(1 / (highest ** 2 * warmup)));
  };
  const chosen = slider(say.step, { min: 1, max: state.steps, step: 1, value: state.step }, (value) => (state.step = value, draw()));
  const input = /** @type {HTMLInputElement} */ (chosen.querySelector("input"));
  const changeSteps = (/** @type {number} */ steps) => {
    state.steps = steps;
    input.max = String(steps);
    input.dispatchEvent(new Event("input"));
  };
  place.append(
    controls(
      slider(say.highest, { min: 0.001, max: HIGHEST, step: 0.001, value: state.highest }, (value) => (state.highest = value, draw()), (value) => value.toFixed(3)),
      slider(say.warmup, { min: 1, max: 300, step: 1, value: state.warmup }, (value) => (state.warmup = value, draw())),
      slider(say.steps, { min: 400, max: 2000, step: 100, value: state.steps }, changeSteps),
      chosen,
    ),
    element("div", {}, picture), line,
  );
  draw();
});
