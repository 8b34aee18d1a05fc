// Translate in JavaScript: `const translator = await Translator.load("model.dragoman")`, then `translator.translate(text)`.

import { linkWords, placesInParts, tokenWeights, wordsOf } from "./alignment.js";
import { choose } from "./choosing.js";
import { isCopied } from "./cutting.js";
import { hasLoneQuote } from "./frame_quotes.js";
import { Engine } from "./engine.js";
import { fetchBytes, readModelFile } from "./model_file.js";
import { requestOf, searchOf } from "./options.js";
import { Planner } from "./planning.js";
import { Tokenizer } from "./tokenizer.js";

/** @typedef {import("./options.js").Options} Options */

/**
 * @typedef {object} Candidate
 * @property {string} text
 * @property {number} score the sum over the segments
 * @property {number} logProb
 * @property {string[]} tokens
 * @property {{text: string, score: number}[]} parts the translation of each segment, with the white space before it
 * @property {[number, number][]} [alignment] numbers of a source word and a target word
 * @property {string[]} [words] as `alignment` numbers them
 * @property {number[]} [doubtful] words of which a server is not sure
 */

/**
 * @typedef {object} AttentionMap of one segment
 * @property {string[]} source its tokens, the end mark included
 * @property {string[]} read the tokens that attend, the start mark first
 * @property {string[]} written the token that each of them writes
 * @property {number[][][][]} weights (layers, heads, read, source)
 */

/**
 * @typedef {object} Translation
 * @property {string} text
 * @property {number} score
 * @property {string[]} tokens
 * @property {Candidate[]} candidates the best first; none for an empty text
 * @property {string[]} flags reasons to check it: repetition, length, copied, unusual, span
 * @property {[number, number][]} [alignment] of the best candidate
 * @property {string[]} [sourceWords] as `alignment` numbers them
 * @property {AttentionMap[]} [attention] of each segment that was searched for
 * @property {Trace[]} [trace] of each segment that was searched for
 */

/**
 * @typedef {object} Trace all tokens that a search has read, and its candidates, which are paths of such tokens
 * @property {string} source
 * @property {string} text
 * @property {(import("./engine.js").TraceNode & {token: string})[]} nodes the first is the start mark
 * @property {import("./engine.js").Candidate[]} candidates
 */

/** @typedef {import("./planning.js").PlannedSegment & {candidates: import("./choosing.js").SegmentCandidate[], losses: string[], nodes: import("./engine.js").TraceNode[]}} Done */

/** Return false for marks and emoji, which are the same in all languages, so that copying them needs no flag. @param {string} text */
const hasText = (text) => /[\p{L}\p{N}]/u.test(text);

const FLAGS = ["repetition", "length", "copied", "unusual", "span"];

export class Translator {
  /**
   * Load a model.
   *
   * @param {string | URL | ArrayBuffer | Uint8Array} model the address of its file, or the bytes
   * @param {{wasm?: string | URL | ArrayBuffer | Uint8Array, onProgress?: (bytes: number, all: number) => void}} [options]
   *   wasm: the engine, if it does not lie beside this module
   * @returns {Promise<Translator>}
   * @throws {Error} a file cannot be fetched, is damaged or of another version, or there is not enough memory
   */
  static async load(model, { wasm = new URL("./dragoman.wasm", import.meta.url), onProgress } = {}) {
    const [engine, file] = await Promise.all([fetchBytes(wasm).then(Engine.create), fetchBytes(model, onProgress)]);
    return new Translator(engine, file);
  }

  /** @param {Engine} engine @param {Uint8Array} file */
  constructor(engine, file) {
    const { description, part } = readModelFile(file);
    this.description = description;
    const { source, target } = description.tokenizers;
    this.source = new Tokenizer(source, part("source_pieces") ?? part("pieces"));
    this.target = new Tokenizer(target, part("target_pieces") ?? part("pieces"));
    this.model = engine.load(description.config, /** @type {Uint8Array} */ (part("weights")));
    this.planner = new Planner(description, this.source, this.target);
  }

  /** The pairs of languages that the model was trained for. */
  get directions() {
    return this.description.directions;
  }

  /** Give the memory of the model back. */
  free() {
    this.model.free();
  }

