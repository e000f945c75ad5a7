"""Kernels as shared libraries that PyTorch loads in processes without Python: what AOTInductor and its C++ wrapper
call.

| `kernel.asm` | what |
|---|---|
| `so` | exports the kernel under its name: the machine code, what unpacks arguments, and the runtime |
| `launcher.so` | exports `run_from_nativert(x, y, z, threads, args, kernel)`; the same file for every kernel |

`args` has an entry for each entry of the kernel's signature: the address that a pointer holds, the address of a
scalar's value, NULL of a constant. PyTorch (2.13, `cpu_triton_runtime_wrappers.h`) asks for one thread always;
`TILEWRIGHT_NUM_THREADS` goes before that. A failure is thrown as `std::runtime_error`.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tilewright.codegen.llvm_backend import Effort, compile_text, renamed
from tilewright.support.errors import TargetError
from tilewright.support.records import dataclass
from tilewright.targets.cpu.c_runtime import HEADER, RUNTIME, runtime_source
from tilewright.targets.cpu.facts import CpuFacts, host_facts
from tilewright.targets.cpu.native_runtime import runtime_text

KERNEL, LAUNCHER = "so", "launcher.so"

SCALAR_BYTES = {
    **dict.fromkeys(("i1", "u1", "i8", "u8"), 1),
    **dict.fromkeys(("i16", "u16", "fp16", "bf16"), 2),
    **dict.fromkeys(("i32", "u32", "fp32"), 4),
    **dict.fromkeys(("i64", "u64"), 8),
}

CONSTANT = "constexpr"

_LAUNCHER_SOURCE = """\
#include <cstdint>
#include <cstdlib>
#include <stdexcept>

using kernel_function = const char *(uint32_t, uint32_t, uint32_t, int, void **);

extern "C" __attribute__((visibility("default"))) void run_from_nativert(
    uint32_t x, uint32_t y, uint32_t z, int threads, void **args, void *kernel) {
  static const char *const chosen = std::getenv("TILEWRIGHT_NUM_THREADS");
  const int number = chosen ? std::atoi(chosen) : 0;
  const char *failure = reinterpret_cast<kernel_function *>(kernel)(x, y, z, number > 0 ? number : threads, args);
  if (failure) throw std::runtime_error(failure);
}
"""

_INCLUDES = "#pragma once\n#include <stdbool.h>\n#include <stdint.h>\n"


@dataclass(frozen=True)
class KernelLibraries:
    """Makes both libraries of a kernel, when they are asked for: `kinds` has the types of its signature, in order."""

    name: str
    kinds: tuple[tuple[str, Any], ...]
    arena_bytes: int
    waits: bool

    def make(self, key: str, llir: str) -> bytes:
        """One of the two. Raises TargetError for what PyTorch can't pass, and where there is no compiler for C++."""
        if key == LAUNCHER:
            return _launcher()
        programs = f"{self.name}__programs"
        facts = host_facts()
        files = {
            "kernel.o": compile_text(renamed(llir, self.name, programs), facts),
            f"{RUNTIME}.o": _pool(facts),
            f"{RUNTIME}.h": (_INCLUDES + HEADER).encode(),
            f"{RUNTIME}.c": runtime_source().encode(),
            "entry.c": self.entry(programs).encode(),
        }
        return _linked(files, ["entry.c", f"{RUNTIME}.c", "kernel.o", f"{RUNTIME}.o"], ("CC", "cc", "gcc", "clang"))

    def entry(self, programs: str) -> str:
        """The C function that unpacks arguments and runs the programs."""
        names = [name for name, kind in self.kinds if kind != CONSTANT]
        lines = [f'#include "{RUNTIME}.h"', "#include <stdio.h>", "#include <string.h>"]
        lines += [f"extern tilewright_kernel {programs};"]
        lines += ['__attribute__((visibility("default"))) const char *']
        lines += [f"{self.name}(uint32_t x, uint32_t y, uint32_t z, int threads, void **args) {{"]
        lines += [
            f"  static int64_t habits[2] = {{0, {int(self.waits)}}};",
            "  static _Thread_local char failure[512];",
        ]
        lines += [f"  uint64_t slots[{len(names) + 3}] = {{0}};"]
        slot = 0
        for index, (name, kind) in enumerate(self.kinds):
            if kind != CONSTANT:
                lines.append(f"  {_unpacked(name, kind, slot, index)}")
                slot += 1
        lines += [f"  slots[{slot + axis}] = {extent};" for axis, extent in enumerate("xyz")]
        lines += ["  tilewright_use_threads(threads);"]
        lines += [f"  if (!tilewright_launch({programs}, slots, x, y, z, {self.arena_bytes}, habits)) return 0;"]
        lines += ["  const tilewright_failure *last = tilewright_last_failure();"]
        lines += [
            f'  snprintf(failure, sizeof failure, "kernel {self.name}, program (%d, %d, %d): %s", last->x, last->y, '
            'last->z, last->reason == TILEWRIGHT_ASSERTION ? last->message : "no memory for tiles");',
            "  return failure;",
            "}",
            "",
        ]
        return "\n".join(lines)


def _unpacked(name: str, kind: Any, slot: int, index: int) -> str:
    """The statement that fills a slot. Raises TargetError for types that PyTorch passes in no known way."""
    if isinstance(kind, str) and kind.startswith("*"):
        return f"slots[{slot}] = (uint64_t)(uintptr_t)args[{index}];"
    if kind == "fp64":
        raise TargetError(
            f"parameter '{name}' is a float64, for which PyTorch's C++ passes a float: have it declare float32, by "
            "`torch._inductor.config._use_fp64_for_unbacked_floats = False`"
        )
    if kind not in SCALAR_BYTES:
        raise TargetError(f"parameter '{name}' is of type {kind}, which PyTorch's C++ does not pass to kernels on CPUs")
    return f"memcpy(&slots[{slot}], args[{index}], {SCALAR_BYTES[kind]});"


@lru_cache(maxsize=1)
def _pool(facts: CpuFacts) -> bytes:
    return compile_text(runtime_text(facts, "c_launcher.ll"), facts, effort=Effort.NONE)


@lru_cache(maxsize=1)
def _launcher() -> bytes:
    return _linked({"launcher.cpp": _LAUNCHER_SOURCE.encode()}, ["launcher.cpp"], ("CXX", "c++", "g++", "clang++"))


def _linked(files: Mapping[str, bytes], sources: Sequence[str], compilers: Sequence[str]) -> bytes:
    """A shared library of some of the files. Raises TargetError without a compiler: the first of `compilers` is a
    variable that names one."""
    variable, *usual = compilers
    compiler = next(filter(None, map(shutil.which, filter(None, [os.environ.get(variable), *usual]))), None)
    if compiler is None:
        raise TargetError(
            f"kernels for PyTorch's ahead-of-time compiler are linked by {' or '.join(usual)}: none is there"
        )
    with TemporaryDirectory() as folder:
        for name, data in files.items():
            (Path(folder) / name).write_bytes(data)
        options = ["-O2", "-shared", "-fPIC", "-fvisibility=hidden", "-Wl,-Bsymbolic"]
        command = [compiler, *options, "-o", "library.so", *sources, "-lpthread", "-lm"]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        if done.returncode:
            raise TargetError(f"{' '.join(command)}\n{done.stderr}")
        return (Path(folder) / "library.so").read_bytes()
