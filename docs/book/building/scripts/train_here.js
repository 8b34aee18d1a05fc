// "One sentence": the small Transformer is trained in the page, with its loss, its weights and its attention in view.

import { LossCurve } from "./loss_curve.js";
import { NumberTable, WeightMaps } from "./number_maps.js";
import { Lesson, Training, randomNumbers } from "./small_training.js";
import { ATTENTIONS, SmallTransformer } from "./small_transformer.js";
import { TRAIN_HERE_LABELS } from "./train_here_labels.js";
import { button, controls, element, moveByArrows, slider, statusLine, widget } from "./widget.js";

/** @typedef {import("./small_transformer.js").NormPlace} NormPlace */
/** @typedef {import("./autograd.js").Matrix} Matrix */
/** @typedef {keyof typeof ATTENTIONS} AttentionKind */

const STEPS = 600;
const RATES = [0.0005, 0.001, 0.002, 0.004, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1];
/** Two of the four words of a translation, article and verb, cannot be known without the source; each is one of three. */
const FLOOR = Math.log(3) / 2;
/** Steps between two pictures for those who want no movement. */
const STEPS_WITHOUT_MOTION = 100;
/** The matrix whose numbers are shown at first. */
const FIRST_MATRIX = "target_embedding.tokens.weight";

class TrainHere {
  /** @param {HTMLElement} place @param {import("./train_here_labels.js").Labels} say */
  constructor(place, say) {
    this.say = say;
    this.lesson = new Lesson(say.nouns, say.verbs);
    this.settings = { highest: 0.004, warmup: 50, norm: /** @type {NormPlace} */ ("pre"), seed: 6 };
    this.stepsAtATime = 5;
    /** The picture that is asked for; zero while it waits. */
    this.frame = 0;
    this.training = this.#newTraining();
    /** The step after which all sentences were first seen to be right. */
    this.allRight = 0;
    this.play = button(say.train, () => (this.frame ? this.#pause() : this.#start()));
    this.now = element("p");
    this.curve = new LossCurve(STEPS, say.picture, { loss: FLOOR, text: say.floor });
    this.status = statusLine();
    this.sentences = this.lesson.sources.map((_, i) => button("", () => this.#choose(i), { className: "train-sentence" }));
    moveByArrows(this.sentences.map((each) => [each]));
    this.chosen = 0;
    /** @type {Partial<Record<AttentionKind, NumberTable>>} */
    this.attention = {};
    this.maps = element("div", { className: "train-attention" });
    this.weights = new WeightMaps(say.weights, (name, height) => this.#rowNames(name, height));
    const label = (/** @type {string} */ text) => element("p", { className: "try-it-label" }, text);
    place.append(
      controls(this.play, button(say.one, () => this.#stepOnce()), button(say.anew, () => this.#begin())),
      this.#controls(), this.now, this.curve.place, this.status,
      label(say.sentences), element("div", { className: "train-sentences", role: "group", "aria-label": say.sentences }, ...this.sentences),
      label(say.attention), this.maps, label(say.weights), ...this.weights.places,
    );
    this.#choose(0);
    this.#begin();
  }

  #newTraining() {
    const { highest, warmup, norm, seed } = this.settings;
    const { sourceWords, targetWords } = this.lesson;
    const model = new SmallTransformer(sourceWords.all.length, targetWords.all.length, norm, randomNumbers(seed));
    return new Training(model, this.lesson, { steps: STEPS, highest, warmup });
  }

  #controls() {
    const { say, settings } = this;
    const change = (/** @type {Partial<typeof settings>} */ changed) => {
      Object.assign(settings, changed);
      this.#begin();
    };
    const norm = element("select", {}, new Option(say.pre, "pre"), new Option(say.post, "post"));
    norm.addEventListener("change", () => change({ norm: /** @type {NormPlace} */ (norm.value) }));
    return controls(
      slider(say.highest, { min: 0, max: RATES.length - 1, step: 1, value: RATES.indexOf(settings.highest) }, (i) => change({ highest: RATES[i] }), (i) => String(RATES[i])),
      slider(say.warmup, { min: 0, max: 200, step: 10, value: settings.warmup }, (warmup) => change({ warmup })),
      element("label", { className: "widget-slider" }, element("span", {}, say.norm), norm),
      slider(say.seed, { min: 1, max: 9, step: 1, value: settings.seed }, (seed) => change({ seed })),
      slider(say.speed, { min: 1, max: 20, step: 1, value: this.stepsAtATime }, (steps) => (this.stepsAtATime = steps)),
    );
  }

  /** Begin with first weights, and wait. */
  #begin() {
    this.#stop();
    this.training = this.#newTraining();
    this.allRight = 0;
    this.curve.begin();
    this.weights.show(this.training.model.weights, FIRST_MATRIX);
    this.status.textContent = this.say.ready;
    this.#draw();
  }

  #start() {
    if (this.training.isDone) this.#begin();
    this.play.textContent = this.say.pause;
    this.status.textContent = this.say.running;
    this.frame = requestAnimationFrame(() => this.#run());
  }

  #pause() {
    this.#stop();
    this.status.textContent = this.say.paused(this.training.losses.length);
    this.#draw();
  }

  #stop() {
    cancelAnimationFrame(this.frame);
    this.frame = 0;
    this.play.textContent = this.say.train;
  }

  #stepOnce() {
    this.#stop();
    if (this.training.isDone) return;
    this.training.step();
    this.status.textContent = this.say.paused(this.training.losses.length);
    this.#draw();
  }

  /** Take some steps, show them, and come back for the next ones. */
  #run() {
    const isStill = matchMedia("(prefers-reduced-motion: reduce)").matches;
    for (let i = 0; i < this.stepsAtATime && !this.training.isDone; i++) this.training.step();
    const { losses, isDone } = this.training;
    if (!isStill || isDone || losses.length % STEPS_WITHOUT_MOTION < this.stepsAtATime) this.#draw();
    if (isDone) this.#stop();
    else this.frame = requestAnimationFrame(() => this.#run());
  }

  /** Show the model as it is after the last step. */
  #draw() {
    const { say, lesson } = this;
    const { model, losses, rate, isDone } = this.training;
    const translations = lesson.translate(model);
    translations.forEach((text, i) => this.#drawSentence(i, text));
    const nRight = translations.filter((text, i) => text === lesson.targets[i]).length;
    const loss = lesson.scores(model).crossEntropy(lesson.expected).numbers[0].toFixed(2); // its attention is shown, too
    this.#drawAttention();
    this.weights.draw();
    this.curve.draw(losses);
    this.now.textContent = say.now(losses.length, STEPS, String(Number(rate.toPrecision(2))), loss, nRight);
    if (isDone) this.status.textContent = say.done(STEPS, nRight, loss);
    else if (nRight === lesson.targets.length && !this.allRight) {
      this.allRight = losses.length;
      this.status.textContent = say.all(this.allRight);
    }
  }

  /** @param {number} i @param {string} translation */
  #drawSentence(i, translation) {
    const isRight = translation === this.lesson.targets[i];
    const mark = element("span", { role: "img", "aria-label": isRight ? this.say.right : this.say.wrong }, isRight ? "✓" : "×");
    const written = element("span", { lang: this.say.target }, translation || this.say.nothing);
    this.sentences[i].classList.toggle("widget-best", isRight);
    this.sentences[i].replaceChildren(element("span", { lang: "en" }, this.lesson.sources[i]), " → ", written, " ", mark);
  }

