// Where a reader makes the model look: pins, each a piece of the output on pieces of the source.

import { button, html } from "../figures/dom.js";
import { shown } from "../figures/sheet.js";

/** @typedef {Map<number, number[]>} Pins by the number of the target's piece, those of the source's pieces */

/**
 * Pins as a word of an address: "3:7;4:1,2".
 * @param {Pins} pins
 * @returns {string}
 */
export function writePins(pins) {
  return [...pins].map(([step, places]) => `${step}:${places.join(",")}`).join(";");
}

/**
 * @param {string} [text]
 * @returns {Pins}
 */
export function readPins(text = "") {
  const found = [...text.matchAll(/(\d{1,6}):(\d{1,6}(?:,\d{1,6})*)/g)];
  return new Map(found.map(([, step, places]) => [Number(step), places.split(",").map(Number)]));
}

/**
 * Pins as a request has them. Where heads are read one step later, a row that is seen is the look of the next step.
 * @param {Pins} pins
 * @param {boolean} later
 */
export function pinsAsked(pins, later) {
  const shares = (places) => Object.fromEntries(places.map((place) => [place, 1]));
  return [...pins].map(([step, places]) => ({ step: step + Number(later), shares: shares(places) }));
}

/**
 * The pieces behind a cell: of its word, or the piece itself.
 * @param {{word: number[]}} side
 * @param {number} index
 * @param {"words" | "pieces"} unit
 * @returns {number[]}
 */
function piecesOf(side, index, unit) {
  return unit === "pieces" ? [index] : [...side.word.keys()].filter((piece) => side.word[piece] === index);
}

/**
 * Pin the row of a cell on its column.
 * @param {Pins} pins
 * @param {import("../figures/decode.js").FigureDocument} document
 * @param {{row: number, column: number}} cell
 * @param {"words" | "pieces"} unit
 */
export function pinCell(pins, document, { row, column }, unit) {
  for (const step of piecesOf(document.target, row, unit)) pins.set(step, piecesOf(document.source, column, unit));
}

/**
 * The pins as a list, each to be taken back.
 * @param {Pins} pins
 * @param {import("../figures/decode.js").FigureDocument} document
 * @param {() => void} changed
 * @returns {HTMLElement}
 */
export function drawPins(pins, document, changed) {
  const { source, target } = document;
  const items = [...pins].map(([step, places]) => {
    const plain = (text) => shown(text.replaceAll("\u2581", " ").trim()); // spaces are marked in pieces
    const from = html("bdi", {}, plain(target.pieces[step] ?? `piece ${step + 1}`));
    const to = html("bdi", {}, plain(places.map((place) => source.pieces[place] ?? "?").join("")));
    const name = `Take back the pin of piece ${step + 1}`;
    const take = () => {
      pins.delete(step);
      changed();
    };
    return html("li", {}, from, " \u2192 ", to, button("\u00d7", take, { "aria-label": name }));
  });
  return html("ul", { class: "pins", "aria-label": "Pins" }, ...items);
}
