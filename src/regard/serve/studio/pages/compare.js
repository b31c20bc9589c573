// Compare: two models on one sentence, or one model on two; what is pointed at in one is pointed at in the other.

import { drawCompare } from "../../figures/compare.js";
import { DEFAULTS, drawControls } from "../../figures/controls.js";
import { button, html } from "../../figures/dom.js";
import { readFigure, readSettings, writeHash } from "../../figures/hash.js";
import { followSteps, readQuery, writeQuery, writeView } from "../address.js";
import { askForm } from "../asking.js";
import { ask } from "../client.js";
import { drawDiff } from "../diff.js";
import { card, field } from "../fields.js";
import { savePage } from "../figureview.js";

/**
 * @param {HTMLElement} place
 * @param {import("../shell.js").Shell} shell
 */
export async function open(place, shell) {
  if (!shell.model()) return;
  const fitting = shell.models.filter(({ goal, reads }) => goal === "write" && reads === "text");
  const second = html("select", { name: "with" }, ...fitting.map(({ id }) => html("option", { value: id }, id)));
  const other = html("input", { name: "second", dir: "auto", placeholder: "the same", class: "long" });
  const words = { title: "Source", does: "Compare", doing: "Comparing", fields: [field("Second model", second)] };
  const line = (text) => text.replace(/\s*\n\s*/g, " ");
  const asking = askForm(shell, words, (text) => {
    writeQuery({ model: shell.model().id, text: line(text), with: second.value, second: other.value }, true);
    begin();
  });
  asking.text.after(field("Second source", other));
  const page = {
    output: html("section", { class: "card", hidden: true }),
    controls: card("View"),
    figures: html("div", { class: "compared" }),
  };
  drawControls(page.controls, shell.settings, ["view", "unit", "scale"]);
  page.controls.hidden = true;
  place.append(asking.form, page.output, page.controls, page.figures);
  let drawn = /** @type {import("../../figures/figure.js").Drawn[]} */ ([]);
  const usual = () => ({ ...DEFAULTS, theme: shell.settings.get().theme });
  const keep = () => drawn.length && writeView(writeHash(shell.settings.get(), drawn, usual()));
  shell.settings.set(readSettings(location.hash, usual()));
  shell.settings.follow(keep);
  second.addEventListener("change", () => asking.text.value.trim() && asking.form.requestSubmit());
  shell.onTheme(() => drawn.forEach((each) => each.redraw()));
  followSteps(() => {
    shell.settings.set(readSettings(location.hash, usual()));
    begin();
  });

  /** The answer to what the address asks. */
  async function begin() {
    const asked = readQuery();
    shell.choose(asked.model);
    const first = shell.model().id;
    const named = fitting.some(({ id }) => id === asked.with)
      ? asked.with
      : (fitting.find(({ id }) => id !== first)?.id ?? first);
    second.value = named;
    asking.fill(asked.text ?? "");
    other.value = asked.second ?? "";
    shell.calm();
    if (!asked.text?.trim()) return;
    asking.busy(true);
    try {
      const both = [
        { model: first, text: asked.text },
        { model: named, text: asked.second || asked.text },
      ];
      draw(both, await Promise.all(both.map(request)));
      shell.say("Compared.");
    } catch (error) {
      shell.complain(error);
    } finally {
      asking.busy(false);
    }
  }

  /** Both figures, and their difference where they speak of the same words. */
  function draw(both, answers) {
    drawn.forEach((each) => each.stop());
    const documents = answers.map((answer, index) => ({ ...answer.figure, model: both[index].model }));
    page.figures.replaceChildren();
    drawn = drawCompare(page.figures, documents, { settings: shell.settings });
    drawn.forEach(({ figure, look, focus }, index) => {
      const asked = readFigure(location.hash, index, figure);
      if (asked.look) look.set(asked.look);
      if (asked.hold) focus.set({ row: asked.hold[0], column: asked.hold[1], held: true });
      look.follow(keep);
      focus.follow(keep);
    });
    const [one, two] = answers;
    const score = (answer, { model }) =>
      html(
        "p",
        { class: "answer", dir: "auto", "data-testid": "output" },
        answer.text || "(empty)",
        html("small", { class: "quiet" }, ` ${model}, score ${answer.score.toFixed(3)}`),
      );
    const save = button("Save both as HTML", () => savePage(documents, shell.settings.get(), shell.complain));
    page.output.replaceChildren(
      html("h2", {}, "Outputs"),
      score(one, both[0]),
      score(two, both[1]),
      drawDiff(one.text, two.text),
      html("div", { class: "buttons" }, save),
    );
    page.output.hidden = page.controls.hidden = false;
    keep();
  }

  await begin();
}

/** @returns {Promise<import("../client.js").Answer>} */
async function request({ model, text }) {
  return (await ask("api/v1/answer", { model, inputs: text, figure: true })).answers[0][0];
}
