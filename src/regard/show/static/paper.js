// A drawing that stands by itself in a file: white paper, dark ink, a title. Whatever the theme, papers are printed.

import { svg } from "./dom.js";
import { FONT } from "./labels.js";

/**
 * A sheet of white paper.
 * @param {number} width
 * @param {number} height
 * @param {string} title
 * @param {...SVGElement} parts
 * @returns {SVGElement}
 */
export function paper(width, height, title, ...parts) {
  const size = { width, height, viewBox: `0 0 ${width} ${height}` };
  return svg(
    "svg",
    { xmlns: "http://www.w3.org/2000/svg", ...size, color: "#1d2127", fill: "currentColor", "font-family": FONT },
    svg("path", { d: `M0 0h${width}v${height}h-${width}z`, fill: "#ffffff" }),
    svg("text", { x: 14, y: 28, "font-size": 15, "font-weight": 600 }, title),
    ...parts,
  );
}

/**
 * Parts of a drawing, moved.
 * @param {number} x
 * @param {number} y
 * @param {...SVGElement} parts
 * @returns {SVGElement}
 */
export function moved(x, y, ...parts) {
  return svg("g", { transform: `translate(${x} ${y})` }, ...parts);
}
