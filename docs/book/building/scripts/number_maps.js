// Matrices as pictures: small maps of all, of which one is shown with its numbers; and maps of attention.

import { element, moveByArrows, shade } from "./widget.js";

/** @typedef {import("./autograd.js").Matrix} Matrix */

/** Pixels of a number in a small map. */
const DOT = 7;
const [POSITIVE, NEGATIVE] = ["224, 138, 30", "59, 142, 222"];

/** Return how large each number is beside the largest. @param {Matrix} matrix */
function sharesOf({ numbers }) {
  const largest = numbers.reduce((one, number) => Math.max(one, Math.abs(number)), 1e-9);
  return [...numbers].map((number) => number / largest);
}

/** A table of numbers that change, with names of its rows and columns. */
export class NumberTable {
  /** @param {string} caption @param {string[]} rows @param {string[]} columns */
  constructor(caption, rows, columns) {
    const head = element("tr", {}, element("td"), ...columns.map((name) => element("th", { scope: "col" }, element("span", {}, name))));
    this.cells = rows.map(() => columns.map(() => element("span", { className: "widget-cell" })));
    const lines = this.cells.map((cells, i) => element("tr", {}, element("th", { scope: "row" }, rows[i]), ...cells.map((cell) => element("td", {}, cell))));
    this.place = element("table", { className: "widget-table learning-map" }, element("caption", {}, caption), head, ...lines);
  }

  /** Show weights of attention, in percent. @param {Matrix} weights @param {number} first the first of its rows that is shown */
  drawWeights(weights, first) {
    this.cells.forEach((cells, i) =>
      cells.forEach((cell, j) => {
        const weight = weights.row(first + i)[j];
        cell.textContent = weight ? (100 * weight).toFixed(0) : "·";
        shade(cell, weight);
      }),
    );
  }

  /** Show numbers, orange or blue. @param {Matrix} matrix */
  drawNumbers(matrix) {
    const shares = sharesOf(matrix);
    this.cells.flat().forEach((cell, at) => {
      cell.textContent = matrix.numbers[at].toFixed(2);
      cell.style.setProperty("--strong", matrix.numbers[at] < 0 ? NEGATIVE : POSITIVE);
      shade(cell, Math.abs(shares[at]));
    });
  }
}

/** All weights of a model: a button for each matrix, and the numbers of the one that is chosen. */
export class WeightMaps {
  /** @param {string} label @param {(name: string, height: number) => string[]} rowNames */
  constructor(label, rowNames) {
    this.rowNames = rowNames;
    /** @type {Map<string, {button: HTMLButtonElement, canvas: HTMLCanvasElement, matrix: Matrix}>} */
    this.maps = new Map();
    this.chosen = "";
    this.table = new NumberTable("", [], []);
    this.places = [element("div", { className: "train-maps", role: "group", "aria-label": label }), element("div", { className: "train-numbers" })];
  }

  /** Show other weights. @param {Map<string, Matrix>} weights @param {string} chosen the name of the matrix to show first */
  show(weights, chosen) {
    this.maps = new Map([...weights].map(([name, matrix]) => [name, this.#map(name, matrix)]));
    const maps = [...this.maps.values()];
    const rows = [maps.filter(({ matrix }) => matrix.height > 1), maps.filter(({ matrix }) => matrix.height === 1)].map((row) => row.map(({ button }) => button));
    this.places[0].replaceChildren(...rows.map((row) => element("div", {}, ...row)));
    moveByArrows(rows);
    this.#choose(this.maps.has(this.chosen) ? this.chosen : chosen);
  }

  /** Draw the weights as they are now. */
  draw() {
    for (const { canvas, matrix } of this.maps.values()) {
      const pen = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
      pen.clearRect(0, 0, canvas.width, canvas.height);
      sharesOf(matrix).forEach((share, at) => {
        pen.fillStyle = `rgba(${share < 0 ? NEGATIVE : POSITIVE}, ${Math.abs(share)})`;
        pen.fillRect(DOT * (at % matrix.width), DOT * Math.floor(at / matrix.width), DOT - 1, DOT - 1);
      });
    }
    this.table.drawNumbers(/** @type {{matrix: Matrix}} */ (this.maps.get(this.chosen)).matrix);
  }

  /** @param {string} name @param {Matrix} matrix */
  #map(name, matrix) {
    const canvas = element("canvas", { width: DOT * matrix.width, height: DOT * matrix.height });
    const button = element("button", { type: "button", className: "train-map", title: name, "aria-label": name }, canvas);
    button.addEventListener("click", () => {
      this.#choose(name);
      this.draw();
    });
    return { button, canvas, matrix };
  }

  /** @param {string} name */
  #choose(name) {
    this.chosen = name;
    const { matrix } = /** @type {{matrix: Matrix}} */ (this.maps.get(name));
    for (const [each, { button }] of this.maps) button.setAttribute("aria-pressed", String(each === name));
    this.table = new NumberTable(name, this.rowNames(name, matrix.height), Array.from({ length: matrix.width }, (_, j) => String(j)));
    this.places[1].replaceChildren(this.table.place);
  }
}
