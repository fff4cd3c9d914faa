// How many candidates reached each step, and how long the stages took.

import { element, wide } from "./dom.js";
import { counted, milliseconds, probability, say, sayOr, whole } from "./language.js";

/** The steps as `{name, count, lost}`; a step that did not take place is not among them. */
export function steps({ funnel, verdict }) {
  const gated = verdict.state !== "not_measured";
  const found = [{ name: "retrieved", count: funnel.retrieved, lost: [] }];
  if (funnel.duplicates > 0) {
    const lost = [counted("funnel.duplicates", funnel.duplicates)];
    found.push({ name: "considered", count: funnel.considered, lost });
  }
  if (gated) {
    const unread = funnel.dropped_before_scoring;
    const lost = unread > 0 ? [say("funnel.unread", { n: whole(unread) })] : [];
    found.push({ name: "scored", count: funnel.scored, lost });
    if (verdict.relevance_threshold !== null) {
      const p = probability(verdict.relevance_threshold);
      const below = funnel.below_relevance;
      found.push({
        name: "kept",
        count: funnel.kept,
        lost: below > 0 ? [say("funnel.below", { n: whole(below), p })] : [],
      });
    }
  }
  const cut = funnel.kept - funnel.evidence;
  found.push({
    name: "evidence",
    count: funnel.evidence,
    lost: cut > 0 ? [say("funnel.cut", { n: whole(cut) })] : [],
  });
  return found;
}

export function funnelNode(result) {
  const most = Math.max(1, result.funnel.retrieved);
  return element(
    "div",
    { class: "funnel" },
    element("h3", { class: "eyebrow" }, say("funnel.heading")),
    element(
      "ol",
      {},
      steps(result).map(({ name, count, lost }) =>
        element(
          "li",
          { "data-step": name },
          element("span", { class: "step-count" }, whole(count)),
          element("span", { class: "step-name" }, say(`funnel.${name}`)),
          element(
            "span",
            { class: "step-bar", "aria-hidden": "true" },
            wide(element("span", {}), count / most),
          ),
          lost.length > 0 && element("span", { class: "step-lost" }, lost),
        ),
      ),
    ),
  );
}

/** The seconds of each stage; a stage inside another counts for itself alone. */
export function timesNode(seconds) {
  const { total, ...stages } = seconds;
  const parts = Object.entries(stages).sort((a, b) => b[1] - a[1]);
  return element(
    "p",
    { class: "times" },
    element("span", { class: "eyebrow" }, say("time.heading")),
    [["total", total], ...parts].map(([name, value]) =>
      element(
        "span",
        { class: name === "total" ? "time-total" : "" },
        say("time.of", { stage: sayOr("time", name), time: milliseconds(value) }),
      ),
    ),
  );
}
