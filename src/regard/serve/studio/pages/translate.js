// Translate: a text, what the model made of it, how sure it was, what it looked at; and what if it had looked elsewhere.

import { drawControls } from "../../figures/controls.js";
import { button, html } from "../../figures/dom.js";
import { followSteps, readQuery, writeQuery } from "../address.js";
import { drawTree } from "../beamtree.js";
import { drawChips } from "../chips.js";
import { ask } from "../client.js";
import { drawDiff } from "../diff.js";
import { card, field, number, textBox } from "../fields.js";
import { figurePlace } from "../figureview.js";
import { drawLive } from "../live.js";
import { drawNbest } from "../nbest.js";
import { drawPins, pinCell, pinsAsked, readPins, writePins } from "../pins.js";

const BEAM = 5;
const CANDIDATES = 8;
const NOTHING = "This model does not attend: there is nothing to see.";

/**
 * @typedef {{model: string, text: string, beam: number, alpha: string, prefix: string, pins: string, at: number}} Asked
 */

/**
 * What the address asks, made whole.
 * @param {import("../shell.js").Shell} shell
 * @returns {Asked}
 */
function readAsked(shell) {
  const { model: named = "", text = "", beam, alpha = "", prefix = "", pins = "", at } = readQuery();
  shell.choose(named);
  return {
    model: shell.model().id,
    text,
    alpha,
    prefix,
    pins,
    beam: Number(beam) || BEAM,
    at: Math.max(0, (Number(at) || 1) - 1),
  };
}

/** @param {Asked} asked @param {boolean} [step] */
function writeAsked({ beam, at, ...asked }, step) {
  writeQuery({ ...asked, beam: beam === BEAM ? "" : beam, at: at ? at + 1 : "" }, step);
}

/**
 * @param {HTMLElement} place
 * @param {import("../shell.js").Shell} shell
 */
