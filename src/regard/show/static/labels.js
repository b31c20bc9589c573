// Words as labels in a drawing: measured, shortened where they are very long, in any script and direction.

import { svg } from "./dom.js";
import { shown } from "./sheet.js";

/** Fonts of the reader's own system: nothing is fetched, and every script that the system knows is drawn. */
export const FONT = "system-ui, -apple-system, 'Segoe UI', 'Noto Sans', 'DejaVu Sans', sans-serif";

const LONGEST = 150;
const LEFTWARD =
  /[\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}\p{Script=Adlam}]/u;

/**
 * A way to measure texts at a size.
 * @param {number} size
 * @returns {(text: string) => number}
 */
export function ruler(size) {
  const context = document.createElement("canvas").getContext("2d");
  context.font = `${size}px ${FONT}`;
  return (text) => context.measureText(text).width;
}

/**
 * A text, cut with an ellipsis where it is wider than a label may be.
 * @param {string} text
 * @param {(text: string) => number} measure
 * @param {number} [longest]
 * @returns {string}
 */
export function shorten(text, measure, longest = LONGEST) {
  const whole = shown(text);
  if (measure(whole) <= longest) return whole;
  const letters = Array.from(whole.slice(0, 200));
  while (letters.length > 1 && measure(`${letters.join("")}\u2026`) > longest) letters.pop();
  return `${letters.join("")}\u2026`;
}

/**
 * The width of the widest label.
 * @param {string[]} texts
 * @param {(text: string) => number} measure
 * @returns {number}
 */
export function widest(texts, measure) {
  return Math.max(0, ...texts.map((text) => Math.min(LONGEST + 10, measure(shorten(text, measure)))));
}

/**
 * The direction in which a sentence runs: that of its first letter, as dir="auto" would have it, were its words not
 * elements of their own.
 * @param {string[]} words
 * @returns {"ltr" | "rtl"}
 */
export function direction(words) {
  const first = /\p{L}/u.exec(words.join(" "))?.[0] ?? "";
  return LEFTWARD.test(first) ? "rtl" : "ltr";
}

/**
 * A label. `plaintext` lets each word find its own direction, which is dir="auto" in the language of SVG; the whole
 * word is in the title where the label is shortened.
 * @param {string} text
 * @param {(text: string) => number} measure
 * @param {Record<string, string | number>} attributes
 * @returns {SVGElement}
 */
export function label(text, measure, attributes) {
  const short = shorten(text, measure);
  const made = svg("text", { "unicode-bidi": "plaintext", dir: "auto", ...attributes }, short);
  if (short !== text) made.append(svg("title", {}, text));
  return made;
}
