"""An operand that many registers share is copied for each group of them; sums and addresses are what they were."""

from __future__ import annotations

import numpy as np
import pytest
from kernel_text import KernelText, tensor_type
from simulated import run_kernel

from tilewright.layouts.distributed import BlockedLayout

LAYOUT = BlockedLayout((1,), (32,), (1,), (0,))
COPY = 'asm "", '


@pytest.mark.parametrize(
    ("registers", "copies"),
    [
        (32, 0),
        (64, 15 * 4),  # of three pointers and of the scalar: for the registers 4 to 7, 8 to 11, ..., 60 to 63
    ],
)
def test_shared_operands_are_copied_for_groups_of_registers(registers: int, copies: int) -> None:
    count = registers * 32
    k = KernelText(num_warps=1)
    x, scattered = (k.load("i32", (count,), LAYOUT) for _ in range(2))
    pointer = k.argument("i32")
    scalar = k.op(f"tt.load {pointer} : !tt.ptr<i32>")
    splat = k.op(f"tt.splat {scalar} : i32 -> {x.type}")
    moved = k.add(f"arith.addi {scattered.name}, {splat} : {x.type}", x)
    base = k.argument("i32")
    pointers = tensor_type("!tt.ptr<i32>", (count,), LAYOUT)
    places = k.op(f"tt.splat {base} : !tt.ptr<i32> -> {pointers}")
    places = k.op(f"tt.addptr {places}, {moved.name} : {pointers}, {moved.type}")
    k.line(f"tt.store {places}, {x.name} : {pointers}")

    rng = np.random.default_rng(3)
    order, values = rng.permutation(count).astype(np.int32), rng.integers(0, 1000, count, dtype=np.int32)
    out = np.zeros(count + 5, np.int32)
    compiled = run_kernel(k, [values, order, np.array([5], np.int32)], [out])
    assert compiled.llir.count(COPY) == copies
    np.testing.assert_array_equal(out[5:][order], values)
