"use strict";

// The rankings of a query, computed here from the report's term counts and the saved vectors, in
// the shape in which the report has them.

const documentFrequencies = new Map();
for (const paragraph of REPORT.paragraphs) {
  for (const term of Object.keys(paragraph.frequencies)) {
    documentFrequencies.set(term, (documentFrequencies.get(term) ?? 0) + 1);
  }
}
const stopWords = new Set(STOP_WORDS);

/** The rankings of `text`; `query` is the id of its saved vector, null when there is none. */
function rank(text, query) {
  const terms = queryTerms(text);
  const bm25 = lexicalLeg(terms);
  const dense = query === null ? null : denseLeg(query);
  const legs = dense === null ? { bm25 } : { bm25, dense };
  return { terms, bm25, dense, fused: fuse(legs) };
}

function queryTerms(text) {
  const counts = new Map();
  for (const term of tokenize(text, stopWords)) counts.set(term, (counts.get(term) ?? 0) + 1);
  const total = REPORT.paragraphs.length;
  return [...counts.keys()].sort(byCodePoint).map((term) => {
    const frequency = documentFrequencies.get(term) ?? 0;
    const idf = frequency ? Math.log1p((total - frequency + 0.5) / (frequency + 0.5)) : 0;
    return { term, count: counts.get(term), document_frequency: frequency, idf };
  });
}

function lexicalLeg(terms) {
  const { k1, b, average_length: average } = REPORT.bm25;
  const hits = [];
  for (const paragraph of REPORT.paragraphs) {
    const parts = [];
    for (const { term, count, idf } of terms) {
      const frequency = Object.hasOwn(paragraph.frequencies, term)
        ? paragraph.frequencies[term]
        : 0;
      if (!frequency) continue;
      const norm = 1 - b + b * (paragraph.length / average);
      const saturation = (frequency * (k1 + 1)) / (frequency + k1 * norm);
      parts.push({ term, frequency, saturation, weight: count * idf * saturation });
    }
    const score = parts.reduce((sum, part) => sum + part.weight, 0);
    if (parts.length) hits.push({ id: paragraph.id, score, terms: parts });
  }
  return best(hits);
}

function denseLeg(query) {
  const wanted = components(VECTORS.queries[query]);
  return best(
    REPORT.paragraphs.map(({ id }) => {
      const values = components(VECTORS.documents[id]);
      return { id, score: values.reduce((sum, value, place) => sum + value * wanted[place], 0) };
    }),
  );
}

/** The little-endian float32 components of a saved vector. */
function components(vector) {
  const bytes = Uint8Array.from(atob(vector.float32), (character) => character.charCodeAt(0));
  const view = new DataView(bytes.buffer);
  return Array.from({ length: bytes.length / 4 }, (_, place) => view.getFloat32(4 * place, true));
}

function fuse(legs) {
  const found = new Map();
  for (const [leg, hits] of Object.entries(legs)) {
    for (const { id, rank, score } of hits) {
      const contribution = 1 / (REPORT.fusion.k + rank);
      const hit = found.get(id) ?? { id, score: 0, contributions: [] };
      hit.score += contribution;
      hit.contributions.push({ leg, rank, score, contribution });
      found.set(id, hit);
    }
  }
  return ordered([...found.values()]);
}

function best(hits) {
  return ordered(hits).slice(0, REPORT.fusion.depth);
}

/** By descending score, ties by id, with ranks from 1. */
function ordered(hits) {
  return hits
    .sort((first, second) => second.score - first.score || byCodePoint(first.id, second.id))
    .map((hit, place) => ({ rank: place + 1, ...hit }));
}

function byCodePoint(first, second) {
  const [left, right] = [Array.from(first), Array.from(second)];
  const place = left.findIndex((character, index) => character !== right[index]);
  if (place < 0) return left.length - right.length;
  return place < right.length ? left[place].codePointAt(0) - right[place].codePointAt(0) : 1;
}

/** Whether two traces have the same structure, and numbers that differ by rounding only. */
function agrees(mine, other) {
  if (typeof mine === "number" && typeof other === "number") return Math.abs(mine - other) < 1e-8;
  if (mine === null || other === null || typeof mine !== "object" || typeof other !== "object") {
    return mine === other;
  }
  const keys = Object.keys(mine).filter((key) => mine[key] !== undefined);
  return (
    Array.isArray(mine) === Array.isArray(other) &&
    keys.length === Object.keys(other).length &&
    keys.every((key) => Object.hasOwn(other, key) && agrees(mine[key], other[key]))
  );
}
