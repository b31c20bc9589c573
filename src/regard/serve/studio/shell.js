// The frame of every page: where one can go, the model, light or dark, the sheet of keys, what is wrong, and whether
// the server is there.

import { DEFAULTS } from "../figures/controls.js";
import { button, html } from "../figures/dom.js";
import { readSettings } from "../figures/hash.js";
import { createStore } from "../figures/store.js";
import { readQuery } from "./address.js";
import { addressOf, get, key, Problem, watchServer } from "./client.js";
import { copyText } from "./fields.js";
import { openSheet } from "./keysheet.js";

/** The pages, in the order of their keys; `fits` says which models they are for. */
export const PAGES = [
  { name: "", title: "Translate", fits: translates },
  { name: "heads", title: "Heads", fits: translates },
  { name: "caption", title: "Caption", fits: (model) => model.reads === "image" },
  { name: "read", title: "Read", fits: (model) => model.reads !== "image" && !translates(model) },
  { name: "evaluate", title: "Evaluate", fits: translates },
  { name: "compare", title: "Compare", fits: translates },
  { name: "train", title: "Train", fits: () => false },
  { name: "api", title: "API", fits: () => true },
];
const THEMES = { auto: "Auto", light: "Light", dark: "Dark" };
const THEME = "regard-theme";
const WHY = "Attention shows where the model looked, not why.";

/**
 * @typedef {import("../figures/figure.js").Settings} Settings
 * @typedef {{name: string, place: HTMLElement, models: import("./client.js").Model[], settings: Settings,
 *   model: () => import("./client.js").Model, onModel: (hear: () => void) => void, choose: (id: string) => void,
 *   onTheme: (hear: () => void) => void, say: (text: string) => void, complain: (error: unknown) => void, calm: () => void,
 *   online: import("../figures/store.js").Store<{there: boolean}>}} Shell
 */

/** @param {import("./client.js").Model} model */
function translates(model) {
  return model.goal === "write" && model.reads === "text";
}

/**
 * Draw the frame; nothing is returned where the server does not let us in.
 * @param {string} name of the page
 * @returns {Promise<Shell | null>}
 */
export async function openShell(name) {
  const page = PAGES.find((each) => each.name === name);
  document.title = `${page.title} – Regard studio`;
  const theme = localStorage.getItem(THEME) in THEMES ? localStorage.getItem(THEME) : "auto";
  const settings = createStore({ ...readSettings(location.hash, { ...DEFAULTS, theme }), theme });
  dress(settings);
  const parts = frame(page, settings);
  document.body.append(...parts.all);
  parts.links.find((link) => link.hasAttribute("aria-current")).scrollIntoView({ inline: "center", block: "nearest" });
  listenToKeys(parts);
  const online = createStore({ there: true });
  online.follow(({ there }) => {
    parts.gone.hidden = there;
    document.body.classList.toggle("gone", !there);
  });
  watchServer((there) => online.set({ there }));
  const tell = { ...speech(parts), online, onTheme: themeChanges(settings) };
  try {
    const { models } = await get("api/v1/models");
    return { name, place: parts.place, models, settings, ...tell, ...chooser(parts, models, page) };
  } catch (error) {
    if (error instanceof Problem && [401, 403].includes(error.status)) parts.place.append(keyForm(error.message));
    else tell.complain(error);
    return null;
  }
}

/** Light or dark, as the reader wants it or the machine has it. */
function dress(settings) {
  const show = () => {
    document.documentElement.dataset.theme = settings.get().theme;
    localStorage.setItem(THEME, settings.get().theme);
  };
  show();
  settings.follow(show); // before any figure: they ask the style sheet whether the paper is dark
}

