// Pairs of a source and its right answer, a line each: written, pasted, or from files.

import { button, html } from "../figures/dom.js";
import { field } from "./fields.js";

/**
 * @param {{does: string, fields: (Node | string)[]}} words
 * @param {(sources: string[], references: string[]) => void} take
 */
export function pairsForm({ does, fields }, take) {
  const [sources, references] = [box("Sources"), box("References")];
  const submit = html("button", { class: "main", type: "submit" }, does);
  const stop = button("Stop", () => {}, { hidden: true });
  const progress = html("progress", { max: 1, value: 0, hidden: true, "aria-label": "Sentences translated" });
  const told = html("span", { class: "quiet", role: "status" });
  const form = html(
    "form",
    { class: "card ask" },
    html("div", { class: "options" }, html("h2", {}, "Pairs, a line each"), ...fields),
    html("div", { class: "pairs" }, sources.element, references.element),
    html("div", { class: "send" }, submit, stop, progress, told),
  );
  const ready = () => {
    const [one, other] = [linesOf(sources.text.value), linesOf(references.text.value)];
    submit.disabled = one.length === 0 || one.length !== other.length;
    told.textContent = one.length || other.length ? `${one.length} sources, ${other.length} references` : "";
  };
  for (const { text } of [sources, references]) text.addEventListener("input", ready);
  ready();
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    take(linesOf(sources.text.value), linesOf(references.text.value));
  });
  return {
    form,
    stop,
    tell: (text) => (told.textContent = text),
    /** @param {boolean} on */
    busy(on) {
      form.setAttribute("aria-busy", String(on));
      submit.disabled = on;
      stop.hidden = progress.hidden = !on;
    },
    /** @param {number} share */
    advance: (share) => (progress.value = share),
  };
}

/** The lines of a text; the one that nothing follows is none. @param {string} text */
function linesOf(text) {
  const lines = text.split(/\r?\n/);
  if (lines.at(-1) === "") lines.pop();
  return lines;
}

/** A text of lines, or of a file. */
function box(name) {
  const text = html("textarea", {
    rows: 5,
    dir: "auto",
    spellcheck: "false",
    "aria-label": name,
    name: name.toLowerCase(),
  });
  const file = html("input", { type: "file", accept: ".txt,text/plain", "aria-label": `${name} from a file` });
  file.addEventListener("change", async () => {
    if (!file.files[0]) return;
    text.value = await file.files[0].text();
    text.dispatchEvent(new Event("input"));
  });
  return { text, element: html("div", { class: "lines-of" }, field(name, file), text) };
}
