import pickle

import pytest
from laya_index.trust import Trust, TrustManifest, TrustPolicy
from laya_signals import ConfigError

RULES = [
    {"match": "docs/**", "tier": "trusted"},
    {"match": "docs/drafts/", "tier": "untrusted"},
    {"match": "*.secret.md", "tier": "quarantined"},
]
TENANTS = {"acme": ["docs/acme/**", "shared/*.md"], "bolt": ["docs/bolt/**", "shared/*.md"]}


@pytest.mark.parametrize(
    ("document", "tier"),
    [
        ("docs/a.md", "trusted"),
        ("docs/drafts/a.md", "untrusted"),
        ("docs/a.secret.md", "quarantined"),
        ("docs/drafts/a.secret.md", "quarantined"),
        ("other/docs/a.md", "quarantined"),
        ("a.md", "quarantined"),
        ("DOCS/a.md", "quarantined"),
        ("docs", "quarantined"),
    ],
)
def test_the_last_matching_rule_decides_and_no_rule_means_quarantine(
    document: str, tier: str
) -> None:
    assert TrustManifest(rules=RULES).assign(document) == Trust(tier, None)


def test_rules_in_another_order_decide_otherwise() -> None:
    assert TrustManifest(rules=RULES[::-1]).assign("docs/drafts/a.secret.md").tier == "trusted"


@pytest.mark.parametrize(
    ("settings", "tier"),
    [
        ({}, "untrusted"),
        ({"rules": []}, "untrusted"),
        ({"default_tier": "trusted"}, "trusted"),
        ({"rules": RULES}, "quarantined"),
        ({"rules": RULES, "default_tier": "untrusted"}, "untrusted"),
    ],
)
def test_what_no_rule_matches_gets_the_default(settings: dict, tier: str) -> None:
    assert TrustManifest(settings).assign("elsewhere.txt").tier == tier


@pytest.mark.parametrize(
    ("tenants", "document", "expected"),
    [
        (None, "docs/acme/x.md", None),
        ({}, "docs/acme/x.md", ()),
        (TENANTS, "docs/acme/x.md", ("acme",)),
        (TENANTS, "shared/x.md", ("acme", "bolt")),
        (TENANTS, "docs/other/x.md", ()),
        (TENANTS, "shared/deep/x.md", ()),
        (TENANTS, "x/docs/acme/x.md", ()),
        ({"acme": []}, "docs/acme/x.md", ()),
        ({"acme": ["*", "!private/**"]}, "private/x.md", ()),
        ({"acme": ["*", "!private/**"]}, "public/x.md", ("acme",)),
    ],
)
def test_a_document_that_matches_no_tenant_is_for_none(
    tenants: dict | None, document: str, expected: tuple[str, ...] | None
) -> None:
    assert TrustManifest(tenants=tenants).assign(document).tenants == expected


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ({"rules": [{"match": "x", "tier": "admin"}]}, r"rules\.0\.tier"),
        ({"rules": [{"mach": "x", "tier": "trusted"}]}, r"unknown key 'rules\.0\.mach'"),
        ({"rules": [{"match": "!", "tier": "trusted"}]}, r"rules\.0\.match: .*'!' is no pattern"),
        ({"tenants": {"a": ["[z-a]"]}}, r"tenants\.a: .*is no pattern"),
        ({"tenants": ["a"]}, "tenants"),
        ({"default_tier": "none"}, "default_tier"),
    ],
)
def test_wrong_settings_are_refused_by_key(settings: dict, problem: str) -> None:
    with pytest.raises(ConfigError, match=problem):
        TrustManifest(settings)


def test_it_is_a_policy_that_travels_to_workers() -> None:
    policy = TrustManifest(rules=RULES, tenants=TENANTS)
    assert isinstance(policy, TrustPolicy)
    assert pickle.loads(pickle.dumps(policy)).assign("docs/acme/x") == policy.assign("docs/acme/x")
    assert policy.fingerprint != TrustManifest(rules=RULES).fingerprint
