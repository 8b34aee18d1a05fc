// The Transformer of "One sentence" on the matrices of autograd.js: one layer on each side, one head, no dropout. Its
// weights have the names and shapes that `transformer.py` gives them.
//
// A batch is one matrix, with the words of its first sentence in the first rows, those of the second below them, and so
// on. So everything but attention sees rows only. All sentences have the same length: there is no padding.

import { Matrix } from "./autograd.js";

/** @typedef {import("./autograd.js").Mask} Mask */
/** Before the attention or feed-forward layer, or behind the sum. @typedef {"pre" | "post"} NormPlace */

/** Numbers for each word, and within the feed-forward layers. */
const [WIDTH, INNER] = [4, 8];
const [ENCODER, DECODER] = ["encoder_layers.0", "decoder_layers.0"];
/** The attentions of the model, by name. */
export const ATTENTIONS = { encoder: `${ENCODER}.self_attention`, decoder: `${DECODER}.self_attention`, cross: `${DECODER}.cross_attention` };

export class SmallTransformer {
  /**
   * @param {number} nSourceWords @param {number} nTargetWords
   * @param {NormPlace} norm @param {() => number} random gives numbers from 0 to 1
   */
  constructor(nSourceWords, nTargetWords, norm, random) {
    this.norm = norm;
    this.weights = firstWeights(nSourceWords, nTargetWords, norm, random);
    /** @type {Map<string, Matrix>} The weights of each attention in the last pass: (words that look, words of a sentence). */
    this.looks = new Map();
  }

  /** Return the memory of some sources, a row for each word. @param {number[][]} sources ids */
  encode(sources) {
    const n = sources.length;
    let x = this.#embed(sources, "source_embedding");
    x = this.#residual(x, `${ENCODER}.attention_residual`, (y) => this.#attend(n, y, y, ATTENTIONS.encoder));
    x = this.#residual(x, `${ENCODER}.feed_forward_residual`, (y) => this.#feedForward(y, `${ENCODER}.feed_forward`));
    return this.norm === "pre" ? this.#layerNorm(x, "encoder_norm") : x;
  }

  /**
   * Return the scores of all words that may come next, a row for each word of the targets.
   *
   * @param {number[][]} targets ids, as far as they are written
   * @param {Matrix} memory of as many sources
   */
  decode(targets, memory) {
    const [n, length] = [targets.length, targets[0].length];
    let x = this.#embed(targets, "target_embedding");
    x = this.#residual(x, `${DECODER}.self_residual`, (y) => this.#attend(n, y, y, ATTENTIONS.decoder, (i, j) => j <= i % length));
    x = this.#residual(x, `${DECODER}.cross_residual`, (y) => this.#attend(n, y, memory, ATTENTIONS.cross));
    x = this.#residual(x, `${DECODER}.feed_forward_residual`, (y) => this.#feedForward(y, `${DECODER}.feed_forward`));
    if (this.norm === "pre") x = this.#layerNorm(x, "decoder_norm");
    return x.timesTransposed(this.weight("target_embedding.tokens.weight")).plusRow(this.weight("output_projection.bias"));
  }

  /** @param {string} name */
  weight(name) {
    return /** @type {Matrix} */ (this.weights.get(name));
  }

