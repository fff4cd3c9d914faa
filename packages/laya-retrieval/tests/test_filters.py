"""The filter language."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from laya_retrieval import And, Comparison, Exists, FilterError, Not, Operator, Or, parse_filter

ROW = {
    "year": 2021,
    "lang": "en",
    "draft": False,
    "tags": ["news", "tax"],
    "none": None,
    "nested": {"label": "public"},
    "dotted.key": 1,
}


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({}, True),
        ({"year": 2021}, True),
        ({"year": {"eq": 2021}}, True),
        ({"year": {"eq": 2021.0}}, True),
        ({"year": {"eq": "2021"}}, False),
        ({"draft": {"eq": 0}}, False),
        ({"draft": False}, True),
        ({"year": {"ne": 2020}}, True),
        ({"year": {"ne": 2021}}, False),
        ({"missing": {"ne": 1}}, True),
        ({"none": {"ne": 1}}, True),
        ({"missing": {"nin": [1]}}, True),
        ({"missing": {"eq": 1}}, False),
        ({"missing": {"in": [1]}}, False),
        ({"missing": {"lt": 1}}, False),
        ({"year": {"in": [2020, 2021]}}, True),
        ({"year": {"in": []}}, False),
        ({"year": {"nin": []}}, True),
        ({"year": {"nin": [2021]}}, False),
        ({"year": {"gt": 2020, "lt": 2022}}, True),
        ({"year": {"gt": 2021}}, False),
        ({"year": {"gte": 2021}}, True),
        ({"year": {"lte": 2021}}, True),
        ({"year": {"lt": "a"}}, False),
        ({"lang": {"gte": "en"}}, True),
        ({"tags": "tax"}, True),
        ({"tags": {"in": ["sport", "news"]}}, True),
        ({"tags": {"ne": "tax"}}, False),
        ({"tags": {"nin": ["sport"]}}, True),
        ({"year": {"exists": True}}, True),
        ({"none": {"exists": True}}, False),
        ({"missing": {"exists": False}}, True),
        ({"nested.label": "public"}, True),
        ({"nested.other": {"exists": True}}, False),
        ({"dotted.key": 1}, True),
        ({"year": 2021, "lang": "de"}, False),
        ({"and": [{"year": 2021}, {"lang": "en"}]}, True),
        ({"or": [{"year": 1999}, {"lang": "en"}]}, True),
        ({"or": []}, False),
        ({"and": []}, True),
        ({"not": {"lang": "en"}}, False),
        ({"not": {"lang": {"ne": "en"}}}, True),
    ],
)
def test_what_matches(spec, expected):
    assert parse_filter(spec).matches(ROW) is expected


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        ({"year": {"between": [1, 2]}}, "unknown operator 'between'"),
        ({"year": {"$eq": 1}}, "unknown operator"),
        ({"year": {}}, "name an operator"),
        ({"year": None}, "exists"),
        ({"year": {"in": "abc"}}, "takes a list"),
        ({"year": {"eq": [1]}}, "text, number or truth value"),
        ({"year": {"gt": True}}, "orders numbers or texts"),
        ({"year": {"eq": float("nan")}}, "not nan"),
        ({"year": {"exists": 1}}, "true or false"),
        ({"and": {"year": 1}}, "takes a list"),
        ({"not": [1]}, "a filter is a mapping"),
        ({"": 1}, "non-empty name"),
        ([], "a filter is a mapping"),
    ],
)
def test_what_is_malformed_is_refused(spec, says):
    with pytest.raises(FilterError, match=says.replace("$", r"\$")):
        parse_filter(spec)


def test_an_unknown_field_is_refused_where_fields_are_known():
    with pytest.raises(FilterError, match="unknown field 'yaer'"):
        parse_filter({"or": [{"lang": "en"}, {"not": {"yaer": 1}}]}, fields=["year", "lang"])


def test_nesting_without_end_is_refused():
    spec = {"x": 1}
    for _ in range(100):
        spec = {"not": spec}
    with pytest.raises(FilterError, match="nested"):
        parse_filter(spec)


def test_the_tree_can_be_walked():
    tree = parse_filter({"a": {"gt": 1}, "or": [{"b": "x"}, {"not": {"c": {"exists": True}}}]})
    assert tree == And(
        (
            Comparison(Operator.GT, "a", 1),
            Or((Comparison(Operator.EQ, "b", "x"), Not(Exists("c")))),
        )
    )
    assert tree.fields() == {"a", "b", "c"}


scalars = st.one_of(st.booleans(), st.integers(-3, 3), st.sampled_from(["a", "b"]))
leaves = st.one_of(
    st.builds(lambda f, v: {f: {"eq": v}}, st.sampled_from("xyz"), scalars),
    st.builds(lambda f, v: {f: {"ne": v}}, st.sampled_from("xyz"), scalars),
    st.builds(lambda f, v: {f: {"in": v}}, st.sampled_from("xyz"), st.lists(scalars, max_size=3)),
    st.builds(lambda f, v: {f: {"nin": v}}, st.sampled_from("xyz"), st.lists(scalars, max_size=3)),
    st.builds(lambda f, v: {f: {"gt": v}}, st.sampled_from("xyz"), st.integers(-3, 3)),
    st.builds(lambda f, v: {f: {"exists": v}}, st.sampled_from("xyz"), st.booleans()),
)
trees = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.builds(lambda c: {"and": c}, st.lists(inner, max_size=3)),
        st.builds(lambda c: {"or": c}, st.lists(inner, max_size=3)),
        st.builds(lambda c: {"not": c}, inner),
    ),
    max_leaves=8,
)
values = st.one_of(st.none(), scalars, st.lists(scalars, max_size=3))
rows = st.dictionaries(st.sampled_from("xyz"), values, max_size=3)


@given(trees)
def test_the_json_form_parses_back(spec):
    tree = parse_filter(spec)
    assert parse_filter(tree.to_json()) == tree


@given(trees, rows)
def test_not_is_the_exact_complement(spec, row):
    assert parse_filter({"not": spec}).matches(row) is not parse_filter(spec).matches(row)


@given(rows, st.lists(scalars, max_size=3))
def test_ne_and_nin_are_the_complements_of_eq_and_in(row, members):
    nin, in_ = ({"x": {op: members}} for op in ("nin", "in"))
    assert parse_filter(nin).matches(row) is not parse_filter(in_).matches(row)


@given(trees, trees, rows)
def test_de_morgan(one, two, row):
    left = parse_filter({"not": {"and": [one, two]}})
    right = parse_filter({"or": [{"not": one}, {"not": two}]})
    assert left.matches(row) == right.matches(row)
