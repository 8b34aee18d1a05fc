// The training of "One sentence": its nine sentences, Adam, and the loop of chapter 12.

import { backward } from "./autograd.js";
import { cosineRate } from "./learning_rate.js";

/** @typedef {import("./small_transformer.js").SmallTransformer} SmallTransformer */
/** Adam's running means of a weight's gradient and of its square. @typedef {{m: Float64Array, v: Float64Array}} Means */

const [START, END] = [2, 3];
const SPECIAL_WORDS = ["<pad>", "<unk>", "<sos>", "<eos>"];
const [BETA1, BETA2, EPSILON, LONGEST_GRADIENT] = [0.9, 0.98, 1e-9, 1];

/** Return a source of numbers from 0 to 1 that are the same for the same seed: "mulberry32". @param {number} seed */
export function randomNumbers(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** The words of one language, those that occur most often first. */
class Words {
  /** @param {string[]} sentences */
  constructor(sentences) {
    /** @type {Map<string, number>} */
    const counts = new Map();
    for (const word of sentences.join(" ").split(" ")) counts.set(word, (counts.get(word) ?? 0) + 1);
    this.all = [...SPECIAL_WORDS, ...[...counts.keys()].sort((one, other) => (counts.get(other) ?? 0) - (counts.get(one) ?? 0))];
  }

  /** @param {string} sentence */
  ids(sentence) {
    return [...sentence.split(" ").map((word) => this.all.indexOf(word)), END];
  }
}

export class Lesson {
  /**
   * All sentences of some nouns and verbs.
   *
   * @param {Record<string, string>} nouns each with its translation
   * @param {Record<string, string>} verbs
   */
  constructor(nouns, verbs) {
    const pairs = Object.entries(nouns).flatMap(([noun, its]) => Object.entries(verbs).map(([verb, does]) => [`the ${noun} ${verb}`, `${its} ${does}`]));
    this.sources = pairs.map(([source]) => source);
    this.targets = pairs.map(([, target]) => target);
    this.sourceWords = new Words(this.sources);
    this.targetWords = new Words(this.targets);
    this.sourceIds = this.sources.map((source) => this.sourceWords.ids(source));
    const targetIds = this.targets.map((target) => this.targetWords.ids(target));
    /** The decoder reads all but the last word, and is scored on all but the first. */
    this.read = targetIds.map((ids) => [START, ...ids.slice(0, -1)]);
    this.expected = targetIds.flat();
  }

  /** Return the scores of the words that follow those that are read. @param {SmallTransformer} model */
  scores(model) {
    return model.decode(this.read, model.encode(this.sourceIds));
  }

  /** Translate all sources: always the most probable next word, until that is the end. @param {SmallTransformer} model @param {number} longest in words */
  translate(model, longest = 6) {
    const memory = model.encode(this.sourceIds);
    const written = this.sources.map(() => [START]);
    for (let i = 0; i < longest; i++) {
      const scores = model.decode(written, memory);
      written.forEach((ids, sentence) => {
        const last = scores.row((sentence + 1) * ids.length - 1);
        ids.push(last.indexOf(Math.max(...last)));
      });
    }
    return written.map((ids) => [...ids.slice(1), END]).map((ids) => ids.slice(0, ids.indexOf(END)).map((id) => this.targetWords.all[id]).join(" "));
  }
}

export class Training {
  /** @param {SmallTransformer} model @param {Lesson} lesson @param {{steps: number, highest: number, warmup: number}} settings */
  constructor(model, lesson, settings) {
    this.model = model;
    this.lesson = lesson;
    this.settings = settings;
    /** @type {number[]} The loss of each step. */
    this.losses = [];
    const weights = [...model.weights.values()];
    this.means = new Map(weights.map((weight) => [weight, { m: new Float64Array(weight.numbers.length), v: new Float64Array(weight.numbers.length) }]));
  }

  /** The learning rate of the last step. */
  get rate() {
    const { steps, highest, warmup } = this.settings;
    return cosineRate(this.losses.length, steps, highest, warmup);
  }

  get isDone() {
    return this.losses.length === this.settings.steps;
  }

  /** Take a step on all sentences at once. */
  step() {
    for (const weight of this.means.keys()) weight.gradient.fill(0);
    const loss = this.lesson.scores(this.model).crossEntropy(this.lesson.expected);
    backward(loss);
    this.losses.push(loss.numbers[0]);
    this.#clip();
    this.#moveWeights();
  }

  /** Shorten the gradient of all weights, as one long vector, if it is too long. */
  #clip() {
    const gradients = [...this.means.keys()].map((weight) => weight.gradient);
    const length = Math.hypot(...gradients.map((gradient) => Math.hypot(...gradient)));
    const factor = LONGEST_GRADIENT / (length + 1e-6);
    if (factor < 1) for (const gradient of gradients) gradient.forEach((slope, at) => (gradient[at] = slope * factor));
  }

  /**
   * Let Adam move each weight against its gradient, by a step of its own size.
   *
   * A weight is kept in 32 bits, as in PyTorch. So it does not matter that browsers differ in the last of 64 bits.
   */
  #moveWeights() {
    const t = this.losses.length;
    const [rate, short1, short2] = [this.rate, 1 - BETA1 ** t, 1 - BETA2 ** t]; // bias correction: both means begin at zero
    for (const [{ numbers, gradient }, { m, v }] of this.means) {
      for (let at = 0; at < numbers.length; at++) {
        m[at] = BETA1 * m[at] + (1 - BETA1) * gradient[at];
        v[at] = BETA2 * v[at] + (1 - BETA2) * gradient[at] ** 2;
        numbers[at] = Math.fround(numbers[at] - (rate * (m[at] / short1)) / (Math.sqrt(v[at] / short2) + EPSILON));
      }
    }
  }
}
