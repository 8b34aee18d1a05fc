// Answers calls of tests, one in JSON a line: [function, ...arguments]. The folder of the module is the first argument.

import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const folder = process.argv[2];
const load = (name) => import(pathToFileURL(`${folder}/${name}.js`).href);
const names = ["dragoman", "model_file", "tokenizer", "cleaning", "sentences", "spans", "shouting", "alignment"];
const [dragoman, modelFile, tokenizer, cleaning, sentences, spans, shouting, alignment] = await Promise.all(names.map(load));
const wasm = readFileSync(`${folder}/dragoman.wasm`);
const translators = {};
const tokenizers = {};

/** The two tokenizers of a file, without the engine. */
function tokenizersOf(path) {
  if (!tokenizers[path]) {
    const { description, part } = modelFile.readModelFile(new Uint8Array(readFileSync(path)));
    const side = (name) => new tokenizer.Tokenizer(description.tokenizers[name], part(`${name}_pieces`) ?? part("pieces"));
    tokenizers[path] = { source: side("source"), target: side("target") };
  }
  return tokenizers[path];
}

async function translatorOf(path) {
  translators[path] ??= await dragoman.Translator.load(new Uint8Array(readFileSync(path)), { wasm });
  return translators[path];
}

const REQUEST = { prefix: "", sentences: null, sourceLang: null, targetLang: null, maxLength: 0 };

const functions = {
  encode: (path, side, text) => tokenizersOf(path)[side].encode(text),
  split: (path, side, text) => tokenizersOf(path)[side].split(text),
  decode: (path, side, ids) => tokenizersOf(path)[side].decode(ids),
  clean: (text) => cleaning.clean(text),
  sentences: (text) => sentences.sentenceSpans(text).map(([start, end]) => text.slice(start, end)),
  spans: (text) => spans.findSpans(text).map((span) => [text.slice(span.start, span.end), span.kind]),
  isShouted: (text) => shouting.isShouted(text),
  shout: (text, language) => shouting.shout(text, language),
  words: (text) => alignment.wordsOf(text),
  plan: async (path, text, request) => {
    const plan = (await translatorOf(path)).planner.plan(text, { ...REQUEST, ...request });
    const segments = plan.segments.map((one) => [one.text, one.ids, one.flag, one.prefixIds, one.forbiddenIds.sort((a, b) => a - b)]);
    return { ...plan, segments };
  },
  translate: async (path, text, options) => (await translatorOf(path)).translate(text, options),
  translateFreed: async (path, text) => {
    const translator = await dragoman.Translator.load(new Uint8Array(readFileSync(path)), { wasm });
    translator.free();
    translator.free();
    return translator.translate(text);
  },
  memory: async (path) => (await translatorOf(path)).model.engine.bytes,
};

for await (const line of createInterface({ input: process.stdin })) {
  const [name, ...given] = JSON.parse(line);
  let answer;
  try {
    answer = { result: await functions[name](...given) };
  } catch (error) {
    answer = { error: error.message };
  }
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}
