// The translations of before, kept in this browser only.

import { filled, made } from "./elements.js";
import { nameOf } from "./sayings.js";
import { keep, kept } from "./storage.js";

/** @typedef {{model: string, source: string, target: string, text: string, translation: string}} Entry */

/** The most entries and the longest text that are kept, and the milliseconds after which a translation is. */
const [MOST, LONGEST, PAUSE] = [50, 2000, 1500];

export class History {
  /** @param {HTMLElement} place with a list, a box "keep", and a button "forget" @param {(entry: Entry) => void} choose */
  constructor(place, choose) {
    this.list = /** @type {HTMLElement} */ (place.querySelector("ol"));
    this.empty = /** @type {HTMLElement} */ (place.querySelector("[data-say=history_empty]"));
    this.box = /** @type {HTMLInputElement} */ (place.querySelector("input"));
    this.button = /** @type {HTMLButtonElement} */ (place.querySelector("button"));
    this.choose = choose;
    /** @type {Entry | null} */
    this.waiting = null;
    this.timer = 0;
    this.entries = readEntries();
    place.hidden = !keep("test", null);
    this.box.checked = kept("history") !== "off";
    this.box.addEventListener("change", () => {
      keep("history", this.box.checked ? null : "off");
      if (!this.box.checked) this.forget();
    });
    this.button.addEventListener("click", () => {
      this.forget();
      this.box.focus();
    });
    addEventListener("pagehide", () => this.add());
    this.draw();
  }

  /** Keep a translation if nothing replaces it soon. @param {Entry} entry */
  note(entry) {
    this.drop();
    if (!this.box.checked || !entry.text.trim() || !entry.translation || entry.text.length > LONGEST) return;
    this.waiting = entry;
    this.timer = setTimeout(() => this.add(), PAUSE);
  }

  /** Keep the translation that waits no longer than until now. */
  add() {
    const entry = this.waiting;
    this.drop();
    if (!entry) return;
    this.entries = [entry, ...readEntries().filter((other, i) => !isReplaced(other, entry, i === 0))].slice(0, MOST);
    keep("entries", JSON.stringify(this.entries));
    this.draw();
  }

  /** Do not keep the translation that waits. */
  drop() {
    clearTimeout(this.timer);
    this.waiting = null;
  }

  forget() {
    this.drop();
    this.entries = [];
    keep("entries", null);
    this.draw();
  }

  draw() {
    this.empty.hidden = this.entries.length > 0;
    this.button.hidden = !this.entries.length;
    this.list.replaceChildren(...this.entries.map((entry) => this.#item(entry)));
  }

  /** @param {Entry} entry */
  #item(entry) {
    const languages = Object.assign(made("span", `${nameOf(entry.source)} → ${nameOf(entry.target)}`), { className: "languages-of" });
    const text = Object.assign(made("span", entry.text, entry.source), { className: "text-of" });
    const button = filled("button", languages, text, made("span", entry.translation, entry.target));
    button.type = "button";
    button.addEventListener("click", () => this.choose(entry));
    return filled("li", button);
  }
}

/** Return true if an entry has no worth beside a new one: it is the same, or what was typed before it. @param {Entry} old @param {Entry} entry @param {boolean} isLatest */
function isReplaced(old, entry, isLatest) {
  if (old.target !== entry.target) return false;
  return old.text === entry.text || (isLatest && (entry.text.startsWith(old.text) || old.text.startsWith(entry.text)));
}

/** @returns {Entry[]} */
function readEntries() {
  const names = ["model", "source", "target", "text", "translation"];
  try {
    const entries = JSON.parse(kept("entries") ?? "[]");
    return entries.filter((/** @type {any} */ entry) => names.every((name) => typeof entry?.[name] === "string"));
  } catch {
    return [];
  }
}
