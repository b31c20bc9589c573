// Where an image is chosen, dropped or pasted. What is no image is told before anything is sent.

import { html } from "../figures/dom.js";

const LARGEST = 10 * 1024 * 1024; // bytes of a file
const WHOLE = 0.74; // of a request's bytes: an image is sent as base64

/** @typedef {{uri: string, name: string}} Chosen */

/**
 * @param {{bytes: number, pixels: number}} limits
 * @param {{take: (chosen: Chosen) => void, refuse: (why: string) => void}} options
 * @returns {HTMLElement}
 */
export function imageBox(limits, { take, refuse }) {
  const most = Math.min(LARGEST, Math.floor(WHOLE * limits.bytes));
  const input = html("input", { type: "file", accept: "image/*", name: "image" });
  const told = html(
    "span",
    { class: "quiet" },
    `PNG, JPEG, WebP, GIF or BMP, up to ${megabytes(most)}; or drop one here, or paste one.`,
  );
  const box = html("label", { class: "drop" }, html("span", {}, "Image"), input, told);
  const read = async (file) => {
    const why = await wrong(file, most, limits.pixels);
    if (why) return refuse(why);
    take({ uri: await asUri(file), name: file.name });
  };
  input.addEventListener("change", () => input.files[0] && read(input.files[0]));
  box.addEventListener("dragover", (event) => {
    event.preventDefault();
    box.classList.add("over");
  });
  box.addEventListener("dragleave", () => box.classList.remove("over"));
  box.addEventListener("drop", (event) => {
    event.preventDefault();
    box.classList.remove("over");
    if (event.dataTransfer.files[0]) read(event.dataTransfer.files[0]);
  });
  addEventListener("paste", (event) => event.clipboardData?.files[0] && read(event.clipboardData.files[0]));
  return box;
}

/** What is wrong with a file; nothing where it is an image that may be sent. */
async function wrong(file, most, pixels) {
  if (file.size > most) return `${file.name} is too large: ${megabytes(file.size)}, limit ${megabytes(most)}.`;
  try {
    const { width, height } = await createImageBitmap(file);
    return width * height > pixels ? `${file.name} has ${width} x ${height} pixels, limit ${pixels} in all.` : "";
  } catch {
    return `${file.name} cannot be read as an image.`;
  }
}

/** @param {number} bytes */
function megabytes(bytes) {
  return `${(bytes / 1024 / 1024).toFixed(1).replace(/\.0$/, "")} MB`;
}

/** @param {File} file @returns {Promise<string>} */
function asUri(file) {
  return new Promise((done, fail) => {
    const reader = new FileReader();
    reader.addEventListener("load", () => done(String(reader.result)));
    reader.addEventListener("error", () => fail(reader.error));
    reader.readAsDataURL(file);
  });
}
