// The tokens that could have been written in a place, with their probabilities.

/** @typedef {import("../../../../src/dragoman/web/dragoman/dragoman.js").Translator} Translator */
/** @typedef {{token: string, probability: number}} NextToken */

const END = "<eos>";

/**
 * Return the n most probable tokens after a beginning of the translation, the most probable first.
 *
 * A search that begins with these ids and may not end there reads the n best tokens that follow. How probable the end
 * is follows from the score of the beginning as a whole translation.
 *
 * @param {Translator} translator @param {string} text of which the first segment that is not copied is meant
 * @param {number[]} written ids @param {number} n
 * @returns {NextToken[]}
 */
export function nextTokens({ planner, model, target, description }, text, written, n) {
  const request = { prefix: "", sentences: null, sourceLang: null, targetLang: null, maxLength: 0, masksNumbers: false };
  const segment = planner.plan(text, request).segments.find(({ flag }) => flag !== "copied");
  if (!segment) return [];
  const nothing = { lengthPenalty: 0, maxLength: 0, noRepeatNgram: 0, repetitionPenalty: 1, seconds: 0 };
  const search = { ...nothing, beamSize: n, nBest: n, minLength: written.length + 1 };
  const { nodes } = model.translate(segment.ids, search, written, segment.forbiddenIds);
  let last = 0;
  for (const id of written) last = nodes.findIndex((node) => node.parent === last && node.id === id);
  const { n_decoder_layers: nLayers, n_heads: nHeads } = description.config;
  const { logProbs } = model.score(segment.ids, written, nLayers * nHeads * (segment.ids.length + 1));
  const others = nodes.filter((node) => node.parent === last).map(({ id, logProb }) => ({ token: target.pieces[id], probability: Math.exp(logProb) }));
  const all = [...others, { token: END, probability: Math.exp(logProbs[written.length]) }];
  return all.sort((one, other) => other.probability - one.probability).slice(0, n);
}
