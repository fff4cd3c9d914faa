import pickle
import unicodedata

import pytest
import Stemmer
from hypothesis import example, given
from hypothesis import strategies as st
from laya_signals import ConfigError, Tokenizer
from laya_signals.tokenize import stopwords
from laya_signals.tokenize.word import _ASCII_TERM, _TERM, WordTokenizer

PLAIN = WordTokenizer()

TEXTS = st.text(
    st.one_of(
        st.characters(codec="utf-8"),
        st.sampled_from("aeé éÉñßςİ'’.,+#-_{}:/0129東京語のｶﾞー한ไทยдЖЁ🎉\u0301\u00ad\u200d"),
    ),
    max_size=60,
)
ASCII = st.lists(
    st.one_of(
        st.characters(max_codepoint=127),
        st.sampled_from([*"aBv.,'+#_-09 ", "v1.2", "c++", ".net", "1,200", "'s", "'t"]),
    ),
    max_size=30,
).map("".join)


def test_it_is_a_tokenizer() -> None:
    assert isinstance(PLAIN, Tokenizer)


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("", []),
        (" \t\n ", []),
        ("The cat sat.", ["the", "cat", "sat"]),
        ("C++ and c#, .NET", ["c++", "c", "and", "c#", "c", ".net", "net"]),
        ("c++11 asp.net F#.", ["c", "11", "asp", "net", "f#", "f"]),
        ("pi is 3.14, not 3.", ["pi", "is", "3.14", "not", "3"]),
        ("v1.2.3 and 1.2.3", ["1.2.3", "and", "1.2.3"]),
        ("1,200 or 1,234,567.89 or v1,200", ["1200", "or", "1234567.89", "or", "1200"]),
        ("covid-19", ["covid", "19"]),
        ("snake_case __init__", ["snake", "case", "init"]),
        ("I'm sure; don't!", ["i'm", "sure", "don't"]),
        ("I’m sure; donʼt!", ["i'm", "sure", "don't"]),
        ("John's and John’s dogs'", ["john", "and", "john", "dogs"]),
        ("{0} %s <|endoftext|>", ["0", "s", "endoftext"]),
        ("https://a.example/b?c=d&e", ["https", "a", "example", "b", "c", "d", "e"]),
        ('-foo +bar "baz" AND (qux)', ["foo", "bar", "baz", "and", "qux"]),
        ("Straße STRASSE", ["strasse", "strasse"]),
        ("naïve Ångström ΆΛΦΑ", ["naive", "angstrom", "αλφα"]),
        ("co\u00adoperate", ["cooperate"]),
        ("ＡＢＣ０３ Ｃ＋＋", ["abc03", "c++", "c"]),
        ("Москва", ["москва"]),
        ("हिन्दी", ["हिन्दी"]),
        ("שלום עולם", ["שלום", "עולם"]),
        ("東京都", ["東京", "京都", "東", "京", "都"]),
        ("東", ["東"]),
        ("コーヒー", ["コー", "ーヒ", "ヒー"]),
        ("ｶﾞｷﾞ", ["ｶﾞｷﾞ"]),
        ("한국어", ["한국", "국어"]),
        ("ไทย", ["ไท", "ทย"]),
        ("第3章", ["第", "3", "章"]),
        (
            "C#言語とC++の違い",
            ["c#", "c", "言語", "語と", "言", "語", "c++", "c", "の違", "違い", "違"],
        ),
        ("言語C++", ["言語", "言", "語", "c++", "c"]),
        ("バージョン3.14で", ["バー", "ージ", "ジョ", "ョン", "3.14", "で"]),
        ("🎉", []),
    ],
)
def test_terms_are_words_as_a_reader_sees_them(text: str, terms: list[str]) -> None:
    assert PLAIN.tokenize(text) == terms


@pytest.mark.parametrize("text", ["Café", "CAFÉ", "cafe", "Cafe\u0301", "CAFE\u0301"])
def test_case_and_accents_are_folded(text: str) -> None:
    assert PLAIN.tokenize(text) == ["cafe"]


def test_marks_that_carry_sense_are_kept() -> None:
    assert PLAIN.tokenize("がか") != PLAIN.tokenize("かか")
    assert PLAIN.tokenize("йод") != PLAIN.tokenize("иод")


@given(st.text(st.sampled_from("東京語文書検索日本中国人"), min_size=1, max_size=12))
def test_every_ideograph_and_every_pair_of_them_can_be_searched(run: str) -> None:
    terms = PLAIN.tokenize(f"word {run} 12")
    assert set(run) <= set(terms)
    assert {run[at : at + 2] for at in range(len(run) - 1)} <= set(terms)


