// The switches above a figure. They change a store and know nothing of what is drawn.

import { html } from "./dom.js";

/**
 * What a page starts with: the matrix of words, with the end of the sentence, coloured from 0 to 1.
 * @type {{view: string, unit: "words" | "pieces", end: boolean, scale: "one" | "row", threshold: number, theme: string}}
 */
export const DEFAULTS = { view: "matrix", unit: "words", end: true, scale: "one", threshold: 0.05, theme: "auto" };

/** What each switch may be set to, and how it is called. */
export const CHOICES = {
  view: { matrix: "Matrix", lines: "Lines", text: "Text", heads: "All heads" },
  unit: { words: "Words", pieces: "Pieces" },
  scale: { one: "0 to 1", row: "Per row maximum" },
  theme: { auto: "Auto", light: "Light", dark: "Dark" },
};

const NAMES = { view: "View", unit: "Unit", scale: "Colours", theme: "Theme" };

/**
 * One of several, as radio buttons in a row.
 * @param {import("./store.js").Store<typeof DEFAULTS>} settings
 * @param {keyof typeof CHOICES} key
 * @returns {HTMLElement}
 */
function choice(settings, key) {
  const inputs = Object.keys(CHOICES[key]).map((value) => {
    const input = html("input", { type: "radio", name: key, value });
    input.addEventListener("change", () => settings.set({ [key]: value }));
    return input;
  });
  const labels = inputs.map((input) => html("label", {}, input, html("span", {}, CHOICES[key][input.value])));
  const box = html("fieldset", { class: "choice" }, html("legend", {}, NAMES[key]), html("div", {}, ...labels));
  const show = (now) => {
    inputs.forEach((input) => (input.checked = input.value === now[key]));
    box.hidden = key === "scale" && now.view === "lines"; // lines have widths, not colours
  };
  settings.follow(show);
  show(settings.get());
  return box;
}

/** Show or hide the end of the sentence. */
function endSwitch(settings) {
  const input = html("input", { type: "checkbox", name: "end" });
  input.addEventListener("change", () => settings.set({ end: input.checked }));
  const show = (now) => (input.checked = now.end);
  settings.follow(show);
  show(settings.get());
  return html("label", { class: "switch" }, input, html("span", {}, "End of sentence"));
}

/** The least weight that has a line; for the view that has lines. */
function thresholdSlider(settings) {
  const input = html("input", { type: "range", name: "threshold", min: 0, max: 0.5, step: 0.01 });
  const number = html("output", {});
  const box = html("label", { class: "slider" }, html("span", {}, "Lines from"), input, number);
  input.addEventListener("input", () => settings.set({ threshold: Number(input.value) }));
  const show = (now) => {
    input.value = String(now.threshold);
    number.textContent = now.threshold.toFixed(2);
    box.hidden = now.view !== "lines";
  };
  settings.follow(show);
  show(settings.get());
  return box;
}

/**
 * Draw the switches that all figures of a page share.
 * @param {HTMLElement} element
 * @param {import("./store.js").Store<typeof DEFAULTS>} settings
 * @param {(keyof typeof CHOICES)[]} [choices] which of them; a page may have some elsewhere
 */
export function drawControls(element, settings, choices = ["view", "unit", "scale", "theme"]) {
  const form = html(
    "form",
    { class: "controls", "aria-label": "View" },
    ...choices.map((key) => choice(settings, key)),
    endSwitch(settings),
    thresholdSlider(settings),
  );
  form.addEventListener("submit", (event) => event.preventDefault());
  element.append(form);
}

/**
 * A menu.
 * @param {string} name
 * @param {{value: string, text: string}[]} entries
 * @param {string} now
 * @param {(value: string) => void} choose
 * @returns {HTMLElement}
 */
function menu(name, entries, now, choose) {
  const options = entries.map(({ value, text }) => html("option", { value }, text));
  const select = html("select", { name: name.toLowerCase() }, ...options);
  select.value = now;
  select.addEventListener("change", () => choose(select.value));
  return html("label", { class: "menu" }, html("span", {}, name), select);
}

/**
 * Which heads of a layer may be shown: each, the mean of all, and those that the alignment is read from.
 * @param {import("./decode.js").Figure} figure
 * @param {import("./decode.js").Layer} layer
 * @returns {{value: string, text: string}[]}
 */
function headEntries(figure, layer) {
  const { chosen } = figure.document;
  const here = chosen.kind === layer.kind && chosen.layer === layer.layer ? chosen.heads.join() : null;
  const all = Array.from({ length: layer.shape[0] }, (_, head) => head);
  const entries = all.map((head) => ({ value: String(head), text: `Head ${head + 1}` }));
  if (all.length > 1) entries.unshift({ value: all.join(), text: "Mean of all heads" });
  if (here && !entries.some(({ value }) => value === here)) {
    entries.unshift({ value: here, text: `Mean of heads ${chosen.heads.map((head) => head + 1).join(", ")}` });
  }
  return entries.map(({ value, text }) => ({ value, text: value === here ? `${text} (chosen)` : text }));
}

/**
 * Draw the menus of one figure: kind of attention, layer, heads. A menu of one entry is left out.
 * @param {HTMLElement} element emptied first
 * @param {import("./decode.js").Figure} figure
 * @param {import("./store.js").Store<{kind: string, layer: number, heads: string}>} look
 */
export function drawMenus(element, figure, look) {
  const now = look.get();
  const layers = figure.layers(now.kind);
  const layer = layers.find((each) => each.layer === now.layer);
  const meanOf = (each) => Array.from({ length: each.shape[0] }, (_, head) => head).join();
  const heads = headEntries(figure, layer);
  const menus = [];
  if (figure.kinds.length > 1) {
    const entries = figure.kinds.map((kind) => ({ value: kind, text: kind }));
    menus.push(menu("Attention", entries, now.kind, (kind) => {
      const last = figure.layers(kind).at(-1);
      look.set({ kind, layer: last.layer, heads: meanOf(last) });
    }));
  }
  if (layers.length > 1) {
    const entries = layers.map((each) => ({ value: String(each.layer), text: `Layer ${each.layer + 1}` }));
    menus.push(menu("Layer", entries, String(now.layer), (value) => {
      const next = layers.find((each) => each.layer === Number(value));
      const fits = headEntries(figure, next).some((entry) => entry.value === now.heads);
      look.set({ layer: next.layer, heads: fits ? now.heads : meanOf(next) });
    }));
  }
  if (heads.length > 1) menus.push(menu("Heads", heads, now.heads, (value) => look.set({ heads: value })));
  element.replaceChildren(...menus);
}
