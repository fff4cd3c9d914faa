"use strict";

// The terms of a text, as `tokenizer.word` with `stem: english` finds them. A test holds both to
// each other.

// Scripts written without spaces: their runs become overlapping pairs of characters.
const UNSPACED =
  ["Han", "Hiragana", "Katakana", "Hangul", "Bopomofo", "Thai", "Lao", "Khmer", "Myanmar"]
    .map((script) => `\\p{Script=${script}}`)
    .join("") + "ー々ﾞﾟ";
const LETTER = `[\\p{L}--[${UNSPACED}]]`;
const ALNUM = `[[\\p{L}\\p{N}]--[${UNSPACED}]]`;
// The first alternative that matches at a place wins.
const TERM = new RegExp(
  [
    `(?:(?<!${ALNUM})v)?\\p{N}+(?:[.,]\\p{N}+)+`, // 3.14  1,200  v1.2.3
    `(?<!${ALNUM}|[_.])\\.${LETTER}{2,15}(?!${ALNUM}|[_.])`, // .net
    `${LETTER}${ALNUM}{0,14}(?:\\+\\+|#)(?!${ALNUM}|[+#])`, // c++  c#
    `[${UNSPACED}][${UNSPACED}\\p{M}]*`,
    `[[\\p{L}\\p{M}\\p{N}]--[${UNSPACED}]]+(?:'(?:t|m|d|re|ve|ll|s)(?![\\p{L}\\p{M}\\p{N}]))?`,
  ].join("|"),
  "gv",
);
const STARTS_UNSPACED = new RegExp(`^[${UNSPACED}]`, "v");
const MARKS = /(?<=[\p{Script=Latin}\p{Script=Greek}])\p{Mn}+/gu;
const THOUSANDS = /^\p{N}{1,3}(?:,\p{N}{3})+(?:\.\p{N}+)?$/u;
const LONGEST = 255;

/** The terms of `text` in reading order; `stop` is a set of words to leave out. */
function tokenize(text, stop) {
  return words(text).filter((word) => !stop.has(word)).map(stem);
}

function words(text) {
  const spelt = text
    .normalize("NFC")
    .replace(/[\u2019\u02bc]/g, "'")
    .replace(/\u00ad/g, "")
    .replace(/[\uff01-\uff5e]/g, (wide) => String.fromCharCode(wide.charCodeAt(0) - 0xfee0));
  const bare = caseFolded(spelt).normalize("NFD").replace(MARKS, "").normalize("NFC");
  return (bare.match(TERM) ?? []).flatMap((term) =>
    /^[a-z0-9]+$/.test(term) ? [term.slice(0, LONGEST)] : special(term),
  );
}

/** Unicode's full case folding, one character at a time, so that no neighbour matters. */
function caseFolded(text) {
  return Array.from(text, (character) => {
    if (character === "ı") return character;
    if (/\p{Script=Cherokee}/u.test(character)) return character.toUpperCase();
    return character.toLowerCase().toUpperCase().toLowerCase();
  }).join("");
}

function special(term) {
  if (STARTS_UNSPACED.test(term)) return pairs(term);
  if (term.startsWith(".") || /[+#]$/.test(term)) {
    return [term, term.replace(/^[.+#]+|[.+#]+$/g, "")];
  }
  if (/[.,]/.test(term)) {
    const number = term.replace(/^v/, "");
    return [cut(THOUSANDS.test(number) ? number.replaceAll(",", "") : number)];
  }
  return [cut(term.replace(/'s$/, ""))];
}

function cut(term) {
  return Array.from(term).slice(0, LONGEST).join("");
}

/** Overlapping pairs of characters, and each ideograph alone. */
function pairs(run) {
  const segmenter = new Intl.Segmenter("en", { granularity: "grapheme" });
  const letters = Array.from(segmenter.segment(run), (part) => part.segment);
  if (letters.length === 1) return letters;
  const overlapping = letters.slice(1).map((letter, place) => letters[place] + letter);
  return overlapping.concat(letters.filter((letter) => /^\p{Script=Han}/u.test(letter)));
}
