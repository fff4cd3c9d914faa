"""A Neo4j database (extra `neo4j`)."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Protocol

from laya_signals.errors import MissingExtraError

from laya_retrieval.errors import ExpandError
from laya_retrieval.graph.base import breadth_first, check_request

#: Identifiers cannot be parameters in Cypher, so they are held to this and quoted.
_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,62}\Z")


class Neo4jDriver(Protocol):
    """What is used of `neo4j.Driver`."""

    def execute_query(self, query_: Any, parameters_: Any = None, **settings: Any) -> Any:
        """Run one query in its own read transaction, with retries; records come first."""
        ...


class Neo4jGraphSource:
    """Walks the relationships of a Neo4j database, one query per hop, each on the frontier only.

    A variable-length pattern would enumerate paths, whose number explodes on a dense cyclic graph;
    this asks for distinct neighbours instead. Node ids travel as parameters. `label` and
    `relationship` narrow what is walked, None walks everything; `id_property` holds the node id.

    `driver` is a `neo4j.Driver` that the caller owns and closes; `connect` makes one from a URI.
    Raises `ExpandError` for an identifier that is none, and for an answer that is no text.
    """

    def __init__(
        self,
        driver: Neo4jDriver,
        *,
        database: str | None = None,
        label: str | None = None,
        relationship: str | None = None,
        id_property: str = "node_id",
    ) -> None:
        for what, name in (
            ("label", label),
            ("relationship", relationship),
            ("id_property", id_property),
        ):
            if name is not None and not _IDENTIFIER.match(name):
                raise ExpandError(f"{what} {name!r} is no plain identifier")
        self._driver = driver
        self._database = database
        node = f":`{label}`" if label else ""
        edge = f"[:`{relationship}`]" if relationship else ""
        self.cypher = (
            f"MATCH (n{node})-{edge}-(m{node}) WHERE n.`{id_property}` IN $frontier "
            f"RETURN DISTINCT m.`{id_property}` AS id"
        )

    @classmethod
    def connect(
        cls, uri: str, auth: tuple[str, str] | None = None, **settings: Any
    ) -> Neo4jGraphSource:
        """Open a driver; the password is kept by it alone. Raises `MissingExtraError`."""
        try:
            from neo4j import GraphDatabase  # type: ignore[import-not-found,unused-ignore]
        except ImportError as error:
            raise MissingExtraError(
                "reading a Neo4j graph needs its driver: install laya-retrieval[neo4j]"
            ) from error
        return cls(GraphDatabase.driver(uri, auth=auth), **settings)

    def neighbors(self, seeds: Collection[str], max_hops: int) -> dict[str, int]:
        """See `GraphSource.neighbors`; the driver's own errors pass through."""
        check_request(seeds, max_hops)
        return breadth_first(seeds, max_hops, self._step)

    def _step(self, frontier: list[str]) -> list[str]:
        settings: dict[str, Any] = {"routing_": "r"}
        if self._database is not None:
            settings["database_"] = self._database
        answer = self._driver.execute_query(self.cypher, {"frontier": frontier}, **settings)
        records: Sequence[Mapping[str, Any]] = answer[0]
        found = [record["id"] for record in records]
        for node in found:
            if node is not None and not isinstance(node, str):
                raise ExpandError(f"the graph database returned node id {node!r}, not a text")
        return [node for node in found if node is not None]
