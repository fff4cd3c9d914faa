"use strict";

const LANGUAGE_KEY = "laya-inspect-language";
const LEGS = { bm25: "BM25", dense: "vectors", fused: "fused" };
const paragraphs = new Map(REPORT.paragraphs.map((paragraph) => [paragraph.id, paragraph]));
const saved = new Map(
  [...REPORT.questions, ...REPORT.evaluation.queries].map((query) => [query.id, query]),
);

let language = rememberedLanguage();
// What is shown: the id of a saved query, or a text that was typed.
let shown = { id: REPORT.questions[0].id };

// ---- Language ----

function rememberedLanguage() {
  const wanted = storage()?.getItem(LANGUAGE_KEY) ?? navigator.language.slice(0, 2);
  return Object.hasOwn(MESSAGES, wanted) ? wanted : "en";
}

/** The browser's storage, null where a page that was opened from a folder may not have any. */
function storage() {
  try {
    return globalThis.localStorage;
  } catch {
    return null;
  }
}

function say(key, values = {}) {
  return MESSAGES[language][key].replace(/\{(\w+)\}/g, (_, name) => values[name]);
}

function number(value, digits) {
  return new Intl.NumberFormat(language, {
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  }).format(value);
}

function plain(value) {
  return new Intl.NumberFormat(language, { maximumFractionDigits: 4 }).format(value);
}

function legName(leg) {
  return leg === "bm25" ? LEGS.bm25 : say(LEGS[leg]);
}

// ---- Elements ----

/** An element; `attributes` with a function listen, the others are set; strings become text. */
function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") made.addEventListener(name, value);
    else if (value !== false) made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children.flat(Infinity).filter((child) => child !== null));
  return made;
}

function heading(level, text, id) {
  return element(`h${level}`, id ? { id } : {}, text);
}

function english(text, tag = "span") {
  return element(tag, { lang: "en" }, text);
}

function titleOf(id) {
  return english(paragraphs.get(id).title);
}

/** A table with a header; a cell is a node, or a number that is already written. */
function table(caption, header, rows, footer = null) {
  const cells = (row) =>
    row.map((cell, place) => {
      const tag = place === 0 ? "th" : "td";
      const kind = place === 0 ? { scope: "row" } : {};
      return typeof cell === "string"
        ? element(tag, { ...kind, class: "number" }, cell)
        : element(tag, kind, cell);
    });
  const numeric = (place) => rows.length > 0 && typeof rows[0][place] === "string";
  return element(
    "div",
    { class: "scroll", tabindex: "0", role: "region", "aria-label": caption },
    element(
      "table",
      {},
      element("caption", { class: "visually-hidden" }, caption),
      element(
        "thead",
        {},
        element(
          "tr",
          {},
          header.map((text, place) =>
            element("th", { scope: "col", class: numeric(place) ? "number" : false }, text),
          ),
        ),
      ),
      element("tbody", {}, rows.map((row) => element("tr", {}, cells(row)))),
      footer ? element("tfoot", {}, element("tr", {}, cells(footer))) : null,
    ),
  );
}

// ---- Result ----

function drawResult() {
  const query = shown.id === undefined ? null : saved.get(shown.id);
  const text = query ? query.text : shown.text;
  const mine = rank(text, query ? query.id : null);
  const trace = query ?? mine;
  document.getElementById("result").replaceChildren(
    element("h2", { id: "result-heading", lang: "en" }, text),
    element("p", { class: "note" }, say(query ? "bothLegs" : "oneLeg")),
    query ? verdict(query, mine) : element("p", { class: "note" }, say("notCompared")),
    ...(trace.fused.length ? found(query, trace) : [card("withheld", "", say("nothing"))]),
    heading(3, say("termsHeading")),
    element("p", { class: "note" }, say("termsNote", { documents: REPORT.paragraphs.length })),
    table(
      say("termsHeading"),
      [say("term"), say("count"), say("df"), say("idf")],
      trace.terms.map((term) => [
        english(term.term, "code"),
        String(term.count),
        term.document_frequency ? String(term.document_frequency) : say("unknown"),
        term.document_frequency ? number(term.idf, 4) : "–",
      ]),
    ),
  );
  for (const button of document.querySelectorAll("[data-query]")) {
    button.setAttribute("aria-pressed", String(button.dataset.query === shown.id));
  }
}

