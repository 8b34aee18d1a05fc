// The engine in WebAssembly (native/dragoman.h): load a model, translate ids, score ids.

import { CONSTANTS, DIGEST, STRUCTURES } from "./interface.js";
import { NO_MEMORY, Scope } from "./memory.js";

/**
 * @typedef {object} Candidate
 * @property {number[]} ids without the end mark
 * @property {number[]} logProbs of each token, the end mark's included
 * @property {boolean} finished the end mark was written
 * @property {string[]} faults "repetition", "length"
 * @property {number} score the log-probability over the length penalty
 * @property {number} logProb
 */

/**
 * @typedef {object} TraceNode a token that the search has read; a hypothesis is a path from the root, node 0
 * @property {number} parent the number of a node before it; -1 for the root
 * @property {number} id
 * @property {number} logProb of the token
 * @property {number} total of the path
 */

/**
 * @typedef {object} Search
 * @property {number} beamSize
 * @property {number} nBest
 * @property {number} lengthPenalty
 * @property {number} minLength
 * @property {number} maxLength 0 for the natural limit
 * @property {number} noRepeatNgram 0 for any
 * @property {number} repetitionPenalty
 * @property {number} seconds after which the search ends with an error; 0 for any time
 */

const FAULTS = /** @type {const} */ (["REPETITION", "LENGTH"]);
const PROBLEMS = new Map([
  [CONSTANTS.NO_MEMORY, NO_MEMORY],
  [CONSTANTS.NO_SUCH_ID, "an id is not in the vocabulary"],
  [CONSTANTS.BAD_OPTIONS, "options of the search contradict each other, or the text is too long"],
  [CONSTANTS.STOPPED, "not enough time for the translation: give more seconds, or a shorter text"],
  [CONSTANTS.NOT_A_NUMBER, "the model gives probabilities that are not numbers: export another one"],
]);

/** Raise the error of a status. @param {bigint} status */
function check(status) {
  if (Number(status) !== CONSTANTS.OK) throw new Error(PROBLEMS.get(Number(status)) ?? `the engine failed (${status})`);
}

export class Engine {
  /**
   * Compile the engine.
   *
   * @param {ArrayBuffer | Uint8Array} wasm the bytes of dragoman.wasm
   * @returns {Promise<Engine>}
   */
  static async create(wasm) {
    const clock = (/** @type {number} */ _kind, /** @type {bigint} */ _precision, /** @type {number} */ result) => {
      const view = new DataView(/** @type {any} */ (instance.exports).memory.buffer);
      view.setBigUint64(result, BigInt(Math.round(performance.now() * 1e6)), true);
      return 0;
    };
    const imports = { wasi_snapshot_preview1: { clock_time_get: clock } };
    const { instance } = await WebAssembly.instantiate(/** @type {BufferSource} */ (wasm), imports);
    return new Engine(instance);
  }

  /** @param {WebAssembly.Instance} instance */
  constructor(instance) {
    /** @type {any} */
    this.functions = instance.exports;
    this.functions._initialize();
    if (this.view().getBigUint64(this.functions.interface.value, true) !== DIGEST) {
      throw new Error("dragoman.wasm and interface.js are not of the same version: copy both from one export");
    }
  }

  /** The memory, which moves when it grows. */
  view() {
    return new DataView(this.functions.memory.buffer);
  }

  /** The bytes of memory that the engine has taken. */
  get bytes() {
    return this.functions.memory.buffer.byteLength;
  }

  /** Run a function that may ask for memory, and free all of it. @template T @param {(scope: Scope) => T} run */
  within(run) {
    const scope = new Scope(this);
    try {
      return run(scope);
    } finally {
      scope.free();
    }
  }

  /**
   * Load a model. It takes its memory until `free` is called, or the page ends.
   *
   * @param {Record<string, number | boolean>} config the fields of `ModelConfig`
   * @param {Uint8Array} weights a safetensors file
   * @returns {Model}
   * @throws {Error} the weights are damaged, or there is not enough memory
   */
  load(config, weights) {
    return this.within((scope) => {
      const file = scope.allocate(weights.length);
      new Uint8Array(this.functions.memory.buffer).set(weights, file);
      const problem = scope.allocate(CONSTANTS.PROBLEM_LENGTH);
      const model = scope.allocate(4);
      const shape = scope.structure("ModelConfig", config);
      const places = [shape, file, BigInt(weights.length), 0n, 0n, problem, model];
      const status = this.functions.dragoman_load(...places);
      if (Number(status) === CONSTANTS.DAMAGED) throw new Error(`weights: ${this.text(problem)}`);
      check(status);
      return new Model(this, this.view().getUint32(model, true));
    });
  }

  /** Return a text of C. @param {number} at */
  text(at) {
    const bytes = new Uint8Array(this.functions.memory.buffer, at, CONSTANTS.PROBLEM_LENGTH);
    return new TextDecoder().decode(bytes.slice(0, bytes.indexOf(0)));
  }

  /** Return ids (int64_t). @param {number} at @param {number} count */
  ids(at, count) {
    return Array.from(new BigInt64Array(this.functions.memory.buffer, at, count), Number);
  }

