// Buttons and a slider that lead through the steps of a decoding.

import { button, controls, element } from "./widget.js";

/** Milliseconds of a step when it plays. */
const STEP_TIME = 1100;

export class StepControls {
  /** @param {import("./try_it_labels.js").Labels} say @param {(step: number) => void} show */
  constructor(say, show) {
    this.say = say;
    this.show = show;
    this.step = 0;
    this.timer = 0;
    this.play = button(say.play, () => (this.timer ? this.stop() : this.#start()));
    this.slider = element("input", { type: "range", min: "1", value: "1", "aria-label": say.step });
    this.slider.addEventListener("input", () => this.go(this.slider.valueAsNumber - 1));
    const [back, on] = /** @type {const} */ ([["◀", say.back, -1], ["▶", say.on, 1]]).map(([sign, name, by]) =>
      button(sign, () => this.go(this.step + by), { "aria-label": name, title: name }),
    );
    this.place = controls(this.play, back, on, this.slider);
  }

  /** Begin anew, with a number of steps. @param {number} steps */
  start(steps) {
    this.slider.max = String(steps);
    this.go(0);
  }

  /** Show a step, and pause. @param {number} step */
  go(step) {
    this.stop();
    this.#set(step);
  }

  /** Pause. */
  stop() {
    clearInterval(this.timer);
    this.timer = 0;
    this.play.textContent = this.say.play;
  }

  #start() {
    const last = Number(this.slider.max) - 1;
    this.#set(this.step === last ? 0 : this.step + 1);
    this.play.textContent = this.say.pause;
    this.timer = setInterval(() => {
      this.#set(this.step + 1);
      if (this.step === last) this.stop();
    }, STEP_TIME);
  }

  /** @param {number} step */
  #set(step) {
    this.step = Math.min(Math.max(step, 0), Number(this.slider.max) - 1);
    this.slider.value = String(this.step + 1);
    this.slider.setAttribute("aria-valuetext", `${this.step + 1} / ${this.slider.max}`);
    this.show(this.step);
  }
}
