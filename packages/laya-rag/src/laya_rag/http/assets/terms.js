// Where words of the question stand in a passage. A reading aid: no leg searched like this.

import { mark } from "./text.js";

const IGNORED = new Set(
  (
    "a an and are as at be by can did do does for from has have how in is it its of on or that the " +
    "their there this to was were what when where which who why will with " +
    "aber als am an auf aus bei das dem den der des die ein eine einem einen einer es für hat ich " +
    "im in ist mit nach oder sich sie sind und von vom war was welche welcher welches wer werden " +
    "wie wird wo zu zum zur"
  ).split(" "),
);

const segmenter = new Intl.Segmenter(undefined, { granularity: "word" });

/** Marks for `text.marked` on each word that is one of the question's, or nearly so. */
export function termMarks(text, query) {
  const wanted = [...new Set([...words(query)].map(({ word }) => word))].filter(
    (word) => !IGNORED.has(word),
  );
  if (wanted.length === 0) return [];
  const found = [];
  for (const { word, start, end } of words(text)) {
    if (wanted.some((term) => alike(term, word))) found.push(mark(start, end, "term"));
  }
  return found;
}

/** The words with their places in code points. */
function* words(text) {
  let point = 0;
  for (const { segment, isWordLike } of segmenter.segment(text)) {
    const size = Array.from(segment).length;
    if (isWordLike) {
      yield { word: segment.toLowerCase(), start: point, end: point + size };
    }
    point += size;
  }
}

/** Equal, or of the same beginning but for an ending of up to three letters. */
function alike(term, word) {
  if (term === word) return true;
  const [short, long] = term.length < word.length ? [term, word] : [word, term];
  return short.length >= 4 && long.length - short.length <= 3 && long.startsWith(short);
}
