"""Launches of official Triton's kernels, with what they must leave in tensors: one list for every device. Needs the
official package and PyTorch."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import partial
from typing import Any

import official_kernels
import pytest
import torch
import triton
from triton.tools.tensor_descriptor import TensorDescriptor

from tilewright.support.errors import ArgumentValueError

kernels: Any = official_kernels


def random(*shape: int, device: str, dtype: Any = torch.float32) -> Any:
    """Equal numbers on all devices."""
    return torch.randn(*shape, generator=torch.Generator().manual_seed(0)).to(device, dtype)


def reductions(device: str) -> None:
    x = random(5, 100, device=device)
    out = torch.empty_like(x)
    kernels.softmax[(5,)](x, out, 100, BLOCK=128)
    torch.testing.assert_close(out, torch.softmax(x, 1))


def autotuned_products(device: str, inner: int) -> None:
    a = random(40, inner, device=device, dtype=torch.float16)
    b = random(inner, 48, device=device, dtype=torch.float16)
    c = torch.empty(40, 48, device=device)
    kernels.matmul.cache.clear()

    def grid(meta: dict[str, int]) -> tuple[Any, Any]:
        return triton.cdiv(40, meta["BM"]), triton.cdiv(48, meta["BN"])

    kernels.matmul[grid](a, b, c, 40, 48, inner, BK=16)
    torch.testing.assert_close(c, a.float() @ b.float(), atol=1e-4, rtol=1e-4)
    assert kernels.matmul.best_config in kernels.matmul.configs


def atomics(device: str) -> None:
    x = torch.randint(0, 8, (300,), dtype=torch.int32, device=device)
    counts = torch.zeros(8, dtype=torch.int32, device=device)
    last = torch.full((8,), -1, dtype=torch.int32, device=device)
    kernels.count[(5,)](x, counts, last, 300, BLOCK=64)
    assert torch.equal(counts, torch.bincount(x, minlength=8).int())
    assert last.tolist() == [int((x == value).nonzero().max()) if (x == value).any() else -1 for value in range(8)]


def functions_tuples_and_constants(device: str) -> None:
    out = torch.zeros(1, dtype=torch.int32, device=device)
    kernels.functions[(1,)](out, 3, (5, 1), STEPS=3, NAME="calls")
    assert out.item() == 5 * 9 + 1 + 3 * 2 + 3


def descriptors(device: str) -> None:
    x = random(40, 72, device=device, dtype=torch.float16)
    out = torch.zeros(40, 72, dtype=torch.float16, device=device)
    blocks = [TensorDescriptor.from_tensor(tensor, [16, 32]) for tensor in (x, out)]
    for _ in range(2):
        kernels.copy_blocks[(3, 3)](*blocks, ROWS=16, COLUMNS=32)
        assert torch.equal(out, x * 2)


def descriptors_that_round(device: str) -> None:
    """Their kernels do not say that they round, so ours would not: an error in place of other numbers."""
    if "round_f32_to_tf32" in inspect.signature(TensorDescriptor).parameters:
        x = random(16, 32, device=device)
        rounding = TensorDescriptor.from_tensor(x, [16, 32], round_f32_to_tf32=True)
        with pytest.raises(ArgumentValueError, match="round_f32_to_tf32=True"):
            kernels.copy_blocks[(1, 1)](rounding, TensorDescriptor.from_tensor(x, [16, 32]), ROWS=16, COLUMNS=32)


def block_pointers(device: str) -> None:
    x, out = random(20, 30, device=device), torch.zeros(30, 20, device=device)
    kernels.block_pointers[(1,)](x, out, 20, 30, BLOCK=32)
    assert torch.equal(out, x.T)


def scans_and_sorts(device: str) -> None:
    x = random(64, device=device)
    sums, peaks, ordered = (torch.empty(64, device=device) for _ in range(3))
    kernels.scans[(1,)](x, sums, peaks, ordered, BLOCK=64)
    torch.testing.assert_close(sums, x.cumsum(0))
    assert torch.equal(peaks, x.flip(0).cummax(0).values.flip(0))
    assert torch.equal(ordered, x.sort(descending=True).values)


def loops_with_conditions(device: str) -> None:
    n, steps = torch.tensor([1, 6, 27], device=device), torch.zeros(3, dtype=torch.int32, device=device)
    kernels.collatz[(3,)](n, steps)
    assert steps.tolist() == [0, 8, 111]


def device_library(device: str) -> None:
    x, out = random(32, device=device).abs() + 0.5, torch.empty(32, device=device)
    kernels.mathematics[(1,)](x, out, BLOCK=32)
    expected = x.lgamma().exp() + torch.hypot(x, torch.tensor(2.0, device=device)) + x.erf()
    # NVIDIA's library rounds lgamma a little otherwise than PyTorch does.
    torch.testing.assert_close(out, expected, rtol=1.3e-6 if device == "cpu" else 1e-5, atol=1e-5)


def scalars_of_all_kinds(device: str) -> None:
    out, bias = torch.zeros(1, dtype=torch.float64, device=device), torch.tensor([0.25], device=device)
    kernels.scalars[(1,)](out, 3, 0.1, 2**40, True, None, 1, INCLUDED=True)
    assert out.item() == -(3 * 0.1 + 2**40) + 1
    kernels.scalars[(1,)](out, -5, 1.5, 2.5, False, bias, 16, INCLUDED=False)
    assert out.item() == -5.0 + 0.25


def narrow_floats(device: str) -> None:
    x = random(32, device=device)
    eight = torch.empty(32, dtype=torch.float8_e5m2, device=device)
    sixteen = torch.empty(32, dtype=torch.bfloat16, device=device)
    kernels.narrow[(1,)](x, eight, sixteen, BLOCK=32)
    assert torch.equal(eight.float(), x.to(torch.float8_e5m2).float())
    assert torch.equal(sixteen, x.to(torch.bfloat16) * 2)


def lane_wise_assembly(device: str) -> None:
    """Four bits of exponent with bias 15, three of mantissa; the largest number is not given back."""
    codes = torch.arange(256, dtype=torch.uint8, device=device)
    out = torch.empty(256, dtype=torch.float16, device=device)
    back = torch.empty_like(codes)
    kernels.lane_wise_assembly[(1,)](codes, out, back, BLOCK=256)
    bits = codes.to(torch.int32)
    halves = ((bits & 0x80) << 8 | (bits & 0x7F) << 7).to(torch.int16).view(torch.float16)
    assert torch.equal(out, halves)
    largest = bits & 0x7F == 0x7F
    assert torch.equal(back, torch.where(largest, codes - 1, codes))


LAUNCHES: dict[str, Callable[[str], None]] = {
    "reductions": reductions,
    "autotuned products": partial(autotuned_products, inner=64),
    "autotuned products with a rest": partial(autotuned_products, inner=50),
    "atomics": atomics,
    "functions, tuples and constants": functions_tuples_and_constants,
    "descriptors": descriptors,
    "descriptors that round": descriptors_that_round,
    "block pointers": block_pointers,
    "scans and sorts": scans_and_sorts,
    "loops with conditions": loops_with_conditions,
    "device library": device_library,
    "scalars of all kinds": scalars_of_all_kinds,
    "narrow floats": narrow_floats,
    "lane-wise assembly": lane_wise_assembly,
}
"""Each launches on a device and fails where a result is wrong."""
