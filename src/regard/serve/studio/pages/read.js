// Read: a text through a model that reads: a language model word by word, a classifier, a tagger, what fills holes.

import { drawControls } from "../../figures/controls.js";
import { button, html } from "../../figures/dom.js";
import { direction } from "../../figures/labels.js";
import { shown } from "../../figures/sheet.js";
import { followSteps, readQuery, writeQuery } from "../address.js";
import { askForm } from "../asking.js";
import { ask, listen } from "../client.js";
import { card } from "../fields.js";
import { figurePlace } from "../figureview.js";
import { drawShares } from "../shares.js";

/**
 * @param {HTMLElement} place
 * @param {import("../shell.js").Shell} shell
 */
export async function open(place, shell) {
  if (!shell.model()) return;
  const words = { title: "Text", does: "Read", doing: "Reading", rows: 3 };
  const asking = askForm(shell, words, (text) => {
    writeQuery({ model: shell.model().id, text }, true);
    begin();
  });
  const page = parts(shell);
  place.append(asking.form, page.output, page.going, html("div", { class: "beside" }, page.figure, page.side));
  const view = figurePlace(page.figure, shell, { view: "text", scale: "row" });
  let stop = new AbortController();
  page.go.addEventListener("click", () => goOn());
  page.halt.addEventListener("click", () => stop.abort());
  page.take.addEventListener("click", () => {
    asking.fill(page.written.textContent);
    asking.form.requestSubmit();
  });
  followSteps(() => {
    view.restore();
    begin();
  });

  /** The answer to what the address asks. */
  async function begin() {
    stop.abort();
    const { model: named = "", text = "" } = readQuery();
    shell.choose(named);
    asking.fill(text);
    shell.calm();
    if (!text.trim()) return;
    asking.busy(true);
    try {
      const model = shell.model();
      const found = model.reads === "nothing" ? await readThrough(model.id, text) : await answered(model.id, text);
      page.output.replaceChildren(html("h2", {}, "Output"), ...found.told);
      page.output.hidden = false;
      page.going.hidden = model.reads !== "nothing";
      page.written.replaceChildren();
      page.take.hidden = page.halt.hidden = true;
      page.side.hidden = !found.figure;
      if (found.figure) view.draw({ ...found.figure, model: model.id });
      else view.clear();
      shell.say("Read.");
    } catch (error) {
      shell.complain(error);
    } finally {
      asking.busy(false);
    }
  }

  /** The text goes on, word by word. */
  async function goOn() {
    stop = new AbortController();
    const { signal } = stop;
    const text = asking.text.value;
    page.halt.hidden = false;
    shell.calm();
    try {
      for await (const { name, data } of listen("api/v1/stream", { model: shell.model().id, input: text }, signal)) {
        if (name === "piece") page.written.replaceChildren(text, html("ins", {}, data.text));
        if (name === "answer") page.take.hidden = false;
      }
    } catch (error) {
      if (signal.aborted) page.take.hidden = false;
      else shell.complain(error);
    }
    page.halt.hidden = true;
  }

  await begin();
}

/** What a language model makes of a text: how likely each word was, and what it looked at. */
async function readThrough(model, text) {
  const scored = await ask("api/v1/score", { model, source: "", target: text });
  const looked = await ask("api/v1/look", { model, input: text });
  const [words, each, likelihood] = [scored.words[0], scored.word_likelihoods[0], scored.likelihoods[0]];
  const about = `Log likelihood ${likelihood.toFixed(2)}, ${(likelihood / Math.max(1, each.length)).toFixed(2)} a word. Warm words surprised the model.`;
  return {
    told: [
      html("p", { class: "quiet" }, about),
      drawWords(
        words,
        each.map((value) => value.toFixed(2)),
        each.map(Math.exp),
      ),
    ],
    figure: looked.figure,
  };
}

/** What any other model answers. */
async function answered(model, text) {
  const { answers } = await ask("api/v1/answer", { model, inputs: text, figure: true });
  /** @type {import("../client.js").Answer} */
  const answer = answers[0][0];
  const told = [];
  if (answer.tags) told.push(drawWords(answer.words, answer.tags, answer.tag_probabilities));
  else if (answer.vector)
    told.push(
      html(
        "p",
        {},
        `A vector of ${answer.vector.length} numbers: ${answer.vector
          .slice(0, 8)
          .map((each) => each.toFixed(3))
          .join(", ")} \u2026`,
      ),
    );
  else told.push(html("p", { class: "answer", dir: "auto", "data-testid": "output" }, answer.filled ?? answer.text));
  if (answer.probabilities) told.push(drawShares("Classes", Object.entries(answer.probabilities)));
  for (const { position, candidates } of answer.holes ?? []) {
    told.push(
      drawShares(
        `Hole ${position + 1}`,
        candidates.map(({ piece, probability }) => [piece, probability]),
      ),
    );
  }
  return { told, figure: answer.figure };
}

/** Words with something below each, and how sure the model was as the colour of the line below. */
function drawWords(words, below, sure) {
  const all = words.map((word, index) => {
    const made = html(
      "span",
      { class: "chip" },
      html("bdi", {}, shown(word.trim() || word)),
      html("small", {}, below[index]),
    );
    made.style.setProperty("--sure", String(sure[index]));
    return made;
  });
  return html("div", { class: "chips", dir: direction(words) }, ...all);
}

/** The places of the page. */
function parts(shell) {
  const controls = html("div");
  drawControls(controls, shell.settings, ["view", "unit", "scale"]);
  const side = html("div", { class: "side-panel", hidden: true }, card("View", controls));
  const written = html("p", { class: "written", dir: "auto", "data-testid": "written" });
  const go = button("Go on writing", () => {});
  const halt = button("Stop", () => {}, { hidden: true });
  const take = button("Read this", () => {}, { hidden: true });
  const going = html(
    "section",
    { class: "card", hidden: true },
    html("div", { class: "buttons" }, go, halt, take),
    written,
  );
  return {
    output: html("section", { class: "card", hidden: true }),
    figure: html("div", { class: "figure-place" }),
    side,
    going,
    written,
    go,
    halt,
    take,
  };
}
