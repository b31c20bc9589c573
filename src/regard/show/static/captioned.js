// A captioned image: large for the word that is chosen, and small for each word in a strip below. Bright is where a word
// looked; what lies between the cells is drawn smoothly, or the cells are drawn as they are.

import { button, html } from "./dom.js";
import { moved } from "./keys.js";

const LARGE = 420; // pixels of the longer side of the large image, and of a small one
const SMALL = 84;
const PIXELATED = 128; // images up to this many pixels are enlarged as they are
const PACE = 800; // milliseconds of a word while all are played
let count = 0; // of figures on this page: switches of one are not those of another

/**
 * @typedef {{image: string, words: string[], maps: number[][][], smooth: boolean, opacity: number}} CaptionDocument
 */

/**
 * Draw the captioned image that an element carries in its script element, in place of its still picture.
 * @param {HTMLElement} place
 */
export function drawCaptioned(place) {
  const carrier = place.querySelector("script");
  showCaptioned(place, JSON.parse(carrier.textContent), carrier);
}

/**
 * Draw a captioned image into an element, when it is there; what else is in it goes, but for what is to be kept.
 * @param {HTMLElement} place
 * @param {CaptionDocument} document
 * @param {...Element} kept
 */
export async function showCaptioned(place, document, ...kept) {
  const image = new Image();
  image.src = document.image;
  await image.decode();
  place.replaceChildren(...kept, ...figure(document, image));
  place.dataset.drawn = "";
}

/** All elements of one figure, which keep one another up to date. */
function figure(document, image) {
  const { words, maps, smooth, opacity } = document;
  const state = { word: 0, smooth, opacity, cell: null };
  const large = canvas(image, LARGE, { tabindex: 0, role: "img" });
  const said = html("output", { class: "readout", "aria-live": "polite" });
  const strip = html("div", { class: "frames", role: "group", "aria-label": "The words of the caption" });
  const frames = words.map((word, index) => {
    const small = canvas(image, SMALL, { "aria-hidden": "true" });
    const frame = html("button", { type: "button", class: "frame" }, small, html("bdi", {}, word));
    frame.addEventListener("click", () => choose(index));
    strip.append(frame);
    return { frame, small };
  });
  const paint = () => {
    draw(large, image, maps[state.word], state, state.cell);
    for (const [index, { small }] of frames.entries()) draw(small, image, maps[index], state, null);
  };
  const tell = () => {
    const top = peak(maps[state.word]);
    const at = state.cell ?? top;
    const weight = maps[state.word][at.row][at.column].toFixed(4);
    const name = `row ${at.row + 1}, column ${at.column + 1}: ${weight}`;
    said.textContent = `${words[state.word]}: ${name}${state.cell ? "" : " (the most)"}`;
    large.setAttribute("aria-label", `What "${words[state.word]}" looked at. Arrow keys read the weight of each cell.`);
  };
  function choose(index) {
    state.word = index;
    frames.forEach(({ frame }, number) => {
      frame.setAttribute("aria-pressed", String(number === index));
      frame.tabIndex = number === index ? 0 : -1;
    });
    paint();
    tell();
  }
  function point(cell) {
    state.cell = cell;
    paint();
    tell();
  }
  follow(large, maps[0], () => state.cell ?? peak(maps[state.word]), point);
  strip.addEventListener("keydown", (event) => {
    const next = moved(event, { row: 0, column: state.word }, 1, words.length);
    if (!next || next.column === state.word) return;
    event.preventDefault();
    choose(next.column);
    frames[next.column].frame.focus();
  });
  const controls = html("div", { class: "menus" }, ...ways(state, paint), slider(state, paint));
  if (words.length > 1 && !matchMedia("(prefers-reduced-motion: reduce)").matches) {
    controls.append(player(() => state.word, words.length, choose));
  }
  choose(0);
  return [html("div", { class: "stage" }, large), html("div", { class: "said" }, said), strip, controls];
}

/** A canvas in the proportions of the image. */
function canvas(image, side, attributes) {
  const scale = side / Math.max(image.width, image.height);
  const [width, height] = [image.width, image.height].map((length) => Math.max(1, Math.round(scale * length)));
  return html("canvas", { width, height, ...attributes });
}

