// The language of the page. What the corpus and the server say stays as it is.

import de from "./de.js";
import en from "./en.js";
import { remembered, remember } from "./storage.js";

export const MESSAGES = { en, de };
const KEY = "laya-language";

let language = first();
const listeners = [];

function first() {
  const wanted = remembered(KEY) ?? navigator.language.slice(0, 2);
  return Object.hasOwn(MESSAGES, wanted) ? wanted : "en";
}

export function current() {
  return language;
}

/** The message with its `{name}`s filled in. */
export function say(key, values = {}) {
  return MESSAGES[language][key].replace(/\{(\w+)\}/g, (_, name) => values[name]);
}

/** What the page calls something that the server names, or `other` where it knows no name. */
export function sayOr(prefix, name, other = name) {
  return MESSAGES[language][`${prefix}.${name}`] ?? other;
}

/** A message that depends on a count: `key.one` or `key.other`, with `{n}`. */
export function counted(key, n, values = {}) {
  const kind = new Intl.PluralRules(language).select(n) === "one" ? "one" : "other";
  return say(`${key}.${kind}`, { n: whole(n), ...values });
}

export function whole(value) {
  return new Intl.NumberFormat(language, { maximumFractionDigits: 0 }).format(value);
}

export function decimal(value, digits) {
  return new Intl.NumberFormat(language, {
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  }).format(value);
}

/** A probability; what only rounds to 0 or 1 is not written as one of them. */
export function probability(value) {
  if (value > 0 && value < 0.005) return `< ${decimal(0.01, 2)}`;
  if (value < 1 && value >= 0.995) return `> ${decimal(0.99, 2)}`;
  return decimal(value, 2);
}

export function milliseconds(seconds) {
  if (seconds < 0.00005) return `< ${decimal(0.1, 1)} ms`;
  const digits = seconds < 0.01 ? 1 : 0;
  return `${decimal(seconds * 1000, digits)} ms`;
}

/** Calls `listener` after every change of the language. */
export function onChange(listener) {
  listeners.push(listener);
}

export function choose(wanted) {
  language = wanted;
  remember(KEY, wanted);
  apply();
  for (const listener of listeners) listener();
}

/** Writes the messages into the elements that ask for them. */
export function apply() {
  document.documentElement.lang = language;
  for (const node of document.querySelectorAll("[data-i18n]")) {
    node.textContent = say(node.dataset.i18n);
  }
  for (const node of document.querySelectorAll("[data-i18n-label]")) {
    node.setAttribute("aria-label", say(node.dataset.i18nLabel));
  }
  for (const node of document.querySelectorAll("[data-i18n-placeholder]")) {
    node.setAttribute("placeholder", say(node.dataset.i18nPlaceholder));
  }
  for (const button of document.querySelectorAll("[data-language]")) {
    button.setAttribute("aria-pressed", String(button.dataset.language === language));
  }
}
