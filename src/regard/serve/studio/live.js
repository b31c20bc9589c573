// A translation as it is written: its text grows, and the matrix row by row.

import { html } from "../figures/dom.js";
import { drawMatrix } from "../figures/matrix.js";
import { createFocus } from "../figures/store.js";
import { listen } from "./client.js";

/**
 * Draw what is written, as it comes; ends when all is written.
 * @param {HTMLElement} place emptied first
 * @param {{model: string, input: string}} asked
 * @param {AbortSignal} signal
 */
export async function drawLive(place, asked, signal) {
  const text = html("p", { class: "written", dir: "auto" });
  const stage = html("div", { class: "stage", "data-testid": "live" });
  place.replaceChildren(text, stage);
  const seen = { source: [], pieces: [], rows: [] };
  let waiting = false;
  const draw = () => {
    waiting = false;
    if (signal.aborted || seen.rows.length === 0) return;
    stage.replaceChildren();
    drawMatrix(stage, sheetOf(seen), { focus: createFocus(), scale: "one" });
  };
  for await (const { name, data } of listen("api/v1/stream", asked, signal)) {
    if (name === "source") seen.source = data.pieces;
    if (name === "row") seen.rows[data.step] = data.weights;
    if (name === "piece") {
      seen.pieces.push(data.piece.trim());
      text.textContent = data.text;
    }
    if (!waiting) requestAnimationFrame(draw);
    waiting = true;
  }
}

/**
 * The rows so far, as a matrix between pieces.
 * @param {{source: string[], pieces: string[], rows: number[][]}} seen
 * @returns {import("../figures/sheet.js").Sheet}
 */
function sheetOf({ source, pieces, rows }) {
  const known = rows.slice(0, pieces.length);
  return {
    rows: pieces.slice(0, known.length),
    columns: source,
    values: Float64Array.from(known.flat()),
    rowSide: "target",
    columnSide: "source",
    title: "as it is written",
    sums: true,
    links: [],
    diverging: false,
    self: false,
    before: 0,
    closed: null,
  };
}
