// An output as its pieces, each with how sure the model was; behind each, what might have stood in its place.

import { html } from "../figures/dom.js";
import { direction } from "../figures/labels.js";
import { END, shown } from "../figures/sheet.js";
import { roam } from "./fields.js";

const ENDING = 2; // the id of the end of a sentence, which a text cannot be made to begin with

/**
 * Draw the pieces of an answer and, below, the candidates of the one that is chosen.
 * @param {import("./client.js").Answer} answer
 * @param {(prefix: number[]) => void} begin decode again, the output beginning so
 * @returns {HTMLElement}
 */
export function drawChips(answer, begin) {
  const { pieces, ids, piece_likelihoods: likelihoods = [], candidates } = answer;
  const panel = html("div", { class: "candidates", hidden: true });
  const texts = [...pieces, END];
  const row = html("div", {
    class: "chips",
    role: "toolbar",
    "aria-label": "Pieces of the output",
    dir: direction(pieces),
  });
  const chips = texts.map((piece, step) => chip(piece, step, likelihoods[step]));
  chips.forEach((each, step) => each.addEventListener("click", () => open(step)));
  row.append(...chips);
  roam(row, () => chips);
  function open(step) {
    const shut = chips[step].getAttribute("aria-expanded") === "true";
    chips.forEach((each, index) => each.setAttribute("aria-expanded", String(!shut && index === step)));
    panel.hidden = shut || !candidates;
    if (!panel.hidden)
      panel.replaceChildren(
        ...choices(texts[step], step, candidates[step], (id) => begin([...ids.slice(0, step), id])),
      );
  }
  return html("div", {}, row, panel);
}

/** One piece: what it is, and the logarithm of its probability. */
function chip(piece, step, likelihood) {
  const joined = step > 0 && piece !== END && !/^\s/.test(piece);
  const sure = likelihood === undefined ? [] : [html("small", {}, likelihood.toFixed(2).replace("-0.00", "0.00"))];
  const made = html(
    "button",
    { type: "button", class: joined ? "chip joined" : "chip", tabindex: step ? -1 : 0, "aria-expanded": "false" },
    html("bdi", {}, shown(piece.trim() || piece)),
    ...sure,
  );
  if (likelihood !== undefined) {
    made.style.setProperty("--sure", String(Math.exp(likelihood)));
    made.setAttribute("aria-label", `${shown(piece.trim())}, log probability ${likelihood.toFixed(2)}`);
  }
  return made;
}

/** What might have been written instead. */
function choices(piece, step, candidates, choose) {
  const items = candidates.map(({ piece: text, probability, id }) => {
    const bar = html("span", { class: "share" });
    bar.style.setProperty("--share", String(probability));
    const name = html("bdi", {}, shown(text.trim() || text));
    const made = html(
      "button",
      { type: "button", disabled: id === ENDING },
      name,
      bar,
      html("small", {}, probability.toFixed(3)),
    );
    made.addEventListener("click", () => choose(id));
    return html("li", {}, made);
  });
  const what = html(
    "p",
    { class: "quiet" },
    `Instead of piece ${step + 1}, `,
    html("bdi", {}, shown(piece.trim())),
    ": choose one, and the rest is decoded again.",
  );
  return [what, html("ol", { "aria-label": `Candidates of piece ${step + 1}` }, ...items)];
}
