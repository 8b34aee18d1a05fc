// The page: it translates as one types.

import { Client } from "./client.js";
import { Documents } from "./documents.js";
import { decoded, makeWorker } from "./held.js";
import { History } from "./history.js";
import { showAttention, showSearch } from "./inside.js";
import { KeyBox } from "./key.js";
import { Languages } from "./languages.js";
import { changeLanguage, nameOf, say, sayAll } from "./sayings.js";
import { WordLinks } from "./words.js";

/** @typedef {import("../dragoman/dragoman.js").Translation & {detected?: string, hasInside?: boolean, missingTerms?: string[], confidence?: number}} Translation a server may detect the language, and may have no inside to show */
/** @typedef {{name: string, directions: [string, string][], bytes: number}} ModelEntry */
/** @typedef {{models: ModelEntry[], documents?: string[], needs_key?: boolean}} Site the last two are a server's */

/** Milliseconds without a key before a text is translated, and from then on before its words are aligned. */
const [SHORT_PAUSE, LONG_PAUSE] = [120, 200];
const MOST_OTHERS = 4;
const LONG_TEXT = 250;

/** @template {HTMLElement} T @param {string} id @returns {T} */
const byId = (id) => /** @type {T} */ (document.getElementById(id));
const modelChoice = /** @type {HTMLSelectElement} */ (byId("model"));
const languages = new Languages(byId("source-lang"), byId("target-lang"), byId("swap"), () => restart());
const [text, termLines] = ["text", "term-lines"].map((id) => /** @type {HTMLTextAreaElement} */ (byId(id)));
const translationPlace = byId("translation");
/** @type {Site} */
const site = JSON.parse(byId("site").textContent ?? "");
const { models } = site;
const keyBox = new KeyBox(Boolean(site.needs_key), schedule);
const past = new History(byId("history"), again);
const client = new Client(makeWorker());
const links = new WordLinks(byId("backdrop"), text, translationPlace, (line) => (byId("link").textContent = line));
/** @type {Map<string, Promise<import("./client.js").Answer>>} */
const loaded = new Map();
/** @type {{result: Translation | null, source: string, chosen: number, beamSize: number, timer: number, asked: number}} */
const shown = { result: null, source: "", chosen: 0, beamSize: 5, timer: 0, asked: 0 };

const currentModel = () => models[Math.max(0, modelChoice.selectedIndex)];

/** Load a model once. @param {ModelEntry} model */
function load(model) {
  let answer = loaded.get(model.name);
  if (!answer) {
    const held = document.getElementById(`model-${model.name}`);
    const wasm = held ? engineBytes() : undefined;
    const file = held ? decoded(held).buffer : new URL(`models/${model.name}.dragoman`, location.href).href;
    const onProgress = (/** @type {number} */ bytes) => tell(`${say("loading")} … ${Math.floor((100 * bytes) / model.bytes)} %`);
    answer = client.send({ model: model.name, file, wasm }, file instanceof ArrayBuffer ? [file] : [], onProgress);
    loaded.set(model.name, answer);
  }
  return answer;
}

/** @type {ArrayBuffer | undefined} */
let engine;
function engineBytes() {
  engine ??= decoded(byId("wasm")).buffer;
  return engine;
}

/** @param {string} line */
function tell(line) {
  byId("status").textContent = line;
}

/** Translate the text as it is now. @param {import("../dragoman/options.js").Options} more */
async function translate(more) {
  const model = currentModel();
  const source = text.value;
  const asked = ++shown.asked;
  if (keyBox.isMissing) return fail(source.trim() ? "no_key" : "", "");
  const answer = await load(model);
  if (answer.error) {
    loaded.delete(model.name); // the next key tries again
    return fail("not_loaded", answer.error);
  }
  shown.beamSize = answer.description?.beamSize ?? 1;
  if (asked !== shown.asked) return;
  tell(more.align || !source.trim() ? "" : say("working"));
  const terms = termLines.value.trim() ? { terms: termLines.value } : {}; // for a server's page
  const options = { nBest: shown.beamSize, sourceLang: languages.source, targetLang: languages.target, ...terms, ...more };
  const found = await client.translate({ model: model.name, text: source, options, key: keyBox.value });
  if (!found || asked !== shown.asked) return;
  if (found.error) return fail(found.error === "Invalid API key" ? "wrong_key" : "not_translated", found.error);
  tell("");
  show(source, /** @type {Translation} */ (found.translation), Boolean(more.align));
  if (!more.align && source.trim()) shown.timer = setTimeout(details, LONG_PAUSE);
}

/** Show a problem in place of a translation. @param {string} key of SAYINGS @param {string} problem */
function fail(key, problem) {
  tell("");
  Object.assign(shown, { result: null, source: text.value });
  translationPlace.classList.remove("stale");
  drawChosen();
  drawOthers();
  drawInside();
  byId("notes").textContent = key && say(key).replace("{0}", () => problem);
  byId("copy").hidden = true;
  languages.note();
}

/** Translate after a short pause, and align words after another one. */
function schedule() {
  clearTimeout(shown.timer);
  past.drop();
  shown.asked++;
  translationPlace.classList.add("stale");
  byId("clear").hidden = !text.value;
  document.body.classList.toggle("long", text.value.length > LONG_TEXT);
  links.show(text.value, translationPlace.textContent ?? "");
  shown.timer = setTimeout(() => translate({}), SHORT_PAUSE);
}

/** @param {string} id */
const isOpen = (id) => /** @type {HTMLDetailsElement} */ (byId(id)).open;

