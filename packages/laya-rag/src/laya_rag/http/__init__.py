"""A corpus over HTTP: what `laya serve` serves. Needs the extra `laya-rag[serve]`.

`laya_rag.http.app.http_app` makes the application; `docs/http.md` has the contract.
"""

#: The environment variable that holds one token, for the server and for its clients.
TOKEN_VARIABLE = "LAYA_SERVE_TOKEN"  # noqa: S105
DEFAULT_PORT = 8077
