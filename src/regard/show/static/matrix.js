// The alignment matrix: a row for each word that looks, a column for each word looked at, darker for more weight.
// Labels, cells and legend are groups; on the screen they lie in panes that scroll together, in a file on one sheet.

import { html, svg } from "./dom.js";
import { listenToKeys } from "./keys.js";
import { FONT, label, ruler, widest } from "./labels.js";
import { moved, paper } from "./paper.js";
import { isDark, legend, makeRamp, places } from "./ramp.js";
import { captions, sentence } from "./sheet.js";

/** Up to this many cells are SVG, each an element with a name; above, one canvas and one cell that moves over it. */
export const MOST_CELLS = 2500;

// Up to so many words: the side of a cell, the size of letters, the slant of column labels in degrees.
const SIZES = [
  [12, 38, 14, 45],
  [20, 30, 14, 45],
  [34, 25, 13, 50],
  [64, 18, 12, 60],
  [120, 13, 10, 90],
  [Infinity, 10, 8.5, 90],
];
const SMALLEST = 18; // to which cells shrink for want of room

/**
 * Where everything lies: as large as the number of words allows and, while labels stay easy to read, as fits the room.
 * @param {import("./sheet.js").Sheet} sheet
 * @param {number} [room] how wide it may be
 * @returns {ReturnType<typeof placed>}
 */
function layOut(sheet, room = Infinity) {
  const most = Math.max(sheet.rows.length, sheet.columns.length);
  const sizes = SIZES.filter(([limit]) => most <= limit).map((size) => placed(sheet, size));
  const legible = sizes.filter((place) => place.cell >= SMALLEST);
  return legible.find((place) => place.left + place.width + place.over <= room) ?? legible.at(-1) ?? sizes[0];
}

/** @param {import("./sheet.js").Sheet} sheet @param {number[]} size */
function placed(sheet, [, cell, font, degrees]) {
  const measure = ruler(font);
  const angle = (degrees * Math.PI) / 180;
  const long = widest(sheet.columns, measure);
  return {
    cell,
    font,
    degrees,
    measure,
    left: Math.ceil(widest(sheet.rows, measure)) + 12,
    top: Math.ceil(long * Math.sin(angle) + font * Math.cos(angle)) + 10,
    over: Math.ceil(long * Math.cos(angle)) + 8, // slanted labels lean out beyond the last column
    width: cell * sheet.columns.length,
    height: cell * sheet.rows.length,
  };
}

/** @param {import("./sheet.js").Sheet} sheet @param {ReturnType<typeof layOut>} place @returns {SVGElement} */
function columnLabels(sheet, place) {
  const { cell, font, degrees, top } = place;
  const drop = degrees === 90 ? font * 0.35 : font * 0.2;
  return svg(
    "g",
    { class: "columns", "font-size": font, fill: "currentColor" },
    ...sheet.columns.map((text, column) =>
      label(text, place.measure, {
        transform: `translate(${cell * (column + 0.5) + drop} ${top - 6}) rotate(-${degrees})`,
        "data-column": column,
      }),
    ),
  );
}

/** @param {import("./sheet.js").Sheet} sheet @param {ReturnType<typeof layOut>} place @returns {SVGElement} */
function rowLabels(sheet, place) {
  return svg(
    "g",
    { class: "rows", "font-size": place.font, fill: "currentColor", "text-anchor": "end" },
    ...sheet.rows.map((text, row) =>
      label(text, place.measure, {
        x: place.left - 8,
        y: place.cell * (row + 0.5) + place.font * 0.35,
        "data-row": row,
      }),
    ),
  );
}

/**
 * One rectangle a cell, in one group a row.
 * @param {import("./sheet.js").Sheet} sheet
 * @param {ReturnType<typeof layOut>} place
 * @param {import("./ramp.js").Ramp} ramp
 * @param {"one" | "row"} scale
 * @returns {SVGElement}
 */
