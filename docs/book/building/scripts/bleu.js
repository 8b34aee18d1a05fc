// Chapter 14: BLEU of a sentence that one types, with the n-grams that count.

import { button, controls, element, headRow, shade, statusLine, widget } from "./widget.js";

const LABELS = {
  en: {
    title: "What BLEU counts",
    sentences: ["Ein Mann reitet auf einem Pferd.", "Ein Mann reitet auf einem braunen Pferd."],
    hint: "Change the output or the reference. Choose a length n: the words of the output that stand in a matched n-gram are shaded.",
    reference: "reference", output: "output", length: (/** @type {number} */ n) => `n = ${n}`, matched: "matched", all: "of", share: "share",
    word: (/** @type {string} */ word, /** @type {boolean} */ isLit) => `${word}: ${isLit ? "in a match" : "in no match"}`,
    words: "words of the output",
    result: (/** @type {string} */ score, /** @type {string} */ penalty) => `BLEU is ${score}; the brevity penalty is ${penalty}.`,
    zero: " A share is zero, and so is the product. (If the output has n-grams of that length and none matches, sacreBLEU counts a fraction of a match.)",
  },
  zh: {
    title: "BLEU 数的是什么",
    sentences: ["一个男人骑着一匹马。", "一个男人骑着一匹棕色的马。"],
    hint: "改动译文或参考译文，再选一个长度 n：译文里属于匹配的 n 元语法的字会加上底色。",
    reference: "参考译文", output: "译文", length: (/** @type {number} */ n) => `n = ${n}`, matched: "匹配", all: "总数", share: "比例",
    word: (/** @type {string} */ word, /** @type {boolean} */ isLit) => `${word}：${isLit ? "在匹配中" : "不在匹配中"}`,
    words: "译文的字",
    result: (/** @type {string} */ score, /** @type {string} */ penalty) => `BLEU 是 ${score}；简短惩罚是 ${penalty}。`,
    zero: "有一个比例是零，乘积也就是零。（如果译文有这个长度的 n 元语法，只是没有一个匹配，sacreBLEU 会按不到一个匹配来计。）",
  },
};
const MOST = 4;

/** Cut a text into words; each Chinese character and mark is one. @param {string} text */
const wordsOf = (text) => text.replaceAll(".", " .").replace(/[\u3000-\u303f\u4e00-\u9fff\uff00-\uffef]/g, " $& ").split(/\s+/).filter(Boolean);

/** Return the places of n-grams in some words. @param {string[]} words @param {number} n */
function ngrams(words, n) {
  return words.slice(n - 1).map((_, i) => words.slice(i, i + n).join(" "));
}

/** Return the n-grams of the output, each with its match: none counts more often than in the reference. @param {string[]} output @param {string[]} reference @param {number} n */
function matches(output, reference, n) {
  const left = ngrams(reference, n);
  return ngrams(output, n).map((ngram) => {
    const at = left.indexOf(ngram);
    if (at >= 0) left.splice(at, 1);
    return at >= 0;
  });
}

widget("bleu", LABELS, (place, say) => {
  let chosen = 2;
  const fields = say.sentences.map((value) => element("input", { type: "text", value, maxLength: 200, spellcheck: false }));
  const [body, line] = [element("tbody"), statusLine()];
  const shown = element("p", { className: "bleu-words", role: "list", "aria-label": say.words });
  const lengths = Array.from({ length: MOST }, (_, i) => button(say.length(i + 1), () => (chosen = i + 1, draw())));
  const draw = () => {
    const [reference, output] = fields.map((field) => wordsOf(field.value));
    const found = lengths.map((_, i) => matches(output, reference, i + 1));
    const shares = found.map((each) => each.filter(Boolean).length / Math.max(each.length, 1));
    const lit = output.map((_, i) => found[chosen - 1].some((isMatch, at) => isMatch && at <= i && i < at + chosen));
    lengths.forEach((each, i) => each.setAttribute("aria-pressed", String(i + 1 === chosen)));
    shown.replaceChildren(...output.map((word, i) => {
      const token = element("span", { className: "widget-token", role: "listitem", "aria-label": say.word(word, lit[i]) }, word);
      return shade(token, lit[i] ? 0.7 : 0);
    }));
    body.replaceChildren(...found.map((each, i) => {
      const cell = shade(element("span", { className: "widget-cell" }, shares[i].toFixed(2)), shares[i]);
      const numbers = [each.filter(Boolean).length, each.length].map((number) => element("td", {}, String(number)));
      return element("tr", {}, element("th", { scope: "row" }, say.length(i + 1)), ...numbers, element("td", {}, cell));
    }));
    const penalty = output.length ? Math.min(1, Math.exp(1 - reference.length / output.length)) : 0;
    const score = 100 * penalty * shares.reduce((product, share) => product * share, 1) ** (1 / MOST);
    line.textContent = say.result(score.toFixed(2), penalty.toFixed(2)) + (shares.includes(0) ? say.zero : "");
  };
  for (const field of fields) field.addEventListener("input", draw);
  const [reference, output] = [say.reference, say.output].map((name, i) => element("label", { className: "widget-field" }, name, fields[i]));
  place.append(reference, output, controls(...lengths), shown, element("table", { className: "widget-table" }, element("thead", {}, headRow([say.matched, say.all, say.share])), body), line);
  draw();
});
