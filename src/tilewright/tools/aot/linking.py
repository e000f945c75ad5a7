"""Joins kernels that `triton.tools.compile` wrote: one function that runs the kernel whose promises the arguments keep.

add_1024_warps4xstages3(stream, ...)     the kernel for these constants with the most promises that hold
add(stream, ..., algo_id)                the same, constants by number; add_get_num_algos() of them
add_default(stream, ...)                 number 0
load_add(), unload_add()                 all of them
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from tilewright.support.errors import TilewrightError
from tilewright.support.records import dataclass
from tilewright.targets.cpu.c_runtime import RUNTIME

_DIRECTIVE = re.compile(
    r"// tt-linker: (?P<function>\w+):(?P<parameters>[^:\n]*):(?P<algorithm>\w+)\n"
    r"// tw-linker: (?P<number>\d+):(?P<passed>[^:\n]*):(?P<condition>.*)\n"
)
_FUNCTION = re.compile(r"(?P<base>\w+)_[0-9a-f]{8}_(\d+[cd]?)+")


class LinkerError(TilewrightError):
    """Headers that do not belong together, or are none of `triton.tools.compile`'s."""


@dataclass(frozen=True)
class Kernel:
    """What a header says of its kernel."""

    base: str
    function: str
    algorithm: str
    parameters: tuple[str, ...]
    """Each as it is declared in C."""
    passed: tuple[str, ...]
    """The names of those that the kernel's function takes."""
    promises: int
    """How many parameters it promises something of."""
    condition: str
    """The promises in C."""
    header: str
    for_cuda: bool

    def names(self) -> list[str]:
        """The parameters' names."""
        return [re.split(r"\W", declared)[-1] for declared in self.parameters]

    def __str__(self) -> str:
        return f"{self.base}({', '.join(self.parameters)})"


@dataclass(frozen=True)
class Conventions:
    """How functions of a target look."""

    result: str
    first: str
    refused: str

    def declared(self, parameters: Sequence[str], *more: str) -> str:
        """The parameters of a function."""
        return ", ".join(filter(None, [self.first, *parameters, *more])) or "void"

    def passed(self, names: Sequence[str], *more: str) -> str:
        """The arguments of a call."""
        return ", ".join(filter(None, [self.first.rpartition(" ")[2], *names, *more]))


CUDA = Conventions("CUresult", "CUstream stream", "CUDA_ERROR_INVALID_VALUE")
CPU = Conventions("int", "", "TILEWRIGHT_REFUSED")


def read_kernels(headers: Sequence[Path]) -> list[Kernel]:
    """The kernels of headers. The runtime's own, which `*.h` names as well, has none. Raises LinkerError for other
    files without kernels, and for kernels of different functions."""
    kernels = [kernel for path in headers if path.name != f"{RUNTIME}.h" for kernel in _read(path)]
    if not kernels:
        raise LinkerError("no header of a kernel is given")
    first = kernels[0]
    for kernel in kernels[1:]:
        if (kernel.base, kernel.for_cuda, kernel.parameters) != (first.base, first.for_cuda, first.parameters):
            raise LinkerError(f"{kernel.header} and {first.header} are of different functions: {kernel} and {first}")
    return kernels


def _read(path: Path) -> list[Kernel]:
    text = path.read_text(encoding="utf-8")
    found = [_kernel(directive, path.name, "#include <cuda.h>" in text) for directive in _DIRECTIVE.finditer(text)]
    if not found:
        raise LinkerError(
            f"{path} is not a header of triton.tools.compile as tilewright has it: it has no `tw-linker` line"
        )
    return found


def _kernel(directive: re.Match[str], header: str, for_cuda: bool) -> Kernel:
    function = _FUNCTION.fullmatch(directive["function"])
    if function is None:
        raise LinkerError(f"{header}: {directive['function']!r} is not a kernel name that triton.tools.compile wrote")
    return Kernel(
        function["base"],
        function[0],
        directive["algorithm"],
        _words(directive["parameters"]),
        _words(directive["passed"]),
        int(directive["number"]),
        directive["condition"],
        header,
        for_cuda,
    )