function verdict(query, mine) {
  const { terms, bm25, dense, fused } = query;
  return agrees(mine, { terms, bm25, dense, fused })
    ? element("p", { class: "note agrees", "data-verdict": "agrees" }, `✓ ${say("agrees")}`)
    : element("p", { class: "card differs", "data-verdict": "differs" }, `✗ ${say("differs")}`);
}

function found(query, trace) {
  const { top, k, depth } = REPORT.fusion;
  return [
    query ? (query.answer ? answer(query.answer, trace) : label(query)) : null,
    query ? null : element("p", { class: "note" }, say("noAnswer")),
    heading(3, say("topHeading", { top: Math.min(top, trace.fused.length) })),
    element("ol", { class: "hits" }, trace.fused.slice(0, top).map((hit) => place(hit, query, trace))),
    heading(3, say("legsHeading")),
    element(
      "div",
      { class: "legs" },
      legTable("bm25", say("score"), trace.bm25),
      trace.dense ? legTable("dense", say("cosine"), trace.dense) : null,
    ),
    heading(3, say("fusedHeading")),
    element("p", { class: "note" }, say("fusedNote", { k, depth, top })),
    table(
      say("fusedHeading"),
      [say("rank"), say("paragraph"), "BM25", say("vectors"), "Σ"],
      trace.fused.map((hit) => [
        String(hit.rank),
        titleOf(hit.id),
        share(hit, "bm25"),
        share(hit, "dense"),
        number(hit.score, 6),
      ]),
    ),
  ].filter((part) => part !== null);
}

function card(kind, title, ...content) {
  return element("div", { class: `card ${kind}` }, title ? heading(3, title) : null, ...content);
}

/** A written answer, if every paragraph that it needs is among those at the top of this page. */
function answer(written, trace) {
  const { top } = REPORT.fusion;
  const at = new Map(trace.fused.map((hit) => [hit.id, hit.rank]));
  const lacking = written.needs.filter((id) => !(at.get(id) <= top));
  if (written.shown && !lacking.length) {
    return card(
      "answer",
      say("answer"),
      element(
        "p",
        { lang: "en" },
        written.sentences.map((sentence) => [
          `${sentence.text} `,
          element("a", { href: `#hit-${sentence.paragraph}` }, `[${at.get(sentence.paragraph)}]`),
          " ",
        ]).flat(),
      ),
      element("p", { class: "note" }, say("answerNote", { top })),
    );
  }
  return card(
    "withheld",
    say("withheld"),
    element("p", {}, say("withheldNote", { top })),
    lacking.map((id) => {
      const where = at.has(id) ? say("outOf", { rank: at.get(id) }) : say("notRetrieved");
      return element("p", {}, say("lacking", { titles: "" }), titleOf(id), ` (${where})`);
    }),
  );
}

function label(query) {
  const ranks = Object.fromEntries(
    Object.entries(query.ranks).map(([channel, rank]) => [
      channel,
      rank ? say("rankIs", { rank }) : say("absent", { top: REPORT.fusion.top }),
    ]),
  );
  const title = paragraphs.get(query.paragraph).title;
  return card("", say("label"), element("p", {}, say("labelNote", { title, ...ranks })));
}

function place(hit, query, trace) {
  const paragraph = paragraphs.get(hit.id);
  const { k, depth } = REPORT.fusion;
  const parts = ["bm25", ...(trace.dense ? ["dense"] : [])].map((leg) => {
    const part = hit.contributions.find((one) => one.leg === leg);
    const said = part
      ? say("fromLeg", { leg: legName(leg), rank: part.rank, k, share: number(part.contribution, 6) })
      : say("notInLeg", { depth, leg: legName(leg) });
    return [element("span", { class: leg }, said), " · "];
  });
  return element(
    "li",
    { id: `hit-${hit.id}` },
    element("span", { class: "place", "aria-label": say("rankIs", { rank: hit.rank }) }, String(hit.rank)),
    element(
      "div",
      {},
      element("h4", {}, titleOf(hit.id)),
      english(paragraph.text, "p"),
      element("p", { class: "sum" }, parts.flat(), element("strong", {}, say("total", { score: number(hit.score, 6) }))),
      element(
        "details",
        {},
        element("summary", {}, say("open")),
        lexical(paragraph, trace),
        query ? semantic(paragraph, query) : null,
      ),
    ),
  );
}