function cells(sheet, place, ramp, scale) {
  const { cell } = place;
  const at = places(sheet, scale);
  const gap = cell > 12 ? 1 : 0;
  const width = sheet.columns.length;
  const rows = sheet.rows.map((_, row) =>
    svg(
      "g",
      { class: "row" },
      ...sheet.columns.map((_, column) =>
        svg("rect", {
          class: "cell",
          x: column * cell,
          y: row * cell,
          width: cell - gap,
          height: cell - gap,
          fill: sheet.closed?.[row * width + column] ? "none" : ramp.css(at[row * width + column]),
          "pointer-events": "all",
        }),
      ),
    ),
  );
  return svg("g", { class: "cells" }, ...rows);
}

/**
 * A ring in each cell that the alignment links.
 * @param {import("./sheet.js").Sheet} sheet
 * @param {ReturnType<typeof layOut>} place
 * @param {import("./ramp.js").Ramp} ramp
 * @param {"one" | "row"} scale
 * @returns {SVGElement}
 */
function rings(sheet, place, ramp, scale) {
  const at = places(sheet, scale);
  const centre = (index) => place.cell * (index + 0.5) - 0.5;
  const circles = sheet.links.map(([row, column]) =>
    svg("circle", {
      cx: centre(column),
      cy: centre(row),
      r: place.cell * 0.16,
      fill: "none",
      stroke: ramp.ink(at[row * sheet.columns.length + column]),
      "stroke-width": place.cell > 12 ? 1.5 : 1,
    }),
  );
  return svg("g", { class: "links" }, ...circles);
}

/**
 * A line around the cells of a text that looks back: outside of it nothing was to be looked at, and nothing is drawn.
 * @param {import("./sheet.js").Sheet} sheet
 * @param {number} [cell] the side of a cell
 * @returns {SVGElement[]} none for any other sheet
 */
export function outline(sheet, cell = 1) {
  if (!sheet.closed) return [];
  const [rows, columns] = [sheet.rows.length, sheet.columns.length];
  const open = (row, column) =>
    row >= 0 && row < rows && column >= 0 && column < columns && !sheet.closed[row * columns + column];
  const lines = [];
  for (let row = 0; row <= rows; row++) {
    for (let column = 0; column <= columns; column++) {
      const here = open(row, column);
      if (here !== open(row - 1, column)) lines.push(`M${column * cell} ${row * cell}h${cell}`);
      if (here !== open(row, column - 1)) lines.push(`M${column * cell} ${row * cell}v${cell}`);
    }
  }
  const stroke = { fill: "none", stroke: "#868c96", "vector-effect": "non-scaling-stroke" };
  return [svg("path", { class: "outline", d: lines.join(""), ...stroke })];
}

/**
 * Paint a sheet into a canvas, one pixel a cell; the style sheet enlarges it without smoothing.
 * @param {HTMLCanvasElement} canvas
 * @param {import("./sheet.js").Sheet} sheet
 * @param {import("./ramp.js").Ramp} ramp
 * @param {"one" | "row"} scale
 */
export function paint(canvas, sheet, ramp, scale) {
  canvas.width = sheet.columns.length;
  canvas.height = sheet.rows.length;
  const context = canvas.getContext("2d");
  const image = context.createImageData(canvas.width, canvas.height);
  places(sheet, scale).forEach((place, index) => {
    if (!sheet.closed?.[index]) image.data.set([...ramp.rgb(place), 255], 4 * index); // else it stays clear
  });
  context.putImageData(image, 0, 0);
}

/**
 * The matrix as one drawing for a file: dark ink on white paper, one rectangle a cell.
 * @param {import("./sheet.js").Sheet} sheet
 * @param {"one" | "row"} scale
 * @returns {SVGElement}
 */
export function matrixSvg(sheet, scale) {
  const place = layOut(sheet);
  const ramp = makeRamp(false, sheet.diverging);
  const text = captions(sheet);
  const wide = Math.max(place.left + place.width + place.over, 460) + 24;
  const high = place.top + place.height + 138;
  const under = place.top + place.height + 62;
  const words = [text.rows, text.columns, text.sums].join("; ");
  return paper(
    wide,
    high,
    sheet.title,
    moved(place.left + 12, 40, columnLabels(sheet, place)),
    moved(12, 40 + place.top, rowLabels(sheet, place)),
    moved(
      place.left + 12,
      40 + place.top,
      cells(sheet, place, ramp, scale),
      ...outline(sheet, place.cell),
      rings(sheet, place, ramp, scale),
    ),
    moved(14, under, legend(ramp, scale, sheet.diverging)),
    svg("text", { x: 14, y: under + 52, "font-size": 12 }, words),
  );
}

