"""The Cypher that is sent, and how."""

import pytest
from laya_retrieval import ExpandError, Neo4jGraphSource


class Driver:
    """Records what it is asked; answers n2, then nothing."""

    def __init__(self, answers):
        self.answers = list(answers)
        self.calls = []

    def execute_query(self, query_, parameters_=None, **settings):
        self.calls.append((query_, parameters_, settings))
        return ([{"id": node} for node in self.answers.pop(0)], None, ["id"])


def test_node_ids_travel_as_parameters_only():
    driver = Driver([["n2"], []])
    evil = "x'}) DETACH DELETE n //"
    Neo4jGraphSource(driver).neighbors([evil, "n1"], 3)
    query, parameters, settings = driver.calls[0]
    assert parameters == {"frontier": ["n1", evil]}
    assert evil not in query
    assert settings == {"routing_": "r"}


def test_each_hop_asks_about_the_new_nodes_only():
    driver = Driver([["n2", "n1"], ["n1", "n3"], []])
    assert Neo4jGraphSource(driver).neighbors(["n1"], 64) == {"n2": 1, "n3": 2}
    assert [call[1]["frontier"] for call in driver.calls] == [["n1"], ["n2"], ["n3"]]


def test_no_path_pattern_is_sent():
    assert "*" not in Neo4jGraphSource(Driver([])).cypher


def test_label_relationship_property_and_database_are_used():
    driver = Driver([[]])
    source = Neo4jGraphSource(
        driver, database="graph", label="Entity", relationship="RELATED", id_property="key"
    )
    source.neighbors(["a"], 1)
    assert driver.calls[0][0] == (
        "MATCH (n:`Entity`)-[:`RELATED`]-(m:`Entity`) WHERE n.`key` IN $frontier "
        "RETURN DISTINCT m.`key` AS id"
    )
    assert driver.calls[0][2] == {"routing_": "r", "database_": "graph"}


@pytest.mark.parametrize("name", ["a b", "a`b", "", "1a", "a\n", "x) DELETE n"])
@pytest.mark.parametrize("what", ["label", "relationship", "id_property"])
def test_an_identifier_that_is_none_is_refused(what, name):
    with pytest.raises(ExpandError, match=what):
        Neo4jGraphSource(Driver([]), **{what: name})


def test_nodes_without_an_id_are_skipped_and_other_ids_refused():
    assert Neo4jGraphSource(Driver([[None, "b"], []])).neighbors(["a"], 2) == {"b": 1}
    with pytest.raises(ExpandError, match="7"):
        Neo4jGraphSource(Driver([[7]])).neighbors(["a"], 1)
