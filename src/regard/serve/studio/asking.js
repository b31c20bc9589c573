// The box in which a text is written for a model, with its button; asked again when another model is chosen.

import { html } from "../figures/dom.js";
import { textBox } from "./fields.js";

/**
 * @param {import("./shell.js").Shell} shell
 * @param {{title: string, does: string, doing: string, fields?: (Node | string)[], rows?: number, empty?: boolean}} words
 *   what stands above, on the button, and on it while it works; further fields; may the text be empty?
 * @param {(text: string) => void} ask
 */
export function askForm(shell, { title, does, doing, fields = [], rows = 2, empty = false }, ask) {
  const heading = html("h2", {}, title);
  const text = textBox("text", title, rows);
  const submit = html("button", { class: "main", type: "submit" }, does);
  const options = html("div", { class: "options" }, heading, ...fields);
  const send = html("div", { class: "send" }, submit, html("span", { class: "quiet" }, "Ctrl Enter"));
  const form = html("form", { class: "card ask" }, options, text, send);
  const ready = () => (submit.disabled = (!empty && !text.value.trim()) || !shell.online.get().there);
  text.addEventListener("input", ready);
  shell.online.follow(ready);
  ready();
  text.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && !submit.disabled) form.requestSubmit();
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    ask(text.value);
  });
  shell.onModel(() => !submit.disabled && form.requestSubmit());
  return {
    form,
    text,
    heading,
    /** @param {string} value */
    fill(value) {
      text.value = value;
      ready();
    },
    /** @param {boolean} on */
    busy(on) {
      form.setAttribute("aria-busy", String(on));
      submit.textContent = on ? `${doing} \u2026` : does;
    },
  };
}
