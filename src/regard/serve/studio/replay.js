// How an alignment formed: a slider over the validations of a training, and below what the model looked at then.

import { button, html } from "../figures/dom.js";
import { makeSheet, rowOf } from "../figures/sheet.js";
import { get } from "./client.js";
import { field } from "./fields.js";
import { figurePlace } from "./figureview.js";

const PACE = 500; // milliseconds a look

/**
 * @param {HTMLElement} place
 * @param {import("./shell.js").Shell} shell
 */
export function drawReplay(place, shell) {
  const slider = html("input", { type: "range", min: 0, max: 0, value: 0, step: 1, "aria-label": "Validation" });
  const told = html("output", { class: "readout" });
  const sentence = html("select", { name: "sentence" });
  const play = button("Play", () => (timer ? stop() : start()));
  const figure = html("div", { class: "figure-place" });
  const entropy = html("p", { class: "quiet", "data-testid": "entropy" });
  const bar = html("div", { class: "replay" }, play, slider, told, field("Sentence", sentence));
  place.replaceChildren(html("h2", {}, "How the alignment formed"), bar, entropy, figure);
  const view = figurePlace(figure, shell);
  const state = { run: "", numbers: /** @type {number[]} */ ([]), looks: new Map() };
  let timer = 0;
  let turn = 0;

  function start() {
    if (Number(slider.value) >= state.numbers.length - 1) slider.value = "0";
    show();
    play.textContent = "Stop";
    timer = setInterval(() => {
      if (Number(slider.value) >= state.numbers.length - 1) return stop();
      slider.value = String(Number(slider.value) + 1);
      show();
    }, PACE);
  }

  function stop() {
    clearInterval(timer);
    timer = 0;
    play.textContent = "Play";
  }

  /** The looks after an update, fetched once. */
  async function looksOf(number) {
    if (!state.looks.has(number))
      state.looks.set(
        number,
        await get(`api/v1/runs/look?${new URLSearchParams({ name: state.run, number: String(number) })}`),
      );
    return state.looks.get(number);
  }

  async function show() {
    const mine = ++turn;
    const number = state.numbers[Number(slider.value)];
    told.textContent = `after update ${number.toLocaleString("en")}`;
    slider.setAttribute("aria-valuetext", told.textContent);
    try {
      const { figures } = await looksOf(number);
      if (mine !== turn) return;
      fillSentences(figures);
      const document = figures[Number(sentence.value)] ?? figures[0];
      const drawn = view.draw(
        { ...document, model: state.run, note: `after update ${number}` },
        { look: view.get()?.look.get() },
      );
      const tell = async () => (entropy.textContent = await sharpness(drawn));
      drawn.look.follow(tell);
      await tell();
    } catch (error) {
      shell.complain(error);
    }
  }

  function fillSentences(figures) {
    if (sentence.options.length === figures.length) return;
    sentence.replaceChildren(
      ...figures.map(({ source }, index) => html("option", { value: index }, source.text.slice(0, 60))),
    );
  }

  slider.addEventListener("input", () => {
    stop();
    show();
  });
  sentence.addEventListener("change", show);

  return {
    /** The looks of a run, or those that came since; who stood at the last one goes on to the new last. */
    async take(run) {
      const { numbers } = await get(`api/v1/runs/looks?${new URLSearchParams({ name: run })}`);
      const fresh = run !== state.run;
      const last = Number(slider.value) >= state.numbers.length - 1;
      if (!fresh && numbers.length === state.numbers.length && numbers.at(-1) === state.numbers.at(-1)) return;
      if (fresh) {
        stop();
        state.looks.clear();
        sentence.replaceChildren();
        view.clear();
      }
      Object.assign(state, { run, numbers });
      place.hidden = numbers.length === 0;
      slider.max = String(Math.max(0, numbers.length - 1));
      if (fresh || last) slider.value = slider.max;
      if (numbers.length && (fresh || (last && !timer))) await show();
    },
  };
}

/** How sharply a figure looks, in words. */
async function sharpness(drawn) {
  const { kind, layer, heads } = drawn.look.get();
  const sheet = await makeSheet(
    drawn.figure,
    { kind, layer, heads: heads.split(",").map(Number) },
    { unit: "words", end: true },
  );
  const each = sheet.rows.map(
    (_, row) => -rowOf(sheet, row).reduce((sum, share) => sum + (share > 0 ? share * Math.log(share) : 0), 0),
  );
  const mean = each.reduce((sum, value) => sum + value, 0) / Math.max(1, each.length);
  return `Mean entropy of a row: ${mean.toFixed(3)} nats (even over ${sheet.columns.length} words: ${Math.log(sheet.columns.length).toFixed(3)}).`;
}
