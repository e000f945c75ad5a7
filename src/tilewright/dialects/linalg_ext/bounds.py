"""Which part of a tensor is read."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.irdl import traits_def
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.construction import Index, MixedIndex, Value, init_op, join_mixed, split_mixed, value_of
from tilewright.dialects.definition import Op
from tilewright.dialects.fields import I64Array, Operand, Operands, operand_def, prop_def, var_operand_def
from tilewright.dialects.index_lists import DynamicIndexList
from tilewright.dialects.types import ANY_TENSOR, I64_ARRAY, INDEX, shape_of


class NeededOp(Op):
    """``linalg_ext.needed %t[%n, 16] : tensor<64x16xf32>``.

    Of this tensor, nobody reads elements past the bounds: what makes it need not compute them.
    """

    name = "linalg_ext.needed"

    source: Operand = operand_def(ANY_TENSOR)
    bounds: Operands = var_operand_def(INDEX)
    static_bounds: I64Array = prop_def(I64_ARRAY)

    traits = traits_def(Pure())

    custom_directives = (DynamicIndexList,)
    assembly_format = "$source `` custom<DynamicIndexList>($bounds, $static_bounds) attr-dict `:` type($source)"

    def __init__(self, source: Value, bounds: Sequence[MixedIndex]) -> None:
        static, dynamic = split_mixed(bounds)
        init_op(self, (value_of(source), *dynamic), (), {"static_bounds": static})

    @property
    def mixed_bounds(self) -> list[Index]:
        """The bound of each dimension."""
        return join_mixed(self.static_bounds, self.bounds)

    def verify_(self) -> None:
        shape, bounds = shape_of(self.source.type) or (), self.mixed_bounds
        if len(bounds) != len(shape):
            raise VerifyException(f"{len(shape)} dimensions have as many bounds")
        for bound, extent in zip(bounds, shape, strict=True):
            if isinstance(bound, int) and (bound < 0 or (extent != DYNAMIC_INDEX and bound > extent)):
                raise VerifyException(f"the bound {bound} is not in a dimension of {extent}")
