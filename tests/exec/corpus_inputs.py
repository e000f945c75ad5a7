"""Inputs for every kernel of the corpus: made from its signature, and by hand where a kernel expects more of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import corpus_oracle as oracle
import engines
import numpy as np

from suite.arrays import Array
from tilewright.compiler.source import ASTSource
from tilewright.dialects import scf

ELEMENTS = 1 << 14
"""Elements of every array: more than any kernel of the corpus reaches with scalars of `SIZE`."""

SIZE = 5
"""What integers are, by default: loops are short, and most blocks are larger than what they load."""

LARGE_SIZE, MANY_ELEMENTS = 96, 1 << 17
"""Integers that give loops several rounds, and what no kernel reaches beyond with them."""

WIDE_INTEGERS = {"arithmetic", "casts", "functions", "reductions"}
"""Files whose kernels compute with integers of either sign; in the others arrays of integers may be indices."""


@dataclass
class Inputs:
    """What a case is run with."""

    source: ASTSource
    arguments: list[Any]
    grid: tuple[int, ...]
    reachable: list[Array] = field(default_factory=list[Array])
    """Arrays that the kernel finds by their addresses."""
    ignored: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])
    """Array and element whose values may differ: addresses."""


def inputs_of(case: oracle.Case, size: int = SIZE) -> Inputs:
    """The inputs of a case, the same every time. `size` is what integers are: `SIZE` or `LARGE_SIZE`."""
    signature, constants, attributes = oracle.arguments_of(case, "tilewright")
    source = ASTSource(oracle.kernel_of(case, "tilewright"), signature, constants, attributes)
    random = np.random.default_rng(case.number)
    wide = case.file in WIDE_INTEGERS
    signature_of = source.full_signature().items()
    named = {name: make(kind, random, wide=wide, size=size) for name, kind in signature_of}
    axes = shape_of(case).axes
    inputs = Inputs(source, [], tuple(2 if axis in axes else 1 for axis in range(3)))
    adjust = ADJUSTMENTS.get(case.kernel)
    if adjust is not None:
        adjust(named, inputs)
    inputs.arguments = list(named.values())
    return inputs


@dataclass(frozen=True)
class Shape:
    """What inputs depend on beside the signature."""

    axes: frozenset[int]
    """Of the grid, along which the kernel asks for its index."""
    has_loop: bool


@cache
def shape_of(case: oracle.Case) -> Shape:
    """The shape of a case, for which it is compiled once in a run."""
    module = oracle.our_module(case)
    has_loop = any(isinstance(op, scf.ForOp | scf.WhileOp) for op in module.walk())
    return Shape(frozenset(engines.axes_of(module)), has_loop)


def make(kind: Any, random: np.random.Generator, *, wide: bool, size: int = SIZE) -> Any:
    """An argument of a signature type; nothing for a constant."""
    if isinstance(kind, tuple):
        return tuple(make(item, random, wide=wide, size=size) for item in kind)
    if kind == "constexpr":
        return ()
    if kind.startswith("tensordesc"):
        return descriptor(kind, random)
    count = ELEMENTS if size <= SIZE else MANY_ELEMENTS
    if kind.startswith("*"):
        return numbers(engines.DTYPES[kind.lstrip("*k")], count, random, wide=wide)
    dtype = np.dtype(engines.DTYPES[kind])
    return dtype.type(0.5 if engines.is_float(dtype) else 1 if dtype == np.bool_ else size)


def numbers(dtype: Any, count: int, random: np.random.Generator, *, wide: bool) -> Array:
    """Normal floats; integers from 0 to 7, or of either sign and never 0 (kernels divide by them) where `wide`."""
    kind = np.dtype(dtype)
    if kind == np.bool_:
        return random.integers(0, 2, count).astype(np.bool_)
    if engines.is_float(kind):
        return random.standard_normal(count).astype(kind)
    if not wide:
        return random.integers(0, 8, count).astype(kind)
    values = random.integers(1, min(100, np.iinfo(kind).max), count)
    return (values * random.choice([-1, 1], count) if kind.kind == "i" else values).astype(kind)


def descriptor(kind: str, random: np.random.Generator) -> tuple[Any, ...]:
    """A host's descriptor, `tensordesc<fp16[16,32]>`: a tensor of 40 rows and 72 columns, extents, strides, padding."""
    element = kind.partition("<")[2].partition("[")[0]
    values = numbers(engines.DTYPES[element], 40 * 72, random, wide=False).reshape(40, 72)
    extents = (np.int64(40), np.int64(72), np.int64(72), np.int64(1))
    return values, *extents, np.bool_(False), np.int32(40), np.int32(72), np.int64(72), np.int64(1)


