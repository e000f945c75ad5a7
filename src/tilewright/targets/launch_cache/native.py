"""Native code of ours: LLVM IR files, compiled once for each machine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from ctypes import Structure
from importlib.resources import files
from string import Template
from typing import TYPE_CHECKING

from tilewright.codegen.llvm_backend import Effort, compile_text
from tilewright.codegen.llvm_backend import version as llvm_version
from tilewright.codegen.native_records import declare, names_of
from tilewright.support.disk_cache import DiskCache, Entry, cache_directory
from tilewright.support.fingerprint import fingerprint
from tilewright.targets.launch_cache.records import CONSTANTS, RECORDS

if TYPE_CHECKING:
    from tilewright.targets.cpu.facts import CpuFacts


def launch_cache_text() -> str:
    """LLVM IR of what recognises calls, and of what it and the launchers use of Python."""
    return filled("tilewright.targets.launch_cache", ("python.ll", "repeat.ll", "site.ll"), RECORDS, CONSTANTS)


def filled(
    package: str, sources: Sequence[str], records: Sequence[type[Structure]], names: Mapping[str, object]
) -> str:
    """LLVM IR of templates in a package, after declarations of the records that they use; names stand for numbers and
    for what differs between machines."""
    folder = files(package)
    text = "\n".join((folder / source).read_text() for source in sources)
    return "\n".join([declare(*records), Template(text).substitute(names, **names_of(*records))])


def native_object(title: str, text: str, facts: CpuFacts) -> bytes:
    """The object of LLVM IR for a machine, from the disk cache; where there is none it is compiled, unoptimised
    but for what each launch runs (40 ms)."""
    effort = Effort.HOT
    key = fingerprint(title, text, facts.triple, facts.cpu, facts.feature_string, llvm_version(), effort.value)
    cache = DiskCache(cache_directory())
    entry = cache.get(key)
    if entry is None or "obj" not in entry.sections:
        entry = Entry({}, {"obj": compile_text(text, facts, effort=effort)})
        cache.put(key, entry)
    return entry.sections["obj"]
