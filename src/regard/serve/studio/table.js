// A table that is sorted by any of its columns, and moved through by keys. Long ones are drawn as far as they are asked.

import { button, html } from "../figures/dom.js";

const MOST = 100; // rows that are drawn at once

/**
 * @template T
 * @typedef {{title: string, value: (row: T) => string | number, digits?: number, about?: string}} Column a number is
 *   written with so many digits; `about` is what the column means
 */

/**
 * @template T
 * @param {string} name
 * @param {Column<T>[]} columns
 * @param {{open?: (row: T) => void, by?: number, down?: boolean}} [options] `open`: what Enter or a click on a row does;
 *   `by`: the column that it is sorted by at first; -1: none, rows are as they come
 */
export function createTable(name, columns, { open, by = 0, down = false } = {}) {
  const state = { rows: /** @type {T[]} */ ([]), by, down, most: MOST };
  const heads = columns.map(({ title, about, digits }, index) => {
    const sort = button(title, () => order(index), { title: about });
    return html("th", { scope: "col", class: digits === undefined ? null : "number" }, sort);
  });
  const body = html("tbody");
  const more = button("Show more", () => {
    state.most += 10 * MOST;
    draw();
  });
  more.hidden = true; // until there is more
  const table = html("table", { "aria-label": name }, html("thead", {}, html("tr", {}, ...heads)), body);
  const element = html(
    "div",
    { class: "table" },
    html("div", { class: "wide", tabindex: 0, role: "region", "aria-label": name }, table),
    more,
  );

  function order(index) {
    state.down = state.by === index ? !state.down : columns[index].digits !== undefined;
    state.by = index;
    draw();
  }

  function draw() {
    const value = columns[state.by]?.value ?? (() => 0);
    const compare = (one, other) => (one < other ? -1 : one > other ? 1 : 0);
    const sorted = [...state.rows].sort((one, other) => (state.down ? -1 : 1) * compare(value(one), value(other)));
    heads.forEach((head, index) =>
      head.setAttribute("aria-sort", index !== state.by ? "none" : state.down ? "descending" : "ascending"),
    );
    body.replaceChildren(...sorted.slice(0, state.most).map(line));
    const first = body.querySelector("tr");
    if (first && open) first.tabIndex = 0;
    more.hidden = sorted.length <= state.most;
  }

  /** @param {T} row */
  function line(row) {
    const cells = columns.map(({ value, digits }) => {
      const told = value(row);
      if (digits === undefined) return html("td", { dir: "auto" }, String(told));
      return html("td", { class: "number" }, Number.isFinite(told) ? Number(told).toFixed(digits) : "\u2013");
    });
    const made = html("tr", { tabindex: open ? -1 : null }, ...cells);
    if (open) made.addEventListener("click", () => open(row));
    if (open) made.addEventListener("keydown", (event) => event.key === "Enter" && open(row));
    return made;
  }

  table.addEventListener("keydown", (event) => {
    const all = [...body.querySelectorAll("tr")];
    const at = all.indexOf(/** @type {HTMLTableRowElement} */ (document.activeElement));
    const next = all[{ j: at + 1, ArrowDown: at + 1, k: at - 1, ArrowUp: at - 1 }[event.key]];
    if (at < 0 || !next) return;
    event.preventDefault();
    all[at].tabIndex = -1;
    next.tabIndex = 0;
    next.focus();
  });
  return {
    element,
    /** @param {T[]} rows */
    set(rows) {
      state.rows = rows;
      state.most = MOST;
      draw();
    },
  };
}
