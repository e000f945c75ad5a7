"""Loads: contiguous, strided, wrapped, gathered, by rows; masked or not; block pointers and descriptors."""

from __future__ import annotations

from tilewright.tools.fuzzing.builder import Builder
from tilewright.tools.fuzzing.values import BITS, BOOL, FLOATS, FP8, INTS, Value

ALIGNMENT = 16
"""Bytes that the rows of a descriptor's tensor are a multiple of."""


def load(b: Builder) -> Value:
    """A tile out of an input."""
    dtype = b.pick((*INTS, *FLOATS, "float32", "int32", "float16", BOOL))
    kind = b.weighted(
        ((4, "plain"), (2, "strided"), (2, "wrapped"), (2, "gathered"), (2, "block"), (1, "row"), (1, "descriptor"))
    )
    if kind == "block" and dtype == BOOL:  # which block pointers load as int8
        kind = "plain"
    if kind == "descriptor" and not _fits_descriptor(b, dtype):
        kind = "plain"
    b.writer.features.add(f"load {kind}")
    if kind == "block":
        return _block_load(b, dtype)
    if kind == "descriptor":
        return _descriptor_load(b, dtype)
    index, count = _load_index(b, kind)
    argument = b.new_argument(dtype, count)
    pointer = f"{argument.name} + {index}"
    cache = b.pick(("", "", "", ", cache_modifier='.cg'", ", eviction_policy='evict_last'"))
    if not b.chance(0.5):
        return b.named(f"tl.load({pointer}{cache})", dtype, b.shape, 8.0)
    mask = b.lane_condition()
    if b.chance(0.7):
        other = b.pick(("0", "1", "3")) if dtype != BOOL else "0"
        b.writer.features.add("other")
        return b.named(f"tl.load({pointer}, mask={mask}, other={other}{cache})", dtype, b.shape, 8.0)
    b.writer.features.add("mask without other")
    loaded = b.named(f"tl.load({pointer}, mask={mask}{cache})", dtype, b.shape, 8.0)
    return b.named(f"tl.where({mask}, {loaded.text}, {b.constant(dtype)})", dtype, b.shape, 8.0)


def _load_index(b: Builder, kind: str) -> tuple[str, int]:
    """Offsets of a load, and the number of elements that they stay below."""
    index, tile = b.tile_index(), b.tile
    match kind:
        case "strided":
            step, start = b.integer(1, 3), b.integer(0, 5)
            if len(b.shape) == 2 and b.chance(0.5):  # transposed
                return f"{start} + x0 * {step} + x1 * {step * b.shape[0]}", start + step * tile
            pitch = b.shape[-1] * step + b.integer(0, 3)
            if len(b.shape) == 2:
                return f"{start} + x0 * {pitch} + x1 * {step}", start + pitch * b.shape[0] + step
            return f"{start} + x0 * {step}", start + step * tile
        case "wrapped":
            modulus = b.integer(1, tile)
            if len(b.shape) == 2 and b.chance(0.6):
                rows, columns = b.integer(1, b.shape[0]), b.shape[1]
                return f"((x0 + pid) % {rows}) * {columns} + x1", rows * columns
            return f"(({index} + {b.pick(('0', 'pid', 'n0'))}) % {modulus})", modulus
        case "gathered":
            if b.chance(0.5):
                argument = b.new_argument(b.pick(("int32", "int64")), tile, f"index:{tile}")
                return f"tl.load({argument.name} + {index})", tile
            value = b.pick_value(lambda v: v.shape == b.shape and v.dtype in ("int32", "uint8", "int64"))
            text = f"({value.text}.to(tl.int32) & {tile - 1})" if value is not None else f"(({index}) // 2)"
            return text, tile
        case "row" if len(b.shape) == 2:
            return b.pick(("x1 + 0 * x0", "x0 + 0 * x1")), max(b.shape)
        case _:
            return f"pid * {tile} + {index}", tile * b.programs * b.programs_y


