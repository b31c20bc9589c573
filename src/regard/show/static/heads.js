// All heads of all layers of a kind at a glance: one small picture a head, and the mean of each layer.

import { html, svg } from "./dom.js";
import { listenToKeys } from "./keys.js";
import { outline, paint } from "./matrix.js";
import { moved, paper } from "./paper.js";
import { isDark, makeRamp } from "./ramp.js";
import { makeSheet, nameLook } from "./sheet.js";

const SIDE = 88; // of the longer side of a small picture

/**
 * The looks of a kind: for each layer its heads, then their mean.
 * @param {import("./decode.js").Figure} figure
 * @param {string} kind
 * @returns {import("./sheet.js").Look[][]}
 */
export function looksOf(figure, kind) {
  return figure.layers(kind).map(({ layer, shape }) => {
    const all = Array.from({ length: shape[0] }, (_, head) => head);
    const heads = all.map((head) => ({ kind, layer, heads: [head] }));
    return all.length > 1 ? [...heads, { kind, layer, heads: all }] : heads;
  });
}

/** Paint a sheet and give it its size; returns that size. */
function paintSmall(canvas, sheet, ramp, scale) {
  const unit = SIDE / Math.max(sheet.rows.length, sheet.columns.length);
  const size = { width: Math.max(8, unit * sheet.columns.length), height: Math.max(8, unit * sheet.rows.length) };
  paint(canvas, sheet, ramp, scale);
  canvas.style.width = `${size.width}px`;
  canvas.style.height = `${size.height}px`;
  canvas.classList.toggle("back", Boolean(sheet.closed));
  return size;
}

/** The outline of a small picture, over it. */
function framed(sheet, size) {
  const box = { ...size, viewBox: `0 0 ${sheet.columns.length} ${sheet.rows.length}`, preserveAspectRatio: "none" };
  return sheet.closed ? [svg("svg", { ...box, class: "frame", "aria-hidden": "true" }, ...outline(sheet))] : [];
}

/**
 * Draw the heads into an element. A click or Enter opens one; what the pointer is over is told.
 * @param {HTMLElement} element
 * @param {import("./decode.js").Figure} figure
 * @param {{kind: string, reading: import("./sheet.js").Reading, scale: "one" | "row",
 *   chosen: import("./sheet.js").Look, open: (look: import("./sheet.js").Look) => void,
 *   tell: (sheet: import("./sheet.js").Sheet | null, row: number, column: number) => void}} options
 * @returns {Promise<import("./sheet.js").Sheet[][]>} what was painted, layer by layer
 */
export async function drawHeads(element, figure, { kind, reading, scale, chosen, open, tell }) {
  const ramp = makeRamp(isDark(element));
  const layers = looksOf(figure, kind);
  const counts = figure.layers(kind).map((layer) => layer.shape[0]);
  const columns = Math.max(...layers.map((looks) => looks.length));
  const tiles = layers.map((looks, row) => looks.map((look) => tile(look, counts[row], isChosen(look, chosen))));
  const lines = tiles.map((line, row) => {
    const name = html("span", { role: "rowheader", class: "name" }, `Layer ${layers[row][0].layer + 1}`);
    return html("div", { role: "row", class: "layer" }, name, ...line);
  });
  const grid = html("div", { role: "grid", class: "heads", "aria-label": `All heads (${kind})` }, ...lines);
  element.append(grid);
  follow(grid, tiles, columns, (row, column) => open(layers[row][column]));
  const sheets = [];
  for (const [row, line] of tiles.entries()) {
    sheets.push(await Promise.all(layers[row].map((look) => makeSheet(figure, look, reading))));
    line.forEach((cell, column) => {
      const [canvas, sheet] = [cell.querySelector("canvas"), sheets[row][column]];
      canvas.after(...framed(sheet, paintSmall(canvas, sheet, ramp, scale)));
      pointAt(canvas, sheet, tell);
    });
  }
  grid.dataset.painted = "all";
  return sheets;
}

