// API: how programs ask the same, the model's card, and the limits of a request.

import { button, html } from "../../figures/dom.js";
import { readQuery, writeQuery } from "../address.js";
import { addressOf, get } from "../client.js";
import { card, copyText, field } from "../fields.js";
import { PROTOCOLS } from "../snippets.js";

const TEXT = "Hello";

/**
 * @param {HTMLElement} place
 * @param {import("../shell.js").Shell} shell
 */
export async function open(place, shell) {
  if (!shell.model()) return;
  const text = html("input", { name: "text", dir: "auto", class: "long", value: readQuery().text ?? TEXT });
  const about = html("section", { class: "card" });
  const snippets = html("div", { class: "snippets" });
  const docs = html("a", { href: addressOf("docs") }, "Every route, described, to be tried");
  place.append(
    html("section", { class: "card" }, field("Text", text), html("p", { class: "quiet" }, docs)),
    snippets,
    about,
  );
  const known = await get("openapi.json");

  function draw() {
    const model = shell.model();
    const origin = addressOf("").replace(/\/$/, "");
    const fitting = PROTOCOLS.filter(({ path, fits }) => Object.hasOwn(known.paths, path) && !model.problem && fits(model));
    snippets.replaceChildren(...fitting.map((each) => drawProtocol(each, { origin, model, text: text.value })));
  }

  async function drawCard() {
    const model = shell.model();
    const { limits, languages } = model;
    const rows = [
      ["About", model.about || model.id],
      ["Task", model.task],
      ["Reads", model.reads],
      ...(languages ? [["Languages", `${languages.source} to ${languages.target}`]] : []),
      ["May be asked for", model.problem ? `nothing here. ${model.problem}` : model.can.join(", ") || "answers"],
      ["A text may have", `${limits.tokens.toLocaleString("en")} pieces`],
      ["A request may have", `${limits.texts.toLocaleString("en")} texts, ${limits.bytes.toLocaleString("en")} bytes`],
      ["An image may have", `${limits.pixels.toLocaleString("en")} pixels`],
    ];
    const list = html(
      "dl",
      { class: "facts" },
      ...rows.flatMap(([name, value]) => [html("dt", {}, name), html("dd", {}, value)]),
    );
    const { text: written } = await get(`api/v1/models/${encodeURIComponent(model.id)}/card`);
    const more = written
      ? [
          html(
            "details",
            {},
            html("summary", {}, "Model card"),
            html("pre", { class: "text", tabindex: 0, dir: "auto" }, written),
          ),
        ]
      : [];
    about.replaceChildren(html("h2", {}, model.id), list, ...more);
  }

  text.addEventListener("input", () => {
    writeQuery({ model: shell.model().id, text: text.value === TEXT ? "" : text.value });
    draw();
  });
  shell.onModel(() => {
    writeQuery({ model: shell.model().id, text: text.value === TEXT ? "" : text.value });
    draw();
    drawCard();
  });
  draw();
  await drawCard();
}

/** A protocol in each language. */
function drawProtocol({ name, about, written }, asked) {
  const parts = Object.entries(written).map(([language, write]) => {
    const code = write(asked);
    const copied = button("Copy", async () => {
      await copyText(code);
      copied.textContent = "Copied.";
      setTimeout(() => (copied.textContent = "Copy"), 2000);
    });
    const label = `${name}, ${language}`;
    return html(
      "div",
      { class: "snippet" },
      html("h3", { class: "look" }, language),
      copied,
      html("pre", { tabindex: 0, role: "region", "aria-label": label }, html("code", {}, code)),
    );
  });
  return card(name, html("p", { class: "quiet" }, about), ...parts);
}
