// A plot of lines: points over x, with bands where a value is not sure, and bars below for counts.

import { html, svg } from "../figures/dom.js";
import { download, fileName, saveButtons, waysToSave } from "../figures/export.js";
import { FONT } from "../figures/labels.js";
import { moved, paper } from "../figures/paper.js";
import { isDark } from "../figures/ramp.js";

/**
 * @typedef {{x: number, y: number, low?: number, high?: number, about?: string}} Point
 * @typedef {{name: string, points: Point[], dots?: boolean}} Series
 * @typedef {{title: string, xLabel: string, yLabel: string, series: Series[], ticks?: [number, string][],
 *   bars?: {x: number, count: number}[], note?: string, fromZero?: boolean}} Plot `ticks`: where x has names
 */

const [WIDE, HIGH, LEFT, RIGHT, TOP, BOTTOM, BARS] = [720, 260, 62, 16, 30, 44, 60];
// Okabe and Ito's hues, darker on light paper and lighter on dark, so that thin lines can be seen; dashes tell them too.
const COLOURS = {
  light: ["#0060a0", "#b4500b", "#00785a", "#8f3f72", "#555b63"],
  dark: ["#8fbcff", "#ffb066", "#5fd3ac", "#f0a6d0", "#c3c8d0"],
};
const DASHES = ["", "7 4", "2 3", "9 3 2 3", "1 5"];

/**
 * Round numbers that part a range.
 * @param {number} low @param {number} high @param {number} [count]
 * @returns {number[]}
 */
export function niceTicks(low, high, count = 5) {
  const span = high - low || Math.abs(high) || 1;
  const raw = span / count;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = power * [1, 2, 5, 10].find((each) => each * power >= raw * 0.999);
  const found = [];
  for (let tick = Math.ceil(low / step - 1e-9); tick * step <= high + 1e-9 * span; tick++)
    found.push(Number((tick * step).toPrecision(12)));
  return found;
}

/** From values to places. */
function scale(low, high, from, to) {
  const span = high - low || 1;
  return (value) => from + ((value - low) / span) * (to - from);
}

/** Where everything lies. @param {Plot} plot */
function layOut({ series, bars, fromZero }) {
  const points = series.flatMap((each) => each.points);
  const xs = [...points.map(({ x }) => x), ...(bars ?? []).map(({ x }) => x)];
  const ys = points.flatMap(({ y, low = y, high = y }) => [y, low, high]).filter(Number.isFinite);
  const bounds = (values, fallback) => (values.length ? [Math.min(...values), Math.max(...values)] : fallback);
  const [left, right] = bounds(xs, [0, 1]);
  let [bottom, top] = bounds(ys, [0, 1]);
  if (fromZero) bottom = Math.min(0, bottom);
  const room = (top - bottom || 1) * 0.06;
  const edge = bars || right === left ? 0.5 : 0;
  return {
    x: scale(left - edge, right + edge, LEFT, WIDE - RIGHT),
    y: scale(bottom - (fromZero ? 0 : room), top + room, TOP + HIGH, TOP),
    bottom,
    top,
    left,
    right,
    high: TOP + HIGH + BOTTOM + (bars ? BARS : 0),
  };
}

/**
 * The plot as an SVG group.
 * @param {Plot} plot
 * @param {boolean} dark
 */
function drawing(plot, dark) {
  const place = layOut(plot);
  const colours = COLOURS[dark ? "dark" : "light"];
  const text = { "font-size": 12, fill: "currentColor" };
  const line = { stroke: "currentColor", "stroke-opacity": 0.18 };
  const grid = niceTicks(place.bottom, place.top).map((tick) =>
    svg(
      "g",
      {},
      svg("path", { d: `M${LEFT} ${place.y(tick)}H${WIDE - RIGHT}`, ...line }),
      svg("text", { ...text, x: LEFT - 8, y: place.y(tick) + 4, "text-anchor": "end" }, String(tick)),
    ),
  );
  const ticks =
    plot.ticks ??
    niceTicks(place.left, place.right, 6).map(
      (tick) => /** @type {[number, string]} */ ([tick, tick.toLocaleString("en")]),
    );
  const under = TOP + HIGH + (plot.bars ? BARS : 0);
  const names = ticks.map(([x, name]) =>
    svg("text", { ...text, x: place.x(x), y: under + 18, "text-anchor": "middle" }, name),
  );
  const lines = plot.series.map((series, index) =>
    drawSeries(series, place, colours[index % colours.length], DASHES[index % DASHES.length]),
  );
  return svg(
    "g",
    {},
    ...grid,
    svg("path", { d: `M${LEFT} ${TOP + HIGH}H${WIDE - RIGHT}`, stroke: "currentColor", "stroke-opacity": 0.5 }),
    ...names,
    svg("text", { ...text, x: (LEFT + WIDE) / 2, y: under + 38, "text-anchor": "middle" }, plot.xLabel),
    svg("text", { ...text, x: 14, y: 16 }, plot.yLabel),
    ...legend(plot.series, colours),
    ...(plot.bars ? [drawBars(plot.bars, place)] : []),
    ...lines,
  );
}