export async function open(place, shell) {
  if (!shell.model()) return;
  const page = parts(shell);
  place.append(page.form, page.output, html("div", { class: "beside" }, page.around, page.side), page.tree);
  const view = figurePlace(page.figure, shell);
  const state = { asked: readAsked(shell), answers: [], plain: null, editing: false, pins: new Map(), tree: null };
  let stop = new AbortController();

  page.form.addEventListener("submit", (event) => {
    event.preventDefault();
    const { text, beam, alpha } = page.fields;
    start({
      model: shell.model().id,
      text: text.value.replace(/\s*\n\s*/g, " "),
      beam: Number(beam.value) || BEAM,
      alpha: alpha.value,
      prefix: "",
      pins: "",
      at: 0,
    });
  });
  shell.onModel(() => page.fields.text.value.trim() && page.form.requestSubmit());
  followSteps(() => {
    view.restore();
    begin(readAsked(shell));
  });
  page.details.addEventListener("toggle", () => page.details.open && showTree());
  page.edit.addEventListener("click", () => edit(!state.editing));
  page.again.addEventListener("click", () => decodeAgain());
  page.reset.addEventListener("click", () => start({ ...state.asked, prefix: "", pins: "", at: 0 }));
  addEventListener("keydown", keys, true); // before the figure hears it, which lets go of what is held

  /** A new question: a step in the address, then its answer. */
  function start(asked) {
    writeAsked(asked, true);
    return begin(asked);
  }

  /** The answer to a question. */
  async function begin(asked) {
    stop.abort();
    stop = new AbortController();
    const { signal } = stop;
    state.asked = asked;
    shell.choose(asked.model);
    fill(page.fields, asked);
    shell.calm();
    if (!asked.text.trim()) return clear();
    page.busy(true);
    try {
      const plain = { ...asked, prefix: "", pins: "" };
      const known = state.plain && sameAsked(state.plain.asked, plain);
      if (!known) {
        view.clear();
        if (page.fields.live.checked) await drawLive(page.live, { model: asked.model, input: asked.text }, signal);
        state.plain = { asked: plain, answers: await request(plain, signal) };
      }
      const steered = Boolean(asked.prefix || asked.pins);
      state.answers = steered ? await request(asked, signal) : state.plain.answers;
      state.pins = readPins(asked.pins);
      state.tree = null;
      show(asked.at);
      shell.say(`Output: ${current().text}`);
    } catch (error) {
      if (!signal.aborted) {
        clear();
        shell.complain(error);
      }
    } finally {
      if (!signal.aborted) page.busy(false);
    }
  }

  const current = () => state.answers[state.asked.at] ?? state.answers[0];

  /** Everything of one of the outputs. */
  function show(at) {
    state.asked = { ...state.asked, at: Math.min(at, state.answers.length - 1) };
    writeAsked(state.asked);
    const answer = current();
    page.live.replaceChildren(...(answer.figure ? [] : [html("p", { class: "none" }, NOTHING)]));
    page.edit.disabled = !answer.figure;
    const begins = (prefix) => start({ ...state.asked, prefix: prefix.join("."), pins: "", at: 0 });
    const steered = state.answers !== state.plain.answers;
    page.chips.replaceChildren(
      html("p", { class: "answer", dir: "auto", "data-testid": "output" }, answer.text || "(empty)"),
      ...(steered ? [drawDiff(state.plain.answers[0].text, answer.text)] : []),
      ...(answer.pieces.length ? [drawChips(answer, begins)] : []),
    );
    page.nbest.replaceChildren(drawNbest(state.answers, state.asked.at, show));
    page.output.hidden = page.side.hidden = page.tree.hidden = false;
    page.reset.disabled = !steered;
    if (answer.figure) drawAnswer(answer);
    else view.clear();
    if (page.details.open) showTree();
    drawEditing();
  }

  /** What the output looked at. */
  function drawAnswer(answer) {
    const old = view.get()?.look.get();
    const drawn = view.draw({ ...answer.figure, model: state.asked.model }, { look: old, onSheet: markPinned });
    drawn.focus.follow(({ row, column, held }) => {
      if (!state.editing || !held) return;
      pinCell(state.pins, answer.figure, { row, column }, shell.settings.get().unit);
      drawn.focus.release();
      drawEditing();
    });
  }

  /** Rows that are pinned have another colour. */
  function markPinned() {
    const drawn = view.get();
    if (!drawn) return;
    const words = shell.settings.get().unit === "words";
    const { word } = drawn.figure.document.target;
    const rows = new Set([...state.pins.keys()].map((step) => (words ? word[step] : step)));
    const cross = drawn.look.get().kind === "cross";
    for (const label of drawn.element.querySelectorAll(".matrix .rows [data-row]")) {
      label.classList.toggle("pinned", cross && rows.has(Number(label.getAttribute("data-row"))));
    }
  }

  /** Begin or end to edit: a cell that is chosen is pinned. */
  function edit(on) {
    const drawn = view.get();
    if (!drawn) return;
    state.editing = on;
    if (on) {
      const { kind, layer, heads } = drawn.figure.document.chosen;
      if (drawn.look.get().kind !== "cross" && kind === "cross") drawn.look.set({ kind, layer, heads: heads.join() });
      shell.settings.set({ view: "matrix" });
      drawn.focus.release();
    }
    drawEditing();
  }

  function drawEditing() {
    const document = current()?.figure;
    page.edit.setAttribute("aria-pressed", String(state.editing));
    page.hint.hidden = !state.editing;
    page.again.disabled = writePins(state.pins) === state.asked.pins;
    page.pins.replaceChildren(...(document && state.pins.size ? [drawPins(state.pins, document, drawEditing)] : []));
    page.figure.classList.toggle("editing", state.editing);
    markPinned();
  }

  /** With the pins as they are now: what was written before the first of them stays. */
  function decodeAgain() {
    const first = Math.min(...state.pins.keys(), Infinity);
    const kept = state.asked.prefix.split(".").filter(Boolean).length;
    const later = Number(Boolean(current().figure.chosen.later)); // then a row is the look of the step after its piece
    const prefix = Number.isFinite(first)
      ? current()
          .ids.slice(0, Math.max(first + later, kept))
          .join(".")
      : state.asked.prefix;
    start({ ...state.asked, prefix, pins: writePins(state.pins), at: 0 });
  }

  /** The tree of the search, which is made again for it. */
  async function showTree() {
    if (!state.answers.length) return;
    try {
      state.tree ??= await ask(
        "api/v1/answer",
        { ...body(state.asked, state.plain), alignment: false, tree: true },
        stop.signal,
      );
      const { tree, answers } = state.tree;
      const paths = answers[0].map(({ path }) => path);
      page.treeStage.replaceChildren(
        drawTree(tree, { paths, at: state.asked.at, model: state.asked.model, choose: show }),
      );
    } catch (error) {
      shell.complain(error);
    }
  }

  /** @param {Asked} asked @param {AbortSignal} signal @returns {Promise<import("../client.js").Answer[]>} */
  async function request(asked, signal) {
    const { answers } = await ask(
      "api/v1/answer",
      { ...body(asked, state.plain), figure: true, candidates: CANDIDATES },
      signal,
    );
    return answers[0];
  }

  function clear() {
    view.clear();
    page.live.replaceChildren();
    state.answers = [];
    page.output.hidden = page.side.hidden = page.tree.hidden = true;
  }

  function keys(event) {
    if (event.key === "Escape" && page.figure.contains(event.target) && !view.get()?.focus.get().held)
      page.fields.text.focus();
    if (event.key === "e" && !event.ctrlKey && !event.metaKey && !event.target.matches("input, textarea, select"))
      edit(!state.editing);
  }

  await begin(state.asked);
}

