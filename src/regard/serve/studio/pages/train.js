// Train: the trainings of a folder, their curves as they grow, and how an alignment formed.

import { html } from "../../figures/dom.js";
import { followSteps, readQuery, writeQuery } from "../address.js";
import { get } from "../client.js";
import { differences, follow, newCourse, thin } from "../course.js";
import { field } from "../fields.js";
import { drawPlot } from "../plot.js";
import { drawReplay } from "../replay.js";
import { createTable } from "../table.js";

const PAUSE = 2000; // milliseconds between two looks at the logs
const POINTS = 400; // of a line
const FIRST = ["validation: bleu", "train: nll"]; // what is shown at first, where it is there

/** @typedef {{name: string, state: string, number: number, seconds: number, metric: string | null, best: number | null, nll: number | null, looks: number}} RunOut */

/**
 * @param {HTMLElement} place
 * @param {import("../shell.js").Shell} shell
 */
export async function open(place, shell) {
  const table = createTable("Trainings", columns(), { open: ({ name }) => choose(name), by: -1 });
  const list = html("section", { class: "card" }, html("h2", {}, "Trainings"), table.element);
  const beside = html("select", { name: "beside" });
  const what = html("select", { name: "what" });
  const curve = html("div");
  const changed = html("div");
  const heading = html("h2");
  const curves = html(
    "section",
    { class: "card", hidden: true },
    html("div", { class: "options" }, heading, field("Show", what), field("Beside it", beside)),
    curve,
    changed,
  );
  const replay = html("section", { class: "card", hidden: true });
  place.append(list, curves, replay);
  const player = drawReplay(replay, shell);
  const state = { runs: /** @type {RunOut[]} */ ([]), run: "", other: "", courses: new Map() };
  let stop = new AbortController();
  beside.addEventListener("change", () => choose(state.run, beside.value));
  what.addEventListener("change", () => {
    writeQuery({ run: state.run, beside: state.other, what: what.value });
    drawCurves();
  });
  shell.onTheme(() => state.run && drawCurves());
  followSteps(() => open_(readQuery()));

  /** A run, and another beside it: a step in the address. */
  function choose(run, other = "") {
    writeQuery({ run, beside: other, what: what.value }, true);
    return open_({ run, beside: other, what: what.value });
  }

  async function open_({ run = "", beside: other = "", what: wanted = "" }) {
    stop.abort();
    stop = new AbortController();
    const known = (name) => state.runs.some((each) => each.name === name);
    state.run = known(run) ? run : "";
    state.other = known(other) && other !== state.run ? other : "";
    curves.hidden = !state.run;
    replay.hidden = true;
    if (!state.run) return;
    heading.textContent = state.run;
    const names = state.runs.map(({ name }) => name).filter((name) => name !== state.run);
    beside.replaceChildren(
      html("option", { value: "" }, "none"),
      ...names.map((name) => html("option", { value: name }, name)),
    );
    beside.value = state.other;
    await refresh(stop.signal);
    fillWhat(wanted);
    drawCurves();
  }

  /** What is new in the logs. */
  async function refresh(signal) {
    let fresh = false;
    for (const name of [state.run, state.other].filter(Boolean)) {
      if (!state.courses.has(name)) state.courses.set(name, newCourse());
      fresh = (await follow(state.courses.get(name), name, signal)) || fresh;
    }
    await player.take(state.run);
    return fresh;
  }

  /** What can be shown of the run. */
  function fillWhat(wanted) {
    const names = [...state.courses.get(state.run).measured.keys()];
    const now = [wanted, what.value, ...FIRST].find((name) => names.includes(name)) ?? names[0];
    if (what.options.length !== names.length)
      what.replaceChildren(...names.map((name) => html("option", { value: name }, name)));
    what.value = now;
  }

  function drawCurves() {
    const runs = [state.run, state.other].filter(Boolean);
    const series = runs.map((name) => {
      const points = thin(state.courses.get(name).measured.get(what.value) ?? [], POINTS);
      const told = points.map(({ number, seconds, value }) => ({
        x: number,
        y: value,
        about: `${name}, update ${number}, ${(seconds / 60).toFixed(1)} minutes: ${value.toPrecision(4)}`,
      }));
      return { name, points: told, dots: points.length <= 60 };
    });
    drawPlot(curve, { title: what.value, xLabel: "updates", yLabel: what.value, series }, { model: runs.join(" ") });
    changed.replaceChildren(...(state.other ? [changes(state)] : []));
  }

  /** The list, and what is shown, as they grow. */
  async function watch() {
    try {
      await listRuns();
      if (state.run) {
        const { signal } = stop;
        const fresh = await refresh(signal);
        if (fresh && !signal.aborted) {
          fillWhat("");
          drawCurves();
        }
      }
    } catch (error) {
      if (shell.online.get().there) shell.complain(error);
    }
    setTimeout(watch, PAUSE);
  }

  async function listRuns() {
    const { runs } = await get("api/v1/runs");
    if (JSON.stringify(runs) === JSON.stringify(state.runs)) return;
    state.runs = runs;
    table.set(runs);
  }

  try {
    await listRuns();
    if (state.runs.length === 0)
      list.append(
        html(
          "p",
          { class: "none" },
          "No training is here. Start the server with --runs and the folder of your trainings.",
        ),
      );
    await open_(readQuery().run ? readQuery() : { run: state.runs[0]?.name });
  } catch (error) {
    shell.complain(error);
  }
  setTimeout(watch, PAUSE);
}

/** The settings that two runs do not share. */
function changes({ courses, run, other }) {
  const [one, two] = [courses.get(run), courses.get(other)];
  const table = createTable("Settings that differ", [
    { title: "Setting", value: ({ name }) => name },
    { title: run, value: (each) => each.one },
    { title: other, value: (each) => each.other },
  ]);
  table.set(differences(one, two));
  return html("div", {}, html("h3", { class: "look" }, "Settings that differ"), table.element);
}

/** @returns {import("../table.js").Column<RunOut>[]} */
function columns() {
  return [
    { title: "Training", value: ({ name }) => name },
    { title: "State", value: ({ state }) => state },
    { title: "Updates", value: ({ number }) => number, digits: 0 },
    { title: "Minutes", value: ({ seconds }) => seconds / 60, digits: 1 },
    { title: "Metric", value: ({ metric }) => metric ?? "" },
    { title: "Best", value: ({ best }) => best ?? NaN, digits: 2 },
    { title: "Looks", value: ({ looks }) => looks, digits: 0 },
  ];
}
