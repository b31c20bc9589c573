// What changed between two texts, word by word: the longest words that both have in common stay, the rest goes or comes.

import { html } from "../figures/dom.js";

/**
 * @param {string[]} before
 * @param {string[]} after
 * @returns {{word: string, change: "same" | "gone" | "new"}[]}
 */
export function compareWords(before, after) {
  const length = Array.from({ length: before.length + 1 }, () => new Uint32Array(after.length + 1));
  for (let i = before.length - 1; i >= 0; i--) {
    for (let j = after.length - 1; j >= 0; j--) {
      length[i][j] = before[i] === after[j] ? length[i + 1][j + 1] + 1 : Math.max(length[i + 1][j], length[i][j + 1]);
    }
  }
  /** @type {{word: string, change: "same" | "gone" | "new"}[]} */
  const found = [];
  let [i, j] = [0, 0];
  while (i < before.length || j < after.length) {
    if (i < before.length && j < after.length && before[i] === after[j]) {
      found.push({ word: before[i++], change: "same" });
      j++;
    } else if (j === after.length || (i < before.length && length[i + 1][j] >= length[i][j + 1])) {
      found.push({ word: before[i++], change: "gone" });
    } else found.push({ word: after[j++], change: "new" });
  }
  return found;
}

/**
 * The change as a line: what went is struck out, what came is underlined.
 * @param {string} before
 * @param {string} after
 * @returns {HTMLElement}
 */
export function drawDiff(before, after) {
  const tags = /** @type {const} */ ({ same: "span", gone: "del", new: "ins" });
  const cut = (text) => text.split(/\s+/).filter(Boolean);
  const words = compareWords(cut(before), cut(after)).flatMap(({ word, change }) => [
    html(tags[change], {}, word),
    " ",
  ]);
  const same = before === after ? [html("span", { class: "quiet" }, " (no change)")] : [];
  return html("p", { class: "diff", dir: "auto", "data-testid": "diff" }, ...words, ...same);
}