  /** @param {number[][]} sentences @param {string} name */
  #embed(sentences, name) {
    const rows = this.weight(`${name}.tokens.weight`).rowsOf(sentences.flat());
    return rows.timesNumber(Math.sqrt(WIDTH)).plus(Matrix.of(sentences.flatMap((ids) => ids.map((_, position) => positionRow(position)))));
  }

  /** @param {Matrix} x @param {string} name @param {(y: Matrix) => Matrix} sublayer */
  #residual(x, name, sublayer) {
    if (this.norm === "pre") return x.plus(sublayer(this.#layerNorm(x, `${name}.norm`)));
    return this.#layerNorm(x.plus(sublayer(x)), `${name}.norm`);
  }

  /**
   * Let the words of each sentence look at words of the same one.
   *
   * @param {number} n sentences @param {Matrix} x a row for each word that looks @param {Matrix} read what is looked at
   * @param {string} name @param {Mask} mask
   */
  #attend(n, x, read, name, mask = () => true) {
    const queries = this.#linear(x, `${name}.query_projection`);
    const keys = this.#linear(read, `${name}.key_projection`);
    const values = this.#linear(read, `${name}.value_projection`);
    const weights = queries.timesTransposed(keys, n).timesNumber(1 / Math.sqrt(WIDTH)).softmaxOfRows(mask);
    this.looks.set(name, weights);
    return this.#linear(weights.times(values, n), `${name}.output_projection`);
  }

  /** @param {Matrix} x @param {string} name */
  #feedForward(x, name) {
    return this.#linear(this.#linear(x, `${name}.inner`).relu(), `${name}.outer`);
  }

  /** @param {Matrix} x @param {string} name */
  #layerNorm(x, name) {
    return x.normalized().timesRow(this.weight(`${name}.weight`)).plusRow(this.weight(`${name}.bias`));
  }

  /** @param {Matrix} x @param {string} name */
  #linear(x, name) {
    return x.timesTransposed(this.weight(`${name}.weight`)).plusRow(this.weight(`${name}.bias`));
  }
}

/** Return the sines and cosines of a position. @param {number} position */
function positionRow(position) {
  const angle = (/** @type {number} */ j) => position / 10000 ** ((j - (j % 2)) / WIDTH);
  return Array.from({ length: WIDTH }, (_, j) => (j % 2 ? Math.cos(angle(j)) : Math.sin(angle(j))));
}

/** @param {number} nSourceWords @param {number} nTargetWords @param {NormPlace} norm @param {() => number} random */
function firstWeights(nSourceWords, nTargetWords, norm, random) {
  /** @type {Map<string, Matrix>} */
  const weights = new Map();
  const add = (/** @type {string} */ name, /** @type {number} */ height, /** @type {number} */ width, /** @type {() => number} */ draw) =>
    weights.set(name, Matrix.of(Array.from({ length: height }, () => Array.from({ length: width }, () => Math.fround(draw())))));
  const addEmbedding = (/** @type {string} */ name, /** @type {number} */ nWords) => add(`${name}.tokens.weight`, nWords, WIDTH, () => normal(random) / Math.sqrt(WIDTH));
  const addLinear = (/** @type {string} */ name, /** @type {number} */ nInputs, /** @type {number} */ nOutputs) => {
    const bound = Math.sqrt(6 / (nInputs + nOutputs)); // Xavier's, as in chapter 11
    add(`${name}.weight`, nOutputs, nInputs, () => bound * (2 * random() - 1));
    add(`${name}.bias`, 1, nOutputs, () => 0);
  };
  const addNorm = (/** @type {string} */ name) => {
    add(`${name}.weight`, 1, WIDTH, () => 1);
    add(`${name}.bias`, 1, WIDTH, () => 0);
  };
  const addLayer = (/** @type {string} */ layer, /** @type {string[]} */ attentions, /** @type {string[]} */ residuals) => {
    for (const attention of attentions) {
      for (const projection of ["query", "key", "value", "output"]) addLinear(`${attention}.${projection}_projection`, WIDTH, WIDTH);
    }
    addLinear(`${layer}.feed_forward.inner`, WIDTH, INNER);
    addLinear(`${layer}.feed_forward.outer`, INNER, WIDTH);
    for (const residual of residuals) addNorm(`${layer}.${residual}_residual.norm`);
    if (norm === "pre") addNorm(layer.replace("_layers.0", "_norm"));
  };
  addEmbedding("source_embedding", nSourceWords);
  addLayer(ENCODER, [ATTENTIONS.encoder], ["attention", "feed_forward"]);
  addEmbedding("target_embedding", nTargetWords);
  addLayer(DECODER, [ATTENTIONS.decoder, ATTENTIONS.cross], ["self", "cross", "feed_forward"]);
  add("output_projection.bias", 1, nTargetWords, () => 0);
  return weights;
}

/** Return a number of the normal distribution, by the method of Box and Muller. @param {() => number} random */
const normal = (random) => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
