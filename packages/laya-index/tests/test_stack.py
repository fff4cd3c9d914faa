import re
from pathlib import Path

import pytest
from laya_index.chunk.base import Chunker
from laya_index.context import Context
from laya_index.errors import StackError
from laya_index.pipeline import Pipeline
from laya_index.signal.base import SignalGenerator
from laya_index.source.base import Source
from laya_index.stack import Stack, load_stack, parse_stack
from laya_index.trust import TrustPolicy
from laya_signals import Tokenizer
from laya_signals.sparse import SparseEncoder

STACK = """\
name: test
source:
  provider: source.files
  config:
    root: docs
    include: ["**/*.md"]
chunk: {provider: chunker.paragraph, config: {chars: 500, overlap: 100}}
trust:
  provider: trust.manifest
  config:
    rules:
      - {match: "a/**", tier: trusted}
signals:
  bm25:
    provider: tokenizer.word
    k1: 0.9
    config: {stem: english}
export: {path: .laya/test}
"""


def build_all(stack: Stack) -> None:
    stack.build(("source",), Source)
    stack.build(("chunk",), Chunker)
    stack.build(("trust",), TrustPolicy)
    if stack.model.signals.bm25 is not None:
        stack.build(("signals", "bm25"), Tokenizer)


def fails(text: str, **options: object) -> str:
    with pytest.raises(StackError) as caught:
        build_all(parse_stack(text, "s.yaml", **options))
    return str(caught.value)


def test_a_stack_is_read_from_a_file(tmp_path: Path) -> None:
    (tmp_path / "s.yaml").write_bytes(b"\xef\xbb\xbf" + STACK.replace("\n", "\r\n").encode())
    stack = load_stack(tmp_path / "s.yaml")
    build_all(stack)
    assert stack.model.name == "test"
    assert stack.model.export.path == Path(".laya/test")
    assert stack.model.signals.bm25 is not None
    assert stack.model.signals.bm25.k1 == 0.9
    assert stack.hash == parse_stack(STACK).hash