  /**
   * Translate a text. It takes as long as the search: use a worker in a page.
   *
   * @param {string} text @param {Options} [options]
   * @returns {Translation}
   * @throws {Error} an option or a language is not known, the prefix is too long, or time or memory is not enough
   */
  translate(text, options = {}) {
    const [search, request] = [searchOf(options, this.description.search), requestOf(options)];
    const plan = this.planner.plan(text, { ...request, maxLength: search.maxLength });
    const done = this.#search(plan, search);
    const hasMore = search.nBest < search.beamSize;
    const others = hasMore && hasLosses(done) ? this.#search(plan, { ...search, nBest: search.beamSize }) : done;
    return this.#finish(plan, hasLosses(others) ? done : others, search.nBest, options);
  }

  /** Search for each segment. @param {import("./planning.js").Plan} plan @param {import("./engine.js").Search} search @returns {Done[]} */
  #search(plan, search) {
    const found = plan.segments.map((segment) => {
      if (isCopied(segment)) return null;
      return this.model.translate(segment.ids, search, segment.prefixIds, segment.forbiddenIds);
    });
    const nBest = Math.min(...found.map((each) => each?.candidates.length ?? Infinity));
    return plan.segments.map((segment, i) => {
      const result = found[i];
      if (!result) {
        const candidate = copiedCandidate(segment.prefix ? `${segment.prefix} ${segment.text}` : segment.written ?? segment.text);
        return { ...segment, candidates: Array(nBest === Infinity ? 1 : nBest).fill(candidate), losses: [], nodes: [] };
      }
      const candidates = result.candidates.map((hypothesis) => ({ hypothesis, text: this.target.decode(hypothesis.ids) }));
      return { ...segment, ...choose(segment.reading, candidates, plan.languages), nodes: result.nodes };
    });
  }

  /** Join the candidates of all segments. @param {import("./planning.js").Plan} plan @param {Done[]} done @param {number} nBest @param {Options} options @returns {Translation} */
  #finish(plan, done, nBest, options) {
    const { bases, without_spaces: withoutSpaces } = this.description;
    const between = withoutSpaces.includes(bases[plan.languages[1]] ?? plan.languages[1]) ? "" : " ";
    const n = done.length ? Math.min(nBest, ...done.map((segment) => segment.candidates.length)) : 0;
    const candidates = Array.from({ length: n }, (_, rank) => {
      const parts = done.map((segment) => segment.candidates[rank]);
      /** @type {string[]} */
      const texts = [];
      parts.forEach((part, i) => texts.push((texts.some(Boolean) && part.text ? done[i].gap ?? between : "") + part.text));
      /** @type {Candidate} */
      const candidate = {
        text: texts.join(""),
        score: parts.reduce((sum, part) => sum + part.hypothesis.score, 0),
        logProb: parts.reduce((sum, part) => sum + part.hypothesis.logProb, 0),
        tokens: parts.flatMap((part, i) => (isCopied(done[i]) ? [part.text] : this.#tokens(part))),
        parts: parts.map(({ hypothesis }, i) => ({ text: texts[i], score: hypothesis.score })),
      };
      if (options.align) Object.assign(candidate, { alignment: this.#align(plan, done, rank, candidate.text), words: wordsOf(candidate.text) });
      return candidate;
    });
    const raised = new Set(done.flatMap(({ text, candidates: [best], losses, flag, reading }) => [...best.hypothesis.faults, ...losses, hasText(text) ? flag : null, reading.hasForeign ? "copied" : null]));
    const [best] = candidates;
    if (best && hasLoneQuote(plan.text, best.text)) raised.add("span");
    /** @type {Translation} */
    const translation = { text: best?.text ?? "", score: best?.score ?? 0, tokens: best?.tokens ?? [], candidates, flags: FLAGS.filter((flag) => raised.has(flag)) };
    const searched = done.filter((segment) => !isCopied(segment));
    if (options.align) Object.assign(translation, { alignment: best?.alignment ?? [], sourceWords: wordsOf(plan.text) });
    if (options.attention) translation.attention = searched.map((segment) => this.#attention(segment));
    if (options.trace) translation.trace = searched.map((segment) => this.#trace(segment));
    return translation;
  }

  /** @param {import("./choosing.js").SegmentCandidate} candidate */
  #tokens(candidate) {
    return candidate.hypothesis.ids.map((id) => this.target.pieces[id]);
  }

  /** Score a target by force. @param {Done} segment @param {number[]} ids */
  #forced(segment, ids) {
    const { n_decoder_layers: nLayers, n_heads: nHeads } = this.description.config;
    const sizes = { nTokens: ids.length, nSources: segment.ids.length + 1, nHeads, nLayers };
    const { attention } = this.model.score(segment.ids, ids, nLayers * nHeads * sizes.nSources);
    return { attention, sizes };
  }

  /** @param {import("./planning.js").Plan} plan @param {Done[]} done @param {number} rank @param {string} text */
  #align(plan, done, rank, text) {
    const nTags = plan.tags ? plan.tags.split(" ").length : 0;
    const sourceParts = done.map((segment) => ({ pieces: this.#sourcePieces(segment, nTags), text: segment.text }));
    const [, ...sources] = placesInParts([{ pieces: [], text: plan.typedTags }, ...sourceParts], plan.text);
    const targetParts = done.map((segment) => {
      const candidate = segment.candidates[rank];
      return { pieces: segment.reading.unmaskPieces(this.#tokens(candidate)), text: candidate.text };
    });
    const targets = placesInParts(targetParts, text);
    const links = done.flatMap((segment, i) => {
      const [source, target] = [sources[i], targets[i]];
      if (isCopied(segment)) {
        const n = Math.min(source.words.length, target.words.length); // a prefix may stand before the first
        const [from, to] = [source.firstWord + source.words.length - n, target.firstWord + target.words.length - n];
        return Array.from({ length: n }, (_, word) => /** @type {[number, number]} */ ([from + word, to + word]));
      }
      const { ids } = segment.candidates[rank].hypothesis;
      const { attention, sizes } = this.#forced(segment, ids);
      return linkWords(tokenWeights(attention, this.description.alignment, sizes), source, target);
    });
    const unique = new Map(links.map((link) => [link.join(), link])); // frames share words with their sentence
    return [...unique.values()].sort((one, other) => one[0] - other[0] || one[1] - other[1]);
  }

  /** @param {Done} segment @param {number} nTags */
  #sourcePieces(segment, nTags) {
    if (isCopied(segment)) return [];
    const pieces = [...Array(nTags).fill("▁"), ...this.source.split(segment.reading.text)];
    return segment.reading.unmaskPieces(pieces.slice(0, segment.ids.length));
  }

  /** @param {Done} segment @returns {AttentionMap} */
  #attention(segment) {
    const { hypothesis } = segment.candidates[0];
    const { attention, sizes } = this.#forced(segment, hypothesis.ids);
    const { nLayers, nHeads, nSources } = sizes;
    const rows = hypothesis.ids.length + 1;
    const each = (/** @type {number} */ length, /** @type {(i: number) => any} */ make) => Array.from({ length }, (_, i) => make(i));
    const row = (/** @type {number} */ start) => [...attention.subarray(start, start + nSources)];
    const weights = each(nLayers, (layer) => each(nHeads, (head) => each(rows, (i) => row(((i * nLayers + layer) * nHeads + head) * nSources))));
    const written = this.#tokens(segment.candidates[0]);
    return { source: [...segment.ids.map((id) => this.source.pieces[id]), "<eos>"], read: ["<sos>", ...written], written: [...written, "<eos>"], weights };
  }

  /** @param {Done} segment @returns {Trace} */
  #trace(segment) {
    const nodes = segment.nodes.map((node) => ({ ...node, token: this.target.pieces[node.id] }));
    const candidates = segment.candidates.map(({ hypothesis }) => hypothesis);
    return { source: segment.text, text: segment.candidates[0].text, nodes, candidates };
  }
}

/** @param {Done[]} done */
const hasLosses = (done) => done.some((segment) => segment.losses.length > 0);

/** @param {string} text @returns {import("./choosing.js").SegmentCandidate} */
function copiedCandidate(text) {
  return { hypothesis: { ids: [], logProbs: [], finished: true, faults: [], score: 0, logProb: 0 }, text };
}
