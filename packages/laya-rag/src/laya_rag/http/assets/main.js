// Which view is shown, in which language.

import * as address from "./address.js";
import * as adjudicate from "./adjudicate.js";
import { onUnauthorized } from "./api.js";
import * as ask from "./ask.js";
import * as corpus from "./corpus.js";
import * as document_ from "./document.js";
import { byId } from "./dom.js";
import * as extract from "./extract.js";
import * as language from "./language.js";
import * as stats from "./stats.js";
import * as token from "./token.js";
import * as verify from "./verify.js";

// By the first word of the address: the section, the link that stands for it, and what shows it.
const VIEWS = {
  ask: { section: "ask", show: ({ params }) => ask.show(params) },
  extract: { section: "extract", show: ({ params }) => extract.show(params) },
  verify: { section: "verify", show: ({ params }) => verify.show(params) },
  adjudicate: { section: "adjudicate", show: () => undefined },
  corpus: { section: "corpus", show: () => corpus.show() },
  document: { section: "document", link: "corpus", show: ({ id }) => document_.showDocument(id) },
  chunk: { section: "document", link: "corpus", show: ({ id }) => document_.showChunk(id) },
};
const REDRAWN = [ask, extract, verify, adjudicate, corpus, document_, stats, token];

/** The name of the view that an address means; an unknown one means the first. */
function named({ view }) {
  return Object.hasOwn(VIEWS, view) ? view : "ask";
}

let shownSection = null;

function route() {
  const place = address.parse(location.hash);
  const name = named(place);
  const { section, link = name, show } = VIEWS[name];
  const came = shownSection !== null && shownSection !== section;
  shownSection = section;
  for (const node of document.querySelectorAll("[data-view]")) {
    node.hidden = node.dataset.view !== section;
  }
  for (const node of document.querySelectorAll("[data-view-link]")) {
    if (node.dataset.viewLink === link) node.setAttribute("aria-current", "page");
    else node.removeAttribute("aria-current");
    // Coming back to a view is coming back to what it shows.
    if (node.dataset.viewLink === name && location.hash) node.href = location.hash;
  }
  entitle(name);
  // Who comes from another view begins at the top of this one; a result takes the focus later.
  if (came) document.querySelector(`[data-view="${section}"] h1`)?.focus();
  show(place);
}

function entitle(name) {
  const link = VIEWS[name].link ?? name;
  document.title = `${language.say(`nav.${link}`)} · Laya`;
}

language.onChange(() => {
  entitle(named(address.parse(location.hash)));
  for (const view of REDRAWN) view.redraw();
});
for (const button of document.querySelectorAll("[data-language]")) {
  button.addEventListener("click", () => language.choose(button.dataset.language));
}
byId("skip").addEventListener("click", (event) => {
  // The address says where the reader is; it is not for jumps.
  event.preventDefault();
  byId("content").focus();
});

language.apply();
token.redraw();
onUnauthorized(token.askForToken);
stats.whenKnown(ask.offer);
stats.whenKnown(corpus.redraw);
window.addEventListener("hashchange", route);
route();
stats.load();
