// One figure: a document drawn into an element, with its menus, what it says under the pointer, and ways to save it.

import { drawMenus } from "./controls.js";
import { openFigure } from "./decode.js";
import { heading, html, svg } from "./dom.js";
import { fileName, saveButtons, waysToSave } from "./export.js";
import { drawHeads, headsSvg, looksOf } from "./heads.js";
import { drawLines, linesSvg, tellLimit } from "./lines.js";
import { drawMatrix, matrixSvg } from "./matrix.js";
import { isDark, legend, makeRamp } from "./ramp.js";
import { END, START, captions, makeSheet, sameWords, shown, weightOf } from "./sheet.js";
import { createFocus, createStore } from "./store.js";
import { drawText, textSvg } from "./text.js";

const END_SHOWN =
  "</s> is the end of the sentence; it has a row and a column of its own, because models do look there.";
const NOT_THERE = "Nothing is drawn where nothing was yet to be looked at.";
const START_SHOWN = "<s> is the start of the sentence, which a decoder can look back at before it has written a word.";
const END_HIDDEN =
  "The end of the sentence, </s>, is hidden: what was looked at there is left out; other weights stay as they are.";

/**
 * @typedef {import("./store.js").Store<typeof import("./controls.js").DEFAULTS>} Settings
 * @typedef {{element: HTMLElement, figure: import("./decode.js").Figure, focus: ReturnType<typeof createFocus>,
 *   look: import("./store.js").Store<{kind: string, layer: number, heads: string}>,
 *   sheet: () => import("./sheet.js").Sheet | null, redraw: () => Promise<void>, stop: () => void}} Drawn
 */

/**
 * Draw a document into an element; it follows the settings and its own menus from then on.
 * @param {HTMLElement} element
 * @param {import("./decode.js").FigureDocument} document
 * @param {{settings: Settings, level?: number, onSheet?: () => void, more?: Record<string, () => void>}} options
 *   `level` is that of its heading; `onSheet` hears when another matrix is shown; `more` ways to save it
 * @returns {Drawn}
 */
export function drawFigure(element, document, { settings, level = 2, onSheet = () => {}, more = {} }) {
  const figure = openFigure(document);
  const { kind, layer, heads } = document.chosen;
  const look = createStore({ kind, layer, heads: heads.join() });
  const focus = createFocus();
  const parts = frame(element, document, level);
  let sheet = null;
  let stop = () => {};
  let turn = 0;

  async function redraw() {
    const mine = ++turn;
    const now = settings.get();
    const looked = { ...look.get(), heads: look.get().heads.split(",").map(Number) };
    const reading = { unit: now.unit, end: now.end, later: now.view === "text" };
    const next = await makeSheet(figure, looked, reading);
    if (mine !== turn) return; // a later change is already on its way
    stop();
    const { row, column } = focus.get();
    if ((sheet && !sameWords(sheet, next)) || row >= next.rows.length || column >= next.columns.length) focus.release();
    sheet = next;
    drawMenus(parts.menus, figure, look);
    parts.title.textContent = now.view === "heads" ? `All heads (${looked.kind})` : sheet.title;
    parts.stage.replaceChildren();
    const open = (chosen) => {
      look.set({ ...chosen, heads: chosen.heads.join() });
      settings.set({ view: "matrix" });
    };
    const tell = (head, row, column) => sayOf(parts.readout, head, row, column);
    const view = await drawView(parts.stage, { figure, sheet, focus, now, reading, kind: looked.kind, open, tell });
    if (mine !== turn) return view.stop();
    stop = view.stop;
    explain(parts, sheet, now);
    readOut(parts, sheet, focus.get());
    const what = now.view === "heads" ? `${looked.kind} all heads` : sheet.title;
    const name = (ending) => fileName(document.model, what, ending);
    const ways = waysToSave({ drawing: view.drawing, sheet: () => sheet, document, name });
    if (now.view === "heads") delete ways.CSV; // many matrices are no table; JSON holds them all
    parts.save.replaceChildren(...saveButtons({ ...ways, ...more }));
    onSheet();
  }

  const forget = settings.follow(redraw);
  look.follow(redraw);
  focus.follow((cell) => readOut(parts, sheet, cell));
  redraw();
  const end = () => {
    turn += 1; // what is being drawn is not wanted any more
    forget();
    stop();
  };
  return { element, figure, focus, look, sheet: () => sheet, redraw, stop: end };
}

/** Draw the view that is asked for; returns what ends it, and its drawing for a file. */
async function drawView(stage, { figure, sheet, focus, now, reading, kind, open, tell }) {
  const { view, scale, threshold } = now;
  if (view === "matrix") {
    return { stop: drawMatrix(stage, sheet, { focus, scale }), drawing: () => matrixSvg(sheet, scale) };
  }
  if (view === "lines") {
    return { stop: drawLines(stage, sheet, { focus, threshold }), drawing: () => linesSvg(sheet, threshold) };
  }
  if (view === "text") {
    const drawing = () => textSvg(sheet, Math.max(0, focus.get().row), scale);
    return { stop: drawText(stage, sheet, { focus, scale }), drawing };
  }
  const sheets = await drawHeads(stage, figure, { kind, reading, scale, chosen: figure.document.chosen, open, tell });
  return { stop: () => {}, drawing: () => headsSvg(sheets, looksOf(figure, kind), scale) };
}

