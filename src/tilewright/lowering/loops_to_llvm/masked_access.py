"""Loads and stores of neighbours of which a mask says which are touched.

    %v = call @llvm.masked.load(ptr %p, <16 x i1> %mask, <16 x half> %other)

Where the processor has no instruction for it (elements of 8 and 16 bits before AVX-512, all of them before AVX and on
NEON), LLVM makes a test, a branch and an access of every lane: the 330 loads of a Winograd transform become 5,300
blocks, over which register allocation takes ten seconds. A module with many calls one function for each type instead:

    define internal <16 x half> @load.masked.v16f16(ptr %p, i16 %lanes, <16 x half> %other) noinline {
      if all are on { load <16 x half>, ptr %p } else { call @llvm.masked.load(...) }
"""

from __future__ import annotations

from tilewright.codegen.lane_builder import intrinsic_suffix
from tilewright.codegen.llvm_text import FunctionText, Parameter
from tilewright.dialects import arith, vector
from tilewright.dialects.types import bit_width, is_vector
from tilewright.lowering.loops_to_llvm.function_lowering import CpuFunctionLowering
from tilewright.lowering.loops_to_llvm.types import ValueType
from tilewright.support.facts import TargetFacts
from tilewright.transforms.linalg.effects import root_of_memref

MOST_TESTED_LANES = 512
"""Lanes of all masked accesses of a module that are tested where they are. With 600, LLVM takes 0.4 s for the module,
with 4,900 it takes 6.6; by calls 0.14 and 1.2."""


def has_masked_access(facts: TargetFacts, bits: int) -> bool:
    """Return whether a machine has instructions that load and store some lanes of a vector."""
    if facts.has("avx512bw"):
        return True
    return bits >= 32 and facts.has("avx")


def tested_lanes(op: vector.MaskedLoadOp | vector.MaskedStoreOp, facts: TargetFacts) -> int:
    """The lanes of a masked access that code tests one by one."""
    type = op.operands[-1].type
    assert is_vector(type)
    return 0 if has_masked_access(facts, max(8, bit_width(type.element_type))) else type.get_shape()[-1]


def may_become_masked_store(load: vector.LoadOp) -> bool:
    """Return whether LLVM may make a masked store of a choice that keeps what was loaded where it is stored:

        x = load p;  store select(c, a, x), p      ->      llvm.masked.store(a, p, c)

    `vmaskmovps` to memory takes some 12 cycles on AMD's cores before AVX-512; a blend and a plain store take one.
    """
    root = root_of_memref(load.operands[0])
    return any(
        isinstance(store.operation, vector.StoreOp) and root_of_memref(store.operation.operands[1]) is root
        for choice in load.results[0].uses
        if isinstance(choice.operation, arith.SelectOp)
        for store in choice.operation.results[0].uses
    )


def emit_masked_load(
    low: CpuFunctionLowering, type: ValueType, memory: str, address: tuple[str, int], mask: str, other: str
) -> str:
    """Load lanes from an address of some alignment; those that are off are of `other`."""
    pointer, align = address
    if _is_outlined(low, type):
        name = f"load.masked.{intrinsic_suffix(type.scalar.memory, type.lanes)}.{align}"
        low.module.text.define_once(name, lambda: _loading_function(low, name, type, memory, align))
        return low.fn.call(memory, name, [("ptr", pointer), _packed(low, type, mask), (memory, other)])
    return low.fn.masked_load(memory, pointer, mask, other, align=align)


def emit_masked_store(
    low: CpuFunctionLowering, type: ValueType, memory: str, address: tuple[str, int], mask: str, value: str
) -> None:
    """Store the lanes of a vector that are on to an address of some alignment."""
    pointer, align = address
    if _is_outlined(low, type):
        name = f"store.masked.{intrinsic_suffix(type.scalar.memory, type.lanes)}.{align}"
        low.module.text.define_once(name, lambda: _storing_function(low, name, type, memory, align))
        low.fn.call("void", name, [("ptr", pointer), _packed(low, type, mask), (memory, value)])
        return
    low.fn.masked_store(memory, value, pointer, mask, align=align)


def _is_outlined(low: CpuFunctionLowering, type: ValueType) -> bool:
    return low.module.known.outlines_masks and not has_masked_access(low.module.facts, 8 * type.scalar.bytes)


def _packed(low: CpuFunctionLowering, type: ValueType, mask: str) -> tuple[str, str]:
    """A mask as a number of as many bits, which registers for scalars take."""
    bits = f"i{type.lanes}"
    return bits, low.fn.cast("bitcast", type.of("i1"), mask, bits)


def _loading_function(low: CpuFunctionLowering, name: str, type: ValueType, memory: str, align: int) -> str:
    fn, mask, some = _open(low, name, type, memory, memory)
    fn.ret(memory, fn.load(memory, "%p", align=align))
    fn.start(some)
    fn.ret(memory, fn.masked_load(memory, "%p", mask, "%value", align=align))
    return fn.text()


def _storing_function(low: CpuFunctionLowering, name: str, type: ValueType, memory: str, align: int) -> str:
    fn, mask, some = _open(low, name, type, memory, "void")
    fn.store(memory, "%value", "%p", align=align)
    fn.ret()
    fn.start(some)
    fn.masked_store(memory, "%value", "%p", mask, align=align)
    fn.ret()
    return fn.text()


def _open(
    low: CpuFunctionLowering, name: str, type: ValueType, memory: str, result: str
) -> tuple[FunctionText, str, str]:
    """A function whose current block is that for all lanes; the mask, and the label of the block for some of them."""
    bits = f"i{type.lanes}"
    parameters = [Parameter("ptr", "%p"), Parameter(bits, "%lanes"), Parameter(memory, "%value")]
    fn = FunctionText(low.module.text, name, result, parameters, linkage="internal", attributes="noinline nounwind")
    mask = fn.cast("bitcast", bits, "%lanes", type.of("i1"))
    whole, some = fn.new_label("whole"), fn.new_label("some")
    fn.branch_if(fn.icmp("eq", bits, "%lanes", -1), whole, some)
    fn.start(whole)
    return fn, mask, some
