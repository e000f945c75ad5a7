"""Machine code for processors other than the host, and code size as blocks grow."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tilewright
import tilewright.language as tl
from tilewright import compat
from tilewright.compiler.compilation import build_entry
from tilewright.compiler.options import CompileOptions
from tilewright.runtime.request import kernel_source
from tilewright.support import knobs
from tilewright.targets.cpu.facts import named_facts
from tilewright.targets.cpu.target import CpuTarget

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
ELF_MACHINES = {"generic-aarch64": 183, "x86-64": 62, "x86-64-v3": 62, "x86-64-v4": 62}


def example(name: str) -> Any:
    """An example module, with `triton` meaning tilewright."""
    with compat.standing_in():
        spec = importlib.util.spec_from_file_location(f"example_{name}", EXAMPLES / f"{name}.py")
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = module
        spec.loader.exec_module(module)
    return module


def compile_for(cpu: str, kernel: Any, *args: Any, **constants: Any) -> Any:
    """The artefact entry of a kernel for a processor that is named."""
    values, options = kernel.binder.match(args, constants)
    bound = kernel.binder.bind(values, options)
    source = kernel_source(kernel, bound)
    return build_entry(source, CompileOptions.from_keywords(bound.options, debug=False), CpuTarget(named_facts(cpu)))


def f32(*shape: int) -> Any:
    return np.zeros(shape, np.float32)


def launches() -> dict[str, tuple[Any, tuple[Any, ...], dict[str, Any]]]:
    a, b, c = f32(64, 64), f32(64, 64), f32(64, 64)
    strides = (64, 1, 64, 1, 64, 1)
    blocks = {"BLOCK_M": 32, "BLOCK_N": 64, "BLOCK_K": 16, "GROUP_M": 8}
    return {
        "vector_add": (example("vector_add").add_kernel, (f32(999), f32(999), f32(999), 999), {"BLOCK": 256}),
        "softmax": (example("softmax").softmax_kernel, (f32(8, 781), f32(8, 781), 781, 781, 781), {"BLOCK": 1024}),
        "matmul": (example("matmul").matmul_kernel, (a, b, c, 64, 64, 64, *strides), blocks),
    }


@pytest.mark.sampled
@pytest.mark.parametrize("cpu", ELF_MACHINES)
@pytest.mark.parametrize("name", ["vector_add", "softmax", "matmul"])
def test_examples_compile_for_every_processor(cpu: str, name: str) -> None:
    kernel, args, constants = launches()[name]
    entry = compile_for(cpu, kernel, *args, **constants)
    image = entry.sections["obj"]
    assert image[:4] == b"\x7fELF"
    assert int.from_bytes(image[18:20], "little") == ELF_MACHINES[cpu]
    lanes = 16 if cpu == "x86-64-v4" and name != "vector_add" else 8 if cpu in ("x86-64-v3", "x86-64-v4") else 4
    assert f"<{lanes} x float>" in entry.sections["llir"].decode()


@tilewright.jit
def normalise(x, o, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    v = tl.load(x + row * n + cols, mask=cols < n, other=0.0)
    mean = tl.sum(v, axis=0) / n
    tl.store(o + row * n + cols, tl.exp(v - mean), mask=cols < n)


@tilewright.jit
def add_rows(x, y, o, n, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.arange(0, ROWS)[:, None] * n + tl.arange(0, BLOCK)[None, :]
    tl.store(o + at, tl.load(x + at) + tl.sum(tl.load(y + at), axis=1)[:, None])


@tilewright.jit
def walk(x, o, n, BLOCK: tl.constexpr):
    cols = tl.arange(0, BLOCK)
    v = tl.load(x + cols, mask=cols < n, other=0.0)
    tl.store(o + cols, tl.cumsum(v, axis=0) * tl.argmax(v, axis=0), mask=cols < n)


@tilewright.jit
def ordered(x, o, BLOCK: tl.constexpr):
    cols = tl.arange(0, BLOCK)
    tl.store(o + cols, tl.sort(tl.load(x + cols)))


@pytest.mark.costly
def test_code_does_not_grow_with_blocks() -> None:
    sizes: dict[str, list[int]] = {}
    for block in (64, 256, 1024, 4096):
        x = f32(block * 8)
        one = compile_for("x86-64-v4", normalise, x, x.copy(), 50, BLOCK=block)
        two = compile_for("x86-64-v4", add_rows, x, x.copy(), x.copy(), block, ROWS=8, BLOCK=block)
        three = compile_for("x86-64-v4", walk, x, x.copy(), 50, BLOCK=block)
        sizes.setdefault("rows", []).append(len(one.sections["obj"]))
        sizes.setdefault("scans", []).append(len(three.sections["obj"]))
        sizes.setdefault("tiles", []).append(len(two.sections["obj"]))
    for grown in sizes.values():
        assert max(grown) <= 1.5 * min(grown), sizes


@pytest.mark.costly
def test_code_of_a_sort_grows_with_its_stages_only() -> None:
    """A sort of 2^k elements has k (k + 1) / 2 stages, each of the same code."""
    small, large = (
        len(compile_for("x86-64-v4", ordered, f32(block), f32(block), BLOCK=block).sections["obj"])
        for block in (32, 512)
    )
    assert large <= 4 * small, (small, large)


@tilewright.jit
def clear_in_bins(bins, N: tl.constexpr, BINS: tl.constexpr):
    tl.atomic_and(bins + tl.arange(0, N) % BINS, tl.zeros((N,), tl.int32))


@pytest.mark.parametrize("cpu", ["x86-64-v3", "x86-64-v4", "generic-aarch64"])
def test_atomics_of_many_lanes(cpu: str) -> None:
    """As many lanes as a machine's mask has bits, fewer and more."""
    with knobs.scope(opt="strict"):
        for lanes in (16, 64, 128):
            entry = compile_for(cpu, clear_in_bins, np.zeros(lanes, np.int32), N=lanes, BINS=1)
            assert entry.sections["obj"]
