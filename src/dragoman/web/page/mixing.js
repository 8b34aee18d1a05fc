// The translation of a text, each sentence of it chosen by itself among those that the search found.

/** @typedef {import("../dragoman/dragoman.js").Candidate} Candidate */
/** @typedef {{text: string, score: number, words?: string[], alignment: [number, number][], doubtful: number[]}} Stretch a sentence with the marks that touch it */

const MOST_OPTIONS = 5;

export class Mix {
  /** @param {Candidate[]} candidates of equally many parts, the best first */
  constructor(candidates) {
    const bounds = boundsOf(candidates.map(({ parts }) => parts.map(({ text }) => text)));
    const rows = candidates.map((candidate) => stretchesOf(candidate, bounds));
    /** Different translations of each stretch. */
    this.options = bounds.slice(1).map((_, i) => {
      const all = rows.map((row) => row[i]);
      return all.filter(({ text }, rank) => (text.trim() || !rank) && all.findIndex((other) => other.text === text) === rank).slice(0, MOST_OPTIONS);
    });
    this.chosen = this.options.map(([best]) => best);
  }

  get text() {
    return this.chosen.map(({ text }) => text).join("");
  }

  /** The words of the text, their links to those of the source, and the doubtful ones; null if they are not known yet. */
  get linked() {
    /** @type {Required<Pick<Stretch, "words" | "alignment" | "doubtful">>} */
    const linked = { words: [], alignment: [], doubtful: [] };
    for (const { words, alignment, doubtful } of this.chosen) {
      if (!words) return null;
      const first = linked.words.length;
      for (const [from, to] of alignment) linked.alignment.push([from, first + to]);
      linked.doubtful.push(...doubtful.map((word) => first + word));
      linked.words.push(...words);
    }
    return linked;
  }
}

/** Return where stretches begin, and where the last ends. A part that is the same everywhere, such as a bracket, belongs to what it touches. @param {string[][]} texts of the parts of each candidate */
function boundsOf([best = [], ...others]) {
  const isFixed = best.map((text, i) => others.every((parts) => parts[i] === text));
  const begins = (/** @type {number} */ i) => i === 0 || !(isFixed[i] || isFixed[i - 1]) || /\s$/.test(best[i - 1]) || /^\s/.test(best[i]);
  return [...best.keys()].filter(begins).concat(best.length);
}

/** Cut a candidate into stretches. A word belongs to that in which it begins. @param {Candidate} candidate @param {number[]} bounds @returns {Stretch[]} */
function stretchesOf({ text: all, parts, words, alignment = [], doubtful = [] }, bounds) {
  let [end, place] = [0, 0];
  /** @type {{stretch: Stretch, number: number}[]} the stretch of each word, and its number in it */
  const owners = [];
  const stretches = bounds.slice(1).map((bound, i) => {
    const own = parts.slice(bounds[i], bound);
    const text = own.map((part) => part.text).join("");
    const first = owners.length;
    /** @type {Stretch} */
    const stretch = { text, score: own.reduce((sum, part) => sum + part.score, 0), alignment: [], doubtful: [] };
    for (end += text.length; words && owners.length < words.length; ) {
      const word = words[owners.length];
      const start = Math.max(place, all.indexOf(word, place));
      if (start >= end) break;
      place = start + word.length;
      owners.push({ stretch, number: owners.length - first });
    }
    stretch.words = words?.slice(first, owners.length);
    return stretch;
  });
  for (const [from, to] of alignment) owners[to]?.stretch.alignment.push([from, owners[to].number]);
  for (const word of doubtful) owners[word]?.stretch.doubtful.push(owners[word].number);
  return stretches;
}
