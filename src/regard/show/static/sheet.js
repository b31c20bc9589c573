// A sheet: one matrix with its labels, ready to be drawn by any view or saved. What a reader has before the eyes.

import { meanOfHeads, mergePieces } from "./merge.js";

/**
 * @typedef {{rows: string[], columns: string[], values: Float64Array, rowSide: string, columnSide: string,
 *   title: string, sums: boolean, links: [number, number][], diverging: boolean, self: boolean}} Sheet
 * @typedef {{kind: string, layer: number, heads: number[]}} Look which layer, and the mean of which heads
 * @typedef {{unit: "words" | "pieces", end: boolean}} Reading words or pieces; with the end of the sentence or not
 */

/** How the end of a sentence is written; it is the last piece and the last word of its side. */
export const START = "<s>";
export const END = "</s>";

/**
 * A label as it is shown: nothing and blanks would be invisible.
 * @param {string} label
 * @returns {string}
 */
export function shown(label) {
  if (label === "") return "(empty)";
  return label.trim() === "" ? "\u2423" : label;
}

/**
 * What a look is called, counted from 1: "Layer 2, head 3 (cross)".
 * @param {Look} look
 * @param {number} all how many heads the layer has
 * @returns {string}
 */
export function nameLook(look, all) {
  const names = look.heads.map((head) => head + 1).join(", ");
  const several = look.heads.length === all ? "mean of all heads" : `mean of heads ${names}`;
  return `Layer ${look.layer + 1}, ${look.heads.length === 1 ? `head ${names}` : several} (${look.kind})`;
}

/**
 * The layer that a look is at.
 * @param {import("./decode.js").Figure} figure
 * @param {Look} look
 * @returns {import("./decode.js").Layer}
 */
export function layerOf(figure, look) {
  return figure.layers(look.kind).find((layer) => layer.layer === look.layer);
}

/**
 * The sheet of one look of a figure.
 * @param {import("./decode.js").Figure} figure
 * @param {Look} look
 * @param {Reading} reading
 * @returns {Promise<Sheet>}
 */
export async function makeSheet(figure, look, reading) {
  const layer = layerOf(figure, look);
  const sides = figure.document;
  const [rowSide, columnSide] = [sides[layer.rows], sides[layer.columns]];
  let values = meanOfHeads(await figure.weights(layer), layer.shape, look.heads);
  if (reading.unit === "words") {
    values = mergePieces(values, rowSide.word, columnSide.word, rowSide.words.length, columnSide.words.length);
  }
  const whole = {
    rows: rowSide[reading.unit],
    columns: columnsOf(columnSide[reading.unit], look.kind),
    values,
    rowSide: layer.rows,
    columnSide: layer.columns,
    title: nameLook(look, layer.shape[0]),
    sums: false,
    links: linksOf(sides, look, reading),
    diverging: false,
    self: layer.rows === layer.columns,
  };
  const sheet = reading.end ? whole : withoutEnd(whole);
  return { ...sheet, sums: sumsToOne(sheet) };
}

/**
 * What is looked at, by name. A decoder looks back at the start, which stands where the end would.
 * @param {string[]} labels
 * @param {string} kind
 * @returns {string[]}
 */
function columnsOf(labels, kind) {
  return kind === "decoder-self" && labels.at(-1) === END ? [...labels.slice(0, -1), START] : labels;
}

/**
 * The document's links as cells. They join words of both sides, and were read from the chosen heads.
 * @param {import("./decode.js").FigureDocument} sides
 * @param {Look} look
 * @param {Reading} reading
 * @returns {[number, number][]}
 */
function linksOf(sides, look, reading) {
  const { chosen } = sides;
  const same = look.kind === chosen.kind && look.layer === chosen.layer && String(look.heads) === String(chosen.heads);
  return same && look.kind === "cross" && reading.unit === "words" ? sides.links.map(([source, target]) => [target, source]) : [];
}

/**
 * A sheet without the row and the column of the end of the sentence; the other weights stay as they are.
 * @param {Sheet} sheet
 * @returns {Sheet}
 */
function withoutEnd(sheet) {
  const rows = sheet.rows.at(-1) === END ? sheet.rows.slice(0, -1) : sheet.rows;
  const columns = [START, END].includes(sheet.columns.at(-1)) ? sheet.columns.slice(0, -1) : sheet.columns;
  const values = new Float64Array(rows.length * columns.length);
  for (let row = 0; row < rows.length; row++) {
    const start = row * sheet.columns.length;
    values.set(sheet.values.subarray(start, start + columns.length), row * columns.length);
  }
  const links = sheet.links.filter(([row, column]) => row < rows.length && column < columns.length);
  return { ...sheet, rows, columns, values, links };
}

/**
 * One row of a sheet.
 * @param {Sheet} sheet
 * @param {number} row
 * @returns {Float64Array}
 */
export function rowOf(sheet, row) {
  return sheet.values.subarray(row * sheet.columns.length, (row + 1) * sheet.columns.length);
}

/**
 * Does every row sum to one? A mechanism with gates, or a window, need not.
 * @param {Sheet} sheet
 * @returns {boolean}
 */
export function sumsToOne(sheet) {
  return sheet.rows.every((_, row) => Math.abs(rowOf(sheet, row).reduce((sum, value) => sum + value, 0) - 1) <= 1e-3);
}

/**
 * The columns of a row from the strongest to the weakest.
 * @param {Sheet} sheet
 * @param {number} row
 * @returns {number[]}
 */
export function strongest(sheet, row) {
  const values = rowOf(sheet, row);
  return [...values.keys()].sort((one, other) => values[other] - values[one] || one - other);
}

/**
 * What a cell says: "zone <- area: 0.812".
 * @param {Sheet} sheet
 * @param {number} row
 * @param {number} column
 * @returns {string}
 */
export function sentence(sheet, row, column) {
  const value = sheet.values[row * sheet.columns.length + column];
  return `${shown(sheet.rows[row])} <- ${shown(sheet.columns[column])}: ${value.toFixed(3)}`;
}

/**
 * What is to be read on every figure: who looks, what is looked at, and whether rows sum to one.
 * @param {Sheet} sheet
 * @returns {{rows: string, columns: string, sums: string}}
 */
export function captions(sheet) {
  const sums = sheet.sums ? "each row sums to 1" : "rows need not sum to 1";
  return {
    rows: `rows = ${sheet.rowSide} (who looks)`,
    columns: `columns = ${sheet.columnSide} (what is looked at)`,
    sums: sheet.diverging ? "first minus second" : sums,
  };
}

/**
 * Do two sheets speak of the same words?
 * @param {Sheet} one
 * @param {Sheet} other
 * @returns {boolean}
 */
export function sameWords(one, other) {
  const same = (left, right) => left.length === right.length && left.every((label, index) => label === right[index]);
  return same(one.rows, other.rows) && same(one.columns, other.columns);
}

/**
 * The first sheet minus the second.
 * @param {Sheet} one
 * @param {Sheet} other
 * @returns {Sheet}
 */
export function difference(one, other) {
  const values = one.values.map((value, index) => value - other.values[index]);
  return { ...one, values, title: "Difference", sums: false, links: [], diverging: true };
}
