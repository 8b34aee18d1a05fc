// The page: it translates as one types.

import { Client } from "./client.js";
import { Documents } from "./documents.js";
import { filled, made } from "./elements.js";
import { decoded, makeWorker } from "./held.js";
import { History } from "./history.js";
import { showAttention, showSearch } from "./inside.js";
import { KeyBox } from "./key.js";
import { Languages } from "./languages.js";
import { Mix } from "./mixing.js";
import { reasons, showReport, summary } from "./report.js";
import { changeLanguage, nameOf, say, sayAll } from "./sayings.js";
import { TermBox } from "./terms.js";
import { WordLinks } from "./words.js";

/** @typedef {import("../dragoman/dragoman.js").Translation & {detected?: string, hasInside?: boolean, report?: import("./report.js").Report}} Translation a server may detect the language, and may have no inside to show */
/** @typedef {{name: string, directions: [string, string][], bytes: number}} ModelEntry */
/** @typedef {{models: ModelEntry[], documents?: string[], needs_key?: boolean}} Site the last two are a server's */

/** Milliseconds without a key before a text is translated, and from then on before its words are aligned. */
const [SHORT_PAUSE, LONG_PAUSE] = [120, 200];
const LONG_TEXT = 250;

/** @template {HTMLElement} T @param {string} id @returns {T} */
const byId = (id) => /** @type {T} */ (document.getElementById(id));
const modelChoice = /** @type {HTMLSelectElement} */ (byId("model"));
const languages = new Languages(byId("source-lang"), byId("target-lang"), byId("swap"), () => restart());
const text = /** @type {HTMLTextAreaElement} */ (byId("text"));
const terms = new TermBox(byId("term-lines"), byId("n-terms"), schedule);
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
/** @type {{result: Translation | null, source: string, mix: Mix, beamSize: number, timer: number, asked: number}} */
const shown = { result: null, source: "", mix: new Mix([]), beamSize: 5, timer: 0, asked: 0 };

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
  const given = terms.value ? { terms: terms.value } : {}; // for a server's page
  const options = { nBest: shown.beamSize, sourceLang: languages.source, targetLang: languages.target, ...given, ...more };
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
  Object.assign(shown, { result: null, source: text.value, mix: new Mix([]) });
  translationPlace.classList.remove("stale");
  drawChosen();
  drawOthers();
  drawInside();
  byId("notes").textContent = key && say(key, problem);
  showReport(byId("text-report"), null);
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
  const isSame = hasLinks && shown.result?.text === result.text;
  const mix = new Mix(result.candidates);
  if (isSame) mix.chosen = mix.options.map((options, i) => options.find(({ text }) => text === shown.mix.chosen[i]?.text) ?? options[0]);
  Object.assign(shown, { result, source, mix });
  if (languages.note(result.detected)) return schedule();
  if (terms.follow(languages.known, languages.target)) return schedule();
  translationPlace.classList.remove("stale");
  drawChosen();
  if (!isSame) drawOthers();
  const { flags, report } = result;
  const isOne = !report || report.segments < 2;
  const { confidence = null, flagged: [{ missing_terms = [] } = {}] = [] } = report ?? {};
  const notes = [isOne ? reasons({ flags, missing_terms, confidence }) : summary(report)];
  if (!isSame) showReport(byId("text-report"), isOne ? null : report, languages.known, languages.target);
  if (result.detected === languages.target) notes.push(say("same"));
  byId("detected").textContent = result.detected ? say("detected", nameOf(result.detected)) : "";
  byId("notes").textContent = notes.join(" ");
  byId("copy").hidden = !result.text;
  if (hasLinks || !source.trim()) drawInside();
  if (hasLinks) past.note(entry());
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
  const { text: target, linked } = shown.mix;
  translationPlace.lang = languages.target;
  if (linked && shown.result?.sourceWords) {
    links.link(shown.source, target, [shown.result.sourceWords, linked.words], linked.alignment, linked.doubtful);
  } else if (translationPlace.textContent !== target || !target) links.show(shown.source, target);
}

/** List the translations of each sentence; those of the only one are not folded. */
function drawOthers() {
  const open = [...shown.mix.options.keys()].filter((i) => shown.mix.options[i].length > 1);
  byId("others").hidden = !open.length;
  byId("others-title").textContent = say(open.length > 1 ? "others_each" : "others");
  const lists = open.map((i) => {
    const [list, title] = [made("ul"), made("summary", "", languages.target)];
    const buttons = shown.mix.options[i].map(({ text, score }, rank) => {
      const number = Object.assign(made("span", score.toFixed(2)), { className: "number" });
      const button = filled("button", made("span", text.trim(), languages.target), number);
      button.type = "button";
      button.addEventListener("click", () => {
        shown.mix.chosen[i] = shown.mix.options[i][rank]; // with words, which are aligned later
        mark();
        drawChosen();
      });
      list.append(filled("li", button));
      return button;
    });
    const mark = () => {
      const { chosen, options } = shown.mix;
      title.textContent = chosen[i].text.trim();
      buttons.forEach((button, rank) => button.setAttribute("aria-pressed", String(options[i][rank] === chosen[i])));
    };
    mark();
    return open.length > 1 ? filled("details", title, list) : list;
  });
  byId("alternatives").replaceChildren(...lists);
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
  terms.show(languages.known, languages.target);
  schedule();
}

byId("model-choice").hidden = models.length < 2;
modelChoice.replaceChildren(...models.map(({ name }) => new Option(name)));
new Documents(site.documents ?? [], () => ({ source: languages.source, target: languages.target, key: keyBox.value, terms: terms.value }));
modelChoice.addEventListener("change", () => restart());
text.addEventListener("input", schedule);
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
