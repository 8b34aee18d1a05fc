// The worker of a server's page: it asks the server, in place of a model in the browser, and answers as page/worker.js.

import { answerCalls } from "../page/calls.js";

/** @typedef {import("../dragoman/dragoman.js").Translation} Translation */
/** @typedef {{text: string, score: number, log_prob: number, parts: {text: string, score: number}[], alignment: [number, number][] | null, words: string[] | null}} Found */
/** @typedef {{source: string, words: string[] | null, alternatives: Found[], segments: number, text: string, doubtful: number[] | null} & import("../page/report.js").Checked} Line */
/** @typedef {{parent: number, id: number, token: string, log_prob: number, total: number}} Node */
/** @typedef {{ids: number[], finished: boolean, score: number, log_prob: number, log_probs: number[]}} Hypothesis */
/** @typedef {{source_text: string, target_text: string, source: string[], read: string[], written: string[], attention: number[][][][], nodes: Node[], hypotheses: Hypothesis[]}} Inside */
/** @typedef {{text: string, source: string, detected_confidence: number | null, flags: string[], lines: Line[], inside: Inside | null}} Answer */
/** @typedef {Translation & {detected?: string, hasInside?: boolean, report?: import("../page/report.js").Report}} Shown */

/** The number of translations of each line, by what the server multiplies the weights of attention, and the lines to check that are listed. */
const [N_BEST, SCALE, MOST_LISTED] = [5, 10000, 20];

/** Translate a text by the server. @param {string} text @param {string} key @param {import("../dragoman/options.js").Options & {terms?: string}} options @returns {Promise<Shown>} */
async function translate(text, key, { sourceLang, targetLang, nBest, align, attention, trace, terms }) {
  const inside = Boolean(attention || trace);
  const body = { texts: [text], source: sourceLang, target: targetLang, n_best: nBest, align: Boolean(align), doubts: Boolean(align), inside, terms };
  const headers = { "Content-Type": "application/json", ...(key ? { Authorization: `Bearer ${key}` } : {}) };
  const response = await fetch("../v1/translate", { method: "POST", headers, body: JSON.stringify(body) });
  const answer = await response.json();
  if (!response.ok) throw new Error(answer.error ?? response.statusText);
  const [translation] = answer.translations;
  return { ...translationOf(text, translation), ...(inside ? insideOf(translation) : {}) };
}

/** Return the inside of an answer as the page knows it, once for each segment: the server shows the first. @param {Answer} answer @returns {Partial<Shown>} */
function insideOf({ inside, lines }) {
  if (!inside) return { hasInside: false };
  const { source, read, written, attention, source_text, target_text, nodes, hypotheses } = inside;
  const weights = attention.map((layer) => layer.map((head) => head.map((row) => row.map((weight) => weight / SCALE))));
  const trace = {
    source: source_text,
    text: target_text,
    nodes: nodes.map(({ log_prob: logProb, ...node }) => ({ ...node, logProb })),
    candidates: hypotheses.map(({ log_prob: logProb, log_probs: logProbs, ...one }) => ({ ...one, logProb, logProbs, faults: [] })),
  };
  const n = lines.reduce((sum, line) => sum + line.segments, 0);
  return { attention: Array(n).fill({ source, read, written, weights }), trace: Array(n).fill(trace) };
}

/** Join the lines of an answer. @param {string} text @param {Answer} answer @returns {Shown} */
function translationOf(text, { text: best, source, detected_confidence: detection, flags, lines }) {
  const ranks = Math.max(...lines.map((line) => line.alternatives.length));
  const candidates = lines.length ? Array.from({ length: ranks }, (_, rank) => joined(text, lines, rank)) : [];
  if (!candidates.length && best) candidates.push({ text: best, score: 0, logProb: 0, tokens: [], parts: [{ text: best, score: 0 }] });
  const sourceWords = lines.every((line) => line.words) ? lines.flatMap((line) => line.words ?? []) : undefined;
  const detected = detection ? source : undefined;
  return { text: best, score: candidates[0]?.score ?? 0, tokens: [], candidates, flags, sourceWords, detected, report: reportOf(lines) };
}

/** Return what is to be checked of the lines. @param {Line[]} lines @returns {import("../page/report.js").Report} */
function reportOf(lines) {
  const flagged = lines.map(({ source, text, ...line }, i) => ({ ...line, number: i + 1, text: source, translation: text })).filter((line) => line.flags.length);
  /** @type {Record<string, number>} */
  const flags = {};
  for (const flag of flagged.flatMap((line) => line.flags)) flags[flag] = (flags[flag] ?? 0) + 1;
  const known = lines.flatMap(({ confidence }) => confidence ?? []);
  const confidence = known.length ? known.reduce((sum, one) => sum + one, 0) / known.length : null;
  return { segments: lines.length, to_check: flagged.length, flags, flagged: flagged.slice(0, MOST_LISTED), confidence };
}

/** Return the text with the translation of one rank in place of each line, or with its best if it has fewer. @param {string} text @param {Line[]} lines @param {number} rank @returns {import("../dragoman/dragoman.js").Candidate} */
function joined(text, lines, rank) {
  const candidate = { text: "", score: 0, logProb: 0, tokens: [], parts: /** @type {{text: string, score: number}[]} */ ([]), words: /** @type {string[]} */ ([]), doubtful: /** @type {number[]} */ ([]), alignment: /** @type {[number, number][]} */ ([]) };
  let [end, firstWord, isAligned] = [0, 0, true];
  for (const { source, words, alternatives, doubtful } of lines) {
    const found = alternatives[rank] ?? alternatives[0];
    const start = text.indexOf(source, end);
    const isCut = alternatives.every(({ parts }) => parts.length === found.parts.length && parts.length > 0);
    candidate.parts.push({ text: text.slice(end, start), score: 0 }, ...(isCut ? found.parts : [{ text: found.text, score: found.score }]));
    end = start + source.length;
    candidate.score += found.score;
    candidate.logProb += found.log_prob;
    isAligned &&= Boolean(found.alignment && found.words);
    for (const [from, to] of found.alignment ?? []) candidate.alignment.push([from + firstWord, to + candidate.words.length]);
    if (found === alternatives[0]) candidate.doubtful.push(...(doubtful ?? []).map((word) => word + candidate.words.length));
    candidate.words.push(...(found.words ?? []));
    firstWord += words?.length ?? 0;
  }
  candidate.parts.push({ text: text.slice(end), score: 0 });
  candidate.text = candidate.parts.map((part) => part.text).join("");
  return isAligned ? candidate : { ...candidate, words: undefined, alignment: undefined };
}

answerCalls(async (/** @type {import("../page/worker.js").Call} */ { file, text, key = "", options = {} }) =>
  file !== undefined ? { description: { beamSize: N_BEST } } : { translation: await translate(text ?? "", key, options) });