def _unlock(named: dict[str, Any], inputs: Inputs) -> None:
    named["lock_ptr"] = np.zeros(ELEMENTS, np.int32)


def _small_sums(named: dict[str, Any], inputs: Inputs) -> None:
    """Sums that fit their type: what lies beyond is undefined when it comes from a float."""
    if named["x_ptr"].dtype.itemsize == 1:
        named["x_ptr"] = np.abs(named["x_ptr"].astype(np.int16) % 2).astype(named["x_ptr"].dtype)


def _real_address(named: dict[str, Any], inputs: Inputs) -> None:
    target = np.array([7.0, 8.0], np.float32)
    inputs.reachable.append(target)
    named["address"] = np.int64(target.ctypes.data)
    inputs.ignored.append((1, 0))


def _groups(named: dict[str, Any], inputs: Inputs) -> None:
    """Two products, of three tiles together."""
    sizes, random = [(64, 32, 64), (32, 32, 32)], np.random.default_rng(1)
    made: dict[str, list[Array]] = {"a_ptrs": [], "b_ptrs": [], "c_ptrs": []}
    for m, n, k in sizes:
        for name, shape in (("a_ptrs", (m, k)), ("b_ptrs", (k, n)), ("c_ptrs", (m, n))):
            made[name].append(random.standard_normal(shape).astype(np.float16))
    for name, arrays in made.items():
        inputs.reachable += arrays
        named[name] = np.array([array.ctypes.data for array in arrays], np.int64)
    named["sizes"] = np.array(sizes, np.int32).reshape(-1)
    named["strides"] = np.array([(k, n, n) for _, n, k in sizes], np.int32).reshape(-1)
    named["groups"] = np.int32(2)
    inputs.grid = (3, 1, 1)


def _heads(named: dict[str, Any], inputs: Inputs) -> None:
    """Two heads of 1024 rows, one after the other."""
    random = np.random.default_rng(2)
    for name in ("q_ptr", "k_ptr", "v_ptr", "out_ptr"):
        named[name] = random.standard_normal(2 * 1024 * 64).astype(np.float16)
    named["stride_h"], named["stride_m"] = np.int32(1024 * 64), np.int32(64)


def _gradients(named: dict[str, Any], inputs: Inputs) -> None:
    """Two heads of 256 rows, with the logarithms of sums that keep exponentials small."""
    random = np.random.default_rng(3)
    for name in ("q_ptr", "k_ptr", "v_ptr", "do_ptr", "dk_ptr", "dv_ptr"):
        named[name] = (0.3 * random.standard_normal(2 * 256 * 64)).astype(np.float16)
    named["m_ptr"] = random.uniform(2, 4, ELEMENTS).astype(np.float32)
    named["stride_z"], named["stride_tok"], named["CTX"] = np.int32(256 * 64), np.int32(64), np.int32(256)


def _rows_apart(named: dict[str, Any], inputs: Inputs) -> None:
    """Rows of 8 heads of 64."""
    named["stride"] = np.int32(8 * 64)


def _whole_rows(named: dict[str, Any], inputs: Inputs) -> None:
    """Rows that begin at multiples of 16 bytes, as descriptors need them: extents are multiples of 8."""
    for name in ("n", "N", "K"):
        if isinstance(value := named.get(name), np.integer):
            named[name] = type(value)(-(-int(value) // 8) * 8)


ADJUSTMENTS: dict[str, Callable[[dict[str, Any], Inputs], None]] = {
    "attention": _heads,
    "attention_backward": _gradients,
    "descriptor_atomics": _whole_rows,
    "descriptor_rows": _whole_rows,
    "descriptors": _whole_rows,
    "grouped_gemm": _groups,
    "layer_norm_backward": _unlock,
    "matmul_device_descriptors": _whole_rows,
    "pointers": _real_address,
    "rotary": _rows_apart,
    "sums": _small_sums,
}
"""By kernel: what it needs beyond what its signature says."""


def runnable_cases() -> Sequence[oracle.Case]:
    return oracle.cases()
