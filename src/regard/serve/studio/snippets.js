// Requests in the words of those who write programs: a shell, Python, JavaScript; in each protocol of the server.

/**
 * @typedef {{origin: string, model: import("./client.js").Model, text: string}} About
 * @typedef {{name: string, about: string, path: string, fits: (model: import("./client.js").Model) => boolean,
 *   written: Record<string, (about: About) => string>}} Protocol `path`: of the route that the server must have
 */

const json = (value) => JSON.stringify(value);
/** Within single quotes of a shell. @param {string} text */
const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`;
const curl = (url, body, headers = []) =>
  [
    `curl ${quoted(url)}`,
    "-H 'content-type: application/json'",
    ...headers.map((each) => `-H ${quoted(each)}`),
    `-d ${quoted(json(body))}`,
  ].join(" \\\n  ");
const fetched = (url, body, found, headers = {}) =>
  [
    `const response = await fetch(${json(url)}, {`,
    `  method: "POST",`,
    `  headers: ${json({ "content-type": "application/json", ...headers })},`,
    `  body: JSON.stringify(${json(body)}),`,
    `});`,
    `const answer = await response.json();`,
    `console.log(${found});`,
  ].join("\n");
/** A value of JSON as Python writes it. @param {object} value */
const python = (value) =>
  json(value).replace(/:(true|false|null)/g, (_, word) => `:${{ true: "True", false: "False", null: "None" }[word]}`);
const isText = ({ reads }) => reads !== "image";
const translates = ({ goal, reads, languages }) => goal === "write" && reads === "text" && Boolean(languages);

const own = ({ model, text }) => ({ model: model.id, inputs: text });
const libre = ({ model, text }) => ({ q: text, source: model.languages.source, target: model.languages.target });
const DEEPL = { en: "EN-US", pt: "PT-PT" }; // targets of which DeepL's clients want to know the kind
const deepl = ({ model: { languages }, text }) => ({
  text: [text],
  source_lang: languages.source.toUpperCase(),
  target_lang: DEEPL[languages.target] ?? languages.target.toUpperCase(),
});
const azure = ({ origin, model }) =>
  `${origin}/translate?api-version=3.0&from=${model.languages.source}&to=${model.languages.target}&includeAlignment=true`;
const chat = ({ model, text }) => ({ model: model.id, messages: [{ role: "user", content: text }] });

/** @type {Protocol[]} */
export const PROTOCOLS = [
  {
    name: "Regard",
    about: "The answer of any model, with its alignment; ask for attention, figure, candidates, tree, pins and more.",
    path: "/api/v1/answer",
    fits: isText,
    written: {
      curl: (about) => curl(`${about.origin}/api/v1/answer`, own(about)),
      Python: (about) =>
        [
          "import json, urllib.request",
          "",
          `body = json.dumps(${python(own(about))}).encode()`,
          `request = urllib.request.Request(${json(`${about.origin}/api/v1/answer`)}, body, {"content-type": "application/json"})`,
          "with urllib.request.urlopen(request) as response:",
          `    print(json.load(response)["answers"][0][0]["text"])`,
        ].join("\n"),
      JavaScript: (about) => fetched(`${about.origin}/api/v1/answer`, own(about), "answer.answers[0][0].text"),
    },
  },
  {
    name: "Regard, an image",
    about: "What a model says of an image that is sent as a file.",
    path: "/api/v1/image",
    fits: (model) => !isText(model),
    written: {
      curl: ({ origin, model }) =>
        `curl ${quoted(`${origin}/api/v1/image`)} \\\n  -F file=@image.png \\\n  -F model=${quoted(model.id)}`,
      Python: ({ origin, model }) =>
        [
          "import base64, json, pathlib, urllib.request",
          "",
          `image = "data:image/png;base64," + base64.b64encode(pathlib.Path("image.png").read_bytes()).decode()`,
          `body = json.dumps({"model": ${json(model.id)}, "inputs": image}).encode()`,
          `request = urllib.request.Request(${json(`${origin}/api/v1/answer`)}, body, {"content-type": "application/json"})`,
          "with urllib.request.urlopen(request) as response:",
          `    print(json.load(response)["answers"][0][0]["text"])`,
        ].join("\n"),
    },
  },
  {
    name: "LibreTranslate",
    about: "Clients of LibreTranslate work unchanged.",
    path: "/translate",
    fits: translates,
    written: {
      curl: (about) => curl(`${about.origin}/translate`, libre(about)),
      Python: (about) => {
        const { source, target } = about.model.languages;
        return [
          `from libretranslatepy import LibreTranslateAPI`,
          "",
          `api = LibreTranslateAPI(${json(about.origin)})`,
          `print(api.translate(${json(about.text)}, ${json(source)}, ${json(target)}))`,
        ].join("\n");
      },
      JavaScript: (about) => fetched(`${about.origin}/translate`, libre(about), "answer.translatedText"),
    },
  },
  {
    name: "DeepL",
    about: "Version 2; any key will do where the server needs none.",
    path: "/v2/translate",
    fits: translates,
    written: {
      curl: (about) => curl(`${about.origin}/v2/translate`, deepl(about), ["Authorization: DeepL-Auth-Key KEY"]),
      Python: (about) => {
        const { source_lang: source, target_lang: target } = deepl(about);
        return [
          `import deepl`,
          "",
          `client = deepl.Translator("KEY", server_url=${json(about.origin)})`,
          `print(client.translate_text(${json(about.text)}, source_lang=${json(source)}, target_lang=${json(target)}).text)`,
        ].join("\n");
      },
      JavaScript: (about) =>
        fetched(`${about.origin}/v2/translate`, deepl(about), "answer.translations[0].text", {
          authorization: "DeepL-Auth-Key KEY",
        }),
    },
  },
  {
    name: "Azure Translator",
    about: "Version 3, with the alignment of words as spans of characters.",
    path: "/translate",
    fits: translates,
    written: {
      curl: (about) => curl(azure(about), [{ text: about.text }], ["Ocp-Apim-Subscription-Key: KEY"]),
      Python: (about) => {
        const { source, target } = about.model.languages;
        return [
          "from azure.ai.translation.text import TextTranslationClient",
          "from azure.core.credentials import AzureKeyCredential",
          "",
          `client = TextTranslationClient(credential=AzureKeyCredential("KEY"), endpoint=${json(about.origin)})`,
          `found = client.translate(body=[${json(about.text)}], from_language=${json(source)}, to_language=[${json(target)}], include_alignment=True)`,
          "print(found[0].translations[0].text)",
        ].join("\n");
      },
      JavaScript: (about) =>
        fetched(azure(about), [{ text: about.text }], "answer[0].translations[0].text", {
          "ocp-apim-subscription-key": "KEY",
        }),
    },
  },
  {
    name: "OpenAI",
    about: "Chat completions of translators and language models; with stream, as they are written.",
    path: "/v1/chat/completions",
    fits: (model) => isText(model) && model.goal === "write",
    written: {
      curl: (about) => curl(`${about.origin}/v1/chat/completions`, chat(about), ["Authorization: Bearer KEY"]),
      Python: (about) =>
        [
          "from openai import OpenAI",
          "",
          `client = OpenAI(base_url=${json(`${about.origin}/v1`)}, api_key="KEY")`,
          `found = client.chat.completions.create(model=${json(about.model.id)}, messages=[{"role": "user", "content": ${json(about.text)}}])`,
          "print(found.choices[0].message.content)",
        ].join("\n"),
      JavaScript: (about) =>
        fetched(`${about.origin}/v1/chat/completions`, chat(about), "answer.choices[0].message.content", {
          authorization: "Bearer KEY",
        }),
    },
  },
];
