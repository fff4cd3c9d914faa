// What went wrong, readably, with the id under which the server's log has it.

import { Problem, UnreachableError } from "./api.js";
import { element } from "./dom.js";
import { say, sayOr, whole } from "./language.js";

/** An alert; `again` is called when the reader asks to try again. */
export function problemNode(error, again = null) {
  return element(
    "div",
    { class: "card problem", role: "alert" },
    element("p", { class: "problem-title" }, title(error)),
    ...details(error),
    again && element("p", {}, element("button", { type: "button", click: again }, say("retry"))),
  );
}

export function title(error) {
  if (error instanceof UnreachableError) return say("problem.unreachable");
  if (!(error instanceof Problem)) return say("problem.page", { text: String(error) });
  return sayOr("kind", error.code, error.title || say("problem.heading"));
}

function details(error) {
  if (!(error instanceof Problem)) return [];
  return [
    error.detail && element("p", {}, error.detail),
    error.errors.length > 0 &&
      element(
        "ul",
        {},
        error.errors.map((item) =>
          element("li", {}, element("code", {}, item.pointer), " ", item.detail),
        ),
      ),
    error.retryAfter !== null &&
      element(
        "p",
        { class: "retry-after" },
        say("problem.retryAfter", { seconds: whole(Math.max(1, Math.ceil(error.retryAfter))) }),
      ),
    element(
      "p",
      { class: "quiet" },
      [
        say("problem.status", { status: error.status }),
        error.code && `${say("problem.code")} ${error.code}`,
        error.requestId && `${say("problem.request")} ${error.requestId}`,
      ]
        .filter(Boolean)
        .join(" · "),
    ),
  ];
}
