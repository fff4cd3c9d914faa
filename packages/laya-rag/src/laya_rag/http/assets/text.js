// Text with marked places. Offsets of the API count Unicode code points; JavaScript's strings
// count UTF-16 units, so every cut goes through here.

import { element } from "./dom.js";

/** The number of code points. */
export function length(text) {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
}

/** The code points from `start` to `end`. */
export function slice(text, start, end = undefined) {
  return Array.from(text).slice(start, end).join("");
}

/**
 * The text as nodes, with an element around each marked place.
 *
 * `marks` are `{start, end, make}` in code points; `make(text)` gives the element of a part. Where
 * two overlap, the part belongs to the one that comes first in the list.
 */
export function marked(text, marks) {
  const points = Array.from(text);
  const cuts = new Set([0, points.length]);
  for (const { start, end } of marks) {
    cuts.add(Math.min(start, points.length));
    cuts.add(Math.min(end, points.length));
  }
  const places = [...cuts].sort((a, b) => a - b);
  return places.slice(0, -1).map((start, index) => {
    const end = places[index + 1];
    const part = points.slice(start, end).join("");
    const mark = marks.find((item) => item.start <= start && item.end >= end);
    return mark ? mark.make(part) : document.createTextNode(part);
  });
}

/** A mark for `marked`: a `<mark>` of a class. */
export function mark(start, end, name, attributes = {}) {
  return { start, end, make: (text) => element("mark", { class: name, ...attributes }, text) };
}
