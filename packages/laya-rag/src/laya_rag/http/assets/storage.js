// What the browser keeps. A browser that forbids it only forgets.

function store(kind) {
  try {
    return globalThis[kind];
  } catch {
    return null;
  }
}

/** What was kept for good under `key`, or null. */
export function remembered(key) {
  return store("localStorage")?.getItem(key) ?? null;
}

export function remember(key, value) {
  store("localStorage")?.setItem(key, value);
}

const TOKEN = "laya-token";
// For browsers that keep nothing: the token of this page, until it is left.
let held = null;

/** The token for the API, kept until the tab is closed and nowhere else, or null. */
export function token() {
  return held ?? store("sessionStorage")?.getItem(TOKEN) ?? null;
}

export function keepToken(value) {
  held = value;
  store("sessionStorage")?.setItem(TOKEN, value);
}

export function forgetToken() {
  held = null;
  store("sessionStorage")?.removeItem(TOKEN);
}
