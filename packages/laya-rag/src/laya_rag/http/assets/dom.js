// Building elements. Text of the corpus only ever becomes a text node here, never markup.

/**
 * An element. `attributes` with a function listen to that event, `false` and `null` are left out,
 * the rest is set; strings and numbers among the children become text.
 */
export function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") made.addEventListener(name, value);
    else if (value === true) made.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) {
      made.setAttribute(name, String(value));
    }
  }
  made.append(...present(children));
  return made;
}

/** What `children` holds, flat, without what is not there. */
export function present(children) {
  return children
    .flat(Infinity)
    .filter((child) => child !== null && child !== undefined && child !== false && child !== "")
    .map((child) => (child instanceof Node ? child : String(child)));
}

export function byId(id) {
  return document.getElementById(id);
}

/** Shows `children` in `target` instead of what is there. */
export function fill(target, ...children) {
  target.replaceChildren(...present(children));
}

/** A share of 1 as the width of an element; the policy allows this, but no style attribute. */
export function wide(made, share) {
  made.style.width = `${Math.max(0, Math.min(1, share)) * 100}%`;
  return made;
}

/** Moves the focus to a heading that is not in the tab order, so that a screen reader reads on. */
export function focusOn(made) {
  made.setAttribute("tabindex", "-1");
  made.focus({ preventScroll: true });
  made.scrollIntoView({ block: "nearest" });
}

/** A table that scrolls by itself where it is too wide. `rows` are lists of cells. */
export function table(caption, header, rows, name = "") {
  const head = header.map((text, place) =>
    element("th", { scope: "col", class: place > 0 && "number" }, text),
  );
  const body = rows.map((cells) =>
    element(
      "tr",
      {},
      cells.map((cell, place) =>
        place === 0
          ? element("th", { scope: "row" }, cell)
          : element("td", { class: "number" }, cell),
      ),
    ),
  );
  return element(
    "table",
    { class: name },
    element("caption", { class: "unseen" }, caption),
    element("thead", {}, element("tr", {}, head)),
    element("tbody", {}, body),
  );
}
