from __future__ import annotations

import inspect

import laya_rag.engine


def test_every_public_name_is_exported_and_has_a_docstring() -> None:
    public = {
        name
        for name, value in vars(laya_rag.engine).items()
        if not name.startswith("_") and not inspect.ismodule(value)
    }
    assert public == set(laya_rag.engine.__all__)
    for name in laya_rag.engine.__all__:
        assert inspect.getdoc(getattr(laya_rag.engine, name)), name