def _words(text: str) -> tuple[str, ...]:
    return tuple(word.strip() for word in text.split(",") if word.strip())


def header_text(kernels: Sequence[Kernel]) -> str:
    """The declarations of the joined functions."""
    base, c = kernels[0].base, CUDA if kernels[0].for_cuda else CPU
    lines = ["#pragma once", *_includes(kernels), ""]
    for name in _algorithms(kernels):
        lines += _declarations(name, c, kernels[0].parameters)
    lines += [f"int {base}_get_num_algos(void);"]
    lines += [f"{c.result} {base}_default({c.declared(kernels[0].parameters)});"]
    lines += [f"{c.result} {base}({c.declared(kernels[0].parameters, 'int algo_id')});"]
    return "\n".join([*lines, f"void load_{base}(void);", f"void unload_{base}(void);", ""])


def _declarations(name: str, c: Conventions, parameters: Sequence[str]) -> list[str]:
    return [f"{c.result} {name}({c.declared(parameters)});", f"void load_{name}(void);", f"void unload_{name}(void);"]


def _includes(kernels: Sequence[Kernel]) -> list[str]:
    plain = ["#include <cuda.h>"] if kernels[0].for_cuda else [f'#include "{RUNTIME}.h"']
    return [*plain, "#include <stdbool.h>", "#include <stdint.h>"]


def _algorithms(kernels: Sequence[Kernel]) -> dict[str, list[Kernel]]:
    """The kernels with equal constants, by the name of the function that chooses; those with most promises first."""
    groups: dict[str, list[Kernel]] = {}
    for kernel in kernels:
        groups.setdefault(f"{kernel.base}_{kernel.algorithm}", []).append(kernel)
    return {name: sorted(group, key=lambda kernel: -kernel.promises) for name, group in groups.items()}


def source_text(kernels: Sequence[Kernel], header: str) -> str:
    """The definitions."""
    base, parameters, c = kernels[0].base, kernels[0].parameters, CUDA if kernels[0].for_cuda else CPU
    algorithms = _algorithms(kernels)
    own = list(dict.fromkeys(kernel.header for kernel in kernels))
    text = "".join(f'#include "{name}"\n' for name in [header, *own])
    text += "".join(_choosing(name, group, c) for name, group in algorithms.items())
    names = kernels[0].names()
    text += f"\ntypedef {c.result} (*tw_function)({c.declared(parameters)});\n"
    text += f"static const tw_function tw_functions[] = {{{', '.join(algorithms)}}};\n\n"
    text += f"int {base}_get_num_algos(void) {{ return {len(algorithms)}; }}\n\n"
    text += f"{c.result} {base}({c.declared(parameters, 'int algo_id')}) {{\n"
    text += f"  if (algo_id < 0 || algo_id >= {len(algorithms)}) return {c.refused};\n"
    text += f"  return tw_functions[algo_id]({c.passed(names)});\n}}\n\n"
    text += f"{c.result} {base}_default({c.declared(parameters)}) {{ return {base}({c.passed(names, '0')}); }}\n\n"
    return text + _loading(base, list(algorithms))


def _choosing(name: str, kernels: Sequence[Kernel], c: Conventions) -> str:
    """The function that runs the first kernel whose promises hold."""
    text = f"\n{c.result} {name}({c.declared(kernels[0].parameters)}) {{\n"
    for kernel in kernels:
        text += f"  if ({kernel.condition}) return {kernel.function}({c.passed(kernel.passed)});\n"
    return f"{text}  return {c.refused};\n}}\n\n" + _loading(name, [kernel.function for kernel in kernels])


def _loading(name: str, parts: Sequence[str]) -> str:
    """The functions that load and unload all of `parts`."""
    calls = {what: " ".join(f"{what}_{part}();" for part in parts) for what in ("load", "unload")}
    return "".join(f"void {what}_{name}(void) {{ {called} }}\n" for what, called in calls.items())
