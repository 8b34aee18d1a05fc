// Memory of the engine for one call.

import { STRUCTURES } from "./interface.js";

export const NO_MEMORY = "not enough memory: translate a shorter text, or use a smaller model";

/** Memory for one call. */
export class Scope {
  /** @param {import("./engine.js").Engine} engine */
  constructor(engine) {
    this.engine = engine;
    /** @type {number[]} */
    this.places = [];
  }

  /** Return the place of some bytes. @param {number} bytes @returns {number} @throws {Error} there is not enough memory */
  allocate(bytes) {
    const place = this.engine.functions.malloc(bytes + 1);
    if (!place) throw new Error(NO_MEMORY);
    this.places.push(place);
    return place;
  }

  free() {
    for (const place of this.places) this.engine.functions.free(place);
  }

  /** Write ids. @param {number[]} ids @returns {number} */
  ids(ids) {
    const place = this.allocate(8 * ids.length);
    new BigInt64Array(this.engine.functions.memory.buffer, place, ids.length).set(ids.map(BigInt));
    return place;
  }

  /** Write a structure with a value for every field. @param {string} name @param {Record<string, number | boolean>} values */
  structure(name, values) {
    const { size, fields } = STRUCTURES[name];
    const place = this.allocate(size);
    const view = this.engine.view();
    for (const [field, [type, offset]] of Object.entries(fields)) {
      const value = values[field];
      if (value === undefined) throw new Error(`${name}: ${field} is missing`);
      if (type === "int64") view.setBigInt64(place + offset, BigInt(value), true);
      else if (type === "double") view.setFloat64(place + offset, Number(value), true);
      else view.setUint32(place + offset, Number(value), true);
    }
    return place;
  }
}
