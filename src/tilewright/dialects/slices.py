"""What ``[offsets] [sizes] [strides]`` ops share: mixed operand groups and the arithmetic of rank reduction."""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import AttrSizedOperandSegments

from tilewright.dialects.construction import MixedIndex, join_mixed, segment_sizes, split_mixed, static_values
from tilewright.dialects.definition import Op
from tilewright.dialects.fields import I64Array, prop_def
from tilewright.dialects.types import I64_ARRAY
from tilewright.ir.wording import BareVerifyException


class SlicingOp(Op, ABC):
    """An op that takes ``[%i, 0] [4, %n] [1, 1]``; subclasses define the operand groups offsets, sizes and strides."""

    static_offsets: I64Array = prop_def(I64_ARRAY)
    static_sizes: I64Array = prop_def(I64_ARRAY)
    static_strides: I64Array = prop_def(I64_ARRAY)

    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    @property
    def mixed_offsets(self) -> list[int | SSAValue]:
        """The offsets, constants as ints."""
        return join_mixed(self.static_offsets, self.dynamic_group("offsets"))

    @property
    def mixed_sizes(self) -> list[int | SSAValue]:
        """The sizes, constants as ints."""
        return join_mixed(self.static_sizes, self.dynamic_group("sizes"))

    @property
    def mixed_strides(self) -> list[int | SSAValue]:
        """The strides, constants as ints."""
        return join_mixed(self.static_strides, self.dynamic_group("strides"))

    def dynamic_group(self, name: str) -> Sequence[SSAValue]:
        """The values of one of the three lists."""
        return getattr(self, name)


def slice_operands(
    leading: Sequence[SSAValue],
    offsets: Sequence[MixedIndex],
    sizes: Sequence[MixedIndex],
    strides: Sequence[MixedIndex],
) -> tuple[list[SSAValue], dict[str, Attribute]]:
    """The flat operands and the properties of a slicing op with the given leading operands."""
    static_offsets, dynamic_offsets = split_mixed(offsets)
    static_sizes, dynamic_sizes = split_mixed(sizes)
    static_strides, dynamic_strides = split_mixed(strides)
    counts = (len(dynamic_offsets), len(dynamic_sizes), len(dynamic_strides))
    properties: dict[str, Attribute] = {
        "operandSegmentSizes": segment_sizes(*([1] * len(leading)), *counts),
        "static_offsets": static_offsets,
        "static_sizes": static_sizes,
        "static_strides": static_strides,
    }
    return [*leading, *dynamic_offsets, *dynamic_sizes, *dynamic_strides], properties


def static_extents(mixed: Sequence[MixedIndex]) -> tuple[int, ...]:
    """The entries as a shape: values become ``DYNAMIC_INDEX``."""
    return tuple(value if isinstance(value, int) else DYNAMIC_INDEX for value in mixed)


def verify_slice_lists(op: SlicingOp, rank: int, offsets_rank: int | None = None) -> None:
    """Check that the three lists of a slicing op have the rank of what is sliced, that the operands fill their gaps,
    and that no offset or size is negative. An `offsets_rank` is that of ops with one offset."""
    lists = [static_values(op.static_offsets), static_values(op.static_sizes), static_values(op.static_strides)]
    wanted = [rank if offsets_rank is None else offsets_rank, rank, rank]
    lengths = [len(values) for values in lists]
    compared = ((0, 1), (1, 2)) if lengths[0] != 1 or offsets_rank is None else ((1, 2),)
    for left, right in compared:
        if lengths[left] != lengths[right]:
            raise BareVerifyException(
                f"expected mixed {_LISTS[left]}s rank to match mixed {_LISTS[right]}s rank ({lengths[left]} vs "
                f"{lengths[right]}) so the rank of the result type is well-formed."
            )
    for name, values, expected in zip(_LISTS, lists, wanted, strict=True):
        if len(values) != expected:
            raise BareVerifyException(f"expected {expected} {name} values, got {len(values)}")
        given, gaps = len(op.dynamic_group(f"{name}s")), values.count(DYNAMIC_INDEX)
        if given != gaps:
            raise BareVerifyException(
                f"expected the number of '{name}s' to match the number of dynamic entries in 'static_{name}s' "
                f"({given} vs {gaps})"
            )
    for name, values in zip(_LISTS[:2], lists, strict=False):
        negative = next((value for value in values if value < 0 and value != DYNAMIC_INDEX), None)
        if negative is not None and offsets_rank is None:
            raise BareVerifyException(f"expected {name}s to be non-negative, but got {negative}")


_LISTS = ("offset", "size", "stride")


def verify_in_bounds(op: SlicingOp, shape: Sequence[int]) -> None:
    """Check that no slice of constant lists leaves a dimension of constant extent."""
    lists = map(static_values, (op.static_offsets, op.static_sizes, op.static_strides))
    for dim, (extent, offset, size, stride) in enumerate(zip(shape, *lists, strict=True)):
        if DYNAMIC_INDEX in (extent, offset):
            continue
        if offset >= extent:
            raise BareVerifyException(f"offset {dim} is out-of-bounds: {offset} >= {extent}")
        if DYNAMIC_INDEX not in (size, stride) and (last := offset + (size - 1) * stride) >= extent:
            raise BareVerifyException(f"slice along dimension {dim} runs out-of-bounds: {last} >= {extent}")


def find_kept_dims(
    sizes: Sequence[int],
    reduced: Sequence[int],
    strides: Sequence[int] = (),
    reduced_strides: Sequence[int] = (),
) -> list[int] | None:
    """Return which dimensions a rank-reduced shape keeps; None when the shapes do not fit.

    The rightmost ones that have its sizes, and its strides where they are given; the others have size 1.

    >>> find_kept_dims((1, 8, 1), (8, 1))
    [1, 2]
    >>> find_kept_dims((1, 8, 1), (1, 8))
    [0, 1]
    >>> find_kept_dims((4, 1, 1), (4, 1), (8, 4, 2), (8, 4))
    [0, 1]
    """
    kept: list[int] = []
    for dim in range(len(sizes) - 1, -1, -1):
        wanted = len(reduced) - len(kept) - 1
        fits = wanted >= 0 and reduced[wanted] == sizes[dim]
        if fits and (not strides or strides[dim] == reduced_strides[wanted]):
            kept.append(dim)
        elif sizes[dim] != 1:
            return None
    return kept[::-1] if len(kept) == len(reduced) else None
