"""Barriers, scratch memory, and what the software pipeliner leaves for its last step."""

from __future__ import annotations

from typing import ClassVar

from xdsl.dialects.builtin import IntegerAttr, i1, i8
from xdsl.ir import Operation
from xdsl.irdl import AnyAttr, ParsePropInAttrDict, VarConstraint, traits_def
from xdsl.parser import Parser
from xdsl.traits import HasParent, IsTerminator, Pure, RecursiveMemoryEffect, ReturnLike
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects import gpu
from tilewright.dialects.barrier_text import VersionedBarrier
from tilewright.dialects.construction import i32_attr, init_op
from tilewright.dialects.fields import (
    Body,
    Operand,
    Operands,
    Result,
    Results,
    inferred_result_def,
    operand_def,
    prop_def,
    region_def,
    result_def,
    var_operand_def,
    var_result_def,
)
from tilewright.dialects.tt.types import PointerType, pointer_type
from tilewright.dialects.ttg.constraints import TritonGPUOp
from tilewright.dialects.ttg.effects import GLOBAL, READ, SHARED, WRITE, Touches
from tilewright.dialects.types import TypeWhere

NUMBER = VarConstraint("N", AnyAttr())


class LocalBarrierOp(VersionedBarrier, TritonGPUOp):
    """`ttg.local_barrier`, since Triton 3.7 `ttg.barrier local`: all threads of the CTA wait here, and see each other's
    writes to shared memory.
    """

    name = "ttg.local_barrier"

    SPACE: ClassVar[str] = "local"
    traits = traits_def(Touches(((READ, SHARED), (WRITE, SHARED))))


BARRIER_SPACES = ("none", "local", "global_read", "global_write", "tensor_read", "tensor_write", "all")


class BarrierText(TritonGPUOp):
    """`ttg.barrier local`, `ttg.barrier global_read|global_write`, `ttg.barrier all`: a barrier as Triton writes it
    since 3.7, with the memory that it orders. Of shared memory alone it is a `ttg.local_barrier`, else a `gpu.barrier`.
    """

    name = "ttg.barrier"

    @classmethod
    def parse(cls, parser: Parser) -> Operation:  # pyright: ignore[reportIncompatibleMethodOverride]
        spaces = {_parse_barrier_space(parser)}
        while parser.parse_optional_punctuation("|"):
            spaces.add(_parse_barrier_space(parser))
        op = LocalBarrierOp() if spaces <= {"local", "none"} else gpu.BarrierOp()
        op.attributes.update(parser.parse_optional_attr_dict())
        return op


def _parse_barrier_space(parser: Parser) -> str:
    start = parser.pos
    name = parser.parse_identifier()
    if name not in BARRIER_SPACES:
        parser.raise_error(f"expected one of {', '.join(BARRIER_SPACES)}", start, parser.pos)
    return name


class GlobalScratchAllocOp(TritonGPUOp):
    """Global memory of this program alone: `%p = ttg.global_scratch_alloc {alignment = 128 : i32, nbytes = 128 : i32}
    : !tt.ptr<i8>`.
    """

    name = "ttg.global_scratch_alloc"

    nbytes: IntegerAttr = prop_def(IntegerAttr)
    alignment: IntegerAttr = prop_def(IntegerAttr)
    result: Result = result_def(TypeWhere("a pointer", lambda type: isinstance(type, PointerType)))

    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = "attr-dict `:` type($result)"
    traits = traits_def(Touches(((READ, GLOBAL), (WRITE, GLOBAL))))

    def __init__(self, nbytes: int, alignment: int):
        properties = {"nbytes": i32_attr(nbytes), "alignment": i32_attr(alignment)}
        init_op(self, (), (pointer_type(i8),), properties)


class PredicateStageOp(TritonGPUOp):
    """Whether the iteration that a pipeline stage works on exists:
    `%c = ttg.predicate_stage %iv, %ub, %step maxStage 2 stage 1 : i32 -> i1`."""

    name = "ttg.predicate_stage"

    iv: Operand = operand_def(NUMBER)
    ub: Operand = operand_def(NUMBER)
    step: Operand = operand_def(NUMBER)
    max_stage: IntegerAttr = prop_def(IntegerAttr, prop_name="maxStage", converter=i32_attr)
    stage: IntegerAttr = prop_def(IntegerAttr, converter=i32_attr)
    result: Result = inferred_result_def(i1)

    assembly_format = (
        "$iv `,` $ub `,` $step `maxStage` custom<PlainInteger>($maxStage) `stage` custom<PlainInteger>($stage) "
        "attr-dict `:` type($iv) `->` type($result)"
    )
    traits = traits_def(Pure())


class MaskOp(TritonGPUOp):
    """Ops that run under a predicate: `%r = "ttg.mask"(%pred) ({ ... ttg.mask.return %x : i32 }) : (i1) -> i32`."""

    name = "ttg.mask"

    pred: Operand = operand_def(i1)
    result: Results = var_result_def()
    region: Body = region_def("single_block")

    traits = traits_def(RecursiveMemoryEffect())

    def verify_(self) -> None:
        block = self.region.blocks.first
        terminator = None if block is None else block.last_op
        if not isinstance(terminator, MaskReturnOp):
            raise VerifyException("the region must end in 'ttg.mask.return'")
        if [value.type for value in terminator.operands] != [result.type for result in self.results]:
            raise VerifyException("the region does not return values of the result types")


class MaskReturnOp(TritonGPUOp):
    """The values of a `ttg.mask`: `ttg.mask.return %x : i32`."""

    name = "ttg.mask.return"

    result: Operands = var_operand_def(default=())

    assembly_format = "($result^)? attr-dict (`:` type($result)^)?"
    traits = traits_def(HasParent(MaskOp), IsTerminator(), ReturnLike(), Pure())
