// The evidence for a question: verdict, funnel and times first, then one entry per document.

import { documentAddress } from "./address.js";
import { element, table } from "./dom.js";
import { funnelNode, timesNode } from "./funnel.js";
import { counted, say, whole } from "./language.js";
import { passageNode, relevanceList } from "./passage.js";
import { verdictNode } from "./verdict.js";

/** The card that is read first. */
export function summaryNode(result, seconds = result.seconds) {
  return element(
    "div",
    { class: "card summary" },
    verdictNode(result),
    funnelNode(result),
    timesNode(seconds),
  );
}

/** The passages by document, what was read and dropped, and what all of it rests on. */
export function evidenceNode(result) {
  return element(
    "section",
    { class: "evidence", "aria-labelledby": "evidence-heading" },
    element("h3", { id: "evidence-heading" }, say("evidence.heading")),
    result.evidence.length === 0
      ? element("p", { class: "note" }, say("evidence.none"))
      : element("p", { class: "note" }, say("evidence.order"), packed(result), probed(result)),
    result.documents.map((document) => documentNode(document, result)),
    droppedNode(result.dropped),
    basisNode(result),
  );
}

function packed({ packed: pack }) {
  if (pack === null) return "";
  const used = say("evidence.packed", { tokens: whole(pack.tokens), budget: whole(pack.budget) });
  const left = pack.skipped.length;
  return ` ${used} ${left > 0 ? counted("evidence.skipped", left) : ""}`;
}

function probed({ probes }) {
  return probes.length > 0 ? ` ${say("evidence.probes", { names: probes.join(", ") })}` : "";
}

function documentNode(document, result) {
  const own = result.evidence.filter((passage) => document.passages.includes(passage.rank));
  return element(
    "section",
    { class: "card document", "data-document": document.document_id },
    element(
      "header",
      { class: "document-head" },
      element(
        "p",
        { class: "document-title" },
        element(
          "a",
          { href: documentAddress(document.document_id) },
          document.title || document.document_id,
        ),
      ),
      element(
        "p",
        { class: "quiet" },
        element("span", { class: "code" }, document.document_id),
        " · ",
        counted("evidence.passages", own.length),
      ),
    ),
    own.map((passage) => passageNode(passage, result)),
  );
}

function droppedNode(dropped) {
  const rows = relevanceList(dropped);
  if (rows.length === 0) return null;
  const heading = counted("dropped.heading", rows.length);
  return element(
    "details",
    { class: "card fold" },
    element("summary", {}, heading),
    table(heading, [say("dropped.record"), say("dropped.relevance")], rows, "dropped"),
  );
}

/** The corpus, the configuration and the models, by their fingerprints. */
export function basisNode({ bundle, configuration, models }) {
  const rows = [
    [say("settings.corpus"), bundle.stack],
    ...(bundle.identity === null ? [] : [[say("settings.identity"), bundle.identity.slice(0, 16)]]),
    [say("settings.configuration"), configuration],
    ...Object.entries(models).map(([name, print]) => [say("settings.model", { name }), print]),
  ];
  return element(
    "details",
    { class: "card fold" },
    element("summary", {}, say("settings.heading")),
    element(
      "dl",
      { class: "basis" },
      rows.map(([name, value]) => [
        element("dt", {}, name),
        element("dd", { class: "code" }, value),
      ]),
    ),
  );
}
