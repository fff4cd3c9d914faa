"""retrieve() over a caller's backend."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from laya_retrieval import (
    Candidate,
    Capability,
    Identity,
    OrchestrationError,
    OrchestrationPipeline,
    QueryBundle,
    RrfFuser,
    TenantFilter,
    TrustFilter,
    retrieve,
)
from laya_retrieval.testing import FakeBackend

QUERY = QueryBundle(text="revenue", vector=[1.0, 0.0, 0.0, 0.0])


def rounded(result):
    return [(c.id, round(c.score, 4)) for c in result.candidates]


def test_the_specified_example():
    from laya_retrieval.process.pack import Packer

    pipeline = OrchestrationPipeline(
        fuser=RrfFuser(), processors=[Packer(budget=40)], final_top_k=3
    )
    result = retrieve(QUERY, FakeBackend(), pipeline)
    assert rounded(result) == [("d0", 0.0328), ("d1", 0.0323), ("d2", 0.0317)]
    assert result.fetched_modes == ("bm25", "dense")


@pytest.mark.parametrize(
    ("query", "capabilities", "modes"),
    [
        (QUERY, {Capability.BM25}, ("bm25",)),
        (QueryBundle(text="revenue"), {Capability.BM25, Capability.DENSE}, ("bm25",)),
        (QueryBundle(vector=[0.0] * 4), set(Capability), ("dense",)),
        (QueryBundle(text="x", sparse_terms={1: 1.0}), set(Capability), ("bm25", "sparse")),
        (
            QueryBundle(vectors={"a": [0.0] * 4, "b": [1.0] * 4}),
            set(Capability),
            ("dense:a", "dense:b"),
        ),
    ],
)
def test_only_legs_with_a_signal_and_a_capability_run(query, capabilities, modes):
    backend = FakeBackend(capabilities=capabilities)
    assert retrieve(query, backend, OrchestrationPipeline()).fetched_modes == modes


def test_a_leg_of_weight_zero_is_not_searched():
    backend = FakeBackend()
    result = retrieve(QUERY, backend, OrchestrationPipeline(weights={"dense": 0.0}))
    assert result.fetched_modes == ("bm25",)
    assert backend.queries[0].modes == ("bm25",)


def test_weights_reach_the_fuser_by_leg_name():
    result = retrieve(QUERY, FakeBackend(), OrchestrationPipeline(weights={"dense": 3.0}))
    assert result.candidates[0].score == pytest.approx(4 / 61)


def test_legs_are_named_in_the_explanation():
    pipeline = OrchestrationPipeline(fuser=RrfFuser(explain=True))
    parts = retrieve(QUERY, FakeBackend(), pipeline).candidates[0].metadata["fusion"]
    assert [part.leg for part in parts] == ["bm25", "dense"]


def test_when_no_leg_can_run_it_says_why():
    with pytest.raises(OrchestrationError, match="signals for none"):
        retrieve(QueryBundle(), FakeBackend(), OrchestrationPipeline())
    with pytest.raises(OrchestrationError, match="FakeBackend serves sparse"):
        retrieve(QUERY, FakeBackend(capabilities={Capability.SPARSE}), OrchestrationPipeline())


def test_a_filter_is_applied_by_the_backend():
    query = QueryBundle(text="revenue", filters={"ordinal": {"gte": 4}})
    result = retrieve(query, FakeBackend(), OrchestrationPipeline())
    assert [c.id for c in result.candidates] == ["d4", "d5"]


def test_a_filter_that_the_backend_cannot_serve_is_never_dropped():
    backend = FakeBackend(capabilities={Capability.BM25})
    with pytest.raises(OrchestrationError, match="FILTER"):
        retrieve(QueryBundle(text="x", filters={"ordinal": 1}), backend, OrchestrationPipeline())
    assert backend.queries == []


def test_a_vector_of_another_dimension_is_the_backends_error():
    with pytest.raises(OrchestrationError, match="2 dimensions"):
        retrieve(QueryBundle(vector=[1.0, 2.0]), FakeBackend(), OrchestrationPipeline())


@pytest.mark.parametrize(
    "answer", [[], {"sparse": []}, {"bm25": ["text"]}], ids=["no legs", "unasked", "no candidates"]
)
def test_a_backend_that_breaks_its_promise_is_named(answer):
    class Broken:
        capabilities = frozenset({Capability.BM25})

        def search(self, query):
            return answer

    with pytest.raises(OrchestrationError, match="Broken"):
        retrieve(QueryBundle(text="x"), Broken(), OrchestrationPipeline())


@pytest.mark.parametrize(
    "settings_",
    [
        {"fuser": Identity()},
        {"processors": [RrfFuser()]},
        {"guards": [Identity()]},
        {"final_top_k": 0},
        {"weights": {"bm25": -1.0}},
        {"weights": {"bm25": float("nan")}},
    ],
)
def test_a_pipeline_of_the_wrong_parts_is_refused_when_wired(settings_):
    with pytest.raises(OrchestrationError):
        OrchestrationPipeline(**settings_)


def test_stages_report_what_went_in_and_out():
    result = retrieve(QUERY, FakeBackend(), OrchestrationPipeline(processors=[Identity()]))
    assert [(s.name, s.before, s.after) for s in result.stages] == [
        ("search", 12, 12),
        ("fuse", 12, 6),
        ("Identity", 6, 6),
    ]


def corpus(permitted):
    return [
        Candidate(f"d{i:03}", 1 - i / 1000, f"text {i}", {"tenants": ["me" if ok else "you"]})
        for i, ok in enumerate(permitted)
    ]


def test_filtering_changes_which_documents_come_back_not_how_many():
    backend = FakeBackend(corpus([i % 10 == 9 for i in range(200)]))
    query = QueryBundle(text="x", vector=[0.0] * 4, depth=5)
    result = retrieve(
        query, backend, OrchestrationPipeline(final_top_k=5, guards=[TenantFilter("me")])
    )
    assert [c.id for c in result.candidates] == ["d009", "d019", "d029", "d039", "d049"]
    assert [q.depth for q in backend.queries] == [5, 20, 80]
    assert (result.depth, result.searches) == (80, 3)
    assert result.removed == {"tenant": 72}


def test_deepening_ends_with_the_corpus():
    backend = FakeBackend(corpus([False] * 30))
    query = QueryBundle(text="x", depth=5)
    result = retrieve(query, backend, OrchestrationPipeline(guards=[TenantFilter("me")]))
    assert result.candidates == ()
    assert [q.depth for q in backend.queries] == [5, 20, 80]
    assert result.removed == {"tenant": 30}


def test_without_guards_there_is_one_search():
    backend = FakeBackend()
    assert retrieve(QueryBundle(text="x", depth=2), backend, OrchestrationPipeline()).searches == 1


def test_a_processor_cannot_bring_back_what_was_withheld():
    class Smuggler:
        def process(self, query, candidates):
            return [*candidates, Candidate("secret", 9.0, "x", {"tenants": ["you"]})]

    pipeline = OrchestrationPipeline(processors=[Smuggler()], guards=[TenantFilter("me")])
    result = retrieve(QueryBundle(text="x"), FakeBackend(corpus([True, False])), pipeline)
    assert [c.id for c in result.candidates] == ["d000"]
    assert result.removed == {"tenant": 2}


def test_processors_never_see_what_is_withheld():
    seen = []

    class Spy:
        def process(self, query, candidates):
            seen.extend(c.id for c in candidates)
            return list(candidates)

    pipeline = OrchestrationPipeline(processors=[Spy()], guards=[TenantFilter("me")])
    retrieve(QueryBundle(text="x"), FakeBackend(corpus([True, False, True])), pipeline)
    assert seen == ["d000", "d002"]


@settings(max_examples=60, deadline=None)
@given(st.lists(st.booleans(), min_size=1, max_size=60), st.integers(1, 6), st.integers(1, 4))
def test_a_guarded_search_equals_one_over_the_permitted_documents_alone(permitted, depth, top_k):
    documents = corpus(permitted)
    query = QueryBundle(text="x", vector=[0.0] * 4, depth=depth)
    guarded = retrieve(
        query,
        FakeBackend(documents),
        OrchestrationPipeline(final_top_k=top_k, guards=[TenantFilter("me")]),
    )
    alone = retrieve(
        query,
        FakeBackend([d for d, ok in zip(documents, permitted, strict=True) if ok]),
        OrchestrationPipeline(final_top_k=top_k),
    )
    assert guarded.candidates == alone.candidates


def test_a_missing_tier_is_withheld():
    result = retrieve(QUERY, FakeBackend(), OrchestrationPipeline(guards=[TrustFilter()]))
    assert result.candidates == ()
    assert result.removed == {"trust": 6}
