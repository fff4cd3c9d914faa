from __future__ import annotations

from collections.abc import Callable

from laya_index.sample import planted_values
from laya_rag.validate.pii import check_pii
from laya_rag.validate.trial import Trial


def test_nothing_leaks_from_any_signal(everything: Trial) -> None:
    finding = check_pii(everything)
    assert finding.problems == ()
    assert f"{len(planted_values())} planted values in none of" in finding.detail


def test_a_stack_without_a_redactor_fails_and_is_told_what_to_add(
    trial_of: Callable[..., Trial],
) -> None:
    first, second, *_ = check_pii(trial_of(redact=None)).problems
    assert "no `redact:`" in first
    assert "redact.patterns" in first
    assert second.startswith("email_office is in first")


def test_a_kind_that_the_redactor_misses_is_told_with_its_place(
    trial_of: Callable[..., Trial],
) -> None:
    redact = {"provider": "redact.patterns", "config": {"kinds": ["EMAIL", "CARD", "SECRET"]}}
    problems = check_pii(trial_of(redact=redact)).problems
    assert any(text.startswith("iban_plain is in first") for text in problems)
    assert not any("email" in text or "secret" in text for text in problems)


def test_a_column_that_leaks_is_told_whatever_its_letter_case(
    trial_of: Callable[..., Trial], broken: str
) -> None:
    leak = {"provider": f"{broken}:Leaky", "config": {"text": planted_values()["email_guest"]}}
    found = check_pii(trial_of(signals_columns={"leak": leak})).problems
    assert any(text.startswith("email_guest is in first/chunks/") for text in found)


def test_a_log_that_leaks_is_told(trial_of: Callable[..., Trial], broken: str) -> None:
    found = check_pii(trial_of(redact={"provider": f"{broken}:Talkative"})).problems
    assert found
    assert all("first.log" in text or "more" in text for text in found)