/**
 * Draw the matrix into an element, to be read with pointer, keyboard or screen reader.
 * @param {HTMLElement} element
 * @param {import("./sheet.js").Sheet} sheet
 * @param {{focus: ReturnType<import("./store.js").createFocus>, scale: "one" | "row"}} options
 * @returns {() => void} stops following the focus
 */
export function drawMatrix(element, sheet, { focus, scale }) {
  const place = layOut(sheet, element.clientWidth);
  const ramp = makeRamp(isDark(element), sheet.diverging);
  const small = sheet.values.length <= MOST_CELLS;
  const body = pane("body", place.width + place.over, place.height);
  body.append(...(small ? namedCells(sheet, place, ramp, scale) : paintedCells(sheet, place, ramp, scale)));
  const cursor = svg("g", { class: "cursor" });
  body.append(
    svg(
      "svg",
      { class: "above", width: place.width, height: place.height, "aria-hidden": "true" },
      ...outline(sheet, place.cell),
      rings(sheet, place, ramp, scale),
      cursor,
    ),
  );
  const columns = labelPane("columns", place.width + place.over, place.top, columnLabels(sheet, place));
  const rows = labelPane("rows", place.left, place.height, rowLabels(sheet, place));
  const grid = html(
    "div",
    {
      class: small ? "matrix" : "matrix large",
      role: "grid",
      "aria-label": `Attention: ${sheet.title}`,
      "aria-rowcount": sheet.rows.length,
      "aria-colcount": sheet.columns.length,
    },
    html("div", { class: "corner", role: "presentation" }),
    columns,
    rows,
    body,
  );
  element.append(grid);
  follow(grid, body, sheet, place, focus);
  const show = (cell) => mark(grid, cursor, cell, place);
  show(focus.get());
  if (focus.get().held) intoView(grid, focus.get().row, focus.get().column, place);
  return focus.follow(show);
}

/** @param {string} name @param {number} width @param {number} height @returns {HTMLElement} */
function pane(name, width, height) {
  const made = html("div", { class: name, role: "presentation" });
  made.style.width = `${width}px`;
  made.style.height = `${height}px`;
  return made;
}

/** Labels repeat what each cell's name says, so a screen reader need not hear them twice. */
function labelPane(name, width, height, group) {
  const made = pane(name, width, height);
  made.append(svg("svg", { width, height, "font-family": FONT, "aria-hidden": "true" }, group));
  return made;
}

/** The cells as SVG: rows, and in each its cells by name. */
function namedCells(sheet, place, ramp, scale) {
  const group = cells(sheet, place, ramp, scale);
  group.setAttribute("role", "presentation");
  [...group.children].forEach((line, row) => {
    line.setAttribute("role", "row");
    [...line.children].forEach((cell, column) => {
      cell.setAttribute("role", "gridcell");
      cell.setAttribute("tabindex", row + column === 0 ? "0" : "-1");
      cell.setAttribute("aria-label", sentence(sheet, row, column));
      cell.setAttribute("data-weight", String(sheet.values[row * sheet.columns.length + column]));
    });
  });
  return [svg("svg", { role: "presentation", width: place.width, height: place.height }, group)];
}

/** The cells as pixels, and one cell with a name that goes where the reader goes. */
function paintedCells(sheet, place, ramp, scale) {
  const canvas = html("canvas", { "aria-hidden": "true" });
  paint(canvas, sheet, ramp, scale);
  canvas.style.width = `${place.width}px`;
  canvas.style.height = `${place.height}px`;
  const cell = html("div", { class: "mover", role: "gridcell", tabindex: 0 });
  cell.style.width = cell.style.height = `${place.cell}px`;
  return [canvas, html("div", { role: "row" }, cell)];
}

