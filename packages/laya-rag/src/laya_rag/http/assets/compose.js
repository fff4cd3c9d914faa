// An answer that a language model writes from the evidence: streamed, badged, checked beneath.

import { stream } from "./api.js";
import { verificationNode } from "./claims.js";
import { byId, element, fill } from "./dom.js";
import { counted, say, sayOr } from "./language.js";
import { passageId } from "./passage.js";
import { problemNode, title } from "./problem.js";
import { known } from "./stats.js";
import { supportNode } from "./support.js";
import { announce } from "./task.js";

/** Goes to a passage of the evidence on the page. */
function toEvidence(n) {
  const heading = byId(`${passageId(n)}-heading`);
  heading?.scrollIntoView({ block: "start" });
  heading?.focus({ preventScroll: true });
}

export class Composition {
  #body;
  #onEvidence;
  #controller = null;
  // "idle", "running", "done", "stopped", "broken" or "failed".
  #state = "idle";
  #text = "";
  #result = null;
  #problem = null;
  #evidence = null;
  #adjudicate = false;

  /** `body` is that of the question; `onEvidence` gets the evidence that is written from. */
  constructor(body, onEvidence) {
    this.#body = body;
    this.#onEvidence = onEvidence;
    this.node = element("section", { class: "card compose", "aria-labelledby": "compose-heading" });
  }

  stop() {
    this.#controller?.abort();
  }

  async #run() {
    const controller = new AbortController();
    this.#controller = controller;
    this.#state = "running";
    this.#text = "";
    this.#result = this.#problem = this.#evidence = null;
    this.draw();
    announce(say("compose.running"));
    this.node.querySelector(".stop").focus();
    try {
      const body = { ...this.#body, adjudicate: this.#adjudicate };
      for await (const event of stream("/v1/compose", body, controller.signal)) this.#take(event);
      if (this.#state === "running") this.#state = "broken";
    } catch (error) {
      this.#state = controller.signal.aborted ? "stopped" : "broken";
      if (!controller.signal.aborted) this.#problem = error;
    }
    this.#controller = null;
    if (!this.node.isConnected) return;
    this.draw();
    announce(this.#ending());
    // The button that had the focus is gone.
    this.node.querySelector("h3").focus({ preventScroll: true });
  }

  #take(event) {
    if (event.event === "evidence") {
      this.#evidence = event;
      this.#onEvidence(event);
      announce(say("compose.writing"));
      this.#running();
    } else if (event.event === "text") {
      this.#text += event.text;
      this.#running();
    } else if (event.event === "result") {
      this.#result = event;
      this.#text = event.text || this.#text;
      this.#state = "done";
    } else if (event.event === "error") {
      this.#problem = event;
      this.#state = "failed";
    }
  }

  #ending() {
    // Nothing stands there of which it could be said that it is not whole.
    if (this.#text === "" && this.#state === "stopped") return say("stopped");
    if (this.#text === "" && this.#state === "failed") return say("compose.abstained");
    if (this.#state === "stopped") return say("compose.stopped");
    if (this.#state === "failed") return say("compose.failed");
    if (this.#state === "broken")
      return this.#problem ? title(this.#problem) : say("compose.broken");
    return sayOr("compose", this.#result.state);
  }

  /** Only what changes while the answer is written, so that Stop keeps the focus. */
  #running() {
    const out = this.node.querySelector(".composed-text");
    out.textContent = this.#text;
    out.hidden = this.#text === "";
    this.node.querySelector(".running").textContent = say(
      this.#evidence ? "compose.writing" : "compose.running",
    );
  }

  draw() {
    const offer = known()?.compose ?? null;
    this.node.hidden = offer === null;
    if (offer === null) return;
    fill(
      this.node,
      element(
        "div",
        { class: "compose-head" },
        element("h3", { id: "compose-heading", tabindex: "-1" }, say("compose.heading")),
        element(
          "span",
          { class: offer.available ? "badge unverified" : "badge" },
          say(offer.available ? "compose.badge" : "compose.off"),
        ),
      ),
      offer.available ? this.#available(offer) : explanation(offer),
    );
  }

  #available(offer) {
    const model = this.#result?.model ?? offer.model ?? offer.provider;
    if (this.#state === "idle") {
      return [
        element("p", { class: "note" }, say("compose.lead", { model })),
        this.#controls("compose.submit"),
      ];
    }
    const text = element("div", { class: "composed-text" }, this.#text);
    text.hidden = this.#text === "";
    if (this.#state === "running") {
      const button = { type: "button", class: "stop", click: () => this.stop() };
      return [
        element("p", { class: "note" }, say("compose.by", { model })),
        text,
        element(
          "p",
          { class: "running" },
          say(this.#evidence ? "compose.writing" : "compose.running"),
        ),
        element("p", {}, element("button", button, say("stop"))),
      ];
    }
    return [
      this.#text !== "" && element("p", { class: "note" }, say("compose.by", { model })),
      text,
      this.#outcome(),
      this.#reports(),
      this.#controls("compose.again"),
    ];
  }

  #outcome() {
    if (this.#state === "done") {
      const { state, reason } = this.#result;
      const words = sayOr("compose", state);
      const because = reason ? ` ${sayOr("reason", reason)}` : "";
      return element("p", { class: state === "composed" ? "note" : "warning" }, words, because);
    }
    return [
      element("p", { class: "warning" }, this.#ending()),
      this.#state === "failed" &&
        element("p", { class: "note" }, sayOr("error", this.#problem.code)),
      this.#state === "broken" && this.#problem && problemNode(this.#problem),
    ];
  }

  /** The checks that were made, beneath what they do not establish. */
  #reports() {
    if (this.#state !== "done" || this.#text === "") return [];
    const { verification, adjudication, shown } = this.#result;
    const verdict = this.#evidence?.verdict ?? {};
    return [
      element(
        "p",
        { class: "caveat" },
        say("compose.caveat"),
        verdict.answerable === null && ` ${say("compose.notJudged")}`,
        verdict.answerable === false && ` ${say("compose.forced")}`,
        shown < this.#evidence?.evidence.length && ` ${counted("compose.shown", shown)}`,
      ),
      verification && [
        element("h4", { class: "eyebrow" }, say("compose.citations")),
        verificationNode(verification, this.#text, toEvidence),
      ],
      adjudication && [
        element("h4", { class: "eyebrow" }, say("compose.support")),
        supportNode(adjudication),
      ],
    ];
  }

  #controls(label) {
    const box = element("input", {
      type: "checkbox",
      checked: this.#adjudicate,
      change: () => {
        this.#adjudicate = box.checked;
      },
    });
    return element(
      "div",
      { class: "actions" },
      element("button", { type: "button", class: "primary", click: () => this.#run() }, say(label)),
      element("label", { class: "check" }, box, ` ${say("compose.adjudicate")}`),
    );
  }
}

function explanation(offer) {
  return [
    element("p", { class: "note" }, say("compose.offNote", { provider: offer.provider ?? "none" })),
    element(
      "details",
      {},
      element("summary", {}, say("compose.how").replace(/:$/, "")),
      element(
        "pre",
        { class: "code", tabindex: "0", "aria-label": say("compose.how") },
        '# laya.toml\n[compose]\nprovider = "ollama"  # or "openai", with url = "http://127.0.0.1:8000/v1"\nmodel = "…"',
      ),
    ),
  ];
}
