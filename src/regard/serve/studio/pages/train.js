// Not built yet.

/** @param {HTMLElement} place */
export async function open(place) {
  place.append("Not built yet.");
}
