// Translates texts from standard input, in JSON, by the stock pipeline of transformers.js.
import { readFileSync } from "node:fs";
import { env, pipeline } from "@huggingface/transformers";

const [folder, name, dtype] = process.argv.slice(2);
env.allowRemoteModels = false;
env.localModelPath = `${folder}/`;
const translate = await pipeline("translation", name, { dtype });
const translations = [];
for (const text of JSON.parse(readFileSync(0, "utf8"))) translations.push((await translate(text))[0].translation_text);
process.stdout.write(JSON.stringify(translations));
