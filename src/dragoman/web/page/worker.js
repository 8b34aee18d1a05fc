// The worker of the page: it loads models and translates, one call after the other.

import { Translator } from "../dragoman/dragoman.js";
import { answerCalls } from "./calls.js";

/** @type {Map<string, Translator>} */
const translators = new Map();

/**
 * @typedef {object} Call
 * @property {number} id
 * @property {string} model its name
 * @property {string | ArrayBuffer} [file] the address or the bytes of a model to load
 * @property {ArrayBuffer} [wasm] the engine, if it does not lie beside the module
 * @property {string} [text] to translate
 * @property {string} [key] of a server
 * @property {import("../dragoman/options.js").Options} [options]
 */

/** @param {Call} call */
async function answer({ id, model, file, wasm, text, options }) {
  if (file !== undefined) {
    const onProgress = (/** @type {number} */ bytes) => postMessage({ id, bytes });
    translators.set(model, await Translator.load(file, { onProgress, ...(wasm ? { wasm } : {}) }));
    return { description: translators.get(model)?.description.search };
  }
  const translator = translators.get(model);
  if (!translator) throw new Error(`the model ${model} is not loaded`);
  return { translation: translator.translate(text ?? "", options) };
}

answerCalls(answer);
