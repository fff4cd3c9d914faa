"""What a benchmark ran on."""

from __future__ import annotations

import os
import platform
import re
from importlib import metadata
from pathlib import Path

_CPU = Path("/proc/cpuinfo")
_MEMORY = Path("/proc/meminfo")


def machine() -> dict[str, str | float]:
    """Processor, cores, memory, versions, and how busy the machine was; no date, no name."""
    found: dict[str, str | float] = {
        "cpu": _first(_CPU, r"model name\s*:\s*(.+)") or platform.processor() or platform.machine(),
        "cores": float(os.cpu_count() or 1),
        "system": platform.system(),
        "python": platform.python_version(),
        "numpy": metadata.version("numpy"),
        "laya": metadata.version("laya-rag"),
    }
    if kilobytes := _first(_MEMORY, r"MemTotal:\s*(\d+) kB"):
        found["memory_gib"] = round(int(kilobytes) / 2**20, 1)
    if hasattr(os, "getloadavg"):
        found["load"] = round(os.getloadavg()[0], 1)
    return found


def described(facts: dict[str, str | float]) -> str:
    """The same in a sentence."""
    memory = f", {facts['memory_gib']} GiB" if "memory_gib" in facts else ""
    load = (
        f" Processes that wanted a core when it began: {facts['load']}." if "load" in facts else ""
    )
    return (
        f"{facts['cpu']}, {facts['cores']:.0f} cores{memory}, {facts['system']}; "
        f"Python {facts['python']}, numpy {facts['numpy']}, laya {facts['laya']}.{load}"
    )


def _first(path: Path, pattern: str) -> str:
    """The first match of `pattern` in a file that not every system has."""
    if not path.exists():
        return ""
    found = re.search(pattern, path.read_text(encoding="utf-8"))
    return found[1].strip() if found else ""
