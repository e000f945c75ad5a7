"""Plans for running combinations along one dimension of a tensor.

The coordinate along the axis is a binary number whose bits lie in registers, lanes and warps. A scan goes from its
lowest bit to its highest: when bits up to b are done, every element holds the combination of its block of 2^b
elements up to itself, and the next bits say which blocks come before it. A *run* is a maximal sequence of bits that
lie in one kind of place; each run takes one kind of step: serial in registers, shuffles between lanes, or through
shared memory between warps.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import groupby

from tilewright.layouts import gf2
from tilewright.layouts.convert import ConversionPlan, plan_conversion
from tilewright.layouts.distributed import BLOCK, IN_DIMS, LANE, REGISTER, WARP, BlockedLayout, dim_names
from tilewright.layouts.linear import LinearLayout
from tilewright.layouts.reduction import has_plain_bases
from tilewright.layouts.swizzle import MATRIX_FREE, MatrixMoves, SharedMemoryConversion, plan_shared_memory
from tilewright.support.records import dataclass


@dataclass(frozen=True)
class RegisterRun:
    """Bits of the register number, the axis' lowest first."""

    bits: tuple[int, ...]


@dataclass(frozen=True)
class LaneRun:
    """Bits of the lane number, the axis' lowest first."""

    bits: tuple[int, ...]


@dataclass(frozen=True)
class WarpRun:
    """Bits of the warp number, the axis' lowest first; `exchange` brings the totals of all warps to every thread.

    Source and target of the exchange hold one value per register of `registers` (a thread's register numbers without
    the bits done before this run); in the target the warps' totals come first: register `w + (i << len(bits))` is that
    of warp w for the i-th of them. Of the lanes that differ in `done_lanes` only the last holds the total.
    """

    bits: tuple[int, ...]
    registers: tuple[int, ...]
    done_lanes: int
    exchange: SharedMemoryConversion


Run = RegisterRun | LaneRun | WarpRun


@dataclass(frozen=True)
class ScanPlan:
    """The runs, and which registers are computed: `kept` lists the register bits that do not just repeat elements.

    Layouts whose bases mix dimensions are brought to `layout` by `prepare` first and back by `finish` afterwards.
    """

    layout: LinearLayout
    kept: tuple[int, ...]
    runs: tuple[Run, ...]
    prepare: ConversionPlan | None
    finish: ConversionPlan | None

    @property
    def num_bytes(self) -> int:
        """Shared memory: the steps run one after the other in the same bytes."""
        steps = [self.prepare, self.finish, *(run.exchange for run in self.runs if isinstance(run, WarpRun))]
        return max((plan.num_bytes for plan in steps if isinstance(plan, SharedMemoryConversion)), default=0)


@lru_cache(maxsize=1024)
def plan_scan(source: LinearLayout, axis: int, element_bits: int, matrices: MatrixMoves = MATRIX_FREE) -> ScanPlan:
    """Return how to scan a tensor in layout `source` along dim `axis`. ValueError where CTAs share the axis."""
    name = dim_names(len(source.out_dims))[axis]
    if any(source.sublayout([BLOCK], [name]).columns):
        raise ValueError("a scan along a dimension that several CTAs share is not supported")
    prepare = finish = None
    layout = source
    if not has_plain_bases(source):
        shape = list(source.out_dims.values())
        blocked = BlockedLayout.default(shape, source.in_dims[WARP], source.in_dims[LANE]).to_linear(shape)
        layout = blocked.sublayout([REGISTER, LANE, WARP], blocked.out_dims).concat_ins(
            source.sublayout([BLOCK], source.out_dims)
        )
        prepare = plan_conversion(source, layout, element_bits, matrices)
        finish = plan_conversion(layout, source, element_bits, matrices)
    kept = tuple(gf2.Echelon(layout.packed_bases[REGISTER]).pivot_columns)
    runs = tuple(_runs(layout, name, kept, element_bits, matrices))
    return ScanPlan(layout, kept, runs, prepare, finish)


def _runs(
    layout: LinearLayout, axis: str, kept: Sequence[int], element_bits: int, matrices: MatrixMoves
) -> Iterator[Run]:
    done: list[tuple[str, int]] = []
    for kind, group in groupby(_places_of_axis_bits(layout, axis), key=lambda place: place[0]):
        places = list(group)
        bits = tuple(bit for _, bit in places)
        if kind == REGISTER:
            yield RegisterRun(bits)
        elif kind == LANE:
            yield LaneRun(bits)
        else:
            yield _warp_run(layout, bits, done, kept, element_bits, matrices)
        done += places


def _places_of_axis_bits(layout: LinearLayout, axis: str) -> list[tuple[str, int]]:
    """Return where each bit of the coordinate along the axis lies: the first place that moves it."""
    places: dict[int, tuple[str, int]] = {}
    for name in (REGISTER, LANE, WARP):
        for bit, column in enumerate(layout.sublayout([name], [axis]).columns):
            if column:
                places.setdefault(column, (name, bit))
    return [place for _, place in sorted(places.items())]


def _warp_run(
    layout: LinearLayout,
    bits: tuple[int, ...],
    done: Sequence[tuple[str, int]],
    kept: Sequence[int],
    element_bits: int,
    matrices: MatrixMoves,
) -> WarpRun:
    columns = layout.packed_bases
    left = [bit for bit in kept if (REGISTER, bit) not in done]
    done_lanes = [bit for name, bit in done if name == LANE]
    finished = {columns[name][bit] for name, bit in done}
    own = [columns[WARP][bit] for bit in bits]
    lanes = [0 if column in finished else column for column in columns[LANE]]
    warps = [0 if column in finished else column for column in columns[WARP]]
    registers = [columns[REGISTER][bit] for bit in left]
    source = _flat_layout(layout, registers, lanes, warps)
    target = _flat_layout(layout, [*own, *registers], lanes, [0 if column in own else column for column in warps])
    numbers = tuple(
        sum(((index >> position) & 1) << bit for position, bit in enumerate(left)) for index in range(1 << len(left))
    )
    # Only the last of the lanes that are done may write, and the lanes of a matrix store all do.
    exchange = plan_shared_memory(source, target, element_bits, replace(matrices, store=False), in_rounds=False)
    return WarpRun(bits, numbers, sum(1 << bit for bit in done_lanes), exchange)


def _flat_layout(
    layout: LinearLayout, registers: Sequence[int], lanes: Sequence[int], warps: Sequence[int]
) -> LinearLayout:
    """A layout with these bases whose one out-dim numbers the elements that they reach."""
    columns = {REGISTER: registers, LANE: lanes, WARP: warps, BLOCK: layout.packed_bases[BLOCK]}
    reached = sorted({column for name in IN_DIMS for column in columns[name] if column})
    numbers = {column: 1 << position for position, column in enumerate(reached)} | {0: 0}
    return LinearLayout(
        ((name, [numbers[column] for column in columns[name]]) for name in IN_DIMS), [("dim0", len(reached))]
    )
