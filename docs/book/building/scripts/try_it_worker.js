// The worker of a "try it" box: it loads a model, translates, and looks up next tokens, one call after the other.

import { Translator } from "../../../../src/dragoman/web/dragoman/dragoman.js";
import { answerCalls } from "../../../../src/dragoman/web/page/calls.js";
import { nextTokens } from "./next_tokens.js";

/** Tokens of which a box shows the probability. */
const N_TOKENS = 5;
/** @type {Translator | null} */
let translator = null;

/**
 * @typedef {object} Call
 * @property {number} id
 * @property {ArrayBuffer} [file] a model to load
 * @property {ArrayBuffer} [wasm] the engine
 * @property {string} [text] to translate
 * @property {number[]} [written] ids whose next tokens are asked for
 */

/** @param {Call} call */
async function answer({ file, wasm, text = "", written }) {
  if (file) {
    translator = await Translator.load(file, { wasm });
    return { directions: translator.directions };
  }
  if (!translator) throw new Error("no model is loaded");
  if (written) return { next: nextTokens(translator, text, written, N_TOKENS) };
  return { translation: translator.translate(text, { attention: true, trace: true }) };
}

answerCalls(answer);
