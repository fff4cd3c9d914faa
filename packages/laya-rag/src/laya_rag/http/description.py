"""The API description: the framework's, with problem documents where it has errors of its own."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI

from laya_rag.http.problems import Problem
from laya_rag.http.schemas import ComposeEvent, IndexEvent


class Described(FastAPI):
    """An application whose description knows problem documents, and nothing of other errors."""

    def openapi(self) -> dict[str, Any]:
        """The description, made once."""
        if self.openapi_schema is None:
            described = super().openapi()
            schemas = described["components"]["schemas"]
            for unused in ("HTTPValidationError", "ValidationError"):
                schemas.pop(unused, None)
            for model in (Problem, IndexEvent, ComposeEvent):
                own = model.model_json_schema(ref_template="#/components/schemas/{model}")
                schemas.update(own.pop("$defs"))
                schemas[model.__name__] = own
            described["components"]["securitySchemes"] = {
                "token": {"type": "http", "scheme": "bearer"}
            }
            for path, operations in described["paths"].items():
                if path.startswith(("/v1", "/metrics")):
                    for operation in operations.values():
                        operation["security"] = [{"token": []}]
        return self.openapi_schema or {}
