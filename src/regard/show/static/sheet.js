// A sheet: one matrix with its labels, ready to be drawn by any view or saved. What a reader has before the eyes.

import { meanOfHeads, mergePieces } from "./merge.js";

/**
 * @typedef {{rows: string[], columns: string[], values: Float64Array, rowSide: string, columnSide: string,
 *   title: string, sums: boolean, links: [number, number][], diverging: boolean, self: boolean, before: number,
 *   closed: Uint8Array | null}} Sheet `before`: columns before that of the first row's own word, where a text looks at
 *   itself; `closed`: 1 where nothing was to be looked at, of a text that looks back
 * @typedef {{kind: string, layer: number, heads: number[]}} Look which layer, and the mean of which heads
 * @typedef {{unit: "words" | "pieces", end: boolean, later?: boolean}} Reading words or pieces; with the end of the
 *   sentence or not; of a text that looks back, each word at the step that reads it, or (usually) that writes it
 */

/** How the start and the end of a sentence are written; the end is the last piece and the last word of its side. */
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
  const back = look.kind === "decoder-self" && columnSide.words.at(-1) === END;
  const later = back && Boolean(reading.later);
  let values = meanOfHeads(await figure.weights(layer), layer.shape, look.heads);
  if (later) values = oneLater(values, layer.shape[2]);
  if (reading.unit === "words") {
    values = mergePieces(values, rowSide.word, columnSide.word, rowSide.words.length, columnSide.words.length);
  }
  const whole = {
    rows: rowSide[reading.unit],
    columns: columnSide[reading.unit],
    values,
    rowSide: layer.rows,
    columnSide: layer.columns,
    title: nameLook(look, layer.shape[0]),
    sums: false,
    links: linksOf(sides, look, reading),
    diverging: false,
    self: layer.rows === layer.columns,
    before: 0,
    closed: null,
  };
  const drawn = back ? backwards(whole, later) : whole;
  const sheet = reading.end ? drawn : withoutEnd(drawn);
  return { ...sheet, sums: sumsToOne(sheet) };
}

/**
 * Each row as it was one step later, when its piece was read; the end is never read, and its row is of no use then.
 * @param {Float64Array} values
 * @param {number} width
 * @returns {Float64Array}
 */
function oneLater(values, width) {
  const moved = values.slice();
  moved.set(values.subarray(width));
  return moved;
}

/**
 * A text that looks back: the start, which stands where the end would, comes first, as it came first; and what was not
 * there to be looked at is closed. A weight that is there is never hidden: of a word of several pieces the later ones
 * look at the first. On the diagonal a tape has nothing yet; then all of it is zero.
 * @param {Sheet} sheet
 * @param {boolean} later is each row the step that reads its word? Then the end has none.
 * @returns {Sheet}
 */
function backwards(sheet, later) {
  const width = sheet.columns.length;
  const rows = later ? sheet.rows.slice(0, -1) : sheet.rows;
  const values = new Float64Array(rows.length * width);
  rows.forEach((_, row) => {
    const start = row * width;
    values.set(sheet.values.subarray(start, start + width - 1), start + 1);
    values[start] = sheet.values[start + width - 1];
  });
  const tape = rows.every((_, row) => values[row * width + row] === 0);
  const closed = Uint8Array.from(values, (value, index) => {
    const [row, column] = [Math.floor(index / width), index % width];
    const ahead = later ? column > row + 1 : column > row || (column === row && tape);
    return Number(value === 0 && ahead);
  });
  return { ...sheet, rows, columns: [START, ...sheet.columns.slice(0, -1)], values, closed, before: 1 };
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
  const first = sheet.columns[0] === START && sheet.before ? 1 : 0;
  const columns = sheet.columns.slice(first, sheet.columns.at(-1) === END ? -1 : undefined);
  const values = new Float64Array(rows.length * columns.length);
  const closed = sheet.closed && new Uint8Array(values.length);
  for (let row = 0; row < rows.length; row++) {
    const start = row * sheet.columns.length + first;
    values.set(sheet.values.subarray(start, start + columns.length), row * columns.length);
    closed?.set(sheet.closed.subarray(start, start + columns.length), row * columns.length);
  }
  const links = sheet.links.filter(([row, column]) => row < rows.length && column < columns.length);
  return { ...sheet, rows, columns, values, links, closed, before: sheet.before - first };
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
  return `${shown(sheet.rows[row])} <- ${shown(sheet.columns[column])}: ${weightOf(sheet, row, column)}`;
}

/**
 * The weight of a cell, in words.
 * @param {Sheet} sheet
 * @param {number} row
 * @param {number} column
 * @returns {string}
 */
export function weightOf(sheet, row, column) {
  const index = row * sheet.columns.length + column;
  return sheet.closed?.[index] ? "not there to be looked at" : sheet.values[index].toFixed(3);
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
  const closed = one.closed && other.closed && one.closed.map((empty, index) => empty & other.closed[index]);
  return { ...one, values, title: "Difference", sums: false, links: [], diverging: true, closed };
}
