// A box with a translator: the pieces it reads, its translation, and each step of its decoding.

import { treeOf } from "../../../../src/dragoman/web/page/search_tree.js";
import { ModelHere } from "./model_here.js";
import { drawTree } from "./tree.js";
import { TRY_IT_LABELS } from "./try_it_labels.js";
import { StepControls } from "./step_controls.js";
import { element, moveByArrows, shade, statusLine, svg, widget } from "./widget.js";

/** @typedef {import("../../../../src/dragoman/web/dragoman/dragoman.js").Translation} Translation */
/** @typedef {import("./next_tokens.js").NextToken} NextToken */

/** Milliseconds without a key before a text is translated. */
const PAUSE = 150;
const MARKS = new Map([["finished", " ✓"], ["overtaken", " ×"]]);

class Box {
  /** @param {HTMLElement} place @param {import("./try_it_labels.js").Labels} say */
  constructor(place, say) {
    this.say = say;
    this.model = new ModelHere(place.dataset.model ?? "");
    this.timer = 0;
    /** @type {{text: string, translation: Translation} | null} */
    this.shown = null;
    /** @type {Map<number, Promise<NextToken[]>>} */
    this.next = new Map();
    this.text = element("textarea", { rows: 2, value: place.dataset.example ?? "", spellcheck: false });
    this.name = element("span", {}, say.text("…"));
    this.translation = element("output", { className: "try-it-translation", "aria-label": say.translation });
    this.problem = element("p", { role: "status" });
    this.steps = new StepControls(say, (step) => this.#drawStep(step));
    this.layer = element("select", { "aria-label": say.layer });
    this.source = element("div", { className: "try-it-tokens", role: "group", "aria-label": say.read });
    this.target = element("div", { className: "try-it-tokens", role: "group", "aria-label": say.written });
    this.lines = svg("svg", { "aria-hidden": "true" });
    this.bars = element("ol", { className: "try-it-bars", "aria-label": say.next });
    this.now = statusLine();
    this.tree = element("div");
    this.inside = element("div", { hidden: true });
    place.append(...this.#parts());
    this.text.addEventListener("input", () => {
      clearTimeout(this.timer);
      this.timer = setTimeout(() => this.#translate(), PAUSE);
    });
    this.layer.addEventListener("change", () => this.#drawStep(this.steps.step));
    new ResizeObserver(() => this.#drawLines()).observe(this.source);
    const watch = new IntersectionObserver((seen) => {
      if (!seen.some((entry) => entry.isIntersecting)) return;
      watch.disconnect();
      this.#translate();
    }, { rootMargin: "600px" });
    watch.observe(place);
  }

  #parts() {
    const { say } = this;
    const label = (/** @type {string} */ text) => element("p", { className: "try-it-label" }, text);
    const figure = element("div", { className: "try-it-figure" }, this.lines, label(say.read), this.source, this.target, label(say.written));
    const layers = element("label", { className: "widget-slider" }, element("span", {}, say.layer), this.layer);
    const details = element("details", {}, element("summary", {}, say.tree), this.tree, element("p", { className: "widget-hint" }, say.legend));
    this.inside.append(this.steps.place, this.now, figure, layers, label(say.next), this.bars, details);
    return [element("label", { className: "try-it-text" }, this.name, this.text), this.translation, this.problem, this.inside];
  }

  async #translate() {
    const text = this.text.value;
    if (!this.model.isLoaded) this.problem.textContent = this.say.loading;
    const { translation, error, directions } = await this.model.translate(text);
    if (text !== this.text.value || (!translation && !error)) return;
    if (directions) this.#nameLanguages(directions);
    this.steps.stop();
    this.next.clear();
    this.shown = translation ? { text, translation } : null;
    const isRead = Boolean(translation?.attention?.length);
    this.inside.hidden = !isRead;
    this.translation.textContent = translation?.text ?? "";
    const unread = text.trim() && !isRead ? this.say.copied : "";
    const part = (translation?.attention?.length ?? 0) > 1 ? this.say.part : "";
    this.problem.textContent = error ? this.say.failed(error) : unread || part;
    if (isRead) this.#drawTranslation();
  }

  /** @param {[string, string][]} directions */
  #nameLanguages([[source, target]]) {
    const names = new Intl.DisplayNames([this.say.language], { type: "language" });
    this.name.textContent = this.say.text(names.of(source) ?? source);
    this.text.lang = source;
    this.translation.lang = target;
  }

  #map() {
    return /** @type {import("../../../../src/dragoman/web/dragoman/dragoman.js").AttentionMap} */ (this.shown?.translation.attention?.[0]);
  }

  #trace() {
    return /** @type {import("../../../../src/dragoman/web/dragoman/dragoman.js").Trace} */ (this.shown?.translation.trace?.[0]);
  }

