// Whether the corpus supports each claim, as far as a model could say.

import { chunkAddress } from "./address.js";
import { element } from "./dom.js";
import { counted, say } from "./language.js";
import { smallMeter } from "./verdict.js";

const TONE = { supported: "good", not_supported: "bad", not_measured: "quiet" };

export function supportNode(result) {
  return element(
    "div",
    { class: "report" },
    element("p", { class: "caveat" }, say("adjudicate.caveat")),
    result.claims.length === 0
      ? element("p", { class: "note" }, say("claim.none"))
      : element(
          "ol",
          { class: "claims" },
          result.claims.map((claim) => claimNode(claim, result.threshold)),
        ),
  );
}

function claimNode(claim, threshold) {
  return element(
    "li",
    { class: "claim", "data-support": claim.support },
    element("p", { class: "claim-text" }, claim.text),
    element(
      "p",
      { class: "support" },
      element("span", { class: `badge ${TONE[claim.support]}` }, say(`support.${claim.support}`)),
      claim.probability === null
        ? element("span", { class: "quiet" }, say("support.unmeasured"))
        : [
            element("span", { class: "quiet" }, say("support.p")),
            smallMeter(say("support.p"), claim.probability, threshold),
          ],
    ),
    claim.passages.length > 0 &&
      element(
        "details",
        {},
        element("summary", {}, counted("adjudicate.rests", claim.passages.length)),
        claim.passages.map(passageNode),
      ),
  );
}

function passageNode(passage) {
  const path = passage.heading_path.length > 0 ? passage.heading_path : [passage.title];
  return element(
    "div",
    { class: "rests-on" },
    element(
      "p",
      { class: "rests-head" },
      element(
        "a",
        { href: chunkAddress(passage.merged[0] ?? passage.record_id) },
        path.join(" › "),
      ),
      passage.relevance !== null && smallMeter(say("passage.relevance"), passage.relevance, null),
    ),
    element("div", { class: "passage-text" }, passage.text),
  );
}
