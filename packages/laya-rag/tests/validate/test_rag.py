from __future__ import annotations

from collections.abc import Callable

import pytest
from laya_index.sample import Question, questions
from laya_rag.validate import rag
from laya_rag.validate.rag import check_rag
from laya_rag.validate.trial import Trial


def test_every_leg_is_asked_and_answers(everything: Trial) -> None:
    finding = check_rag(everything)
    assert finding.problems == ()
    assert finding.facts["answered"] == finding.facts["questions"] == len(questions())
    assert set(finding.facts["legs"]) == {"bm25", "dense", "multivector", "sparse"}


def test_tenants_and_quarantine_do_not_hide_the_answers(trial_of: Callable[..., Trial]) -> None:
    trust = {
        "provider": "trust.manifest",
        "config": {
            "rules": [{"match": "nothing/**", "tier": "trusted"}],
            "tenants": {"a": ["nothing/**"]},
        },
    }
    assert check_rag(trial_of(trust=trust)).problems == ()


def test_a_leg_that_finds_nothing_is_told(trial_of: Callable[..., Trial], broken: str) -> None:
    encoder = {"provider": f"{broken}:Words", "config": {"same": False}}
    first, *_ = check_rag(trial_of(signals_embedding=encoder)).problems
    assert first.startswith("leg dense alone finds ")


def test_a_bundle_without_a_signal_answers_nothing(trial_of: Callable[..., Trial]) -> None:
    (only,) = check_rag(trial_of(signals=None)).problems
    assert "no signal can be searched" in only


def test_a_question_that_all_legs_together_miss_is_told(
    trial_of: Callable[..., Trial],
) -> None:
    pattern = {"provider": "tokenizer.regex", "config": {"pattern": "gannet|whale|ferry|mill"}}
    problems = check_rag(trial_of(signals_bm25=pattern)).problems
    assert any(text.startswith("'How fast may a vessel run") for text in problems)


def test_answers_that_no_passage_holds_whole_are_told(
    trial_of: Callable[..., Trial], monkeypatch: pytest.MonkeyPatch
) -> None:
    torn = [Question(question.text, f"{question.answer} torn") for question in questions()]
    monkeypatch.setattr(rag, "questions", lambda: torn)
    (only,) = check_rag(trial_of()).problems
    assert "answers to 0 of 16 questions whole" in only
