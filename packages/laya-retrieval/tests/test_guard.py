"""Tenant and trust filters."""

import pytest
from laya_retrieval import Candidate, FilterError, TenantFilter, TrustFilter


def of(**metadata):
    return Candidate("a", 1.0, "text", metadata)


@pytest.mark.parametrize(
    ("tenants", "metadata", "permitted"),
    [
        ("acme", {"tenants": ["acme"]}, True),
        ("acme", {"tenants": ["other", "acme"]}, True),
        ("acme", {"tenants": "acme"}, True),
        ("acme", {"tenants": ["other"]}, False),
        ("acme", {"tenants": []}, False),
        ("acme", {"tenants": None}, False),
        ("acme", {}, False),
        (None, {"tenants": ["acme"]}, False),
        ([], {"tenants": ["acme"]}, False),
        (None, {}, False),
        (None, {"tenants": ["everyone"]}, False),
        ("acme", {"tenants": ["everyone"]}, True),
    ],
)
def test_a_tenant_sees_its_own_and_the_shared(tenants, metadata, permitted):
    guard = TenantFilter(tenants, shared=["everyone"])
    assert guard.permits(of(**metadata)) is permitted
    assert guard.expression.matches(metadata) is permitted


@pytest.mark.parametrize("tenants", [[""], "", [3]])
def test_a_tenant_without_a_name_is_refused(tenants):
    with pytest.raises(FilterError):
        TenantFilter(tenants)


@pytest.mark.parametrize(
    ("minimum", "tier", "permitted"),
    [
        ("trusted", "trusted", True),
        ("trusted", "untrusted", False),
        ("untrusted", "trusted", True),
        ("untrusted", "quarantined", False),
        ("quarantined", "quarantined", True),
        ("quarantined", "unheard-of", False),
        ("quarantined", None, False),
        ("quarantined", ["trusted"], False),
    ],
)
def test_a_tier_must_be_known_and_high_enough(minimum, tier, permitted):
    assert TrustFilter(minimum).permits(of(trust_tier=tier)) is permitted


def test_no_tier_is_not_enough():
    assert not TrustFilter("quarantined").permits(of())


def test_an_unknown_minimum_is_refused():
    with pytest.raises(FilterError, match="unknown trust tier 'trustd'"):
        TrustFilter("trustd")


def test_a_guard_is_a_processor_that_keeps_the_order():
    rows = [of(trust_tier="trusted").with_score(s) for s in (0.1, 0.9)]
    assert TrustFilter().process("q", [*rows, of()]) == rows
