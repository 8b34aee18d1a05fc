// The inside of a translation: the pages of `dragoman inspect`, each in a frame of its own.

import { interfaceLanguage } from "./sayings.js";
import { treeOf } from "./search_tree.js";
import { VIEW_WORDS } from "./view_words.js";
import { PLACEHOLDER, VIEWS } from "./views.js";

const SCALE = 10000;

/** Show a page with its data in a frame. @param {HTMLElement} place @param {keyof typeof VIEWS} name @param {object} data */
function showView(place, name, data) {
  const json = JSON.stringify({ ...data, words: VIEW_WORDS[interfaceLanguage()] }).replace(/[<>&]/g, (one) => `\\u00${one.charCodeAt(0).toString(16)}`);
  const frame = document.createElement("iframe");
  frame.title = name;
  frame.addEventListener("load", () => {
    const inner = /** @type {Document} */ (frame.contentDocument);
    const header = inner.getElementById("header");
    if (header) header.style.display = "none";
    Object.assign(inner.body.style, { padding: "4px", overflow: "hidden" });
    const first = inner.querySelector("section");
    if (first && name === "search") first.style.marginTop = "0";
    const fit = () => (frame.style.height = `${inner.body.scrollHeight + 8}px`);
    new ResizeObserver(fit).observe(inner.body);
    fit();
  });
  frame.srcdoc = VIEWS[name].replace(PLACEHOLDER, () => json);
  place.replaceChildren(frame);
}

/** Show the attention to a source. @param {HTMLElement} place @param {import("../dragoman/dragoman.js").AttentionMap} map @param {[string, string]} texts */
export function showAttention(place, map, texts) {
  const weights = map.weights.map((layer) => layer.map((head) => head.map((row) => row.map((weight) => Math.round(weight * SCALE)))));
  const { source, read, written } = map;
  const [sourceText, targetText] = texts;
  const open = { kind: "cross", layer: weights.length - 1, head: "mean" };
  showView(place, "attention", { source_text: sourceText, target_text: targetText, source, read, written, scale: SCALE, weights: { cross: weights }, open });
}

/** Show a search. @param {HTMLElement} place @param {import("../dragoman/dragoman.js").Trace} trace @param {number} beamSize */
export function showSearch(place, trace, beamSize) {
  const nodes = treeOf(trace);
  showView(place, "search", { source_text: trace.source, target_text: trace.text, beam_size: beamSize, length_penalty: 0, nodes });
}
