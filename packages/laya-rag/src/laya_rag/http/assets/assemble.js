// The text of a document from its passages, by their offsets in it.
//
// Passages may overlap and leave gaps. A passage without redactions is exactly as long as its span;
// one with placeholders is not, and where it overlaps another the joint is found by their words.

import { length, slice } from "./text.js";

/**
 * Parts in order: `{gap: n}` for n characters that no passage holds, `{chunk, text}` for text. The
 * selected passage, if any, is whole, and its neighbours give way.
 *
 * `chunks` are by ordinal. `end` is where the document ends, or null while there may be more.
 */
export function assemble(chunks, selected, end) {
  const parts = [];
  let position = 0;
  for (const [chunk, limit] of inOrder(chunks, selected)) {
    const from = chunk === selected ? chunk.start : Math.max(position, chunk.start);
    const to = Math.min(chunk.end, limit);
    if (to <= from) continue;
    if (from > position) parts.push({ gap: from - position });
    const text = cut(chunk, from, to, parts.at(-1)?.text ?? "", selected);
    if (text !== "") parts.push({ chunk, text });
    position = to;
  }
  if (end !== null && end > position) parts.push({ gap: end - position });
  return parts;
}

/** Each chunk with where it has to end: those before the selected one, that, then all others. */
function inOrder(chunks, selected) {
  const unlimited = chunks.filter((chunk) => chunk !== selected).map((chunk) => [chunk, Infinity]);
  if (selected === null) return unlimited;
  const before = chunks.slice(0, chunks.indexOf(selected));
  return [...before.map((chunk) => [chunk, selected.start]), [selected, Infinity], ...unlimited];
}

/** Whether the text is as long as its span in the document. */
export function isExact(chunk) {
  return length(chunk.text) === chunk.end - chunk.start;
}

function cut(chunk, from, to, before, selected) {
  if (isExact(chunk)) return slice(chunk.text, from - chunk.start, to - chunk.start);
  let { text } = chunk;
  if (from > chunk.start) text = text.slice(overlap(before, text));
  if (to < chunk.end) text = text.slice(0, text.length - overlap(text, selected.text));
  return text;
}

/** How many UTF-16 units at the end of `left` are the beginning of `right`. */
function overlap(left, right) {
  for (let size = Math.min(left.length, right.length); size > 0; size -= 1) {
    if (left.endsWith(right.slice(0, size))) return size;
  }
  return 0;
}
