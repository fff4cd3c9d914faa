// One thing at a time for each view: a new one stops the one before it, and Stop stops it too.

import { byId, fill } from "./dom.js";
import { say } from "./language.js";
import { problemNode, title } from "./problem.js";

/** Says something to who cannot see the page change. */
export function announce(text) {
  byId("status").textContent = text;
}

/** The work of a view, whose form may have a Stop button and whose result goes into `target`. */
export class Task {
  #controller = null;

  constructor(form, target) {
    this.form = form;
    this.target = target;
    this.stopButton = form?.querySelector(".stop") ?? null;
    this.stopButton?.addEventListener("click", () => this.stop());
  }

  get running() {
    return this.#controller !== null;
  }

  stop() {
    this.#controller?.abort();
  }

  /**
   * Runs `work(signal)`; shows a problem instead of the result where there is one. Resolves to
   * whether it came to its end.
   */
  async run(saying, work, again) {
    this.stop();
    const controller = new AbortController();
    this.#controller = controller;
    this.#busy(true, saying);
    try {
      await work(controller.signal);
      return true;
    } catch (error) {
      if (this.#controller !== controller) return false;
      if (controller.signal.aborted) {
        fill(this.target);
        announce(say("stopped"));
        return false;
      }
      fill(this.target, problemNode(error, again));
      announce(title(error));
      return false;
    } finally {
      if (this.#controller === controller) {
        this.#controller = null;
        this.#busy(false);
      }
    }
  }

  #busy(busy, saying = "") {
    this.target.setAttribute("aria-busy", String(busy));
    if (this.stopButton) this.stopButton.hidden = !busy;
    if (!busy) return;
    announce(saying);
    const line = document.createElement("p");
    line.className = "running";
    line.textContent = saying;
    fill(this.target, line);
  }
}
