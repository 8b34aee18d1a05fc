// Chapter 2: byte-pair encoding, one merge after the other, on a text and a word of one's own.

import { button, controls, element, slider, statusLine, widget } from "./widget.js";

const LABELS = {
  en: {
    title: "Merges on your own word",
    hint: "Each step merges the pair of neighbours that is most frequent in the text; of equally frequent ones, the last in the alphabet. Change the text or the word, and move the slider.",
    text: "text to learn from", word: "your word", merges: "merges", next: "one more", back: "one less", made: "merges so far",
    cut: (/** @type {string} */ word, /** @type {number} */ n) => `“${word}” is ${n} ${n === 1 ? "piece" : "pieces"} now.`,
    pair: (/** @type {string} */ one, /** @type {string} */ other, /** @type {number} */ count) => ` The next merge: ${one} + ${other}, which stand side by side ${count} times.`,
    done: " No pair is left in the text.", empty: "Type a word.",
  },
  zh: {
    title: "在你自己的词上合并",
    hint: "每一步都合并文本里出现最多的一对相邻片段；次数相同时，取字母序靠后的一对。改动文本或单词，再移动滑块。",
    text: "用来学习的文本", word: "你的词", merges: "合并次数", next: "多合并一次", back: "少合并一次", made: "到目前为止的合并",
    cut: (/** @type {string} */ word, /** @type {number} */ n) => `“${word}” 现在是 ${n} 个片段。`,
    pair: (/** @type {string} */ one, /** @type {string} */ other, /** @type {number} */ count) => `下一次合并：${one} + ${other}，它们相邻出现了 ${count} 次。`,
    done: "文本里已经没有可以合并的一对了。", empty: "请输入一个词。",
  },
};
const TEXT = "the old dog is sleeping the older dogs are sleeping a man is reading two men are reading the oldest man is walking";
const [WORD, FIRST, MOST] = ["sleepwalking", 4, 60];

/** Return the pieces with each occurrence of a pair merged. @param {string[]} pieces @param {string[]} pair */
function merge(pieces, [one, other]) {
  /** @type {string[]} */
  const merged = [];
  for (let i = 0; i < pieces.length; i++) merged.push(pieces[i] === one && pieces[i + 1] === other ? pieces[i] + pieces[++i] : pieces[i]);
  return merged;
}

/** @param {string[]} pair @param {string[]} other */
const isBefore = (pair, other) => (pair[0] === other[0] ? pair[1] < other[1] : pair[0] < other[0]);

/** Return the pairs in the order in which they are merged, with their counts. @param {string} text */
function learn(text) {
  let words = text.split(/\s+/).filter(Boolean).map((word) => [...word]);
  /** @type {{pair: string[], count: number}[]} */
  const merges = [];
  while (merges.length < MOST) {
    /** @type {Map<string, {pair: string[], count: number}>} */
    const counts = new Map();
    for (const pieces of words) {
      for (let i = 0; i + 1 < pieces.length; i++) {
        const pair = [pieces[i], pieces[i + 1]];
        const known = counts.get(pair.join(" ")) ?? { pair, count: 0 };
        known.count++;
        counts.set(pair.join(" "), known);
      }
    }
    const [best] = [...counts.values()].sort((a, b) => b.count - a.count || (isBefore(a.pair, b.pair) ? 1 : -1));
    if (!best) break;
    merges.push(best);
    words = words.map((pieces) => merge(pieces, best.pair));
  }
  return merges;
}

widget("bpe", LABELS, (place, say) => {
  let merges = learn(TEXT);
  let n = FIRST;
  const text = element("textarea", { rows: 3, value: TEXT });
  const word = element("input", { type: "text", value: WORD, maxLength: 40, spellcheck: false });
  const [pieces, made, line] = [element("p", { className: "bpe-pieces" }), element("ol", { className: "bpe-made", "aria-label": say.made }), statusLine()];
  const range = slider(say.merges, { min: 0, max: MOST, step: 1, value: FIRST }, (value) => (n = value, draw()));
  const input = /** @type {HTMLInputElement} */ (range.querySelector("input"));
  const move = (/** @type {number} */ by) => {
    input.valueAsNumber += by;
    input.dispatchEvent(new Event("input"));
  };
  const draw = () => {
    const cut = merges.slice(0, n).reduce((parts, each) => merge(parts, each.pair), [...word.value.trim()]);
    pieces.replaceChildren(...cut.map((piece) => element("span", { className: "widget-token" }, piece)));
    made.replaceChildren(...merges.slice(0, n).map((each) => element("li", { className: "widget-token" }, each.pair.join(""))));
    const next = merges[n];
    line.textContent = (cut.length ? say.cut(word.value.trim(), cut.length) : say.empty) + (next ? say.pair(next.pair[0], next.pair[1], next.count) : say.done);
  };
  const change = () => {
    merges = learn(text.value);
    input.max = String(merges.length);
    input.dispatchEvent(new Event("input"));
  };
  text.addEventListener("input", change);
  word.addEventListener("input", draw);
  place.append(
    element("label", { className: "widget-field" }, say.text, text), element("label", { className: "widget-field" }, say.word, word),
    controls(range, button(say.back, () => move(-1)), button(say.next, () => move(1))), pieces, line, element("p", { className: "widget-hint" }, say.made), made,
  );
  change();
});
