// The page by itself: reads what is embedded, draws it, and keeps the address up to date.

import { drawCompare } from "./compare.js";
import { drawControls } from "./controls.js";
import { html } from "./dom.js";
import { readFigure, readSettings, writeHash } from "./hash.js";
import { createStore } from "./store.js";

/**
 * Draw a whole page into an element.
 * @param {HTMLElement} element
 * @param {{title: string, figures: import("./decode.js").FigureDocument[]}} page
 */
export function drawPage(element, page) {
  const settings = createStore(readSettings(location.hash));
  const root = document.documentElement;
  const dress = () => (root.dataset.theme = settings.get().theme);
  dress();
  settings.follow(dress); // before any figure: they ask the style sheet whether the paper is dark
  const controls = html("div", {});
  const main = html("main", { class: page.figures.length > 1 ? "several" : "single" });
  const footer = html(
    "footer",
    {},
    html("p", {}, "Attention shows where the model looked, not why."),
    html("p", { class: "quiet" }, "Made with Regard."),
  );
  element.replaceChildren(html("header", {}, html("h1", { dir: "auto" }, page.title), controls), main, footer);
  drawControls(controls, settings);
  const figures = drawCompare(main, page.figures, { settings });
  restore(figures);
  keepAddress(settings, figures);
  const night = matchMedia("(prefers-color-scheme: dark)");
  night.addEventListener("change", () => figures.forEach((figure) => figure.redraw()));
}

/** Open what the address asks for. */
function restore(figures) {
  figures.forEach(({ figure, look, focus }, index) => {
    const asked = readFigure(location.hash, index, figure);
    if (asked.look) look.set(asked.look);
    if (asked.hold) focus.set({ row: asked.hold[0], column: asked.hold[1], held: true });
  });
}

/** Write each change into the address, and follow an address that is changed by hand. */
function keepAddress(settings, figures) {
  let last = location.hash.replace(/^#/, "");
  const write = () => {
    const next = writeHash(settings.get(), figures);
    if (next === last) return; // the pointer passes over many cells, and browsers count how often an address changes
    last = next;
    try {
      history.replaceState(null, "", `#${next}`);
    } catch {
      // A page inside a notebook has no address of its own; there is nothing to keep.
    }
  };
  settings.follow(write);
  for (const { look, focus } of figures) {
    look.follow(write);
    focus.follow(write);
  }
  addEventListener("hashchange", () => {
    settings.set(readSettings(location.hash));
    restore(figures);
  });
}
