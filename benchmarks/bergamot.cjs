// Translate a JSON list of sentences from stdin by Firefox's engine, each by itself: a JSON list to stdout.
//
//     node benchmarks/bergamot.cjs WHERE_NPM_INSTALLED_IT FOLDER_OF_THE_MODEL
//
// The package's worker is a CommonJS script in a package of modules, so it runs from a copy.

const fs = require("node:fs");
const os = require("node:os");
const path = require("node:path");
const { Worker } = require("node:worker_threads");

const [, , installed, folder] = process.argv;
const copy = fs.mkdtempSync(path.join(os.tmpdir(), "bergamot-"));
fs.cpSync(path.join(installed, "node_modules/@browsermt/bergamot-translator/worker"), copy, { recursive: true });
fs.writeFileSync(path.join(copy, "package.json"), '{"type": "commonjs"}');

const worker = new Worker(path.join(copy, "translator-worker.js"));
const waiting = new Map();
worker.on("message", ({ id, result, error }) => {
  const [resolve, reject] = waiting.get(id);
  error === undefined ? resolve(result) : reject(new Error(error.message));
});

function call(name, ...args) {
  const id = waiting.size + 1;
  worker.postMessage({ id, name, args });
  return new Promise((resolve, reject) => waiting.set(id, [resolve, reject]));
}

function content(pattern) {
  const bytes = fs.readFileSync(path.join(folder, fs.readdirSync(folder).find((name) => pattern.test(name))));
  return bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength);
}

async function main() {
  const pair = { from: "en", to: "de" }; // any names do
  await call("initialize", {});
  await call("loadTranslationModel", pair, {
    model: content(/^model.*bin$/),
    shortlist: content(/^lex.*bin$/),
    vocabs: [content(/^vocab.*spm$/)],
    config: { "ssplit-mode": "sentence" },
  });
  const translations = [];
  for (const text of JSON.parse(fs.readFileSync(0, "utf8"))) {
    const [{ target }] = await call("translate", { models: [pair], texts: [{ text, html: false }] });
    translations.push(target.text);
  }
  fs.writeFileSync(1, JSON.stringify(translations));
}

main()
  .catch((error) => {
    console.error(error.message);
    process.exitCode = 1;
  })
  .finally(() => {
    fs.rmSync(copy, { recursive: true });
    worker.terminate();
  });