  /** Show the attention of a sentence. @param {number} i */
  #choose(i) {
    this.chosen = i;
    this.sentences.forEach((each, other) => each.setAttribute("aria-pressed", String(other === i)));
    const [source, target] = [this.lesson.sources[i], this.lesson.targets[i]].map((text) => text.split(" "));
    const [read, written, sourceWords] = [["<sos>", ...target], [...target, "<eos>"], [...source, "<eos>"]];
    this.attention = {
      cross: new NumberTable(this.say.cross, written, sourceWords),
      encoder: new NumberTable(this.say.encoder, sourceWords, sourceWords),
      decoder: new NumberTable(this.say.decoder, written, read),
    };
    this.maps.replaceChildren(...Object.values(this.attention).map(({ place }) => place));
    this.lesson.scores(this.training.model);
    this.#drawAttention();
  }

  /** Show the weights of attention of the last pass. */
  #drawAttention() {
    for (const [kind, table] of Object.entries(this.attention)) {
      const weights = /** @type {Matrix} */ (this.training.model.looks.get(ATTENTIONS[/** @type {AttentionKind} */ (kind)]));
      table.drawWeights(weights, this.chosen * table.cells.length);
    }
  }

  /** @param {string} name of a matrix @param {number} height */
  #rowNames(name, height) {
    if (name.startsWith("source_embedding")) return this.lesson.sourceWords.all;
    if (name.startsWith("target_embedding")) return this.lesson.targetWords.all;
    return height === 1 ? [""] : Array.from({ length: height }, (_, i) => String(i));
  }
}

widget("train_here", TRAIN_HERE_LABELS, (place, say) => void new TrainHere(place, say));
