"""What micro-kernels and the packing of panels mean, which modules of the loops stage declare.

Addresses are real ones, as the reference gives them for storage; strides count elements.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np
from xdsl.ir import Operation

from tilewright.codegen.microkernels import PACK_CACHE_BYTES, MatmulKernel, Packing, PanelRoutine
from tilewright.lowering.microkernel_attributes import find_routine
from tilewright.tools.validation.launches import Array

_DEPTH_MULTIPLE = 32
_PLAIN = {"f16": "float16", "f32": "float32", "f64": "float64", "i8": "int8", "i16": "int16", "i32": "int32"}


def find_microkernel(declaration: Operation) -> Callable[..., Any] | None:
    """The NumPy function of a declared function, if it is a micro-kernel."""
    match find_routine(declaration):
        case PanelRoutine(packing=packing) as routine:
            pack = _pack_panels(routine)
            return pack if packing is Packing.PACK else _cache(pack, routine.columns)
        case MatmulKernel() as kernel:
            return _multiply(kernel)
        case _:
            return None


def _numpy_type(name: str) -> np.dtype[Any]:
    if name in _PLAIN:
        return np.dtype(_PLAIN[name])
    import ml_dtypes

    names = {"bf16": "bfloat16"} | {n.replace("float8_", "f8").replace("_", ""): n for n in dir(ml_dtypes)}
    return np.dtype(getattr(ml_dtypes, names[name.lower()]))


def _view(address: int, dtype: np.dtype[Any], shape: tuple[int, ...], strides: tuple[int, ...]) -> Array:
    """Elements at an address, as an array that shares their memory."""
    count = 1 + sum((extent - 1) * stride for extent, stride in zip(shape, strides, strict=True))
    raw: Any = (ctypes.c_char * (count * dtype.itemsize)).from_address(address)
    flat: Array = np.frombuffer(raw, dtype)
    return np.lib.stride_tricks.as_strided(flat, shape, tuple(stride * dtype.itemsize for stride in strides))


def _multiply(kernel: MatmulKernel) -> Callable[..., None]:
    """C[m x n] += A[m x k] B[k x n], with B in the form that the kernel takes, to its separate output if it has one."""
    dtype, wide = _numpy_type(kernel.element), _numpy_type(kernel.accumulator)

    def run(*numbers: Any) -> None:
        a, a_row, a_k, b, b_stride, c, c_row, k, m, n, *more = (int(number) for number in numbers)
        output = more[1:] if kernel.fills_panels else more
        if min(m, n) <= 0:
            return
        old = _view(c, wide, (m, n), (c_row, 1))
        result = _view(output[0], wide, (m, n), (output[1], 1)) if output else old
        result[...] = 0 if kernel.from_zero else old
        if k <= 0:
            return
        left = _view(a, dtype, (m, k), (a_row, a_k)).astype(wide)
        if kernel.packed_b:
            right = _panels_at(b, dtype, kernel.panel_columns, k, n)[:, :k].transpose(1, 0, 2).reshape(k, -1)[:, :n]
        else:
            right = _view(b, dtype, (k, n), (1, b_stride) if kernel.transposed_b else (b_stride, 1))
        result += left @ right.astype(wide)

    return run


def _panels_at(address: int, dtype: np.dtype[Any], columns: int, k: int, n: int) -> Array:
    """Panels as [panel, row, column]."""
    depth, count = -(-k // _DEPTH_MULTIPLE) * _DEPTH_MULTIPLE, -(-n // columns)
    return _view(address, dtype, (count, depth, columns), (depth * columns, columns, 1))


def _pack_panels(routine: PanelRoutine) -> Callable[..., None]:
    """All of B as panels of its own type, columns past the last 0."""
    dtype, columns = _numpy_type(routine.element), routine.columns

    def run(*numbers: Any) -> None:
        b, stride, panels, k, n = (int(number) for number in numbers)
        if min(k, n) <= 0:
            return
        target = _panels_at(panels, dtype, columns, k, n)
        padded = np.zeros((k, target.shape[0] * columns), dtype)
        padded[:, :n] = _view(b, dtype, (k, n), (1, stride) if routine.transposed_b else (stride, 1))
        target[:, :k] = padded.reshape(k, -1, columns).transpose(1, 0, 2)

    return run


def _cache(pack: Callable[..., None], columns: int) -> Callable[..., int]:
    """Return what a pack-cache routine means: it packs each time, and returns 0 where panels have no room."""

    def run(*numbers: Any) -> int:
        b, stride, cache, k, n, _ = (int(number) for number in numbers)
        if 8 * (k + _DEPTH_MULTIPLE) * (n + columns) > PACK_CACHE_BYTES:
            return 0
        pack(b, stride, cache, k, n)
        return cache

    return run
