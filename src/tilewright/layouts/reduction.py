"""Plans for combining the elements of a tensor along one dimension.

A reduction goes from the cheap to the dear: registers of a thread first, then lanes of a warp (butterfly shuffles along
the lane bits that move the axis), then warps. What warps still hold apart is a small tensor, the *partials*, whose
axis counts warps only. It changes its layout like any other tensor, through shared memory, so that those elements
meet in the registers (and lanes) of one thread, and is combined again. With few results per thread every thread
combines the partials of its own results, after one barrier; with many, threads share that work and a second
conversion hands the results out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

from tilewright.layouts import gf2
from tilewright.layouts.convert import ConversionPlan, plan_conversion
from tilewright.layouts.distributed import BLOCK, IN_DIMS, LANE, REGISTER, WARP, BlockedLayout, dim_names
from tilewright.layouts.linear import LinearLayout
from tilewright.layouts.swizzle import MATRIX_FREE, MatrixMoves, SharedMemoryConversion, plan_shared_memory
from tilewright.support.records import dataclass

MAX_PARTIALS_PER_THREAD = 64
"""Partials that one thread reads at most before threads share the work in a second round."""


@dataclass(frozen=True)
class WarpReduction:
    """Combining inside warps: result register i of a thread combines the registers `groups[i]`, in the order of the
    axis; then lanes combine with the lane whose number differs by each of `lane_masks`, widest first.

    `result` is the layout afterwards, with as much of the axis left as lies in different warps.
    """

    groups: tuple[tuple[int, ...], ...]
    lane_masks: tuple[int, ...]
    result: LinearLayout

    @property
    def num_shuffles(self) -> int:
        """Shuffles per thread for 32-bit elements."""
        return len(self.groups) * len(self.lane_masks)


@dataclass(frozen=True)
class ReductionPlan:
    """The steps: `prepare` (only for layouts whose bases mix dimensions), `first` inside warps, `exchange` of partials
    and `second` inside warps (where warps share an axis), `finish` brings results to their layout.
    """

    prepare: ConversionPlan | None
    first: WarpReduction
    exchange: SharedMemoryConversion | None
    second: WarpReduction | None
    finish: ConversionPlan

    @property
    def num_bytes(self) -> int:
        """Shared memory: the conversions run one after the other in the same bytes."""
        conversions = (self.prepare, self.exchange, self.finish)
        return max((plan.num_bytes for plan in conversions if isinstance(plan, SharedMemoryConversion)), default=0)


@lru_cache(maxsize=1024)
def plan_reduction(
    source: LinearLayout,
    axis: int,
    result: LinearLayout,
    element_bits: int,
    matrices: MatrixMoves = MATRIX_FREE,
) -> ReductionPlan:
    """Return how to combine `source` (registers, lanes, warps, blocks to dims) along dim `axis` into the layout
    `result`, which has the other dims, renumbered. ValueError where CTAs share the axis.
    """
    name = dim_names(len(source.out_dims))[axis]
    if any(source.sublayout([BLOCK], [name]).columns):
        raise ValueError("a reduction along a dimension that several CTAs share is not supported")
    prepare = None
    if not has_plain_bases(source):
        plain = _default_layout(source)
        prepare, source = plan_conversion(source, plain, element_bits, matrices), plain
    first = reduce_in_warps(source, name)
    partials = first.result
    exchange = second = None
    if partials.out_dims[name] > 1:
        target = _meeting_layout(partials, name, result, element_bits)
        # One lane writes for all that hold a partial: a region need not give all of them the very same bits.
        loads_only = replace(matrices, store=False)
        exchange = plan_shared_memory(partials, target, element_bits, loads_only, in_rounds=False)
        second = reduce_in_warps(target, name)
        partials = second.result
    finish = plan_conversion(_without_dim(partials, name), result, element_bits, matrices)
    return ReductionPlan(prepare, first, exchange, second, finish)


def has_plain_bases(layout: LinearLayout) -> bool:
    """Return whether every input bit moves at most one bit of one coordinate."""
    return all(column & (column - 1) == 0 for column in layout.columns)


def scalar_layout(like: LinearLayout) -> LinearLayout:
    """The layout of one value that every thread holds."""
    return LinearLayout(
        ((name, () if name == REGISTER else (0,) * len(columns)) for name, columns in like.packed_bases.items()), ()
    )


def _default_layout(like: LinearLayout) -> LinearLayout:
    shape = list(like.out_dims.values())
    warps, lanes = like.in_dims[WARP], like.in_dims[LANE]
    blocked = BlockedLayout.default(shape, warps, lanes).to_linear(shape)
    return blocked.sublayout([REGISTER, LANE, WARP], blocked.out_dims).concat_ins(
        like.sublayout([BLOCK], like.out_dims)
    )


def reduce_in_warps(layout: LinearLayout, axis: str) -> WarpReduction:
    """Combine along dim `axis` what each warp holds; every element counts once however often it is held."""
    fresh = _fresh_bits(layout)
    on_axis = {name: _bits_on(layout, name, axis) for name in IN_DIMS}
    registers = [bit for bit in fresh[REGISTER] if bit not in on_axis[REGISTER]]
    combined = sorted(
        (bit for bit in fresh[REGISTER] if bit in on_axis[REGISTER]), key=lambda bit: layout.packed_bases[REGISTER][bit]
    )
    groups = tuple(
        tuple(deposit(kept, registers) | deposit(index, combined) for index in range(1 << len(combined)))
        for kept in range(1 << len(registers))
    )
    masks = tuple(1 << bit for bit in reversed(fresh[LANE]) if bit in on_axis[LANE])
    apart = [bit for bit in fresh[WARP] if bit in on_axis[WARP]]
    return WarpReduction(groups, masks, _partials(layout, axis, registers, on_axis, apart))


def _partials(
    layout: LinearLayout, axis: str, registers: Sequence[int], on_axis: dict[str, set[int]], apart: Sequence[int]
) -> LinearLayout:
    """The layout of what is left: an axis that counts the warp bits `apart`."""
    vectors = dict(layout.bases)
    names = list(layout.out_dims)
    place = names.index(axis)
    warps = sorted(apart, key=lambda bit: vectors[WARP][bit])
    new_axis = {bit: 1 << position for position, bit in enumerate(warps)}

    def column(in_dim: str, bit: int) -> tuple[int, ...]:
        vector = list(vectors[in_dim][bit])
        if bit in on_axis[in_dim]:
            vector[place] = new_axis.get(bit, 0) if in_dim == WARP else 0
        return tuple(vector)

    bits = {REGISTER: registers, **{name: range(len(vectors[name])) for name in (LANE, WARP, BLOCK)}}
    sizes = {name: 1 << len(apart) if name == axis else size for name, size in layout.out_dims.items()}
    return LinearLayout.from_bases({name: [column(name, bit) for bit in bits[name]] for name in IN_DIMS}, sizes)


def _fresh_bits(layout: LinearLayout) -> dict[str, list[int]]:
    """Per in-dim, the bits that reach elements which no bit before them reaches."""
    echelon = gf2.Echelon()
    return {
        name: [bit for bit, column in enumerate(layout.packed_bases[name]) if echelon.insert(column)]
        for name in IN_DIMS
    }


def _bits_on(layout: LinearLayout, in_dim: str, axis: str) -> set[int]:
    along = layout.sublayout([in_dim], [axis]).columns
    return {bit for bit, column in enumerate(along) if column}


def deposit(index: int, bits: Sequence[int]) -> int:
    """The bits of `index` put at the positions `bits`, lowest first."""
    return sum(((index >> position) & 1) << bit for position, bit in enumerate(bits))


def _meeting_layout(partials: LinearLayout, axis: str, result: LinearLayout, element_bits: int) -> LinearLayout:
    """A layout in which the partials of one result are in one warp: in the registers of every thread that wants the
    result, or dealt over all threads.
    """
    count = partials.out_dims[axis]
    names = [name for name in partials.out_dims if name != axis]
    wanted = result.rename_outs(dict(zip(result.out_dims, names, strict=True)))
    if count * (1 << gf2.rank(wanted.packed_bases[REGISTER])) <= MAX_PARTIALS_PER_THREAD:
        axis_first = LinearLayout.identity_1d(count, REGISTER, axis)
        slim = wanted.remove_zero_bases_along(REGISTER)
        return (axis_first * slim).transpose_outs(partials.out_dims)
    return _dealt_layout(partials, axis, element_bits)


def _dealt_layout(partials: LinearLayout, axis: str, element_bits: int) -> LinearLayout:
    """The axis in registers as far as one access reaches, then in lanes; all else over lanes, warps, registers."""
    count = partials.out_dims[axis]
    in_registers = min(count, max(1, 128 // max(element_bits, 8)))
    bits = [(axis, 1 << bit) for bit in range(count.bit_length() - 1)]
    axis_registers, axis_lanes = bits[: in_registers.bit_length() - 1], bits[in_registers.bit_length() - 1 :]
    blocks = set(gf2.image(partials.packed_bases[BLOCK]))
    others = [
        (name, 1 << bit)
        for name, size in partials.out_dims.items()
        if name != axis
        for bit in range(size.bit_length() - 1)
    ]
    others = [basis for basis in others if _packed(partials, basis) not in blocks]
    num_lanes, num_warps = len(partials.packed_bases[LANE]), len(partials.packed_bases[WARP])
    free_lanes = num_lanes - len(axis_lanes)
    lanes = [*axis_lanes, *others[:free_lanes]]
    warps = others[free_lanes : free_lanes + num_warps]
    registers = [*axis_registers, *others[free_lanes + num_warps :]]
    columns = {
        REGISTER: [_packed(partials, basis) for basis in registers],
        LANE: [_packed(partials, basis) for basis in lanes] + [0] * (num_lanes - len(lanes)),
        WARP: [_packed(partials, basis) for basis in warps] + [0] * (num_warps - len(warps)),
        BLOCK: list(partials.packed_bases[BLOCK]),
    }
    return LinearLayout(columns.items(), [(n, s.bit_length() - 1) for n, s in partials.out_dims.items()])


def _packed(layout: LinearLayout, basis: tuple[str, int]) -> int:
    shift = 0
    for name, size in layout.out_dims.items():
        if name == basis[0]:
            return basis[1] << shift
        shift += size.bit_length() - 1
    raise ValueError(f"{basis[0]} is not a dimension of {layout}")


def _without_dim(layout: LinearLayout, axis: str) -> LinearLayout:
    kept = [name for name in layout.out_dims if name != axis]
    return layout.sublayout(IN_DIMS, kept).rename_outs(dict(zip(kept, dim_names(len(kept)), strict=True)))
