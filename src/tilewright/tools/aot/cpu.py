"""The files of kernels for the CPU: objects, a header, a launcher in C, and the runtime that hands programs to threads.

A program is built from the launcher and the objects:

    cc main.c add_kernel.c add_kernel_*.o tilewright_runtime.o -lpthread -lm
    x86_64-w64-mingw32-gcc main.c add_kernel.c add_kernel_*.o tilewright_runtime.o -lsynchronization    (for Windows)
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tilewright.codegen.llvm_backend import Effort, compile_text
from tilewright.targets.cpu.c_runtime import HEADER, RUNTIME, runtime_source
from tilewright.targets.cpu.facts import CpuFacts
from tilewright.targets.cpu.native_runtime import runtime_text
from tilewright.tools.aot import passing
from tilewright.tools.aot.c_text import CFunction, header
from tilewright.tools.aot.grid import Grid
from tilewright.tools.aot.variants import Variant


def write_cpu_files(
    base: str, variants: Sequence[Variant], grid: Grid | None, facts: CpuFacts, folder: Path
) -> list[Path]:
    """Write everything that a C program needs; the files that were written."""
    function = CFunction(base, variants, grid, "int", "TILEWRIGHT_REFUSED")
    includes = ["stdbool.h", "stdint.h"]
    declared = f'#include "{RUNTIME}.h"\n\n{function.described()}\n\n{function.prototypes()}'
    text = f'#include "{base}.h"\n\n#include <string.h>\n\n{function.definitions()}'
    text += "\n".join(launcher(function, variant) for variant in variants) + "\n" + function.dispatch()
    files = {f"{base}.h": header(f"{base.upper()}_H", includes, declared).encode(), f"{base}.c": text.encode()}
    files |= {f"{variant.name}.o": variant.image for variant in variants}
    for name, data in files.items():
        (folder / name).write_bytes(data)
    return [*(folder / name for name in files), *write_runtime(facts, folder)]


def write_runtime(facts: CpuFacts, folder: Path) -> list[Path]:
    """Write what hands programs to threads, which all kernels share; the files that were written."""
    image = compile_text(runtime_text(facts, "c_launcher.ll"), facts, effort=Effort.NONE)
    files = {
        f"{RUNTIME}.h": header(f"{RUNTIME.upper()}_H", ["stdbool.h", "stdint.h"], HEADER).encode(),
        f"{RUNTIME}.c": runtime_source().encode(),
        f"{RUNTIME}.o": image,
    }
    for name, data in files.items():
        (folder / name).write_bytes(data)
    return [folder / name for name in files]


def launcher(function: CFunction, variant: Variant) -> str:
    """The C function of one variant: arguments into slots, then the grid."""
    slots = passing.kernel_slots(variant.signature)
    count = len(slots)
    waits = int(variant.metadata["waits"])
    lines = [f"extern tilewright_kernel {variant.metadata['entry']};", ""]
    lines += [f"{function.result} {variant.name}({function.parameters()}) {{"]
    lines += [f"  static int64_t tw_habits[2] = {{0, {waits}}};"]
    lines += [f"  uint64_t tw_slots[{count + 3}] = {{0}};", *function.check(variant), *function.extents(variant)]
    lines += [f"  {_filled(index, slot)}" for index, slot in enumerate(slots)]
    lines += [f"  tw_slots[{count + axis}] = (uint64_t)tw_grid[{axis}];" for axis in range(3)]
    extents = ", ".join(f"(uint32_t)tw_slots[{count + axis}]" for axis in range(3))
    arena = variant.metadata["arena_bytes"]
    lines += [
        f"  return tilewright_launch({variant.metadata['entry']}, tw_slots, {extents}, {arena}, tw_habits);",
        "}",
        "",
    ]
    return "\n".join(lines)


def _filled(index: int, slot: passing.Slot) -> str:
    """The statement that fills a slot: the bits of a parameter, or a number."""
    if slot.type:
        return f"tw_slots[{index}] = (uint64_t){slot.value};"
    return f"memcpy(&tw_slots[{index}], &{slot.value}, sizeof {slot.value});"
