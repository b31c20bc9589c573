// What a reader has set, in the address of the page: a link opens the same view. The switches belong to the page and
// are named once; figures are numbered from 0 through the whole page, whatever group they stand in.

import { CHOICES, DEFAULTS } from "./controls.js";

/**
 * The settings that an address asks for. What it asks wrongly is left as it was.
 * @param {string} hash
 * @param {typeof DEFAULTS} [usual] what the page starts with
 * @returns {typeof DEFAULTS}
 */
export function readSettings(hash, usual = DEFAULTS) {
  const asked = new URLSearchParams(hash.replace(/^#/, ""));
  const found = { ...usual };
  for (const [key, options] of Object.entries(CHOICES)) {
    if (Object.hasOwn(options, asked.get(key) ?? "")) found[key] = asked.get(key);
  }
  if (asked.get("end") === "hidden") found.end = false;
  const threshold = Number(asked.get("threshold") ?? NaN);
  if (threshold >= 0 && threshold <= 0.5) found.threshold = threshold;
  return found;
}

/**
 * Which heads, and which held cell, an address asks for in the figure of this number.
 * @param {string} hash
 * @param {number} index
 * @param {import("./decode.js").Figure} figure
 * @returns {{look: {kind: string, layer: number, heads: string} | null, hold: [number, number] | null}}
 */
export function readFigure(hash, index, figure) {
  const asked = new URLSearchParams(hash.replace(/^#/, ""));
  const [kind, layer, heads] = (asked.get(`look${index}`) ?? "").split(".");
  const there = figure.layers(kind).find((each) => String(each.layer) === layer);
  const listed = /^\d+(,\d+)*$/.test(heads ?? "") ? heads.split(",").map(Number) : [];
  const fits = there && listed.length > 0 && listed.every((head) => head < there.shape[0]);
  const hold = /^(\d+)\.(\d+)$/.exec(asked.get(`hold${index}`) ?? "");
  const { row } = figure.document.chosen; // what a figure opens with, where it says so
  return {
    look: fits ? { kind, layer: Number(layer), heads } : null,
    hold: hold ? [Number(hold[1]), Number(hold[2])] : row === undefined ? null : [row, row],
  };
}

/**
 * The address of what is set now; what is as it always is needs no word.
 * @param {typeof DEFAULTS} settings
 * @param {import("./figure.js").Drawn[]} figures
 * @param {typeof DEFAULTS} [usual] what the page starts with
 * @returns {string}
 */
export function writeHash(settings, figures, usual = DEFAULTS) {
  const told = new URLSearchParams();
  for (const key of [...Object.keys(CHOICES), "threshold"]) {
    if (settings[key] !== usual[key]) told.set(key, String(settings[key]));
  }
  if (!settings.end) told.set("end", "hidden");
  figures.forEach(({ figure, look, focus }, index) => {
    const { chosen } = figure.document;
    const { kind, layer, heads } = look.get();
    if (kind !== chosen.kind || layer !== chosen.layer || heads !== chosen.heads.join()) {
      told.set(`look${index}`, `${kind}.${layer}.${heads}`);
    }
    const { row, column, held } = focus.get();
    if (held) told.set(`hold${index}`, `${row}.${column}`);
  });
  return told.toString();
}
