// The curve of a loss, beside that of the run before.

import { svg } from "./widget.js";

const [CURVE_WIDTH, CURVE_HEIGHT, HIGHEST_LOSS] = [400, 160, 3];

export class LossCurve {
  /** @param {number} steps @param {string} name @param {{loss: number, text: string}} floor a loss to draw a line at */
  constructor(steps, name, floor) {
    this.steps = steps;
    this.place = svg("svg", { viewBox: `-4 -16 ${CURVE_WIDTH + 8} ${CURVE_HEIGHT + 36}`, class: "train-curve", role: "img", "aria-label": name });
    this.before = svg("path", { class: "train-before" });
    this.now = svg("path", { class: "train-now" });
    const height = this.#y(floor.loss);
    const words = /** @type {const} */ ([[6, -4, "start", String(HIGHEST_LOSS)], [CURVE_WIDTH, CURVE_HEIGHT + 16, "end", String(steps)], [CURVE_WIDTH, height - 5, "end", floor.text]]);
    const texts = words.map(([x, y, anchor, text]) => {
      const made = svg("text", { x, y, "text-anchor": anchor });
      made.textContent = text;
      return made;
    });
    this.place.append(svg("path", { d: `M0 0V${CURVE_HEIGHT}H${CURVE_WIDTH}`, class: "train-axes" }), svg("path", { d: `M0 ${height}H${CURVE_WIDTH}`, class: "train-floor" }));
    this.place.append(this.before, this.now, ...texts);
  }

  /** Begin a new run; that of now becomes the one before. */
  begin() {
    const drawn = this.now.getAttribute("d");
    if (drawn) this.before.setAttribute("d", drawn);
    this.now.setAttribute("d", "");
  }

  /** @param {number[]} losses one for each step so far */
  draw(losses) {
    const points = losses.map((loss, i) => `${((CURVE_WIDTH * (i + 1)) / this.steps).toFixed(1)} ${this.#y(loss).toFixed(1)}`);
    this.now.setAttribute("d", points.length ? `M${points.join("L")}` : "");
  }

  /** @param {number} loss above the picture, it is drawn at its edge */
  #y(loss) {
    return CURVE_HEIGHT * (1 - Math.min(loss, HIGHEST_LOSS) / HIGHEST_LOSS);
  }
}
