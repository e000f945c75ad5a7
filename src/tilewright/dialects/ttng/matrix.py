"""Asynchronous matmuls of a warp group (`wgmma`)."""

from __future__ import annotations

from xdsl.dialects.builtin import IntegerAttr, i1
from xdsl.ir import Attribute, Operation
from xdsl.irdl import AnyAttr, ParsePropInAttrDict, RangeOf, RangeVarConstraint, VarConstraint, traits_def
from xdsl.traits import EffectInstance, MemoryEffect
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.construction import bool_attr, i32_attr
from tilewright.dialects.fields import (
    Operand,
    Operands,
    OptionalOperand,
    Result,
    Results,
    inferred_result_def,
    inferred_results_def,
    operand_def,
    opt_operand_def,
    prop_def,
    var_operand_def,
)
from tilewright.dialects.tt.constraints import TENSOR
from tilewright.dialects.tt.enums import InputPrecision
from tilewright.dialects.ttg.constraints import MEMDESC, TritonGPUOp
from tilewright.dialects.ttg.effects import READ, SHARED, WRITE, Touches
from tilewright.dialects.ttg.encodings import DotOperandEncodingAttr, NvidiaMmaEncodingAttr
from tilewright.dialects.ttg.types import MemDescType
from tilewright.dialects.types import TypeWhere, bit_width, is_tensor

OPERAND = TypeWhere("a tensor or a memdesc", lambda type: is_tensor(type) or isinstance(type, MemDescType))
ACCUMULATOR = VarConstraint("Acc", TENSOR)
PASSED = RangeVarConstraint("Passed", RangeOf(AnyAttr()))


class ReadsOperandsInSharedMemory(MemoryEffect):
    """Reads shared memory, where A and B may be."""

    @classmethod
    def get_effects(cls, op: Operation) -> set[EffectInstance]:
        return {EffectInstance(READ, resource=SHARED)}


class WarpGroupDotOp(TritonGPUOp):
    """`d = a @ b + c`, with B, and A unless it is in registers, read from shared memory; `use_c` false starts from
    zero.

    `%d = ttng.warp_group_dot %A, %B, %acc {inputPrecision = 0 : i32, isAsync = true} : !ttg.memdesc<...> *
    !ttg.memdesc<...> -> tensor<...>`
    """

    name = "ttng.warp_group_dot"

    a: Operand = operand_def(OPERAND)
    b: Operand = operand_def(MEMDESC)
    c: Operand = operand_def(ACCUMULATOR)
    use_c: OptionalOperand = opt_operand_def(i1, default=None)
    input_precision: IntegerAttr = prop_def(
        IntegerAttr,
        default_value=i32_attr(InputPrecision.IEEE),
        prop_name="inputPrecision",
        converter=InputPrecision.attr,
        default=InputPrecision.IEEE,
        kw_only=True,
    )
    max_num_imprecise_acc: IntegerAttr = prop_def(
        IntegerAttr,
        default_value=i32_attr(0),
        prop_name="maxNumImpreciseAcc",
        default=0,
        converter=i32_attr,
        kw_only=True,
    )
    is_async: IntegerAttr = prop_def(
        IntegerAttr,
        default_value=bool_attr(False),
        prop_name="isAsync",
        default=False,
        converter=bool_attr,
        kw_only=True,
    )
    d: Result = inferred_result_def(VarConstraint("Acc", AnyAttr()), of="c")

    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = "$a `,` $b `,` $c (`,` $use_c^)? attr-dict `:` type($a) `*` type($b) `->` type($d)"
    traits = traits_def(ReadsOperandsInSharedMemory())

    def verify_(self) -> None:
        shapes = [_shape(value.type) for value in (self.a, self.b, self.d)]
        (rows, k), (k_b, columns) = shapes[0], shapes[1]
        if k != k_b or shapes[2] != (rows, columns):
            raise VerifyException(f"shapes do not fit a matmul: {shapes[0]} * {shapes[1]} -> {shapes[2]}")
        if rows % 64 or columns % 8:
            raise VerifyException(f"WGMMA result M dimension must be divisible by 64 and N by 8, got {rows}x{columns}")
        assert is_tensor(self.d.type)
        encoding = self.d.type.encoding
        if not isinstance(encoding, NvidiaMmaEncodingAttr) or not encoding.data.is_hopper:
            raise VerifyException("WGMMA result layout must be Hopper NVMMA")
        if encoding.data.num_warps % 4:
            raise VerifyException("WGMMA requires num_warps to be divisible by 4")
        _check_width_in_registers(self.a.type)


def _check_width_in_registers(a: Attribute) -> None:
    """VerifyException unless a tensor A has as many elements beside each other as a register holds."""
    if not is_tensor(a) or not isinstance(a.encoding, DotOperandEncodingAttr):
        return
    wanted, width = 32 // bit_width(a.element_type), a.encoding.data.k_width
    if width != wanted:
        raise VerifyException(f"in-register LHS operand must have a kWidth of {wanted} but got {width}")


def _shape(type: Attribute) -> tuple[int, int]:
    shape = type.get_shape() if isinstance(type, MemDescType) or is_tensor(type) else ()
    if len(shape) != 2:
        raise VerifyException(f"WGMMA operands and result must have rank 2, got {type}")
    return shape[0], shape[1]


class WarpGroupDotWaitOp(TritonGPUOp):
    """Waits until at most `pendings` asynchronous products are under way; passes its operands through, buffers only
    to keep them alive.

    `%w:2 = ttng.warp_group_dot_wait %d, %A {pendings = 0 : i32} : tensor<...>, !ttg.memdesc<...>`
    """

    name = "ttng.warp_group_dot_wait"

    inputs: Operands = var_operand_def(PASSED)
    pendings: IntegerAttr = prop_def(IntegerAttr, converter=i32_attr)
    outputs: Results = inferred_results_def(PASSED, of="inputs")

    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = "$inputs attr-dict `:` type($inputs)"
    traits = traits_def(Touches(((READ, SHARED), (WRITE, SHARED))))

    def verify_(self) -> None:
        if not self.inputs:
            raise VerifyException("expected to be waiting on at least one dependency")