function lexical(paragraph, trace) {
  const hit = trace.bm25.find((one) => one.id === paragraph.id);
  const { k1, b, title_weight: weight, average_length: average } = REPORT.bm25;
  if (!hit) {
    return element("p", { class: "note" }, `BM25: ${say("notInLeg", { depth: REPORT.fusion.depth, leg: "BM25" })}`);
  }
  const terms = new Map(trace.terms.map((term) => [term.term, term]));
  return element(
    "div",
    {},
    element("h4", { class: "bm25" }, say("words", { score: number(hit.score, 6) })),
    element(
      "p",
      { class: "note" },
      say("wordsNote", {
        length: paragraph.length,
        weight,
        average: plain(average),
        b: plain(b),
        k1: plain(k1),
        norm: number(paragraph.length_norm, 6),
      }),
    ),
    table(
      say("words", { score: "" }) + paragraph.title,
      [say("term"), say("count"), say("tf"), say("df"), say("idf"), say("saturation"), say("weight")],
      hit.terms.map((part) => {
        const term = terms.get(part.term);
        return [
          english(part.term, "code"),
          String(term.count),
          String(part.frequency),
          String(term.document_frequency),
          number(term.idf, 6),
          number(part.saturation, 6),
          number(part.weight, 6),
        ];
      }),
      [element("span", {}, say("sum")), "", "", "", "", "", number(hit.score, 6)],
    ),
  );
}

function semantic(paragraph, query) {
  const hit = query.dense.find((one) => one.id === paragraph.id);
  const from = (name, { input_sha256: input, vector_sha256: vector }) => [
    element("dt", {}, name),
    element("dd", {}, "SHA-256 ", element("code", {}, vector), ` ${say("ofText")} `, element("code", {}, input)),
  ];
  return element(
    "div",
    {},
    element("h4", { class: "dense" }, say("meaning", {
      score: hit ? number(hit.score, 6) : say("notInLeg", { depth: REPORT.fusion.depth, leg: say("vectors") }),
    })),
    element("p", { class: "note" }, say("meaningNote", { dimension: REPORT.dense.dimension })),
    element(
      "dl",
      {},
      from(say("queryVector"), query),
      from(say("documentVector"), paragraph),
      element("dt", {}, say("encoder")),
      element("dd", {}, element("code", {}, `${REPORT.dense.provider} ${REPORT.dense.fingerprint}`)),
    ),
  );
}

function legTable(leg, measure, hits) {
  return element(
    "div",
    {},
    element("h4", { class: leg }, legName(leg)),
    table(
      legName(leg),
      [say("rank"), say("paragraph"), measure],
      hits.map((hit) => [String(hit.rank), titleOf(hit.id), number(hit.score, 6)]),
    ),
  );
}

function share(hit, leg) {
  const part = hit.contributions.find((one) => one.leg === leg);
  return part ? `1/(${REPORT.fusion.k} + ${part.rank})` : "–";
}

// ---- The other sections ----

function drawEvaluation() {
  const { means, queries } = REPORT.evaluation;
  const channels = Object.keys(means);
  const measures = Object.keys(means.bm25);
  const rankOf = (query, channel) => (query.ranks[channel] ? String(query.ranks[channel]) : "–");
  document.getElementById("evaluation").replaceChildren(
    heading(2, say("evaluation"), "evaluation-heading"),
    element("p", {}, say("evaluationNote", { queries: queries.length })),
    table(
      say("evaluation"),
      [say("channel"), ...measures],
      channels.map((channel) => [
        element("span", {}, legName(channel)),
        ...measures.map((name) => number(means[channel][name], 3)),
      ]),
    ),
    heading(3, say("ranksHeading")),
    table(
      say("ranksHeading"),
      [say("question"), ...channels.map(legName), say("paragraph")],
      queries.map((query) => [
        queryButton(query),
        ...channels.map((channel) => rankOf(query, channel)),
        titleOf(query.paragraph),
      ]),
    ),
  );
}

