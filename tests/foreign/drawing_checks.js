// What test_book_drawings.py asks of the drawings of a page.

const TEXTS = [...document.querySelectorAll("svg text")];

/** The box that a text stands in: that of its group, if it has one, or all of the drawing. */
function boxOf(text) {
  const boxes = text.parentElement.querySelectorAll(":scope > rect:not(.frame)");
  return boxes.length === 1 && !text.matches(".middle") ? boxes[0] : text.ownerSVGElement;
}

/** The rectangle of the letters on the screen: a line of a Chinese font is much higher than they are. */
function lettersOf(text) {
  const [box, style, matrix] = [text.getBBox(), getComputedStyle(text), text.getScreenCTM()];
  const [above, below] = style.dominantBaseline === "auto" ? [0.9, 0.25] : [0.6, 0.6]; // of the size; else the middle
  const [y, size] = [text.getStartPositionOfChar(0).y, parseFloat(style.fontSize)];
  const corners = [box.x, box.x + box.width].flatMap((x) =>
    [y - above * size, y + below * size].map((height) => new DOMPoint(x, height).matrixTransform(matrix)),
  );
  const [across, down] = [corners.map((each) => each.x), corners.map((each) => each.y)];
  return { left: Math.min(...across), right: Math.max(...across), top: Math.min(...down), bottom: Math.max(...down) };
}

/** The words that stick out of their box. */
function stickingOut() {
  return TEXTS.filter((text) => {
    const [inner, outer] = [lettersOf(text), boxOf(text).getBoundingClientRect()];
    const overhang = [outer.left - inner.left, inner.right - outer.right, outer.top - inner.top, inner.bottom - outer.bottom];
    return Math.max(...overhang) > 1;
  }).map((text) => text.textContent);
}

/** The pairs of words that lie on each other. Turned words, whose boxes are larger than they are, are left out. */
function overlaps() {
  const upright = TEXTS.filter((text) => !text.hasAttribute("transform"));
  const boxes = upright.map(lettersOf);
  const shared = (low, high, a, b) => Math.min(a[high], b[high]) - Math.max(a[low], b[low]);
  return upright.flatMap((one, i) =>
    upright
      .filter((_, k) => k > i && shared("left", "right", boxes[i], boxes[k]) > 1)
      .filter((other) => shared("top", "bottom", boxes[i], boxes[upright.indexOf(other)]) > 3)
      .map((other) => [one.textContent, other.textContent]),
  );
}

/** The size of the smallest words on the screen, in pixels. */
function smallest() {
  const scale = TEXTS[0].ownerSVGElement.getScreenCTM().a;
  return Math.min(...TEXTS.map((text) => parseFloat(getComputedStyle(text).fontSize) * scale));
}

/** The luminance of a colour, as WCAG 2 defines it. */
function luminance(colour) {
  const canvas = document.createElement("canvas").getContext("2d");
  canvas.fillStyle = colour;
  canvas.fillRect(0, 0, 1, 1);
  const [red, green, blue] = [...canvas.getImageData(0, 0, 1, 1).data]
    .map((value) => value / 255)
    .map((value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4));
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

/** The least contrast of a word with what is behind it, its box or the page. */
function leastContrast() {
  const page = getComputedStyle(document.body).backgroundColor;
  const ratios = TEXTS.map((text) => {
    const box = boxOf(text);
    const fill = box.matches("rect") ? getComputedStyle(box).fill : page;
    const [low, high] = [getComputedStyle(text).fill, fill === "none" ? page : fill].map(luminance).sort((a, b) => a - b);
    return (high + 0.05) / (low + 0.05);
  });
  return Math.min(...ratios);
}
