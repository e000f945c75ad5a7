"""Reassociation: which dimensions of a larger shape make up each dimension of a smaller one."""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence
from math import prod

from xdsl.dialects.builtin import DYNAMIC_INDEX, ArrayAttr, IntegerAttr
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import traits_def
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.assembly import Reassociation, reassociation_groups
from tilewright.dialects.construction import (
    MixedIndex,
    Value,
    init_op,
    join_mixed,
    reassociation_attr,
    split_mixed,
    static_values,
    value_of,
)
from tilewright.dialects.definition import Op
from tilewright.dialects.fields import (
    I64Array,
    Operand,
    Operands,
    Result,
    operand_def,
    prop_def,
    result_def,
    var_operand_def,
)
from tilewright.dialects.index_lists import DynamicIndexList
from tilewright.dialects.types import I64_ARRAY, INDEX, shape_of

Groups = ArrayAttr[ArrayAttr[IntegerAttr]]
"""``[[0, 1], [2]]``."""


class CollapseOp(Op, ABC):
    """An op that joins dimensions of its operand, to its `result`."""

    src: Operand = operand_def()
    reassociation: Groups = prop_def(Groups, converter=reassociation_attr)

    traits = traits_def(Pure())

    custom_directives = (Reassociation,)
    assembly_format = "$src custom<Reassociation>($reassociation) attr-dict `:` type($src) `into` type($result)"

    @property
    def groups(self) -> list[list[int]]:
        """Per result dimension the source dimensions that it joins."""
        return reassociation_groups(self.reassociation)

    def verify_(self) -> None:
        verify_reassociation(shape_of(self.results[0].type) or (), shape_of(self.operands[0].type) or (), self.groups)


class ExpandOp(Op, ABC):
    """An op that splits dimensions of its first operand; the others are the dynamic extents of the result."""

    src: Operand = operand_def()
    output_shape: Operands = var_operand_def(INDEX)
    reassociation: Groups = prop_def(Groups)
    static_output_shape: I64Array = prop_def(I64_ARRAY)
    result: Result = result_def()

    traits = traits_def(Pure())

    custom_directives = (Reassociation, DynamicIndexList)
    assembly_format = (
        "$src custom<Reassociation>($reassociation) `output_shape` "
        "custom<DynamicIndexList>($output_shape, $static_output_shape) attr-dict `:` type($src) `into` type($result)"
    )

    def __init__(
        self,
        src: Value,
        reassociation: Sequence[Sequence[int]],
        result_type: Attribute,
        output_shape: Sequence[MixedIndex] | None = None,
    ) -> None:
        static, dynamic = split_mixed((shape_of(result_type) or ()) if output_shape is None else output_shape)
        properties: dict[str, Attribute] = {
            "reassociation": reassociation_attr(reassociation),
            "static_output_shape": static,
        }
        init_op(self, [value_of(src), *dynamic], (result_type,), properties)

    @property
    def groups(self) -> list[list[int]]:
        """Per source dimension the result dimensions that it splits into."""
        return reassociation_groups(self.reassociation)

    @property
    def mixed_output_shape(self) -> list[int | SSAValue]:
        """The extents of the result."""
        return join_mixed(self.static_output_shape, self.operands[1:])

    def verify_(self) -> None:
        result_shape = shape_of(self.results[0].type) or ()
        verify_reassociation(shape_of(self.operands[0].type) or (), result_shape, self.groups)
        static = static_values(self.static_output_shape)
        if len(static) != len(result_shape):
            raise VerifyException(
                f"expected number of static shape dims to be equal to the output rank ({len(result_shape)}) but found "
                f"{len(static)} inputs instead"
            )
        if static.count(DYNAMIC_INDEX) != len(self.output_shape):
            raise VerifyException("mismatch in dynamic dims in output_shape and static_output_shape")


def verify_reassociation(collapsed: Sequence[int], expanded: Sequence[int], groups: Sequence[Sequence[int]]) -> None:
    """Check that groups cover the larger shape in order and that extents multiply up."""
    if collapsed == () and not groups:
        if any(extent != 1 for extent in expanded):
            raise VerifyException("only a shape of ones collapses to rank 0")
        return
    if len(groups) != len(collapsed):
        raise VerifyException(
            f"expected collapsed rank ({len(collapsed)}) to equal the number of reassociation maps ({len(groups)})."
        )
    first = 0
    for index, group in enumerate(groups):
        if not group or list(group) != list(range(first, first + len(group))) or group[-1] >= len(expanded):
            raise VerifyException(f"expected reassociation map #{index} to be valid and contiguous.")
        first += len(group)
    if first != len(expanded):
        raise VerifyException(f"expected expanded rank ({len(expanded)}) to equal the number of dimensions ({first}).")
    for dim, group in enumerate(groups):
        extents = [expanded[inner] for inner in group]
        if DYNAMIC_INDEX in extents:
            if collapsed[dim] != DYNAMIC_INDEX:
                raise VerifyException(
                    f"expected dimension {dim} of collapsed type to be dynamic since one or more of the corresponding "
                    "dimensions in the expanded type is dynamic"
                )
        elif collapsed[dim] != prod(extents):
            raise VerifyException(f"expected dimension {dim} of collapsed type to be static value of {prod(extents)}")


def collapsed_shape(expanded: Sequence[int], groups: Sequence[Sequence[int]]) -> tuple[int, ...]:
    """The shape after collapsing."""
    extents = [[expanded[dim] for dim in group] for group in groups]
    return tuple(DYNAMIC_INDEX if DYNAMIC_INDEX in group else prod(group) for group in extents)


def find_reassociation(collapsed: Sequence[int], expanded: Sequence[int]) -> list[list[int]] | None:
    """Groups that lead from one static shape to the other, trailing ones joined to the last group; None when there
    are none.

    >>> find_reassociation((8, 3), (2, 4, 3))
    [[0, 1], [2]]
    """
    groups: list[list[int]] = []
    dim = 0
    for position, extent in enumerate(collapsed):
        group: list[int] = []
        size = 1
        while dim < len(expanded) and (not group or size < extent):
            size *= expanded[dim]
            group.append(dim)
            dim += 1
        if size != extent:
            return None
        groups.append(group)
        if position == len(collapsed) - 1:
            while dim < len(expanded) and expanded[dim] == 1:
                group.append(dim)
                dim += 1
    if not collapsed and any(extent != 1 for extent in expanded):
        return None
    return groups if dim == len(expanded) or not collapsed else None
