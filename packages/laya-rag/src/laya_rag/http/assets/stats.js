// What the server holds and can do, asked once at the beginning.

import { get } from "./api.js";
import { byId, element, fill } from "./dom.js";
import { counted, say } from "./language.js";
import { legName } from "./passage.js";
import { problemNode } from "./problem.js";

let stats = null;
let problem = null;
const listeners = [];

/** The server's statistics, or null while it has not answered. */
export function known() {
  return stats;
}

/** Calls `listener` when the statistics are there. */
export function whenKnown(listener) {
  listeners.push(listener);
}

export async function load() {
  problem = null;
  redraw();
  try {
    stats = await get("/v1/stats");
  } catch (error) {
    problem = error;
    // A server that is not ready says when to come back.
    if (error.status === 503) setTimeout(load, 1000 * (error.retryAfter ?? 5));
  }
  redraw();
  if (stats !== null) for (const listener of listeners) listener();
}

export function redraw() {
  const line = byId("corpus-line");
  if (problem !== null) {
    fill(
      line,
      problem.status === 503 && element("p", { class: "running" }, say("stats.notReady")),
      problemNode(problem, load),
    );
  } else if (stats === null) {
    fill(line, element("p", { class: "running" }, say("stats.loading")));
  } else {
    fill(
      line,
      element(
        "p",
        {},
        element("strong", {}, stats.bundle.stack),
        element("span", {}, counted("stats.documents", stats.documents)),
        element("span", {}, counted("stats.chunks", stats.chunks)),
        element("span", {}, `${say("stats.legs")} ${stats.legs.map(legName).join(", ")}`),
      ),
    );
  }
}
