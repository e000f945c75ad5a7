"""f32 products in loops on the simulated H100, of operands that `wgmma` cannot read where memory has them: these go through
registers, asynchronously, in any order of both, from pointers and descriptors."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np
import pytest

import tilewright as triton
import tilewright.language as tl
from suite.arrays import Array
from suite.products_in_flight import overwritten
from tilewright.codegen.nvptx.disasm import get_sass
from tilewright.codegen.nvptx.facts import nvptx_facts
from tilewright.codegen.nvptx.ptxas import assemble, find_program, find_ptxas
from tilewright.runtime.tensor_descriptor import TensorDescriptor
from tilewright.support import knobs

TF32_ERROR = 2.0**-9


@pytest.fixture(autouse=True)
def on_the_simulator() -> Iterator[None]:
    with knobs.scope(target="cuda_sim", override_arch="sm90"):
        yield


@triton.jit
def product(
    a_ptr, b_ptr, c_ptr, K, stride_am, stride_ak, stride_bk, stride_bn, stride_cm,
    M: tl.constexpr, N: tl.constexpr, BLOCK: tl.constexpr, SCALED: tl.constexpr,
):  # fmt: skip
    m, n, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, BLOCK)
    a_ptrs = a_ptr + m[:, None] * stride_am + k[None, :] * stride_ak
    b_ptrs = b_ptr + k[:, None] * stride_bk + n[None, :] * stride_bn
    acc = tl.zeros((M, N), tl.float32)
    for start in range(0, K, BLOCK):
        a = tl.load(a_ptrs, mask=k[None, :] < K - start, other=0.0)
        b = tl.load(b_ptrs, mask=k[:, None] < K - start, other=0.0)
        if SCALED:
            acc = acc * 0.5
        acc = tl.dot(a, b, acc)
        a_ptrs += BLOCK * stride_ak
        b_ptrs += BLOCK * stride_bk
    tl.store(c_ptr + m[:, None] * stride_cm + n[None, :], acc)


@triton.jit
def product_of_blocks(a, b, c, K, M: tl.constexpr, N: tl.constexpr, BLOCK: tl.constexpr):
    acc = tl.zeros((M, N), tl.float32)
    for k in range(0, K, BLOCK):
        acc = tl.dot(a.load([0, k]), b.load([k, 0]), acc)
    c.store([0, 0], acc)


@triton.jit
def carried_and_stored(a_ptr, b_ptr, c_ptr, steps_ptr, K, M: tl.constexpr, N: tl.constexpr, BLOCK: tl.constexpr):
    """Each sum is used in its iteration too."""
    m, n, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, BLOCK)
    places = m[:, None] * N + n[None, :]
    acc = tl.zeros((M, N), tl.float32)
    for start in range(0, K, BLOCK):
        a = tl.load(a_ptr + m[:, None] * K + (start + k)[None, :])
        b = tl.load(b_ptr + (start + k)[:, None] * N + n[None, :])
        acc = tl.dot(a, b, acc)
        tl.store(steps_ptr + start // BLOCK * M * N + places, acc)
    tl.store(c_ptr + places, acc)


def matrices(m: int, n: int, k: int) -> tuple[Array, Array]:
    random = np.random.default_rng(0)
    return random.standard_normal((m, k)).astype(np.float32), random.standard_normal((k, n)).astype(np.float32)


def check(found: Array, a: Array, b: Array) -> None:
    exact, size = a.astype(np.float64) @ b, np.abs(a).astype(np.float64) @ np.abs(b)
    assert np.all(np.abs(found - exact) <= TF32_ERROR * size)


def run(
    a: Array,
    b: Array,
    orders: tuple[bool, bool],
    block: int = 32,
    *,
    num_warps: int = 4,
    num_stages: int = 3,
    is_scaled: bool = False,
) -> tuple[Array, str]:
    (m, k), n = a.shape, b.shape[1]
    stored_a, stored_b = (np.asfortranarray(x) if swapped else x for x, swapped in zip((a, b), orders, strict=True))
    c = np.full((m, n), np.nan, np.float32)
    strides = [stride // 4 for x in (stored_a, stored_b) for stride in x.strides]
    kernel = product[(1,)](
        stored_a.ravel(order="K"), stored_b.ravel(order="K"), c, k, *strides, n,
        M=m, N=n, BLOCK=block, SCALED=is_scaled, num_warps=num_warps, num_stages=num_stages,
    )  # fmt: skip
    return c, kernel.asm["ptx"]


def loop_of(ptx: str) -> str:
    """The text from the first product on; it holds the rest of the loop."""
    return ptx[ptx.index("wgmma.mma_async") :]


@pytest.mark.parametrize("num_warps", [4, 8])
@pytest.mark.parametrize("orders", [(False, False), (True, True), (True, False), (False, True)], ids=str)
def test_orders(orders: tuple[bool, bool], num_warps: int) -> None:
    """Only the operand of which K is not contiguous takes a detour, and copies are of 16 bytes; with both of that kind
    one is copied by elements.
    """
    a, b = matrices(128, 64, 160)
    c, ptx = run(a, b, orders, num_warps=num_warps)
    check(c, a, b)
    assert "wgmma.mma_async.sync.aligned.m64n" in ptx and "f32.tf32.tf32" in ptx
    loop = loop_of(ptx)
    from_registers = bool(re.search(r"f32\.tf32\.tf32 \{[^}]*\}, *\{", loop))
    assert from_registers == (orders != (False, True))
    assert set(re.findall(r"cp\.async\.c[ag]\.shared\.global \[[^]]*\], \[[^]]*\], (\d+)", loop)) == (
        {"16"} if orders != (True, False) else {"4", "16"}
    )


@pytest.mark.costly
@pytest.mark.parametrize(("num_stages", "block"), [(1, 32), (2, 32), (4, 32), (3, 64), (3, 16)])
def test_stages_and_depths(num_stages: int, block: int) -> None:
    a, b = matrices(64, 128, 192)
    c, ptx = run(a, b, (False, False), block, num_stages=num_stages)
    check(c, a, b)
    if find_ptxas() is None:
        pytest.skip("no ptxas to ask about registers")
    assembled = assemble(ptx, nvptx_facts(90))
    assert "serialized" not in assembled.log, "products wait for each other where registers are written too early"
    if find_program("cuobjdump") is not None:
        assert not overwritten(get_sass(assembled.image))


def test_sums_that_the_loop_scales() -> None:
    a, b = matrices(64, 64, 96)
    c, _ = run(a, b, (False, False), is_scaled=True)
    parts = [a[:, k : k + 32].astype(np.float64) @ b[k : k + 32] for k in range(0, 96, 32)]
    np.testing.assert_allclose(c, parts[0] / 4 + parts[1] / 2 + parts[2], rtol=1e-2, atol=0.1)


def test_sums_that_are_used_in_their_iteration() -> None:
    m, n, k, block = 64, 64, 128, 32
    a, b = matrices(m, n, k)
    c, steps = np.zeros((m, n), np.float32), np.zeros((k // block, m, n), np.float32)
    carried_and_stored[(1,)](a, b, c, steps, k, M=m, N=n, BLOCK=block)
    check(c, a, b)
    for step in range(k // block):
        check(steps[step], a[:, : (step + 1) * block], b[: (step + 1) * block])


@pytest.mark.parametrize("num_warps", [4, 8])
def test_descriptors(num_warps: int) -> None:
    m, n, k, block = 128, 64, 128, 32
    a, b = matrices(m, n, k)
    c = np.full((m, n), np.nan, np.float32)
    descriptors = [
        TensorDescriptor.from_tensor(x, shape) for x, shape in ((a, [m, block]), (b, [block, n]), (c, [m, n]))
    ]
    kernel = product_of_blocks[(1,)](*descriptors, k, M=m, N=n, BLOCK=block, num_warps=num_warps)
    check(c, a, b)
    assert "f32.tf32.tf32" in kernel.asm["ptx"]
