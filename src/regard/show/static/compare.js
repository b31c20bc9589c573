// Figures side by side: what is pointed at in one is pointed at in the others, and two that speak of the same words
// are subtracted.

import { heading, html } from "./dom.js";
import { fileName, saveButtons, waysToSave } from "./export.js";
import { drawFigure, drawKey, say } from "./figure.js";
import { drawMatrix, matrixSvg } from "./matrix.js";
import { captions, difference, sameWords } from "./sheet.js";
import { createFocus } from "./store.js";

/**
 * Where a word of one list stands in another: at the same place if it is there, else at the nearest; -1 if nowhere.
 * @param {string[]} words
 * @param {number} index
 * @param {string[]} others
 * @returns {number}
 */
export function counterpart(words, index, others) {
  if (index < 0) return -1;
  const word = words[index];
  const same = [...others.keys()].filter((other) => others[other] === word);
  return same.sort((one, other) => Math.abs(one - index) - Math.abs(other - index))[0] ?? -1;
}

/**
 * Let several readers point as one.
 * @param {{focus: ReturnType<typeof createFocus>, sheet: () => import("./sheet.js").Sheet | null}[]} readers
 * @returns {() => void} tells those who came later what is held
 */
function pointTogether(readers) {
  let passing = false;
  const tell = (reader) => {
    if (passing || !reader.sheet()) return;
    const { row, column, held } = reader.focus.get();
    passing = true; // a word may stand at another place over there: what comes back must not move us
    for (const other of readers) {
      const [ours, theirs] = [reader.sheet(), other.sheet()];
      if (other === reader || !theirs) continue;
      const there = counterpart(ours.rows, row, theirs.rows);
      const across = counterpart(ours.columns, column, theirs.columns);
      other.focus.set({ row: there, column: across, held: held && there >= 0 && across >= 0 });
    }
    passing = false;
  };
  for (const reader of readers) reader.focus.follow(() => tell(reader));
  return () => {
    const holder = readers.find((reader) => reader.focus.get().held);
    if (holder) tell(holder);
  };
}

/** The place of the difference: a sheet of its own, drawn when both figures are. */
function differencePanel(settings, level) {
  const focus = createFocus();
  const parts = {
    caption: html("p", { class: "caption" }),
    key: html("div", { class: "key" }),
    readout: html("p", { class: "readout", role: "status" }),
    stage: html("div", { class: "stage" }),
    save: html("div", { class: "save", role: "group", "aria-label": "Save the difference" }),
  };
  const title = heading(level, { class: "title" }, "Difference");
  const head = html("div", { class: "head" }, html("div", {}, title, parts.caption), parts.key);
  const said = html("div", { class: "said" }, parts.readout);
  const element = html("section", { class: "figure difference" }, head, said, parts.stage, parts.save);
  let [sheet, stop] = [null, () => {}];
  focus.follow(({ row, column }) => {
    say(parts.readout, row >= 0 && column >= 0 ? sheet : null, row, column);
  });
  function show(one, other, models) {
    stop();
    const sides = (each) => `${each.rowSide} ${each.columnSide}`;
    const alike = one && other && sameWords(one, other) && sides(one) === sides(other);
    sheet = alike ? difference(one, other) : null;
    element.hidden = !sheet || settings.get().view === "heads";
    parts.stage.replaceChildren();
    if (element.hidden) return;
    const text = captions(sheet);
    parts.caption.textContent = [`${models[0]} minus ${models[1]}`, text.rows, text.columns].join(" \u00b7 ");
    drawKey(parts.key, sheet, settings.get());
    stop = drawMatrix(parts.stage, sheet, { focus, scale: "one" });
    const name = (ending) => fileName(models.join(" minus "), "difference", ending);
    const ways = waysToSave({ drawing: () => matrixSvg(sheet, "one"), sheet: () => sheet, name });
    parts.save.replaceChildren(...saveButtons(ways));
  }
  return { element, focus, sheet: () => sheet, show };
}

/**
 * Draw several documents side by side.
 * @param {HTMLElement} element
 * @param {import("./decode.js").FigureDocument[]} documents
 * @param {{settings: import("./figure.js").Settings, level?: number}} options
 * @returns {import("./figure.js").Drawn[]}
 */
export function drawCompare(element, documents, { settings, level = 2 }) {
  const row = html("div", { class: "figures" });
  element.append(row);
  const panel = documents.length === 2 ? differencePanel(settings, level) : null;
  const models = documents.map((document, index) => document.model || document.title || `figure ${index + 1}`);
  const figures = [];
  let catchUp = () => {};
  const onSheet = () => {
    panel?.show(figures[0].sheet(), figures[1].sheet(), models);
    catchUp();
  };
  for (const document of documents) {
    const place = html("section", { class: "figure" });
    row.append(place);
    figures.push(drawFigure(place, document, { settings, level, onSheet }));
  }
  if (panel) element.append(panel.element);
  catchUp = pointTogether(panel ? [...figures, panel] : figures);
  return figures;
}
