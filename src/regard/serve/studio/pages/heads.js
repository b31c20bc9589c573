// Heads: every head of every layer at a glance, each by itself, and what is written without some of them.

import { drawControls } from "../../figures/controls.js";
import { button, html } from "../../figures/dom.js";
import { makeSheet, rowOf } from "../../figures/sheet.js";
import { followSteps, readQuery, writeQuery } from "../address.js";
import { askForm } from "../asking.js";
import { ask } from "../client.js";
import { drawDiff } from "../diff.js";
import { card } from "../fields.js";
import { figurePlace } from "../figureview.js";
import { createTable } from "../table.js";

const BEAM = 5;

/** @typedef {{kind: string, layer: number, head: number}} Head counted from 0 */

/** Heads as a word of an address: "cross.0.2;cross.1.3". @param {Iterable<string>} off */
const written = (off) => [...off].sort().join(";");

/** @param {string} [text] @returns {Set<string>} */
const readOff = (text = "") => new Set(text.split(";").filter((each) => /^[a-z-]+\.\d+\.\d+$/.test(each)));

/** @param {string} name @returns {Head} */
function headOf(name) {
  const [kind, layer, head] = name.split(".");
  return { kind, layer: Number(layer), head: Number(head) };
}

/**
 * @param {HTMLElement} place
 * @param {import("../shell.js").Shell} shell
 */
export async function open(place, shell) {
  if (!shell.model()) return;
  const words = { title: "Source", does: "Look", doing: "Looking" };
  const asking = askForm(shell, words, (text) =>
    start({ model: shell.model().id, text: text.replace(/\s*\n\s*/g, " "), off: "" }),
  );
  const page = parts(shell);
  place.append(asking.form, page.output, html("div", { class: "beside" }, page.figure, page.side), page.measured);
  const view = figurePlace(page.figure, shell, { view: "heads" });
  const state = { asked: { model: "", text: "", off: "" }, plain: null, off: new Set() };
  page.again.addEventListener("click", () => start({ ...state.asked, off: written(state.off) }));
  page.on.addEventListener("click", () => start({ ...state.asked, off: "" }));
  const table = createTable("Heads", columns(), { open: (row) => show(row), by: 1 });
  page.measured.append(table.element);
  followSteps(() => {
    view.restore();
    begin();
  });

  function start(asked) {
    writeQuery(asked, true);
    return begin();
  }

  /** The answer to what the address asks. */
  async function begin() {
    const { model: named = "", text = "", off = "" } = readQuery();
    shell.choose(named);
    const asked = { model: shell.model().id, text, off };
    state.off = readOff(off);
    asking.fill(text);
    shell.calm();
    if (!text.trim()) return;
    asking.busy(true);
    try {
      const known = state.plain && state.asked.model === asked.model && state.asked.text === text;
      if (!known) state.plain = await request(asked, new Set());
      state.asked = asked;
      const answer = state.off.size ? await request(asked, state.off) : state.plain;
      await draw(answer);
      shell.say(`Output: ${answer.text}`);
    } catch (error) {
      shell.complain(error);
    } finally {
      asking.busy(false);
    }
  }

  /** @returns {Promise<import("../client.js").Answer>} */
  async function request({ model, text }, off) {
    const heads_off = [...off].map(headOf);
    const { answers } = await ask("api/v1/answer", { model, inputs: text, beam: BEAM, heads_off });
    const answer = answers[0][0];
    const looked = await ask("api/v1/look", { model, input: text, output: answer.text, heads_off }); // of every kind
    return { ...answer, figure: looked.figure };
  }

  async function draw(answer) {
    const { plain } = state;
    const changed = answer === plain ? [] : [badge(plain.score, answer.score), drawDiff(plain.text, answer.text)];
    page.text.replaceChildren(
      html("p", { class: "answer", dir: "auto", "data-testid": "output" }, answer.text || "(empty)"),
      ...changed,
    );
    page.output.hidden = page.side.hidden = page.measured.hidden = false;
    const old = view.get()?.look.get();
    const drawn = view.draw({ ...answer.figure, model: state.asked.model }, { look: old });
    drawSwitches(drawn.figure);
    table.set(await measure(drawn.figure));
  }

  /** A switch for each head. */
  function drawSwitches(figure) {
    const ready = () => {
      page.again.disabled = written(state.off) === state.asked.off;
      page.on.disabled = state.off.size === 0 && state.asked.off === "";
    };
    const boxes = figure.kinds.map((kind) => {
      const rows = figure.layers(kind).map(({ layer, shape }) => {
        const switches = Array.from({ length: shape[0] }, (_, head) => {
          const name = `${kind}.${layer}.${head}`;
          const flip = () => {
            state.off.has(name) ? state.off.delete(name) : state.off.add(name);
            made.setAttribute("aria-pressed", String(!state.off.has(name)));
            ready();
          };
          const made = button(String(head + 1), flip, {
            "aria-pressed": String(!state.off.has(name)),
            "aria-label": `Layer ${layer + 1} head ${head + 1} (${kind})`,
          });
          return made;
        });
        return html("div", { class: "switches" }, html("span", {}, `Layer ${layer + 1}`), ...switches);
      });
      return html("fieldset", {}, html("legend", { class: "quiet" }, kind), ...rows);
    });
    page.switches.replaceChildren(...boxes);
    ready();
  }

  /** One head, large. */
  function show({ kind, layer, head }) {
    view.get().look.set({ kind, layer, heads: String(head) });
    shell.settings.set({ view: "matrix" });
    page.figure.scrollIntoView({ block: "nearest" });
  }

  await begin();
}