/** Tell the weight under the pointer. */
function pointAt(canvas, sheet, tell) {
  canvas.addEventListener("pointermove", ({ offsetX, offsetY }) => {
    const within = (place, room, count) => Math.min(count - 1, Math.max(0, Math.floor((place / room) * count)));
    const row = within(offsetY, canvas.clientHeight, sheet.rows.length);
    tell(sheet, row, within(offsetX, canvas.clientWidth, sheet.columns.length));
  });
  canvas.addEventListener("pointerleave", () => tell(null, -1, -1));
}

/** Is this the look that the alignment is read from? */
function isChosen(look, chosen) {
  return look.kind === chosen.kind && look.layer === chosen.layer && String(look.heads) === String(chosen.heads);
}

/** What a look is called where its layer and kind are known. */
function shortName(look) {
  return look.heads.length === 1 ? `head ${look.heads[0] + 1}` : "mean";
}

/** One small picture with its name. */
function tile(look, all, chosen) {
  const short = shortName(look);
  const name = nameLook(look, all) + (chosen ? ", chosen for the alignment" : "");
  return html(
    "div",
    { role: "gridcell", class: chosen ? "tile chosen" : "tile", tabindex: -1, "aria-label": name },
    html("canvas", { "aria-hidden": "true" }),
    html("span", { class: "name", "aria-hidden": "true" }, chosen ? `${short} \u2022 chosen` : short),
  );
}

/** Let pointer and keys choose a picture. */
function follow(grid, tiles, columns, choose) {
  const home = { row: 0, column: 0 };
  const reach = (row, column) => {
    tiles[home.row][home.column].setAttribute("tabindex", "-1");
    Object.assign(home, { row, column: Math.min(column, tiles[row].length - 1) });
    tiles[home.row][home.column].setAttribute("tabindex", "0");
  };
  reach(0, 0);
  tiles.forEach((line, row) =>
    line.forEach((cell, column) => cell.addEventListener("click", () => choose(row, column))),
  );
  listenToKeys(grid, {
    at: () => home,
    rows: tiles.length,
    columns,
    go(row, column) {
      reach(row, column);
      tiles[home.row][home.column].focus();
    },
    hold: choose,
    release: () => {},
  });
}

/** A small picture as parts of a drawing, its name below. */
function picture(sheet, name, ramp, scale) {
  const canvas = html("canvas");
  const size = paintSmall(canvas, sheet, ramp, scale);
  const image = { ...size, href: canvas.toDataURL(), "image-rendering": "pixelated", preserveAspectRatio: "none" };
  const box = svg("path", { d: `M0 0h${size.width}v${size.height}h-${size.width}z`, fill: "none", stroke: "#9aa0a8" });
  return [
    svg("image", image),
    ...(sheet.closed ? framed(sheet, size) : [box]),
    svg("text", { y: SIDE + 15, "font-size": 11 }, name),
  ];
}

/**
 * All heads as one drawing for a file, each an image inside it.
 * @param {import("./sheet.js").Sheet[][]} sheets as `drawHeads` gives them
 * @param {import("./sheet.js").Look[][]} layers as `looksOf` gives them
 * @param {"one" | "row"} scale
 * @returns {SVGElement}
 */
export function headsSvg(sheets, layers, scale) {
  const ramp = makeRamp(false);
  const [across, down] = [SIDE + 22, SIDE + 30];
  const wide = 100 + across * Math.max(...layers.map((looks) => looks.length));
  const high = 60 + down * layers.length;
  const parts = layers.flatMap((looks, row) => [
    svg("text", { x: 14, y: 60 + down * row + SIDE / 2, "font-size": 12 }, `Layer ${looks[0].layer + 1}`),
    ...looks.map((look, column) =>
      moved(84 + across * column, 46 + down * row, ...picture(sheets[row][column], shortName(look), ramp, scale)),
    ),
  ]);
  return paper(wide, high, `All heads (${layers[0][0].kind})`, ...parts);
}
