"""How a matmul is laid out over tensor cores: which instruction, which warps, which operand widths.

`plan_product` is the whole decision; it looks at the op and touches nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import (
    BFloat16Type,
    Float8E4M3FNType,
    Float8E5M2Type,
    Float16Type,
    Float32Type,
    Float64Type,
    f16,
    f32,
    i8,
    i32,
)
from xdsl.ir import Attribute, Operation, SSAValue

from tilewright.dialects import arith, tt, ttg
from tilewright.dialects.tt.enums import InputPrecision
from tilewright.dialects.types import as_tensor, bit_width, element_type, is_float, is_integer, is_tensor
from tilewright.layouts.distributed import NvidiaMmaLayout
from tilewright.support.records import dataclass
from tilewright.transforms.ttg.slices import chained_operand, defining_op

MMA, WGMMA = 2, 3
"""Generations of matrix instructions: `mma.sync` of one warp, `wgmma` of four."""

AMPERE = 80

WARP_GROUP = 4
"""Warps that issue one `wgmma`."""

MAX_WGMMA_COLUMNS = 256
MIN_FP8_ACCUMULATION = 32
"""8-bit floats sum only this far exactly in `wgmma`; a product that asks for less takes `mma.sync`."""

FP4_BITS = 4
FP8 = (Float8E4M3FNType, Float8E5M2Type)


@dataclass(frozen=True)
class ProductPlan:
    """What becomes of a matmul: the layout of its result, the element types of A and B that its instruction
    takes, and how many elements along K a thread holds side by side (`mma.sync` only).
    """

    layout: NvidiaMmaLayout
    operand_types: tuple[Attribute, Attribute]
    k_width: int

    @property
    def is_wgmma(self) -> bool:
        """True if four warps work together, with B in shared memory."""
        return self.layout.is_hopper


def versions_of(capability: int) -> tuple[int, ...]:
    """Generations that a GPU has, best first; none where products run on ordinary arithmetic."""
    if 90 <= capability < 100:
        return (WGMMA, MMA)
    return (MMA,) if capability >= 75 else ()


def plan_product(dot: tt.DotOp, capability: int, num_warps: int) -> ProductPlan | None:
    """Return how tensor cores compute a product; None where they cannot, and it stays in a blocked layout."""
    for version in versions_of(capability):
        plan = _plan_wgmma(dot, num_warps) if version == WGMMA else _plan_mma(dot, capability, num_warps)
        if plan is not None:
            return plan
    return None


def why_no_product(dot: tt.DotOp, capability: int) -> str:
    """Return why `plan_product` gives none."""
    if not versions_of(capability):
        return f"compute capability {capability // 10}.{capability % 10} has no tensor cores that are used here"
    a, b, d = _elements(dot)
    operands = _mma_operands(dot, capability, a, b, d)
    if operands is not None:
        return f"K is {_shapes(dot)[1]}, less than the {_mma_k(operands[0])} of one instruction"
    if isinstance(a, Float32Type) and isinstance(b, Float32Type) and capability >= AMPERE:
        return f"f32 operands are multiplied with precision '{InputPrecision.of(dot.input_precision).value}'"
    return f"there is no instruction for {a} times {b} with sums in {d}"


def _elements(dot: tt.DotOp) -> tuple[Attribute, Attribute, Attribute]:
    return element_type(dot.a.type), element_type(dot.b.type), element_type(dot.d.type)


def _shapes(dot: tt.DotOp) -> tuple[tuple[int, ...], int]:
    """The shape of the result, and K."""
    return as_tensor(dot.d.type).get_shape(), as_tensor(dot.a.type).get_shape()[-1]


def _rounds_to_tf32(dot: tt.DotOp) -> bool:
    return InputPrecision.of(dot.input_precision) is InputPrecision.TF32


# wgmma


def _plan_wgmma(dot: tt.DotOp, num_warps: int) -> ProductPlan | None:
    (a, b, d), (shape, k) = _elements(dot), _shapes(dot)
    if len(shape) != 2 or num_warps % WARP_GROUP or shape[0] % 64 or k * bit_width(a) < 256:
        return None
    if not _wgmma_takes(dot, a, b, d):
        return None
    warps = _wgmma_warps(dot, shape, num_warps)
    columns = min(shape[1] // warps[1], MAX_WGMMA_COLUMNS)
    if columns < 8 or columns % 8:
        return None
    layout = NvidiaMmaLayout(WGMMA, 0, warps, (16, columns, 256 // bit_width(a)))
    return ProductPlan(layout, (a, b), 32 // bit_width(a))


def _wgmma_takes(dot: tt.DotOp, a: Attribute, b: Attribute, d: Attribute) -> bool:
    match a, b:
        case (Float16Type(), Float16Type()):
            return d in (f16, f32)
        case (BFloat16Type(), BFloat16Type()):
            return d == f32
        case (Float32Type(), Float32Type()):
            return d == f32 and _rounds_to_tf32(dot)
        case _ if isinstance(a, FP8) and isinstance(b, FP8):
            return d == f16 or (d == f32 and dot.max_num_imprecise_acc.value.data >= MIN_FP8_ACCUMULATION)
        case _:
            return a == i8 and b == i8 and d == i32


def _wgmma_warps(dot: tt.DotOp, shape: Sequence[int], num_warps: int) -> tuple[int, int]:
    """Warps over rows and columns. A chain keeps rows inside one warp, so that its softmax needs no exchange."""
    if chained_operand(dot) is not None and shape[0] >= 16 * num_warps:
        return (num_warps, 1)
    rows, columns = WARP_GROUP, 1
    while rows * columns < num_warps:
        if shape[0] > 16 * rows:
            rows *= 2
        else:
            columns *= 2
    return (rows, columns)


# mma.sync


def _plan_mma(dot: tt.DotOp, capability: int, num_warps: int) -> ProductPlan | None:
    (a, b, d), (shape, k) = _elements(dot), _shapes(dot)
    operands = _mma_operands(dot, capability, a, b, d)
    if operands is None or k < _mma_k(operands[0]):
        return None
    warps = _mma_warps(dot, shape, num_warps)
    instruction = (1,) * (len(shape) - 2) + (16, 8)
    layout = NvidiaMmaLayout(MMA, 0, warps, instruction)
    return ProductPlan(layout, operands, _k_width(dot, operands[0]))


def _mma_k(element: Attribute) -> int:
    """K of one instruction."""
    return 4 if isinstance(element, Float64Type) else 256 // bit_width(element)


def _mma_operands(
    dot: tt.DotOp, capability: int, a: Attribute, b: Attribute, d: Attribute
) -> tuple[Attribute, Attribute] | None:
    """The element types of A and B in the instruction, None where there is none."""
    match a, b:
        case (Float16Type(), Float16Type()):
            return (a, b) if d in (f16, f32) else None
        case (BFloat16Type(), BFloat16Type()):
            return (a, b) if d == f32 and capability >= 80 else None
        case (Float32Type(), Float32Type()):
            return (a, b) if d == f32 and _rounds_to_tf32(dot) and capability >= 80 else None
        case (Float64Type(), Float64Type()):
            return (a, b) if capability in (80, 90) else None
        case _ if isinstance(a, FP8) and isinstance(b, FP8):
            return _mma_fp8(capability, d, (a, b))
        case _ if is_float(a) and is_float(b) and bit_width(a) == 8:
            return (f16, f16) if d in (f16, f32) else None
        case _:
            return (a, b) if a == i8 and b == i8 and d == i32 else None


def _mma_fp8(capability: int, d: Attribute, own: tuple[Attribute, Attribute]) -> tuple[Attribute, Attribute] | None:
    """Ada multiplies 8-bit floats in `mma.sync`; Hopper only in `wgmma`, and f16 is exact."""
    if capability == 89 and d == f32:
        return own
    return (f16, f16) if d in (f16, f32) else None


def _mma_warps(dot: tt.DotOp, shape: Sequence[int], num_warps: int) -> tuple[int, ...]:
    """Warps over the dimensions of the result: as square as its repeats, all along the linked side in a chain."""
    if len(shape) == 3:
        return (num_warps, 1, 1)
    linked = chained_operand(dot)
    if linked is not None:
        return (num_warps, 1) if linked == 0 else (1, num_warps)
    repeats = [-(-shape[0] // 16), -(-shape[1] // 8)]
    warps = [1, 1]
    while warps[0] * warps[1] < num_warps:
        dim = 0 if repeats[0] >= repeats[1] else 1
        warps[dim] *= 2
        repeats[dim] = max(repeats[dim] // 2, 1)
    return (warps[0], warps[1])


def _k_width(dot: tt.DotOp, operand: Attribute) -> int:
    """Elements along K that fill 32 bits as they were loaded: operands that were widened after the load keep their
    lanes, so the load can be as wide as that of the narrow type.
    """
    if isinstance(operand, Float64Type):
        return 1
    own = bit_width(operand)
    given = (bit_width(element_type(value.type)) for value in (dot.a, dot.b))
    narrowest = min(own, *given, _loaded_bits(dot.a, own), _loaded_bits(dot.b, own))
    return 32 // min(narrowest, 32)


_CASTS = (
    arith.ExtFOp,
    arith.ExtSIOp,
    arith.ExtUIOp,
    arith.SIToFPOp,
    arith.UIToFPOp,
    tt.FpToFpOp,
    arith.TruncFOp,
    arith.TruncIOp,
)
_LOADS = (tt.LoadOp, tt.DescriptorLoadOp, tt.DescriptorGatherOp)
_THROUGH = (ttg.ConvertLayoutOp, tt.TransOp, tt.ReshapeOp, tt.ExpandDimsOp, tt.BroadcastOp)


def _loaded_bits(value: SSAValue, own: int) -> int:
    """The width of the elements that an operand was loaded with, where it only was cast and multiplied since then;
    the operand's own width otherwise.
    """
    narrowest = own
    stack, seen = [value], set[int]()
    while stack:
        op = defining_op(stack.pop())
        if op is None or id(op) in seen:
            continue
        seen.add(id(op))
        if isinstance(op, ttg.Fp4ToFpOp):
            narrowest = min(narrowest, FP4_BITS)
        elif isinstance(op, _LOADS):
            narrowest = min(narrowest, max(bit_width(element_type(op.results[0].type)), 8))
        elif _keeps_lanes(op):
            stack.extend(operand for operand in op.operands if is_tensor(operand.type))
    return narrowest


def _keeps_lanes(op: Operation) -> bool:
    """Return whether an op's elements come from the same elements of its operands, at about their width."""
    if isinstance(op, _CASTS):
        return is_integer(element_type(op.operands[0].type)) or is_float(element_type(op.operands[0].type))
    return isinstance(op, (*_THROUGH, arith.MulfOp, arith.AddfOp, arith.SubfOp))
