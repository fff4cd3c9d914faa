// What a citation check found, claim by claim, with what it does not establish.

import { element } from "./dom.js";
import { say, whole } from "./language.js";
import { mark, marked, slice } from "./text.js";

const TONE = { found: "good", elsewhere: "warn", unclear: "warn", missing: "bad" };

/**
 * The report on `answer`; `show(n, place)` goes to the n-th passage, with a place where one is known.
 */
export function verificationNode(report, answer, show) {
  return element(
    "div",
    { class: "report" },
    element("p", { class: "caveat" }, say("verify.caveat")),
    countsNode(report.counts),
    report.claims.length === 0
      ? element("p", { class: "note" }, say("claim.none"))
      : element(
          "ol",
          { class: "claims" },
          report.claims.map((claim) => claimNode(claim, answer, show)),
        ),
  );
}

function countsNode(counts) {
  const states = (kind) =>
    ["found", "elsewhere", "unclear", "missing"]
      .filter((state) => counts[`${kind}_${state}`] > 0)
      .map((state) => `${whole(counts[`${kind}_${state}`])} ${say(`counts.${state}`)}`)
      .join(", ");
  const rows = [
    [
      say("counts.claims"),
      counts.claims,
      [
        `${whole(counts.cited)} ${say("counts.cited")}`,
        `${whole(counts.uncited)} ${say("counts.uncited")}`,
        counts.unchecked > 0 && `${whole(counts.unchecked)} ${say("counts.unchecked")}`,
      ]
        .filter(Boolean)
        .join(", "),
    ],
    [say("counts.quotes"), counts.quotes, states("quotes")],
    [say("counts.numbers"), counts.numbers, states("numbers")],
    ...(counts.citations_out_of_range > 0
      ? [[say("counts.outOfRange"), counts.citations_out_of_range, ""]]
      : []),
  ];
  return element(
    "dl",
    { class: "counts" },
    rows.map(([name, count, parts]) =>
      element(
        "div",
        {},
        element("dt", {}, name),
        element("dd", {}, element("strong", {}, whole(count)), parts && element("span", {}, parts)),
      ),
    ),
  );
}

function claimNode(claim, answer, show) {
  const checks = [
    ...claim.quotes.map((item) => ({ ...item, kind: "quote" })),
    ...claim.numbers.map((item) => ({ ...item, kind: "number" })),
  ];
  const marks = [...claim.citations.map((item) => ({ ...item, tone: "cited" })), ...checks].map(
    (item) =>
      mark(
        item.start - claim.start,
        item.end - claim.start,
        `check ${item.tone ?? TONE[item.state]}`,
      ),
  );
  return element(
    "li",
    { class: "claim" },
    element("p", { class: "claim-text" }, marked(slice(answer, claim.start, claim.end), marks)),
    element(
      "ul",
      { class: "findings" },
      citation(claim, show),
      checks.map((item) => finding(item, show)),
      unchecked(claim),
    ),
  );
}

function citation(claim, show) {
  if (claim.uncited) return element("li", { class: "warn" }, say("claim.uncited"));
  const wrong = claim.citations.flatMap((item) => item.out_of_range);
  return [
    claim.cited.length > 0 &&
      element(
        "li",
        {},
        say("claim.cites"),
        " ",
        claim.cited.map((n) => jump(n, () => show(n))),
      ),
    wrong.length > 0 &&
      element("li", { class: "bad" }, say("claim.outOfRange", { parts: wrong.join(", ") })),
  ];
}

function unchecked(claim) {
  return (
    !claim.checked && !claim.uncited && element("li", { class: "quiet" }, say("claim.unchecked"))
  );
}

function finding(item, show) {
  const places = new Map(item.places.map((place) => [place.passage, place]));
  return element(
    "li",
    { class: TONE[item.state], "data-state": item.state },
    element("span", {}, `${say(`claim.${item.kind}`)} `),
    element("q", {}, item.text),
    `: ${say(`state.${item.state}`)} `,
    [...places].map(([n, place]) => jump(n, () => show(n, place))),
  );
}

/** A button `[n]` that goes to a passage. */
export function jump(n, click) {
  return element(
    "button",
    { type: "button", class: "cite", "aria-label": say("claim.show", { n }), click },
    `[${n}]`,
  );
}
