// What a page in one file holds in base64: its worker, its engine and its models.

/** Return the worker: a module, or the script that this page holds. */
export function makeWorker() {
  const script = document.getElementById("worker");
  if (!script) return new Worker(new URL("page/worker.js", location.href), { type: "module" });
  const source = new Blob([decoded(script)], { type: "text/javascript" });
  return new Worker(URL.createObjectURL(source));
}

/** Return the bytes that an element holds in base64. @param {HTMLElement} element */
export function decoded(element) {
  const letters = atob(element.textContent ?? "");
  const bytes = new Uint8Array(letters.length);
  for (let i = 0; i < letters.length; i++) bytes[i] = letters.charCodeAt(i);
  element.remove();
  return bytes;
}
