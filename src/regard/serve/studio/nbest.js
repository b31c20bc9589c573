// The outputs of a search, best first; one of them is shown.

import { button, html } from "../figures/dom.js";
import { roam } from "./fields.js";

/**
 * @param {import("./client.js").Answer[]} answers
 * @param {number} at which is shown
 * @param {(index: number) => void} choose
 * @returns {HTMLElement}
 */
export function drawNbest(answers, at, choose) {
  const buttons = answers.map(({ text, score }, index) => {
    const made = button("", () => choose(index), {
      "aria-pressed": String(index === at),
      tabindex: index === at ? 0 : -1,
    });
    made.append(html("small", {}, score.toFixed(3)), html("bdi", {}, text || "(empty)"));
    return made;
  });
  const list = html(
    "ol",
    { class: "nbest", "aria-label": "Outputs, best first" },
    ...buttons.map((each) => html("li", {}, each)),
  );
  roam(list, () => buttons);
  return list;
}
