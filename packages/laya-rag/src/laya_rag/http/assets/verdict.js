// The verdict: its words, and P(answerable) on a meter where it was measured.

import { element, wide } from "./dom.js";
import { probability, say } from "./language.js";

/** Which of the verdicts this is: yes, no, notReached, budget or off. */
export function kindOf(verdict, funnel) {
  if (verdict.state === "measured") return verdict.answerable ? "yes" : "no";
  if (verdict.state === "not_measured") return "off";
  return funnel.kept > 0 ? "budget" : "notReached";
}

export function words(verdict, funnel) {
  return say(`verdict.${kindOf(verdict, funnel)}`);
}

/** The card's left half. A verdict that was not measured has no meter and no number. */
export function verdictNode(result) {
  const { verdict, funnel, dropped } = result;
  const kind = kindOf(verdict, funnel);
  return element(
    "div",
    { class: `verdict ${kind}`, "data-verdict": kind },
    element("h3", { class: "eyebrow" }, say("verdict.heading")),
    element("p", { class: "verdict-words" }, say(`verdict.${kind}`)),
    verdict.answerability === null
      ? element(
          "p",
          { class: "unmeasured" },
          element("span", {}, say("verdict.p")),
          element("span", {}, say("verdict.unmeasured")),
        )
      : meter(
          say("verdict.p"),
          verdict.answerability,
          verdict.answerability_threshold,
          say(`verdict.${kind}`),
        ),
    element("p", { class: "note" }, say(`verdict.${kind}Note`), best(kind, verdict, dropped)),
  );
}

/** How near the best passage came where none was relevant. */
function best(kind, verdict, dropped) {
  const read = dropped.map((item) => item.relevance).filter((value) => value !== null);
  if (kind !== "notReached" || read.length === 0 || verdict.relevance_threshold === null) return "";
  const values = {
    p: probability(Math.max(...read)),
    threshold: probability(verdict.relevance_threshold),
  };
  return ` ${say("verdict.best", values)}`;
}

/** A probability with its threshold; for screen readers a meter with both in words. */
export function meter(label, value, threshold, meaning) {
  const met = value >= threshold;
  const text = say("verdict.thresholdIs", {
    p: probability(value),
    threshold: probability(threshold),
    words: meaning,
  });
  const caption = element(
    "span",
    { class: "meter-caption" },
    say("verdict.threshold", { p: probability(threshold) }),
  );
  // The words stay between the ends of the scale.
  caption.style.left = `${Math.min(82, Math.max(18, threshold * 100))}%`;
  return element(
    "div",
    { class: "meter-block" },
    element(
      "p",
      { class: "meter-head", "aria-hidden": "true" },
      element("span", {}, label),
      element("strong", {}, probability(value)),
    ),
    element(
      "div",
      {
        class: `meter ${met ? "met" : "unmet"}`,
        role: "meter",
        "aria-label": label,
        "aria-valuemin": 0,
        "aria-valuemax": 1,
        "aria-valuenow": value,
        "aria-valuetext": text,
      },
      wide(element("span", { class: "meter-fill" }), value),
      tickAt(threshold),
    ),
    element(
      "p",
      { class: "meter-scale", "aria-hidden": "true" },
      element("span", {}, "0"),
      caption,
      element("span", {}, "1"),
    ),
  );
}

function tickAt(threshold) {
  const tick = element("span", { class: "meter-tick" });
  tick.style.left = `${threshold * 100}%`;
  return tick;
}

/** A small meter in a line of text. */
export function smallMeter(label, value, threshold) {
  const met = threshold === null || value >= threshold;
  return element(
    "span",
    {
      class: `small-meter ${met ? "met" : "unmet"}`,
      role: "meter",
      "aria-label": label,
      "aria-valuemin": 0,
      "aria-valuemax": 1,
      "aria-valuenow": value,
      "aria-valuetext":
        threshold === null
          ? say("passage.relevanceAlone", { p: probability(value) })
          : say("verdict.thresholdIs", {
              p: probability(value),
              threshold: probability(threshold),
              words: label,
            }),
    },
    element(
      "span",
      { class: "small-track" },
      wide(element("span", { class: "meter-fill" }), value),
      threshold !== null && tickAt(threshold),
    ),
    element("span", { class: "small-value" }, probability(value)),
  );
}
