"""Which prefix a model's name stands for."""

import pytest
from laya_signals.encode.family import family_of

SEARCHING = "Represent this sentence for searching relevant passages: "


@pytest.mark.parametrize(
    ("model", "query", "document", "cls"),
    [
        ("intfloat/e5-small-v2", "query: ", "passage: ", False),
        ("intfloat/multilingual-e5-base", "query: ", "passage: ", False),
        ("/models/E5-large/", "query: ", "passage: ", False),
        ("BAAI/bge-small-en-v1.5", SEARCHING, "", True),
        ("BAAI/bge-m3", "", "", True),
        ("BAAI/bge-base-zh-v1.5", "为这个句子生成表示以用于检索相关文章：", "", True),
        ("nomic-ai/nomic-embed-text-v1.5", "search_query: ", "search_document: ", False),
        ("nomic-ai/modernbert-embed-base", "search_query: ", "search_document: ", False),
        ("Snowflake/snowflake-arctic-embed-m", SEARCHING, "", True),
        ("Snowflake/snowflake-arctic-embed-m-v2.0", "query: ", "", True),
        ("mixedbread-ai/mxbai-embed-large-v1", SEARCHING, "", True),
        ("thenlper/gte-base", "", "", False),
        ("Alibaba-NLP/gte-modernbert-base", "", "", True),
        ("sentence-transformers/all-MiniLM-L6-v2", "", "", False),
        ("someone/the5-best", "", "", False),
    ],
)
def test_a_family_is_told_by_its_name(model, query, document, cls):
    assert family_of(model) == (query, document, cls)


@pytest.mark.parametrize(
    "model",
    [
        "intfloat/multilingual-e5-large-instruct",
        "Alibaba-NLP/gte-Qwen2-1.5B-instruct",
        "Qwen/Qwen3-Embedding-0.6B",
    ],
)
def test_instructed_models_get_the_task_before_the_query_only(model):
    family = family_of(model)
    assert family.query.startswith("Instruct: ")
    assert "\nQuery:" in family.query
    assert family.document == ""
