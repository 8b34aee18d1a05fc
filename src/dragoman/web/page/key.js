// The box for the key that a server wants. The key is kept in this browser, and sent to this server only.

import { keep, kept } from "./storage.js";

export class KeyBox {
  /** @param {boolean} isNeeded @param {() => void} onChange */
  constructor(isNeeded, onChange) {
    const form = /** @type {HTMLFormElement} */ (document.getElementById("key-form"));
    this.box = /** @type {HTMLInputElement} */ (document.getElementById("key"));
    form.hidden = !isNeeded;
    this.isNeeded = isNeeded;
    if (!isNeeded) return;
    this.box.value = kept("key") ?? "";
    form.addEventListener("submit", (event) => event.preventDefault());
    this.box.addEventListener("change", () => {
      keep("key", this.value || null);
      onChange();
    });
  }

  get value() {
    return this.isNeeded ? this.box.value.trim() : "";
  }

  /** True if the server wants a key and there is none. */
  get isMissing() {
    return this.isNeeded && !this.value;
  }
}
