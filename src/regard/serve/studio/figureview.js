// The figure of an answer on a page of the studio: drawn anew for each answer, kept in the address, saved as a page too.

import { html } from "../figures/dom.js";
import { download, fileName } from "../figures/export.js";
import { drawFigure } from "../figures/figure.js";
import { DEFAULTS } from "../figures/controls.js";
import { readFigure, readSettings, writeHash } from "../figures/hash.js";
import { writeView } from "./address.js";
import { askFile } from "./client.js";

/**
 * @typedef {import("../figures/decode.js").FigureDocument} FigureDocument
 * @typedef {import("../figures/figure.js").Drawn} Drawn
 */

/**
 * A place for one figure.
 * @param {HTMLElement} place
 * @param {import("./shell.js").Shell} shell
 * @param {Partial<typeof DEFAULTS>} [start] what this page's figures open with
 */
export function figurePlace(place, { settings, complain, onTheme }, start = {}) {
  let drawn = /** @type {Drawn | null} */ (null);
  const usual = () => ({ ...DEFAULTS, ...start, theme: settings.get().theme });
  const keep = () => drawn && writeView(writeHash(settings.get(), [drawn], usual()));
  const restore = () => settings.set(readSettings(location.hash, usual()));
  restore();
  settings.follow(keep);
  onTheme(() => drawn?.redraw());
  return {
    get: () => drawn,
    restore,
    /**
     * Draw a document; the address says which heads, and which cell is held.
     * @param {FigureDocument} document
     * @param {{onSheet?: () => void, look?: {kind: string, layer: number, heads: string}}} [options]
     * @returns {Drawn}
     */
    draw(document, { onSheet, look } = {}) {
      drawn?.stop();
      const section = html("section", { class: "figure" });
      place.replaceChildren(html("div", { class: "figures" }, section));
      const more = { HTML: () => savePage([document], settings.get(), complain) };
      drawn = drawFigure(section, document, { settings, onSheet, more });
      const asked = readFigure(location.hash, 0, drawn.figure);
      const first = asked.look ?? (look && fits(drawn, look) ? look : null);
      if (first) drawn.look.set(first);
      if (asked.hold) drawn.focus.set({ row: asked.hold[0], column: asked.hold[1], held: true });
      drawn.look.follow(keep);
      drawn.focus.follow(keep);
      keep();
      return drawn;
    },
    /** Nothing is shown. */
    clear() {
      drawn?.stop();
      drawn = null;
      place.replaceChildren();
    },
  };
}

/** Has a figure these heads? */
function fits(drawn, { kind, layer, heads }) {
  const there = drawn.figure.layers(kind).find((each) => each.layer === layer);
  return Boolean(there) && heads.split(",").every((head) => Number(head) < there.shape[0]);
}

/**
 * Figures as a page of their own, which needs no server.
 * @param {FigureDocument[]} figures
 * @param {typeof DEFAULTS} settings
 * @param {(error: unknown) => void} complain
 */
export async function savePage(figures, { view, unit, scale }, complain) {
  const title = figures.length === 1 ? figures[0].title : "Compared";
  try {
    const page = await askFile("api/v1/page", { title, figures, settings: { view, unit, scale } });
    download(page, fileName(figures.map(({ model }) => model).join(" "), "attention", "html"));
  } catch (error) {
    complain(error);
  }
}
