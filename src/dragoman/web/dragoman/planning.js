// From a text to segments that the model searches for, as in translator/planning.py and translator/directions.py.

import { sanitize, splitTags } from "./cleaning.js";
import { cut, isCopied } from "./cutting.js";
import { withOwnQuotes } from "./frame_quotes.js";
import { knownCharacters, knownIn } from "./odd_characters.js";
import { UNKNOWN_LANGUAGE, baseLanguage, matchAt, pattern, strip, stripLeft } from "./patterns.js";
import { Reading, TextReader } from "./reading.js";
import { sanitizeParagraphs } from "./sentences.js";

/** The pieces that an unknown one counts as when the case of a word in capitals is chosen. */
const UNKNOWN_COST = 9;
/**
 * @typedef {object} PlannedSegment
 * @property {string} text
 * @property {number[]} ids
 * @property {"copied" | "unusual" | null} flag
 * @property {boolean} [isFrame] it stands around sentences; of it, only quotation marks change
 * @property {string} [gap] the white space before it, where it or its neighbour is a frame
 * @property {string} [written] its translation, if it is a frame with quotation marks
 * @property {Reading} reading what the ids were made of
 * @property {string} prefix
 * @property {number[]} prefixIds
 * @property {number[]} forbiddenIds
 */

/**
 * @typedef {object} Plan
 * @property {string} text
 * @property {string} typedTags that the text began with
 * @property {string} tags that the model reads before each segment
 * @property {[string, string]} languages
 * @property {PlannedSegment[]} segments
 */

/**
 * @typedef {object} PlanRequest
 * @property {string} prefix the beginning of the translation
 * @property {boolean | null} sentences true: each by itself; false: the whole text; null: as the model learned
 * @property {string | null} sourceLang
 * @property {string | null} targetLang
 * @property {number} maxLength of the translation; 0 for the natural limit
 */

export class Planner {
  /** @param {import("./model_file.js").Description} description @param {import("./tokenizer.js").Tokenizer} source @param {import("./tokenizer.js").Tokenizer} target */
  constructor(description, source, target) {
    this.description = description;
    this.source = source;
    this.target = target;
    const { reserved, targets } = description;
    /** The id of each reserved piece in a translation, by its id in a source. */
    this.reserved = new Map(reserved.map((piece) => [source.ids.get(piece) ?? -1, target.ids.get(piece) ?? -1]));
    this.isKnown = knownCharacters((text) => source.encode(text), source.unknown);
    this.isTagged = targets.length > 1;
    /** Target languages by their tags. */
    this.languages = new Map(this.isTagged ? targets.map((code) => [`>>${code}<<`, code]) : []);
  }

  /** @param {string} input @param {PlanRequest} request @returns {Plan} */
  plan(input, request) {
    const text = sanitizeParagraphs(input);
    const [repeated, rest] = this.source.tags.size ? splitTags(text, this.source.tags) : [[], text];
    const typed = [...new Set(repeated)];
    const [sourceLang, targetLang] = this.#direction(request, typed);
    const added = [...this.languages].filter(([tag, code]) => code === targetLang && !typed.includes(tag)).map(([tag]) => tag);
    const tags = [...added, ...typed].join(" ");
    const hasIcuMessage = pattern("icu_messages.HEAD").test(rest);
    const segments = hasIcuMessage ? [this.#copied(input)] : this.#segments(rest, tags, [sourceLang ?? UNKNOWN_LANGUAGE, targetLang], request);
    const prefix = sanitize(request.prefix);
    if (strip(prefix) && segments.length) this.#begin(segments[0], prefix, request.maxLength);
    return { text, typedTags: typed.join(" "), tags, languages: [sourceLang ?? UNKNOWN_LANGUAGE, targetLang], segments };
  }

  /** Return the codes of a direction as the model has them. @param {PlanRequest} request @param {string[]} typed @returns {[string | null, string]} */
  #direction(request, typed) {
    const { directions, targets } = this.description;
    const sources = [...new Set(directions.map(([code]) => code))];
    const source = this.#find(request.sourceLang, sources, "read");
    const named = this.#find(request.targetLang, targets, "write");
    const typedTag = typed.find((tag) => this.languages.has(tag));
    const target = typedTag === undefined ? named : /** @type {string} */ (this.languages.get(typedTag));
    if (target === null) throw new Error(`the model translates into several languages: ${targets.join(", ")}; give targetLang`);
    return [source, target];
  }

