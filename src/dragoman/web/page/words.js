// The words of a text and of its translation, which light up with those that they belong to.

import { say } from "./sayings.js";

/** Write a text with a span around each word; return the spans. @param {HTMLElement} place @param {string} text @param {string[]} words in their order */
function writeWords(place, text, words) {
  const parts = [];
  const spans = [];
  let end = 0;
  for (const word of words) {
    const start = text.indexOf(word, end);
    if (start < 0) return writeWhole(place, text); // the text was cleaned before it was cut into words
    const span = document.createElement("span");
    span.className = "word";
    span.textContent = word;
    parts.push(text.slice(end, start), span);
    spans.push(span);
    end = start + word.length;
  }
  place.replaceChildren(...parts, text.slice(end));
  return spans;
}

/** @param {HTMLElement} place @param {string} text @returns {HTMLSpanElement[]} */
function writeWhole(place, text) {
  place.textContent = text;
  return [];
}

export class WordLinks {
  /** @param {HTMLElement} backdrop behind the text @param {HTMLTextAreaElement} text @param {HTMLElement} translation @param {(line: string) => void} announce */
  constructor(backdrop, text, translation, announce) {
    this.backdrop = backdrop;
    this.text = text;
    this.translation = translation;
    this.announce = announce;
    /** @type {[number, number][]} */
    this.links = [];
    /** @type {HTMLSpanElement[][]} spans of the text, and of the translation */
    this.spans = [[], []];
    this.active = -1;
    translation.addEventListener("pointerover", (event) => this.light(1, this.spans[1].indexOf(/** @type {any} */ (event.target))));
    translation.addEventListener("pointerleave", () => this.light(1, -1));
    translation.addEventListener("keydown", (event) => this.#move(event));
    translation.addEventListener("blur", () => this.light(1, -1));
    text.addEventListener("pointermove", (event) => this.light(0, this.#wordAt(event.clientX, event.clientY)));
    text.addEventListener("pointerleave", () => this.light(0, -1));
    for (const name of ["keyup", "click"]) text.addEventListener(name, () => this.#followCaret());
  }

  /** Show a text and its translation, without links. @param {string} source @param {string} target */
  show(source, target) {
    this.links = [];
    this.active = -1;
    this.spans = [writeWhole(this.backdrop, `${source}\n`), writeWhole(this.translation, target)];
  }

  /** Add links between words, and mark the doubtful ones. @param {string} source @param {string} target @param {string[][]} words @param {[number, number][]} links @param {number[]} doubtful */
  link(source, target, words, links, doubtful) {
    this.links = links;
    this.active = -1;
    this.spans = [writeWords(this.backdrop, `${source}\n`, words[0]), writeWords(this.translation, target, words[1])];
    for (const span of doubtful.map((word) => this.spans[1][word]).filter(Boolean)) {
      span.classList.add("doubtful");
      span.title = say("doubtful");
    }
  }

  /** Light a word and those that it is linked to; none for -1. @param {0 | 1} side @param {number} word */
  light(side, word) {
    this.active = side === 1 ? word : -1;
    const others = new Set(this.links.filter((link) => link[side] === word).map((link) => link[1 - side]));
    this.spans[side].forEach((span, i) => span.classList.toggle("here", i === word));
    this.spans[side].forEach((span, i) => span.classList.toggle("lit", i === word && others.size > 0));
    this.spans[1 - side].forEach((span, i) => span.classList.toggle("lit", others.has(i)));
    this.spans[1 - side].forEach((span) => span.classList.remove("here"));
    return [...others].sort((one, other) => one - other).map((other) => this.spans[1 - side][other]?.textContent ?? "");
  }

  /** @param {KeyboardEvent} event */
  #move(event) {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1, Home: -Infinity, End: Infinity }[event.key];
    const spans = this.spans[1];
    if (step === undefined || !spans.length || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    const next = Math.max(0, Math.min(spans.length - 1, this.active < 0 ? (step > 0 && step < 2 ? 0 : spans.length - 1) : this.active + step));
    const others = this.light(1, step === -Infinity ? 0 : next);
    const doubt = spans[this.active].title && ` (${spans[this.active].title})`;
    this.announce(`${spans[this.active].textContent}${doubt} — ${others.join(" ") || say("alone")}`);
  }

  /** Return the word of the text at a place on the screen; -1 for none. @param {number} x @param {number} y */
  #wordAt(x, y) {
    return this.spans[0].findIndex((span) =>
      [...span.getClientRects()].some((box) => box.left <= x && x <= box.right && box.top <= y && y <= box.bottom),
    );
  }

  #followCaret() {
    const place = this.text.selectionStart;
    let end = 0;
    let word = -1;
    this.spans[0].forEach((span, i) => {
      const start = this.text.value.indexOf(span.textContent ?? "", end);
      end = start + (span.textContent ?? "").length;
      if (start <= place && place <= end && word < 0) word = i;
    });
    this.light(0, word);
  }
}
