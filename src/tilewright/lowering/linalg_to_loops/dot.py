"""Matrix products as calls of register-tiled micro-kernels.

    %d = linalg.matmul ins(%a, %b) outs(%c) : 64x32 * 32x64
      ->  for n = 0 to 64 step 32 { for m = 0 to 64 step 8 {
            call @tw_mk_f32_f32_8x32(a + m * lda, lda, 1, b + n, ldb, c + m * 64 + n, 64, 32, 8, 32) } }

A micro-kernel adds an MR x NR block to C, its operands are byte addresses and strides in elements:

    @tw_mk_<operand>_<accumulator>_<MR>x<NR>(a, a_row_stride, a_k_stride, b, b_row_stride, c, c_row_stride,
                                             k_count, m_count, n_count)

Operands that are plain windows of memory are read in place. A box is read in place when the program finds it full
when it runs, else copied into the arena with its padding, so the result is that of the whole product. Where both
operands are padded with zeros behind the same k, the sum stops there: what is left out is 0 * 0.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import (
    BFloat16Type,
    Float16Type,
    Float32Type,
    Float64Type,
    FunctionType,
    IntegerType,
    ModuleOp,
    StringAttr,
    SymbolRefAttr,
)
from xdsl.ir import Attribute, Operation, Region, SSAValue

from tilewright.codegen.microkernels import preferred_block
from tilewright.dialects import arith, func, linalg, memref
from tilewright.dialects.types import bit_width, element_type, is_tensor
from tilewright.ir.facts import TargetFacts
from tilewright.lowering.linalg_to_loops.emitter import INDEX, Cursor, Index, LoopEmitter
from tilewright.lowering.linalg_to_loops.function_lowering import (
    FunctionLowering,
    LoweringTable,
    tensor_shape,
)
from tilewright.lowering.linalg_to_loops.lower_structured import lower_generic
from tilewright.lowering.linalg_to_loops.provable import constant_of, is_same, known
from tilewright.lowering.linalg_to_loops.sources import Box, Source, Uniform, Window


@dataclass(frozen=True, slots=True)
class MicroKernel:
    """The shape and the types of a micro-kernel."""

    operand: str
    accumulator: str
    rows: int
    columns: int

    @property
    def symbol(self) -> str:
        return f"tw_mk_{self.operand}_{self.accumulator}_{self.rows}x{self.columns}"


def find_micro_kernel(
    operand: Attribute, accumulator: Attribute, vector_bits: int, facts: TargetFacts | None = None
) -> MicroKernel | None:
    """The micro-kernel for two operands of one type; None where the general nest has to do."""
    names: tuple[str, str] | None = None
    match operand, accumulator:
        case (Float32Type(), Float32Type()):
            names = ("f32", "f32")
        case (BFloat16Type(), Float32Type()):
            names = ("bf16", "f32")
        case (Float16Type(), Float32Type()):
            names = ("f16", "f32")
        case (Float64Type(), Float64Type()):
            names = ("f64", "f64")
        case (IntegerType() as narrow, IntegerType() as wide) if (narrow.width.data, wide.width.data) == (8, 32):
            names = ("i8", "i32")
        case _:
            return None
    if facts is not None and facts.vector_bits == vector_bits:
        return MicroKernel(*names, *preferred_block(*names, facts))
    lanes = max(1, vector_bits // bit_width(accumulator))
    return MicroKernel(*names, 8 if vector_bits >= 512 else 4, 2 * lanes)


@dataclass(frozen=True, slots=True)
class Panel:
    """An operand of the product in memory: byte address of its first element, strides in elements."""

    address: SSAValue
    strides: tuple[Index, ...]
    element_bytes: int


def lower_matmul(lowering: FunctionLowering, op: linalg.MatmulOp | linalg.BatchMatmulOp) -> None:
    """See the module's docstring."""
    lhs, rhs, init = op.operands
    result = op.results[0] if op.results else None
    types = [element_type(value.type) for value in op.operands if is_tensor(value.type)]
    kernel = (
        find_micro_kernel(types[0], types[2], lowering.vector_bits, lowering.context.facts) if len(types) == 3 else None
    )
    if kernel is None or types[0] != types[1] or result is None:
        lower_generic(lowering, op)
        return
    batch = len(tensor_shape(lhs)) - 2
    rows, depth = tensor_shape(lhs)[batch:]
    columns = tensor_shape(rhs)[-1]
    a, b = lowering.source(lhs), lowering.source(rhs)
    k_count = common_depth(a, b, batch, depth)
    free = {_flat(a), _flat(b)} - {None}
    target = lowering.storage.updated(op, init, result)
    if target.flat in free:
        # An operand is the old accumulator itself: it has to survive the first block that is written.
        a, b = (_copied(lowering, value) if _flat(source) is target.flat else source
                for value, source in ((lhs, a), (rhs, b)))  # fmt: skip
    a_panel = panel(lowering, a, tensor_shape(lhs), k_dim=batch + 1, k_count=k_count, unit_columns=False)
    b_panel = panel(lowering, b, tensor_shape(rhs), k_dim=batch, k_count=k_count, unit_columns=True)
    c_panel = panel(lowering, target, tensor_shape(result), k_dim=-1, k_count=depth, unit_columns=True)
    declare(lowering, kernel)
    counts = (tensor_shape(lhs)[0] if batch else 1, rows, columns)
    emit_calls(lowering.emitter, kernel, (a_panel, b_panel, c_panel), counts, k_count)
    lowering.define(op, target)