  /** Draw what does not change from step to step. */
  #drawTranslation() {
    const { source, written, weights } = this.#map();
    if (this.layer.length !== weights.length) {
      this.layer.replaceChildren(...weights.map((_, i) => new Option(String(i + 1), String(i), false, i === weights.length - 1)));
    }
    this.source.replaceChildren(...source.map((token) => element("span", { className: "widget-token" }, token)));
    const buttons = written.map((token, step) => {
      const made = element("button", { type: "button", className: "widget-token" }, token);
      made.addEventListener("click", () => this.steps.go(step));
      return made;
    });
    moveByArrows([buttons]);
    this.target.replaceChildren(...buttons);
    const branches = treeOf(this.#trace()).map(({ parent, token, log_prob, fate, best }) => ({ parent, token, probability: Math.exp(log_prob), mark: MARKS.get(fate) ?? "", best }));
    this.tree.replaceChildren(drawTree(this.say.tree, branches));
    this.steps.start(written.length);
  }

  /** Show how much a step attends to each source token: the mean of the heads of a layer. @param {number} step */
  #weights(step) {
    const heads = this.#map().weights[this.layer.selectedIndex];
    return this.#map().source.map((_, i) => heads.reduce((sum, head) => sum + head[step][i], 0) / heads.length);
  }

  /** @param {number} step */
  async #drawStep(step) {
    if (!this.shown) return;
    const { shown } = this;
    [...this.target.children].forEach((token, i) => {
      token.classList.toggle("try-it-later", i > step);
      if (i === step) token.setAttribute("aria-current", "step");
      else token.removeAttribute("aria-current");
    });
    this.#weights(step).forEach((weight, i) => shade(/** @type {HTMLElement} */ (this.source.children[i]), weight));
    this.#drawLines();
    const ids = this.#trace().candidates[0].ids.slice(0, step);
    const asked = this.next.get(step) ?? this.model.next(shown.text, ids);
    this.next.set(step, asked);
    const tokens = await asked;
    if (this.shown === shown && this.steps.step === step) this.#drawBars(step, tokens);
  }

  /** @param {number} step @param {NextToken[]} tokens */
  #drawBars(step, tokens) {
    const { written, source } = this.#map();
    const probability = Math.exp(this.#trace().candidates[0].logProbs[step]);
    const all = tokens.some(({ token }) => token === written[step]) ? tokens : [...tokens, { token: written[step], probability }];
    const items = all.map(({ token, probability: share }) => {
      const bar = shade(element("span", { className: "try-it-bar" }), share);
      return element("li", { className: token === written[step] ? "widget-best" : "" }, element("span", {}, token), bar, element("span", {}, share.toFixed(3)));
    });
    this.bars.replaceChildren(...items);
    const weights = this.#weights(step);
    const most = weights.indexOf(Math.max(...weights));
    this.now.textContent = this.say.now(step + 1, written.length, written[step], probability.toFixed(2), `${source[most]} (${weights[most].toFixed(2)})`);
  }

  /** Draw a line from the token that is written to each source token, the broader the more it attends to it. */
  #drawLines() {
    if (!this.shown || this.inside.hidden) return;
    const frame = this.lines.getBoundingClientRect();
    const from = this.target.children[this.steps.step].getBoundingClientRect();
    const lines = this.#weights(this.steps.step).map((weight, i) => {
      const to = this.source.children[i].getBoundingClientRect();
      const places = { x1: from.left + from.width / 2 - frame.left, y1: from.top - frame.top, x2: to.left + to.width / 2 - frame.left, y2: to.bottom - frame.top };
      return svg("line", { ...places, "stroke-width": 8 * weight });
    });
    this.lines.replaceChildren(...lines);
  }
}

widget("try_it", TRY_IT_LABELS, (place, say) => void new Box(place, say));
