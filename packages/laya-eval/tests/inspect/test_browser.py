"""The page in a real Chromium, from a server and from a folder."""

from __future__ import annotations

import functools
import json
import random
import re
import shutil
import threading
import unicodedata
from collections.abc import Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import laya_mini
import pytest
import Stemmer
from laya_eval.inspect.ranking import Ranker
from laya_rag.testing_page import FAINT, FAULTS
from laya_signals.tokenize.stopwords import ENGLISH
from laya_signals.tokenize.word import WordTokenizer

pytestmark = pytest.mark.slow
playwright = pytest.importorskip(
    "playwright.sync_api", reason="needs the dependency group `browser`"
)
CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)

SUFFIXES = (
    "s es ed ing ly ies ied eed eedly edly ingly ational ation ator izer ization alism aliti alli "
    "fulness ousli ousness iveness iviti biliti ogist ogi logi fulli lessli li ative alize icate "
    "iciti ical ful ness al ance ence er ic able ible ant ement ment ent ism ate iti ous ive ize "
    "ion e l ll y ys ying 's"
).split()
AWKWARD = "abvxyzAS 01239.,_+#'’-\u00adéßﬁİıΣςK漢字ひらカー々ไทยლაᏣ\u0301\u200d"


@pytest.fixture(scope="module")
def browser() -> Iterator[playwright.Browser]:
    assert CHROMIUM, "this test needs Chromium on the PATH; the system's packages have it"
    with playwright.sync_playwright() as started:
        # A container's root has no sandbox to start.
        opened = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield opened
        opened.close()


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *args: object) -> None:
        """Leave the test's output alone."""


@pytest.fixture
def origin(site: Path) -> Iterator[str]:
    server = ThreadingHTTPServer(
        ("127.0.0.1", 0), functools.partial(Quiet, directory=str(site.resolve()))
    )
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture(params=["server", "folder"])
def address(request: pytest.FixtureRequest, site: Path) -> str:
    """The page's address, from a loopback server or as a file."""
    if request.param == "folder":
        return (site.resolve() / "index.html").as_uri()
    return request.getfixturevalue("origin") + "/index.html"


