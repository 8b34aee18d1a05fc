
const KINDS = {
  cross: { label: "cross-attention", queries: "Written word, attending", keys: "Source word, attended to" },
  encoder: { label: "encoder self-attention", queries: "Source word, attending", keys: "Source word, attended to" },
  decoder: { label: "decoder self-attention", queries: "Word just read, attending", keys: "Word read before, attended to" },
};
const sides = {
  cross: { queries: data.written, keys: data.source },
  encoder: { queries: data.source, keys: data.source },
  decoder: { queries: data.read, keys: data.read },
};
for (const row of Object.values(data.weights).flat(3)) row.forEach((weight, i) => (row[i] = weight / data.scale));
const shown = { ...data.open, side: "queries", index: 0 };
let colours = shades();

/** The weights [query][key] of one head, or the mean of all heads of the layer. */
function weightsOf(kind, layer, head) {
  const heads = data.weights[kind][layer];
  if (head !== "mean") return heads[head];
  return heads[0].map((row, i) => row.map((_, j) => heads.reduce((sum, one) => sum + one[i][j], 0) / heads.length));
}

function choice(name, value, label) {
  const input = make("input");
  Object.assign(input, { type: "radio", name, value, checked: String(shown[name]) === String(value) });
  return make("label", "", "", input, make("span", "", say(label)));
}

function drawControls() {
  const n = data.weights[shown.kind].length;
  byId("kinds").replaceChildren(...Object.keys(KINDS).filter((kind) => data.weights[kind]).map((kind) => choice("kind", kind, KINDS[kind].label)));
  byId("layers").replaceChildren(...Array.from({ length: n }, (_, i) => choice("layer", i, String(i + 1))));
  const heads = data.weights[shown.kind][0].length;
  byId("heads").replaceChildren(choice("head", "mean", "mean"), ...Array.from({ length: heads }, (_, i) => choice("head", i, String(i + 1))));
}

const chipsOf = (side) => [...byId(side).querySelectorAll(".token")];

function drawTokens(side) {
  const tokens = sides[shown.kind][side];
  const glued = continues(tokens);
  const words = [];
  tokens.forEach((token, i) => {
    const chip = make("button", "token", "", make("span", "word", readable(token)), make("span", "weight number"));
    chip.type = "button";
    chip.dataset.side = side;
    chip.dataset.index = i;
    chip.classList.toggle("special", /^<\w+>$/.test(token));
    if (!glued[i]) words.push(make("span", "whole"));
    words.at(-1).append(chip);
  });
  byId(side).replaceChildren(...words);
  byId(`${side}-title`).textContent = say(KINDS[shown.kind][side]);
}

function drawMap() {
  const { queries, keys } = sides[shown.kind];
  const table = byId("map");
  const labels = Math.min(136, 8 * Math.max(...queries.map((query) => readable(query).length)) + 12);
  const room = Math.min(byId("map-scroll").clientWidth - labels, 1000);
  const cell = Math.max(11, Math.min(40, Math.floor(room / keys.length) - 1));
  table.style.setProperty("--cell", `${cell}px`);
  table.classList.toggle("tiny", cell < 16);
  const head = make("tr", "", "", make("td"), ...keys.map((key) => {
    const th = make("th", "", "", make("span", "", readable(key)));
    th.scope = "col";
    return th;
  }));
  const rows = queries.map((query, i) => {
    const th = make("th", "", readable(query));
    th.scope = "row";
    return make("tr", "", "", th, ...keys.map((_, j) => {
      const td = make("td");
      td.dataset.row = i;
      td.dataset.column = j;
      return td;
    }));
  });
  table.replaceChildren(make("thead", "", "", head), make("tbody", "", "", ...rows));
  paintMap(cell >= 30);
}

