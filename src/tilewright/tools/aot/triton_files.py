"""The files of `triton.tools.compile`: one kernel for one signature, in files and under names as Triton makes them.

    add.8b2d2cf4_0d1d2d3.h, add.8b2d2cf4_0d1d2d3.c
    CUresult add_8b2d2cf4_0d1d2d3(CUstream stream, CUdeviceptr x_ptr, CUdeviceptr y_ptr);

The header says in comments what `triton.tools.link` reads: the function's name, all parameters, those that are promised
to be 1 among them, and the constants; how many promises there are, what the function takes, and the promises in C.

    // tt-linker: add_8b2d2cf4_0d1d2c3:CUdeviceptr x_ptr, CUdeviceptr y_ptr, int32_t n:1024_warps4xstages3
    // tw-linker: 3:x_ptr, y_ptr:(uintptr_t)x_ptr % 16 == 0 && (uintptr_t)y_ptr % 16 == 0 && n == 1
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import replace
from pathlib import Path

from tilewright.support.records import dataclass
from tilewright.targets.base import Target
from tilewright.targets.cpu.target import CpuTarget
from tilewright.tools.aot import cpu, cuda, passing
from tilewright.tools.aot.c_text import ALWAYS, CFunction, header
from tilewright.tools.aot.grid import Grid
from tilewright.tools.aot.signature import Signature
from tilewright.tools.aot.variants import Variant

CONVENTIONS = {"cuda": ("CUresult", "CUstream stream"), "cpu": ("int", "")}
"""What functions return, and their first parameter, by target."""


@dataclass(frozen=True)
class Names:
    """What a kernel for a signature is called."""

    base: str
    entries: tuple[str, ...]
    """The signature as it was written, entry by entry."""
    signature: Signature
    settings: str
    """The launch options, as `warps4xstages3`."""

    @property
    def tag(self) -> str:
        """The part of all names that tells signatures apart."""
        said = " ".join([*self.entries, self.settings])
        return f"{hashlib.sha256(said.encode()).hexdigest()[:8]}_{self.signature.suffix}"

    @property
    def function(self) -> str:
        """The C function."""
        return f"{self.base}_{self.tag}"

    @property
    def algorithm(self) -> str:
        """Constants and launch options: what kernels have in common that are one to the linker."""
        constants = [argument.constant for argument in self.signature.arguments if not argument.is_passed]
        return re.sub(r"\W", "_", "_".join(["x".join(map(str, constants)), self.settings]))


def without_ones(signature: Signature) -> Signature:
    """A signature whose parameters that are 1 are constants: the functions do not take them."""
    return Signature(tuple(replace(a, type="", hint=0, constant=1) if a.hint == 1 else a for a in signature.arguments))


def write_triton_files(names: Names, variant: Variant, grid: Grid, target: Target, path: Path) -> list[Path]:
    """Write a header and a C file beside `path`, and for the CPU the machine code and the runtime; what was written."""
    result, first = CONVENTIONS[target.name]
    pointer = "CUdeviceptr" if target.name == "cuda" else ""
    refused = "CUDA_ERROR_INVALID_VALUE" if target.name == "cuda" else "TILEWRIGHT_REFUSED"
    function = CFunction(names.base, [variant], grid, result, refused, first=first, pointer=pointer)
    place = path.with_suffix(f".{names.tag}.h")
    every = [argument for argument in names.signature.arguments if argument.is_passed]
    all_parameters = ", ".join(text for argument in every for text in passing.declared(argument, pointer))
    passed = ", ".join(name for argument in every if argument.is_in_kernel for name in passing.names(argument))
    promises = [promise for argument in every for promise in passing.promises(argument)]
    declared = "\n".join(
        [
            f"void unload_{names.function}(void);",
            f"void load_{names.function}(void);",
            f"// tt-linker: {names.function}:{all_parameters}:{names.algorithm}",
            f"// tw-linker: {len(promises)}:{passed}:{' && '.join(promises) or ALWAYS}",
            f"{result} {names.function}({function.parameters() or 'void'});",
        ]
    )
    place.parent.mkdir(parents=True, exist_ok=True)
    include = f'#include "{place.name}"\n\n{function.definitions()}'
    guard = re.sub(r"\W", "_", place.name).upper()
    if isinstance(target, CpuTarget):
        objects = cpu.write_runtime(target.facts, place.parent)
        machine_code = place.with_suffix(".o")
        machine_code.write_bytes(variant.image)
        text = cpu.launcher(function, variant) + _loading(names.function, "", "")
        text = f"{include}#include <string.h>\n\n{text}"
        top = header(guard, ["stdbool.h", "stdint.h"], f'#include "{cpu.RUNTIME}.h"\n\n{declared}')
    else:
        objects, machine_code = [], None
        code = f"{variant.name}_code"
        load = f"CUfunction function; tw_prepare(&{code}, &function);"
        loading = _loading(names.function, load, f"tw_unload(&{code});")
        text = f"{include}{cuda.support()}\n{cuda.launcher(function, variant)}{loading}"
        top = header(guard, ["cuda.h", "stdbool.h", "stdint.h"], declared)
    place.write_text(top)
    place.with_suffix(".c").write_text(text)
    return [place, place.with_suffix(".c"), *([machine_code] if machine_code else []), *objects]


def _loading(name: str, load: str, unload: str) -> str:
    return f"\nvoid load_{name}(void) {{ {load} }}\nvoid unload_{name}(void) {{ {unload} }}\n"
