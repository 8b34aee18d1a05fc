// The page: it translates as one types.

import { Client } from "./client.js";
import { decoded, makeWorker } from "./held.js";
import { showAttention, showSearch } from "./inside.js";
import { changeLanguage, nameOf, say, sayAll } from "./sayings.js";
import { WordLinks } from "./words.js";

/** @typedef {import("../dragoman/dragoman.js").Translation & {detected?: string, missingTerms?: string[]}} Translation a server may detect the language */
/** @typedef {{name: string, directions: [string, string][], bytes: number}} ModelEntry */

/** Milliseconds without a key before a text is translated, and from then on before its words are aligned. */
const [SHORT_PAUSE, LONG_PAUSE] = [120, 200];
const MOST_OTHERS = 4;
const LONG_TEXT = 250;

/** @template {HTMLElement} T @param {string} id @returns {T} */
const byId = (id) => /** @type {T} */ (document.getElementById(id));
/** @type {(id: string) => HTMLSelectElement} */
const choiceById = byId;
const [modelChoice, sourceChoice, targetChoice] = ["model", "source-lang", "target-lang"].map(choiceById);
const [text, termLines] = ["text", "term-lines"].map((id) => /** @type {HTMLTextAreaElement} */ (byId(id)));
const translationPlace = byId("translation");
/** @type {ModelEntry[]} */
const models = JSON.parse(byId("site").textContent ?? "").models;
const client = new Client(makeWorker());
const links = new WordLinks(byId("backdrop"), text, translationPlace, (line) => (byId("link").textContent = line));
/** @type {Map<string, Promise<import("./client.js").Answer>>} */
const loaded = new Map();
/** @type {{result: Translation | null, source: string, chosen: number, beamSize: number, timer: number, asked: number}} */
const shown = { result: null, source: "", chosen: 0, beamSize: 5, timer: 0, asked: 0 };

const currentModel = () => models[Math.max(0, modelChoice.selectedIndex)];
/** Return the language of the text: the chosen one, or the detected one. */
const sourceLanguage = () => (sourceChoice.value === "auto" && shown.result?.detected) || sourceChoice.value;

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
  const answer = await load(model);
  if (answer.error) {
    loaded.delete(model.name); // the next key tries again
    return fail("not_loaded", answer.error);
  }
  shown.beamSize = answer.description?.beamSize ?? 1;
  if (asked !== shown.asked) return;
  tell(more.align || !source.trim() ? "" : say("working"));
  const languages = { sourceLang: sourceChoice.value, targetLang: targetChoice.value };
  const terms = termLines.value.trim() ? { terms: termLines.value } : {}; // for a server's page
  const options = { nBest: shown.beamSize, ...languages, ...terms, ...more };
  const found = await client.translate({ model: model.name, text: source, options });
  if (!found || asked !== shown.asked) return;
  if (found.error) return fail("not_translated", found.error);
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
  byId("notes").textContent = say(key).replace("{0}", () => problem);
  byId("copy").hidden = true;
  offerSwap();
}

/** Translate after a short pause, and align words after another one. */
function schedule() {
  clearTimeout(shown.timer);
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
  translationPlace.classList.remove("stale");
  drawChosen();
  drawOthers();
  const notes = result.flags.map((flag) => say(flag === "copied" ? "copied_part" : flag).replace("{0}", (result.missingTerms ?? []).join(", ")));
  if (result.detected === targetChoice.value) notes.push(say("same"));
  byId("detected").textContent = result.detected ? say("detected").replace("{0}", nameOf(result.detected)) : "";
  byId("notes").textContent = notes.join(" ");
  byId("copy").hidden = !result.text;
  offerSwap();
  if (hasLinks || !source.trim()) drawInside();
}

/** Return the candidates of different texts. */
function different() {
  const candidates = (shown.result?.candidates ?? []).filter(({ text }, i) => text || i === 0);
  return candidates.filter((one, i) => candidates.findIndex((other) => other.text === one.text) === i).slice(0, MOST_OTHERS + 1);
}

function drawChosen() {
  const candidate = different()[shown.chosen];
  const target = candidate?.text ?? "";
  translationPlace.lang = targetChoice.value;
  if (candidate?.alignment && candidate.words && shown.result?.sourceWords) {
    links.link(shown.source, target, [shown.result.sourceWords, candidate.words], candidate.alignment);
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
    Object.assign(words, { textContent: candidate.text, lang: targetChoice.value, dir: "auto" });
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
  const { attention = [], trace = [], text: translation = "" } = shown.result ?? {};
  for (const [id, segments] of /** @type {[string, object[]][]} */ ([["attention", attention], ["search", trace]])) {
    if (!isOpen(id)) continue;
    const place = /** @type {HTMLElement} */ (byId(id).querySelector(".view"));
    if (!segments.length) place.replaceChildren();
    else if (id === "attention") showAttention(place, attention[0], [shown.source, translation]);
    else showSearch(place, trace[0], shown.beamSize);
    if (segments.length === 1) continue;
    const line = segments.length ? say("first") : say(shown.result && shown.source.trim() ? "copied_all" : "empty");
    place.prepend(Object.assign(document.createElement("p"), { textContent: line }));
  }
}

/** Fill a choice of languages, and keep what is chosen if it can be. @param {HTMLSelectElement} choice @param {string[]} codes @param {string} [wanted] */
function fill(choice, codes, wanted = choice.value) {
  const options = [...new Set(codes)].map((code) => new Option(nameOf(code), code));
  choice.replaceChildren(...options);
  if (codes.includes(wanted)) choice.value = wanted;
  choice.disabled = options.length < 2;
}

/** Offer the languages of the model. @param {string} [source] @param {string} [target] */
function offer(source, target) {
  const { directions } = currentModel();
  fill(sourceChoice, directions.map(([code]) => code), source);
  fill(targetChoice, directions.filter(([code]) => code === sourceChoice.value).map(([, code]) => code), target);
  offerSwap();
  text.lang = sourceChoice.value === "auto" ? "" : sourceChoice.value;
}

/** Let the languages be swapped if the model translates the other way, too. */
function offerSwap() {
  const isReversible = currentModel().directions.some(([from, to]) => from === targetChoice.value && to === sourceLanguage());
  /** @type {HTMLButtonElement} */ (byId("swap")).disabled = !isReversible;
}

function restart() {
  offer();
  schedule();
}

byId("model-choice").hidden = models.length < 2;
modelChoice.replaceChildren(...models.map(({ name }) => new Option(name)));
for (const choice of [modelChoice, sourceChoice, targetChoice]) choice.addEventListener("change", restart);
text.addEventListener("input", schedule);
termLines.addEventListener("change", schedule);
byId("swap").addEventListener("click", () => {
  const [source, target] = [targetChoice.value, sourceLanguage()];
  if (shown.result?.text) text.value = translationPlace.textContent ?? "";
  offer(source, target);
  schedule();
});
byId("clear").addEventListener("click", () => {
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
  restart();
});
for (const id of ["attention", "search"]) byId(id).addEventListener("toggle", () => isOpen(id) && details());
sayAll(byId("interface"));
restart();
text.focus();
