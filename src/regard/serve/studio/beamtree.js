// The tree of a search: a column for each step, a line for each piece that was followed, as wide as it was likely. What
// came to nothing is grey; the output that is shown is bold; the end of an output chooses it.

import { html, svg } from "../figures/dom.js";
import { download, fileName, saveButtons, waysToSave } from "../figures/export.js";
import { FONT, label, ruler } from "../figures/labels.js";
import { moved, paper } from "../figures/paper.js";
import { END } from "../figures/sheet.js";

const [ACROSS, DOWN, WIDEST] = [96, 30, 8];

/**
 * Where each node lies: leaves below one another in the order of the tree, others in the middle of what follows them.
 * @param {import("./client.js").Node[]} nodes
 */
export function layOut(nodes) {
  const children = nodes.map(() => /** @type {number[]} */ ([]));
  nodes.forEach(({ parent }, index) => parent >= 0 && children[parent].push(index));
  const depth = new Array(nodes.length).fill(0);
  nodes.forEach(({ parent }, index) => parent >= 0 && (depth[index] = depth[parent] + 1));
  for (const each of children) each.sort((one, other) => nodes[other].likelihood - nodes[one].likelihood);
  const y = new Array(nodes.length).fill(0);
  let leaves = 0;
  const stack = [[0, 0]];
  while (stack.length) {
    const top = stack.at(-1);
    const [node, done] = top;
    if (done < children[node].length) {
      top[1] += 1;
      stack.push([children[node][done], 0]);
      continue;
    }
    const below = children[node];
    y[node] = below.length ? (y[below[0]] + y[below.at(-1)]) / 2 : leaves++;
    stack.pop();
  }
  return { depth, y, leaves, deepest: Math.max(...depth) };
}

/** All lines and pieces. `chosen` and `alive` are the nodes of the output that is shown, and of all outputs. */
function branches(nodes, place, { chosen, alive }) {
  const measure = ruler(12);
  const at = (index) => [place.depth[index] * ACROSS, place.y[index] * DOWN];
  const groups = nodes.map((node, index) => {
    const [x, y] = at(index);
    const kind = chosen.has(index) ? "chosen" : alive.has(index) ? "alive" : "dead";
    const about = {
      class: `node ${kind}`,
      "data-node": index,
      "data-depth": place.depth[index],
      "data-ended": String(node.ended),
    };
    if (node.parent < 0) return svg("g", about, svg("circle", { cx: x, cy: y, r: 4, fill: "currentColor" }));
    const [from, level] = at(node.parent);
    const chance = Math.exp(node.likelihood - nodes[node.parent].likelihood);
    const line = svg("path", {
      d: `M${from} ${level}C${from + 34} ${level} ${x - ACROSS + 34} ${y} ${x - ACROSS + 44} ${y}H${x}`,
      fill: "none",
      stroke: "currentColor",
      "stroke-width": Math.max(0.75, WIDEST * Math.min(1, chance)).toFixed(2),
      "stroke-opacity": 0.35,
    });
    const text = node.ended ? END : node.piece.trim() || node.piece;
    const bold = kind === "chosen" ? 700 : 400;
    const told = label(text, (each) => measure(each) * 2.6, {
      x: x - ACROSS + 48,
      y: y - 7,
      "font-size": 12,
      "font-weight": bold,
      fill: "currentColor",
    });
    return svg(
      "g",
      about,
      line,
      told,
      svg("title", {}, `${text}: ${chance.toFixed(3)}, so far ${node.likelihood.toFixed(3)}`),
    );
  });
  return svg("g", {}, ...groups);
}

/** How large the drawing is. */
function sizeOf(place) {
  return { width: place.deepest * ACROSS + 40, height: place.leaves * DOWN + 20 };
}

/**
 * @param {import("./client.js").Node[]} nodes
 * @param {{paths: number[][], at: number, model: string, choose: (index: number) => void}} options `paths`: the nodes
 *   of each output; `at`: which is shown
 * @returns {HTMLElement}
 */
export function drawTree(nodes, { paths, at, model, choose }) {
  const place = layOut(nodes);
  const marks = { chosen: new Set([0, ...(paths[at] ?? [])]), alive: new Set([0, ...paths.flat()]) };
  const { width, height } = sizeOf(place);
  const drawing = svg("svg", {
    width,
    height,
    "font-family": FONT,
    class: "tree",
    role: "group",
    "aria-label": "Beam tree",
  });
  const all = branches(nodes, place, marks);
  all.setAttribute("transform", "translate(14 26)");
  drawing.append(all);
  paths.forEach((path, index) => {
    const leaf = path.length ? drawing.querySelector(`[data-node="${path.at(-1)}"]`) : null;
    if (!leaf) return;
    leaf.setAttribute("role", "button");
    leaf.setAttribute("tabindex", "0");
    leaf.setAttribute("aria-label", `Output ${index + 1}`);
    leaf.setAttribute("aria-pressed", String(index === at));
    leaf.addEventListener("click", () => choose(index));
    leaf.addEventListener("keydown", (event) => {
      if (event instanceof KeyboardEvent && event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      choose(index);
    });
  });
  return html("div", {}, html("div", { class: "stage" }, drawing), saving(nodes, place, marks, model));
}

/** The ways to save the tree. */
function saving(nodes, place, marks, model) {
  const { width, height } = sizeOf(place);
  const ink = { chosen: "#1f5fa8", alive: "#1d2127", dead: "#767c85" };
  const drawing = () => {
    const all = branches(nodes, place, marks);
    for (const node of all.children) node.setAttribute("color", ink[node.getAttribute("class").split(" ")[1]]);
    return paper(width + 30, height + 60, "Beam tree", moved(20, 60, all));
  };
  const name = (ending) => fileName(model, "beam tree", ending);
  const { CSV, ...ways } = waysToSave({ drawing, sheet: null, name });
  const json = () => download(new Blob([JSON.stringify(nodes)], { type: "application/json" }), name("json"));
  return html(
    "div",
    { class: "save", role: "group", "aria-label": "Save the tree" },
    ...saveButtons({ ...ways, JSON: json }),
  );
}
