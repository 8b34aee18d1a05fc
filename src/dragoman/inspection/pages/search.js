
const ENDS = {
  finished: { sign: "✓", meaning: "finished: wrote the end mark" },
  cut: { sign: "▪", meaning: "cut: no room for more, or no token was allowed to follow" },
  overtaken: { sign: "×", meaning: "overtaken: none of its continuations was among the best" },
  hopeless: { sign: "○", meaning: "hopeless: could not have become the best any more" },
};
const glued = data.nodes.some((node) => node.token.startsWith("▁"));
const root = { children: [], length: 0 };
let colours = shades();
let active = null;

/** Join the nodes to a tree, the most promising child of each first. */
function grow() {
  data.nodes.forEach((node) => Object.assign(node, { children: [], above: node.parent < 0 ? root : data.nodes[node.parent] }));
  for (const node of data.nodes) node.above.children.push(node);
  const rank = (node) => [node.best, node.score !== null, node.score ?? node.length, node.total].map(Number);
  const better = (one, other) => {
    const place = one.findIndex((value, i) => value !== other[i]);
    return place >= 0 && one[place] > other[place];
  };
  for (const node of [...data.nodes].reverse()) {
    node.rank = node.children.map((child) => child.rank).reduce((best, each) => (better(each, best) ? each : best), node.children[0]?.rank ?? rank(node));
  }
  for (const node of [root, ...data.nodes]) node.children.sort((one, other) => (better(one.rank, other.rank) ? -1 : 1));
}

/** Give each hypothesis a row: the best goes straight on, the others below it; returns the last row used. */
function place(node, row) {
  node.row = row;
  return node.children.reduce((last, child, i) => place(child, i === 0 ? row : last + 1), row);
}

function textOf(node) {
  const path = [];
  for (let each = node; each !== root; each = each.above) path.unshift(each.token);
  return path.map((token, i) => (glued ? token.replace(/^<\w+>$/, " $&").replace(/▁/g, " ") : (i ? " " : "") + token));
}

function draw() {
  grow();
  place(root, 1);
  for (const node of data.nodes) {
    const probability = Math.exp(node.log_prob);
    node.box = make("button", "node", "", make("span", "", readable(node.token)), make("span", "number", short(probability)));
    node.box.type = "button";
    node.box.tabIndex = -1;
    node.box.dataset.fate = node.fate;
    Object.assign(node.box.style, { gridRow: node.row, gridColumn: node.length });
    node.box.classList.toggle("best", node.best);
    const score = node.score === null ? "" : ` ${node.score.toFixed(2)}`;
    if (ENDS[node.fate]) node.box.append(make("span", "end number", `${ENDS[node.fate].sign}${score}`));
    node.box.addEventListener("pointerover", () => choose(node));
    node.box.addEventListener("focus", () => choose(node));
    byId("tree").append(node.box);
  }
  paint();
  link();
}

function paint() {
  for (const node of data.nodes) {
    node.box.style.backgroundColor = colours.css(Math.exp(node.log_prob));
    node.box.style.color = colours.ink(Math.exp(node.log_prob));
    node.box.querySelector(".end")?.style.setProperty("color", "var(--quiet)");
  }
}

/** Lines from each box to those that go on with it; they turn in the gap between two columns. */
function link() {
  const lines = data.nodes.filter((node) => node.above !== root || node.row > 1).map((node) => {
    const to = node.box;
    const from = node.above === root ? data.nodes.find((each) => each.row === 1 && each.length === 1).box : node.above.box;
    const [x, y] = [to.offsetLeft, to.offsetTop + to.offsetHeight / 2];
    const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
    const [startX, startY] = node.above === root ? [x - 8, from.offsetTop + from.offsetHeight / 2] : [from.offsetLeft + from.offsetWidth, from.offsetTop + from.offsetHeight / 2];
    const turn = x - 11;
    path.setAttribute("d", y === startY ? `M${startX} ${y}H${x}` : node.above === root ? "" : `M${startX} ${startY}H${turn - 5}q5 0 5 5V${y - 5}q0 5 5 5H${x}`);
    path.classList.toggle("best", node.best);
    return path;
  });
  lines.sort((one, other) => one.classList.contains("best") - other.classList.contains("best"));
  byId("links").replaceChildren(...lines);
}

function choose(node) {
  if (active === node) return;
  if (active) {
    active.box.classList.remove("active");
    active.box.tabIndex = -1;
  }
  active = node;
  node.box.classList.add("active");
  node.box.tabIndex = 0;
  const text = textOf(node);
  byId("hypothesis").replaceChildren(text.slice(0, -1).join("").trimStart(), make("b", "", text.at(-1)));
  const parts = [say("token {0}", node.length), say("log-probability {0} in all", node.total.toFixed(3))];
  if (node.score !== null) parts.push(say("score {0}", node.score.toFixed(3)));
  const end = node.best && !node.children.length ? "the translation" : ENDS[node.fate]?.meaning;
  parts.push(end ? say(end) : say("{0} of its continuations kept", node.children.length));
  byId("fate").textContent = parts.join(" · ");
  const choices = [{ token: node.token, probability: Math.exp(node.log_prob), written: true }, ...node.rivals];
  choices.sort((one, other) => other.probability - one.probability);
  byId("rivals").replaceChildren(...choices.map((choice) => {
    const bar = make("i");
    bar.style.width = `${100 * choice.probability}%`;
    return make("div", choice.written ? "rival written" : "rival", "", make("span", "", readable(choice.token)), bar, make("span", "number", choice.probability.toFixed(3)));
  }));
}

/** The nearest box above or below in the same column. */
function beside(node, step) {
  const column = data.nodes.filter((each) => each.length === node.length).sort((one, other) => one.row - other.row);
  return column[column.indexOf(node) + step];
}

byId("tree").addEventListener("keydown", (event) => {
  const next = {
    ArrowLeft: () => (active.above === root ? null : active.above),
    ArrowRight: () => active.children[0],
    ArrowUp: () => beside(active, -1),
    ArrowDown: () => beside(active, 1),
  }[event.key];
  if (!next) return;
  event.preventDefault();
  next()?.box.focus();
});

byId("how").textContent = say("Beam search, {0} wide", data.beam_size);
byId("source-text").textContent = data.source_text;
byId("target-text").textContent = data.target_text;
document.body.classList.toggle("long", data.source_text.length > 120);
draw();
// The place of which the model was least sure.
choose(data.nodes.filter((node) => node.best).reduce((one, other) => (other.log_prob < one.log_prob ? other : one)));
for (const [fate, { sign, meaning }] of Object.entries(ENDS)) {
  const count = data.nodes.filter((node) => node.fate === fate).length;
  if (count) byId("key").append(make("span", "", `${sign} ${say(meaning)} (${count})`));
}
whenColoursChange(() => {
  colours = shades();
  paint();
});
addEventListener("resize", link);
