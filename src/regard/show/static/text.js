// The sentences as text, shaded by how much the word in focus looked at each word. Where a text looks at itself, this
// is machine reading: a reader moves through it word by word, and each word shows what was remembered.

import { button, html, svg } from "./dom.js";
import { listenToKeys } from "./keys.js";
import { direction } from "./labels.js";
import { moved, paper } from "./paper.js";
import { isDark, legend, makeRamp, places } from "./ramp.js";
import { captions, rowOf, shown, strongest } from "./sheet.js";
import { drawStrip, flow, stripSvg } from "./strip.js";

const PACE = 900; // milliseconds a word

/**
 * Draw the text into an element. Left and Right go from word to word, Up and Down through what the word looked at,
 * the strongest first.
 * @param {HTMLElement} element
 * @param {import("./sheet.js").Sheet} sheet
 * @param {{focus: ReturnType<import("./store.js").createFocus>, scale: "one" | "row"}} options
 * @returns {() => void} stops reading and following the focus
 */
export function drawText(element, sheet, { focus, scale }) {
  const ramp = makeRamp(isDark(element), sheet.diverging);
  const at = places(sheet, scale);
  const { view, readers, looking, lookedAt, numbers } = passages(sheet);
  const reading = readingBar(sheet, focus);
  const strip = sheet.self ? drawStrip(sheet, { at, ramp, focus }) : null;
  view.append(reading.bar, ...(strip ? [strip.element] : []));
  element.append(view);
  follow(readers, looking, sheet, focus);
  const show = (cell) => {
    const row = cell.row >= 0 ? cell.row : 0;
    looking.forEach((word, index) => {
      word.classList.toggle("now", index === row);
      if (index === row) word.setAttribute("aria-current", "true");
      else word.removeAttribute("aria-current");
      word.setAttribute("aria-pressed", String(cell.held && index === row));
      word.setAttribute("tabindex", index === row ? "0" : "-1");
    });
    shade(lookedAt, numbers, sheet, row, at, ramp);
    reading.tell(row);
    strip?.mark(row);
  };
  show(focus.get());
  const stop = focus.follow(show);
  return () => {
    stop();
    reading.stop();
  };
}

/** The two sides as text, or the one that reads itself; a number stands under each word that is looked at. */
function passages(sheet) {
  const looking = sheet.rows.map((word, row) =>
    html("button", { type: "button", class: "word", dir: "auto", tabindex: -1, "data-row": row }, shown(word)),
  );
  const plain = (word) => html("span", { class: "word", dir: "auto" }, shown(word));
  const lookedAt = sheet.columns.map((word, column) => (sheet.self && looking[column - sheet.before]) || plain(word));
  const numbers = sheet.columns.map(() => html("small", { "aria-hidden": "true" }));
  const slot = (...parts) => html("span", { class: "slot" }, ...parts);
  const counted = lookedAt.map((word, index) => slot(word, numbers[index]));
  const side = (name, does) => html("p", { class: "side" }, `${name} (${does})`);
  const readers = html(
    "div",
    { class: "passage", dir: direction(sheet.rows), role: "toolbar", "aria-label": `Words that look: ${sheet.title}` },
    ...(sheet.self ? counted : looking.map((word) => slot(word))),
  );
  const view = html("div", { class: "text" }, side(sheet.rowSide, sheet.self ? "reads itself" : "who looks"), readers);
  if (!sheet.self) {
    const passage = html("div", { class: "passage", dir: direction(sheet.columns) }, ...counted);
    view.append(side(sheet.columnSide, "what is looked at"), passage);
  }
  return { view, readers, looking, lookedAt, numbers };
}

/** Colour each word by how much `row` looked at it, and write the weight under it; its own word is the current one. */
function shade(words, numbers, sheet, row, at, ramp) {
  const values = rowOf(sheet, row);
  words.forEach((word, column) => {
    const index = row * sheet.columns.length + column;
    const current = sheet.self && column === row + sheet.before;
    const closed = Boolean(sheet.closed?.[index]);
    word.classList.toggle("current", current);
    word.classList.toggle("closed", closed && !current);
    word.style.backgroundColor = current || closed ? "" : ramp.css(at[index]);
    word.style.color = current || closed ? "" : ramp.ink(at[index]);
    const told = Math.abs(values[column]) >= 0.005 ? values[column].toFixed(2) : "\u00b7";
    numbers[column].textContent = closed ? "\u00a0" : told;
  });
}

