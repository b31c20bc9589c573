// The fields of a form, each with its name.

import { html } from "../figures/dom.js";

/**
 * A field with a name before it.
 * @template {HTMLElement} E
 * @param {string} name
 * @param {E} input
 * @returns {HTMLLabelElement}
 */
export function field(name, input) {
  return html("label", { class: "field" }, html("span", {}, name), input);
}

/**
 * A number within bounds.
 * @param {string} name
 * @param {{min: number, max: number, step?: number, value?: number, placeholder?: string}} bounds
 * @returns {HTMLInputElement}
 */
export function number(name, { min, max, step = 1, value, placeholder }) {
  return html("input", { type: "number", name, min, max, step, value, placeholder });
}

/**
 * A box for a text, which grows with it.
 * @param {string} name
 * @param {string} label
 * @param {number} [rows]
 * @returns {HTMLTextAreaElement}
 */
export function textBox(name, label, rows = 2) {
  return html("textarea", { name, rows, dir: "auto", spellcheck: "false", "aria-label": label });
}

/**
 * A box with a heading.
 * @param {string} title
 * @param {...(Node | string)} children
 * @returns {HTMLElement}
 */
export function card(title, ...children) {
  return html("section", { class: "card" }, html("h2", {}, title), ...children);
}

/**
 * Put a text on the clipboard; where a browser trusts the page too little, in the old way.
 * @param {string} text
 */
export async function copyText(text) {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  const box = html("textarea", { class: "unseen" });
  box.value = text;
  document.body.append(box);
  box.select();
  document.execCommand("copy");
  box.remove();
}

/**
 * Keys of a row of buttons, of which Tab reaches one: arrows, Home and End go from one to the next.
 * @param {HTMLElement} row
 * @param {() => HTMLElement[]} buttons
 */
export function roam(row, buttons) {
  row.addEventListener("keydown", (event) => {
    const all = buttons();
    const at = all.indexOf(/** @type {HTMLElement} */ (document.activeElement));
    const leftward = getComputedStyle(row).direction === "rtl" ? -1 : 1;
    const steps = {
      ArrowRight: at + leftward,
      ArrowLeft: at - leftward,
      ArrowDown: at + 1,
      ArrowUp: at - 1,
      Home: 0,
      End: all.length - 1,
    };
    const next = all[steps[event.key]];
    if (at < 0 || !next) return;
    event.preventDefault();
    for (const each of all) each.tabIndex = each === next ? 0 : -1;
    next.focus();
  });
}
