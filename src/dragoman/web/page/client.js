// The page's side of its worker. A translation that nobody waits for any more is not started.

/** @typedef {{translation?: import("../dragoman/dragoman.js").Translation, description?: Record<string, number>, error?: string, bytes?: number}} Answer */

export class Client {
  /** @param {Worker} worker */
  constructor(worker) {
    this.worker = worker;
    this.last = 0;
    /** @type {Map<number, {resolve: (answer: Answer) => void, onProgress?: (bytes: number) => void}>} */
    this.open = new Map();
    /** @type {{call: object, resolve: (answer: Answer | null) => void} | null} */
    this.waiting = null;
    this.isBusy = false;
    worker.addEventListener("message", (event) => this.#receive(event.data));
    worker.addEventListener("error", (event) => {
      for (const { resolve } of this.open.values()) resolve({ error: event.message || "the worker cannot be started" });
      this.open.clear();
    });
  }

  /** @param {Answer & {id: number}} answer */
  #receive(answer) {
    const call = this.open.get(answer.id);
    if (answer.bytes !== undefined) return call?.onProgress?.(answer.bytes);
    this.open.delete(answer.id);
    call?.resolve(answer);
  }

  /** Send a call. @param {object} call @param {Transferable[]} [moved] @param {(bytes: number) => void} [onProgress] @returns {Promise<Answer>} */
  send(call, moved = [], onProgress) {
    const id = ++this.last;
    return new Promise((resolve) => {
      this.open.set(id, { resolve, onProgress });
      this.worker.postMessage({ id, ...call }, moved);
    });
  }

  /** Translate; null if a later call came before this one was started. @param {object} call @returns {Promise<Answer | null>} */
  async translate(call) {
    this.waiting?.resolve(null);
    this.waiting = null;
    if (this.isBusy) {
      const result = await new Promise((resolve) => (this.waiting = { call, resolve }));
      return result;
    }
    this.isBusy = true;
    const answer = await this.send(call);
    this.isBusy = false;
    const next = /** @type {{call: object, resolve: (answer: Answer | null) => void} | null} */ (this.waiting);
    this.waiting = null;
    if (next) this.translate(next.call).then(next.resolve);
    return answer;
  }
}
