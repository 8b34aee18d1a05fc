// The worker of a server's page: it asks the server, in place of a model in the browser, and answers as page/worker.js.

import { answerCalls } from "../page/calls.js";

/** @typedef {import("../dragoman/dragoman.js").Translation} Translation */
/** @typedef {{text: string, score: number, log_prob: number, alignment: [number, number][] | null, words: string[] | null}} Found */
/** @typedef {{source: string, words: string[] | null, alternatives: Found[], missing_terms: string[]}} Line */
/** @typedef {{detected?: string, missingTerms: string[]}} Told what only a server tells */
/** @typedef {{text: string, source: string, confidence: number | null, flags: string[], lines: Line[]}} Answer */

/** The number of translations of each line. */
const N_BEST = 5;

/** Translate a text by the server. @param {string} text @param {import("../dragoman/options.js").Options & {terms?: string}} options @returns {Promise<Translation & Told>} */
async function translate(text, { sourceLang, targetLang, nBest, align, terms }) {
  const body = { texts: [text], source: sourceLang, target: targetLang, n_best: nBest, align: Boolean(align), terms };
  const headers = { "Content-Type": "application/json" };
  const response = await fetch("../v1/translate", { method: "POST", headers, body: JSON.stringify(body) });
  const answer = await response.json();
  if (!response.ok) throw new Error(answer.error ?? response.statusText);
  return translationOf(text, answer.translations[0]);
}

/** Join the lines of an answer. @param {string} text @param {Answer} answer @returns {Translation & Told} */
function translationOf(text, { text: best, source, confidence, flags, lines }) {
  const ranks = Math.min(...lines.map((line) => line.alternatives.length));
  const candidates = lines.length ? Array.from({ length: ranks }, (_, rank) => joined(text, lines, rank)) : [];
  if (!candidates.length && best) candidates.push({ text: best, score: 0, logProb: 0, tokens: [] });
  const sourceWords = lines.every((line) => line.words) ? lines.flatMap((line) => line.words ?? []) : undefined;
  const detected = confidence ? source : undefined;
  const missingTerms = [...new Set(lines.flatMap((line) => line.missing_terms))];
  return { text: best, score: candidates[0]?.score ?? 0, tokens: [], candidates, flags, sourceWords, detected, missingTerms };
}

/** Return the text with the translation of one rank in place of each line. @param {string} text @param {Line[]} lines @param {number} rank @returns {import("../dragoman/dragoman.js").Candidate} */
function joined(text, lines, rank) {
  const candidate = { text: "", score: 0, logProb: 0, tokens: [], words: /** @type {string[]} */ ([]), alignment: /** @type {[number, number][]} */ ([]) };
  let [end, firstWord, isAligned] = [0, 0, true];
  for (const { source, words, alternatives } of lines) {
    const found = alternatives[rank];
    const start = text.indexOf(source, end);
    candidate.text += text.slice(end, start) + found.text;
    end = start + source.length;
    candidate.score += found.score;
    candidate.logProb += found.log_prob;
    isAligned &&= Boolean(found.alignment && found.words);
    for (const [from, to] of found.alignment ?? []) candidate.alignment.push([from + firstWord, to + candidate.words.length]);
    candidate.words.push(...(found.words ?? []));
    firstWord += words?.length ?? 0;
  }
  candidate.text += text.slice(end);
  return isAligned ? candidate : { ...candidate, words: undefined, alignment: undefined };
}

answerCalls(async (/** @type {import("../page/worker.js").Call} */ { file, text, options = {} }) =>
  file !== undefined ? { description: { beamSize: N_BEST } } : { translation: await translate(text ?? "", options) });
