// One passage: its text with the question's words and what is flagged, and why it is there.

import { chunkAddress } from "./address.js";
import { element, table, wide } from "./dom.js";
import { decimal, probability, say, sayOr, whole } from "./language.js";
import { termMarks } from "./terms.js";
import { mark, marked } from "./text.js";
import { smallMeter } from "./verdict.js";

/** The id of the element that shows the passage of this number. */
export function passageId(rank, prefix = "passage") {
  return `${prefix}-${rank}`;
}

/** What the page calls a leg; a probe's leg such as `bm25:'Ada'` keeps its addition. */
export function legName(leg) {
  const [kind, ...rest] = leg.split(":");
  const name = `${sayOr("leg", kind)} (${kind})`;
  return rest.length > 0 ? `${name}: ${rest.join(":")}` : name;
}

/** Passages with their numbers as `[n]`; `result` is what they are the evidence of. */
export function passageNode(passage, result) {
  const flags = result.flags.filter((flag) => flag.passage === passage.rank);
  const id = passageId(passage.rank);
  return element(
    "article",
    { class: "passage", id, "aria-labelledby": `${id}-heading`, "data-record": passage.record_id },
    element(
      "header",
      {},
      element(
        "h4",
        { id: `${id}-heading`, tabindex: "-1" },
        element("span", { class: "number-tag" }, `[${passage.rank}]`),
        " ",
        element("span", { class: "path" }, headings(passage)),
      ),
      place(passage),
    ),
    flags.length > 0 && warning(flags),
    element(
      "div",
      { class: "passage-body" },
      element(
        "div",
        {},
        textNode(passage.text, id, [...flagMarks(flags), ...termMarks(passage.text, result.query)]),
      ),
      why(passage, result),
    ),
  );
}

function headings(passage) {
  const path = passage.heading_path.length > 0 ? passage.heading_path : [passage.title];
  return path.join(" › ");
}

function place(passage) {
  const span = { start: whole(passage.start), end: whole(passage.end) };
  return element(
    "p",
    { class: "place" },
    element("span", {}, say("passage.place", span)),
    passage.trust_tier !== "trusted" &&
      element("span", { class: "tier" }, sayOr("tier", passage.trust_tier)),
    element(
      "a",
      {
        href: chunkAddress(passage.merged[0] ?? passage.record_id),
        "aria-label": say("passage.openNamed", { n: passage.rank }),
      },
      say("passage.open"),
    ),
  );
}

function flagMarks(flags) {
  return flags.map((flag) => mark(flag.start, flag.end, "flagged"));
}

export function warning(flags) {
  const rules = [...new Set(flags.map((flag) => flag.rule))];
  return element(
    "div",
    { class: "warning", role: "note" },
    element("strong", {}, say("flag.heading")),
    element(
      "span",
      {},
      ` (${rules.map((rule) => sayOr("rule", rule)).join("; ")}). ${say("flag.note")} ${say("flag.none")}`,
    ),
  );
}

/** The text, folded to some lines until it is opened. */
export function textNode(text, id, marks) {
  const shown = element(
    "div",
    { class: "passage-text folded", id: `${id}-text` },
    marked(text, marks),
  );
  const button = element(
    "button",
    {
      type: "button",
      class: "plain more",
      "aria-expanded": "false",
      "aria-controls": `${id}-text`,
      click: () => {
        const folded = shown.classList.toggle("folded");
        button.setAttribute("aria-expanded", String(!folded));
        button.textContent = say(folded ? "passage.more" : "passage.less");
      },
    },
    say("passage.more"),
  );
  // Only once it has a size is it known whether there is more than what shows.
  new ResizeObserver((_, observer) => {
    if (shown.clientHeight === 0) return;
    observer.disconnect();
    if (shown.scrollHeight <= shown.clientHeight + 4) {
      shown.classList.remove("folded");
      button.remove();
    }
  }).observe(shown);
  return [shown, button];
}

function why(passage, result) {
  const { relevance } = passage;
  const threshold = result.verdict.relevance_threshold;
  const most = Math.max(...passage.legs.map((part) => Math.abs(part.contribution)), 1e-12);
  const found = new Map(passage.legs.map((part) => [part.leg, part]));
  const names = [...new Set([...result.legs, ...found.keys()])];
  const rows = names.map((leg) => legRow(leg, found.get(leg), result.weights[leg], most));
  return element(
    "aside",
    { class: "why", "aria-label": say("passage.why") },
    element(
      "p",
      { class: "relevance" },
      element("span", { class: "why-label" }, say("passage.relevance")),
      relevance === null
        ? element("span", { class: "quiet" }, say("passage.unread"))
        : smallMeter(say("passage.relevance"), relevance, threshold),
    ),
    element("p", { class: "reason" }, reason(names, found)),
    table(
      say("passage.legsCaption", { n: passage.rank }),
      [
        say("passage.leg"),
        say("passage.rank"),
        say("passage.legScore"),
        say("passage.contribution"),
      ],
      rows,
      "legs",
    ),
    element("p", { class: "quiet" }, say("passage.score", { score: decimal(passage.score, 4) })),
    passage.duplicates.length > 0 &&
      element(
        "p",
        { class: "quiet" },
        say("passage.duplicates", { ids: passage.duplicates.join(", ") }),
      ),
    passage.merged.length > 0 &&
      element("p", { class: "quiet" }, say("passage.merged", { ids: passage.merged.join(", ") })),
  );
}

function reason(names, found) {
  const by = names.filter((leg) => found.has(leg)).map(legName);
  const others = names.filter((leg) => !found.has(leg)).map(legName);
  if (by.length === 0) return say("passage.byNone");
  if (others.length === 0) return say("passage.byAll", { legs: by.join(", ") });
  return say("passage.bySome", { legs: by.join(", "), others: others.join(", ") });
}

/** A leg that did not find the passage has no rank, no score and no share to show. */
function legRow(leg, part, weight, most) {
  const name = [
    leg,
    weight !== undefined &&
      weight !== 1 &&
      element(
        "span",
        { class: "quiet" },
        ` ${say("passage.weight", { weight: decimal(weight, 2) })}`,
      ),
  ];
  if (part === undefined) {
    return [name, element("span", { class: "quiet" }, say("passage.notFound")), "–", "–"];
  }
  return [
    name,
    whole(part.rank),
    decimal(part.score, 3),
    [
      element(
        "span",
        { class: "share", "aria-hidden": "true" },
        wide(element("span", {}), Math.abs(part.contribution) / most),
      ),
      decimal(part.contribution, 4),
    ],
  ];
}

/** What was read and is not evidence, best first. */
export function relevanceList(dropped) {
  return dropped
    .filter((item) => item.relevance !== null)
    .sort((a, b) => b.relevance - a.relevance)
    .map((item) => [
      element("a", { href: chunkAddress(item.record_id) }, item.record_id),
      probability(item.relevance),
    ]);
}
