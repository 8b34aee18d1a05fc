// A model in a worker of this page. Engine and model come as plain scripts: from a disk, a page can read no other files.

import { Client } from "../../../../src/dragoman/web/page/client.js";

/** @typedef {import("../../../../src/dragoman/web/page/client.js").Answer & {directions?: [string, string][], next?: import("./next_tokens.js").NextToken[]}} Answer */
/** What the scripts beside this one bring, in base64; the worker is text. @typedef {{worker?: string, wasm?: string, models?: Record<string, string>}} Brought */

const FOLDER = new URL(".", /** @type {HTMLScriptElement} */ (document.currentScript).src).href;

/** @returns {Brought} */
const brought = () => (/** @type {any} */ (globalThis).dragomanFiles ??= {});

/** Run a script beside this one. @param {string} file @returns {Promise<void>} */
function runScript(file) {
  return new Promise((resolve, reject) => {
    const script = Object.assign(document.createElement("script"), { src: new URL(file, FOLDER).href });
    script.addEventListener("load", () => resolve());
    script.addEventListener("error", () => reject(new Error(`cannot read ${file}`)));
    document.head.append(script);
  });
}

/** Return the bytes of text in base64. @param {string} text */
function bytesOf(text) {
  const letters = atob(text);
  const bytes = new Uint8Array(letters.length);
  for (let i = 0; i < letters.length; i++) bytes[i] = letters.charCodeAt(i);
  return bytes.buffer;
}

export class ModelHere {
  /** @param {string} name */
  constructor(name) {
    this.name = name;
    this.isLoaded = false;
    /** @type {Promise<Client> | null} */
    this.loading = null;
    /** @type {[string, string][] | undefined} */
    this.directions = undefined;
  }

  async #load() {
    await Promise.all([runScript("engine.js"), runScript(`model-${this.name}.js`)]);
    const { worker = "", wasm = "", models = {} } = brought();
    const client = new Client(new Worker(URL.createObjectURL(new Blob([worker], { type: "text/javascript" }))));
    const [file, engine] = [bytesOf(models[this.name]), bytesOf(wasm)];
    delete models[this.name];
    const answer = /** @type {Answer} */ (await client.send({ file, wasm: engine }, [file, engine]));
    if (answer.error) throw new Error(answer.error);
    this.directions = answer.directions;
    this.isLoaded = true;
    return client;
  }

  /** Translate; neither a translation nor an error if a later call came before. @param {string} text @returns {Promise<Answer>} */
  async translate(text) {
    try {
      const client = await (this.loading ??= this.#load());
      return { ...(await client.translate({ text })), directions: this.directions };
    } catch (error) {
      this.loading = null; // the next key tries again
      return { error: error instanceof Error ? error.message : String(error) };
    }
  }

  /** Return the most probable tokens after a beginning. @param {string} text @param {number[]} written ids */
  async next(text, written) {
    const answer = /** @type {Answer} */ (await (await /** @type {Promise<Client>} */ (this.loading)).send({ text, written }));
    return answer.next ?? [];
  }
}
