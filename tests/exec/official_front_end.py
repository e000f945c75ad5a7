"""Kernels of the corpus, made into Triton IR by official Triton and into machine code by us, against the reference.

`python tests/exec/official_front_end.py [--shard 0/4] [PATTERN]` (`make official-front-end`) runs all of them, and
prints where one fails or differs.
"""

from __future__ import annotations

import argparse
import importlib
import itertools
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

if __name__ == "__main__":
    HERE = Path(__file__).resolve().parent
    sys.path[:0] = [str(HERE), str(HERE.parent / "kernels"), str(HERE.parent)]

import corpus_inputs
import corpus_oracle as oracle
import engines

from tilewright import triton_backend
from tilewright.support import knobs

REFUSED = {
    "assembly": "inline assembly is for GPUs",
    "tuples": "official Triton itself refuses to launch kernels that assign to nested tuples",
}
"""Kernels that do not get that far, and why."""

NEWER_FILES = ("recent",)
"""Files of the corpus with what came after the official Triton that this is tested with."""


def known_cases() -> list[oracle.Case]:
    """The cases that official Triton compiles."""
    return [case for case in oracle.cases() if case.kernel not in REFUSED and case.file not in NEWER_FILES]


@dataclass(frozen=True)
class HostDescriptor:
    """What Triton's own `TensorDescriptor` is, for arrays."""

    base: Any
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    block_shape: tuple[int, ...]
    padding: str = "zero"


def compile_official(case: oracle.Case, target: str = "tilewright-cpu") -> Any:
    """The kernel of a case, compiled by official Triton with us behind it; without what the case promises of integers,
    which the inputs do not keep."""
    compiler: Any = importlib.import_module("triton.compiler")
    described: Any = importlib.import_module("triton.backends.compiler")
    signature, constants, attributes = oracle.arguments_of(case, "official")
    kept = {path: values for path, values in attributes.items() if list(signature.values())[path[0]][0] == "*"}
    source = compiler.ASTSource(oracle.kernel_of(case, "official"), signature, constants, kept)
    return compiler.compile(source, target=described.GPUTarget(target, None, 1))


def differences(case: oracle.Case) -> list[str]:
    """Where a kernel by way of official Triton gives other results on the CPU than the reference; nothing at best."""
    inputs = corpus_inputs.inputs_of(case)
    (expected,) = engines.run_everywhere(
        inputs.source, inputs.arguments, inputs.grid, ["source"], reachable=inputs.reachable
    )
    initial = [array.copy() for array in inputs.reachable]
    copies = engines.fresh(inputs.arguments)
    kinds = inputs.source.full_signature().values()
    kernel = compile_official(case)
    kernel[inputs.grid](*[_described(kind, value) for kind, value in zip(kinds, copies, strict=True)])
    found = tuple(array.copy() for array in inputs.reachable)
    for array, contents in zip(inputs.reachable, initial, strict=True):
        array[...] = contents
    result = engines.Result("official", (*engines.arrays_of(copies), *found))
    return engines.differences(expected, result, ignored=inputs.ignored)


def _described(kind: Any, value: Any) -> Any:
    """The leaves of a descriptor as one object, and numbers as Python's own."""
    if isinstance(value, np.generic):
        return float(value) if engines.is_float(value.dtype) else value.item()
    if not isinstance(kind, str) or not kind.startswith("tensordesc"):
        return value
    rank = kind.count(",") + 1
    block = tuple(int(extent) for extent in kind.partition("[")[2].rstrip("]>").split(","))
    extents = [int(number) for number in value[1 : 1 + 2 * rank]]
    return HostDescriptor(value[0], tuple(extents[:rank]), tuple(extents[rank:]), block)


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("pattern", nargs="?", default="")
    parser.add_argument("--shard", default="0/1")
    options = parser.parse_args()
    number, count = map(int, options.shard.split("/"))
    cases = [case for case in known_cases() if options.pattern in str(case)]
    failed = 0
    with tempfile.TemporaryDirectory() as folder, knobs.scope(cache_dir=folder):
        importlib.import_module("triton").knobs.cache.dir = folder
        triton_backend.activate("cpu")
        for case in itertools.islice(cases, number, None, count):
            try:
                found = differences(case)
            except Exception as error:
                found = [f"{type(error).__name__}: {error}"]
            if found:
                failed += 1
                print(f"{case}: {found[0]}", flush=True)
    print(f"{failed} of {len(range(number, len(cases), count))} kernels fail or differ")
    return int(failed > 0)


if __name__ == "__main__":
    np.seterr(all="ignore")
    sys.exit(main())
