"""What a structured pointer addresses, as data: a box of lanes over a base, regular, wrapped or gathered along each
dimension."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Attribute, Operation, SSAValue

from tilewright.dialects import tts
from tilewright.dialects.construction import static_values
from tilewright.dialects.tts import PointerKind
from tilewright.lowering.access_lowering import AccessLowerings
from tilewright.lowering.memory_builder import NotAddressable, check_pointer
from tilewright.lowering.scalar_builder import Index
from tilewright.support.records import dataclass
from tilewright.transforms.linalg.index_proofs import fold_index

LOWERINGS = AccessLowerings()
"""From op class to what lowers a structured access."""


@dataclass(frozen=True)
class Tile:
    """The addresses ``base + sum_d a_d`` of the lanes of a box.

    - ``a_d = offset_d + i_d * stride_d`` along a regular dimension;
    - the same ``remsi wraps[d]`` along a wrapped one (``wraps[d] != 0``);
    - ``rows[i_d] * stride_d`` along the gathered one (``d == gather_dim``), whose slice is live only where
      ``row_mask[i_d]`` is.
    """

    pointer: SSAValue
    element: Attribute
    sizes: tuple[int, ...]
    strides: tuple[Index, ...]
    offsets: tuple[Index, ...]
    wraps: tuple[Index, ...]
    gather_dim: int | None = None
    rows: SSAValue | None = None
    row_mask: SSAValue | None = None
    op: Operation | None = None  # the op that makes the pointer, where the tile is exactly what it makes

    @property
    def rank(self) -> int:
        return len(self.sizes)

    @property
    def wrapped_dims(self) -> tuple[int, ...]:
        """Dimensions whose addresses wrap around."""
        return tuple(dim for dim, bound in enumerate(self.wraps) if not (isinstance(bound, int) and bound == 0))

    @property
    def irregular_dims(self) -> tuple[int, ...]:
        """Dimensions whose addresses are no multiple of a stride."""
        gathered = () if self.gather_dim is None else (self.gather_dim,)
        return tuple(sorted({*self.wrapped_dims, *gathered}))

    @property
    def is_irregular_row(self) -> bool:
        """True if the tile is one row of lanes, each of which has an address of its own."""
        wide = tuple(dim for dim, size in enumerate(self.sizes) if size > 1)
        return len(wide) == 1 and wide[0] in self.irregular_dims

    @property
    def has_gathered_rows(self) -> bool:
        """True if all rows are gathered, and the elements of each are neighbours."""
        return (
            self.gather_dim is not None
            and self.irregular_dims == (self.gather_dim,)
            and self.gather_dim != self.rank - 1
            and self.strides[-1] == 1
            and self.row_mask is None
        )


def tile_of(pointer: SSAValue) -> Tile:
    """The tile that the pointer operand of a tts access describes; `NotAddressable` where it is not known here."""
    op = pointer.owner
    match op:
        case tts.MakeTensorPtrOp():
            return _structured_tile(op)
        case tts.MakeGatherScatterTensorPtrOp():
            return _gathered_tile(op)
        case _:
            raise NotAddressable("the pointer does not come from a tts.make_tptr here")


def _structured_tile(op: tts.MakeTensorPtrOp) -> Tile:
    sizes = static_values(op.sizes)
    shape = _folded(op.mixed_shape) if op.kind is PointerKind.WRAP_AROUND else (0,) * len(sizes)
    return Tile(
        op.base,
        check_pointer(op.base),
        sizes,
        _monotone_strides(sizes, _folded(op.mixed_strides)),
        _folded(op.mixed_offsets),
        shape,
        op=op,
    )


def _gathered_tile(op: tts.MakeGatherScatterTensorPtrOp) -> Tile:
    sizes = static_values(op.sizes)
    return Tile(
        op.base,
        check_pointer(op.base),
        sizes,
        _folded(op.mixed_strides),
        _folded(op.mixed_offsets),
        (0,) * len(sizes),
        op.gather_scatter_dim.value.data,
        op.gather_scatter_offset,
        op.gather_scatter_mask,
    )


def _folded(entries: Sequence[int | SSAValue]) -> tuple[Index, ...]:
    """Entries that are constants as integers."""
    return tuple(map(fold_index, entries))


def _monotone_strides(sizes: Sequence[int], strides: Sequence[Index]) -> tuple[Index, ...]:
    """A dimension of extent 1 may have any stride: 0 is written as the extent of what lies inside, so that layouts
    read well."""
    result: list[Index] = list(strides)
    inner = 1
    for dim in reversed(range(len(sizes))):
        if sizes[dim] == 1 and isinstance(strides[dim], int) and strides[dim] == 0:
            result[dim] = inner
        inner *= sizes[dim]
    return tuple(result)
