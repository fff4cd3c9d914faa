"""From a `{"provider": …, "config": …}` block to a component of the index clock."""

from __future__ import annotations

from laya_signals.registry import Registry

#: Providers that a stack may name.
registry = Registry("laya.index", "laya.signals")