def _flat(source: Source) -> SSAValue | None:
    window = source.inner if isinstance(source, Box) else source
    return window.flat if isinstance(window, Window) else None


def _copied(lowering: FunctionLowering, value: SSAValue) -> Source:
    assert is_tensor(value.type)
    buffer = lowering.memory.new_buffer(element_type(value.type), tensor_shape(value))
    lowering.copy(lowering.source(value), buffer)
    return buffer


def common_depth(a: Source, b: Source, batch: int, depth: int) -> Index:
    """How many terms the sums have, if both operands are padded with zeros from the same place on."""
    if not isinstance(a, Box) or not isinstance(b, Box) or not (_is_zero(a.fill) and _is_zero(b.fill)):
        return depth
    first, second = a.high[batch + 1], b.high[batch]
    if a.low[batch + 1] == 0 and b.low[batch] == 0 and is_same(first, second):
        return first
    return depth


def _is_zero(value: SSAValue) -> bool:
    owner = value.owner
    if not isinstance(owner, arith.ConstantOp):
        return False
    number = getattr(owner.value, "value", None)
    return number is not None and number.data == 0


def panel(
    lowering: FunctionLowering,
    source: Source,
    shape: tuple[int, ...],
    *,
    k_dim: int,
    k_count: Index,
    unit_columns: bool,
) -> Panel:
    """An operand in place if it can be read there, else a copy in the arena."""
    match source:
        case Window() if not unit_columns or constant_of(source.strides[-1]) == 1:
            return in_place(lowering.emitter, source)
        case Box(inner=Window() as inner) if not unit_columns or constant_of(inner.strides[-1]) == 1:
            return box_panel(lowering, source, shape, k_dim, k_count)
        case _:
            return copied_panel(lowering, source, shape)


def in_place(emitter: LoopEmitter, window: Window) -> Panel:
    """Address arithmetic only."""
    size = bit_width(window.element) // 8
    base = emitter.value(memref.ExtractAlignedPointerAsIndexOp, (window.flat,), INDEX)
    return Panel(emitter.ssa(emitter.add(base, emitter.mul(window.offset, size))), window.strides, size)


def copied_panel(lowering: FunctionLowering, source: Source, shape: tuple[int, ...]) -> Panel:
    """A contiguous copy in the arena."""
    element = _element_of(source)
    buffer = lowering.memory.new_buffer(element, shape)
    lowering.copy(source, buffer)
    return in_place(lowering.emitter, buffer)


def _element_of(source: Source) -> Attribute:
    match source:
        case Uniform():
            return source.value.type
        case Window():
            return source.element
        case Box():
            return source.fill.type


