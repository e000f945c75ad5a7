"""Program ids and index ranges: where a kernel's values start."""

from __future__ import annotations

from xdsl.dialects.builtin import IntegerAttr, i32
from xdsl.interfaces import HasFolderInterface
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import ParsePropInAttrDict, traits_def
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.arith.constant import splat_attr
from tilewright.dialects.construction import i32_attr, init_op
from tilewright.dialects.fields import Result, inferred_result_def, prop_def, result_def
from tilewright.dialects.tt.constraints import TENSOR, MemberOf
from tilewright.dialects.tt.definition import TritonOp
from tilewright.dialects.tt.enums import ProgramIDDim
from tilewright.dialects.tt.traits import ReadWriteEffect, TensorSizeTrait
from tilewright.dialects.tt.types import NO_ENCODING, is_tensor, tensor_type


class GetProgramIdOp(TritonOp):
    """Index of this program along one axis of the grid: `%0 = tt.get_program_id x : i32`."""

    name = "tt.get_program_id"

    axis: IntegerAttr = prop_def(MemberOf(ProgramIDDim), converter=ProgramIDDim.attr, default=0)
    result: Result = inferred_result_def(i32)

    assembly_format = "custom<ProgramIDDim>($axis) attr-dict `:` type($result)"
    traits = traits_def(Pure())


class GetNumProgramsOp(TritonOp):
    """Number of programs along one axis of the grid: `%0 = tt.get_num_programs x : i32`."""

    name = "tt.get_num_programs"

    axis: IntegerAttr = prop_def(MemberOf(ProgramIDDim), converter=ProgramIDDim.attr, default=0)
    result: Result = inferred_result_def(i32)

    assembly_format = "custom<ProgramIDDim>($axis) attr-dict `:` type($result)"
    traits = traits_def(Pure())


class GridDependencyWaitOp(TritonOp):
    """Wait until the grids that this one depends on have ended and what they wrote is seen, where it started before
    they had (programmatic dependent launch): `tt.grid_dependency_wait`."""

    name = "tt.grid_dependency_wait"

    assembly_format = "attr-dict"
    traits = traits_def(ReadWriteEffect())


class GridDependencyLaunchDependentsOp(TritonOp):
    """Grids that depend on this one may start: `tt.grid_dependency_launch_dependents`."""

    name = "tt.grid_dependency_launch_dependents"

    assembly_format = "attr-dict"
    traits = traits_def(ReadWriteEffect())


class MakeRangeOp(HasFolderInterface, TritonOp):
    """The integers from `start` up to, not including, `end`:
    `%0 = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>`."""

    name = "tt.make_range"

    start: IntegerAttr = prop_def(IntegerAttr)
    end: IntegerAttr = prop_def(IntegerAttr)
    result: Result = result_def(TENSOR)

    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = "attr-dict `:` type($result)"
    traits = traits_def(Pure(), TensorSizeTrait())

    def __init__(self, start: int, end: int, encoding: Attribute = NO_ENCODING):
        init_op(
            self,
            result_types=(tensor_type(i32, (end - start,), encoding),),
            properties={"end": i32_attr(end), "start": i32_attr(start)},
        )

    def verify_(self) -> None:
        start, end = self.start.value.data, self.end.value.data
        if start >= end:
            raise VerifyException("'start' attribute must be less than 'end' attribute")
        type = self.result.type
        assert is_tensor(type)
        if type.element_type != i32:
            raise VerifyException(f"result element type must be i32, got {type.element_type}")
        if type.get_num_dims() != 1:
            raise VerifyException("return type must be a 1D tensor")
        if type.get_shape()[0] != end - start:
            raise VerifyException(
                f"number of elements in returned tensor ({type.get_shape()[0]}) doesn't match the range ({end - start})"
            )

    def fold(self) -> tuple[SSAValue | Attribute, ...] | None:
        """make_range of one element is a constant."""
        if self.end.value.data - self.start.value.data != 1:
            return None
        return (splat_attr(self.start.value.data, self.result.type),)
