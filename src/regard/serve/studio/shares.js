// Names with their shares as bars, the largest first.

import { html } from "../figures/dom.js";
import { shown } from "../figures/sheet.js";

/**
 * @param {string} label
 * @param {[string, number][]} shares
 * @param {number} [most] how many are drawn
 * @returns {HTMLElement}
 */
export function drawShares(label, shares, most = 10) {
  const items = [...shares]
    .sort((one, other) => other[1] - one[1])
    .slice(0, most)
    .map(([name, share]) => {
      const bar = html("span", { class: "share" });
      bar.style.setProperty("--share", String(share));
      return html("li", {}, html("bdi", {}, shown(name.trim() || name)), bar, html("small", {}, share.toFixed(3)));
    });
  return html("ol", { class: "shares", "aria-label": label }, ...items);
}
