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
 * @property {Record<string, [number, number]>} parts offset and bytes of each part
 */

const MAGIC = "dragoman";
export const FORMAT_VERSION = 1;

/**
 * Read a file: MAGIC, four bytes with the length of the description, the description in JSON, the parts.
 *
 * @param {Uint8Array} bytes
 * @returns {{description: Description, part: (name: string) => Uint8Array | null}}
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
  for (const [offset, size] of Object.values(description.parts)) {
    if (offset + size > bytes.length) throw new Error("the model is cut off: use another copy");
  }
  const part = (/** @type {string} */ name) => {
    const place = description.parts[name];
    return place ? bytes.subarray(place[0], place[0] + place[1]) : null;
  };
  return { description, part };
}

/**
 * Return the bytes of a file, or those that are given.
 *
 * @param {string | URL | ArrayBuffer | Uint8Array} file
 * @param {(bytes: number, all: number) => void} [onProgress] all is 0 if unknown
 * @returns {Promise<Uint8Array>}
 */
export async function fetchBytes(file, onProgress) {
  if (file instanceof Uint8Array) return file;
  if (file instanceof ArrayBuffer) return new Uint8Array(file);
  const response = await fetch(file);
  if (!response.ok || !response.body) throw new Error(`${file}: ${response.status} ${response.statusText}`);
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
