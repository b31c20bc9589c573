// Colours for numbers. Equal steps of weight are equal steps in OKLab, a space in which equal distances look equal;
// lightness only ever falls (or, on dark paper, rises), so the order of colours is the same for every kind of eye.

import { svg } from "./dom.js";

/**
 * @typedef {{css: (t: number) => string, rgb: (t: number) => [number, number, number],
 *   ink: (t: number) => string}} Ramp what to write with on a colour is its ink
 */

const STEPS = 256;
const EVEN = 3; // even shares that are shaded fully where a text that looks back has no larger weight

// Lightness, chroma, hue. The pale end of each is the paper that cells lie on.
const LIGHT = [[0.985, 0.003, 210], [0.72, 0.1, 225], [0.29, 0.1, 272]];
const DARK = [[0.25, 0.012, 265], [0.56, 0.11, 245], [0.95, 0.07, 105]];
// Blue against orange: the pair that stays apart for red-blind, green-blind and blue-blind eyes.
const LIGHT_APART = [[0.45, 0.14, 45], [0.72, 0.11, 60], [0.97, 0.004, 90], [0.72, 0.09, 240], [0.45, 0.13, 258]];
const DARK_APART = [[0.85, 0.11, 70], [0.55, 0.11, 55], [0.26, 0.006, 265], [0.55, 0.11, 250], [0.85, 0.08, 235]];

/** @param {number[]} lch @returns {number[]} */
function toLab([lightness, chroma, hue]) {
  const angle = (hue * Math.PI) / 180;
  return [lightness, chroma * Math.cos(angle), chroma * Math.sin(angle)];
}

/**
 * OKLab to linear sRGB (B. Ottosson's matrices).
 * @param {number[]} lab
 * @returns {number[]}
 */
function toLinear([lightness, a, b]) {
  const l = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const m = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const s = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3;
  return [
    4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
    -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
    -0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s,
  ];
}

/** @param {number} linear @returns {number} 0 to 255 */
function toByte(linear) {
  const held = Math.min(1, Math.max(0, linear));
  return Math.round(255 * (held <= 0.0031308 ? 12.92 * held : 1.055 * held ** (1 / 2.4) - 0.055));
}

/** @param {number[]} one @param {number[]} other @param {number} share @returns {number[]} */
function between(one, other, share) {
  return one.map((value, index) => value + share * (other[index] - value));
}

/**
 * Colours at equal distances along the path through the given stops.
 * @param {number[][]} stops in lightness, chroma, hue
 * @returns {number[][]} in OKLab
 */
function even(stops) {
  const corners = stops.map(toLab);
  const apart = (one, other) => Math.hypot(...one.map((value, axis) => value - other[axis]));
  const lengths = corners.slice(1).map((corner, index) => apart(corner, corners[index]));
  const whole = lengths.reduce((sum, length) => sum + length, 0);
  return Array.from({ length: STEPS }, (_, step) => {
    let left = (whole * step) / (STEPS - 1);
    let leg = 0;
    while (leg < lengths.length - 1 && left > lengths[leg]) left -= lengths[leg++];
    return between(corners[leg], corners[leg + 1], left / lengths[leg]);
  });
}

/**
 * The ramp for weights from 0 to 1, or, diverging, for differences of -1 (0) through none (0.5) to 1.
 * @param {boolean} dark is the paper dark?
 * @param {boolean} [diverging]
 * @returns {Ramp}
 */
export function makeRamp(dark, diverging = false) {
  const stops = diverging ? (dark ? DARK_APART : LIGHT_APART) : dark ? DARK : LIGHT;
  const linear = even(stops).map(toLinear);
  const colours = linear.map((colour) => /** @type {[number, number, number]} */ (colour.map(toByte)));
  // Black on the light colours, white on the dark: WCAG's contrast is then never below 4.5 to 1.
  const inks = linear.map(([r, g, b]) => (0.2126 * r + 0.7152 * g + 0.0722 * b > 0.179 ? "#000000" : "#ffffff"));
  const step = (t) => Math.round((STEPS - 1) * Math.min(1, Math.max(0, t)));
  return {
    rgb: (t) => colours[step(t)],
    css: (t) => `#${colours[step(t)].map((byte) => byte.toString(16).padStart(2, "0")).join("")}`,
    ink: (t) => inks[step(t)],
  };
}

/**
 * Is this element on dark paper? The style sheet decides; its ink tells.
 * @param {Element} element
 * @returns {boolean}
 */
export function isDark(element) {
  const [red, green, blue] = getComputedStyle(element).color.match(/[\d.]+/g).map(Number);
  return red + green + blue > 384;
}

/**
 * Where each value of a sheet lies on its ramp, from 0 to 1.
 * @param {import("./sheet.js").Sheet} sheet
 * @param {"one" | "row"} scale against 1, or against the largest of its row
 * @returns {Float64Array}
 */
export function places(sheet, scale) {
  if (sheet.diverging) return sheet.values.map((value) => (value + 1) / 2);
  if (scale === "one") return sheet.values;
  const width = sheet.columns.length;
  const most = sheet.rows.map((_, row) => {
    const part = [row * width, (row + 1) * width];
    const open = width - (sheet.closed?.subarray(...part).reduce((count, empty) => count + empty, 0) ?? 0);
    const even = sheet.closed ? Math.min(1, EVEN / Math.max(1, open)) : 0; // looking everywhere stays pale
    return Math.max(even, ...sheet.values.subarray(...part));
  });
  return sheet.values.map((value, index) => value / (most[Math.floor(index / width)] || 1));
}

/**
 * The key to the colours, 200 wide and 34 high.
 * @param {Ramp} ramp
 * @param {"one" | "row"} scale
 * @param {boolean} diverging
 * @returns {SVGElement}
 */
export function legend(ramp, scale, diverging) {
  const parts = 100;
  const ends = diverging ? ["-1", "0", "1"] : scale === "one" ? ["0", "0.5", "1"] : ["0", "", "row's maximum"];
  const anchors = ["start", "middle", "end"];
  return svg(
    "g",
    { class: "legend", "font-size": 11, fill: "currentColor" },
    ...Array.from({ length: parts }, (_, part) =>
      svg("path", { d: `M${2 * part} 0h2.2v12h-2.2z`, fill: ramp.css(part / (parts - 1)) }),
    ),
    svg("path", { d: "M0 0h200v12h-200z", fill: "none", stroke: "currentColor", "stroke-opacity": 0.35 }),
    ...ends.map((text, index) => svg("text", { x: 100 * index, y: 26, "text-anchor": anchors[index] }, text)),
  );
}
