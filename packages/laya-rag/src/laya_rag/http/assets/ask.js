// The view that asks: the question and its options in the address, the result beneath.

import { go, viewAddress } from "./address.js";
import { post } from "./api.js";
import { Composition } from "./compose.js";
import { byId, element, fill, focusOn } from "./dom.js";
import { evidenceNode, summaryNode } from "./evidence.js";
import { counted, say } from "./language.js";
import { legName } from "./passage.js";
import { known } from "./stats.js";
import { announce, Task } from "./task.js";
import { words } from "./verdict.js";

const form = byId("ask-form");
const target = byId("ask-result");
const task = new Task(form, target);
const NUMBERS = ["keep", "depth", "budget"];

// What is shown: `{key, result, composition, parts}`, or null.
let shown = null;

form.addEventListener("submit", (event) => {
  event.preventDefault();
  const address = viewAddress("ask", written());
  go(address, () => run(new URLSearchParams(address.split("?")[1])));
});

/** Shows what the parameters of the address say; asks only what is not shown already. */
export function show(params) {
  read(params);
  if (!params.get("q")) {
    task.stop();
    leave();
    fill(target);
  } else if (shown?.key !== params.toString()) {
    run(params);
  }
}

/** Offers what the server turns out to have: legs to choose from, and a model that writes. */
export function offer() {
  drawLegs();
  shown?.composition.draw();
}

/** Draws again what is shown, in the language of now. */
export function redraw() {
  drawLegs();
  if (shown !== null && !task.running) draw();
}

function drawLegs() {
  const legs = known()?.legs ?? [];
  const box = byId("ask-legs");
  const chosen = new Set(legsChosen());
  box.hidden = legs.length < 2;
  fill(
    box.querySelector(".checks"),
    legs.map((leg) =>
      element(
        "label",
        {},
        element("input", { type: "checkbox", name: "leg", value: leg, checked: chosen.has(leg) }),
        ` ${legName(leg)}`,
      ),
    ),
  );
}

function legsChosen() {
  const boxes = [...form.querySelectorAll("[name=leg]:checked")].map((box) => box.value);
  return boxes.length > 0 ? boxes : (form.dataset.legs ?? "").split(",").filter(Boolean);
}

function written() {
  const { q, filters, ungated } = form.elements;
  return {
    q: q.value.trim(),
    ...Object.fromEntries(NUMBERS.map((name) => [name, form.elements[name].value])),
    filters: filters.value.trim(),
    legs: [...form.querySelectorAll("[name=leg]:checked")].map((box) => box.value).join(","),
    gate: ungated.checked ? "off" : "",
  };
}

function read(params) {
  form.elements.q.value = params.get("q") ?? "";
  form.elements.filters.value = params.get("filters") ?? "";
  form.elements.ungated.checked = params.get("gate") === "off";
  for (const name of NUMBERS) form.elements[name].value = params.get(name) ?? "";
  // The boxes are drawn when the server has said which legs there are.
  form.dataset.legs = params.get("legs") ?? "";
  const wanted = form.dataset.legs.split(",");
  for (const box of form.querySelectorAll("[name=leg]")) box.checked = wanted.includes(box.value);
  const special = [...params.keys()].some((name) => name !== "q");
  if (special) form.querySelector("details").open = true;
}

/** The body of a request from the parameters; raises `SyntaxError` for a filter that is no JSON. */
function bodyOf(params) {
  const body = { query: params.get("q") };
  for (const name of NUMBERS) {
    if (params.get(name)) body[name] = Number(params.get(name));
  }
  if (params.get("legs")) body.legs = params.get("legs").split(",");
  if (params.get("gate") === "off") body.gate = false;
  if (params.get("filters")) body.filters = JSON.parse(params.get("filters"));
  return body;
}

function leave() {
  shown?.composition.stop();
  shown = null;
}

async function run(params) {
  leave();
  let body;
  try {
    body = bodyOf(params);
  } catch {
    task.stop();
    fill(
      target,
      element("p", { class: "card problem", role: "alert" }, say("options.filtersWrong")),
    );
    return;
  }
  await task.run(
    say("ask.running"),
    async (signal) => {
      const result = await post("/v1/query", body, signal);
      shown = { key: params.toString(), result, composition: new Composition(body, refresh) };
      draw();
      const { verdict, funnel } = result;
      announce(counted("ask.done", result.evidence.length, { verdict: words(verdict, funnel) }));
      focusOn(byId("ask-question"));
    },
    () => run(params),
  );
}

function draw() {
  const { result, composition } = shown;
  const parts = { summary: element("div"), evidence: element("div") };
  shown.parts = parts;
  composition.draw();
  fill(
    target,
    element("h2", { id: "ask-question", class: "asked" }, result.query),
    parts.summary,
    composition.node,
    parts.evidence,
  );
  drawParts();
}

function drawParts() {
  const { result, parts } = shown;
  const { query } = result;
  fill(
    parts.summary,
    summaryNode(result),
    element(
      "p",
      { class: "onward" },
      element("a", { href: viewAddress("extract", { q: query }) }, say("ask.extract")),
      element("a", { href: viewAddress("verify", { q: query }) }, say("ask.verify")),
    ),
  );
  fill(parts.evidence, evidenceNode(result));
}

/** An answer is written from evidence of its own, which takes the place of what was shown. */
function refresh(result) {
  shown.result = result;
  drawParts();
}
