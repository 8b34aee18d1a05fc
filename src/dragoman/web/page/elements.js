// New elements.

/** Return an element with a text; what people typed, or a model wrote, has a language. @template {keyof HTMLElementTagNameMap} T @param {T} tag @param {string} [text] @param {string} [lang] @returns {HTMLElementTagNameMap[T]} */
export function made(tag, text = "", lang) {
  const element = document.createElement(tag);
  element.textContent = text;
  if (lang !== undefined) Object.assign(element, { lang: lang === "auto" ? "" : lang, dir: "auto" });
  return element;
}

/** Return an element with others in it. @template {keyof HTMLElementTagNameMap} T @param {T} tag @param {...Node} parts @returns {HTMLElementTagNameMap[T]} */
export function filled(tag, ...parts) {
  const element = document.createElement(tag);
  element.append(...parts);
  return element;
}