def test_only_name_source_and_export_are_needed() -> None:
    stack = parse_stack("{name: x, source: {provider: source.files}, export: {path: o}}")
    build_all(stack)
    assert stack.model.chunk.provider == "chunker.paragraph"
    assert stack.model.trust.provider == "trust.manifest"
    assert stack.model.redact is None


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("name: test", "nmae: test", "s.yaml:1: unknown key 'nmae'; did you mean 'name'?"),
        ("name: test", "nmae: test", "s.yaml: key 'name' is missing"),
        ("name: test", "name: Not A Name", "s.yaml:1: name: String should match"),
        ("name: test", "name: 2024-99-99", "s.yaml: not YAML: month must be in 1..12"),
        ("chunk:", "chnk:", "s.yaml:7: unknown key 'chnk'; did you mean 'chunk'?"),
        (
            "    k1: 0.9",
            "    titel_weight: 2",
            "s.yaml:16: unknown key 'titel_weight'; did you mean 'title_weight'?",
        ),
        ("    k1: 0.9", "    k1: -1", "s.yaml:16: signals.bm25.k1: Input should be greater"),
        ("    k1: 0.9", "    k1: .inf", "s.yaml:16: signals.bm25.k1: "),
        ("  bm25:", "  bm52:", "s.yaml:14: unknown key 'bm52'; did you mean 'bm25'?"),
        (
            "source.files",
            "source.flies",
            "s.yaml:3: unknown provider 'source.flies'; did you mean 'source.files'?",
        ),
        ("source.files", "tokenizer.word", "s.yaml:5: unknown key 'root'"),
        ("tokenizer.word", "chunker.paragraph", "s.yaml:17: unknown key 'stem'"),
        (
            "chunker.paragraph, config: {chars: 500, overlap: 100}",
            "trust.manifest",
            "s.yaml:7: provider 'trust.manifest' builds a TrustManifest, which is no Chunker",
        ),
        (
            "    include:",
            "    incldue:",
            "s.yaml:6: unknown key 'incldue'; did you mean 'include'?",
        ),
        ('["**/*.md"]', '["!"]', "s.yaml:6: source.config.include: '!' is no pattern"),
        (
            "chars: 500",
            "chars: many",
            "s.yaml:7: chunk.config.chars: Input should be a valid integer",
        ),
        (
            "overlap: 100",
            "overlap: 400",
            "s.yaml:7: chunk.config: overlap (400) may be at most half of chars (500)",
        ),
        ("tier: trusted", "tier: best", "s.yaml:12: trust.config.rules.0.tier: Input should be"),
        ("{match: ", "{mach: ", "s.yaml:12: unknown key 'mach'; did you mean 'match'?"),
        (
            "stem: english",
            "stem: klingon",
            "s.yaml:17: signals.bm25.config.stem: no Snowball stemmer for 'klingon'",
        ),
        (
            "config: {stem: english}",
            "config: [stem]",
            "s.yaml:17: signals.bm25.config: Input should be a valid dictionary",
        ),
        (
            "  bm25:\n    provider: tokenizer.word\n    k1: 0.9\n",
            "  bm25:\n    k1: 0.9\n",
            "s.yaml:14: key 'signals.bm25.provider' is missing",
        ),
        (
            "export: {path: .laya/test}",
            "export: {path: .}",
            "s.yaml:18: export.path: name a folder",
        ),
        (
            "export: {path: .laya/test}",
            "export: {path: ..}",
            "s.yaml:18: export.path: name a folder",
        ),
        (
            "export: {path: .laya/test}",
            "export: {path: /}",
            "s.yaml:18: export.path: name a folder",
        ),
        (
            "    root: docs",
            "    root: docs\n    root: b",
            "s.yaml:6: key 'root' was already given on line 5",
        ),
        ("name: test", "name: test\nname: b", "s.yaml:2: key 'name' was already given on line 1"),
    ],
)
def test_a_mistake_is_named_by_file_line_and_key(old: str, new: str, message: str) -> None:
    assert old in STACK
    assert message in fails(STACK.replace(old, new))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "# nothing",
        "[a, b]",
        "just text",
        "a: [",
        "a: 1\n---\nb: 2",
        "\tname: x",
        "a: &x [*x]",
        "name: !!python/name:os.system x",
        "? [a]\n: b",
    ],
)
def test_what_is_no_stack_at_all_is_refused(text: str) -> None:
    assert re.match(r"s\.yaml(:\d+)?: ", fails(text))


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    (tmp_path / "bad.yaml").write_bytes(b"name: caf\xe9")
    for name in ("missing.yaml", "bad.yaml", "."):
        with pytest.raises(StackError, match=r"cannot read stack file"):
            load_stack(tmp_path / name)


@pytest.mark.parametrize(
    ("item", "place", "value"),
    [
        ("chunk.config.chars=800", ("chunk", "config", "chars"), 800),
        ("chunk.chars=800", ("chunk", "config", "chars"), 800),
        ("signals.bm25.k1=2", ("signals", "bm25", "k1"), 2.0),
        ("signals.bm25.stem=null", ("signals", "bm25", "config", "stem"), None),
        ("signals.bm25.stop_words=[a, b]", ("signals", "bm25", "config", "stop_words"), ["a", "b"]),
        ("signals.bm25=null", ("signals", "bm25"), None),
        ("signals.bm25.title_weight=3", ("signals", "bm25", "title_weight"), 3),
        ("source.include=['*.txt']", ("source", "config", "include"), ["*.txt"]),
        ("trust.config.default_tier=trusted", ("trust", "config", "default_tier"), "trusted"),
        ("trust.tenants={acme: ['a/**']}", ("trust", "config", "tenants"), {"acme": ["a/**"]}),
        ("export.path=elsewhere", ("export", "path"), Path("elsewhere")),
    ],
)
def test_a_setting_can_be_overridden(item: str, place: tuple[str, ...], value: object) -> None:
    found = parse_stack(STACK, sets=[item]).model
    for key in place:
        found = found[key] if isinstance(found, dict) else getattr(found, key)
    assert found == value


