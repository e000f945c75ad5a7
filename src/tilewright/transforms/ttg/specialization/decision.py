"""Which loops can have a warp that copies for the others, and the rings of buffers between them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from math import prod

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue, Use

from tilewright.analysis.axis_info import ModuleAxisInfo
from tilewright.dialects import scf, tt, ttg, ttng
from tilewright.dialects.tt.descriptor import has_block_shape
from tilewright.dialects.tt.function import is_function_argument
from tilewright.dialects.ttg.verification import warps_of_program
from tilewright.dialects.types import as_tensor, bit_width, is_tensor
from tilewright.ir.effects import is_memory_free
from tilewright.support.records import dataclass
from tilewright.transforms.common.modes import AUTO
from tilewright.transforms.tt.persist_programs import TILES
from tilewright.transforms.tt.tma.gain import LEAST_SUMS, LEAST_SUMS_ALONE, SHARED_BYTES, WARPS, most_sums
from tilewright.transforms.ttg.pipeliner.copies import buffer_encoding
from tilewright.transforms.ttg.pipeliner.load_groups import LoadGroups, PipelinedLoad
from tilewright.transforms.ttg.pipeliner.machine_model import registers_of
from tilewright.transforms.ttg.pipeliner.schedule import Schedule, body_ops, carried_source, definition_in, used_values

WARPS_OF_GROUP = 4


class CannotSpecialize(Exception):
    """Why all warps of a loop do the same."""


@dataclass(frozen=True)
class Ring:
    """Loads that the same products read: they share a ring of `count` buffers each, and its barriers."""

    loads: tuple[PipelinedLoad, ...]
    readers: tuple[Operation, ...]
    count: int

    @property
    def users(self) -> list[Operation]:
        """The ops that make buffers of what is loaded."""
        return [user for load in self.loads for user in load.users]


@dataclass(frozen=True)
class Roles:
    """What the warps of a loop are to do: `copied` are the ops of the body that the copies need, in order, `carried`
    the numbers of the carried values that they need, `tiles` is the loop over programs around it, and `kept` what a
    program copies once for all iterations: a ring of one buffer or two for each.
    """

    loop: scf.ForOp
    tiles: scf.ForOp | None
    schedule: Schedule
    rings: tuple[Ring, ...]
    copied: tuple[Operation, ...]
    carried: tuple[int, ...]
    kept: tuple[Ring, ...] = ()


def plan_roles(loop: scf.ForOp, schedule: Schedule, mode: str, room: int = SHARED_BYTES) -> Roles:
    """The roles of a scheduled loop, with so many bytes of shared memory for blocks. Raises `CannotSpecialize`."""
    check_loop(loop, mode)
    if room <= 0:
        raise CannotSpecialize("all shared memory is left to what is not in the loop")
    rings = _find_rings(loop, schedule)
    copied, carried = _slice_of_copies(loop, [load for ring in rings for load in ring.loads])
    tiles = tiles_around(loop)
    if tiles is None:
        return Roles(loop, tiles, schedule, rings, copied, carried)
    values = [loop.lb, loop.ub, loop.step, *(loop.iter_args[position] for position in carried)]
    _check_outer_slice(tiles, [*values, *(value for op in copied for value in op.operands)])
    kept = _with_room(tuple(_find_kept(tiles, loop, schedule)), rings, tiles, room)
    return Roles(loop, tiles, schedule, rings, copied, carried, kept)


def tiles_around(loop: scf.ForOp) -> scf.ForOp | None:
    """The loop over programs that a loop is in."""
    holder = loop.parent_op()
    return holder if isinstance(holder, scf.ForOp) and TILES in holder.attributes and not holder.iter_args else None


def check_loop(loop: scf.ForOp, mode: str) -> None:
    """Raise `CannotSpecialize` for what can be said without looking at each load."""
    loads = [op for op in body_ops(loop) if isinstance(op, tt.LoadOp | tt.DescriptorLoadOp)]
    if not any(isinstance(op, tt.DescriptorLoadOp) for op in loads):
        raise CannotSpecialize("none of its loads is a copy by TMA")
    function = (tiles_around(loop) or loop).parent_op()
    if not isinstance(function, tt.FuncOp):
        raise CannotSpecialize("it is inside of another loop or a branch")
    if len(function.body.blocks) != 1 or function.sym_visibility is None or function.sym_visibility.data != "public":
        raise CannotSpecialize("the kernel calls the function that it is in, or branches around it")
    warps = warps_of_program(loop)
    if warps % WARPS_OF_GROUP or warps > WARPS:
        raise CannotSpecialize(f"{warps} warps are not one or two groups of {WARPS_OF_GROUP}")
    if mode == AUTO:
        _check_gain(loop, warps)


def _check_gain(loop: scf.ForOp, warps: int) -> None:
    """Raise `CannotSpecialize` where it was not measured to gain. A chain of products does, as its arithmetic leaves
    the tensor cores idle unless warp groups drift apart, where one program has the multiprocessor to itself anyway. A
    loop over programs with a single product was made where it gains.
    """
    dots = [op for op in body_ops(loop) if isinstance(op, ttng.WarpGroupDotOp)]
    if warps != WARPS:
        raise CannotSpecialize("it has one group of warps, and several programs share a multiprocessor")
    if len(dots) < 2 and tiles_around(loop) is None:
        raise CannotSpecialize("it has no chain of products, whose arithmetic others could fill")
    sums = sum(registers_of(dot.d, warps) for dot in dots)
    if sums < (LEAST_SUMS if len(dots) > 1 else LEAST_SUMS_ALONE):
        raise CannotSpecialize("its products are small, and several programs share a multiprocessor")
    if sums > most_sums(len(dots)):
        raise CannotSpecialize("the results of its products leave too few registers")


def _find_rings(loop: scf.ForOp, schedule: Schedule) -> tuple[Ring, ...]:
    module: Operation | None = loop
    while not isinstance(module, ModuleOp):
        assert module is not None
        module = module.parent_op()
    groups = LoadGroups(loop, schedule, ModuleAxisInfo(module))
    by_readers: dict[frozenset[Operation], list[PipelinedLoad]] = {}
    counts: dict[frozenset[Operation], int] = {}
    rows: list[tuple[PipelinedLoad, frozenset[Operation]]] = []
    for group in groups.find():
        for load in group.loads:
            readers = frozenset(dot for reader in groups.readers(load) for dot in _products_after(loop, reader))
            _check_load(load)
            if len(as_tensor(load.op.result.type).get_shape()) == 1:
                rows.append((load, readers))
                continue
            by_readers.setdefault(readers, []).append(load)
            counts[readers] = max(counts.get(readers, 2), group.num_buffers)
    if not by_readers:
        raise CannotSpecialize("none of its copies runs ahead")
    rings = [Ring(tuple(loads), tuple(readers), counts[readers]) for readers, loads in by_readers.items()]
    return tuple(_with_rows(loop, rings, rows))


def _with_rows(
    loop: scf.ForOp, rings: list[Ring], rows: Sequence[tuple[PipelinedLoad, frozenset[Operation]]]
) -> list[Ring]:
    """Rows of numbers go with the blocks that are read last: so they need no barriers of their own."""
    if not rows:
        return rings
    order = {op: index for index, op in enumerate(body_ops(loop))}
    ends = [max(order[reader] for reader in ring.readers) for ring in rings]
    if max(order[reader] for _, readers in rows for reader in readers) > max(ends):
        raise CannotSpecialize("1-D tiles are read after all blocks")
    last = rings[ends.index(max(ends))]
    loads = (*last.loads, *(load for load, _ in rows))
    return [replace(ring, loads=loads) if ring is last else ring for ring in rings]


def _products_after(loop: scf.ForOp, reader: Operation) -> list[Operation]:
    """The products that read a buffer, or the registers that an op fills from it, which are computed with or not."""
    found: list[Operation] = []
    stack, seen = [reader], {reader}
    while stack:
        op = stack.pop()
        if isinstance(op, ttng.WarpGroupDotOp):
            found.append(op)
            continue
        following = [_holder(use, loop) for use in _uses(op) if not _is_sum(use)]
        if not is_memory_free(op) or len(following) < sum(1 for _ in _uses(op)):
            raise CannotSpecialize("not only products of warp groups read what it copies")
        if any(user.parent is not loop.body.block or isinstance(user, scf.YieldOp) for user in following):
            raise CannotSpecialize("not only products of warp groups read what it copies")
        stack += [user for user in following if user not in seen]
        seen.update(following)
    return found


def _holder(use: Use, loop: scf.ForOp) -> Operation:
    """The op that uses a value, or the branch of the loop that it is in."""
    holder = use.operation.parent_op()
    return holder if isinstance(holder, scf.IfOp) and holder.parent is loop.body.block else use.operation


def _is_sum(use: Use) -> bool:
    """Return whether a use is what a product adds to."""
    return isinstance(use.operation, ttng.WarpGroupDotOp) and use.index > 1


def _uses(op: Operation) -> Iterator[Use]:
    return (use for result in op.results for use in result.uses)


def _check_load(load: PipelinedLoad) -> None:
    if not load.uses_tma:
        raise CannotSpecialize("not all of its copies are by TMA")
    assert isinstance(load.op, tt.DescriptorLoadOp)
    if not is_function_argument(load.op.desc):
        raise CannotSpecialize("the kernel makes the descriptor of a copy itself")


def _slice_of_copies(loop: scf.ForOp, loads: list[PipelinedLoad]) -> tuple[tuple[Operation, ...], tuple[int, ...]]:
    """The ops of the body that say where copies begin, and which carried values they need."""
    ops: set[Operation] = set()
    carried: set[int] = set()
    stack = [value for load in loads for value in load.op.operands]
    while stack:
        value = stack.pop()
        source = carried_source(loop, value)
        if source is not None:
            position = loop.region_iter_args.index(value)  # pyright: ignore[reportArgumentType]
            if position not in carried:
                carried.add(position)
                stack.append(source)
            continue
        maker = definition_in(loop, value)
        if maker is None or maker in ops:
            continue
        if maker.regions or not is_memory_free(maker):
            raise CannotSpecialize(f"where it copies from depends on '{maker.name}'")
        ops.add(maker)
        stack.extend(used_values(maker))
    return tuple(op for op in body_ops(loop) if op in ops), tuple(sorted(carried))


def _find_kept(tiles: scf.ForOp, loop: scf.ForOp, schedule: Schedule) -> Iterator[Ring]:
    """Find what a program loads before its loop for products alone, all of the same stage."""
    dots = {op for op in body_ops(loop) if isinstance(op, ttng.WarpGroupDotOp)}
    for op in tiles.body.block.ops:
        if op is loop or len({schedule.stages[dot] for dot in dots}) != 1:
            return
        if not isinstance(op, tt.DescriptorLoadOp) or not has_block_shape(op.result, op.desc):
            continue
        alloc = op.result.get_user_of_unique_use()
        if not isinstance(alloc, ttg.LocalAllocOp) or alloc.parent not in (tiles.body.block, loop.body.block):
            continue
        load = PipelinedLoad(op, [alloc], buffer_encoding(op))
        readers = tuple(dict.fromkeys(use.operation for use in alloc.result.uses))
        if not load.is_buffer(alloc) or not dots.issuperset(readers) or not is_function_argument(op.desc):
            continue
        try:
            _check_outer_slice(tiles, op.indices)
        except CannotSpecialize:
            continue
        yield Ring((load,), readers, 1)


def _with_room(kept: tuple[Ring, ...], rings: Sequence[Ring], tiles: scf.ForOp, room: int) -> tuple[Ring, ...]:
    """Give what programs keep rings of two buffers, if there is room for them and a buffer for results: the next
    program's is copied while both groups of warps still read this one's.
    """
    used = sum(ring.count * load.bytes for ring in (*rings, *kept) for load in ring.loads)
    used += sum(_bytes_of(op.src) for op in tiles.body.block.ops if isinstance(op, tt.DescriptorStoreOp))
    if used + sum(load.bytes for ring in kept for load in ring.loads) > room:
        return kept
    return tuple(replace(ring, count=2) for ring in kept)


def _bytes_of(value: SSAValue) -> int:
    type = as_tensor(value.type)
    return prod(type.get_shape()) * bit_width(type.element_type) // 8


def _check_outer_slice(tiles: scf.ForOp, values: Iterable[SSAValue]) -> None:
    """Raise `CannotSpecialize` unless arithmetic with scalars says where the copies of a program begin."""
    stack = list(values)
    seen: set[SSAValue] = set()
    while stack:
        value = stack.pop()
        owner = value.owner
        if value in seen or not isinstance(owner, Operation) or owner.parent is not tiles.body.block:
            continue
        seen.add(value)
        if not is_scalar_arithmetic(owner):
            raise CannotSpecialize(f"where the copies of a program begin depends on '{owner.name}'")
        stack.extend(owner.operands)


def is_scalar_arithmetic(op: Operation) -> bool:
    """Return whether an op computes with scalars alone."""
    values = (*op.operands, *op.results)
    return is_memory_free(op) and not op.regions and not any(is_tensor(value.type) for value in values)