  /** @param {string | null} code @param {string[]} known @param {string} verb */
  #find(code, known, verb) {
    if (code === null) return known.length === 1 ? known[0] : null;
    if (known.includes(code)) return code;
    const { bases } = this.description;
    const base = (/** @type {string} */ one) => bases[one] ?? baseLanguage(one);
    const related = known.filter((each) => base(each) === base(code));
    if (related.length === 1) return related[0];
    if (known.length === 1 && known[0] === UNKNOWN_LANGUAGE) return code;
    const listed = this.description.directions.map(([one, other]) => `${one} to ${other}`).join(", ");
    throw new Error(`the model does not ${verb} ${JSON.stringify(code)}; it translates ${listed}`);
  }

  /** Cut a text; the ids of each segment begin with the tags. @param {string} text @param {string} tags @param {[string, string]} languages @param {PlanRequest} request @returns {PlannedSegment[]} */
  #segments(text, tags, languages, request) {
    const [base, target] = languages.map((language) => this.description.bases[language] ?? language);
    const cost = (/** @type {string} */ word) => this.#cost(word);
    const { reserved } = this.description;
    const reader = new TextReader(text, base, reserved, cost, knownIn(base, this.isKnown));
    /** @type {Map<string, Reading>} */
    const known = new Map();
    const read = (/** @type {string} */ segment) => {
      let reading = known.get(segment);
      if (!reading) {
        reading = reader.read(segment);
        if (this.isTagged) reading.text = withoutTags(reading.text, this.source.tags);
        known.set(segment, reading);
      }
      return reading;
    };
    const encode = (/** @type {string} */ segment) => {
      const { text } = read(segment);
      return this.source.encode(tags ? `${tags} ${text}` : text);
    };
    const segments = cut(reader.text, encode, { ...this.#limits(request.sentences), takesFrames: !request.prefix });
    return withOwnQuotes(segments, target).map((segment) => ({
      ...segment,
      text: reader.original(segment.text),
      ...(segment.written && { written: reader.original(segment.written) }),
      reading: isCopied(segment) ? new Reading() : read(segment.text),
      prefix: "",
      prefixIds: [],
      forbiddenIds: [...this.reserved].filter(([id]) => !segment.ids.includes(id)).map(([, id]) => id),
    }));
  }

  /** Return a segment that stays as it is. @param {string} text @returns {PlannedSegment} */
  #copied(text) {
    return { text: strip(text), ids: [], flag: "copied", reading: new Reading(), prefix: "", prefixIds: [], forbiddenIds: [] };
  }

  /** Give the translation of a segment its beginning. @param {PlannedSegment} segment @param {string} prefix @param {number} maxLength */
  #begin(segment, prefix, maxLength) {
    const { text, masks, hasPieces, hasForeign, tags } = segment.reading;
    const reading = new Reading(text, masks, false, hasPieces, hasForeign, tags); // the caller chose the case
    const ids = this.target.encode(reading.mask(prefix));
    if (ids.includes(this.target.unknown)) throw new Error("the prefix has characters that are not in the vocabulary; leave them out");
    const most = Math.min(maxLength || Infinity, this.description.config.max_length);
    if (ids.length >= most) throw new Error(`the prefix has ${ids.length} tokens, and may have ${most - 1}; shorten it`);
    Object.assign(segment, { prefix: strip(prefix), prefixIds: ids, reading });
  }

  /** @param {string} word */
  #cost(word) {
    const ids = this.source.encode(word);
    return ids.length + UNKNOWN_COST * ids.filter((id) => id === this.source.unknown).length;
  }

  /** @param {boolean | null} bySentence @returns {import("./cutting.js").Limits} */
  #limits(bySentence) {
    const { learned, config } = this.description;
    const maxLength = config.max_length - 1;
    const one = bySentence ? 1 : null;
    if (!learned) return { maxLength, sentences: one, longTokens: null, usualTokens: null, copiesMarks: false, takesFrames: true };
    const sentences = bySentence === null ? learned.sentences : one;
    return { maxLength, sentences, longTokens: learned.long_tokens, usualTokens: learned.usual_tokens, copiesMarks: !learned.knows_marks, takesFrames: true };
  }
}

/** Return a text that no known tag is read from. @param {string} text @param {Set<string>} known */
function withoutTags(text, known) {
  const match = matchAt("tags.TAG", text, text.length - stripLeft(text).length);
  return match && known.has(match[0]) ? text.replace(">>", ">> ") : text;
}
