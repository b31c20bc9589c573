// Lines between the words of two sides: the wider the line, the more was looked at.

import { html, svg } from "./dom.js";
import { listenToKeys } from "./keys.js";
import { FONT, label, ruler, widest } from "./labels.js";
import { moved, paper } from "./paper.js";
import { captions, sentence, strongest } from "./sheet.js";

const STEP = 26; // from word to word
const SPAN = 260; // from side to side
const WIDEST = 9; // the line of weight 1
const SIDE = 118; // room for the name of a side
const HEAD = 30; // and above the words
const MOST_LINES = 3000;

/**
 * The weights that are drawn, the weakest first so that the strongest lie above.
 * @param {import("./sheet.js").Sheet} sheet
 * @param {number} threshold
 * @returns {{row: number, column: number, weight: number}[]}
 */
export function linesAbove(sheet, threshold) {
  const width = sheet.columns.length;
  const found = [];
  sheet.values.forEach((weight, index) => {
    if (weight < threshold || weight <= 0) return;
    found.push({ row: Math.floor(index / width), column: index % width, weight });
  });
  return found.sort((one, other) => one.weight - other.weight).slice(-MOST_LINES);
}

/**
 * What to say where there are more lines than are drawn; nothing where there are not.
 * @param {import("./sheet.js").Sheet} sheet
 * @param {number} threshold
 * @returns {string[]}
 */
export function tellLimit(sheet, threshold) {
  const count = sheet.values.filter((weight) => weight >= threshold && weight > 0).length;
  return count > MOST_LINES ? [`only the strongest ${MOST_LINES} of ${count} lines are drawn`] : [];
}

/** @param {import("./sheet.js").Sheet} sheet */
function layOut(sheet) {
  const measure = ruler(14);
  const left = Math.max(SIDE, Math.ceil(widest(sheet.columns, measure))) + 16;
  const right = Math.max(SIDE, Math.ceil(widest(sheet.rows, measure))) + 16;
  const most = Math.max(sheet.rows.length, sheet.columns.length);
  const lower = (count) => HEAD + ((most - count) * STEP) / 2; // the shorter side stands in the middle
  return {
    measure,
    left,
    width: left + SPAN + right,
    height: HEAD + most * STEP + 8,
    columnY: (column) => lower(sheet.columns.length) + (column + 0.5) * STEP,
    rowY: (row) => lower(sheet.rows.length) + (row + 0.5) * STEP,
  };
}

/** @param {import("./sheet.js").Sheet} sheet @param {ReturnType<typeof layOut>} place @param {number} threshold */
function strokes(sheet, place, threshold) {
  const [from, to, bend] = [place.left, place.left + SPAN, SPAN * 0.45];
  return svg(
    "g",
    { class: "strokes", fill: "none", stroke: "currentColor", "stroke-linecap": "round" },
    ...linesAbove(sheet, threshold).map(({ row, column, weight }) => {
      const [start, end] = [place.columnY(column), place.rowY(row)];
      return svg("path", {
        d: `M${from} ${start}C${from + bend} ${start} ${to - bend} ${end} ${to} ${end}`,
        "stroke-width": (WIDEST * Math.min(1, weight)).toFixed(2),
        "stroke-opacity": 0.55,
        "data-row": row,
        "data-column": column,
      });
    }),
  );
}

/** @param {import("./sheet.js").Sheet} sheet @param {ReturnType<typeof layOut>} place @returns {SVGElement[]} */
function names(sheet, place) {
  const text = { "font-size": 14, fill: "currentColor" };
  const title = { "font-size": 12, fill: "currentColor", "fill-opacity": 0.75, y: 16 };
  return [
    svg("text", { ...title, x: place.left - 10, "text-anchor": "end" }, `${sheet.columnSide} (looked at)`),
    svg("text", { ...title, x: place.left + SPAN + 10 }, `${sheet.rowSide} (who looks)`),
    svg(
      "g",
      { class: "lookedAt", ...text, "text-anchor": "end" },
      ...sheet.columns.map((word, column) =>
        label(word, place.measure, { x: place.left - 10, y: place.columnY(column) + 5, "data-column": column }),
      ),
    ),
    svg(
      "g",
      { class: "looking", ...text },
      ...sheet.rows.map((word, row) =>
        label(word, place.measure, { x: place.left + SPAN + 10, y: place.rowY(row) + 5, "data-row": row }),
      ),
    ),
  ];
}

/**
 * The lines as one drawing for a file.
 * @param {import("./sheet.js").Sheet} sheet
 * @param {number} threshold
 * @returns {SVGElement}
 */
