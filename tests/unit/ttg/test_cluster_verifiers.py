"""Wrong IR of programs that run on several CTAs is refused, with the reason."""

from __future__ import annotations

import pytest

from tilewright.dialects import make_context
from tilewright.ir.parsing import parse_module
from tilewright.ir.verify import verify_module
from tilewright.support.errors import VerifyError

MODULE = """
#line = #ttg.blocked<{{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0], CGALayout = [[0]]}}>
#pairs = #ttg.blocked<{{sizePerThread = [2], threadsPerWarp = [32], warpsPerCTA = [4], order = [0], CGALayout = [[0]]}}>
#split = #ttg.blocked<{{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0], CGALayout = [[1]]}}>
#both = #ttg.swizzled_shared<{{vec = 1, perPhase = 1, maxPhase = 1, order = [0], CGALayout = [[0]]}}>
#each = #ttg.swizzled_shared<{{vec = 1, perPhase = 1, maxPhase = 1, order = [0], CGALayout = [[1]]}}>
#halve = #ttg.nvmma_shared<{{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16, CGALayout = [[1, 0]]}}>
#whole = #ttg.nvmma_shared<{{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16, CGALayout = [[0, 0]]}}>
#smem = #ttg.shared_memory
module attributes {{"ttg.num-ctas" = 2 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32}} {{
  tt.func {function}({arguments}) {properties} {{
    {op}
    tt.return
  }}
}}
"""

BARRIERS = "!ttg.memdesc<2xi64, #each, #smem, mutable>"
HALVES = "!ttg.memdesc<64x64xf16, #halve, #smem, mutable>"
PART = HALVES.replace("mutable", "mutable, 128x64")
COLUMNS = HALVES.replace("mutable", "mutable, 64x128")
DESCRIPTOR = "!tt.tensordesc<64x64xf16, #halve>"
ROW = "!tt.tensordesc<1x64xf16, #halve>"
LINE = "!ttg.memdesc<256xf16, #both, #smem, mutable>"


def check(arguments: str, op: str, function: str = "public @f", properties: str = "") -> None:
    text = MODULE.format(arguments=arguments, op=op, function=function, properties=properties)
    verify_module(parse_module(text, make_context()))


def store(type: str) -> tuple[str, str]:
    op = f"ttng.async_tma_copy_local_to_global %d[%i, %i] %m : {DESCRIPTOR}, {type}"
    return f"%d: {DESCRIPTOR}, %i: i32, %m: {type}", op


def gather(layout: str, buffer: str, *, multicast: bool = False) -> tuple[str, str]:
    memory, offsets = HALVES.replace("#halve", buffer), f"tensor<64xi32, {layout}>"
    descriptor, flag = ROW.replace("#halve", buffer), "{multicast}" if multicast else ""
    types = f"{descriptor}, {offsets}, i32, {BARRIERS}, {memory}, i1"
    op = f"ttng.async_tma_gather %d[%x, %i] %m, %b, %p {flag} : {types}"
    return f"%d: {descriptor}, %x: {offsets}, %i: i32, %b: {BARRIERS}, %m: {memory}, %p: i1", op


def sent(layout: str) -> tuple[str, str]:
    value = f"tensor<256xf16, {layout}>"
    return (
        f"%t: {value}, %m: {LINE}, %b: {BARRIERS}",
        f"ttng.async_shared_store %t, %m, %b : {value} -> {LINE}, {BARRIERS}",
    )


PARTITIONS = (
    f"%b: {BARRIERS}",
    f"ttg.warp_specialize()\ndefault {{\nttng.init_barrier %b, 1 : {BARRIERS}\nttg.warp_yield\n}}\n"
    "partition0() num_warps(4) {\nttg.warp_return\n} : () -> ()",
)


@pytest.mark.parametrize(
    ("program", "message"),
    [
        (sent("#line"), "requires a layout vectorizing stores to at least 32 bits"),
        (PARTITIONS, "cannot be used inside `ttg.warp_specialize`"),
        (store(PART), "source subview may have an origin in another CTA"),
        (gather("#split", "#halve", multicast=True), "multicast requires the shared layout to broadcast across CTAs"),
        (gather("#line", "#halve"), "x offsets must have the same row CGA layout as the memdesc"),
        (gather("#split", "#whole"), "x offsets must have the same row CGA layout as the memdesc"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_wrong_ops(program: tuple[str, str], message: str) -> None:
    with pytest.raises(VerifyError, match=message):
        check(*program)


@pytest.mark.parametrize(
    "program",
    [
        sent("#pairs"),
        store(HALVES),
        store(COLUMNS),
        gather("#split", "#halve"),
        gather("#line", "#whole", multicast=True),
    ],
)
def test_right_ops(program: tuple[str, str]) -> None:
    check(*program)


@pytest.mark.parametrize("function", ["public @f", "private @f"])
@pytest.mark.parametrize("noinline", ["true", "false"])
def test_barriers_of_the_cluster_are_in_kernels(function: str, noinline: str) -> None:
    """Not in functions that stay functions."""
    properties = f"attributes {{noinline = {noinline}}}"
    if (function, noinline) != ("private @f", "true"):
        check("", "ttng.cluster_barrier", function, properties)
        return
    with pytest.raises(VerifyError, match="must be inside a kernel function"):
        check("", "ttng.cluster_barrier", function, properties)
