"""Facts of a CPU: processor name, features, vector width, caches, cores; of this host or of one that is named.

Reading them needs llvmlite only for the host's name and features; both are part of the cache key of compiled kernels.
"""

from __future__ import annotations

import ctypes
import os
import platform
import sys
from collections.abc import Iterable
from dataclasses import replace
from difflib import get_close_matches
from fnmatch import fnmatchcase
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import Any

from tilewright.support.errors import KnobError, TargetError
from tilewright.support.facts import TargetFacts
from tilewright.support.records import dataclass

_X86_64_V2 = frozenset({"sse2", "sse3", "ssse3", "sse4.1", "sse4.2", "cx16", "sahf", "popcnt"})
_X86_64_V3 = _X86_64_V2 | {"avx", "avx2", "fma", "f16c", "bmi", "bmi2", "lzcnt", "movbe"}

BASELINE_FEATURES: dict[str, frozenset[str]] = {
    "x86-64": frozenset({"sse2"}),
    "x86-64-v2": _X86_64_V2,
    "x86-64-v3": _X86_64_V3,
    "x86-64-v4": _X86_64_V3 | {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"},
    "generic-aarch64": frozenset({"neon", "fp-armv8", "fullfp16"}),
}
"""Feature sets of processors that can be asked for by name without being the host."""

_NEEDS = (
    ("amx-*", ("amx-tile",)),
    ("avx10.*", ("avx512bf16", "avx512fp16", "avx512vbmi", "avx512vl", "avx512vnni")),
    ("avx512bf16", ("avx512bw",)),
    ("avx512fp16", ("avx512bw", "avx512dq", "avx512vl")),
    ("avx512vbmi*", ("avx512bw",)),
    ("avx512bitalg", ("avx512bw",)),
    ("avx512*", ("avx512f",)),
    ("avx512f", ("avx2", "f16c", "fma")),
    ("avxvnni", ("avx2",)),
    ("vaes", ("avx2",)),
    ("vpclmulqdq", ("avx",)),
    ("avx2", ("avx",)),
    ("f16c", ("avx",)),
    ("fma", ("avx",)),
)
"""Features, with * for any ending, and those that they build on."""


@dataclass(frozen=True, kw_only=True)
class CpuFacts(TargetFacts):
    """A CPU target: `TargetFacts` plus what only CPUs have."""

    l3_bytes: int = 8 * 1024 * 1024
    """Last-level cache in bytes."""

    @property
    def is_windows(self) -> bool:
        return "windows" in self.triple

    @property
    def is_x86(self) -> bool:
        return self.triple.startswith("x86_64")


def vector_bits_of(triple: str, features: Iterable[str]) -> int:
    """The widest vector register that code should use: 512 with AVX-512, 256 with AVX2, else 128."""
    features = frozenset(features)
    if triple.startswith("x86_64"):
        if {"avx512f", "avx512bw", "avx512vl", "avx512dq"} <= features:
            return 512
        return 256 if "avx2" in features else 128
    return 128


def as_zen(facts: CpuFacts) -> CpuFacts:
    """The facts of one of AMD's Zen, with how memory is best used there.

    Measured on Zen 4 (32 KiB of L1, 32 MiB of L3, which takes what L2 evicts):

    - launches that read and write as much as L3 holds, or more, are 1.3 to 1.6 times as fast with nontemporal stores,
      copies of two threads as fast;
    - vector sums are 1.1 and swiglu 1.35 times as fast if they leave it to the processor to find what they will read
      and write, sums and maxima of rows of 4 to 64 KiB 1.1 to 1.4 times, softmax 1.15 times; of short rows that are
      far apart it finds nothing: sums of columns are 1.4 times as fast if they ask;
    - layer norm of rows of 16 KiB is 1.06 to 1.1 times as fast if the next row is fetched to L2, of rows of 4 KiB 0.92
      times;
    - loops of at most two ops for each array that passes by are 1.1 to 1.4 times as fast in vectors of 256 bits
      (Sapphire Rapids: as fast; 0.7 times where three arrays are stored past the caches);
    - gathers are microcode;
    - the halves of a vector of 512 bits are multiplied one after the other, so that L2 keeps up: products are 1 to 3 %
      faster when sums stay in registers for longer. (Sapphire Rapids is 8 % slower with panels of 64 KiB.)
    """
    return replace(
        facts,
        loops_prefetch=False,
        fetched_near_bytes=facts.l1_bytes // 4,
        streamed_traffic=facts.l3_bytes,
        has_fast_gathers=False,
        prefetches_by_page=True,
        streams_half_vectors=True,
        panels_are_far=facts.cpu == "znver4",
    )


@lru_cache(maxsize=1)
def host_facts() -> CpuFacts:
    """Facts of the machine that this process runs on."""
    llvm: Any = import_module("llvmlite.binding")
    triple: str = llvm.get_process_triple()
    found: dict[str, bool] = dict(llvm.get_host_cpu_features())
    enabled = frozenset(name for name, on in found.items() if on)
    if "amx-tile" in enabled and not request_amx():
        enabled = frozenset(name for name in enabled if not name.startswith("amx"))
    facts = CpuFacts(
        name="cpu",
        triple=triple,
        cpu=llvm.get_host_cpu_name(),
        features=enabled,
        absent_features=frozenset(found) - enabled,
        vector_bits=vector_bits_of(triple, enabled),
        l1_bytes=_cache_bytes(1, 32 * 1024),
        l2_bytes=_cache_bytes(2, 512 * 1024),
        l3_bytes=_cache_bytes(3, 8 * 1024 * 1024),
        num_cores=available_cores(),
    )
    return as_zen(facts) if facts.cpu.startswith("znver") else facts


SYSTEMS = {"linux": "unknown-linux-gnu", "macos": "apple-darwin", "windows": "pc-windows-gnu"}
"""Operating systems that can be compiled for, and how LLVM names them."""


def named_facts(cpu: str, system: str = "", *, num_cores: int = 1) -> CpuFacts:
    """Facts of a baseline processor: ``x86-64``, ``x86-64-v2`` to ``x86-64-v4``, or ``generic-aarch64``; of a system of
    `SYSTEMS`, by default this one.

    Raises TargetError for another name.
    """
    if cpu not in BASELINE_FEATURES:
        raise TargetError(f"no processor {cpu!r} can be compiled for; there are {', '.join(BASELINE_FEATURES)}")
    features = BASELINE_FEATURES[cpu]
    system = system or {"darwin": "macos", "win32": "windows"}.get(sys.platform, "linux")
    if system not in SYSTEMS:
        raise TargetError(f"no system {system!r} can be compiled for; there are {', '.join(SYSTEMS)}")
    is_arm = cpu.endswith("-aarch64")
    triple = f"{'aarch64' if is_arm else 'x86_64'}-{SYSTEMS[system]}"
    return CpuFacts(
        name="cpu",
        triple=triple,
        cpu="generic" if is_arm else cpu,
        features=features,
        vector_bits=vector_bits_of(triple, features),
        num_cores=num_cores,
    )


def without_features(facts: CpuFacts, names: Iterable[str]) -> CpuFacts:
    """The same processor without some features, and without all that build on them.

    Names that the processor does not have are ignored where LLVM knows them. Raises KnobError for others.
    """
    gone = frozenset(names)
    if not gone:
        return facts
    known = facts.features.union(facts.absent_features, *BASELINE_FEATURES.values(), *(needs for _, needs in _NEEDS))
    for name in sorted(gone - known):
        near = get_close_matches(name, known, n=1)
        hint = f"; did you mean '{near[0]}'?" if near else ""
        raise KnobError(f"cpu_without: '{name}' is not a feature of processors like {facts.cpu}{hint}")
    gone = frozenset(feature for feature in known if feature in gone or needed_features(feature) & gone)
    left = facts.features - gone
    return replace(
        facts,
        features=left,
        absent_features=facts.absent_features | gone,
        vector_bits=vector_bits_of(facts.triple, left),
    )


def needed_features(feature: str) -> frozenset[str]:
    """All x86 features that code must be allowed to use for this one to make sense."""
    direct = {needed for name, needs in _NEEDS for needed in needs if fnmatchcase(feature, name)} - {feature}
    return frozenset(direct).union(*map(needed_features, direct))


def request_amx() -> bool:
    """Ask Linux for the use of AMX tiles by this process; without, they fault. False where it declines."""
    if not sys.platform.startswith("linux"):
        return False
    arch_prctl, request_permission, tile_data = 158, 0x1023, 18
    return ctypes.CDLL(None).syscall(arch_prctl, request_permission, tile_data) == 0


def available_cores() -> int:
    """Cores that this process may run on (its affinity mask, not the machine's count)."""
    if hasattr(os, "sched_getaffinity"):
        return max(1, len(os.sched_getaffinity(0)))
    return max(1, os.cpu_count() or 1)


def _cache_bytes(level: int, default: int) -> int:
    """Size of a data or unified cache of core 0 as Linux reports it, else `default`."""
    if platform.system() != "Linux":
        return default
    for index in Path("/sys/devices/system/cpu/cpu0/cache").glob("index*"):
        try:
            if int((index / "level").read_text()) != level or (index / "type").read_text().strip() == "Instruction":
                continue
            text = (index / "size").read_text().strip()
        except (OSError, ValueError):
            continue
        scale = {"K": 1024, "M": 1024 * 1024}.get(text[-1:], 1)
        digits = text.rstrip("KMG")
        if digits.isdigit():
            return int(digits) * scale
    return default