/** Align words, and look inside if somebody does. */
function details() {
  if (text.value.trim()) return translate({ align: true, attention: isOpen("attention"), trace: isOpen("search") });
  drawInside();
}

/** @param {string} source @param {Translation} result @param {boolean} hasLinks */
function show(source, result, hasLinks) {
  if (!hasLinks || shown.result?.text !== result.text) shown.chosen = 0;
  Object.assign(shown, { result, source });
  if (languages.note(result.detected)) return schedule();
  translationPlace.classList.remove("stale");
  drawChosen();
  drawOthers();
  const notes = result.flags.map((flag) => say(flag === "copied" ? "copied_part" : flag).replace("{0}", (result.missingTerms ?? []).join(", ")));
  if (result.confidence !== undefined) notes.push(say("confidence").replace("{0}", result.confidence.toFixed(2)));
  if (result.detected === languages.target) notes.push(say("same"));
  byId("detected").textContent = result.detected ? say("detected").replace("{0}", nameOf(result.detected)) : "";
  byId("notes").textContent = notes.join(" ");
  byId("copy").hidden = !result.text;
  if (hasLinks || !source.trim()) drawInside();
  if (hasLinks) past.note(entry());
}

/** Return the candidates of different texts. */
function different() {
  const candidates = (shown.result?.candidates ?? []).filter(({ text }, i) => text || i === 0);
  return candidates.filter((one, i) => candidates.findIndex((other) => other.text === one.text) === i).slice(0, MOST_OTHERS + 1);
}

/** Return what is shown, for the history. */
function entry() {
  const { source, target } = languages;
  return { model: currentModel().name, source, target, text: shown.source, translation: translationPlace.textContent ?? "" };
}

/** Translate what was translated before. @param {import("./history.js").Entry} old */
function again({ model, source, target, text: source_ }) {
  const number = models.findIndex(({ name }) => name === model);
  if (number >= 0) modelChoice.selectedIndex = number;
  text.value = source_;
  text.focus();
  restart(source, target);
}

function drawChosen() {
  const candidate = different()[shown.chosen];
  const target = candidate?.text ?? "";
  translationPlace.lang = languages.target;
  if (candidate?.alignment && candidate.words && shown.result?.sourceWords) {
    links.link(shown.source, target, [shown.result.sourceWords, candidate.words], candidate.alignment, candidate.doubtful ?? []);
  } else if (translationPlace.textContent !== target || !target) links.show(shown.source, target);
}

function drawOthers() {
  const candidates = different();
  byId("others").hidden = candidates.length < 2;
  const items = candidates.map((candidate, i) => {
    const button = document.createElement("button");
    button.type = "button";
    button.setAttribute("aria-pressed", String(i === shown.chosen));
    const [words, score] = [document.createElement("span"), document.createElement("span")];
    Object.assign(words, { textContent: candidate.text, lang: languages.target, dir: "auto" });
    Object.assign(score, { textContent: candidate.score.toFixed(2), className: "number" });
    button.append(words, score);
    button.addEventListener("click", () => {
      shown.chosen = i;
      drawChosen();
      for (const other of byId("alternatives").querySelectorAll("button")) other.setAttribute("aria-pressed", String(other === button));
    });
    const item = document.createElement("li");
    item.append(button);
    return item;
  });
  byId("alternatives").replaceChildren(...items);
}

/** Draw the pages about the inside that are open; of a text in several segments, they show the first. */
function drawInside() {
  const { attention = [], trace = [], text: translation = "", hasInside = true } = shown.result ?? {};
  for (const [id, segments] of /** @type {[string, object[]][]} */ ([["attention", attention], ["search", trace]])) {
    if (!isOpen(id)) continue;
    const place = /** @type {HTMLElement} */ (byId(id).querySelector(".view"));
    if (!segments.length) place.replaceChildren();
    else if (id === "attention") showAttention(place, attention[0], [shown.source, translation]);
    else showSearch(place, trace[0], shown.beamSize);
    if (segments.length === 1) continue;
    const reason = !shown.result || !shown.source.trim() ? "empty" : hasInside ? "copied_all" : "not_shown";
    const line = say(segments.length ? "first" : reason);
    place.prepend(Object.assign(document.createElement("p"), { textContent: line }));
  }
}

/** Translate anew, between other languages. @param {string} [source] @param {string} [target] */
function restart(source, target) {
  languages.offer(currentModel().directions, source, target);
  text.lang = languages.source === "auto" ? "" : languages.source;
  schedule();
}

byId("model-choice").hidden = models.length < 2;
modelChoice.replaceChildren(...models.map(({ name }) => new Option(name)));
new Documents(site.documents ?? [], () => ({ source: languages.source, target: languages.target, key: keyBox.value }));
modelChoice.addEventListener("change", () => restart());
text.addEventListener("input", schedule);
termLines.addEventListener("change", schedule);
byId("swap").addEventListener("click", () => {
  past.add();
  const [source, target] = [languages.target, languages.known];
  if (shown.result?.text) text.value = translationPlace.textContent ?? "";
  restart(source, target);
});
byId("clear").addEventListener("click", () => {
  past.add();
  text.value = "";
  text.focus();
  schedule();
});
byId("copy").addEventListener("click", async () => {
  await navigator.clipboard.writeText(translationPlace.textContent ?? "");
  tell(say("copied"));
});
byId("interface").addEventListener("click", () => {
  changeLanguage();
  sayAll(byId("interface"));
  past.draw();
  restart();
});
for (const id of ["attention", "search"]) byId(id).addEventListener("toggle", () => isOpen(id) && details());
sayAll(byId("interface"));
restart();
text.focus();
