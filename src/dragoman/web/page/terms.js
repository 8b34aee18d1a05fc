// The box of terms. Each pair of languages has its own, which this browser keeps.
// Those typed before the language of the text is detected are added to those of the pair.

import { keep, kept } from "./storage.js";

export class TermBox {
  /** @param {HTMLTextAreaElement} box @param {HTMLElement} count a place for the number of terms @param {() => void} onChange */
  constructor(box, count, onChange) {
    this.box = box;
    this.count = count;
    /** @type {[string, string]} the languages of the terms that are shown */
    this.pair = ["", ""];
    /** @type {[string, string]} the languages of the text, whose terms are shown as soon as nobody types in the box */
    this.wanted = this.pair;
    this.obeyed = "";
    box.addEventListener("input", () => {
      keep(this.#name, box.value.trim() ? box.value : null);
      this.#tell();
    });
    for (const event of ["input", "keyup", "click", "blur"]) {
      box.addEventListener(event, () => this.follow(...this.wanted) && onChange());
    }
  }

  get #name() {
    return `terms ${this.pair.join(" ")}`;
  }

  get #isTyping() {
    return document.activeElement === this.box;
  }

  /** The terms to obey: all, or while somebody types, those whose line is complete. A line without = may get one as long as the caret is in it. */
  get value() {
    const { value, selectionStart } = this.box;
    const caret = value.slice(0, selectionStart).split("\n").length - 1;
    const isComplete = (/** @type {string} */ line, /** @type {number} */ i) => (line.includes("=") ? !/^\s*=|=\s*$/.test(line) : i !== caret);
    const complete = () => value.split("\n").map((line, i) => (isComplete(line, i) ? line : "")).join("\n");
    const lines = this.#isTyping ? complete() : value;
    return lines.trim() ? lines : "";
  }

  /** Show the terms of the languages of a text, but not while somebody types others; return true if other terms are to be obeyed. @param {string} source @param {string} target */
  follow(source, target) {
    const before = this.obeyed;
    this.wanted = [source, target];
    if (!this.#isTyping) this.show(source, target);
    this.obeyed = this.value;
    return this.obeyed !== before;
  }

  /** Show the terms of a pair of languages. @param {string} source @param {string} target */
  show(source, target) {
    if (source !== this.pair[0] || target !== this.pair[1]) {
      const isDetected = this.pair[0] === "auto" && target === this.pair[1];
      const typed = isDetected ? this.box.value : "";
      if (isDetected) keep(this.#name, null); // typed before the language was known
      this.pair = [source, target];
      this.box.value = merged(kept(this.#name) ?? "", typed);
      if (typed.trim()) keep(this.#name, this.box.value);
      this.#tell();
    }
    this.wanted = this.pair;
    this.obeyed = this.value;
  }

  #tell() {
    const n = this.box.value.split("\n").filter((line) => line.trim()).length;
    this.count.textContent = n ? `(${n})` : "";
  }
}

/** Return the lines of two texts, each once. @param {string} one @param {string} other */
function merged(one, other) {
  if (!other.trim()) return one;
  const lines = `${one}\n${other}`.split("\n").filter((line) => line.trim());
  return [...new Set(lines)].join("\n");
}
