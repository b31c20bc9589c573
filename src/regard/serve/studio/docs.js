// The server's own description of its interface, drawn from openapi.json: every route, what it takes and gives, and a
// way to try it. Nothing is fetched from elsewhere.

import { html } from "../figures/dom.js";
import { addressOf, get, key } from "./client.js";
import { field } from "./fields.js";

const DEEPEST = 5; // of a message within messages

/**
 * @typedef {{$ref?: string, type?: string, properties?: Record<string, Schema>, required?: string[], items?: Schema,
 *   anyOf?: Schema[], additionalProperties?: Schema | boolean, description?: string, default?: unknown,
 *   enum?: unknown[], const?: unknown, minimum?: number, maximum?: number, maxLength?: number}} Schema
 */

const known = await get("openapi.json");
const main = html("main", {});
const brand = html("a", { class: "brand", href: addressOf("") }, html("b", {}, "Regard"), " studio");
document.body.append(html("header", { class: "bar" }, brand), main);
main.append(
  html("h1", {}, `${known.info.title} ${known.info.version}`),
  html("p", {}, `${known.info.summary ?? ""} `, html("a", { href: addressOf("openapi.json") }, "openapi.json")),
);
/** @type {Map<string, HTMLElement[]>} */
const groups = new Map();
for (const [path, methods] of Object.entries(known.paths)) {
  for (const [method, operation] of Object.entries(methods)) {
    const group = operation.tags?.[0] ?? "other";
    groups.set(group, [...(groups.get(group) ?? []), drawOperation(path, method, operation)]);
  }
}
for (const [name, operations] of groups)
  main.append(html("section", { class: "card" }, html("h2", {}, name), ...operations));
main.dataset.ready = "";

/** One route. */
function drawOperation(path, method, operation) {
  const title = html(
    "summary",
    {},
    html("code", {}, method.toUpperCase()),
    " ",
    html("code", {}, path),
    html("span", { class: "quiet" }, ` ${(operation.description ?? operation.summary ?? "").split("\n\n")[0]}`),
  );
  const body = operation.requestBody?.content ?? {};
  const schema = body["application/json"]?.schema;
  const answer = operation.responses["200"]?.content?.["application/json"]?.schema;
  const parameters = (operation.parameters ?? []).map((each) =>
    html(
      "li",
      {},
      html("code", {}, each.name),
      ` (${each.in}${each.required ? "" : ", may be left out"}) `,
      typeName(each.schema),
    ),
  );
  const others = Object.keys(body).filter((type) => type !== "application/json");
  const parts = [
    html("p", { class: "description" }, operation.description ?? ""),
    ...(parameters.length ? [html("h3", { class: "look" }, "Parameters"), html("ul", {}, ...parameters)] : []),
    ...(others.length ? [html("p", { class: "quiet" }, `The body may be ${others.join(", ")}.`)] : []),
    ...(schema ? [html("h3", { class: "look" }, "Takes"), drawSchema(schema)] : []),
    ...(answer ? [html("h3", { class: "look" }, "Gives"), drawSchema(answer)] : []),
    html("p", { class: "quiet" }, `Statuses: ${Object.keys(operation.responses).join(", ")}`),
    ...(schema || method === "get" ? [tryIt(path, method, operation, schema)] : []),
  ];
  const details = html("details", { class: "route" }, title);
  details.addEventListener("toggle", () => details.childElementCount === 1 && details.append(...parts));
  return details;
}

/** What a reference stands for. @param {Schema} schema @returns {Schema} */
function resolved(schema) {
  return schema?.$ref ? known.components.schemas[schema.$ref.split("/").at(-1)] : schema;
}

/** @param {Schema} schema @returns {string} */
function typeName(schema) {
  if (!schema) return "anything";
  if (schema.$ref) return schema.$ref.split("/").at(-1);
  if (schema.anyOf) return schema.anyOf.map(typeName).join(" or ");
  if (schema.enum) return schema.enum.map((each) => JSON.stringify(each)).join(" or ");
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.type === "array") return `list of ${typeName(schema.items)}`;
  return schema.type ?? "anything";
}

/** The fields of a message, those of its messages below. @param {Schema} schema @param {number} [depth] */
function drawSchema(schema, depth = 0) {
  const { properties, required = [], description } = resolved(schema) ?? {};
  if (!properties) return html("p", {}, typeName(schema));
  const items = Object.entries(properties).map(([name, each]) => {
    const bounds = [
      ["from", each.minimum],
      ["to", each.maximum],
      ["letters up to", each.maxLength],
    ]
      .filter(([, value]) => value !== undefined)
      .map((pair) => pair.join(" "));
    const usual = each.default === undefined ? [] : [`usually ${JSON.stringify(each.default)}`];
    const needed = required.includes(name) ? ["needed"] : [];
    const told = [typeName(each), ...bounds, ...usual, ...needed].join(", ");
    const inner = [each, each.items, ...(each.anyOf ?? [])].map((one) => one?.items ?? one).find((one) => one?.$ref);
    const more = inner && depth < DEEPEST ? [drawSchema(inner, depth + 1)] : [];
    return html("li", {}, html("code", {}, name), ` ${told}`, ...more);
  });
  return html(
    "div",
    {},
    ...(description ? [html("p", { class: "quiet description" }, description)] : []),
    html("ul", {}, ...items),
  );
}

/** What a needed field might hold. @param {Schema} schema */
function example(schema) {
  const { properties, required = [], type, anyOf, items } = resolved(schema) ?? {};
  if (properties) return Object.fromEntries(required.map((name) => [name, example(properties[name])]));
  if (anyOf) return example(anyOf[0]);
  if (type === "array") return [example(items)];
  return { string: "Hello", integer: 1, number: 1, boolean: true }[type] ?? {};
}

/** A form that sends a request, and what came back. */
function tryIt(path, method, operation, schema) {
  const body = schema ? html("textarea", { rows: 5, spellcheck: "false", "aria-label": `Body for ${path}` }) : null;
  if (body) body.value = JSON.stringify(example(schema), null, 1);
  const parameters = (operation.parameters ?? []).map((each) => ({
    ...each,
    input: html("input", { name: each.name, required: each.required }),
  }));
  const told = html("pre", { tabindex: 0, hidden: true, role: "region", "aria-label": `Answer of ${path}` });
  const form = html(
    "form",
    { class: "ask" },
    ...parameters.map(({ name, input }) => field(name, input)),
    ...(body ? [body] : []),
    html("div", {}, html("button", { class: "main" }, "Send")),
    told,
  );
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const query = new URLSearchParams();
    let address = path.slice(1);
    for (const { name, in: where, input } of parameters) {
      if (where === "path") address = address.replace(`{${name}}`, encodeURIComponent(input.value));
      else if (input.value) query.set(name, input.value);
    }
    const headers = {
      "content-type": "application/json",
      ...(key.get() ? { authorization: `Bearer ${key.get()}` } : {}),
    };
    const response = await fetch(addressOf(address) + (query.size ? `?${query}` : ""), {
      method: method.toUpperCase(),
      headers,
      body: body?.value,
    });
    const text = await response.text();
    told.hidden = false;
    told.textContent = `${response.status}\n${pretty(text)}`;
  });
  return html("details", {}, html("summary", {}, "Try it"), form);
}

/** @param {string} text */
function pretty(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 1);
  } catch {
    return text;
  }
}
