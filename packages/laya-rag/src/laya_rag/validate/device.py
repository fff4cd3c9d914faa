"""What ran where, and whether what a component asks for is there."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Iterator, Mapping
from dataclasses import replace
from importlib.metadata import PackageNotFoundError, version
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType

from laya_index.pipeline import Pipeline, index_documents
from laya_signals import ComponentConfig
from laya_signals.encode.onnx import THREADS, available_cpus

from laya_rag.validate.base import Finding, first_of
from laya_rag.validate.trial import Trial

# What decides a signal's bits, where it is installed.
_PACKAGES = ("numpy", "pyarrow", "onnxruntime", "tokenizers", "torch", "transformers")
_DEEP = 8
_HOLDS_NOTHING = (
    *(str, bytes, int, float, type, type(None)),
    *(FunctionType, MethodType, BuiltinFunctionType, ModuleType),
)


def check_device(trial: Trial) -> Finding:
    """Run one document, then look at the sessions and networks that the components hold.

    Fails only for a device that a component's settings name and this machine lacks.
    """
    stack = trial.stack("first")
    model = stack.model
    blocks = {
        "redact": model.redact,
        "chunk": model.chunk,
        "context": model.context,
        "bm25": model.signals.bm25,
        **model.signals.embeddings,
        "sparse": model.signals.sparse,
        "multivector": model.signals.multivector,
        "fde": model.signals.fde,
        **{f"columns.{name}": block for name, block in model.signals.columns.items()},
        "graph": model.graph,
    }
    # An empty cache: models that have nothing to do are not loaded.
    pipeline = replace(trial.pipeline, cache=trial.made / "device.cache")
    components = _components(pipeline)
    problems = [
        f"{stage}: {text}"
        for stage, component in components.items()
        for text in missing_devices(component)
    ]
    if not problems:
        index_documents(pipeline, [next(iter(trial.documents.values()))])
    ran = {stage: sorted(set(runtimes(component))) for stage, component in components.items()}
    used = sorted({place for places in ran.values() for place in places})
    providers = {stage: block.provider for stage, block in blocks.items() if block is not None}
    facts = {
        "python": platform.python_version(),
        "system": platform.system(),
        "machine": platform.machine(),
        "processors": available_cpus(),
        "threads": os.environ.get(THREADS),
        "packages": dict(_versions()),
        "components": {
            stage: {"provider": provider, "ran_on": ran.get(stage, [])}
            for stage, provider in sorted(providers.items())
        },
    }
    return Finding(
        f"{', '.join(used) or 'plain Python'}; {facts['processors']} processors, Python "
        f"{facts['python']} on {facts['machine']}",
        first_of(problems),
        facts,
    )


def _components(pipeline: Pipeline) -> dict[str, object]:
    found: dict[str, object] = {
        "redact": pipeline.redactor,
        "chunk": pipeline.chunker,
        "context": pipeline.context,
        "bm25": None if pipeline.lexical is None else pipeline.lexical.tokenizer,
        **pipeline.generators,
        "graph": pipeline.graph,
    }
    return {stage: component for stage, component in found.items() if component is not None}


def _versions() -> Iterator[tuple[str, str]]:
    for name in _PACKAGES:
        try:
            yield name, version(name)
        except PackageNotFoundError:
            continue


def missing_devices(component: object) -> Iterator[str]:
    """The devices that the settings of `component`, or of one within, name and that are not here.

    A setting `device` names a torch device, `providers` names those of ONNX Runtime.
    """
    for config in _configs(component):
        for key, value in config.model_dump().items():
            yield from _missing(key, value)


def _configs(component: object) -> Iterator[ComponentConfig]:
    for item in _reachable(component):
        config = getattr(item, "config", None)
        if isinstance(config, ComponentConfig):
            yield config


def _missing(key: str, value: object) -> Iterator[str]:
    if isinstance(value, Mapping):
        for inner, each in value.items():
            yield from _missing(str(inner), each)
    elif key == "device" and isinstance(value, str) and value != "cpu":
        if (why := _no_torch_device(value)) is not None:
            yield f"asks for device {value!r}, {why}"
    elif key == "providers" and isinstance(value, list | tuple):
        import onnxruntime

        for name in set(value) - set(onnxruntime.get_available_providers()):
            yield f"asks for {name!r}, which this ONNX Runtime does not have"


def _no_torch_device(name: str) -> str | None:
    try:
        import torch
    except ImportError:
        return "but torch is not installed"
    kind, _, index = name.partition(":")
    if kind == "cpu":
        return None
    backend = getattr(torch, kind, None) or getattr(torch.backends, kind, None)
    if backend is None or not backend.is_available():
        return f"but torch finds no {kind} here"
    if index and int(index) >= backend.device_count():
        return f"but there are only {backend.device_count()}"
    return None


def runtimes(component: object) -> Iterator[str]:
    """Where the models that `component` holds run: `onnxruntime CPUExecutionProvider`, say."""
    onnx, torch = sys.modules.get("onnxruntime"), sys.modules.get("torch")
    for item in _reachable(component):
        if onnx is not None and isinstance(item, onnx.InferenceSession):
            yield f"onnxruntime {item.get_providers()[0]}"
        elif torch is not None and isinstance(item, torch.nn.Module):
            for weights in item.parameters():
                yield f"torch {weights.device}"


def _reachable(component: object) -> Iterator[object]:
    """`component` and what it holds, a few steps deep, each once."""
    seen: set[int] = set()
    level: list[object] = [component]
    for _ in range(_DEEP):
        following: list[object] = []
        for item in level:
            if id(item) not in seen:
                seen.add(id(item))
                yield item
                following.extend(_held(item))
        level = following


def _held(item: object) -> list[object]:
    if isinstance(item, dict):
        return list(item.values())
    if isinstance(item, list | tuple):
        return list(item)
    if isinstance(item, _HOLDS_NOTHING):
        return []
    slots = [name for kind in type(item).__mro__ for name in getattr(kind, "__slots__", ())]
    values = [getattr(item, name, None) for name in slots if name != "__weakref__"]
    return [*getattr(item, "__dict__", {}).values(), *values]
