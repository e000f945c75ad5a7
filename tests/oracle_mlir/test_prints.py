"""`tt.print` through upstream's code generation: our own function stands where a back end would put its printer."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np


def test_a_print_calls_its_function_for_each_lane(
    mlir: Callable[..., Any], lower: Callable[[str], str], program: Callable[..., str]
) -> None:
    import llvmlite.binding as llvm

    seen: list[tuple[Any, ...]] = []
    signature = ctypes.CFUNCTYPE(None, *[ctypes.c_int32] * 3, ctypes.c_int64, ctypes.c_int64, ctypes.c_double)
    callback = signature(lambda *args: seen.append(args))
    text = program({"x": "2x4xf16"}, 'tt.print "x" {hex = false, isSigned = array<i32: 0>} : %x : tensor<2x4xf16>', {})
    kernel_text = lower(text)
    assert "@tilewright_print_0(i32, i32, i32, index, index, f64)" in kernel_text
    llvm.add_symbol("tilewright_print_0", ctypes.cast(callback, ctypes.c_void_p).value)
    x = np.arange(8, dtype=np.float16).reshape(2, 4) / 2
    mlir(kernel_text, "kernel")((1, 2), x)
    lanes = [(i, j, float(x[i, j])) for i in range(2) for j in range(4)]
    assert seen == [(0, y, 0, *lane) for y in range(2) for lane in lanes]
