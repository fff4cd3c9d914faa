"use strict";

// Snowball's English stemmer, as of Snowball 3 (https://snowballstem.org/algorithms/english/).
// A test holds it to the one that the index is built with, word by word.

const EXCEPTIONS = new Map(
  Object.entries({
    skis: "ski", skies: "sky",
    idly: "idl", gently: "gentl", ugly: "ugli", early: "earli", only: "onli", singly: "singl",
    sky: "sky", news: "news", howe: "howe",
    atlas: "atlas", cosmos: "cosmos", bias: "bias", andes: "andes",
  }),
);
const FIRST_REGION = /^(?:gener|commun|arsen|past|univers|later|emerg|organ|inter)/;
const SHORT_SYLLABLE = /(?:[^aeiouy][aeiouy][^aeiouywxY]|^[aeiouy][^aeiouy]|past)$/;

// By suffix: what it becomes, once it lies in the first region. Longer ones are tried first.
const STEP_2 = suffixes({
  tional: "tion", enci: "ence", anci: "ance", abli: "able", entli: "ent", izer: "ize",
  ization: "ize", ational: "ate", ation: "ate", ator: "ate", alism: "al", aliti: "al",
  alli: "al", fulness: "ful", ousli: "ous", ousness: "ous", iveness: "ive", iviti: "ive",
  biliti: "ble", bli: "ble", ogist: "og", ogi: "og", fulli: "ful", lessli: "less", li: "",
});
const STEP_3 = suffixes({
  tional: "tion", ational: "ate", alize: "al", icate: "ic", iciti: "ic", ical: "ic",
  ful: "", ness: "", ative: "",
});
const STEP_4 = suffixes(
  Object.fromEntries(
    (
      "al ance ence er ic able ible ant ement ment ent ism ate iti ous ive ize ion"
    ).split(" ").map((suffix) => [suffix, ""]),
  ),
);

function suffixes(table) {
  return Object.entries(table).sort(([first], [second]) => second.length - first.length);
}

/** The stem of a lower-case word. */
function stem(word) {
  // A letter beyond 16 bits counts as one, so a stand-in that no word has takes its place.
  const rare = word.match(/[\u{10000}-\u{10ffff}]/gu) ?? [];
  const found = stemmed(rare.reduce((text, letter) => text.replace(letter, "\ue000"), word));
  return rare.reduce((text, letter) => text.replace("\ue000", letter), found);
}

function stemmed(word) {
  if (EXCEPTIONS.has(word)) return EXCEPTIONS.get(word);
  if (word.length < 3) return word;
  // A `y` that is a consonant is written `Y` until the end.
  let rest = word.replace(/^'/, "").replace(/^y/, "Y").replace(/([aeiouy])y/g, "$1Y");
  const first = firstRegion(rest);
  const second = regionAfter(rest, first);
  rest = plural(rest);
  rest = pastOrParticiple(rest, first);
  rest = rest.replace(/(.[^aeiouy])[yY]$/s, "$1i");
  rest = replaced(rest, STEP_2, first, (before, suffix) =>
    suffix === "ogi" ? before.endsWith("l") : suffix !== "li" || /[cdeghkmnrt]$/.test(before),
  );
  rest = replaced(rest, STEP_3, first, (before, suffix) =>
    suffix !== "ative" || before.length >= second,
  );
  rest = replaced(rest, STEP_4, second, (before, suffix) =>
    suffix !== "ion" || /[st]$/.test(before),
  );
  return ending(rest, first, second).replace(/Y/g, "y");
}

function firstRegion(word) {
  const special = FIRST_REGION.exec(word);
  return special ? special[0].length : regionAfter(word, 0);
}

/** Where what follows the first consonant after a vowel begins, from `start` on. */
function regionAfter(word, start) {
  const found = /[aeiouy][^aeiouy]/.exec(word.slice(start));
  return found ? start + found.index + 2 : word.length;
}

function plural(word) {
  const bare = word.replace(/(?:'s'|'s|')$/, "");
  if (bare.endsWith("sses")) return bare.slice(0, -2);
  if (/ie[ds]$/.test(bare)) return bare.slice(0, bare.length > 4 ? -2 : -1);
  if (/[us]s$/.test(bare)) return bare;
  return /[aeiouy].+s$/s.test(bare) ? bare.slice(0, -1) : bare;
}

function pastOrParticiple(word, first) {
  const eed = /eed(?:ly)?$/.exec(word);
  if (eed) {
    const kept = /^(?:proc|exc|succ)eed(?:ly)?$/.test(word) || eed.index < first;
    return kept ? word : word.slice(0, eed.index) + "ee";
  }
  const found = /(?:edly|ingly|ed|ing)$/.exec(word);
  if (!found) return word;
  if (/^[^aeiouy]ying$/.test(word)) return word.slice(0, -4) + "ie";
  if (/^(?:inn|out|cann|herr|earr|even)ing$/.test(word)) return word;
  const before = word.slice(0, found.index);
  if (!/[aeiouy]/.test(before)) return word;
  if (/(?:at|bl|iz)$/.test(before)) return before + "e";
  if (/(bb|dd|ff|gg|mm|nn|pp|rr|tt)$/.test(before)) {
    return /^[aeo]..$/.test(before) ? before : before.slice(0, -1);
  }
  return before.length === first && SHORT_SYLLABLE.test(before) ? before + "e" : before;
}

/** The longest suffix of `table` replaced, if it begins in the region and `allowed` agrees. */
function replaced(word, table, region, allowed) {
  const found = table.find(([suffix]) => word.endsWith(suffix));
  if (!found) return word;
  const before = word.slice(0, -found[0].length);
  return before.length >= region && allowed(before, found[0]) ? before + found[1] : word;
}

function ending(word, first, second) {
  const before = word.slice(0, -1);
  if (word.endsWith("e")) {
    const goes =
      before.length >= second || (before.length >= first && !SHORT_SYLLABLE.test(before));
    return goes ? before : word;
  }
  return word.endsWith("ll") && before.length >= second ? before : word;
}
