// Documents that are dropped on the page or chosen: the server translates them, and the page links to the result.

import { showReport, summary } from "./report.js";
import { say } from "./sayings.js";

/** @typedef {{source: string, target: string, key: string, terms: string}} Settings */

export class Documents {
  /** @param {string[]} formats suffixes with a dot; none if documents cannot be translated @param {() => Settings} settings */
  constructor(formats, settings) {
    this.settings = settings;
    this.formats = formats;
    this.line = /** @type {HTMLElement} */ (document.getElementById("document"));
    this.report = /** @type {HTMLElement} */ (document.getElementById("document-report"));
    const choice = /** @type {HTMLInputElement} */ (document.getElementById("file"));
    const button = /** @type {HTMLButtonElement} */ (document.getElementById("choose-file"));
    button.hidden = !formats.length;
    if (!formats.length) return;
    choice.accept = formats.join(",");
    button.addEventListener("click", () => choice.click());
    choice.addEventListener("change", () => {
      if (choice.files?.length) this.translate(choice.files[0]);
      choice.value = "";
    });
    for (const name of ["dragenter", "dragover", "dragleave", "drop"]) {
      document.addEventListener(name, (event) => this.#drag(/** @type {DragEvent} */ (event)));
    }
  }

  /** @param {DragEvent} event */
  #drag(event) {
    if (!event.dataTransfer?.types.includes("Files")) return;
    event.preventDefault();
    document.body.classList.toggle("dropping", event.type === "dragenter" || event.type === "dragover");
    const [file] = event.dataTransfer.files;
    if (event.type === "drop" && file) this.translate(file);
  }

  /** @param {File} file */
  async translate(file) {
    const { source, target, key, terms } = this.settings();
    showReport(this.report, null);
    if (!this.formats.some((suffix) => file.name.toLowerCase().endsWith(suffix))) {
      this.line.textContent = say("document_kinds", file.name, this.formats.join(" "));
      return;
    }
    const body = new FormData();
    for (const [name, value] of Object.entries({ file, source, target, terms, report: "true" })) body.append(name, value);
    if (/\.[ct]sv$/i.test(file.name)) {
      const columns = prompt(say("document_columns", file.name));
      if (columns === null) return;
      body.append("columns", columns);
    }
    this.line.textContent = say("document_working", file.name);
    try {
      const response = await fetch("translate_file", { method: "POST", body, headers: key ? { Authorization: `Bearer ${key}` } : {} });
      const answer = await response.json();
      if (!response.ok) throw new Error(answer.error ?? response.statusText);
      const name = answer.translatedFileUrl.split("/").pop();
      const link = Object.assign(document.createElement("a"), { href: `download_file/${name}`, download: "" });
      link.textContent = say("document_done", file.name);
      this.line.replaceChildren(link, summary(answer.report));
      showReport(this.report, answer.report, source, target);
    } catch (error) {
      const problem = error instanceof Error ? error.message : String(error);
      this.line.textContent = say("document_failed", file.name, problem);
    }
  }
}
