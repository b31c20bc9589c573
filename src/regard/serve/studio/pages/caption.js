// Caption: an image, what a model says of it, and for each word where in the image it looked.

import { showCaptioned } from "../../figures/captioned.js";
import { html } from "../../figures/dom.js";
import { download, fileName, saveButtons } from "../../figures/export.js";
import { writeQuery } from "../address.js";
import { drawChips } from "../chips.js";
import { ask } from "../client.js";
import { card, field, number } from "../fields.js";
import { imageBox } from "../imagebox.js";
import { drawNbest } from "../nbest.js";
import { drawShares } from "../shares.js";

const BEAM = 5;
const CANDIDATES = 8;
const MOST = 47; // words that are drawn
const STILL = 0.001; // maps that differ less from word to word, on average, hardly move

/**
 * @param {HTMLElement} place
 * @param {import("../shell.js").Shell} shell
 */
export async function open(place, shell) {
  if (!shell.model()) return;
  const beam = number("beam", { min: 1, max: 16, value: BEAM });
  const state = { chosen: null, answers: [] };
  const box = imageBox(shell.model().limits, {
    take(chosen) {
      state.chosen = chosen;
      begin();
    },
    refuse(why) {
      clear();
      shell.complain(why);
    },
  });
  const form = html(
    "form",
    { class: "card ask" },
    html("div", { class: "options" }, html("h2", {}, "Image"), field("Beam", beam)),
    box,
  );
  form.addEventListener("submit", (event) => event.preventDefault());
  const output = html("section", { class: "card output", hidden: true });
  const figure = html("section", { class: "card captioned", hidden: true, "aria-label": "What each word looked at" });
  const others = html("div");
  const side = html("div", { class: "side-panel", hidden: true }, card("Outputs", others));
  place.append(form, output, html("div", { class: "beside" }, figure, side));
  shell.onModel(() => {
    writeQuery({ model: shell.model().id });
    if (state.chosen) begin();
  });
  beam.addEventListener("change", () => state.chosen && begin());

  /** The answer to the image; `prefix` is what it shall begin with. */
  async function begin(prefix = []) {
    const model = shell.model();
    shell.calm();
    form.setAttribute("aria-busy", "true");
    const written = model.goal === "write";
    const width = Number(beam.value) || BEAM;
    const more = written
      ? { beam: width, nbest: width, candidates: CANDIDATES, ...(prefix.length ? { prefix } : {}) }
      : {};
    try {
      const { answers } = await ask("api/v1/answer", {
        model: model.id,
        inputs: state.chosen.uri,
        figure: true,
        ...more,
      });
      state.answers = answers[0];
      await show(0);
      shell.say(`Output: ${state.answers[0].text}`);
    } catch (error) {
      clear();
      shell.complain(error);
    } finally {
      form.setAttribute("aria-busy", "false");
    }
  }

  /** One of the outputs. */
  async function show(at) {
    const answer = state.answers[at];
    output.replaceChildren(
      html("h2", {}, "Output"),
      html("p", { class: "answer", dir: "auto", "data-testid": "output" }, answer.text || "(empty)"),
      ...(answer.piece_likelihoods ? [drawChips(answer, begin)] : []),
      ...(answer.probabilities ? [drawShares("Classes", Object.entries(answer.probabilities))] : []),
    );
    others.replaceChildren(
      drawNbest(
        state.answers.filter((each) => each.score !== undefined),
        at,
        show,
      ),
    );
    output.hidden = figure.hidden = false;
    side.hidden = answer.score === undefined;
    await drawMaps(figure, answer, shell.model().id);
  }

  function clear() {
    output.hidden = figure.hidden = side.hidden = true;
  }
}

/** The image with what each word, or each query of a classifier, looked at. */
async function drawMaps(figure, answer, model) {
  const { image, grid } = answer;
  if (!grid?.weights.length || !image) {
    figure.replaceChildren(
      html("p", { class: "quiet" }, "This model does not attend: its words have no place in the image."),
    );
    return;
  }
  const maps = grid.weights.slice(0, MOST);
  const words =
    answer.words?.slice(0, MOST) ??
    maps.map((_, query) => (maps.length === 1 ? "what it looked at" : `query ${query + 1}`));
  const hard = maps.every((map) => Math.max(...map.flat()) > 0.999);
  const document = { image, words, maps, smooth: !hard, opacity: 0.8 };
  const drawing = html("div", { "data-regard": "captioned" });
  await showCaptioned(drawing, document);
  const name = (ending) => fileName(model, answer.text.slice(0, 60), ending);
  const ways = {
    PNG: () => drawing.querySelector("canvas").toBlob((blob) => download(blob, name("png"))),
    JSON: () =>
      download(new Blob([JSON.stringify({ ...document, ...answer })], { type: "application/json" }), name("json")),
  };
  const still =
    movement(maps) < STILL
      ? [
          html(
            "p",
            { class: "warning" },
            "The attention hardly moves from word to word, so these maps say nothing of a word.",
          ),
        ]
      : [];
  const saving = html("div", { class: "save", role: "group", "aria-label": "Save this figure" }, ...saveButtons(ways));
  const left =
    grid.weights.length > MOST
      ? [html("p", { class: "quiet" }, `The first ${MOST} of ${grid.weights.length} words are drawn.`)]
      : [];
  figure.replaceChildren(...still, drawing, ...left, saving);
}

/**
 * How far the maps of two words are apart, from 0 to 1, on average; 1 where there are no two.
 * @param {number[][][]} maps
 * @returns {number}
 */
export function movement(maps) {
  const shares = maps.map((map) => {
    const flat = map.flat();
    const sum = Math.max(
      1e-9,
      flat.reduce((one, other) => one + other, 0),
    );
    return flat.map((value) => value / sum);
  });
  let [total, pairs] = [0, 0];
  for (let one = 0; one < shares.length; one++) {
    for (let other = 0; other < one; other++) {
      total += shares[one].reduce((sum, value, cell) => sum + Math.abs(value - shares[other][cell]), 0) / 2;
      pairs += 1;
    }
  }
  return pairs ? total / pairs : 1;
}
