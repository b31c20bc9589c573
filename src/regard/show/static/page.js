// A page by itself: finds the places for switches and figures, draws what each carries, and keeps the address up to
// date. A page of `regard show` has one group of figures; a report has a group for each sentence.

import { drawCaptioned } from "./captioned.js";
import { drawCompare } from "./compare.js";
import { DEFAULTS, drawControls } from "./controls.js";
import { readFigure, readSettings, writeHash } from "./hash.js";
import { createStore } from "./store.js";

/**
 * Draw into every element that asks for it: `data-regard="switches"` gets the switches, which all figures of the page
 * share; `data-regard="figures"` the figures of the page document in its script element, side by side, with headings
 * from `data-level` down; `data-regard="captioned"` one captioned image, in place of the still picture in it. Figures of
 * one group point together; groups do not know one another.
 * @param {Document} root
 */
export function drawPage(root) {
  const places = (name) => [.../** @type {NodeListOf<HTMLElement>} */ (root.querySelectorAll(`[data-regard="${name}"]`))];
  const usual = { ...DEFAULTS, ...places("figures").map(documentOf)[0]?.settings };
  const settings = createStore(readSettings(location.hash, usual));
  const dress = () => (root.documentElement.dataset.theme = settings.get().theme);
  dress();
  settings.follow(dress); // before any figure: they ask the style sheet whether the paper is dark
  for (const place of places("switches")) {
    place.replaceChildren();
    drawControls(place, settings);
  }
  places("captioned").forEach(drawCaptioned);
  const figures = places("figures").flatMap((place) => drawGroup(place, settings));
  restore(figures);
  keepAddress(settings, figures, usual);
  const night = matchMedia("(prefers-color-scheme: dark)");
  night.addEventListener("change", () => figures.forEach((figure) => figure.redraw()));
}

/**
 * Tell the page around this one how high it is, now, when asked and whenever that changes.
 * @param {Document} root
 */
export function tellHeight(root) {
  if (parent === window) return;
  const tell = () => parent.postMessage({ height: Math.ceil(root.documentElement.getBoundingClientRect().height) }, "*");
  new ResizeObserver(tell).observe(root.documentElement);
  addEventListener("message", tell);
}

/** The page document that an element carries. */
function documentOf(place) {
  return JSON.parse(place.querySelector("script").textContent);
}

/** Draw the figures that an element carries; the document stays, so that a copy of the drawn page can be drawn again. */
function drawGroup(place, settings) {
  const carrier = place.querySelector("script");
  place.replaceChildren(carrier);
  const { figures } = documentOf(place);
  return drawCompare(place, figures, { settings, level: Number(place.dataset.level) });
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
function keepAddress(settings, figures, usual) {
  let last = location.hash.replace(/^#/, "");
  const write = () => {
    const next = writeHash(settings.get(), figures, usual);
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
    settings.set(readSettings(location.hash, usual));
    restore(figures);
  });
}