@given(TEXTS)
def test_no_letter_or_digit_vanishes(text: str) -> None:
    seen = "".join(PLAIN.tokenize(text))
    for char in unicodedata.normalize("NFC", text).casefold():
        if unicodedata.category(char) in {"Lo", "Nd"} and char != "s":
            folded = "".join(PLAIN.tokenize(char))
            assert folded
            assert folded in seen


@pytest.mark.parametrize("settings", [{}, {"stem": "english"}, {"stem": "french"}])
@given(text=TEXTS)
@example(text="\u0390\u1fbc")
def test_composed_and_decomposed_text_give_the_same_terms(settings: dict, text: str) -> None:
    tokenizer = WordTokenizer(settings)
    composed, decomposed = (unicodedata.normalize(form, text) for form in ("NFC", "NFD"))
    assert tokenizer.tokenize(composed) == tokenizer.tokenize(decomposed)


@given(text=TEXTS)
def test_terms_are_never_empty_and_hold_no_white_space(text: str) -> None:
    for tokenizer in (PLAIN, WordTokenizer(stem="english", stop_words="english")):
        for term in tokenizer.tokenize(text):
            assert term
            assert not any(char.isspace() for char in term)


@given(ASCII)
@example("dev1.2 v1.2 a.v1.2 .net..net c++# f#a a'ss a's's 1,2.3'")
def test_the_fast_pattern_for_ascii_finds_what_the_general_one_finds(text: str) -> None:
    assert _ASCII_TERM.findall(text.lower()) == _TERM.findall(text.lower())


def test_a_word_of_any_length_gives_a_bounded_term() -> None:
    assert [len(term) for term in PLAIN.tokenize("a" * 100_000 + " " + "é" * 1000)] == [255, 255]


@pytest.mark.parametrize("language", sorted(Stemmer.algorithms()))
def test_every_snowball_language_stems_and_pickles(language: str) -> None:
    tokenizer = WordTokenizer(stem=language)
    text = "Running größte étés нашей kahvilassa كتاب c++ 3.14 I'm 東京"
    terms = tokenizer.tokenize(text)
    assert {"c++", "3.14", "東京"} <= set(terms)
    assert all(terms)
    assert pickle.loads(pickle.dumps(tokenizer)).tokenize(text) == terms


@pytest.mark.parametrize(
    ("language", "one", "other"),
    [
        ("english", "indexing", "indexes"),
        ("german", "Häuser", "Haus"),
        ("french", "continuité", "continuités"),
        ("russian", "документы", "документов"),
    ],
)
def test_inflected_forms_share_a_stem(language: str, one: str, other: str) -> None:
    tokenizer = WordTokenizer(stem=language)
    assert tokenizer.tokenize(one) == tokenizer.tokenize(other)
    assert PLAIN.tokenize(one) != PLAIN.tokenize(other)


def test_accents_are_folded_after_stemming_too() -> None:
    tokenizer = WordTokenizer(stem="german")
    assert tokenizer.tokenize("Übung") == tokenizer.tokenize("übung")
    assert all(term.isascii() for term in tokenizer.tokenize("Übung größte"))


@pytest.mark.parametrize(
    ("stop_words", "terms"),
    [
        (None, ["the", "state", "of", "the", "art"]),
        ("english", ["state", "art"]),
        (["ART", "State"], ["the", "of", "the"]),
        ([], ["the", "state", "of", "the", "art"]),
    ],
)
def test_stop_words_are_dropped_whatever_their_case(stop_words: object, terms: list[str]) -> None:
    assert WordTokenizer(stop_words=stop_words).tokenize("The state of the Art") == terms


def test_stop_words_are_dropped_before_stemming() -> None:
    assert WordTokenizer(stem="english", stop_words=["being"]).tokenize("being be") == ["be"]


@pytest.mark.parametrize(
    ("settings", "key"),
    [
        ({"stem": "klingon"}, "stem"),
        ({"stop_words": "klingon"}, "stop_words"),
        ({"stop_words": 3}, "stop_words"),
        ({"lang": "english"}, "lang"),
    ],
)
def test_wrong_settings_are_refused_by_name(settings: dict, key: str) -> None:
    with pytest.raises(ConfigError, match=rf"WordTokenizer: .*{key}"):
        WordTokenizer(settings)


def test_the_fingerprint_tells_settings_apart_and_nothing_else() -> None:
    variants = [{}, {"stem": "english"}, {"stem": "german"}, {"stop_words": "english"}]
    fingerprints = [WordTokenizer(settings).fingerprint for settings in variants]
    assert len(set(fingerprints)) == len(variants)
    assert fingerprints == [WordTokenizer(**settings).fingerprint for settings in variants]
    assert pickle.loads(pickle.dumps(PLAIN)).fingerprint == PLAIN.fingerprint