def _block_load(b: Builder, dtype: str) -> Value:
    """Through a block pointer: extents that cut the tile, offsets, boundary checks and padding."""
    w = b.writer
    rank = len(b.shape)
    extents = [b.integer(1, 2 * extent) for extent in b.shape]
    order = [1, 0] if rank == 2 else [0]
    strides = [extents[1], 1] if rank == 2 else [1]
    argument = b.new_argument(dtype, strides[0] * extents[0])
    offsets = [b.integer(0, extent) for extent in extents]
    checked = all(offset + size <= extent for offset, size, extent in zip(offsets, b.shape, extents, strict=True))
    name = w.name("b")
    lists = [b.shape_text(tuple(items)) for items in (extents, strides, offsets, b.shape, order)]
    w.line(f"{name} = tl.make_block_ptr({argument.name}, {', '.join(lists)})")
    if b.chance(0.3):
        steps = tuple(b.integer(0, 3) for _ in b.shape)
        checked = False
        w.line(f"{name} = tl.advance({name}, {b.shape_text(steps)})")
    if checked and b.chance(0.5):
        return b.named(f"tl.load({name})", dtype, b.shape, 8.0)
    dims = b.shape_text(tuple(range(rank)))
    return b.named(f"tl.load({name}, boundary_check={dims}, padding_option='zero')", dtype, b.shape, 8.0)


def _fits_descriptor(b: Builder, dtype: str) -> bool:
    return dtype != BOOL and b.shape[-1] * BITS[dtype] // 8 >= ALIGNMENT


def _descriptor_load(b: Builder, dtype: str) -> Value:
    """Through a tensor descriptor that the kernel makes: boxes that reach over the edges are filled with zeros. They
    start at multiples of 16 bytes in a row: GPUs stop at others."""
    step = ALIGNMENT * 8 // BITS[dtype]
    extents = [b.integer(1, 2 * extent) for extent in b.shape]
    pitch = -(-extents[-1] // step) * step
    strides = (pitch, 1) if len(b.shape) == 2 else (1,)
    argument = b.new_argument(dtype, pitch * (extents[0] if len(b.shape) == 2 else 1))
    name = b.writer.name("d")
    lists = ", ".join(b.shape_text(tuple(items)) for items in (extents, strides, b.shape))
    b.writer.line(f"{name} = tl.make_tensor_descriptor({argument.name}, {lists})")
    offsets = [b.pick(("0", "pid", str(b.integer(0, extent)))) for extent in extents[:-1]]
    offsets.append(b.pick(("0", f"pid * {step}", str(b.integer(0, extents[-1] // step) * step))))
    return b.named(f"{name}.load([{', '.join(offsets)}])", dtype, b.shape, 8.0)


def descriptor_store(b: Builder) -> None:
    """Each program writes a box of its own rows; what reaches over the columns is left out (of which there are whole
    pieces of 16 bytes: GPUs write no less)."""
    value = b.pick_value(lambda v: v.shape == b.shape and v.dtype != BOOL and _fits_descriptor(b, v.dtype))
    if value is None or len(b.shape) != 2:
        return
    step = ALIGNMENT * 8 // BITS[value.dtype]
    columns = b.integer(1, max(b.shape[1] // step, 1)) * step
    pitch = columns + b.integer(0, 2) * step
    rows = b.shape[0] * b.programs * b.programs_y
    buffer = b.new_argument(value.dtype, rows * pitch, "fill", value.slack)
    name = b.writer.name("d")
    b.writer.line(
        f"{name} = tl.make_tensor_descriptor({buffer.name}, ({rows}, {columns}), ({pitch}, 1), {b.shape_text()})"
    )
    b.writer.line(f"{name}.store([pid * {b.shape[0]}, 0], {value.text})")
    b.writer.features.add("descriptor store")


def narrow_floats(b: Builder) -> Value:
    """Floats of 8 bits, as a type that can be computed with."""
    dtype = b.pick(FP8)
    argument = b.new_argument(dtype, b.tile)
    wide = b.pick(("float16", "float32"))
    return b.named(f"tl.load({argument.name} + {b.tile_index()}).to(tl.{wide})", wide, b.shape, 8.0)
