// The list of documents, a page at a time.

import { documentAddress } from "./address.js";
import { get } from "./api.js";
import { byId, element, fill, table } from "./dom.js";
import { say, sayOr, whole } from "./language.js";
import { known } from "./stats.js";
import { announce, Task } from "./task.js";

const LIMIT = 50;
const target = byId("corpus-result");
const task = new Task(null, target);
// `{documents, next}`, null before the first page.
let shown = null;

export function show() {
  if (shown === null && !task.running) first();
}

export function redraw() {
  if (shown !== null && !task.running) draw();
}

function first() {
  return task.run(
    say("corpus.loading"),
    async (signal) => {
      shown = await page(null, signal);
      draw();
      announce(say("corpus.heading"));
    },
    first,
  );
}

async function page(cursor, signal) {
  const params = [
    ["limit", LIMIT],
    ["cursor", cursor],
  ];
  const { documents, next } = await get("/v1/documents", params, signal);
  return { documents, next };
}

async function more() {
  const before = shown;
  const came = await task.run(
    say("corpus.loading"),
    async (signal) => {
      const { documents, next } = await page(before.next, signal);
      shown = { documents: [...before.documents, ...documents], next };
    },
    () => {
      shown = before;
      more();
    },
  );
  if (!came) return;
  draw();
  // To the first of the new ones, which is where reading goes on.
  target.querySelectorAll("tbody a")[before.documents.length]?.focus();
}

function draw() {
  const { documents, next } = shown;
  const total = known()?.documents;
  fill(
    target,
    documents.length === 0
      ? element("p", { class: "note" }, say("corpus.empty"))
      : table(
          say("corpus.heading"),
          [
            say("corpus.document"),
            say("corpus.characters"),
            say("corpus.chunks"),
            say("corpus.type"),
            say("corpus.trust"),
          ],
          documents.map(row),
          "documents card",
        ),
    element(
      "div",
      { class: "actions" },
      next !== null && element("button", { type: "button", click: more }, say("corpus.more")),
      total !== undefined &&
        element(
          "span",
          { class: "quiet" },
          say("corpus.shown", { n: whole(documents.length), total: whole(total) }),
        ),
    ),
  );
}

function row(document) {
  return [
    [
      element(
        "a",
        { href: documentAddress(document.document_id) },
        document.title || document.document_id,
      ),
      element("span", { class: "code quiet" }, document.document_id),
    ],
    whole(document.characters),
    whole(document.chunks),
    document.media_type,
    sayOr("tier", document.trust_tier),
  ];
}
