// The view that adjudicates: a search and a judgement for every claim of a pasted answer.

import { post } from "./api.js";
import { byId, element, fill, focusOn } from "./dom.js";
import { basisNode } from "./evidence.js";
import { timesNode } from "./funnel.js";
import { counted, say } from "./language.js";
import { supportNode } from "./support.js";
import { announce, Task } from "./task.js";

const form = byId("adjudicate-form");
const target = byId("adjudicate-result");
const task = new Task(form, target);
let shown = null;

form.addEventListener("submit", (event) => {
  event.preventDefault();
  run(form.elements.answer.value);
});

export function redraw() {
  if (shown !== null && !task.running) draw();
}

async function run(answer) {
  shown = null;
  await task.run(
    say("adjudicate.running"),
    async (signal) => {
      shown = await post("/v1/adjudicate", { answer }, signal);
      draw();
      announce(counted("adjudicate.done", shown.claims.length));
      focusOn(byId("adjudicate-claims"));
    },
    () => run(answer),
  );
}

function draw() {
  fill(
    target,
    element(
      "section",
      { class: "card", "aria-labelledby": "adjudicate-claims" },
      element("h2", { id: "adjudicate-claims" }, say("adjudicate.result")),
      supportNode(shown),
      timesNode(shown.seconds),
    ),
    basisNode(shown),
  );
}