export function linesSvg(sheet, threshold) {
  const place = layOut(sheet);
  const [wide, high] = [Math.ceil(Math.max(place.width, 460)) + 24, Math.ceil(place.height) + 76];
  const below = `lines below ${threshold.toFixed(2)} are left out`;
  const told = ["width of a line = weight", below, ...tellLimit(sheet, threshold), captions(sheet).sums].join("; ");
  const blue = svg("g", { color: "#1f5fa8" }, strokes(sheet, place, threshold));
  return paper(
    wide,
    high,
    sheet.title,
    moved(12, 40, blue, ...names(sheet, place)),
    svg("text", { x: 14, y: high - 14, "font-size": 12 }, told),
  );
}

/**
 * Draw the lines into an element. Up and Down go from word to word, Left and Right through what the word looked at,
 * the strongest first.
 * @param {HTMLElement} element
 * @param {import("./sheet.js").Sheet} sheet
 * @param {{focus: ReturnType<import("./store.js").createFocus>, threshold: number}} options
 * @returns {() => void} stops following the focus
 */
export function drawLines(element, sheet, { focus, threshold }) {
  const place = layOut(sheet);
  const drawing = svg(
    "svg",
    { width: place.width, height: place.height, "font-family": FONT, role: "presentation" },
    strokes(sheet, place, threshold),
    ...names(sheet, place),
  );
  for (const silent of drawing.querySelectorAll(".strokes, .lookedAt, :scope > text")) {
    silent.setAttribute("aria-hidden", "true"); // the words that look say it all
  }
  const box = html("div", { class: "lines" }, drawing);
  const looking = drawing.querySelector(".looking");
  looking.setAttribute("role", "listbox");
  looking.setAttribute("aria-label", `Attention: ${sheet.title}`);
  const options = [...looking.children];
  options.forEach((word, row) => {
    const best = strongest(sheet, row)[0];
    word.setAttribute("role", "option");
    word.setAttribute("aria-selected", "false");
    word.setAttribute("tabindex", row === Math.max(0, focus.get().row) ? "0" : "-1");
    word.setAttribute("aria-label", sentence(sheet, row, best));
  });
  element.append(box);
  follow(box, options, sheet, focus);
  const show = (cell) => mark(drawing, options, cell);
  show(focus.get());
  return focus.follow(show);
}

/** Let pointer and keys point at words and lines. */
function follow(box, options, sheet, focus) {
  const home = { row: Math.max(0, focus.get().row), rank: 0 };
  const columnOf = (row, rank) => strongest(sheet, row)[rank];
  const under = (target) => {
    const { row, column } = target.dataset ?? {};
    if (row === undefined) return column === undefined ? null : { row: -1, column: Number(column) };
    return { row: Number(row), column: column === undefined ? columnOf(Number(row), 0) : Number(column) };
  };
  box.addEventListener("pointermove", (event) => {
    const cell = under(event.target);
    if (cell) focus.point(cell.row, cell.column);
    else focus.leave();
  });
  box.addEventListener("pointerleave", () => focus.leave());
  box.addEventListener("click", (event) => {
    const cell = under(event.target);
    if (cell && cell.row >= 0) focus.hold(cell.row, cell.column);
  });
  box.addEventListener("focusin", (event) => {
    const cell = under(event.target);
    if (!cell || !event.target.matches(":focus-visible")) return;
    focus.point(cell.row, columnOf(cell.row, home.rank));
  });
  listenToKeys(box, {
    at: () => ({ row: home.row, column: home.rank }),
    rows: options.length,
    columns: sheet.columns.length,
    go(row, rank) {
      options[home.row].setAttribute("tabindex", "-1");
      Object.assign(home, { row, rank: row === home.row ? rank : 0 });
      options[row].setAttribute("tabindex", "0");
      options[row].focus();
      focus.move(row, columnOf(row, home.rank));
    },
    hold: (row, rank) => focus.hold(row, columnOf(row, rank)),
    release: focus.release,
  });
}

/** Show the lines of what is pointed at, and let the others step back. */
function mark(drawing, options, { row, column, held }) {
  drawing.classList.toggle("some", row >= 0 || column >= 0);
  drawing.classList.toggle("held", held);
  options.forEach((word, index) => word.setAttribute("aria-selected", String(index === row)));
  for (const line of drawing.querySelectorAll(".strokes path")) {
    const ours = row >= 0 ? Number(line.dataset.row) === row : Number(line.dataset.column) === column;
    line.classList.toggle("on", ours);
  }
  for (const word of drawing.querySelectorAll(".lookedAt text")) {
    word.classList.toggle("on", Number(word.dataset.column) === column);
  }
}
