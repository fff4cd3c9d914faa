// Where in the page the reader is, as the part of the address behind `#`.
//
// `#ask?q=…`, `#extract?q=…`, `#verify?q=…`, `#adjudicate`, `#corpus`, `#document/ID`, `#chunk/ID`.

/** The view's name, the id behind its slash (null where there is none), and its parameters. */
export function parse(hash) {
  const text = hash.replace(/^#/, "");
  const cut = text.indexOf("?");
  const path = cut < 0 ? text : text.slice(0, cut);
  const params = new URLSearchParams(cut < 0 ? "" : text.slice(cut + 1));
  const slash = path.indexOf("/");
  return slash < 0
    ? { view: path || "ask", id: null, params }
    : { view: path.slice(0, slash), id: decoded(path.slice(slash + 1)), params };
}

export function documentAddress(id) {
  return `#document/${encodeURIComponent(id)}`;
}

export function chunkAddress(id) {
  return `#chunk/${encodeURIComponent(id)}`;
}

/** The address of a view with those parameters that have a value. */
export function viewAddress(view, params = {}) {
  const given = Object.entries(params).filter(([, value]) => value !== null && value !== "");
  const query = new URLSearchParams(given).toString();
  return query ? `#${view}?${query}` : `#${view}`;
}

/** Goes to an address; where the reader is there already, `again` is called instead. */
export function go(address, again) {
  if (location.hash === address) again();
  else location.hash = address;
}

function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
