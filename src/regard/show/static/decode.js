// From the document to numbers: base64, zlib, little-endian. A layer is decoded when it is first asked for.

/**
 * @typedef {{text: string, pieces: string[], words: string[], word: number[]}} Side
 * @typedef {{kind: string, layer: number, rows: "source" | "target", columns: "source" | "target",
 *   shape: [number, number, number], dtype: "f4" | "u2", data: string}} Layer
 * @typedef {{format: string, title: string, model: string, note: string, source: Side, target: Side,
 *   attention: Layer[], chosen: {kind: string, layer: number, heads: number[], row?: number, later?: boolean}, links: [number, number][],
 *   scores: Record<string, {value: number, meaning: string}>}} FigureDocument
 * @typedef {{document: FigureDocument, kinds: string[], layers: (kind: string) => Layer[],
 *   weights: (layer: Layer) => Promise<Float32Array>}} Figure
 */

/**
 * The bytes of a base64 text of zlib data.
 * @param {string} text
 * @returns {Promise<ArrayBuffer>}
 */
async function inflate(text) {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).arrayBuffer();
}

/**
 * All weights of a layer, head after head, row after row.
 * @param {Layer} layer
 * @returns {Promise<Float32Array>}
 */
export async function decode(layer) {
  const view = new DataView(await inflate(layer.data));
  const count = layer.shape[0] * layer.shape[1] * layer.shape[2];
  const weights = new Float32Array(count);
  for (let index = 0; index < count; index++) {
    weights[index] = layer.dtype === "f4" ? view.getFloat32(4 * index, true) : view.getUint16(2 * index, true) / 65535;
  }
  return weights;
}

/**
 * A document, opened: its kinds and layers at hand, its weights decoded once, when they are first shown.
 * @param {FigureDocument} document
 * @returns {Figure}
 */
export function openFigure(document) {
  const decoded = new Map();
  return {
    document,
    kinds: [...new Set(document.attention.map((layer) => layer.kind))],
    layers: (kind) =>
      document.attention.filter((layer) => layer.kind === kind).sort((one, other) => one.layer - other.layer),
    weights(layer) {
      if (!decoded.has(layer)) decoded.set(layer, decode(layer));
      return decoded.get(layer);
    },
  };
}
