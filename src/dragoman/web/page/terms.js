// The box of terms. Each pair of languages has its own, which this browser keeps.

import { keep, kept } from "./storage.js";

export class TermBox {
  /** @param {HTMLTextAreaElement} box @param {HTMLElement} count a place for the number of terms @param {() => void} onChange */
  constructor(box, count, onChange) {
    this.box = box;
    this.count = count;
    /** @type {[string, string]} the languages of the terms that are shown */
    this.pair = ["", ""];
    box.addEventListener("input", () => {
      keep(this.#name, box.value.trim() ? box.value : null);
      this.#tell();
      onChange();
    });
    box.addEventListener("change", onChange);
  }

  get #name() {
    return `terms ${this.pair.join(" ")}`;
  }

  /** The terms to obey: all, or while somebody types, those whose line is complete. */
  get value() {
    const isTyping = document.activeElement === this.box;
    const lines = isTyping ? this.box.value.replace(/^.*=[ \t]*$|^[ \t]*=.*$/gm, "") : this.box.value;
    return lines.trim() ? lines : "";
  }

  /** Show the terms of a pair of languages; return true if they are others. @param {string} source @param {string} target */
  show(source, target) {
    if (source === this.pair[0] && target === this.pair[1]) return false;
    const [typed, isDetected] = [this.box.value, this.pair[0] === "auto" && target === this.pair[1]];
    if (isDetected) keep(this.#name, null); // they were typed before the language was known
    this.pair = [source, target];
    this.box.value = kept(this.#name) ?? (isDetected ? typed : "");
    if (isDetected && this.box.value) keep(this.#name, this.box.value);
    this.#tell();
    return this.box.value !== typed;
  }

  #tell() {
    const n = this.box.value.split("\n").filter((line) => line.trim()).length;
    this.count.textContent = n ? `(${n})` : "";
  }
}