/** Tell who draws in colours of the theme when it changes, by the menu or by the machine. */
function themeChanges(settings) {
  const all = new Set();
  const tell = () => all.forEach((hear) => hear());
  let last = settings.get().theme;
  settings.follow(({ theme }) => {
    if (theme !== last) tell();
    last = theme;
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", tell);
  return (hear) => all.add(hear);
}

/** All that stands around a page. */
function frame(page, settings) {
  const place = html("div", { class: "page" });
  const skip = button("Skip to the page", () => main.focus(), { class: "skip" });
  const links = PAGES.map(({ name, title }, index) => {
    const number = html("kbd", { "aria-hidden": "true" }, String(index + 1));
    const current = name === page.name ? "page" : null;
    return html(
      "a",
      { href: addressOf(name), "aria-current": current, "data-page": name },
      number,
      html("span", {}, title),
    );
  });
  const keepQuestion = () => links.forEach((link) => keep(link));
  links.forEach((link) => link.addEventListener("pointerdown", keepQuestion));
  addEventListener("regard:asked", keepQuestion);
  keepQuestion();
  const picker = html(
    "label",
    { class: "menu inline", hidden: true },
    html("span", {}, "Model"),
    html("select", { name: "model" }),
  );
  const sheet = openSheet();
  const copied = html("span", { role: "status", class: "copied" });
  const copy = button("Copy link", async () => {
    await copyText(location.href);
    copied.textContent = "Copied.";
    setTimeout(() => copied.replaceChildren(), 2000);
  });
  const bar = html(
    "header",
    { class: "bar" },
    html("span", { class: "brand" }, html("b", {}, "Regard"), " studio"),
    picker,
    html(
      "span",
      { class: "tools" },
      copied,
      copy,
      themes(settings),
      button("?", () => sheet.showModal(), { "aria-label": "Keys" }),
    ),
  );
  const gone = html(
    "p",
    { class: "gone", role: "alert", hidden: true },
    "The server does not answer. This page goes on when it is back.",
  );
  const alert = html("div", { class: "alert", role: "alert", hidden: true });
  const said = html("p", { class: "unseen", role: "status" });
  const footer = html("footer", { class: "foot" }, html("p", {}, WHY));
  const nav = html("nav", { "aria-label": "Pages" }, ...links);
  const main = html("main", { tabindex: -1 }, html("h1", {}, page.title), gone, alert, place);
  const body = html("div", { class: "content" }, main, footer);
  return { all: [skip, bar, nav, body, said, sheet], place, links, picker, gone, alert, said, sheet };
}

/** A link to another page takes the model and the text along. */
function keep(link) {
  const { model, text } = readQuery();
  const asked = new URLSearchParams();
  const [{ name, fits }] = PAGES.filter((each) => each.name === link.dataset.page);
  const takes = fits === translates || name === "api";
  if (takes && model) asked.set("model", model);
  if (takes && text && name !== "api") asked.set("text", text);
  link.href = addressOf(name) + (asked.size ? `?${asked}` : "");
}

/** The menu of light and dark. */
function themes(settings) {
  const options = Object.entries(THEMES).map(([value, text]) => html("option", { value }, text));
  const select = html("select", { "aria-label": "Theme" }, ...options);
  select.value = settings.get().theme;
  select.addEventListener("change", () => settings.set({ theme: select.value }));
  return select;
}

/** Keys that work wherever one does not write. */
function listenToKeys({ links, sheet }) {
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || isWritten(event.target)) return;
    const link = links[Number(event.key) - 1];
    if (link) {
      keep(link);
      link.click();
    } else if (event.key === "?") sheet.showModal();
  });
}

/** @param {EventTarget} target */
function isWritten(target) {
  return (
    target instanceof HTMLElement &&
    target.matches("input:not([type=checkbox], [type=radio], [type=range]), textarea, select")
  );
}

/** What is told to everybody, and what is wrong. */
function speech({ said, alert }) {
  const calm = () => {
    alert.hidden = true;
    alert.replaceChildren();
  };
  return {
    say: (text) => (said.textContent = text),
    calm,
    complain(error) {
      if (error?.name === "AbortError") return;
      alert.hidden = false;
      alert.textContent = error instanceof Error ? error.message : String(error);
      if (error instanceof Problem && error.status === 401) alert.append(keyForm(""));
    },
  };
}

/** The menu of models that a page is for. */
function chooser({ picker, place }, models, page) {
  const fitting = models.filter((model) => page.fits(model) && (!model.problem || page.name === "api"));
  const select = picker.querySelector("select");
  select.append(...fitting.map(({ id }) => html("option", { value: id }, id)));
  picker.hidden = fitting.length === 0;
  const asked = readQuery().model;
  if (fitting.some(({ id }) => id === asked)) select.value = asked;
  if (fitting.length === 0 && page.name !== "train") place.append(none(page, models));
  return {
    model: () => models.find(({ id }) => id === select.value),
    onModel: (hear) => select.addEventListener("change", () => hear()),
    choose: (id) => fitting.some((each) => each.id === id) && (select.value = id),
  };
}

/** What to say where no model is for this page. */
function none(page, models) {
  const there = models.map(({ id, task }) => `${id} (${task})`).join(", ");
  return html("p", { class: "none" }, `No model that is served here is for this page. There is ${there}.`);
}

/** Where the key of the server is written. */
function keyForm(message) {
  const input = html("input", { type: "password", name: "key", autocomplete: "off", required: true });
  const label = html("label", { class: "field" }, html("span", {}, "Key"), input);
  const form = html(
    "form",
    { class: "card keyform" },
    html("p", {}, message),
    label,
    html("button", {}, "Use this key"),
  );
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    key.set(input.value);
    location.reload();
  });
  return form;
}