/** The image under a veil that is thin where a word looked; a cell that is pointed at, or the only one, has a frame. */
function draw(target, image, map, { smooth, opacity }, cell) {
  const context = target.getContext("2d");
  const { width, height } = target;
  const [rows, columns] = [map.length, map[0].length];
  context.imageSmoothingEnabled = Math.max(image.width, image.height) > PIXELATED;
  context.drawImage(image, 0, 0, width, height);
  context.imageSmoothingEnabled = smooth;
  context.drawImage(veil(map, opacity), 0, 0, width, height);
  const top = peak(map);
  const framed = cell ?? (map[top.row][top.column] > 0.999 ? top : null);
  if (!framed) return;
  const box = [(framed.column * width) / columns, (framed.row * height) / rows, width / columns, height / rows];
  for (const [colour, line] of [["#000", 4], ["#fff", 2]]) {
    context.strokeStyle = colour;
    context.lineWidth = line;
    context.strokeRect(...box);
  }
}

/** A pixel for each cell, the darker the less it was looked at: it is scaled to the size of the image. */
function veil(map, opacity) {
  const [rows, columns] = [map.length, map[0].length];
  const made = html("canvas", { width: columns, height: rows });
  const pixels = new ImageData(columns, rows);
  const top = peak(map);
  const most = Math.max(map[top.row][top.column], 1e-9);
  for (let row = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++) {
      pixels.data[4 * (row * columns + column) + 3] = Math.round(255 * opacity * (1 - map[row][column] / most));
    }
  }
  made.getContext("2d").putImageData(pixels, 0, 0);
  return made;
}

/**
 * The cell with the largest weight; of equal ones the first.
 * @param {number[][]} map
 * @returns {{row: number, column: number}}
 */
export function peak(map) {
  let found = { row: 0, column: 0 };
  map.forEach((cells, row) =>
    cells.forEach((weight, column) => {
      if (weight > map[found.row][found.column]) found = { row, column };
    }),
  );
  return found;
}

/** Let the pointer and the keys go over the cells of the large image. */
function follow(large, map, at, point) {
  const [rows, columns] = [map.length, map[0].length];
  large.addEventListener("pointermove", (event) => {
    const box = large.getBoundingClientRect();
    const within = (share, length) => Math.min(length - 1, Math.max(0, Math.floor(share * length)));
    const row = within((event.clientY - box.top) / box.height, rows);
    point({ row, column: within((event.clientX - box.left) / box.width, columns) });
  });
  large.addEventListener("pointerleave", () => point(null));
  large.addEventListener("blur", () => point(null));
  large.addEventListener("keydown", (event) => {
    const next = event.key === "Escape" ? null : moved(event, at(), rows, columns);
    if (next || event.key === "Escape") {
      point(next);
      event.preventDefault();
    }
  });
}

/** Smooth, or cell by cell. */
function ways(state, paint) {
  const name = `overlay-${++count}`;
  const labels = ["smooth", "cells"].map((word) => {
    const smooth = word === "smooth";
    const input = html("input", { type: "radio", name, checked: state.smooth === smooth });
    input.addEventListener("change", () => {
      state.smooth = smooth;
      paint();
    });
    return html("label", {}, input, html("span", {}, word));
  });
  return [html("fieldset", { class: "choice" }, html("legend", {}, "Weights"), html("div", {}, ...labels))];
}

/** How dark it is where nobody looked. */
function slider(state, paint) {
  const input = html("input", { type: "range", min: 0, max: 100, step: 5, value: Math.round(100 * state.opacity) });
  const told = html("output", {}, `${Math.round(100 * state.opacity)} %`);
  input.addEventListener("input", () => {
    state.opacity = Number(input.value) / 100;
    told.textContent = `${input.value} %`;
    paint();
  });
  return html("label", { class: "slider" }, html("span", {}, "Opacity"), input, told);
}

/** Show the words one after the other, from the chosen one on. */
function player(word, length, choose) {
  let timer = 0;
  const stop = () => {
    clearInterval(timer);
    timer = 0;
    made.textContent = "Play";
  };
  const made = button("Play", () => {
    if (timer) return stop();
    if (word() === length - 1) choose(0);
    made.textContent = "Stop";
    timer = setInterval(() => (word() < length - 1 ? choose(word() + 1) : stop()), PACE);
  });
  return made;
}