@pytest.mark.parametrize(
    ("language", "text", "terms"),
    [
        ("french", "L'homme qu'il a vu d’abord", ["homm", "il", "a", "vu", "abord"]),
        ("french", "jusqu'ici, aujourd'hui c'était", ["ici", "aujourd", "hui", "était"]),
        ("french", "D'ÉTÉ l'été d'e\u0301te\u0301", ["ete", "ete", "ete"]),
        ("italian", "dell'arte un'altra l'uomo", ["arte", "altra", "uomo"]),
        ("catalan", "l'home d'aigua", ["home", "aigua"]),
        ("english", "l'homme", ["l", "homm"]),
        ("french", "l'  d'1 xl'homme", ["l", "d", "1", "xl", "homm"]),
    ],
)
def test_elided_words_are_dropped_where_the_language_has_them(
    language: str, text: str, terms: list[str]
) -> None:
    tokenizer = WordTokenizer(stem=language)
    plain = [tokenizer.tokenize(term) for term in terms]
    assert tokenizer.tokenize(text) == [stem for found in plain for stem in found]


@pytest.mark.parametrize(
    ("language", "text", "left"),
    [
        ("german", "Der Hund und die Katze sind nicht im Haus", ["hund", "katze", "haus"]),
        ("french", "Il était une fois dans la forêt", ["foret"]),
        ("spanish", "El perro y el gato no están en la casa", ["perro", "gato", "casa"]),
        ("russian", "Он и она были в доме", ["доме"]),
        ("swedish", "hunden och katten är inte här", ["hunden", "katten"]),
    ],
)
def test_every_language_has_a_list_of_its_own(language: str, text: str, left: list[str]) -> None:
    kept = WordTokenizer(stop_words=language).tokenize(text)
    assert set(left) <= set(kept)
    assert len(kept) < len(PLAIN.tokenize(text)) - 2


@pytest.mark.parametrize("language", stopwords.languages())
def test_a_listed_word_is_dropped_and_a_phrase_drops_none_of_its_words(language: str) -> None:
    tokenizer = WordTokenizer(stop_words=language)
    single = {word for word in stopwords.stop_list(language) if len(PLAIN.tokenize(word)) == 1}
    assert len(single) > 20
    assert tokenizer.tokenize(" ".join(sorted(single))) == []
    for word in stopwords.stop_list(language):
        terms = set(PLAIN.tokenize(word))
        assert {t for t in terms if t not in tokenizer.tokenize(word)} <= tokenizer._stop
    assert "c++" in tokenizer.tokenize("c++ 3.14 covid-19")


def test_the_english_list_is_lucene_s_and_no_larger() -> None:
    assert len(stopwords.stop_list("english")) == 33
    for name in ("english", "lucene"):
        assert WordTokenizer(stop_words=name).tokenize("who is not well") == ["who", "well"]


@pytest.mark.parametrize("language", ["chinese", "japanese", "korean"])
def test_a_list_of_words_is_no_use_where_terms_are_pairs_of_characters(language: str) -> None:
    with pytest.raises(ConfigError, match=f"no stop-word list for '{language}'"):
        WordTokenizer(stop_words=language)


def test_the_fingerprint_covers_what_a_list_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    import stop_words

    before = WordTokenizer(stop_words="german").fingerprint
    assert before == WordTokenizer(stop_words="german").fingerprint
    words = [*stop_words.get_stop_words("german"), "haus"]
    monkeypatch.setattr(stop_words, "get_stop_words", lambda language: words)
    assert WordTokenizer(stop_words="german").fingerprint != before
    # Those of the lists that ship here are the same as before other languages had one.
    assert WordTokenizer().fingerprint == "54c77963b8a92f80"
    assert WordTokenizer(stem="english", stop_words="english").fingerprint == "72883f5be695fb72"


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("c++", "Modern C++ code"),
        (".net", "a .NET service"),
        ("3.14", "pi = 3.14."),
        ("covid-19", "the Covid-19 wave"),
        ("covid", "the COVID-19 wave"),
        ("I'm", "Yes, I’m sure"),
        ("東京", "東京都に住む"),
        ("Café", "cafe\u0301 noir"),
    ],
)
@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"stem": "english", "stop_words": "english"},
        {"stem": "porter"},
        {"stem": "french", "stop_words": "french"},
    ],
)
def test_what_people_reported_as_lost_can_be_found(
    query: str, text: str, settings: dict[str, object]
) -> None:
    tokenizer = WordTokenizer(settings)
    wanted = tokenizer.tokenize(query)
    assert wanted
    assert set(wanted) <= set(tokenizer.tokenize(text))
