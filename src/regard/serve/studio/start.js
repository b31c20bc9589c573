// Where the studio begins: the frame of every page, then the page that the address names.

import { openShell } from "./shell.js";

const ENTRIES = {
  "": () => import("./pages/translate.js"),
  heads: () => import("./pages/heads.js"),
  caption: () => import("./pages/caption.js"),
  read: () => import("./pages/read.js"),
  evaluate: () => import("./pages/evaluate.js"),
  compare: () => import("./pages/compare.js"),
  train: () => import("./pages/train.js"),
  api: () => import("./pages/api.js"),
};

const name = location.pathname.split("/").at(-1);
const shell = await openShell(Object.hasOwn(ENTRIES, name) ? name : "");
if (shell) {
  const { open } = await ENTRIES[shell.name]();
  await open(shell.place, shell);
  shell.place.parentElement.dataset.ready = "";
}