def test_overrides_apply_in_order_and_reach_inside_each_other() -> None:
    sets = [
        "trust.tenants={a: ['x']}",
        "trust.tenants.b=['y']",
        "chunk.chars=900",
        "chunk.chars=700",
    ]
    model = parse_stack(STACK, sets=sets).model
    assert model.trust.config["tenants"] == {"a": ["x"], "b": ["y"]}
    assert model.chunk.config["chars"] == 700


def test_a_stage_that_was_left_to_its_default_can_be_overridden() -> None:
    text = "{name: x, source: {provider: source.files, config: }, export: {path: o}}"
    model = parse_stack(text, sets=["chunk.chars=900", "source.root=r"]).model
    assert (model.chunk.provider, model.chunk.config) == ("chunker.paragraph", {"chars": 900})
    assert model.source.config == {"root": "r"}
    assert parse_stack(text, root=Path("q")).model.source.config == {"root": "q"}


@pytest.mark.parametrize(
    ("item", "message"),
    [
        ("chunk.chars", "--set wants stage.key=value, not 'chunk.chars'"),
        ("chars=3", "--set wants stage.key=value"),
        ("chunk..chars=3", "--set wants stage.key=value"),
        ("=3", "--set wants stage.key=value"),
        ("chunk.chars=[", "--set chunk.chars: the value is not YAML"),
        ("chunk.chars=2024-99-99", "--set chunk.chars: the value is not YAML"),
        ("chnk.chars=3", "--set chnk.chars: the stack has no 'chnk'"),
        (
            "signals.embedding.seed=3",
            "--set signals.embedding.seed: the stack has no 'signals.embedding'",
        ),
        ("chunk.provider.x=3", "'chunk.provider' has no keys below it"),
        ("chunk.chras=3", "unknown key 'chras'; did you mean 'chars'?"),
        ("chunk.chars=many", "s.yaml:7: chunk.config.chars: Input should be a valid integer"),
    ],
)
def test_a_wrong_override_is_refused(item: str, message: str) -> None:
    assert message in fails(STACK, sets=[item])


def test_root_and_out_replace_the_folders() -> None:
    stack = parse_stack(STACK, root=Path("r"), out=Path("o"))
    assert stack.model.source.config["root"] == "r"
    assert stack.model.export.path == Path("o")


def test_root_is_only_for_files() -> None:
    text = STACK.replace("source.files", "source.jsonl")
    assert "--root replaces the folder of a source.files stack" in fails(text, root=Path("r"))


def test_the_hash_follows_the_settings_but_not_the_places() -> None:
    plain = parse_stack(STACK).hash
    assert parse_stack(STACK, root=Path("/somewhere"), out=Path("/else")).hash == plain
    assert parse_stack(STACK.replace("\n", "\n# note\n")).hash == plain
    for item in ("chunk.chars=800", "signals.bm25.k1=1", "source.include=[]", "signals.bm25=null"):
        assert parse_stack(STACK, sets=[item]).hash != plain


# Signals beyond the first two


SIGNALS = STACK.replace(
    "export:",
    """\
  embedding_code: {provider: encoder.mini, dtype: float16}
  embedding_a: {provider: encoder.mini}
  sparse: {provider: sparse.hashing}
  multivector: {provider: multivector.hashing}
  fde: {provider: fde.muvera}
  columns:
    words: {provider: "laya_index_columns:Words"}
export:""",
)


def test_named_embeddings_stand_side_by_side() -> None:
    signals = parse_stack(SIGNALS).model.signals
    assert {name: block.dtype for name, block in signals.embeddings.items()} == {
        "embedding_a": "float32",
        "embedding_code": "float16",
    }
    assert parse_stack(STACK).model.signals.embeddings == {}


