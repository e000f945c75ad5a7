"""Keys' gradients of attention: four products in a loop that reads rows of numbers besides operands, with a warp that
copies all of it, on the simulated H100."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from test_overlapped_products import error, matrices
from test_specialized_warps import NEEDED, TURNS, check_needed, has_computed_maps, has_roles, takes_turns

import tilewright as triton
import tilewright.language as tl
from tilewright.codegen.nvptx.facts import nvptx_facts
from tilewright.codegen.nvptx.ptxas import assemble, find_ptxas
from tilewright.support import knobs

pytestmark = pytest.mark.usefixtures("on_hopper")

Array = np.ndarray[Any, Any]


@triton.jit
def key_gradients(
    q_ptr, k_ptr, v_ptr, given_ptr, lse_ptr, dots_ptr, dk_ptr, dv_ptr, length, begin,
    HEAD: tl.constexpr, M: tl.constexpr, N: tl.constexpr, CAUSAL: tl.constexpr,
):  # fmt: skip
    keys = tl.program_id(0) * N + tl.arange(0, N)
    dims, queries = tl.arange(0, HEAD), tl.arange(0, M)
    k = tl.load(k_ptr + keys[:, None] * HEAD + dims[None, :])
    v = tl.load(v_ptr + keys[:, None] * HEAD + dims[None, :])
    dk = tl.zeros([N, HEAD], dtype=tl.float32)
    dv = tl.zeros([N, HEAD], dtype=tl.float32)
    if CAUSAL:
        begin = tl.program_id(0) * N
    for start in range(begin, length, M):
        q = tl.load(q_ptr + (start + queries)[:, None] * HEAD + dims[None, :])
        lse = tl.load(lse_ptr + start + queries)
        p = tl.math.exp2(tl.dot(k, tl.trans(q)) - lse[None, :])
        if CAUSAL:
            p = tl.where((start + queries)[None, :] >= keys[:, None], p, 0.0)
        given = tl.load(given_ptr + (start + queries)[:, None] * HEAD + dims[None, :])
        dv = tl.dot(p.to(given.dtype), given, dv)
        dots = tl.load(dots_ptr + start + queries)
        ds = p * (tl.dot(v, tl.trans(given)) - dots[None, :])
        dk = tl.dot(ds.to(q.dtype), q, dk)
    places = keys[:, None] * HEAD + dims[None, :]
    tl.store(dk_ptr + places, dk.to(dk_ptr.dtype.element_ty))
    tl.store(dv_ptr + places, dv.to(dv_ptr.dtype.element_ty))


def inputs(length: int, head: int = 64, *, first: int = 0) -> list[Any]:
    """q, k, v, given, lse and dots, which begin `first` numbers after memory does, dk and dv."""
    q, k, v, given = matrices(*((length, head),) * 4, scale=0.3)
    lse, dots = np.random.default_rng(1).standard_normal((2, length + first)).astype(np.float32)
    return [q, k, v, given, lse[first:], dots[first:], np.full_like(q, np.nan), np.full_like(q, np.nan)]


def expected(arguments: list[Any], causal: bool) -> list[Array]:
    q, k, v, given, lse, dots = (each.astype(np.float64) for each in arguments[:6])
    p = np.exp2(k @ q.T - lse[None, :])
    if causal:
        p *= np.tri(len(q)).T
    return [p * (v @ given.T - dots[None, :]) @ q, p @ given]


def launch(
    arguments: list[Any],
    causal: bool = False,
    *,
    keys: int = 128,
    begin: int = 0,
    end: int | None = None,
    **options: int,
) -> Any:
    length, head = arguments[0].shape
    options = {"num_warps": 8, "num_stages": 3, **options}
    return key_gradients[(length // keys,)](
        *arguments, length if end is None else end, begin, HEAD=head, M=64, N=keys, CAUSAL=causal, **options
    )


def check(arguments: list[Any], causal: bool) -> None:
    for found, wanted in zip(arguments[6:8], expected(arguments, causal), strict=True):
        assert error(found, wanted) < 2e-3


@pytest.mark.parametrize("stages", [2, 3])
@pytest.mark.parametrize("causal", [False, True])
def test_gradients(causal: bool, stages: int) -> None:
    """Unasked, and to the bit as without turns, without roles, and with products in the order of the program."""
    arguments = inputs(256)
    compiled = launch(arguments, causal, num_stages=stages)
    assert has_roles(compiled) and has_computed_maps(compiled) and takes_turns(compiled)
    assert compiled.asm["ttgir"].count("async_tma_copy_global_to_local") == 4
    check(arguments, causal)
    for switches in ({"take_turns": "never"}, {"tma_loads": "never"}, {"start_products_early": False}):
        others = inputs(256)
        with knobs.scope(**switches):
            launch(others, causal, num_stages=stages)
        for found, wanted in zip(others[6:8], arguments[6:8], strict=True):
            np.testing.assert_array_equal(found, wanted)


def test_products_that_start_early() -> None:
    """Both products that need no other one are under way before the first exponential."""
    order = [text for text in launch(inputs(128)).asm["ttgir"].splitlines() if "_dot %" in text or "math.exp2" in text]
    assert ["exp2" in text for text in order] == [False, False, True, False, False]


def test_groups_that_exchange_elements_take_no_turns() -> None:
    """Each of two groups has half of the columns of 64 rows, and multiplies all of them again: the one with the turn
    waited for the other, which waited for the turn.
    """
    arguments = inputs(192)
    with knobs.scope(specialize_warps="always", tma_loads="always"):
        compiled = launch(arguments, keys=64)
    assert has_roles(compiled) and not takes_turns(compiled)
    check(arguments, False)


def test_rows_that_begin_anywhere() -> None:
    """A tensor map begins at a multiple of 16 bytes: other rows are copied by threads, as before."""
    arguments = inputs(128, first=1)
    assert not has_roles(launch(arguments))
    check(arguments, False)


def test_rows_that_blocks_begin_anywhere_in() -> None:
    """GPUs stop at blocks that begin between multiples of 16 bytes in a row."""
    assert has_roles(launch(inputs(128), begin=64))
    assert not has_roles(launch(inputs(128), begin=63, end=64))


@pytest.mark.costly
@pytest.mark.parametrize("causal", [False, True])
def test_each_wait_and_arrival_is_needed(a_gpu: str, causal: bool) -> None:
    if a_gpu == "cuda":
        pytest.skip("what is taken out is found by the simulated GPU")
    arguments = inputs(256)
    compiled = launch(arguments, causal)
    spared = {"mbarrier.try_wait": 1}  # both rings are free at the same time: who waits for one has the other
    check_needed(compiled, [*arguments, 256, 0], NEEDED | spared | TURNS)


@pytest.mark.skipif(find_ptxas() is None, reason="there is no ptxas")
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("head", [64, 128])
def test_ptxas_serialises_nothing(head: int, causal: bool) -> None:
    """With heads of 128 a thread has addresses of the results in memory while the loop runs, and nothing of the loop."""
    compiled = launch(inputs(128, head), causal)
    assembled = assemble(compiled.asm["ptx"], nvptx_facts(90))
    assert "serialized" not in assembled.log
    assert assembled.spill_bytes <= (128 if head == 128 else 0)