class Visit:
    """A page, and everything that it complained about or asked for."""

    def __init__(self, browser: playwright.Browser, address: str, **context: object) -> None:
        settings = {"locale": "en-GB", "reduced_motion": "reduce", **context}
        self.context = browser.new_context(**settings)
        self.page = self.context.new_page()
        self.complaints: list[str] = []
        self.requests: list[str] = []
        self.page.on("console", lambda message: self.complaints.append(message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("requestfailed", lambda request: self.complaints.append(request.url))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.goto(address)

    def text(self, selector: str) -> str:
        return self.page.locator(selector).inner_text()

    def titles(self) -> list[str]:
        return self.page.locator(".hits h4 > span[lang=en]").all_inner_texts()


@pytest.fixture
def visit(browser: playwright.Browser, address: str) -> Iterator[Visit]:
    visit = Visit(browser, address)
    yield visit
    visit.context.close()
    assert visit.complaints == []
    base = address.removesuffix("index.html")
    assert all(url.startswith(base) for url in visit.requests), visit.requests


def title(collection, name):
    return next(row.title for row in collection.paragraphs if row.id == name)


def test_every_saved_query_is_recomputed_and_agrees(visit, collection, vectors):
    ranker = Ranker(collection, vectors)
    for query in collection.queries:
        visit.page.locator(f"[data-query='{query.id}']").first.click()
        assert visit.text("#result-heading") == query.text
        assert visit.page.locator("[data-verdict=agrees]").count() == 1
        top = ranker.trace(query.text, query.id).top
        assert visit.titles() == [title(collection, name) for name in top]


def test_a_number_that_was_tampered_with_is_pointed_out(browser, collection, site):
    data = (site / "data.js").read_text()
    number = re.search(r'"score": (\d)\.\d+', data[data.index('"questions"') :])
    (site / "data.js").write_text(data.replace(number[0], '"score": 0.5'))
    visit = Visit(browser, (site.resolve() / "index.html").as_uri())
    assert visit.page.locator("[data-verdict=differs]").count() == 1
    visit.context.close()


def test_answers_are_shown_or_withheld(visit, collection):
    for name, answer in collection.answers.items():
        visit.page.locator(f"[data-query='{name}']").click()
        said = visit.text("#result")
        for sentence in answer.sentences:
            assert (sentence.text in said) == (name != "wind")
        assert visit.page.locator(".withheld").count() == (name == "wind")
    assert "How the ferry is powered (fused rank 7)" in visit.text(".withheld")
    assert visit.page.locator(".hits h4 >> text=How the ferry is powered").count() == 0


def test_a_typed_question_is_searched_by_bm25_alone_and_says_so(visit, collection, vectors):
    for text in ("When is the museum closed?", collection.questions[0].text, "naïve Ferry’s CAFÉ"):
        visit.page.get_by_label("A question of your own").fill(text)
        visit.page.keyboard.press("Enter")
        assert "BM25 only: this question has no saved vector" in visit.text("#result")
        trace = Ranker(collection, vectors).trace(text)
        assert visit.titles() == [title(collection, name) for name in trace.top]
        assert visit.page.locator("#result .dense").count() == 0
        assert "There is no written answer" in visit.text("#result")
        mine = visit.page.evaluate("text => rank(text, null)", text)
        assert [(hit["id"], pytest.approx(hit["score"])) for hit in mine["bm25"]] == [
            (hit.id, hit.score) for hit in trace.bm25
        ]
    visit.page.get_by_label("A question of your own").fill("Zeppelin <b>volcano</b>")
    visit.page.get_by_role("button", name="Search").click()
    assert "No word of the question is in the corpus" in visit.text("#result")
    assert visit.text("#result-heading") == "Zeppelin <b>volcano</b>"


def test_numbers_open_down_to_term_weights_and_vector_hashes(visit, collection, vectors):
    visit.page.locator("#result summary").first.click()
    opened = visit.text(".hits > li:first-child details")
    question = collection.questions[0]
    hit = Ranker(collection, vectors).trace(question.text, question.id).bm25[0]
    for term in hit.terms:
        assert f"{term.weight:.6f}" in opened
        assert f"{term.saturation:.6f}" in opened
    assert f"BM25: {hit.score:.6f}" in opened
    assert vectors.queries[question.id].sha256 in opened
    assert vectors.documents[hit.id].sha256 in opened
    assert vectors.encoder["fingerprint"] in opened
    assert vectors.encoder["files"]["model.onnx"] in visit.text("#provenance")


def test_the_language_changes_everything_but_the_corpus_and_is_remembered(visit):
    english = visit.page.evaluate("Object.keys(MESSAGES.en)")
    assert english == visit.page.evaluate("Object.keys(MESSAGES.de)")
    fields = "table => Object.values(table).map(text => text.match(/\\{\\w+\\}/g)?.sort() ?? [])"
    assert visit.page.evaluate(f"({fields})(MESSAGES.en)") == visit.page.evaluate(
        f"({fields})(MESSAGES.de)"
    )
    titles = visit.titles()
    visit.page.get_by_role("button", name="Deutsch").click()
    for _ in range(2):
        assert visit.page.locator("html").get_attribute("lang") == "de"
        assert visit.page.title() == visit.text("h1") == "Suche, die man nachrechnen kann"
        assert (
            visit.page.get_by_role("button", name="Deutsch").get_attribute("aria-pressed") == "true"
        )
        assert "Antwort" in visit.text(".answer h3")
        assert "0,032787" in visit.text(".hits > li:first-child")
        assert visit.titles() == titles
        assert "undefined" not in visit.text("body")
        visit.page.reload()
    visit.page.get_by_role("button", name="English").click()
    assert visit.page.locator("html").get_attribute("lang") == "en"
    assert "undefined" not in visit.text("body")


def test_a_reader_of_german_gets_german_first(browser, address):
    visit = Visit(browser, address, locale="de-AT")
    assert visit.page.locator("html").get_attribute("lang") == "de"
    visit.context.close()


def test_the_page_works_where_storage_is_forbidden(browser, address):
    visit = Visit(browser, "about:blank")
    visit.page.add_init_script(
        "Object.defineProperty(window, 'localStorage', {get() { throw new Error('no'); }})"
    )
    visit.page.goto(address)
    visit.page.get_by_role("button", name="Deutsch").click()
    assert visit.page.locator("html").get_attribute("lang") == "de"
    assert visit.complaints == []
    visit.context.close()


def test_everything_can_be_reached_and_used_by_keyboard(visit):
    focused = "() => document.activeElement.outerHTML.slice(0, 200)"
    page = visit.page
    page.keyboard.press("Tab")
    assert 'class="skip"' in page.evaluate(focused)
    seen = []
    for _ in range(14):
        page.keyboard.press("Tab")
        seen.append(page.evaluate(focused))
        outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
        assert outline != "none", seen[-1]
    assert sum("data-language" in html for html in seen) == 2
    assert sum("data-query" in html for html in seen) == 4
    assert any('id="query"' in html for html in seen)
    page.locator("[data-query=bread]").focus()
    page.keyboard.press("Enter")
    assert visit.text("#result-heading").startswith("Which flour")
    assert page.evaluate("document.activeElement.id") == "result"
    assert "Which flour" in page.locator("[role=status]").inner_text()
    page.locator("#result summary").first.focus()
    page.keyboard.press("Space")
    assert page.locator("#result details").first.get_attribute("open") is not None


def test_what_a_screen_reader_needs_is_there(visit):
    assert visit.page.evaluate(FAULTS) == []
    dead = visit.page.evaluate("""() =>
      [...document.querySelectorAll("a[href^='#']")].map((node) => node.getAttribute("href"))
        .filter((target) => !document.querySelector(target))
    """)
    assert dead == []
    roles = visit.page.evaluate(
        "document.querySelectorAll('main, header, nav, [role=search]').length"
    )
    assert roles == 4


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_stands_out_from_its_background(browser, address, scheme):
    visit = Visit(browser, address, color_scheme=scheme)
    for name in ("wind", "ticket"):
        visit.page.locator(f"[data-query={name}]").click()
        visit.page.locator("#result summary").first.click()
        assert visit.page.evaluate(FAINT) == []
    visit.context.close()


@pytest.mark.parametrize("language", ["English", "Deutsch"])
def test_a_phone_needs_no_sideways_scrolling(browser, address, language):
    visit = Visit(browser, address, viewport={"width": 320, "height": 640}, has_touch=True)
    visit.page.get_by_role("button", name=language).click()
    for name in ("ticket", "wind"):
        visit.page.locator(f"[data-query={name}]").click()
        for summary in visit.page.locator("summary").all():
            summary.click()
        widths = visit.page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
        assert widths[0] <= widths[1] == 320
        visit.page.locator("#ask").scroll_into_view_if_needed()
    visit.context.close()


def test_it_may_be_served_with_a_strict_policy(browser, site):
    class Strict(Quiet):
        def end_headers(self) -> None:
            self.send_header("Content-Security-Policy", "default-src 'self'; object-src 'none'")
            self.send_header("X-Content-Type-Options", "nosniff")
            super().end_headers()

    server = ThreadingHTTPServer(
        ("127.0.0.1", 0), functools.partial(Strict, directory=str(site.resolve()))
    )
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        visit = Visit(browser, f"http://127.0.0.1:{server.server_port}/")
        assert visit.page.locator("[data-verdict=agrees]").count() == 1
        assert visit.complaints == []
        visit.context.close()
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def differing(visit: Visit, function: str, inputs: list[str], wanted: list[object]) -> list[object]:
    got = visit.page.evaluate(f"inputs => inputs.map({function})", inputs)
    return [row for row in zip(inputs, got, wanted, strict=True) if row[1] != row[2]]


@pytest.fixture
def scripts(browser, site):
    visit = Visit(browser, (site.resolve() / "index.html").as_uri())
    yield visit
    visit.context.close()


def test_the_pages_stemmer_is_the_one_of_the_index(scripts, collection):
    vocabulary = laya_mini.data_folder() / "encoder" / "tokenizer.json"
    pieces = json.loads(vocabulary.read_text(encoding="utf-8"))["model"]["vocab"]
    words = [piece for piece in pieces if re.fullmatch("[a-z]+", piece)]
    draw = random.Random(1)
    words += [root + suffix for root in draw.sample(words, 1500) for suffix in SUFFIXES]
    words += [
        "".join(draw.choices("aeiouybdglnrstp", k=draw.randint(1, 9))) + draw.choice(SUFFIXES)
        for _ in range(40_000)
    ]
    words += (
        "past pasted dying ying proceed exceedeed innings skis andes ''s y yyy e𐐷e 𐐷ied".split()
    )
    words = sorted(set(words))
    assert len(words) > 100_000
    wanted = Stemmer.Stemmer("english").stemWords(words)
    assert differing(scripts, "word => stem(word)", words, wanted) == []


def test_the_page_folds_every_character_as_the_index_does(scripts):
    assigned = [
        chr(code) for code in range(0x110000) if unicodedata.category(chr(code)) not in ("Cn", "Cs")
    ]
    wanted = [character.casefold() for character in assigned]
    assert differing(scripts, "caseFolded", assigned, wanted) == []


def test_the_pages_tokenizer_is_the_one_of_the_index(scripts, collection):
    tokenizer = WordTokenizer(stem="english", stop_words="english")
    characters = [
        chr(code)
        for code in range(0x110000)
        if unicodedata.category(chr(code)) not in ("Cn", "Cs", "Co", "Cc")
    ]
    draw = random.Random(2)
    texts = [
        "".join(
            draw.choice(AWKWARD if draw.random() < 0.85 else characters)
            for _ in range(draw.randint(1, 25))
        )
        for _ in range(6000)
    ]
    texts += ["".join(draw.choices(characters, k=8)) for _ in range(3000)]
    texts += ["I'm sure John's C++ and .net v1.2.3 cost 1,200.50, naïve snake_case covid-19 don't"]
    texts += [query.text for query in collection.queries]
    texts += [part for row in collection.paragraphs for part in (row.title, row.text)]
    assert set(scripts.page.evaluate("STOP_WORDS")) == ENGLISH
    wanted = [tokenizer.tokenize(text) for text in texts]
    assert differing(scripts, "text => tokenize(text, stopWords)", texts, wanted) == []


def test_paragraphs_are_counted_in_the_page_as_in_the_report(scripts):
    assert scripts.page.evaluate("""() => REPORT.paragraphs.every((paragraph) => {
      const counts = {};
      for (const [text, weight] of [
        [paragraph.text, 1],
        [paragraph.title, REPORT.bm25.title_weight],
      ]) {
        for (const term of tokenize(text, stopWords)) counts[term] = (counts[term] ?? 0) + weight;
      }
      return agrees(counts, paragraph.frequencies);
    })""")