def test_a_component_deep_in_the_stack_is_built(providers: Path) -> None:
    stack = parse_stack(SIGNALS)
    assert stack.build(("signals", "sparse"), SparseEncoder).dimension == 1 << 20
    assert stack.build(("signals", "columns", "words"), SignalGenerator).fields()


def test_a_signal_that_is_not_named_does_not_move_the_hash() -> None:
    assert parse_stack(STACK).hash == "83c29da889dcc37c"
    same = STACK.replace("export:", "  sparse: null\n  embedding_x: null\n  columns: {}\nexport:")
    assert parse_stack(same).hash == parse_stack(STACK).hash
    hashes = {parse_stack(SIGNALS).hash, parse_stack(STACK).hash}
    for item in ("signals.embedding_code.dtype=float32", "signals.sparse.vocab_size=9"):
        hashes.add(parse_stack(SIGNALS, sets=[item]).hash)
    assert len(hashes) == 4


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("  embedding_a:", "  embeding_a:", "s.yaml:19: unknown key 'embeding_a'"),
        ("  embedding_a:", "  embedding_:", "s.yaml:19: unknown key 'embedding_'"),
        ("  embedding_a:", "  embedding_A:", "s.yaml:19: unknown key 'embedding_A'"),
        ("  sparse:", "  sprase:", "s.yaml:20: unknown key 'sprase'; did you mean 'sparse'?"),
        (
            "dtype: float16",
            "dtpye: float16",
            "s.yaml:18: unknown key 'dtpye'; did you mean 'dtype'?",
        ),
        ("dtype: float16", "dtype: int8", "s.yaml:18: signals.embedding_code.dtype: Input"),
        ("  multivector: {provider: multivector.hashing}\n", "", "fde reads token vectors"),
        ("    words:", "    2words:", "s.yaml:23: signals.columns: '2words' is no name"),
        (
            "laya_index_columns:Words",
            "laya_index_columns:Word",
            "s.yaml:24: provider 'laya_index_columns:Word' cannot be imported",
        ),
        (
            "laya_index_columns:Words",
            "tokenizer.word",
            "s.yaml:24: provider 'tokenizer.word' builds a WordTokenizer, which is no Signal",
        ),
        (
            "sparse.hashing}",
            "sparse.hashing, config: {vocab: 3}}",
            "s.yaml:20: unknown key 'vocab'; did you mean 'vocab_size'?",
        ),
        (
            "multivector.hashing}",
            "multivector.hashing, keep_multivector: false}",
            "s.yaml:21: unknown key 'keep_multivector'; did you mean 'keep_multivectors'?",
        ),
    ],
)
def test_a_mistake_in_a_signal_is_named_too(
    old: str, new: str, message: str, providers: Path, tmp_path: Path
) -> None:
    assert old in SIGNALS
    with pytest.raises(StackError) as caught:
        Pipeline.of(parse_stack(SIGNALS.replace(old, new), "s.yaml"), tmp_path)
    assert message in str(caught.value)


def test_multivectors_for_nothing_are_refused() -> None:
    text = SIGNALS.replace("  fde: {provider: fde.muvera}\n", "")
    with pytest.raises(StackError, match="nothing reads and nobody keeps"):
        parse_stack(text, sets=["signals.multivector.keep_multivectors=false"])


def test_a_stage_that_is_off_is_switched_on_by_naming_its_provider(providers: Path) -> None:
    stack = parse_stack(STACK, sets=["context.provider=laya_index.context:Breadcrumb"])
    assert stack.build(("context",), Context).lead("a", ["b"]) == "a > b"
    assert stack.hash != parse_stack(STACK).hash
    sets = ["context.provider=laya_index.context:Breadcrumb", "context.separator=/"]
    assert parse_stack(STACK, sets=sets).build(("context",), Context).lead("a", ["b"]) == "a/b"
