// What a page was asked, in its address: the question after "?", how figures are shown after "#". Asking something new
// is a step that Back undoes; changing how it is shown is not.

/** @typedef {Record<string, string>} Query */

/**
 * The question that the address holds.
 * @returns {Query}
 */
export function readQuery() {
  return Object.fromEntries(new URLSearchParams(location.search));
}

/**
 * Write the question into the address. What is empty is left out.
 * @param {Record<string, string | number>} query
 * @param {boolean} [step] is it a step of its own, which Back undoes?
 */
export function writeQuery(query, step = false) {
  const told = new URLSearchParams();
  for (const [name, value] of Object.entries(query))
    if (value !== "" && value !== undefined) told.set(name, String(value));
  const search = told.size ? `?${told}` : "";
  if (search === location.search) return;
  const address = `${location.pathname}${search}${step ? "" : location.hash}`;
  if (step) history.pushState(null, "", address);
  else history.replaceState(null, "", address);
  dispatchEvent(new Event("regard:asked"));
}

/**
 * Write how figures are shown into the address.
 * @param {string} hash
 */
export function writeView(hash) {
  if (hash === location.hash.replace(/^#/, "")) return;
  history.replaceState(null, "", `${location.pathname}${location.search}${hash ? `#${hash}` : ""}`);
}

/**
 * Call back when the reader goes back or forward.
 * @param {(query: Query) => void} hear
 */
export function followSteps(hear) {
  addEventListener("popstate", () => hear(readQuery()));
}
