from __future__ import annotations

from typing import Any

import pytest
from laya_rag.http.idempotency import IdempotencyKeys
from laya_rag.http.problems import ProblemError

REQUEST = {"action": "index", "folder": None}


def code(keys: IdempotencyKeys, caller: str, key: str, request: Any = None) -> str:
    with pytest.raises(ProblemError) as raised:
        keys.claim(caller, key, REQUEST if request is None else request)
    return raised.value.code


def answered(keys: IdempotencyKeys, caller: str, key: str) -> None:
    claim = keys.claim(caller, key, REQUEST)
    assert claim.answer is None
    assert claim.start()
    claim.done({"key": key})


def test_an_answer_is_given_again_to_the_same_request_of_the_same_caller() -> None:
    keys = IdempotencyKeys()
    answered(keys, "ann", "k")
    assert keys.claim("ann", "k", dict(reversed(REQUEST.items()))).answer == {"key": "k"}
    assert code(keys, "ann", "k", {**REQUEST, "folder": "x"}) == "key_reused"
    assert keys.claim("bob", "k", REQUEST).answer is None


def test_while_it_runs_it_is_in_flight() -> None:
    keys = IdempotencyKeys()
    claim = keys.claim("ann", "k", REQUEST)
    assert code(keys, "ann", "k") == "in_flight"
    claim.start()
    assert code(keys, "ann", "k") == "in_flight"
    assert code(keys, "ann", "k", {}) == "key_reused"


def test_what_failed_or_was_given_up_may_be_tried_again() -> None:
    keys = IdempotencyKeys()
    claim = keys.claim("ann", "k", REQUEST)
    claim.start()
    claim.failed()
    again = keys.claim("ann", "k", REQUEST)
    again.give_up()
    assert not again.start()
    assert len(keys) == 0
    answered(keys, "ann", "k")


def test_work_that_has_begun_is_not_given_up() -> None:
    keys = IdempotencyKeys()
    claim = keys.claim("ann", "k", REQUEST)
    claim.start()
    claim.give_up()
    claim.done({"done": True})
    claim.give_up()
    assert keys.claim("ann", "k", REQUEST).answer == {"done": True}


def test_without_a_key_nothing_is_remembered() -> None:
    keys = IdempotencyKeys()
    for _ in range(3):
        claim = keys.claim("ann", None, REQUEST)
        claim.start()
        claim.done({"done": True})
    assert len(keys) == 0


def test_an_answer_expires_and_what_runs_does_not() -> None:
    now = [0.0]
    keys = IdempotencyKeys(kept=10.0, now=lambda: now[0])
    answered(keys, "ann", "k")
    running = keys.claim("ann", "long", REQUEST)
    now[0] = 10.0
    assert keys.claim("ann", "k", REQUEST).answer
    now[0] = 10.1
    assert keys.claim("ann", "k", REQUEST).answer is None
    assert code(keys, "ann", "long") == "in_flight"
    running.start()


def test_memory_is_bounded_and_nobody_crowds_out_others() -> None:
    keys = IdempotencyKeys(per_caller=3, in_all=5)
    answered(keys, "bob", "b")
    for number in range(20):
        answered(keys, "ann", f"a{number}")
    assert len(keys) == 4
    assert keys.claim("bob", "b", REQUEST).answer
    assert keys.claim("ann", "a19", REQUEST).answer
    for number in range(20):
        answered(keys, f"c{number}", "c")
    assert len(keys) == 5