/** The places that a figure has, top to bottom. */
function frame(element, document, level) {
  const parts = {
    menus: html("div", { class: "menus", role: "group", "aria-label": "Layer and heads" }),
    title: heading(level + 1, { class: "look" }),
    caption: html("p", { class: "caption" }),
    key: html("div", { class: "key" }),
    readout: html("p", { class: "readout", role: "status", "aria-live": "polite" }),
    hint: html("p", { class: "hint" }),
    stage: html("div", { class: "stage" }),
    end: html("p", { class: "quiet" }),
    save: html("div", { class: "save", role: "group", "aria-label": "Save this figure" }),
  };
  const used = new Set(document.attention.flatMap((layer) => [layer.rows, layer.columns]));
  const sides = ["source", "target"].filter((name) => document[name].text !== "" || used.has(name));
  const side = (name) => [html("dt", {}, name), html("dd", { dir: "auto" }, shown(document[name].text))];
  element.append(
    heading(level, { class: "title", dir: "auto" }, document.title),
    ...(document.model === document.title ? [] : [html("p", { class: "model", dir: "auto" }, document.model)]),
    html("dl", { class: "sentences" }, ...sides.flatMap(side)),
    parts.menus,
    html("div", { class: "head" }, html("div", {}, parts.title, parts.caption), parts.key),
    html("div", { class: "said" }, parts.readout, parts.hint),
    parts.stage,
    parts.end,
    ...(document.note ? [html("p", { class: "note" }, document.note)] : []),
    ...scores(document.scores),
    parts.save,
  );
  return parts;
}

/** Figures of the alignment, each with its meaning. */
function scores(found) {
  const names = Object.keys(found);
  if (names.length === 0) return [];
  const entries = names.map((name) => {
    const value = html("b", {}, String(Number(found[name].value.toPrecision(4))));
    return html("div", {}, html("dt", {}, name), html("dd", {}, value, html("span", {}, found[name].meaning)));
  });
  return [html("dl", { class: "scores" }, ...entries)];
}

/** What the figure says of itself: its axes, its colours, the end of the sentence. */
function explain(parts, sheet, now) {
  const text = captions(sheet);
  const pale = sheet.closed && now.scale === "row";
  const even = pale ? ["full shade is a row's largest weight, at least three even shares"] : [];
  const told = {
    matrix: [text.rows, text.columns, text.sums, ...even],
    lines: ["the wider the line, the greater the weight", text.sums, ...tellLimit(sheet, now.threshold)],
    text: [...(sheet.self ? ["red is the current word, the darker the more it looked at"] : []), text.sums, ...even],
    heads: [text.rows, text.columns, "a click or Enter opens one"],
  };
  parts.caption.textContent = told[now.view].join(" \u00b7 ");
  const rings = now.view === "matrix" && sheet.links.length > 0 ? " A ring marks a link of the alignment." : "";
  const ends = [sheet.rows, sheet.columns].some((words) => words.at(-1) === END);
  const start = now.end && sheet.before && sheet.columns[0] === START ? START_SHOWN : "";
  const ahead = sheet.closed ? NOT_THERE : "";
  parts.end.textContent = [now.end ? (ends ? END_SHOWN : "") : END_HIDDEN, start, ahead].filter(Boolean).join(" ") + rings;
  drawKey(parts.key, sheet, now);
}

/**
 * Draw the key to the colours, for views that have colours.
 * @param {HTMLElement} element emptied first
 * @param {import("./sheet.js").Sheet} sheet
 * @param {ReturnType<Settings["get"]>} now
 */
export function drawKey(element, sheet, now) {
  element.replaceChildren();
  if (now.view === "lines" && !sheet.diverging) return;
  const single = now.scale === "one" ? "from 0 to 1" : "from 0 to the largest of each row";
  const name = `Colours: weight ${sheet.diverging ? "from -1 to 1" : single}`;
  const ramp = makeRamp(isDark(element), sheet.diverging);
  const size = { width: 216, height: 34, viewBox: "-8 -1 216 34" };
  element.append(svg("svg", { ...size, role: "img", "aria-label": name }, legend(ramp, now.scale, sheet.diverging)));
}

/**
 * Write what a cell says, each word in a direction of its own; without a sheet, nothing.
 * @param {HTMLElement} element
 * @param {import("./sheet.js").Sheet | null} sheet
 * @param {number} row
 * @param {number} column
 */
export function say(element, sheet, row, column) {
  if (!sheet) return element.replaceChildren();
  const word = (text) => html("bdi", {}, shown(text));
  const told = `: ${weightOf(sheet, row, column)}`;
  element.replaceChildren(word(sheet.rows[row]), " <- ", word(sheet.columns[column]), told);
}

/** The same of one head among many, which is named first. */
function sayOf(element, sheet, row, column) {
  say(element, sheet, row, column);
  if (sheet) element.prepend(`${sheet.title}: `);
}

/** Say what is pointed at. */
function readOut(parts, sheet, { row, column, held }) {
  const some = sheet && row >= 0 && column >= 0 && row < sheet.rows.length && column < sheet.columns.length;
  say(parts.readout, some ? sheet : null, row, column);
  parts.readout.classList.toggle("held", held);
  parts.hint.textContent = held
    ? "Held. Esc lets go."
    : some ? "Click or Enter holds it." : "Point at the figure, or Tab to it and use the arrow keys.";
}
