// Asking the server. All addresses are relative to this module, so that the studio may stand behind any path of a proxy.

/**
 * @typedef {{tokens: number, texts: number, bytes: number, pixels: number}} Limits
 * @typedef {{id: string, task: string, goal: string, reads: string, languages: {source: string, target: string} | null,
 *   about: string, loaded: boolean, can: string[], limits: Limits, problem?: string | null}} Model
 * @typedef {{piece: string, probability: number, id: number}} Candidate
 * @typedef {{text: string, pieces: string[], ids: number[], words: string[], word: number[]}} Side
 * @typedef {{kind: string, source: string[], target: string[], matrix: number[][], links: [number, number][],
 *   pharaoh: string, note: string}} Aligned
 * @typedef {{text: string, score?: number, likelihood?: number, pieces?: string[], ids?: number[], source?: Side,
 *   target?: Side, alignment?: Aligned, evidence?: Record<string, number>,
 *   figure?: import("../figures/decode.js").FigureDocument, candidates?: Candidate[][], piece_likelihoods?: number[],
 *   path?: number[], words?: string[], looks?: number[][], grid?: {rows: number, columns: number,
 *   weights: number[][][]}, boxes?: number[][], latex?: string, continuation?: string, probability?: number,
 *   probabilities?: Record<string, number>, tags?: string[], tag_probabilities?: number[], filled?: string,
 *   holes?: {position: number, candidates: Candidate[]}[], vector?: number[]}} Answer
 * @typedef {{parent: number, piece: string, id: number, likelihood: number, ended: boolean}} Node
 * @typedef {{model: string, task: string, answers: Answer[][], tree?: Node[]}} AnswerOut
 */

const ROOT = new URL("..", import.meta.url);
const KEY = "regard-key";

/** Why a request was turned down; `status` 0 is a server that cannot be reached. */
export class Problem extends Error {
  /** @param {string} message @param {number} [status] @param {string} [code] */
  constructor(message, status = 0, code = "unreachable") {
    super(message);
    this.status = status;
    this.code = code;
  }
}

/**
 * The whole address of something that the server has.
 * @param {string} path without a slash at its start
 * @returns {string}
 */
export function addressOf(path) {
  return new URL(path, ROOT).href;
}

/** The key that requests are sent with, for servers that need one; it is forgotten when the tab is closed. */
export const key = {
  get: () => sessionStorage.getItem(KEY) ?? "",
  /** @param {string} value */
  set: (value) => sessionStorage.setItem(KEY, value.trim()),
};

/**
 * Send a request; what is not answered well becomes a Problem.
 * @param {string} path
 * @param {RequestInit} [init]
 * @returns {Promise<Response>}
 */
async function send(path, init = {}) {
  const headers = new Headers(init.headers);
  if (key.get()) headers.set("authorization", `Bearer ${key.get()}`);
  let response;
  try {
    response = await fetch(addressOf(path), { ...init, headers });
  } catch (error) {
    if (init.signal?.aborted) throw error;
    throw new Problem("The server does not answer.");
  }
  if (response.ok) return response;
  const told = await response.json().catch(() => ({}));
  const { message = `The server answered with status ${response.status}.`, code = "error" } = told.error ?? {};
  throw new Problem(message, response.status, code);
}

/** @param {object} body @param {AbortSignal} [signal] @returns {RequestInit} */
function posted(body, signal) {
  return { method: "POST", body: JSON.stringify(body), headers: { "content-type": "application/json" }, signal };
}

/**
 * What the server has at a path, as values.
 * @param {string} path
 * @param {AbortSignal} [signal]
 * @returns {Promise<any>}
 */
export async function get(path, signal) {
  return (await send(path, { signal })).json();
}

/**
 * What the server answers to values that are sent.
 * @param {string} path
 * @param {object} body
 * @param {AbortSignal} [signal]
 * @returns {Promise<any>}
 */
export async function ask(path, body, signal) {
  return (await send(path, posted(body, signal))).json();
}

/**
 * The same where the answer is a file.
 * @param {string} path
 * @param {object} body
 * @returns {Promise<Blob>}
 */
export async function askFile(path, body) {
  return (await send(path, posted(body))).blob();
}

/**
 * Server-sent events as they come.
 * @param {string} path
 * @param {object} body
 * @param {AbortSignal} [signal]
 * @returns {AsyncGenerator<{name: string, data: any}>}
 */
export async function* listen(path, body, signal) {
  const response = await send(path, posted(body, signal));
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  while (true) {
    const { value, done } = await reader.read();
    if (done) return;
    const parts = (text + value).split("\n\n");
    text = parts.pop();
    for (const part of parts) {
      const [name, data] = part.split("\n");
      yield { name: name.slice("event: ".length), data: JSON.parse(data.slice("data: ".length)) };
    }
  }
}

/**
 * Tell whenever the server is gone and when it is there again.
 * @param {(there: boolean) => void} tell
 * @param {number} [pause] milliseconds between two questions
 */
export function watchServer(tell, pause = 1000) {
  let was = true;
  const look = async () => {
    const there = await fetch(addressOf("health/live"), { signal: AbortSignal.timeout(4000) }).then(
      (response) => response.ok,
      (error) => error.name === "TimeoutError", // it may only be busy
    );
    if (there !== was) tell(there);
    was = there;
    setTimeout(look, pause);
  };
  setTimeout(look, pause);
}
