// Saving what is shown: SVG, PNG, CSV and the document itself, made in the page and handed over as a file.

import { button, html } from "./dom.js";

/**
 * Hand a file to the reader.
 * @param {Blob} blob
 * @param {string} name
 */
export function download(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

/**
 * A drawing as a text that any reader of SVG understands.
 * @param {SVGElement} drawing
 * @returns {Blob}
 */
function svgBlob(drawing) {
  const text = `<?xml version="1.0" encoding="UTF-8"?>\n${new XMLSerializer().serializeToString(drawing)}\n`;
  return new Blob([text], { type: "image/svg+xml" });
}

/**
 * A drawing as pixels, `scale` for each of its own.
 * @param {SVGElement} drawing
 * @param {number} scale
 * @returns {Promise<Blob>}
 */
async function pngBlob(drawing, scale) {
  const url = URL.createObjectURL(svgBlob(drawing));
  const image = new Image();
  image.src = url;
  await image.decode();
  const canvas = document.createElement("canvas");
  canvas.width = scale * Number(drawing.getAttribute("width"));
  canvas.height = scale * Number(drawing.getAttribute("height"));
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  URL.revokeObjectURL(url);
  return new Promise((done) => canvas.toBlob(done, "image/png"));
}

/**
 * A sheet as comma-separated values: the words looked at in the first line, the words that look in the first column.
 * @param {import("./sheet.js").Sheet} sheet
 * @returns {string}
 */
export function csv(sheet) {
  const quoted = (text) => `"${text.replaceAll('"', '""')}"`;
  const width = sheet.columns.length;
  const lines = sheet.rows.map((word, row) => {
    const values = sheet.values.subarray(row * width, (row + 1) * width);
    return [quoted(word), ...Array.from(values, (value) => Number(value.toPrecision(9)))].join(",");
  });
  const corner = quoted(`${sheet.rowSide} <- ${sheet.columnSide}`);
  return `${[[corner, ...sheet.columns.map(quoted)].join(","), ...lines].join("\r\n")}\r\n`;
}

/**
 * A file name that says which model and what.
 * @param {string} model
 * @param {string} what
 * @param {string} ending
 * @returns {string}
 */
export function fileName(model, what, ending) {
  const plain = `${model}-${what}`.replace(/[^\p{L}\p{N}.]+/gu, "-").replace(/^[-.]+|-+$/g, "");
  return `${plain || "attention"}.${ending}`;
}

/**
 * The ways to save, by the name on their buttons.
 * @param {{drawing: () => SVGElement, sheet: () => import("./sheet.js").Sheet, document?: object,
 *   name: (ending: string) => string}} what
 * @returns {Record<string, () => void | Promise<void>>}
 */
export function waysToSave({ drawing, sheet, document, name }) {
  const png = (scale) => async () => {
    download(await pngBlob(drawing(), scale), name(scale === 1 ? "png" : `${scale}x.png`));
  };
  const ways = {
    SVG: () => download(svgBlob(drawing()), name("svg")),
    "PNG 1x": png(1),
    "PNG 2x": png(2),
    "PNG 3x": png(3),
    CSV: () => download(new Blob([csv(sheet())], { type: "text/csv" }), name("csv")),
  };
  if (document) {
    ways.JSON = () => download(new Blob([JSON.stringify(document)], { type: "application/json" }), name("json"));
  }
  return ways;
}

/**
 * A button for each way to save.
 * @param {ReturnType<typeof waysToSave>} ways
 * @returns {HTMLElement[]}
 */
export function saveButtons(ways) {
  const buttons = Object.entries(ways).map(([label, act]) => button(label, act));
  return [html("span", { "aria-hidden": "true" }, "Save as"), ...buttons];
}