def box_panel(lowering: FunctionLowering, box: Box, shape: tuple[int, ...], k_dim: int, k_count: Index) -> Panel:
    """In place where the box turns out to be full; the k dimension may be cut by the number of terms instead."""
    emitter, inner = lowering.emitter, box.inner
    assert isinstance(inner, Window)
    full: SSAValue | bool = True
    for dim, extent in enumerate(shape):
        if dim == k_dim and box.low[dim] == 0 and is_same(box.high[dim], k_count):
            continue
        if not (isinstance(box.low[dim], int) and box.low[dim] == 0):
            full = emitter.both(full, emitter.compare("sle", box.low[dim], 0))
        full = emitter.both(full, emitter.compare("sge", known(box.high[dim]), extent))
    if full is True:
        return in_place(emitter, inner)
    if full is False:
        return copied_panel(lowering, box, shape)
    dynamic = list(inner.strides)
    types = [INDEX] * (1 + len(dynamic))
    op, then_block, else_block = emitter.if_(full, types)
    with emitter.at(Cursor(then_block)):
        direct = in_place(emitter, inner)
        emitter.yield_([direct.address, *(emitter.ssa(stride) for stride in direct.strides)])
    with emitter.at(Cursor(else_block)):
        copy = copied_panel(lowering, box, shape)
        emitter.yield_([copy.address, *(emitter.ssa(stride) for stride in copy.strides)])
    address, *strides = op.results
    kept: list[Index] = [1 if constant_of(old) == 1 and dim == len(shape) - 1 else new
                         for dim, (old, new) in enumerate(zip(inner.strides, strides, strict=True))]  # fmt: skip
    return Panel(address, tuple(kept), bit_width(inner.element) // 8)


def emit_calls(
    emitter: LoopEmitter, kernel: MicroKernel, panels: tuple[Panel, Panel, Panel], counts: Sequence[int], depth: Index
) -> None:
    """Loops over the blocks of C; columns outside, so that the panel of B stays in the first level cache."""
    batches, rows, columns = counts
    with_batch = len(panels[0].strides) == 3

    def block_calls(base: tuple[SSAValue, SSAValue, SSAValue]) -> None:
        _loop(emitter, columns, kernel.columns, lambda n: _loop(
            emitter, rows, kernel.rows, lambda m: _call(emitter, kernel, panels, base, m, n, (rows, columns), depth)
        ))  # fmt: skip

    if not with_batch:
        block_calls((panels[0].address, panels[1].address, panels[2].address))
        return

    def of_batch(number: Index) -> None:
        moved = [_moved(emitter, item, item.address, number, item.strides[0]) for item in panels]
        block_calls((moved[0], moved[1], moved[2]))

    _loop(emitter, batches, 1, of_batch)


def _loop(emitter: LoopEmitter, extent: int, step: int, body: Callable[[Index], None]) -> None:
    if extent <= step:
        body(0)
        return
    loop, block = emitter.for_loop(0, extent, step)
    with emitter.at(Cursor(block)):
        body(block.args[0])
        emitter.yield_()
    _ = loop


def _moved(emitter: LoopEmitter, item: Panel, address: SSAValue, steps: Index, stride: Index) -> SSAValue:
    distance = emitter.mul(emitter.mul(steps, stride), item.element_bytes)
    return emitter.ssa(emitter.add(address, distance))


def _call(
    emitter: LoopEmitter,
    kernel: MicroKernel,
    panels: tuple[Panel, Panel, Panel],
    base: tuple[SSAValue, SSAValue, SSAValue],
    m: Index,
    n: Index,
    extents: tuple[int, int],
    depth: Index,
) -> None:
    a, b, c = panels
    a_row, a_k = a.strides[-2:]
    a_address = _moved(emitter, a, base[0], m, a_row)
    b_address = _moved(emitter, b, base[1], n, 1)
    c_address = _moved(emitter, c, _moved(emitter, c, base[2], m, c.strides[-2]), n, 1)
    operands = (
        a_address, a_row, a_k, b_address, b.strides[-2], c_address, c.strides[-2], depth,
        _count(emitter, extents[0], m, kernel.rows), _count(emitter, extents[1], n, kernel.columns),
    )  # fmt: skip
    emitter.create(
        func.CallOp, [emitter.ssa(value) for value in operands], (), {"callee": SymbolRefAttr(kernel.symbol)}
    )


def _count(emitter: LoopEmitter, extent: int, start: Index, step: int) -> Index:
    if extent % step == 0:
        return step
    return emitter.min(step, emitter.sub(extent, start))


def declare(lowering: FunctionLowering, kernel: MicroKernel) -> None:
    """`func.func private @tw_mk_...(index, ...)`, once per module; the next lowering provides the body."""
    module: Operation | None = lowering.function.parent_op()
    assert isinstance(module, ModuleOp)
    for op in module.ops:
        if isinstance(op, func.FuncOp) and op.sym_name.data == kernel.symbol:
            return
    declaration = func.FuncOp.create(
        properties={
            "sym_name": StringAttr(kernel.symbol),
            "function_type": FunctionType.from_lists([INDEX] * 10, []),
            "sym_visibility": StringAttr("private"),
        },
        regions=[Region()],
    )
    module.body.block.add_op(declaration)


LOWERINGS: LoweringTable = {linalg.MatmulOp: lower_matmul, linalg.BatchMatmulOp: lower_matmul}
"""From op class to its lowering."""
