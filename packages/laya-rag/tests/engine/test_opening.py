from __future__ import annotations

from pathlib import Path

import pytest
from laya_rag.access import Access
from laya_rag.backend.bundle import BundleBackend
from laya_rag.engine import Engine
from laya_rag.engine.opening import open_corpus
from laya_rag.errors import StoreError


@pytest.mark.parametrize("kind", [str, Path])
def test_a_place_without_a_scheme_is_a_folder(bundle: Path, kind: type[str | Path]) -> None:
    assert isinstance(open_corpus(kind(bundle)), BundleBackend)


@pytest.mark.parametrize("address", ["ftp://host/notes", "qdrant://localhost:6333"])
def test_an_address_that_leads_to_no_store_is_refused(address: str) -> None:
    with pytest.raises(StoreError, match=r"qdrant://"):
        open_corpus(address)


@pytest.mark.slow
@pytest.mark.parametrize("store", ["qdrant", "lancedb"])
def test_a_store_answers_as_the_bundle_that_was_pushed_to_it(
    store: str, tenant_bundle: Path, tmp_path: Path
) -> None:
    from laya_rag.backend.push import push
    from laya_rag.backend.store import parse_target

    address = f"{store}://{tmp_path}/notes"
    push(tenant_bundle, parse_target(address))
    access = Access(["acme"])
    with Engine.open(address) as pushed, Engine.open(tenant_bundle) as local:
        wanted = local.ask("how often does the ferry cross to the island", access=access)
        found = pushed.ask("how often does the ferry cross to the island", access=access)
        assert [p.candidate.id for p in found.evidence] == [p.candidate.id for p in wanted.evidence]
        assert found.verdict.answerability == pytest.approx(wanted.verdict.answerability)
        assert found.funnel == wanted.funnel
        assert found.models == wanted.models