  /** Return numbers (float). @param {number} at @param {number} count */
  floats(at, count) {
    return new Float32Array(this.functions.memory.buffer.slice(at, at + 4 * count));
  }

  /** Read a structure. @param {string} name @param {number} at @returns {Record<string, number>} */
  read(name, at) {
    const view = this.view();
    const read = {
      int64: (/** @type {number} */ place) => Number(view.getBigInt64(place, true)),
      double: (/** @type {number} */ place) => view.getFloat64(place, true),
      float: (/** @type {number} */ place) => view.getFloat32(place, true),
      pointer: (/** @type {number} */ place) => view.getUint32(place, true),
    };
    const fields = Object.entries(STRUCTURES[name].fields);
    return Object.fromEntries(fields.map(([field, [type, offset]]) => [field, /** @type {any} */ (read)[type](at + offset)]));
  }
}

/** A model that the engine has loaded. */
export class Model {
  /** @param {Engine} engine @param {number} place */
  constructor(engine, place) {
    this.engine = engine;
    this.place = place;
  }

  /** Give the memory back; nothing can be translated any more. */
  free() {
    if (this.place) this.engine.functions.dragoman_free(this.place);
    this.place = 0;
  }

  #loaded() {
    if (!this.place) throw new Error("the model was freed: load it again");
    return this.place;
  }

  /**
   * Search for the best translations.
   *
   * @param {number[]} source ids without special ones @param {Search} search
   * @param {number[]} prefix the ids that each translation begins with @param {number[]} forbidden ids that none has
   * @returns {{candidates: Candidate[], nodes: TraceNode[]}}
   * @throws {Error} an id is not in the vocabulary, options contradict each other, or time or memory is not enough
   */
  translate(source, search, prefix, forbidden) {
    const { functions } = this.engine;
    return this.engine.within((scope) => {
      const options = scope.structure("SearchOptions", {
        beam_size: search.beamSize,
        n_best: search.nBest,
        length_penalty: search.lengthPenalty,
        min_length: search.minLength,
        max_length: search.maxLength,
        no_repeat_ngram: search.noRepeatNgram,
        repetition_penalty: search.repetitionPenalty,
        n_prefix: prefix.length,
        n_forbidden: forbidden.length,
        n_allowed: 0, // the whole vocabulary
        prefix: scope.ids(prefix),
        forbidden: scope.ids(forbidden),
        allowed: 0,
        seconds: search.seconds,
        should_stop: 0,
        stop_argument: 0,
      });
      const result = scope.allocate(4);
      check(functions.dragoman_translate(this.#loaded(), scope.ids(source), BigInt(source.length), options, result));
      const translation = this.engine.view().getUint32(result, true);
      try {
        return this.#read(translation, result);
      } finally {
        functions.dragoman_free_translation(translation);
      }
    });
  }

  /** @param {number} translation @param {number} result memory for a pointer */
  #read(translation, result) {
    const { functions } = this.engine;
    /** @type {<T>(name: string, count: bigint, make: (values: Record<string, number>) => T) => T[]} */
    const list = (name, count, make) => {
      const first = this.engine.view().getUint32(result, true);
      return Array.from({ length: Number(count) }, (_, i) => make(this.engine.read(name, first + i * STRUCTURES[name].size)));
    };
    const candidates = list("Candidate", functions.dragoman_candidates(translation, result), (candidate) => ({
      ids: this.engine.ids(candidate.ids, candidate.n_ids),
      logProbs: [...this.engine.floats(candidate.log_probs, candidate.n_log_probs)],
      finished: candidate.is_finished === 1,
      faults: FAULTS.filter((name) => candidate.faults & CONSTANTS[name]).map((name) => name.toLowerCase()),
      score: candidate.score,
      logProb: candidate.log_prob,
    }));
    const nodes = list("Node", functions.dragoman_nodes(translation, result), (node) => ({
      parent: node.parent,
      id: node.id,
      logProb: node.token_log_prob,
      total: node.log_prob,
    }));
    return { candidates, nodes };
  }

  /**
   * Return the log-probabilities of a given target (T + 1), and how much each of its tokens attends to the source:
   * (T + 1, layers, heads, S + 1), of which row t reads token t, the first the start mark.
   *
   * @param {number[]} source S ids @param {number[]} target T ids @param {number} nWeights of one token: layers * heads * (S + 1)
   * @throws {Error} an id is not in the vocabulary, or there is not enough memory
   */
  score(source, target, nWeights) {
    return this.engine.within((scope) => {
      const rows = target.length + 1;
      const [logProbs, attention] = [scope.allocate(4 * rows), scope.allocate(4 * rows * nWeights)];
      const sides = [scope.ids(source), BigInt(source.length), scope.ids(target), BigInt(target.length)];
      check(this.engine.functions.dragoman_score(this.#loaded(), ...sides, logProbs, attention));
      return { logProbs: this.engine.floats(logProbs, rows), attention: this.engine.floats(attention, rows * nWeights) };
    });
  }
}
