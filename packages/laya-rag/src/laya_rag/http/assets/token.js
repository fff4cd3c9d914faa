// Asks for the token of the API, when the API does.

import { byId } from "./dom.js";
import { say } from "./language.js";
import { forgetToken, keepToken, token } from "./storage.js";
import { announce } from "./task.js";

const dialog = byId("token");
const field = byId("token-value");
const forget = byId("forget-token");

/** Resolves to whether a token was given; `refused` says that the one before was wrong. */
export function askForToken(refused) {
  byId("token-refused").hidden = !refused;
  field.value = "";
  dialog.returnValue = "";
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener(
      "close",
      () => {
        const given = dialog.returnValue === "use" && field.value.trim() !== "";
        if (given) keepToken(field.value.trim());
        field.value = "";
        redraw();
        resolve(given);
      },
      { once: true },
    );
  });
}

export function redraw() {
  forget.hidden = token() === null;
}

forget.addEventListener("click", () => {
  forgetToken();
  redraw();
  announce(say("token.forgotten"));
});