function paintMap(numbers) {
  const weights = weightsOf(shown.kind, shown.layer, shown.head);
  for (const td of byId("map").querySelectorAll("tbody td")) {
    const weight = weights[td.dataset.row][td.dataset.column];
    td.style.backgroundColor = colours.css(weight);
    td.style.color = colours.ink(weight);
    td.dataset.weight = weight.toFixed(4);
    if (numbers) td.textContent = weight >= 0.005 ? short(weight) : "";
  }
  const head = shown.head === "mean" ? say("mean of the heads") : say("head {0}", Number(shown.head) + 1);
  byId("map-title").textContent = say("Layer {0}, {1}", Number(shown.layer) + 1, head);
}

function drawAll() {
  const layers = data.weights[shown.kind];
  const { queries, keys } = sides[shown.kind];
  byId("all-title").textContent = say("All heads, {0}", say(KINDS[shown.kind].label));
  const n = layers[0].length;
  byId("all").style.setProperty("--columns", n <= 4 ? n : n % 3 || n % 4 === 0 ? 4 : 3);
  byId("all").replaceChildren(...layers.map((heads, layer) => make("div", "layer", "",
    make("h3", "", say("Layer {0}", layer + 1)),
    make("div", "heads", "", ...heads.map((_, head) => {
      const canvas = make("canvas");
      [canvas.width, canvas.height] = [keys.length, queries.length];
      canvas.style.aspectRatio = `${keys.length} / ${queries.length}`;
      const button = make("button", "small", "", make("span", "frame", "", canvas), make("span", "", say("head {0}", head + 1)));
      button.type = "button";
      button.dataset.layer = layer;
      button.dataset.head = head;
      button.setAttribute("aria-label", say("layer {0}, head {1}", layer + 1, head + 1));
      return button;
    })))));
  paintAll();
}

function paintAll() {
  for (const button of byId("all").querySelectorAll(".small")) {
    const weights = weightsOf(shown.kind, button.dataset.layer, button.dataset.head);
    const context = button.querySelector("canvas").getContext("2d");
    const image = context.createImageData(weights[0].length, weights.length);
    weights.flat().forEach((weight, i) => image.data.set([...colours.rgb(weight), 255], 4 * i));
    context.putImageData(image, 0, 0);
  }
}

/** Colour the other side of the active word, and mark its row or column everywhere. */
function light() {
  const weights = weightsOf(shown.kind, shown.layer, shown.head);
  const { queries, keys } = sides[shown.kind];
  const isQuery = shown.side === "queries";
  shown.index = Math.min(shown.index, (isQuery ? queries : keys).length - 1);
  const passing = isQuery ? weights[shown.index] : weights.map((row) => row[shown.index]);
  for (const side of ["queries", "keys"]) {
    chipsOf(side).forEach((chip, i) => {
      const active = side === shown.side && i === shown.index;
      const weight = side === shown.side ? null : passing[i];
      chip.classList.toggle("active", active);
      chip.tabIndex = active || (side !== shown.side && i === 0) ? 0 : -1;
      chip.setAttribute("aria-pressed", active);
      chip.style.backgroundColor = weight === null ? "" : colours.css(weight);
      chip.style.color = weight === null ? "" : colours.ink(weight);
      chip.lastChild.textContent = weight === null ? "" : weight >= 0.005 ? short(weight) : "·";
    });
  }
  for (const td of byId("map").querySelectorAll("td[data-row]")) {
    td.classList.toggle("lit", Number(isQuery ? td.dataset.row : td.dataset.column) === shown.index);
    td.classList.toggle("down", !isQuery);
  }
  byId("map").querySelectorAll("tbody th").forEach((th, i) => th.classList.toggle("active", isQuery && i === shown.index));
  byId("map").querySelectorAll("thead th").forEach((th, i) => th.classList.toggle("active", !isQuery && i === shown.index));
  const n = (isQuery ? queries : keys).length;
  byId("all").className = isQuery ? "rows" : "columns";
  byId("all").style.setProperty("--from", shown.index / n);
  byId("all").style.setProperty("--share", 1 / n);
  for (const button of byId("all").querySelectorAll(".small")) {
    button.setAttribute("aria-pressed", Number(button.dataset.layer) === Number(shown.layer) && button.dataset.head === String(shown.head));
  }
  tell(passing, isQuery);
}

