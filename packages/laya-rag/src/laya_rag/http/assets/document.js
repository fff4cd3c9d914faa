// A document: its passages, its text put together from them, and one passage shown in it.

import { chunkAddress, documentAddress } from "./address.js";
import { get } from "./api.js";
import { assemble, isExact } from "./assemble.js";
import { byId, element, fill, focusOn } from "./dom.js";
import { counted, say, sayOr, whole } from "./language.js";
import { problemNode } from "./problem.js";
import { announce, Task } from "./task.js";

const LIMIT = 100;
const view = byId("document-view");
const heading = byId("document-heading");
const target = byId("document-result");
const task = new Task(null, target);
// `{document, chunks, next}` of the document that is shown.
let shown = null;
// The record id of the passage that is shown in it, or null.
let selectedId = null;

export function showDocument(id) {
  selectedId = null;
  if (shown?.document.document_id === id) draw();
  else open(() => load(id, null));
}

export function showChunk(recordId) {
  selectedId = recordId;
  if (shown?.chunks.some((chunk) => chunk.record_id === recordId)) draw();
  else open((signal) => loadChunk(recordId, signal));
}

export function redraw() {
  if (shown !== null && !task.running) draw(false);
}

async function open(work) {
  shown = null;
  heading.textContent = say("corpus.document");
  const came = await task.run(say("corpus.loading"), work, () => open(work));
  if (came) draw();
}

async function loadChunk(recordId, signal) {
  const { chunks } = await get("/v1/chunks", [["record_id", recordId]], signal);
  await load(chunks[0].document_id, chunks[0].ordinal, signal);
}

/** Loads pages up to the one that holds `ordinal`, the first one where that is null. */
async function load(id, ordinal, signal) {
  let found = null;
  do {
    const page = await pageOf(id, found?.next ?? null, signal);
    found = { ...page, chunks: [...(found?.chunks ?? []), ...page.chunks] };
  } while (found.next !== null && ordinal !== null && found.chunks.at(-1).ordinal < ordinal);
  shown = found;
}

function pageOf(id, cursor, signal) {
  const params = [
    ["document_id", id],
    ["limit", LIMIT],
    ["cursor", cursor],
  ];
  return get("/v1/chunks", params, signal);
}

async function more(button) {
  button.disabled = true;
  try {
    const page = await pageOf(shown.document.document_id, shown.next);
    shown = { ...page, chunks: [...shown.chunks, ...page.chunks] };
    draw(false);
    view.querySelector(".more-passages")?.focus();
  } catch (error) {
    button.replaceWith(problemNode(error, () => more(button)));
  }
}

function draw(moving = true) {
  const { document, chunks, next } = shown;
  const selected = chunks.find((chunk) => chunk.record_id === selectedId) ?? null;
  heading.textContent = document.title || document.document_id;
  fill(
    target,
    facts(document),
    element(
      "div",
      { class: "reader" },
      contents(document, chunks, next, selected),
      textOf(document, chunks, next, selected),
    ),
  );
  if (moving) moveTo(selected);
}

function moveTo(selected) {
  if (selected === null) {
    focusOn(heading);
    scrollTo({ top: 0 });
    announce(heading.textContent);
    return;
  }
  const head = byId("selected-heading");
  head.focus({ preventScroll: true });
  // The list first: on a phone it stands above the text, and the text is what was asked for.
  view.querySelector(".passages a[aria-current]").scrollIntoView({ block: "nearest" });
  view.querySelector(".selected").scrollIntoView({ block: "start" });
  announce(head.firstElementChild.textContent);
}

function facts(document) {
  const rows = [
    ["record", document.document_id],
    ["uri", document.uri === document.document_id ? "" : document.uri],
    ["tenants", (document.tenants ?? []).join(", ")],
  ].filter(([, value]) => value);
  const names = { record: "corpus.document", uri: "document.uri", tenants: "document.tenants" };
  return element(
    "dl",
    { class: "facts" },
    rows.map(([name, value]) => fact(say(names[name]), element("span", { class: "code" }, value))),
    fact(say("corpus.type"), document.media_type),
    fact(say("corpus.characters"), whole(document.characters)),
    fact(say("corpus.chunks"), whole(document.chunks)),
    fact(say("corpus.trust"), sayOr("tier", document.trust_tier)),
    Object.entries(document.metadata).map(([name, value]) =>
      fact(name, typeof value === "string" ? value : JSON.stringify(value)),
    ),
  );
}

function fact(name, value) {
  return element("div", {}, element("dt", {}, name), element("dd", {}, value));
}

function contents(document, chunks, next, selected) {
  return element(
    "nav",
    { class: "passages", "aria-labelledby": "passages-heading" },
    element("h2", { id: "passages-heading", class: "eyebrow" }, say("document.passages")),
    element(
      "ol",
      { start: 0 },
      chunks.map((chunk) =>
        element(
          "li",
          {},
          element(
            "a",
            {
              href: chunkAddress(chunk.record_id),
              "aria-current": chunk === selected && "true",
            },
            element("span", { class: "ordinal" }, whole(chunk.ordinal)),
            element("span", { class: "passage-name" }, chunk.heading_path.at(-1) ?? chunk.title),
            element("span", { class: "quiet" }, `${whole(chunk.start)}–${whole(chunk.end)}`),
          ),
        ),
      ),
    ),
    next !== null && [
      element(
        "p",
        { class: "quiet" },
        say("document.loaded", { n: whole(chunks.length), total: whole(document.chunks) }),
      ),
      element(
        "button",
        { type: "button", class: "more-passages", click: (event) => more(event.currentTarget) },
        say("corpus.more"),
      ),
    ],
  );
}

function textOf(document, chunks, next, selected) {
  const parts = assemble(chunks, selected, next === null ? document.characters : null);
  return element(
    "section",
    { class: "card text", "aria-labelledby": "text-heading" },
    element("h2", { id: "text-heading", class: "eyebrow" }, say("document.text")),
    selected !== null && selectedHead(selected),
    element(
      "p",
      { class: "note" },
      say("document.textNote"),
      !chunks.every(isExact) && ` ${say("document.inexact")}`,
    ),
    element(
      "div",
      { class: "document-text" },
      parts.map((part) => partNode(part, selected)),
    ),
  );
}

function selectedHead(selected) {
  const values = {
    n: whole(selected.ordinal),
    start: whole(selected.start),
    end: whole(selected.end),
  };
  return element(
    "p",
    { class: "selected-head", id: "selected-heading", tabindex: "-1" },
    element("strong", {}, say("document.selected", values)),
    element("span", { class: "code quiet" }, selected.record_id),
    element(
      "a",
      { href: documentAddress(selected.document_id), "aria-label": say("document.back") },
      "×",
    ),
  );
}

function partNode(part, selected) {
  if (part.gap !== undefined) {
    const name = counted("document.gap", part.gap);
    return element(
      "span",
      { class: "gap", role: "img", "aria-label": name, title: name },
      `⋯ ${whole(part.gap)}`,
    );
  }
  const { chunk, text } = part;
  const link = element(
    "a",
    {
      class: "joint",
      href: chunkAddress(chunk.record_id),
      "aria-label": say("document.passage", { n: whole(chunk.ordinal) }),
    },
    whole(chunk.ordinal),
  );
  if (chunk !== selected) return [link, text];
  return [
    link,
    element(
      "mark",
      { class: "selected" },
      element("span", { class: "unseen" }, ` [${say("document.selectedMark")}] `),
      text,
      element("span", { class: "unseen" }, ` [${say("document.selectedEnd")}] `),
    ),
  ];
}
