"""What the study judges is what the model's recipe keeps for testing."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest
from laya_eval.study.decisions import held_out
from laya_eval.study.decisions.held_out import SQUAD_ARTICLES, drawn, rank

RECIPE = Path(__file__).parents[4] / "laya-mini" / "recipe" / "decision" / "sources.py"
NAMES = [f"name {number} (short)" for number in range(300)]


@pytest.fixture(scope="module")
def recipe():
    spec = importlib.util.spec_from_file_location("recipe_sources", RECIPE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_names_have_the_recipe_s_rank(recipe):
    assert [rank(name) for name in NAMES] == [recipe.rank(name) for name in NAMES]


@pytest.mark.parametrize(
    ("ours", "key", "shares"),
    [
        (held_out.medquad, lambda g: "medquad/" + g.lower().split("(")[0].strip(), (0.12, 0.03)),
        (held_out.pubmedqa, lambda g: "pubmedqa/" + g, (0.12, 0.03)),
        (held_out.anthropic_docs, lambda g: "anthropic_docs" + g, (0.5, 0.0)),
    ],
)
def test_the_same_names_are_held_out(recipe, ours, key, shares):
    wanted = [recipe.split_by_hash(key(name), *shares, 0.06) == "test" for name in NAMES]
    assert [ours(name) for name in NAMES] == wanted
    assert 0 < sum(wanted) < len(NAMES)


def test_an_article_is_known_by_its_title_too():
    assert held_out.squad("European Union law")
    assert all(held_out.squad(article) for article in SQUAD_ARTICLES)
    assert not held_out.squad("Huguenot")


def test_what_is_drawn_keeps_its_order_and_does_not_depend_on_the_rest():
    few = drawn(NAMES, 20, str)
    assert few == sorted(few, key=NAMES.index)
    assert len(few) == 20
    assert set(drawn(NAMES, 10, str)) < set(few)
    assert drawn(NAMES, 300, str) == NAMES
    assert set(drawn(NAMES[100:], 200, str)) >= set(few) & set(NAMES[100:])
