"""Stores that later loads read, stores through block pointers, atomics, and what a kernel leaves at its end."""

from __future__ import annotations

from tilewright.tools.fuzzing.builder import GUARD, Builder
from tilewright.tools.fuzzing.values import BOOL, FILL, Argument, Value

ATOMIC_INTS = ("int32", "uint32", "int64", "uint64")
ATOMIC_FLOATS = ("float16", "float32", "float64")


def store_and_reload(b: Builder) -> None:
    """A store to the program's own part of a buffer, and a load of it: later loads see earlier stores. On a GPU
    other threads do so after a barrier only, which half of the kernels have."""
    value = b.pick_value(lambda v: v.shape == b.shape and v.dtype != BOOL)
    if value is None:
        return
    buffer = b.output(value)
    synchronise(b)
    write(b, buffer, value)
    if b.chance(0.6):
        b.writer.features.add("reload")
        synchronise(b)
        text = f"tl.load({b.own_part(buffer)} + {b.permuted_index()})"
        b.remember(b.named(text, value.dtype, b.shape, max(value.bound, FILL), value.slack))


def synchronise(b: Builder) -> None:
    """A barrier between accesses of one memory, in kernels that have barriers."""
    if b.has_barriers:
        b.writer.line("tl.debug_barrier()")
    else:
        b.writer.features.add("without barriers")


def write(b: Builder, buffer: Argument, value: Value) -> None:
    """A store with or without a mask, in order or permuted, or through a block pointer."""
    if b.chance(0.15):
        b.writer.features.add("block store")
        rank = len(b.shape)
        cut = tuple(b.integer(1, extent) for extent in b.shape)
        strides, order = ((b.shape[-1], 1), (1, 0)) if rank == 2 else ((1,), (0,))
        lists = ", ".join(b.shape_text(items) for items in (cut, strides, (0,) * rank, b.shape, order))
        pointer = f"tl.make_block_ptr({b.own_part(buffer)}, {lists})"
        b.writer.line(f"tl.store({pointer}, {value.text}, boundary_check={b.shape_text(tuple(range(rank)))})")
        return
    index = b.permuted_index() if b.chance(0.4) else b.tile_index()
    mask = f", mask={b.lane_condition()}" if b.chance(0.5) else ""
    b.writer.line(f"tl.store({b.own_part(buffer)} + {index}, {value.text}{mask})")


def shared_atomic(b: Builder) -> None:
    """An atomic on elements that lanes and programs share; its order does not matter, its result is not used."""
    value = b.pick_value(lambda v: v.dtype in ATOMIC_INTS and v.shape == b.shape)
    if value is None:
        return
    kind = b.pick(("add", "max", "min", "and", "or", "xor"))
    buffer = b.new_argument(value.dtype, b.tile, "zeros")
    index = b.pick((b.tile_index(), f"({b.tile_index()}) % {b.pick((1, 2, b.tile))}"))
    mask = f", mask={b.lane_condition()}" if b.chance(0.5) else ""
    b.writer.line(f"tl.atomic_{kind}({buffer.name} + {index}, {value.text}{mask})")
    b.writer.features.add("atomic")


def own_atomic(b: Builder) -> Value | None:
    """An atomic on elements that one lane has to itself: what it gives back is defined."""
    value = b.pick_value(lambda v: v.dtype in (*ATOMIC_INTS, *ATOMIC_FLOATS) and v.shape == b.shape and v.is_exact)
    if value is None:
        return None
    kinds = ("add", "xchg") if value.dtype in ("float16", "float64") else ("add", "max", "min", "xchg")
    if not value.is_float:
        kinds = (*kinds, "and", "or", "xor", "cas")
    kind = b.pick(kinds)
    if value.dtype == "float16" and kind == "xchg":
        kind = "add"
    buffer = b.new_argument(value.dtype, b.tile * b.programs * b.programs_y + 2 * GUARD, "fill")
    compared = f"tl.full({b.shape_text()}, {int(FILL)}, tl.{value.dtype}), " if kind == "cas" else ""
    order = b.pick(("", ", sem='relaxed'", ", sem='acq_rel', scope='gpu'"))
    b.writer.features.add(f"atomic {kind}")
    pointer = f"{b.own_part(buffer)} + {b.permuted_index()}"
    return b.named(f"tl.atomic_{kind}({pointer}, {compared}{value.text}{order})", value.dtype, b.shape, FILL)


def leave(b: Builder) -> None:
    """Store the values that came last, and a few others."""
    tiles = [v for v in b.values if v.shape]
    for value in tiles[-3:] + [v for v in tiles if v.shape != b.shape][-2:]:
        b.store_all(value)
    for value in [v for v in b.values if not v.shape][-2:]:
        b.store_all(value)