/** How the score changed. */
function badge(before, after) {
  const change = after - before;
  const told = `Score ${before.toFixed(3)} \u2192 ${after.toFixed(3)} (${change < 0 ? "" : "+"}${change.toFixed(3)})`;
  return html("p", { class: "badge", "data-testid": "badge" }, told);
}

/** What is told of each head. */
function columns() {
  return [
    { title: "Head", value: (row) => `${row.kind}, layer ${row.layer + 1}, head ${row.head + 1}` },
    {
      title: "Entropy",
      value: (row) => row.entropy,
      digits: 3,
      about: "of the mean row, in nats: 0 looks at one place alone",
    },
    { title: "Strongest", value: (row) => row.strongest, digits: 3, about: "the largest weight of a row, on average" },
    {
      title: "On links",
      value: (row) => row.links,
      digits: 3,
      about: "the weight that lies on the links of the alignment, on average over linked words",
    },
  ];
}

/** Every head in numbers, between words. */
async function measure(figure) {
  const { document } = figure;
  const names = figure.kinds.flatMap((kind) =>
    figure
      .layers(kind)
      .flatMap(({ layer, shape }) => Array.from({ length: shape[0] }, (_, head) => ({ kind, layer, head }))),
  );
  return Promise.all(
    names.map(async ({ kind, layer, head }) => {
      const sheet = await makeSheet(figure, { kind, layer, heads: [head] }, { unit: "words", end: true });
      const rows = sheet.rows.map((_, row) => [...rowOf(sheet, row)]);
      const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
      const entropy = mean(
        rows.map((row) => -row.reduce((sum, share) => sum + (share > 0 ? share * Math.log(share) : 0), 0)),
      );
      const strongest = mean(rows.map((row) => Math.max(...row)));
      const links =
        kind === "cross" && document.links.length
          ? mean(document.links.map(([source, target]) => rows[target][source]))
          : NaN;
      return { kind, layer, head, entropy, strongest, links };
    }),
  );
}

/** The places of the page. */
function parts(shell) {
  const text = html("div");
  const switches = html("div");
  const [again, on] = [button("Decode again", () => {}), button("All on", () => {})];
  const controls = html("div");
  drawControls(controls, shell.settings, ["view", "unit", "scale"]);
  const about = html(
    "p",
    { class: "quiet" },
    "A head that is off brings nothing home. Switch some off and decode again.",
  );
  const side = html(
    "div",
    { class: "side-panel", hidden: true },
    card("View", controls),
    card("What if without some heads?", about, switches, html("div", { class: "buttons" }, again, on)),
  );
  const output = html("section", { class: "card output", hidden: true }, html("h2", {}, "Output"), text);
  const measured = html("section", { class: "card", hidden: true }, html("h2", {}, "Heads in numbers"));
  return { text, output, figure: html("div", { class: "figure-place" }), side, switches, again, on, measured };
}
