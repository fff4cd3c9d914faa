import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from laya_index.document import SourceDocument
from laya_index.shard import BUCKETS, SHARD_DOCUMENTS, Spool, bucket_of, shard_count


@given(st.integers(0, 10**8))
def test_the_number_of_shards_is_a_power_of_two_that_follows_the_corpus(documents: int) -> None:
    count = shard_count(documents)
    assert 1 <= count <= BUCKETS
    assert count & (count - 1) == 0
    assert count == BUCKETS or documents <= count * SHARD_DOCUMENTS
    assert count == 1 or documents > count // 2 * SHARD_DOCUMENTS


@pytest.mark.parametrize("memory", [0, 3000, 1 << 26])
@given(st.sets(st.text(min_size=1, max_size=3), max_size=30), st.sampled_from([1, 4, BUCKETS]))
def test_a_spool_gives_every_document_back_by_shard_and_id(
    memory: int, ids: set[str], count: int
) -> None:
    documents = {name: SourceDocument(name, name * 9) for name in ids if _encodable(name)}
    with Spool(memory) as spool:
        for document in documents.values():
            spool.add(document)
        shards = [spool.shard(index, count) for index in range(count)]
        assert spool.ids_by_shard(count) == [[item.id for item in shard] for shard in shards]
        assert {item.id: item for shard in shards for item in shard} == documents
        assert spool.digests == {name: item.digest for name, item in documents.items()}
    for index, shard in enumerate(shards):
        assert [item.id for item in shard] == sorted(item.id for item in shard)
        assert {bucket_of(item.id) * count // BUCKETS for item in shard} <= {index}


def _encodable(name: str) -> bool:
    return not any("\ud800" <= char <= "\udfff" for char in name)


def test_a_spool_leaves_no_file_behind_even_while_it_is_open() -> None:
    with Spool(0) as spool:
        spool.add(SourceDocument("a", "raw text"))
        spool.add(SourceDocument("b", "raw text"))
        assert [item.id for item in spool.shard(0, 1)] == ["a", "b"]
        assert list(Path(tempfile.gettempdir()).glob("laya-spool-*")) == []


def test_an_id_that_occurs_twice_is_refused() -> None:
    with Spool() as spool:
        spool.add(SourceDocument("a", "x"))
        with pytest.raises(ValueError, match="'a' occurs twice"):
            spool.add(SourceDocument("a", "y"))
