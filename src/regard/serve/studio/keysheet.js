// The sheet that tells which keys do what.

import { button, html } from "../figures/dom.js";

const KEYS = [
  ["1 to 8", "go to a page"],
  ["?", "this sheet"],
  ["Ctrl Enter", "translate, from the box of the source"],
  ["Esc", "let go of a cell; again: back to the box of the source"],
  ["Arrows, Home, End, Page Up, Page Down", "move through a figure, the pieces of a text, the outputs"],
  ["Enter or Space", "hold a cell; choose a piece, an output, a head"],
  ["e", "edit the attention, or end that"],
  ["j, k", "the next and the previous row of a table"],
];

/**
 * The sheet, closed.
 * @returns {HTMLDialogElement}
 */
export function openSheet() {
  const rows = KEYS.flatMap(([keys, does]) => [html("dt", {}, html("kbd", {}, keys)), html("dd", {}, does)]);
  const sheet = html(
    "dialog",
    { class: "sheet", "aria-labelledby": "keys" },
    html("h2", { id: "keys" }, "Keys"),
    html("dl", {}, ...rows),
  );
  sheet.append(button("Close", () => sheet.close()));
  return sheet;
}