function drawProvenance() {
  const { bm25, dense, fusion, stack, sources } = REPORT;
  const row = (name, ...content) => [element("dt", {}, name), element("dd", {}, ...content)];
  const code = (text) => element("code", {}, text);
  const hashes = (files) => Object.entries(files).map(([name, digest]) => row(name, code(digest)));
  document.getElementById("provenance").replaceChildren(
    heading(2, say("provenance"), "provenance-heading"),
    element(
      "div",
      { class: "card" },
      heading(3, say("settings")),
      element(
        "dl",
        {},
        row("BM25", `k1 ${plain(bm25.k1)}, b ${plain(bm25.b)}, ${say("titleTimes", { weight: bm25.title_weight })}`),
        row(say("tokenizer"), code(`${bm25.tokenizer.provider} ${JSON.stringify(bm25.tokenizer.config)}`)),
        row(say("fingerprint"), code(bm25.tokenizer.fingerprint)),
        row(say("encoder"), code(dense.provider), " ", say("pooling", { tokens: dense.max_tokens })),
        row(say("fingerprint"), code(dense.fingerprint)),
        row(say("fusedHeading"), say("fusedNote", fusion)),
        row(say("stack"), code(`${stack.name} ${stack.hash}`)),
      ),
      heading(3, say("modelFiles")),
      element("dl", {}, hashes(dense.files)),
      heading(3, say("sources")),
      element("dl", {}, hashes(sources)),
      element(
        "p",
        {},
        `${say("reproduce")} `,
        element("a", { href: "report.md" }, "report.md"),
        ", ",
        element("a", { href: "report.json" }, "report.json"),
        ".",
      ),
    ),
  );
}

function drawCorpus() {
  document.getElementById("corpus").replaceChildren(
    heading(2, say("corpus"), "corpus-heading"),
    ...REPORT.paragraphs.map((paragraph) =>
      element(
        "details",
        {},
        element("summary", {}, titleOf(paragraph.id)),
        english(paragraph.text, "p"),
        element("p", { class: "note" }, element("code", {}, paragraph.id)),
      ),
    ),
  );
}

function queryButton(query) {
  return element(
    "button",
    { type: "button", lang: "en", "data-query": query.id, click: () => choose({ id: query.id }) },
    query.text,
  );
}

// ---- The page ----

function choose(next) {
  shown = next;
  drawResult();
  const text = shown.id === undefined ? shown.text : saved.get(shown.id).text;
  document.getElementById("status").textContent = say("chosen", { text });
  document.getElementById("result").focus({ preventScroll: true });
  document.getElementById("result").scrollIntoView();
}

function draw() {
  document.documentElement.lang = language;
  document.title = say("title");
  for (const node of document.querySelectorAll("[data-i18n]")) {
    node.textContent = say(node.dataset.i18n);
  }
  for (const node of document.querySelectorAll("[data-i18n-label]")) {
    node.setAttribute("aria-label", say(node.dataset.i18nLabel));
  }
  for (const button of document.querySelectorAll("[data-language]")) {
    button.setAttribute("aria-pressed", String(button.dataset.language === language));
  }
  drawEvaluation();
  drawProvenance();
  drawCorpus();
  drawResult();
}

document.getElementById("examples").append(...REPORT.questions.map(queryButton));
document.getElementById("search").addEventListener("submit", (event) => {
  event.preventDefault();
  const text = document.getElementById("query").value.trim();
  if (text) choose({ text });
});
for (const button of document.querySelectorAll("[data-language]")) {
  button.addEventListener("click", () => {
    language = button.dataset.language;
    draw();
    storage()?.setItem(LANGUAGE_KEY, language);
  });
}
draw();
