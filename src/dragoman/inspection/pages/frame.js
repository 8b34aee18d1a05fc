"use strict";

const data = JSON.parse(document.getElementById("data").textContent);
const byId = (id) => document.getElementById(id);

/** A text of the page with its values, {0} and so on; `data.words` may have it in another language. */
function say(text, ...values) {
  return (data.words?.[text] ?? text).replace(/\{(\d)\}/g, (_, i) => values[i]);
}

/** Say all texts of the page itself. */
function sayAll() {
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const text = walker.currentNode.nodeValue.trim().replace(/\s+/g, " ");
    if (data.words?.[text]) walker.currentNode.nodeValue = say(text);
  }
}
if (data.words) sayAll();

/** An element with a class, a text and children; texts are never read as HTML. */
function make(tag, className = "", text = "", ...children) {
  const element = document.createElement(tag);
  if (className) element.className = className;
  if (text) element.textContent = text;
  element.append(...children);
  return element;
}

/** A token as people read it: without SentencePiece's mark of a space, and a space made visible. */
const readable = (token) => token.replace(/^▁(?=.)/u, "").replace(/^[\s▁]+$/u, "␣");

/** Which tokens go on with the word before them, where the tokenizer marks the beginnings of words. */
function continues(tokens) {
  const marked = tokens.some((token) => token.startsWith("▁"));
  const special = (token) => /^<(sos|eos|pad|unk)>$/.test(token);
  return tokens.map((token, i) => marked && i > 0 && !token.startsWith("▁") && !special(token) && !special(tokens[i - 1]));
}

/** Two digits after the point, none before. */
const short = (weight) => (weight >= 0.995 ? "1" : weight < 0.005 ? "<.01" : weight.toFixed(2).slice(1));

/** Scales of colour, read from the style sheet, for light and for dark. */
function shades() {
  const style = getComputedStyle(document.documentElement);
  const stops = [0, 1, 2, 3, 4].map((i) => {
    const hex = style.getPropertyValue(`--shade-${i}`).trim().slice(1);
    return [0, 2, 4].map((place) => parseInt(hex.slice(place, place + 2), 16));
  });
  /** The square root spreads the small weights, of which there are many. */
  const colour = (weight) => {
    const place = Math.sqrt(Math.min(1, Math.max(0, weight))) * (stops.length - 1);
    const low = Math.min(Math.floor(place), stops.length - 2);
    return stops[low].map((value, i) => Math.round(value + (stops[low + 1][i] - value) * (place - low)));
  };
  const luminance = (rgb) => {
    const [r, g, b] = rgb.map((value) => (value / 255 <= 0.04045 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  return {
    rgb: colour,
    css: (weight) => `rgb(${colour(weight).join(" ")})`,
    ink: (weight) => (luminance(colour(weight)) > 0.179 ? "#000000" : "#ffffff"),
  };
}

const whenColoursChange = (redraw) => matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