/** A question as the server takes it. */
function body({ model, text, beam, alpha, prefix, pins }, plain) {
  const later = Boolean(plain?.answers[0]?.figure?.chosen.later);
  return {
    model,
    inputs: text,
    beam,
    nbest: beam,
    ...(alpha === "" ? {} : { alpha: Number(alpha) }),
    ...(prefix ? { prefix: prefix.split(".").map(Number) } : {}),
    pins: pinsAsked(readPins(pins), later),
  };
}

/** Is it the same but for which output is shown? */
function sameAsked({ at, ...one }, { at: _, ...other }) {
  return Object.keys(one).every((key) => one[key] === other[key]);
}

/** @param {ReturnType<typeof parts>["fields"]} fields @param {Asked} asked */
function fill(fields, { text, beam, alpha }) {
  fields.text.value = text;
  fields.beam.value = String(beam);
  fields.alpha.value = alpha;
  fields.text.dispatchEvent(new Event("input"));
}

/** The places of the page. */
function parts(shell) {
  const title = html("h2");
  const tell = () => {
    const { languages } = shell.model();
    title.textContent = languages ? `Source (${languages.source} to ${languages.target})` : "Source";
  };
  shell.onModel(tell);
  tell();
  const text = textBox("text", "Source");
  const beam = number("beam", { min: 1, max: 16, value: BEAM });
  const alpha = number("alpha", { min: 0, max: 10, step: 0.1, placeholder: "its own" });
  const live = html("input", { type: "checkbox", name: "live", checked: true });
  const submit = html("button", { class: "main", type: "submit" }, "Translate");
  const ready = () => (submit.disabled = !text.value.trim() || !shell.online.get().there);
  text.addEventListener("input", ready);
  shell.online.follow(ready);
  const form = html(
    "form",
    { class: "card ask" },
    html(
      "div",
      { class: "options" },
      title,
      field("Beam", beam),
      field("Length penalty", alpha),
      html("label", { class: "switch" }, live, html("span", {}, "Watch it being written")),
    ),
    text,
    html("div", { class: "send" }, submit, html("span", { class: "quiet" }, "Ctrl Enter")),
  );
  text.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && !submit.disabled) form.requestSubmit();
  });
  const chips = html("div", {});
  const liveStage = html("div", {});
  const nbest = html("div", {});
  const switches = html("div", {});
  drawControls(switches, shell.settings, ["view", "unit", "scale"]);
  const edit = button("Edit the attention", () => {}, { "aria-pressed": "false" });
  const again = button("Decode again", () => {}, { disabled: true });
  const reset = button("Reset", () => {}, { disabled: true });
  const hint = html(
    "p",
    { class: "quiet", hidden: true },
    "Click a cell, or press Enter on it: the word of its row will look at the word of its column alone.",
  );
  const pins = html("div", {});
  const side = html(
    "div",
    { class: "side-panel", hidden: true },
    card("View", switches),
    card("Outputs", nbest),
    card("What if it looked elsewhere?", html("div", { class: "buttons" }, edit, again, reset), hint, pins),
  );
  const treeStage = html("div", { "data-testid": "tree" });
  const details = html(
    "details",
    {},
    html("summary", {}, "Beam tree"),
    html(
      "p",
      { class: "quiet" },
      "A line is as wide as its piece was likely. Choose the end of an output to show it; grey branches were given up.",
    ),
    treeStage,
  );
  const output = html("section", { class: "card output", hidden: true }, html("h2", {}, "Output"), chips);
  const figure = html("div", { class: "figure-place" });
  const around = html("div", {}, liveStage, figure);
  const busy = (on) => {
    form.setAttribute("aria-busy", String(on));
    submit.textContent = on ? "Translating \u2026" : "Translate";
  };
  ready();
  return {
    form,
    fields: { text, beam, alpha, live },
    output,
    chips,
    live: liveStage,
    figure,
    around,
    side,
    nbest,
    edit,
    again,
    reset,
    hint,
    pins,
    tree: html("section", { class: "card", hidden: true }, details),
    details,
    treeStage,
    busy,
  };
}
