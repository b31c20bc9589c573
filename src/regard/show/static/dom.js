// Making elements. Text only ever becomes a text node, so that no token of a sentence can become markup.

const SVG = "http://www.w3.org/2000/svg";

/**
 * Set attributes and add children; an attribute that is null, undefined or false is left out.
 * @template {Element} E
 * @param {E} element
 * @param {Record<string, string | number | boolean | null | undefined>} attributes
 * @param {(Node | string)[]} children
 * @returns {E}
 */
function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...children);
  return element;
}

/**
 * An HTML element.
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} tag
 * @param {Record<string, string | number | boolean | null | undefined>} [attributes]
 * @param {...(Node | string)} children
 * @returns {HTMLElementTagNameMap[K]}
 */
export function html(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

/**
 * A heading.
 * @param {number} level 1 to 6
 * @param {Record<string, string | number | boolean | null | undefined>} [attributes]
 * @param {...(Node | string)} children
 * @returns {HTMLHeadingElement}
 */
export function heading(level, attributes = {}, ...children) {
  return html(/** @type {"h2"} */ (`h${level}`), attributes, ...children);
}

/**
 * An SVG element.
 * @param {string} tag
 * @param {Record<string, string | number | boolean | null | undefined>} [attributes]
 * @param {...(Node | string)} children
 * @returns {SVGElement}
 */
export function svg(tag, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

/**
 * A button that does one thing.
 * @param {string} label
 * @param {() => void} act
 * @param {Record<string, string | number | boolean | null | undefined>} [attributes]
 * @returns {HTMLButtonElement}
 */
export function button(label, act, attributes = {}) {
  const made = html("button", { type: "button", ...attributes }, label);
  made.addEventListener("click", act);
  return made;
}
