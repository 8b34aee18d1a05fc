// The file of a model for browsers, which `dragoman export web` writes (exchange/model_file.py).

/**
 * @typedef {object} Description
 * @property {number} format_version
 * @property {string} name
 * @property {Record<string, number>} config the fields of `ModelConfig` of the engine
 * @property {Record<string, any>} search the defaults of a search
 * @property {[string, string][]} directions source and target language
 * @property {string[]} targets target languages
 * @property {string[]} reserved pieces that stand for what must be copied
 * @property {{heads: [number, number][], shifted: boolean}} alignment heads that align words
 * @property {{sentences: number, long_tokens: number, usual_tokens: number, knows_marks: boolean} | null} learned
 * @property {Record<string, string>} bases languages without region and script, by their codes
 * @property {string[]} without_spaces languages without spaces between words
 * @property {{source: import("./tokenizer.js").TokenizerSettings, target: import("./tokenizer.js").TokenizerSettings}} tokenizers
 * @property {Record<string, number>} parts the bytes of each part, in their order
 */

const MAGIC = "dragoman";
export const FORMAT_VERSION = 1;

/**
 * Read a file: MAGIC, the length of a description (4 bytes), the description in JSON, the parts.
 *
 * @param {Uint8Array} bytes
 * @returns {{description: Description, part: (name: string) => Uint8Array | null}}
 * @throws {Error} the bytes are no model, damaged, cut off, or of another format
 */
export function readModelFile(bytes) {
  const start = MAGIC.length + 4;
  if (bytes.length < start || new TextDecoder().decode(bytes.subarray(0, MAGIC.length)) !== MAGIC) {
    throw new Error("not a model for browsers: `dragoman export web` makes them");
  }
  const length = new DataView(bytes.buffer, bytes.byteOffset).getUint32(MAGIC.length, true);
  /** @type {Description} */
  let description;
  try {
    description = JSON.parse(new TextDecoder().decode(bytes.subarray(start, start + length)));
  } catch {
    throw new Error("the model is damaged: use another copy");
  }
  if (description.format_version !== FORMAT_VERSION) {
    throw new Error(`a model of format ${description.format_version}, and this page reads ${FORMAT_VERSION}: export it again`);
  }
  /** @type {Map<string, Uint8Array>} */
  const parts = new Map();
  let end = start + length;
  for (const [name, size] of Object.entries(description.parts)) parts.set(name, bytes.subarray(end, (end += size)));
  if (end > bytes.length) throw new Error("the model is cut off: use another copy");
  return { description, part: (name) => parts.get(name) ?? null };
}

/**
 * Return the bytes of a file, or those that are given.
 *
 * @param {string | URL | ArrayBuffer | Uint8Array} file
 * @param {(bytes: number, all: number) => void} [onProgress] all is 0 if unknown
 * @returns {Promise<Uint8Array>}
 * @throws {Error} the server does not send the file
 */
export async function fetchBytes(file, onProgress) {
  if (file instanceof Uint8Array) return file;
  if (file instanceof ArrayBuffer) return new Uint8Array(file);
  const response = await fetch(file);
  if (!response.ok || !response.body) throw new Error(`the server answers ${response.status} ${response.statusText} for ${file}`);
  const all = Number(response.headers.get("content-encoding") ? 0 : response.headers.get("content-length"));
  const chunks = [];
  let bytes = 0;
  const reader = response.body.getReader();
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    chunks.push(part.value);
    bytes += part.value.length;
    onProgress?.(bytes, all);
  }
  return new Uint8Array(await new Blob(/** @type {BlobPart[]} */ (chunks)).arrayBuffer());
}
