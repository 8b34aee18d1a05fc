// The two choices of languages, and the button that swaps them.

import { nameOf } from "./sayings.js";

/** Return the language and the script of a code: zh-TW and zh-Hant have the same. @param {string} code */
function parts(code) {
  try {
    const { language, script } = new Intl.Locale(code).maximize();
    return [language, script];
  } catch {
    return [code, ""];
  }
}

/** Return the language that the visitor reads best; the first if there is none. @param {string[]} codes @param {string} [avoided] the language of the text */
export function preferred(codes, avoided) {
  const others = codes.filter((code) => code !== avoided);
  for (const wanted of navigator.languages) {
    const [language, script] = parts(wanted);
    const alike = others.filter((code) => parts(code)[0] === language);
    if (alike.length) return alike.find((code) => parts(code)[1] === script) ?? alike[0];
  }
  return others[0] ?? codes[0];
}

export class Languages {
  /** @param {HTMLSelectElement} sourceChoice @param {HTMLSelectElement} targetChoice @param {HTMLButtonElement} swap @param {() => void} onChange */
  constructor(sourceChoice, targetChoice, swap, onChange) {
    this.sourceChoice = sourceChoice;
    this.targetChoice = targetChoice;
    this.swap = swap;
    /** @type {[string, string][]} */
    this.directions = [];
    /** @type {string | undefined} */
    this.detected = undefined;
    this.isTargetChosen = false;
    sourceChoice.addEventListener("change", onChange);
    targetChoice.addEventListener("change", () => {
      this.isTargetChosen = true;
      onChange();
    });
  }

  get source() {
    return this.sourceChoice.value;
  }

  get target() {
    return this.targetChoice.value;
  }

  /** The language of the text: the chosen one, or the detected one. */
  get known() {
    return (this.source === "auto" && this.detected) || this.source;
  }

  /** Offer the languages of a model, and keep those that were chosen. @param {[string, string][]} directions @param {string} [source] @param {string} [target] */
  offer(directions, source = this.source, target) {
    this.directions = directions;
    fill(this.sourceChoice, directions.map(([code]) => code), source);
    const targets = directions.filter(([code]) => code === this.source).map(([, code]) => code);
    if (target) this.isTargetChosen = true;
    const wanted = target ?? (this.isTargetChosen ? this.target : "");
    fill(this.targetChoice, targets, targets.includes(wanted) ? wanted : preferred(targets, this.known));
    this.#offerSwap();
  }

  /** Take note of the language of the text. Return true if another target was chosen: nobody wants their own. @param {string} [detected] */
  note(detected) {
    this.detected = detected;
    const isPointless = detected === this.target && !this.isTargetChosen && this.targetChoice.options.length > 1;
    if (isPointless) this.offer(this.directions);
    this.#offerSwap();
    return isPointless;
  }

  /** Let the languages be swapped if the model translates the other way, too. */
  #offerSwap() {
    this.swap.disabled = !this.directions.some(([from, to]) => from === this.target && to === this.known);
  }
}

/** Fill a choice of languages. @param {HTMLSelectElement} choice @param {string[]} codes @param {string} wanted */
function fill(choice, codes, wanted) {
  const options = [...new Set(codes)].map((code) => new Option(nameOf(code), code));
  choice.replaceChildren(...options);
  if (codes.includes(wanted)) choice.value = wanted;
  choice.disabled = options.length < 2;
}
