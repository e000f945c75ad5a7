"""Native code of ours: LLVM IR files, compiled once for each machine."""

from __future__ import annotations

from importlib.resources import files
from typing import TYPE_CHECKING

from tilewright.codegen.llvm_backend import Effort, compile_text
from tilewright.codegen.llvm_backend import version as llvm_version
from tilewright.support.disk_cache import DiskCache, Entry, cache_directory
from tilewright.support.fingerprint import fingerprint

if TYPE_CHECKING:
    from tilewright.targets.cpu.facts import CpuFacts

LAUNCH_CACHE = ("python.ll", "repeat.ll")


def launch_cache_text() -> str:
    """LLVM IR of what recognises calls, and of what it and the launchers use of Python."""
    folder = files("tilewright.targets.launch_cache")
    return "\n".join((folder / source).read_text() for source in LAUNCH_CACHE)


def native_object(title: str, text: str, facts: CpuFacts) -> bytes:
    """The object of LLVM IR for a machine, from the disk cache; where there is none it is compiled, unoptimised, as it
    only hands on (20 ms)."""
    key = fingerprint(title, text, facts.triple, facts.cpu, facts.feature_string, llvm_version())
    cache = DiskCache(cache_directory())
    entry = cache.get(key)
    if entry is None or "obj" not in entry.sections:
        entry = Entry({}, {"obj": compile_text(text, facts, effort=Effort.NONE)})
        cache.put(key, entry)
    return entry.sections["obj"]