/** @param {Series} series */
function drawSeries({ name, points, dots = true }, place, colour, dash) {
  const at = points.filter(({ y }) => Number.isFinite(y));
  const path = at
    .map(({ x, y }, index) => `${index ? "L" : "M"}${place.x(x).toFixed(1)} ${place.y(y).toFixed(1)}`)
    .join("");
  const sure = at.filter(({ low, high }) => Number.isFinite(low) && Number.isFinite(high));
  const edge = [...sure.map(({ x, high }) => [x, high]), ...sure.map(({ x, low }) => [x, low]).reverse()];
  const band = edge
    .map(([x, y], index) => `${index ? "L" : "M"}${place.x(x).toFixed(1)} ${place.y(y).toFixed(1)}`)
    .join("");
  const marks = dots
    ? at.map(({ x, y, about = "" }) =>
        svg(
          "circle",
          {
            class: "dot",
            cx: place.x(x).toFixed(1),
            cy: place.y(y).toFixed(1),
            r: 4,
            fill: colour,
            "data-x": x,
            "data-y": y,
            "data-series": name,
          },
          svg("title", {}, about || `${name}: ${y}`),
        ),
      )
    : [];
  return svg(
    "g",
    { "data-series": name },
    ...(sure.length > 1 ? [svg("path", { d: `${band}Z`, fill: colour, "fill-opacity": 0.16 })] : []),
    svg("path", {
      class: "line",
      d: path,
      fill: "none",
      stroke: colour,
      "stroke-width": 2,
      "stroke-dasharray": dash || null,
      "stroke-linejoin": "round",
    }),
    ...marks,
  );
}

/** The names of the lines, at the right above. */
function legend(series, colours) {
  if (series.length < 2) return [];
  return series.map(({ name }, index) => {
    const x = WIDE - RIGHT - 150 * (series.length - index);
    const key = svg("path", {
      d: `M${x} 12h24`,
      stroke: colours[index % colours.length],
      "stroke-width": 2.5,
      "stroke-dasharray": DASHES[index % DASHES.length] || null,
    });
    return svg(
      "g",
      {},
      key,
      svg("text", { x: x + 30, y: 16, "font-size": 12, fill: "currentColor" }, name.slice(0, 18)),
    );
  });
}

/** How many there are, below the lines. */
function drawBars(bars, place) {
  const most = Math.max(...bars.map(({ count }) => count), 1);
  const width = Math.min(46, Math.abs(place.x(1) - place.x(0)) * 0.6);
  const under = TOP + HIGH + BARS;
  return svg(
    "g",
    { class: "counts" },
    ...bars.map(({ x, count }) => {
      const high = Math.max(1, (count / most) * (BARS - 24));
      const left = place.x(x) - width / 2;
      const label = svg(
        "text",
        { x: place.x(x), y: under - high - 4, "text-anchor": "middle", "font-size": 11, fill: "currentColor" },
        String(count),
      );
      return svg(
        "g",
        {},
        svg("path", { d: `M${left} ${under}v${-high}h${width}v${high}z`, fill: "currentColor", "fill-opacity": 0.3 }),
        label,
      );
    }),
  );
}

/**
 * Draw a plot into an element, with the ways to save it.
 * @param {HTMLElement} place emptied first
 * @param {Plot} plot
 * @param {{model?: string, choose?: (x: number) => void}} [options] `choose`: what a click on a point does
 */
export function drawPlot(place, plot, { model = "", choose } = {}) {
  const { high } = layOut(plot);
  const size = { width: WIDE, height: high, viewBox: `0 0 ${WIDE} ${high}` };
  const picture = svg(
    "svg",
    { ...size, class: "plot", role: "group", "aria-label": plot.title, "font-family": FONT },
    drawing(plot, isDark(place)),
  );
  for (const dot of choose ? picture.querySelectorAll(".dot") : []) {
    const act = () => choose(Number(dot.getAttribute("data-x")));
    dot.setAttribute("role", "button");
    dot.setAttribute("tabindex", "0");
    dot.setAttribute("aria-label", dot.textContent);
    dot.addEventListener("click", act);
    dot.addEventListener("keydown", (event) => event instanceof KeyboardEvent && event.key === "Enter" && act());
  }
  const name = (ending) => fileName(model, plot.title, ending);
  const file = () =>
    paper(
      WIDE + 20,
      high + (plot.note ? 70 : 50),
      plot.title,
      moved(10, 40, drawing(plot, false)),
      svg("text", { x: 14, y: high + 58, "font-size": 10 }, plot.note ?? ""),
    );
  const { CSV, ...ways } = waysToSave({ drawing: file, sheet: null, name });
  const table = () => {
    const rows = plot.series.flatMap((each) =>
      each.points.map(({ x, y, low = "", high: up = "" }) => [JSON.stringify(each.name), x, y, low, up].join(",")),
    );
    download(new Blob([`${["series,x,y,low,high", ...rows].join("\r\n")}\r\n`], { type: "text/csv" }), name("csv"));
  };
  const saving = html(
    "div",
    { class: "save", role: "group", "aria-label": `Save: ${plot.title}` },
    ...saveButtons({ ...ways, CSV: table }),
  );
  const note = plot.note ? [html("p", { class: "quiet" }, plot.note)] : [];
  place.replaceChildren(
    html("h3", { class: "look" }, plot.title),
    html("div", { class: "stage", tabindex: 0, role: "region", "aria-label": plot.title }, picture),
    ...note,
    saving,
  );
}
