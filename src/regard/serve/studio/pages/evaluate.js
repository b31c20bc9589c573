// Evaluate: pairs through one model or two, BLEU by the length of the source, and every sentence in a table.

import { html } from "../../figures/dom.js";
import { writeQuery } from "../address.js";
import { addressOf, ask } from "../client.js";
import { field, number } from "../fields.js";
import { pairsForm } from "../pairsform.js";
import { drawPlot } from "../plot.js";
import { createTable } from "../table.js";

const AT_ONCE = 16; // texts of a request

/**
 * @typedef {{model: string, answers: import("../client.js").Answer[], scored: any}} Run a model's answers, and how good
 * @typedef {{index: number, source: string, reference: string, runs: {answer: import("../client.js").Answer,
 *   bleu: number, chrf: number}[], words: number}} Line
 */

/**
 * @param {HTMLElement} place
 * @param {import("../shell.js").Shell} shell
 */
export async function open(place, shell) {
  if (!shell.model()) return;
  const beam = number("beam", { min: 1, max: 16, value: 5 });
  const width = number("width", { min: 1, max: 1000, placeholder: "even" });
  const others = shell.models.filter(({ goal, reads }) => goal === "write" && reads === "text");
  const second = html(
    "select",
    { name: "second" },
    html("option", { value: "" }, "none"),
    ...others.map(({ id }) => html("option", { value: id }, id)),
  );
  const fields = [field("Beside it", second), field("Beam", beam), field("Words a bin", width)];
  const pairs = pairsForm({ does: "Evaluate", fields }, begin);
  const page = {
    scores: html("section", { class: "card", hidden: true }),
    plot: html("section", { class: "card", hidden: true }),
    table: html("section", { class: "card", hidden: true }),
  };
  place.append(pairs.form, page.scores, page.plot, page.table);
  const state = { runs: /** @type {Run[]} */ ([]), lines: /** @type {Line[]} */ ([]), sources: [], references: [] };
  let stop = new AbortController();
  pairs.stop.addEventListener("click", () => stop.abort());
  shell.onModel(() => writeQuery({ model: shell.model().id }));
  shell.onTheme(() => state.runs.length && drawBins());
  width.addEventListener("change", () => state.runs.length && score());

  /** Translate all, then score. */
  async function begin(sources, references) {
    stop = new AbortController();
    const { signal } = stop;
    const models = [...new Set([shell.model().id, second.value].filter(Boolean))];
    shell.calm();
    pairs.busy(true);
    try {
      const runs = [];
      for (const model of models) {
        const done = (count) => pairs.advance((runs.length + count / sources.length) / models.length);
        runs.push({
          model,
          answers: await translateAll(model, sources, Number(beam.value) || 5, signal, done),
          scored: null,
        });
      }
      Object.assign(state, { runs, sources, references });
      await score();
      pairs.tell(`${sources.length} sentences.`);
    } catch (error) {
      if (signal.aborted) pairs.tell("Stopped.");
      else shell.complain(error);
    } finally {
      pairs.busy(false);
    }
  }

  /** How good the outputs are; again where other bins are wanted. */
  async function score() {
    const { runs, sources, references } = state;
    const edges = edgesOf(Number(width.value), sources);
    try {
      for (const run of runs) {
        run.scored = await ask("api/v1/evaluate", {
          sources,
          references,
          outputs: run.answers.map(({ text }) => text),
          edges,
        });
      }
    } catch (error) {
      return shell.complain(error);
    }
    state.lines = sources.map((source, index) => ({
      index: index + 1,
      source,
      reference: references[index],
      words: runs[0].scored.sentences[index].words,
      runs: runs.map(({ answers, scored }) => ({ answer: answers[index], ...scored.sentences[index] })),
    }));
    draw();
  }

  function draw() {
    const { runs } = state;
    page.scores.hidden = page.plot.hidden = page.table.hidden = false;
    page.scores.replaceChildren(html("h2", {}, "Scores"), ...runs.map(scoresOf));
    drawBins();
    const bins = runs[0].scored.bins;
    show(null);
    shell.say(`${runs[0].scored.scores[0].name} ${runs[0].scored.scores[0].value.toFixed(1)}, ${bins.length} bins.`);
  }

  /** BLEU by length. */
  function drawBins() {
    const { runs } = state;
    const { bins, scores } = runs[0].scored;
    const names = bins.map(({ low, high }) => (low === high ? String(low) : `${low}\u2013${high}`));
    const series = runs.map(({ model, scored }) => ({
      name: model,
      points: scored.bins.map(({ count, score }, x) => ({
        x,
        y: score.value,
        low: score.low,
        high: score.high,
        about: `${model}, ${names[x]} words: BLEU ${score.value.toFixed(1)} (${score.low.toFixed(1)} to ${score.high.toFixed(1)}), ${count} sentences`,
      })),
    }));
    const plot = {
      title: "BLEU by length of the source",
      xLabel: "words of the source; bars: sentences; bands: 95 % bootstrap intervals",
      yLabel: "BLEU",
      series,
      ticks: /** @type {[number, string][]} */ (names.map((name, x) => [x, name])),
      bars: bins.map(({ count }, x) => ({ x, count })),
      note: scores[0].signature,
      fromZero: true,
    };
    drawPlot(page.plot, plot, { model: runs.map(({ model }) => model).join(" "), choose: (x) => show(bins[x]) });
  }

  /** The sentences of a bin, or all. */
  function show(bin) {
    const lines = bin ? state.lines.filter(({ words }) => words >= bin.low && words <= bin.high) : state.lines;
    const table = createTable("Sentences", columnsOf(state.runs), { open: openLine });
    table.set(lines);
    const all = html("button", { type: "button", hidden: !bin }, "Show all");
    all.addEventListener("click", () => show(null));
    const told = bin ? `${lines.length} sentences of ${bin.low} to ${bin.high} words` : `${lines.length} sentences`;
    page.table.replaceChildren(
      html("h2", {}, "Sentences"),
      html(
        "div",
        { class: "buttons" },
        html("p", { class: "quiet" }, `${told}. Enter or a click opens one in Translate.`),
        all,
      ),
      table.element,
    );
  }

  /** @param {Line} line */
  function openLine({ source }) {
    location.href = `${addressOf("")}?${new URLSearchParams({ model: state.runs[0].model, text: source })}`;
  }
}