/** The same in words, for eyes and for screen readers. */
function tell(passing, isQuery) {
  const { queries, keys } = sides[shown.kind];
  const others = isQuery ? keys : queries;
  const most = passing.map((weight, i) => [weight, readable(others[i])]).sort((a, b) => b[0] - a[0]).slice(0, 3);
  const list = most.map(([weight, word]) => `${word} ${weight.toFixed(2)}`).join(" · ");
  const word = make("b", "", readable((isQuery ? queries : keys)[shown.index]));
  const verb = say(isQuery ? " attends most to {0}" : " gets most attention from {0}", list);
  const after = shown.kind === "cross" && isQuery ? say(" (to be written after {0})", readable(data.read[shown.index])) : "";
  byId("readout").replaceChildren(word, `${after}${verb}`);
}

function activate(side, index) {
  if (shown.side === side && shown.index === index) return;
  Object.assign(shown, { side, index });
  light();
}

function drawKind() {
  drawTokens("queries");
  drawTokens("keys");
  drawMap();
  drawAll();
  light();
}

function drawLegend() {
  byId("legend").replaceChildren(...[0, 0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 1].map((weight) => {
    const patch = make("i");
    patch.style.backgroundColor = colours.css(weight);
    patch.style.display = "block";
    return make("div", "number", "", patch, String(weight).replace(/^0\./, "."));
  }));
}

byId("source-text").textContent = data.source_text;
byId("target-text").textContent = data.target_text;
document.body.classList.toggle("long", data.source.length > 24 || data.read.length > 24);
drawControls();
drawLegend();
drawKind();

byId("controls").addEventListener("submit", (event) => event.preventDefault());
byId("controls").addEventListener("change", ({ target }) => {
  shown[target.name] = target.value;
  if (target.name === "kind") {
    shown.layer = Math.min(shown.layer, data.weights[shown.kind].length - 1);
    byId("layers").replaceChildren(...data.weights[shown.kind].map((_, i) => choice("layer", i, String(i + 1))));
    drawKind();
  } else {
    paintMap(byId("map").querySelector("td[data-row]").clientWidth >= 30);
    light();
  }
});

for (const side of ["queries", "keys"]) {
  const over = (event) => {
    const chip = event.target.closest(".token");
    if (chip) activate(side, Number(chip.dataset.index));
  };
  for (const event of ["pointerover", "focusin", "click"]) byId(side).addEventListener(event, over);
  byId(side).addEventListener("keydown", (event) => {
    const chips = chipsOf(side);
    const last = chips.length - 1;
    const now = chips.indexOf(document.activeElement);
    const next = { ArrowRight: now + 1, ArrowDown: now + 1, ArrowLeft: now - 1, ArrowUp: now - 1, Home: 0, End: last }[event.key];
    if (next === undefined) return;
    event.preventDefault();
    chips[Math.max(0, Math.min(last, next))].focus();
  });
}

byId("map").addEventListener("pointerover", ({ target }) => {
  if (!target.dataset.row) return;
  activate("queries", Number(target.dataset.row));
  const { queries, keys } = sides[shown.kind];
  const [row, column] = [Number(target.dataset.row), Number(target.dataset.column)];
  byId("readout").replaceChildren(make("b", "", readable(queries[row])), say(" attends to {0} with {1}", readable(keys[column]), Number(target.dataset.weight).toFixed(3)));
});

byId("all").addEventListener("click", (event) => {
  const button = event.target.closest(".small");
  if (!button) return;
  [shown.layer, shown.head] = [button.dataset.layer, button.dataset.head];
  drawControls();
  paintMap(byId("map").querySelector("td[data-row]").clientWidth >= 30);
  light();
});

whenColoursChange(() => {
  colours = shades();
  drawLegend();
  drawKind();
});
let width = innerWidth;
addEventListener("resize", () => {
  if (width !== innerWidth) drawMap();
  width = innerWidth;
  light();
});