/** The one cell that Tab reaches: where it is, and how another becomes it. */
function createStop(grid, body, sheet, place) {
  const home = { row: 0, column: 0 };
  const mover = body.querySelector(".mover");
  const lines = [...body.querySelectorAll(".row")];
  const cellAt = (row, column) => mover ?? lines[row].children[column];
  /** `take`: give it the keyboard too. */
  function reach(row, column, take) {
    cellAt(home.row, home.column).setAttribute("tabindex", "-1");
    Object.assign(home, { row, column });
    const cell = cellAt(row, column);
    cell.setAttribute("tabindex", "0");
    if (mover) {
      mover.style.transform = `translate(${column * place.cell}px, ${row * place.cell}px)`;
      mover.setAttribute("aria-colindex", String(column + 1));
      mover.setAttribute("aria-label", sentence(sheet, row, column));
      mover.parentElement.setAttribute("aria-rowindex", String(row + 1));
    }
    if (!take) return;
    cell.focus({ preventScroll: true });
    intoView(grid, row, column, place);
  }
  return { home, reach };
}

/** Let pointer and keys point at cells. */
function follow(grid, body, sheet, place, focus) {
  const [rows, columns] = [sheet.rows.length, sheet.columns.length];
  const { home, reach } = createStop(grid, body, sheet, place);
  reach(Math.max(0, focus.get().row), Math.max(0, focus.get().column), false);
  const under = (event) => {
    const box = body.getBoundingClientRect();
    const row = Math.floor((event.clientY - box.top) / place.cell);
    const column = Math.floor((event.clientX - box.left) / place.cell);
    return row >= 0 && row < rows && column >= 0 && column < columns ? { row, column } : null;
  };
  body.addEventListener("pointermove", (event) => {
    const cell = under(event);
    if (cell) focus.point(cell.row, cell.column);
    else focus.leave();
  });
  body.addEventListener("pointerleave", () => focus.leave());
  body.addEventListener("click", (event) => {
    const cell = under(event);
    if (!cell) return;
    reach(cell.row, cell.column, true);
    focus.hold(cell.row, cell.column);
  });
  body.addEventListener("focusin", (event) => {
    if (event.target.matches(":focus-visible")) focus.point(home.row, home.column);
  });
  const go = (row, column) => {
    reach(row, column, true);
    focus.move(row, column);
  };
  listenToKeys(body, { at: () => home, rows, columns, go, hold: focus.hold, release: focus.release });
}

/** Scroll so that a cell is not hidden, nor under the labels that stay in place. */
function intoView(grid, row, column, place) {
  const box = grid.parentElement;
  const [x, y] = [column * place.cell, row * place.cell];
  const [wide, high] = [box.clientWidth - place.left - 2 * place.cell, box.clientHeight - place.top - 2 * place.cell];
  if (x < box.scrollLeft) box.scrollLeft = x;
  else if (x > box.scrollLeft + wide) box.scrollLeft = x - wide;
  if (y < box.scrollTop) box.scrollTop = y;
  else if (y > box.scrollTop + high) box.scrollTop = y - high;
}

/** Show which cell is pointed at: its row and column, and their labels. */
function mark(grid, cursor, { row, column, held }, place) {
  for (const old of grid.querySelectorAll("[aria-current]")) old.removeAttribute("aria-current");
  grid.classList.toggle("held", held);
  if (row < 0 || column < 0) {
    cursor.replaceChildren();
    return;
  }
  const { cell, width, height } = place;
  grid.querySelector(`.rows [data-row="${row}"]`)?.setAttribute("aria-current", "true");
  grid.querySelector(`.columns [data-column="${column}"]`)?.setAttribute("aria-current", "true");
  const frame = (x, y, wide, high, name) => svg("path", { class: name, d: `M${x} ${y}h${wide}v${high}h-${wide}z` });
  cursor.replaceChildren(
    frame(-0.5, row * cell - 0.5, width, cell, "band"),
    frame(column * cell - 0.5, -0.5, cell, height, "band"),
    frame(column * cell - 0.5, row * cell - 0.5, cell, cell, "spot"),
  );
}
