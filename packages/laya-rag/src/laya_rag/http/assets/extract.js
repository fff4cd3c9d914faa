// The view that extracts: sentences word for word, or why there are none.

import { chunkAddress, go, viewAddress } from "./address.js";
import { post } from "./api.js";
import { byId, element, fill, focusOn } from "./dom.js";
import { evidenceNode, summaryNode } from "./evidence.js";
import { counted, decimal, say, sayOr, whole } from "./language.js";
import { jump } from "./claims.js";
import { passageId } from "./passage.js";
import { announce, Task } from "./task.js";

const form = byId("extract-form");
const target = byId("extract-result");
const task = new Task(form, target);
let shown = null;

form.addEventListener("submit", (event) => {
  event.preventDefault();
  const q = form.elements.q.value.trim();
  go(viewAddress("extract", { q }), () => run(q));
});

export function show(params) {
  const q = params.get("q") ?? "";
  form.elements.q.value = q;
  if (!q) {
    task.stop();
    shown = null;
    fill(target);
  } else if (shown?.query !== q) {
    run(q);
  }
}

export function redraw() {
  if (shown !== null && !task.running) draw();
}

async function run(query) {
  shown = null;
  await task.run(
    say("extract.running"),
    async (signal) => {
      shown = await post("/v1/extract", { query }, signal);
      draw();
      announce(heading());
      focusOn(byId("extract-question"));
    },
    () => run(query),
  );
}

function heading() {
  const { sentences } = shown;
  return sentences.length > 0
    ? counted("extract.sentences", sentences.length)
    : say("extract.none");
}

function draw() {
  const { sentences, abstention, evidence } = shown;
  const passages = new Map(evidence.map((passage) => [passage.rank, passage]));
  fill(
    target,
    element("h2", { id: "extract-question", class: "asked" }, shown.query),
    element(
      "section",
      { class: "card extracted", "aria-labelledby": "extract-heading-2" },
      element("h3", { id: "extract-heading-2", class: "eyebrow" }, heading()),
      abstention !== null &&
        element("p", { class: "verdict-words" }, sayOr("abstention", abstention)),
      sentences.map((sentence) => sentenceNode(sentence, passages.get(sentence.passage))),
    ),
    summaryNode(shown),
    evidenceNode(shown),
  );
}

function sentenceNode(sentence, passage) {
  const known = sentence.document_start !== null;
  const span = {
    start: whole(known ? sentence.document_start : sentence.start),
    end: whole(known ? sentence.document_end : sentence.end),
    document: known ? passage.document_id : `[${sentence.passage}]`,
  };
  return element(
    "figure",
    { class: "sentence" },
    element("blockquote", {}, sentence.text),
    element(
      "figcaption",
      { class: "quiet" },
      jump(sentence.passage, () => focusOn(byId(`${passageId(sentence.passage)}-heading`))),
      " ",
      element("a", { href: chunkAddress(sentence.record_id) }, say("extract.place", span)),
      " · ",
      say("extract.score", { score: decimal(sentence.score, 2) }),
    ),
  );
}
