// The view that verifies: a pasted answer against the evidence for a question, or pasted passages.

import { post } from "./api.js";
import { chunkAddress, viewAddress } from "./address.js";
import { verificationNode } from "./claims.js";
import { byId, element, fill, focusOn } from "./dom.js";
import { summaryNode } from "./evidence.js";
import { counted, say } from "./language.js";
import { textNode, warning } from "./passage.js";
import { announce, Task } from "./task.js";
import { mark } from "./text.js";

const form = byId("verify-form");
const target = byId("verify-result");
const task = new Task(form, target);
const SEPARATOR = /^---[ \t]*$/m;
// `{answer, asked, passages, report}`; `asked` is null for passages that were pasted.
let shown = null;

for (const radio of form.elements.source) radio.addEventListener("change", drawSource);

form.addEventListener("submit", (event) => {
  event.preventDefault();
  const q = form.elements.source.value === "query" ? form.elements.q.value.trim() : "";
  // The question may stand in the address, the answer is the reader's own and does not.
  history.replaceState(null, "", viewAddress("verify", { q }));
  run();
});

export function show(params) {
  const q = params.get("q");
  if (q !== null) {
    form.elements.q.value = q;
    form.elements.source.value = "query";
  }
  drawSource();
}

export function redraw() {
  if (shown !== null && !task.running) draw();
}

function drawSource() {
  const source = form.elements.source.value;
  for (const part of form.querySelectorAll("[data-source]")) {
    part.hidden = part.dataset.source !== source;
    for (const field of part.querySelectorAll("input, textarea")) {
      field.required = !part.hidden;
    }
  }
}

async function run() {
  shown = null;
  const answer = form.elements.answer.value;
  const query = form.elements.source.value === "query" ? form.elements.q.value.trim() : null;
  const pasted = form.elements.passages.value.split(SEPARATOR).map((text) => text.trim());
  await task.run(
    say("verify.running"),
    async (signal) => {
      // Asked first, so that the very passages that are compared can be shown.
      const asked = query === null ? null : await post("/v1/query", { query }, signal);
      const passages =
        asked === null
          ? pasted.filter(Boolean).map((text) => ({ text }))
          : asked.evidence.map(({ record_id, text }) => ({ record_id, text }));
      const report = await post("/v1/verify", { answer, passages }, signal);
      shown = { answer, asked, passages, report };
      draw();
      announce(counted("verify.done", report.claims.length));
      focusOn(byId("verify-claims"));
    },
    run,
  );
}

function draw() {
  const { answer, asked, passages, report } = shown;
  fill(
    target,
    asked !== null && [element("h2", { class: "asked" }, asked.query), summaryNode(asked)],
    element(
      "section",
      { class: "card", "aria-labelledby": "verify-claims" },
      element("h2", { id: "verify-claims" }, say("verify.result")),
      passages.length === 0 && element("p", { class: "warning" }, say("verify.noPassages")),
      verificationNode(report, answer, showPlace),
    ),
    passages.length > 0 && [
      element("h2", {}, say("verify.compared")),
      passages.map((passage, index) => passageNode(passage, index + 1, report)),
    ],
  );
}

function passageNode(passage, n, report) {
  const known = shown.asked?.evidence[n - 1];
  const flags = report.flags.filter((flag) => flag.passage === n);
  const checks = report.claims.flatMap((claim) => [...claim.quotes, ...claim.numbers]);
  const places = checks.flatMap((check) => check.places).filter((place) => place.passage === n);
  const marks = [
    ...places.map((place) =>
      mark(place.start, place.end, "compared", { "data-start": place.start, tabindex: "-1" }),
    ),
    ...flags.map((flag) => mark(flag.start, flag.end, "flagged")),
  ];
  const id = `compared-${n}`;
  return element(
    "article",
    { class: "card passage", id, "aria-labelledby": `${id}-heading` },
    element(
      "header",
      {},
      element(
        "h3",
        { id: `${id}-heading`, tabindex: "-1" },
        element("span", { class: "number-tag" }, `[${n}]`),
        known ? ` ${[...known.heading_path].join(" › ") || known.title}` : "",
      ),
      known &&
        element(
          "p",
          { class: "place" },
          element(
            "a",
            {
              href: chunkAddress(known.merged[0] ?? known.record_id),
              "aria-label": say("passage.openNamed", { n }),
            },
            say("passage.open"),
          ),
        ),
    ),
    flags.length > 0 && warning(flags),
    textNode(passage.text, id, marks),
  );
}

/** Goes to a passage, or to the place in it where something was found. */
function showPlace(n, place = null) {
  const id = `compared-${n}`;
  const found = place && byId(`${id}-text`).querySelector(`[data-start="${place.start}"]`);
  byId(`${id}-text`).classList.contains("folded") && byId(id).querySelector(".more")?.click();
  const goal = found || byId(`${id}-heading`);
  goal.scrollIntoView({ block: "center" });
  goal.focus({ preventScroll: true });
}
