// What all widgets share: the language of the page, elements, sliders, shades, and movement by arrow keys.

/**
 * Fill the places of a widget in the page.
 *
 * @template {{title: string, hint: string}} T
 * @param {string} name as the directive gives it
 * @param {{en: T, zh: T}} labels a title, a hint how to use it, and what else it says
 * @param {(place: HTMLElement, say: T) => void} fill
 */
export function widget(name, labels, fill) {
  const say = document.documentElement.lang.startsWith("zh") ? labels.zh : labels.en;
  for (const place of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll(`[data-widget="${name}"]`))) {
    place.setAttribute("aria-label", say.title);
    place.replaceChildren(element("p", { className: "widget-title" }, say.title), element("p", { className: "widget-hint" }, say.hint));
    fill(place, say);
  }
}

/**
 * Make an element.
 *
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} tag @param {Record<string, unknown>} properties `role` and names with a hyphen are attributes
 * @param {...(Node | string)} children
 * @returns {HTMLElementTagNameMap[K]}
 */
export function element(tag, properties = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name.includes("-") || name === "role") made.setAttribute(name, String(value));
    else Object.assign(made, { [name]: value });
  }
  made.append(...children);
  return made;
}

/**
 * Make an element of a drawing.
 *
 * @template {keyof SVGElementTagNameMap} K
 * @param {K} tag @param {Record<string, string | number>} attributes
 * @returns {SVGElementTagNameMap[K]}
 */
export function svg(tag, attributes = {}) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, String(value));
  return made;
}

/**
 * Shade an element, the darker the larger the share, and return it.
 *
 * @template {HTMLElement} T
 * @param {T} made @param {number} share from 0 to 1
 * @returns {T}
 */
export function shade(made, share) {
  made.style.setProperty("--share", String(share));
  return made;
}

/** Make a row of heads of columns, with an empty corner. @param {string[]} names */
export const headRow = (names) => element("tr", {}, element("td"), ...names.map((name) => element("th", { scope: "col" }, name)));

/** Make a button. @param {string} text @param {() => void} act @param {Record<string, unknown>} [properties] */
export function button(text, act, properties = {}) {
  const made = element("button", { type: "button", ...properties }, text);
  made.addEventListener("click", act);
  return made;
}

/**
 * Make a slider with its name and its value.
 *
 * @param {string} name @param {{min: number, max: number, step: number, value: number}} range
 * @param {(value: number) => void} act @param {(value: number) => string} show
 */
export function slider(name, range, act, show = String) {
  const { value, ...bounds } = range;
  const input = element("input", { type: "range", ...bounds, "aria-label": name });
  input.valueAsNumber = value; // after the bounds, which would change it
  const output = element("output", {});
  const tell = () => {
    output.textContent = show(input.valueAsNumber);
    input.setAttribute("aria-valuetext", show(input.valueAsNumber));
  };
  input.addEventListener("input", () => {
    tell();
    act(input.valueAsNumber);
  });
  tell();
  return element("label", { className: "widget-slider" }, element("span", {}, name), input, output);
}

/** Make a line that screen readers read when it changes. */
export const statusLine = () => element("p", { className: "widget-status", role: "status" });

/** Make a row for controls. @param {...(Node | string)} children */
export const controls = (...children) => element("div", { className: "widget-controls" }, ...children);

/**
 * Let the arrow keys move between elements in rows; Tab stops at one of them only.
 *
 * @param {HTMLElement[][]} rows
 */
export function moveByArrows(rows) {
  const moves = new Map([["ArrowLeft", [0, -1]], ["ArrowRight", [0, 1]], ["ArrowUp", [-1, 0]], ["ArrowDown", [1, 0]]]);
  rows.forEach((row, i) =>
    row.forEach((one, j) => {
      one.tabIndex = i + j === 0 ? 0 : -1;
      one.addEventListener("focus", () => {
        for (const other of rows.flat()) other.tabIndex = other === one ? 0 : -1;
      });
      one.addEventListener("keydown", (event) => {
        const [down, right] = moves.get(event.key) ?? [0, 0];
        const next = rows[i + down]?.[j + right];
        if (!down && !right) return;
        event.preventDefault();
        next?.focus();
      });
    }),
  );
}
