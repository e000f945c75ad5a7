"""`tritongpu-F32DotTC`: products of f32 matrices as sums of products of narrower parts, for tensor cores."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar

from xdsl.dialects.builtin import ModuleOp, bf16, f32
from xdsl.ir import SSAValue

from tilewright.dialects import arith, tt
from tilewright.dialects.arith.constant import constant_splat
from tilewright.dialects.tt.enums import InputPrecision
from tilewright.dialects.types import element_type, with_element_type
from tilewright.ir.builder import OpBuilder
from tilewright.ir.passes import Pass, PassContext, register_pass
from tilewright.ir.walking import ops_within
from tilewright.support.records import dataclass

ROUND_TO_TF32 = "cvt.rna.tf32.f32 $0, $1;"
"""f32 to the nearest number with 10 bits of mantissa; halves go away from zero."""


def _round_to_tf32(builder: OpBuilder, value: SSAValue) -> SSAValue:
    op = tt.ElementwiseInlineAsmOp(
        (value,), (value.type,), asm_string=ROUND_TO_TF32, constraints="=r,r", pure=True, packed_element=1
    )
    return builder.result(op)


def _split_tf32(builder: OpBuilder, value: SSAValue, _count: int) -> list[SSAValue]:
    """x = high + low: 11 significant bits, and the rest, of which the product takes 11 more."""
    high = _round_to_tf32(builder, value)
    return [high, builder.result(arith.SubfOp(value, high))]


def _split_bf16(builder: OpBuilder, value: SSAValue, count: int) -> list[SSAValue]:
    """x = p0 + p1 + ... in bf16: each part rounds what the ones before it left, and has 8 bits more."""
    narrow, parts = with_element_type(value.type, bf16), list[SSAValue]()
    for index in range(count):
        if index:
            widened = builder.result(arith.ExtFOp(parts[-1], with_element_type(value.type, f32)))
            value = builder.result(arith.SubfOp(value, widened))
        parts.append(builder.result(arith.TruncFOp(value, narrow)))
    return parts


@dataclass(frozen=True)
class Decomposition:
    """How operands are split, into how many parts, and which parts are multiplied: pairs of numbers of parts of A and
    B, the smallest products first, without that of the largest parts.
    """

    split: Callable[[OpBuilder, SSAValue, int], list[SSAValue]]
    num_parts: int
    small_products: Sequence[tuple[int, int]]
    precision: InputPrecision


DECOMPOSITIONS: dict[InputPrecision, Decomposition] = {
    InputPrecision.TF32X3: Decomposition(_split_tf32, 2, ((1, 0), (0, 1)), InputPrecision.TF32),
    InputPrecision.BF16X3: Decomposition(_split_bf16, 2, ((1, 0), (0, 1)), InputPrecision.IEEE),
    InputPrecision.BF16X6: Decomposition(_split_bf16, 3, ((1, 1), (2, 0), (0, 2), (1, 0), (0, 1)), InputPrecision.IEEE),
}
"""By input precision: 2 * 11 bits, 2 * 8 bits, 3 * 8 bits of f32's 24. Products below those bits are left out."""


def _decompose(dot: tt.DotOp, how: Decomposition) -> None:
    """c + a @ b = c + (a0 @ b0 + the small products), where the small products are no number only if a part is none:
    an infinity leaves infinity minus itself. What a0 @ b0 gives then is the answer.
    """
    builder = OpBuilder.before(dot)
    a, b = (how.split(builder, operand, how.num_parts) for operand in (dot.a, dot.b))
    zero = builder.result(constant_splat(0.0, dot.d.type))

    def multiply(left: int, right: int, total: SSAValue) -> SSAValue:
        op = tt.DotOp(
            a[left],
            b[right],
            total,
            input_precision=how.precision,
            max_num_imprecise_acc=dot.max_num_imprecise_acc.value.data,
        )
        op.attributes.update(dot.attributes)
        return builder.insert(op).d

    small = zero
    for left, right in how.small_products:
        small = multiply(left, right, small)
    is_no_number = builder.result(arith.CmpfOp(small, small, "uno"))
    small = builder.result(arith.SelectOp(is_no_number, zero, small))
    result = builder.result(arith.AddfOp(multiply(0, 0, small), dot.c))
    result.name_hint = dot.d.name_hint
    dot.d.replace_all_uses_with(result)
    dot.detach()
    dot.erase()


@register_pass
class F32DotTCPass(Pass):
    """Turns f32 dots whose precision is `bf16x3`, `bf16x6`, or, with `emu-tf32`, `tf32x3` into sums of dots of bf16 or
    tf32 parts of their operands.

    Before:
    ```mlir
    %d = tt.dot %a, %b, %c, inputPrecision = tf32x3 : tensor<64x32xf32, #a> * tensor<32x64xf32, #b> -> ...
    ```
    After: parts of 11 bits, the products of a low with a high part first.
    ```mlir
    %a0 = tt.elementwise_inline_asm "cvt.rna.tf32.f32 $0, $1;" {...} %a : ...
    %a1 = arith.subf %a, %a0 : tensor<64x32xf32, #a>
    (likewise %b0, %b1)
    %0 = tt.dot %a1, %b0, %zero, inputPrecision = tf32 : ...
    %1 = tt.dot %a0, %b1, %0, inputPrecision = tf32 : ...
    %2 = arith.select (%1 is NaN), %zero, %1 : ...
    %3 = tt.dot %a0, %b0, %2, inputPrecision = tf32 : ...
    %d = arith.addf %3, %c : tensor<64x64xf32, #blocked>
    ```
    """

    name = "tritongpu-F32DotTC"
    takes: ClassVar[tuple[str, ...]] = ("tt", "ttg")

    emu_tf32: bool = False
    """Decompose `tf32x3`, too."""

    def run(self, module: ModuleOp, context: PassContext) -> None:
        for dot in [op for op in ops_within(module) if isinstance(op, tt.DotOp)]:
            precision = InputPrecision.of(dot.input_precision)
            how = DECOMPOSITIONS.get(precision)
            if how is None or (precision is InputPrecision.TF32X3 and not self.emu_tf32):
                continue
            if element_type(dot.a.type) == f32 and element_type(dot.b.type) == f32:
                _decompose(dot, how)