/** All answers of a model, some at a time. */
async function translateAll(model, sources, beam, signal, tell) {
  /** @type {import("../client.js").Answer[]} */
  const found = [];
  while (found.length < sources.length) {
    const inputs = sources.slice(found.length, found.length + AT_ONCE);
    const { answers } = await ask("api/v1/answer", { model, inputs, beam }, signal);
    found.push(...answers.map(([best]) => best));
    tell(found.length);
  }
  return found;
}

/** The edges of bins of one width; nothing where they shall have even counts. */
function edgesOf(width, sources) {
  if (!width) return null;
  const longest = Math.max(...sources.map((source) => source.split(/\s+/).length));
  const count = Math.min(199, Math.max(1, Math.ceil(longest / width) - 1));
  return Array.from({ length: count }, (_, index) => (index + 1) * width);
}

/** The scores of a model, as they are quoted. */
function scoresOf({ model, scored }) {
  const rows = scored.scores.map(({ name, value, low, high, signature }) =>
    html(
      "div",
      {},
      html("dt", {}, name),
      html(
        "dd",
        {},
        html("b", {}, value.toFixed(1)),
        html("span", {}, `95 % interval ${low.toFixed(1)} to ${high.toFixed(1)}`),
        html("span", { class: "signature" }, signature),
      ),
    ),
  );
  return html("div", {}, html("h3", { class: "look" }, model), html("dl", { class: "scores" }, ...rows));
}

/** @param {Run[]} runs @returns {import("../table.js").Column<Line>[]} */
function columnsOf(runs) {
  const one = (line) => line.runs[0];
  const [first, second] = runs;
  const each = ({ answer }) => answer.likelihood / ((answer.pieces?.length ?? 0) + 1);
  const both = second
    ? [
        { title: `Output (${second.model})`, value: (line) => line.runs[1].answer.text },
        { title: "BLEU", value: (line) => line.runs[1].bleu, digits: 1 },
        {
          title: "Change",
          value: (line) => line.runs[1].bleu - one(line).bleu,
          digits: 1,
          about: `BLEU of ${second.model} minus that of ${first.model}`,
        },
      ]
    : [];
  return [
    { title: "#", value: ({ index }) => index, digits: 0 },
    { title: "Source", value: ({ source }) => source },
    { title: "Reference", value: ({ reference }) => reference },
    { title: second ? `Output (${first.model})` : "Output", value: (line) => one(line).answer.text },
    { title: "BLEU", value: (line) => one(line).bleu, digits: 1, about: "of the sentence alone, smoothed" },
    { title: "chrF", value: (line) => one(line).chrf, digits: 1 },
    ...both,
    { title: "Log p", value: (line) => each(one(line)), digits: 2, about: "log likelihood a piece" },
    {
      title: "Coverage",
      value: (line) => 100 * one(line).answer.evidence?.coverage,
      digits: 0,
      about: "percent of the source that was looked at",
    },
    {
      title: "Focus",
      value: (line) => 100 * one(line).answer.evidence?.["focus out"],
      digits: 0,
      about: "percent: each word of the output looks at few",
    },
    { title: "Words", value: ({ words }) => words, digits: 0 },
  ];
}
