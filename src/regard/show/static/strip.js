// A text word by word: a line for each of its words, the current word red, what it looked at shaded, and what is still
// to come pale (the figure of Cheng, Dong and Lapata, 2016).

import { html, svg } from "./dom.js";
import { direction, ruler } from "./labels.js";
import { moved, paper } from "./paper.js";
import { legend, makeRamp, places } from "./ramp.js";
import { captions, rowOf, shown, strongest } from "./sheet.js";

const MOST_WORDS = 10000; // that are drawn, in all lines
const RED = "#b3261e";
const PALE = "#70777f";
const NAMED = 3; // words that a line names for those who do not see it

/** How many lines are drawn. */
function lineCount(sheet) {
  return Math.min(sheet.rows.length, Math.max(1, Math.floor(MOST_WORDS / Math.max(1, sheet.columns.length))));
}

/** What to say where lines are left out; nothing where they are not. */
function tellLimit(sheet) {
  const count = lineCount(sheet);
  return count < sheet.rows.length ? [`The first ${count} of ${sheet.rows.length} words.`] : [];
}

/** The words that a row looked at most, besides its own, in words. */
function tell(sheet, row) {
  const values = rowOf(sheet, row);
  const some = strongest(sheet, row).filter((column) => column !== row + sheet.before && values[column] >= 0.005);
  const named = some.slice(0, NAMED).map((column) => `${shown(sheet.columns[column])} ${values[column].toFixed(2)}`);
  return `${shown(sheet.rows[row])} looked at ${named.join(", ") || "nothing"}`;
}

/**
 * All lines, to be read with the pointer; the words above them are for keys.
 * @param {import("./sheet.js").Sheet} sheet
 * @param {{at: Float64Array, ramp: import("./ramp.js").Ramp,
 *   focus: ReturnType<import("./store.js").createFocus>}} options
 * @returns {{element: HTMLElement, mark: (row: number) => void}}
 */
export function drawStrip(sheet, { at, ramp, focus }) {
  const width = sheet.columns.length;
  const way = direction(sheet.rows);
  const lines = sheet.rows.slice(0, lineCount(sheet)).map((_, row) => {
    const words = sheet.columns.map((word, column) => {
      const index = row * width + column;
      const current = column === row + sheet.before;
      const closed = !current && Boolean(sheet.closed?.[index]);
      const made = html("bdi", { class: current ? "current" : closed ? "closed" : null, "data-column": column }, shown(word));
      if (!current && !closed) {
        made.style.backgroundColor = ramp.css(at[index]);
        made.style.color = ramp.ink(at[index]);
      }
      return made;
    });
    const spaced = words.flatMap((word, index) => (index ? [" ", word] : [word]));
    return html("li", {}, html("p", { role: "img", dir: way, "aria-label": tell(sheet, row), "data-line": row }, ...spaced));
  });
  const list = html("ol", { class: "strip", "aria-label": "Word by word" }, ...lines);
  follow(list, focus);
  const element = html("div", {}, list, ...tellLimit(sheet).map((told) => html("p", { class: "quiet" }, told)));
  const mark = (row) => lines.forEach((line, index) => line.classList.toggle("now", index === row));
  return { element, mark };
}

/** Let the pointer read a weight. */
function follow(list, focus) {
  const under = (target) => {
    const [word, line] = [target.closest("[data-column]"), target.closest("[data-line]")];
    return word && line ? [Number(line.dataset.line), Number(word.dataset.column)] : null;
  };
  list.addEventListener("pointermove", ({ target }) => {
    const cell = under(target);
    if (cell) focus.point(...cell);
  });
  list.addEventListener("pointerleave", () => focus.leave());
  list.addEventListener("click", ({ target }) => {
    const cell = under(target);
    if (cell) focus.hold(...cell);
  });
}

/**
 * All lines as one drawing for a file.
 * @param {import("./sheet.js").Sheet} sheet
 * @param {"one" | "row"} scale
 * @returns {SVGElement}
 */
export function stripSvg(sheet, scale) {
  const ramp = makeRamp(false);
  const at = places(sheet, scale);
  const width = sheet.columns.length;
  const groups = [];
  let high = 52;
  for (let row = 0; row < lineCount(sheet); row++) {
    const dress = (column) => {
      const index = row * width + column;
      if (column === row + sheet.before) return { fill: RED, ink: "#ffffff" };
      return sheet.closed?.[index] ? { fill: "none", ink: PALE } : { fill: ramp.css(at[index]), ink: ramp.ink(at[index]) };
    };
    const words = flow(sheet.columns, dress, direction(sheet.rows));
    groups.push(moved(14, high, words.group));
    high += words.height + 8;
  }
  const told = ["red is the current word", captions(sheet).sums, ...tellLimit(sheet)].join("; ");
  return paper(
    760,
    high + 76,
    sheet.title,
    ...groups,
    moved(14, high + 10, legend(ramp, scale, false)),
    svg("text", { x: 14, y: high + 62, "font-size": 12 }, told),
  );
}

/**
 * Words in lines of 720, each in the colours of its place; a text that runs leftward begins at the right.
 * @param {string[]} words
 * @param {(index: number) => {fill: string, ink: string}} dress
 * @param {"ltr" | "rtl"} [way]
 * @returns {{group: SVGElement, height: number}}
 */
export function flow(words, dress, way = direction(words)) {
  const measure = ruler(15);
  const group = svg("g", { "font-size": 15 });
  const leftward = way === "rtl";
  let [x, y] = [0, 0];
  words.forEach((word, index) => {
    const wide = Math.ceil(measure(shown(word))) + 12;
    if (x > 0 && x + wide > 720) [x, y] = [0, y + 34];
    const start = leftward ? 720 - x - wide : x;
    const { fill, ink } = dress(index);
    group.append(
      svg("rect", { x: start, y, width: wide, height: 28, rx: 4, fill }),
      svg("text", { x: start + 6, y: y + 19, fill: ink, "unicode-bidi": "plaintext" }, shown(word)),
    );
    x += wide + 4;
  });
  return { group, height: y + 28 };
}