/** Let pointer and keys point at words. */
function follow(readers, looking, sheet, focus) {
  const home = { row: Math.max(0, focus.get().row), rank: 0 };
  const columnOf = (row, rank) => strongest(sheet, row)[rank];
  const under = (target) => target.closest("[data-row]")?.dataset.row;
  readers.addEventListener("pointermove", (event) => {
    const row = under(event.target);
    if (row !== undefined) focus.point(Number(row), columnOf(Number(row), 0));
  });
  readers.addEventListener("click", (event) => {
    const row = under(event.target);
    if (row === undefined) return;
    Object.assign(home, { row: Number(row), rank: 0 });
    focus.hold(home.row, columnOf(home.row, 0));
  });
  readers.addEventListener("focusin", (event) => {
    const row = under(event.target);
    if (row === undefined || !event.target.matches(":focus-visible")) return;
    if (Number(row) !== home.row) Object.assign(home, { row: Number(row), rank: 0 });
    focus.point(home.row, columnOf(home.row, home.rank));
  });
  listenToKeys(readers, {
    at: () => ({ row: home.rank, column: home.row }),
    rows: sheet.columns.length,
    columns: looking.length,
    leftward: () => getComputedStyle(readers).direction === "rtl",
    go(rank, row) {
      Object.assign(home, { row, rank: row === home.row ? rank : 0 });
      focus.move(row, columnOf(row, home.rank));
      looking[row].focus();
    },
    hold: (rank, row) => focus.hold(row, columnOf(row, rank)),
    release: focus.release,
  });
}

/** Buttons that move through the text, by hand or by themselves; those who asked for less motion move by hand. */
function readingBar(sheet, focus) {
  const count = sheet.rows.length;
  const place = html("span", { class: "place" });
  let now = 0;
  let clock = null;
  const go = (row) => focus.move(row, strongest(sheet, row)[0]);
  const stop = () => {
    clearInterval(clock);
    clock = null;
    play.textContent = "Play";
  };
  const step = () => {
    if (now + 1 < count) go(now + 1);
    else stop();
  };
  const play = button("Play", () => {
    if (clock) return stop();
    if (now + 1 >= count) go(0);
    clock = setInterval(step, PACE);
    play.textContent = "Pause";
  });
  const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
  const bar = html(
    "div",
    { class: "reading" },
    button("Previous word", () => go(Math.max(0, now - 1))),
    ...(calm ? [] : [play]),
    button("Next word", () => go(Math.min(count - 1, now + 1))),
    place,
  );
  const tell = (row) => {
    now = row;
    place.textContent = `word ${row + 1} of ${count}`;
  };
  return { bar, stop, tell };
}

/**
 * The text as one drawing for a file: the word in focus, and the words it looked at, shaded; of a text that reads
 * itself, a line for each of its words.
 * @param {import("./sheet.js").Sheet} sheet
 * @param {number} row
 * @param {"one" | "row"} scale
 * @returns {SVGElement}
 */
export function textSvg(sheet, row, scale) {
  if (sheet.self) return stripSvg(sheet, scale);
  const ramp = makeRamp(false, sheet.diverging);
  const at = places(sheet, scale).subarray(row * sheet.columns.length, (row + 1) * sheet.columns.length);
  const words = flow(sheet.columns, (column) => ({ fill: ramp.css(at[column]), ink: ramp.ink(at[column]) }));
  const [wide, high] = [760, words.height + 164];
  const best = strongest(sheet, row)[0];
  const apart = (text) => `\u2068${shown(text)}\u2069`; // a word of another direction must not turn the sentence
  const told = `\u201c${apart(sheet.rows[row])}\u201d looked most at \u201c${apart(sheet.columns[best])}\u201d`;
  return paper(
    wide,
    high,
    sheet.title,
    svg("text", { x: 14, y: 54, "font-size": 13 }, `${told} (${rowOf(sheet, row)[best].toFixed(3)})`),
    moved(14, 72, words.group),
    moved(14, words.height + 88, legend(ramp, scale, sheet.diverging)),
    svg("text", { x: 14, y: high - 14, "font-size": 12 }, captions(sheet).sums),
  );
}
