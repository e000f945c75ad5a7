"""Lowers one function: walks its ops in order, gives each tensor value a source, emits nests where elements are made.

Ops on scalars and memrefs stay where they are. Ops that only rearrange elements (slices, reshapes, pads, fills) emit
nothing; they become sources. Tensor ops are erased at the end, when nothing refers to them any more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from math import prod
from typing import Any

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    DenseIntOrFPElementsAttr,
    FloatAttr,
    IntegerAttr,
    MemRefType,
    TensorType,
)
from xdsl.ir import Block, Operation, SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineDimExpr, AffineExpr

from tilewright.dialects import arith, bufferization, func, gpu, linalg, memref, scf, tensor
from tilewright.ir.diagnostics import op_error
from tilewright.ir.passes import PassContext
from tilewright.lowering.linalg_to_loops import sources
from tilewright.lowering.linalg_to_loops.body_values import unpack_bool
from tilewright.lowering.linalg_to_loops.demand import Demand
from tilewright.lowering.linalg_to_loops.emitter import INDEX, Cursor, Index, LoopEmitter
from tilewright.lowering.linalg_to_loops.memory import Memory, kept_dims
from tilewright.lowering.linalg_to_loops.nest_emission import emit_nest
from tilewright.lowering.linalg_to_loops.nest_plan import Nest, Operand, Output, combiner_of
from tilewright.lowering.linalg_to_loops.predication import if_convert
from tilewright.lowering.linalg_to_loops.sources import Box, Source, Uniform, Window
from tilewright.lowering.linalg_to_loops.storage import Storage
from tilewright.lowering.linalg_to_loops.transposing_copy import emit_transposing_copy, find_block, zero_of
from tilewright.transforms.linalg.structured import access_of, loop_extents


class FunctionLowering:
    """State of the lowering of one function."""

    def __init__(self, function: func.FuncOp, context: PassContext, vector_bits: int):
        entry = function.body.blocks.first
        assert entry is not None
        self.function = function
        self.context = context
        self.vector_bits = vector_bits
        self.noalias = "tilewright.noalias" in function.attributes
        self.emitter = LoopEmitter(entry)
        self.memory = Memory(self.emitter)
        self.sources: dict[SSAValue, Source] = {}
        self.storage = Storage(self)
        self.demand = Demand(self)
        self.dead: list[Operation] = []
        self.deferred: set[Operation] = set()

    def run(self) -> None:
        """Lower the whole function in place."""
        self.storage.number_ops(self.function)
        for block in self.function.body.blocks:
            self.lower_block(block)
        for op in reversed(self.dead):
            erase(op)
        remove_unused(self.function)

    def lower_block(self, block: Block) -> None:
        """Lower the ops of a block in their order."""
        op = block.first_op
        while op is not None:
            following = op.next_op
            self.lower_op(op)
            op = following

    def lower_op(self, op: Operation) -> None:
        """Lower one op, by its class; ops without tensors are legal as they are."""
        lower = _LOWERINGS.get(type(op))
        block = op.parent_block()
        assert block is not None
        self.emitter.cursor = Cursor(block, op)
        self.emitter.location = op.location
        if lower is not None:
            lower(self, op)
        elif any(isinstance(value.type, TensorType) for value in (*op.operands, *op.results)):
            self.fail(op, "no lowering to loops for this op on tensors")
        else:
            for region in op.regions:
                for inner in region.blocks:
                    self.lower_block(inner)

    def fail(self, op: Operation, reason: str) -> Any:
        """Stop with an error about `op`."""
        raise op_error(op, reason, pass_name="linalg-to-loops")

    # -- sources and buffers ----------------------------------------------------------------------------------------

    def source(self, value: SSAValue) -> Source:
        """How to read a tensor value."""
        found = self.sources.get(value)
        if found is None:
            owner = value.owner
            self.fail(
                owner if isinstance(owner, Operation) else self.function,
                "a tensor that crosses a block boundary or a function boundary has no lowering",
            )
            raise AssertionError
        return found

    def define(self, op: Operation, source: Source, result: int = 0) -> None:
        """Record how the result of an op is read from now on; the op itself goes away."""
        self.sources[op.results[result]] = source
        self.dead.append(op)

    def copy(self, source: Source, dest: Window, bounds: Sequence[Index] | None = None) -> None:
        """Write the elements of `source` into `dest`, up to `bounds`."""
        if isinstance(source, Window) and same_window(source, dest):
            return
        side = find_block(source, dest, self.vector_bits)
        if side is not None:
            emit_transposing_copy(self.emitter, source, dest, side, bounds or dest.shape)
            return
        rank = len(dest.shape)
        access = tuple(AffineDimExpr(dim) for dim in range(rank))
        block = Block(arg_types=[dest.element, dest.element])
        block.add_op(linalg.YieldOp.create(operands=[block.args[0]]))
        self.run_nest(
            block,
            [Operand(source, access)],
            [(dest, access, Operand(dest, access), None)],
            (False,) * rank,
            dest.shape,
            bounds,
        )

    def run_nest(
        self,
        body: Block,
        inputs: list[Operand],
        outputs: Sequence[tuple[Window | None, tuple[AffineExpr, ...], Operand, tuple[Index, ...] | None]],
        reduced: tuple[bool, ...],
        extents: tuple[int, ...],
        bounds: Sequence[Index] | None = None,
    ) -> list[SSAValue | None]:
        """Plan and emit a nest at the cursor."""
        reduction_dims = {dim for dim, flag in enumerate(reduced) if flag}
        made: list[Output] = []
        for number, (dest, access, init, output_bounds) in enumerate(outputs):
            used = {dim for expr in access for dim in expr.used_dims()}
            reduces = bool(reduction_dims) and not reduction_dims <= used
            combiner = combiner_of(body, number) if reduces else None
            made.append(Output(dest, access, init, reduces, output_bounds or tuple(extents), combiner))
        nest = Nest(body, inputs, made, reduced, extents, list(bounds if bounds is not None else extents))
        for op in list(body.walk()):
            if isinstance(op, tensor.ExtractOp) and not isinstance(self.source(op.tensor), Uniform):
                self.in_memory(op.tensor)
        nest.predicates = if_convert(body)
        nest.source_of = self.source
        nest.window_of = self.memory.window
        nest.flat_of = self.memory.flat
        return emit_nest(self.emitter, nest, self.vector_bits)

    def window_for(self, op: Operation, value: SSAValue) -> Window:
        """The memory that a memref operand stands for."""
        window = self.memory.window(value)
        if window is None:
            self.fail(op, f"the memory behind {value.type} is not known here")
            raise AssertionError
        return window

    def _end(self, extent: int, padding: Index) -> Index:
        """Where a box ends in front of its padding: `extent - (extent - size)` is `size`."""
        if isinstance(padding, SSAValue):
            padding = known(padding)
        owner = padding.owner if isinstance(padding, SSAValue) else None
        if isinstance(owner, arith.SubiOp) and known(owner.lhs) == extent:
            return known(owner.rhs)
        return self.emitter.sub(extent, padding)

    def in_memory(self, value: SSAValue) -> Window:
        """The elements of a tensor as a window, copied to a buffer if they are not in memory."""
        source = self.source(value)
        if isinstance(source, Window):
            return source
        assert isinstance(value.type, TensorType)
        buffer = self.memory.new_buffer(value.type.element_type, value.type.get_shape())
        self.copy(source, buffer)
        self.sources[value] = buffer
        return buffer


def same_window(left: Window, right: Window) -> bool:
    """Whether two windows are the same elements in the same order."""
    return (
        left.flat is right.flat
        and left.offset == right.offset
        and left.strides == right.strides
        and left.shape == right.shape
    )


def erase(op: Operation) -> None:
    """Erase an op whose results may still be used by ops that are erased next."""
    if op.parent_block() is not None:
        op.detach()
    op.erase(safe_erase=False)


def remove_unused(function: func.FuncOp) -> None:
    """Drop views, constants and arithmetic that nothing uses any more, users before what they use."""
    for block in function.body.blocks:
        _remove_unused_in(block)


def _remove_unused_in(block: Block) -> None:
    op = block.last_op
    while op is not None:
        before = op.prev_op
        for region in op.regions:
            for inner in region.blocks:
                _remove_unused_in(inner)
        if op.results and not any(result.uses.get_length() for result in op.results) and _is_removable(op):
            op.detach()
            op.erase()
        op = before


def _is_removable(op: Operation) -> bool:
    if op.regions:
        return False
    return op.name.startswith(("arith.", "math.", "vector.broadcast", "vector.step", "ub.")) or isinstance(
        op,
        memref.ReinterpretCastOp | memref.SubviewOp | memref.CastOp | memref.AllocaOp | memref.AllocOp | memref.DimOp,
    )


def tensor_shape(value: SSAValue) -> tuple[int, ...]:
    """The static shape of a tensor value."""
    assert isinstance(value.type, TensorType)
    return value.type.get_shape()


def has_tensors(values: Iterable[SSAValue]) -> bool:
    """Whether any of the values is a tensor."""
    return any(isinstance(value.type, TensorType) for value in values)


# -- values without memory ----------------------------------------------------------------------------------------


def lower_constant(self: FunctionLowering, op: arith.ConstantOp) -> None:
    """A splat constant is the same scalar everywhere; other constants are written to a buffer element by element."""
    type_ = op.result.type
    if not isinstance(type_, TensorType):
        return
    value = op.value
    if not isinstance(value, DenseIntOrFPElementsAttr):
        self.fail(op, "constant of unknown form")
        return
    numbers = list(value.get_values())
    element = type_.element_type
    if value.is_splat() or len(set(numbers)) == 1:
        self.define(op, Uniform(self.emitter.constant(numbers[0], element)))
        return
    buffer = self.memory.new_buffer(element, type_.get_shape())
    stored = buffer.flat.type
    assert isinstance(stored, MemRefType)
    for index, number in enumerate(numbers):
        self.emitter.store(self.emitter.constant(number, stored.element_type), buffer.flat, index)
    self.define(op, buffer)


def lower_empty(self: FunctionLowering, op: Operation) -> None:
    """Nothing is known of the elements; reading them gives zeros."""
    type_ = op.results[0].type
    assert isinstance(type_, TensorType)
    if DYNAMIC_INDEX in type_.get_shape():
        self.fail(op, "tensor of dynamic shape")
    self.define(op, Uniform(zero_of(self.emitter, type_.element_type)))


def lower_fill(self: FunctionLowering, op: linalg.FillOp) -> None:
    """A fill of a tensor is a uniform source; a fill of a buffer is a loop."""
    value = op.inputs[0]
    if op.results:
        self.define(op, Uniform(value))
        return
    dest = self.window_for(op, op.outputs[0])
    if DYNAMIC_INDEX in dest.shape:
        self.fail(op, "fill of a buffer of dynamic shape")
    self.copy(Uniform(value), dest)
    self.dead.append(op)


def lower_splat(self: FunctionLowering, op: tensor.SplatOp) -> None:
    """The same scalar everywhere."""
    self.define(op, Uniform(op.input))


def lower_to_tensor(self: FunctionLowering, op: bufferization.ToTensorOp) -> None:
    """The memory itself is read, where the tensor is used."""
    self.define(op, self.window_for(op, op.memref))


def lower_extract(self: FunctionLowering, op: tensor.ExtractOp) -> None:
    """One element, loaded here and now."""
    if not isinstance(op.tensor.type, TensorType):
        return
    source = self.source(op.tensor)
    op.result.replace_all_uses_with(read_element(self, source, list(op.indices)))
    self.dead.append(op)


def read_element(self: FunctionLowering, source: Source, indices: Sequence[SSAValue]) -> SSAValue:
    """The scalar at `indices` of a source."""
    emitter = self.emitter
    match source:
        case Uniform():
            return source.value
        case Window():
            offset = source.offset
            for index, stride in zip(indices, source.strides, strict=True):
                offset = emitter.add(offset, emitter.mul(known(index), stride))
            value = emitter.load(source.flat, offset)
            return unpack_bool(emitter, value) if source.stored_as_byte else value
        case Box():
            inside: SSAValue | bool = True
            for index, low, high in zip(indices, source.low, source.high, strict=True):
                number = known(index)
                inside = emitter.both(inside, emitter.compare("sge", number, low))
                inside = emitter.both(inside, emitter.compare("slt", number, high))
            if isinstance(inside, bool):
                return read_element(self, source.inner, indices) if inside else source.fill
            op, then_block, else_block = emitter.if_(inside, [source.fill.type])
            with emitter.at(Cursor(then_block)):
                emitter.yield_([read_element(self, source.inner, indices)])
            with emitter.at(Cursor(else_block)):
                emitter.yield_([source.fill])
            return op.results[0]


def known(value: SSAValue) -> Index:
    """A constant as a number."""
    owner = value.owner
    if isinstance(owner, arith.ConstantOp) and isinstance(owner.value, IntegerAttr):
        return owner.value.value.data
    return value


def lower_insert(self: FunctionLowering, op: tensor.InsertOp) -> None:
    """One element changed: in place where the old tensor is not needed any more, else in a copy."""
    shape = tensor_shape(op.result)
    if prod(shape) == 1 and not self.storage.is_wanted(op.result):
        self.define(op, Uniform(op.scalar))
        return
    dest = self.storage.updated(op, op.dest, op.result)
    offset = dest.offset
    for index, stride in zip(op.indices, dest.strides, strict=True):
        offset = self.emitter.add(offset, self.emitter.mul(known(index), stride))
    store_scalar(self, op.scalar, dest, offset)
    self.define(op, dest)


def store_scalar(self: FunctionLowering, value: SSAValue, dest: Window, offset: Index) -> None:
    """Store one element, in the form the buffer keeps it."""
    from tilewright.lowering.linalg_to_loops.body_values import pack_bool

    self.emitter.store(pack_bool(self.emitter, value) if dest.stored_as_byte else value, dest.flat, offset)


# -- shape changes --------------------------------------------------------------------------------------------------


def lower_expand(self: FunctionLowering, op: tensor.ExpandShapeOp) -> None:
    """New strides over the same memory."""
    reshape(self, op, op.src, lambda source: sources.expand(source, op.groups, tensor_shape(op.result)))


def lower_collapse(self: FunctionLowering, op: tensor.CollapseShapeOp) -> None:
    """New strides over the same memory, if the joined dimensions are adjacent in it."""
    reshape(self, op, op.src, lambda source: sources.collapse(source, op.groups, tensor_shape(op.result)))


def lower_transpose(self: FunctionLowering, op: linalg.TransposeOp) -> None:
    """Strides in another order over the same memory."""
    if not op.results:
        lower_generic(self, op)
        return
    self.define(op, sources.permute(self.source(op.inputs[0]), op.permutation_values))


def lower_reshape(self: FunctionLowering, op: tensor.ReshapeOp) -> None:
    """Any shape to any other, through row major memory."""
    shape = tensor_shape(op.result)

    def change(source: Source) -> Source | None:
        if isinstance(source, Uniform):
            return source
        if not isinstance(source, Window) or not source.is_contiguous():
            return None
        strides = sources.contiguous_strides(shape)
        return Window(source.flat, source.offset, strides, shape, source.element, source.root, source.owned)

    reshape(self, op, op.source, change)


def reshape(self: FunctionLowering, op: Operation, value: SSAValue, change: Callable[[Source], Source | None]) -> None:
    """Apply a change of shape to a source, or to a contiguous copy of it."""
    changed = change(self.source(value))
    if changed is None:
        assert isinstance(value.type, TensorType)
        buffer = self.memory.new_buffer(value.type.element_type, value.type.get_shape())
        self.copy(self.source(value), buffer)
        changed = change(buffer)
        assert changed is not None
    self.define(op, changed)


def lower_cast(self: FunctionLowering, op: tensor.CastOp) -> None:
    """The same elements."""
    self.define(op, self.source(op.source))


def lower_extract_slice(self: FunctionLowering, op: tensor.ExtractSliceOp) -> None:
    """A static slice is a change of offset and strides; a dynamic one is looked through by the store that takes it."""
    shape = tensor_shape(op.result)
    if DYNAMIC_INDEX in shape:
        self.dead.append(op)
        return
    if any(isinstance(step, SSAValue) for step in op.mixed_strides):
        self.fail(op, "slice with a stride that is not constant")
    steps = [step for step in op.mixed_strides if isinstance(step, int)]
    kept = kept_dims(op.mixed_sizes, shape)
    source = self.source(op.source)
    offsets = [known(offset) if isinstance(offset, SSAValue) else offset for offset in op.mixed_offsets]
    cut = sources.cut_slice(self.emitter, source, offsets, steps, kept, shape)
    if cut is None:
        cut = sources.cut_slice(self.emitter, self.in_memory(op.source), offsets, steps, kept, shape)
        assert cut is not None
    self.define(op, cut)


def lower_insert_slice(self: FunctionLowering, op: tensor.InsertSliceOp) -> None:
    """A slice changed: in place where the old tensor is not needed any more, else in a copy."""
    if any(isinstance(entry, SSAValue) for entry in (*op.mixed_sizes, *op.mixed_strides)):
        self.fail(op, "slice of dynamic extent")
    source = self.source(op.source)
    dest = self.storage.updated(op, op.dest, op.result)
    shape = tensor_shape(op.source)
    offsets = [known(offset) if isinstance(offset, SSAValue) else offset for offset in op.mixed_offsets]
    steps = [step for step in op.mixed_strides if isinstance(step, int)]
    part = sources.cut_slice(self.emitter, dest, offsets, steps, kept_dims(op.mixed_sizes, shape), shape)
    assert isinstance(part, Window)
    self.copy(source, part)
    self.define(op, dest)


def lower_concat(self: FunctionLowering, op: tensor.ConcatOp) -> None:
    """The inputs, one after the other, in a new buffer."""
    shape = tensor_shape(op.result)
    assert isinstance(op.result.type, TensorType)
    buffer = self.memory.new_buffer(op.result.type.element_type, shape)
    dim, start = op.dim.value.data, 0
    for value in op.inputs:
        part_shape = tensor_shape(value)
        offsets = [start if axis == dim else 0 for axis in range(len(shape))]
        part = sources.cut_slice(self.emitter, buffer, offsets, [1] * len(shape), list(range(len(shape))), part_shape)
        assert isinstance(part, Window)
        self.copy(self.source(value), part)
        start += part_shape[dim]
    self.define(op, buffer)


def lower_pad(self: FunctionLowering, op: tensor.PadOp) -> None:
    """A box around a window: elements outside of it are the padding."""
    shape = tensor_shape(op.result)
    body = op.region.block
    yield_op = body.last_op
    assert yield_op is not None
    fill = yield_op.operands[0]
    window = self.source(op.source)
    if fill.owner is body or DYNAMIC_INDEX in shape or not isinstance(window, Window):
        self.fail(op, "padding of this form")
        return
    if isinstance(fill.owner, Operation) and fill.owner.parent_block() is body:
        fill.owner.detach()
        self.emitter.insert(fill.owner)
    low = [known(entry) if isinstance(entry, SSAValue) else entry for entry in op.mixed_low]
    high = [self._end(extent, entry) for extent, entry in zip(shape, op.mixed_high, strict=True)]
    offset = window.offset
    for start, stride in zip(low, window.strides, strict=True):
        offset = self.emitter.sub(offset, self.emitter.mul(start, stride))
    inner = Window(window.flat, offset, window.strides, shape, window.element, window.root, window.owned)
    self.define(op, Box(inner, tuple(low), tuple(high), shape, fill))


def memref_sizes(self: FunctionLowering, value: SSAValue) -> list[Index] | None:
    """The extents of a view."""
    match value.owner:
        case memref.SubviewOp() as view:
            kept = kept_dims(view.mixed_sizes, view.result.type.get_shape())  # pyright: ignore
            return [view.mixed_sizes[dim] for dim in kept]
        case memref.ReinterpretCastOp() as view:
            return list(view.mixed_sizes)
        case _:
            assert isinstance(value.type, MemRefType)
            return None if DYNAMIC_INDEX in value.type.get_shape() else list(value.type.get_shape())


# -- memory -----------------------------------------------------------------------------------------------------------


def lower_alloc(self: FunctionLowering, op: memref.AllocOp) -> None:
    """Local buffers live in the arena."""
    self.window_for(op, op.memref)
    self.dead.append(op)


def lower_copy(self: FunctionLowering, op: memref.CopyOp) -> None:
    """A loop that copies full vectors."""
    source, dest = self.memory.window(op.source), self.memory.window(op.target)
    sizes = memref_sizes(self, op.source) or memref_sizes(self, op.target)
    if source is None or dest is None or sizes is None:
        return
    copy_window(self, source, dest, sizes, extents_of(source.shape, dest.shape))
    self.dead.append(op)


def extents_of(left: Sequence[int], right: Sequence[int]) -> tuple[int, ...]:
    """The static extents where either side has them."""
    return tuple(other if size == DYNAMIC_INDEX else size for size, other in zip(left, right, strict=True))


def copy_window(
    self: FunctionLowering, source: Source, dest: Window, sizes: Sequence[Index], extents: tuple[int, ...]
) -> None:
    """Copy up to `sizes`; a dynamic extent counts as large for the choice of vectors."""
    shape = tuple(_ANY_EXTENT if size == DYNAMIC_INDEX else size for size in extents)
    if isinstance(source, Window):
        source = with_shape(source, shape)
    self.copy(source, with_shape(dest, shape), sizes)


_ANY_EXTENT = 1 << 20


def with_shape(window: Window, shape: tuple[int, ...]) -> Window:
    """The same memory, other extents."""
    return Window(window.flat, window.offset, window.strides, shape, window.element, window.root, window.owned)


def lower_barrier(self: FunctionLowering, op: Operation) -> None:
    """One thread runs the whole program, in order."""
    self.dead.append(op)


def lower_dealloc(self: FunctionLowering, op: memref.DeallocOp) -> None:
    """The arena is not freed."""
    self.dead.append(op)


def lower_materialize(self: FunctionLowering, op: bufferization.MaterializeInDestinationOp) -> None:
    """Elements are computed straight into the destination where nothing that is read there can be overwritten."""
    value, sizes, offsets = op.source, None, None
    slice_op = value.owner
    if isinstance(slice_op, tensor.ExtractSliceOp):
        sizes = list(slice_op.mixed_sizes)
        offsets = list(slice_op.mixed_offsets)
        value = slice_op.source
    dest = self.window_for(op, op.dest)
    shape = tensor_shape(value)
    if sizes is None:
        sizes = list(shape)
    assert offsets is None or len(sizes) == len(dest.shape)
    offset = dest.offset
    for start, stride in zip(offsets or [], dest.strides, strict=False):
        offset = self.emitter.sub(offset, self.emitter.mul(start, stride))
    whole = Window(dest.flat, offset, dest.strides, shape, dest.element, dest.root, dest.owned)
    starts = [0 if start == 0 else start for start in offsets or [0] * len(shape)]
    self.storage.store(op, value, whole, starts, sizes)
    self.dead.append(op)


def lower_generic(self: FunctionLowering, op: linalg.StructuredOp) -> None:
    """A nest; or nothing yet, if the only reader is a store that will run it."""
    if op in self.deferred or self.storage.defers(op):
        self.deferred.add(op)
        self.dead.append(op)
        return
    run_generic(self, op)
    self.dead.append(op)


def run_generic(
    self: FunctionLowering,
    op: linalg.StructuredOp,
    dest: Window | None = None,
    bounds: Sequence[Index] | None = None,
) -> None:
    """Emit the nest of a generic at the cursor; its only result goes to `dest` if that is given."""
    body = op.body.block
    maps = op.maps
    count = len(op.inputs)
    extents = loop_extents(op)
    inputs = [
        Operand(self.source(value) if body.args[number].uses.get_length() else Uniform(value), access_of(maps[number]))
        for number, value in enumerate(op.inputs)
    ]
    if not op.results and op.outputs:
        self.fail(op, "generic on buffers")
    iterators = tuple(iterator == "reduction" for iterator in op.iterators)
    outputs: list[tuple[Window | None, tuple[AffineExpr, ...], Operand, tuple[Index, ...] | None]] = []
    kept_bounds: list[tuple[Index, ...]] = []
    for number, (init, result) in enumerate(zip(op.outputs, op.results, strict=True)):
        access = access_of(maps[count + number])
        init_source: Source = self.source(init) if init in self.sources else Uniform(init)
        window = dest
        demanded = tuple(extents)
        if window is None and not (prod(tensor_shape(result)) == 1 and reduces(access, iterators)):
            window = self.storage.destination(op, result)
            demanded = self.demand.loop_bounds(op, number, access, extents)
        outputs.append((window, access, Operand(init_source, access), demanded))
        kept_bounds.append(demanded)
    if bounds is None:
        bounds = self.demand.common(kept_bounds, iterators, extents)
    scalars = self.run_nest(body, inputs, outputs, iterators, extents, bounds)
    if dest is None:
        for number, result in enumerate(op.results):
            window, scalar = outputs[number][0], scalars[number]
            self.sources[result] = window if window is not None else Uniform(scalar)  # pyright: ignore


def reduces(access: tuple[AffineExpr, ...], iterators: tuple[bool, ...]) -> bool:
    """Whether an output leaves out a reduced dimension and is one element."""
    used = {dim for expr in access for dim in expr.used_dims()}
    return any(iterators) and not {d for d, flag in enumerate(iterators) if flag} <= used and all(iterators)


def lower_dim(self: FunctionLowering, op: tensor.DimOp) -> None:
    """Extents are static."""
    number = known(op.index)
    assert isinstance(number, int)
    op.result.replace_all_uses_with(self.emitter.constant(tensor_shape(op.source)[number], INDEX))
    self.dead.append(op)


_LOWERINGS: dict[type[Operation], Callable[[FunctionLowering, Any], None]] = {
    arith.ConstantOp: lower_constant,
    tensor.EmptyOp: lower_empty,
    bufferization.AllocTensorOp: lower_empty,
    linalg.FillOp: lower_fill,
    tensor.SplatOp: lower_splat,
    bufferization.ToTensorOp: lower_to_tensor,
    tensor.ExtractOp: lower_extract,
    tensor.InsertOp: lower_insert,
    tensor.ExpandShapeOp: lower_expand,
    tensor.CollapseShapeOp: lower_collapse,
    tensor.ReshapeOp: lower_reshape,
    tensor.CastOp: lower_cast,
    tensor.ExtractSliceOp: lower_extract_slice,
    tensor.InsertSliceOp: lower_insert_slice,
    tensor.ConcatOp: lower_concat,
    tensor.PadOp: lower_pad,
    tensor.DimOp: lower_dim,
    memref.AllocOp: lower_alloc,
    memref.CopyOp: lower_copy,
    memref.DeallocOp: lower_dealloc,
    bufferization.MaterializeInDestinationOp: lower_materialize,
    gpu.BarrierOp: lower_barrier,
    linalg.GenericOp: lower_generic,
    linalg.ReduceOp: lower_generic,
    linalg.TransposeOp: lower_transpose,
    linalg.BroadcastOp: lower_generic,
    linalg.MatmulOp: lower_generic,
    linalg.BatchMatmulOp: lower_generic,
    linalg.MapOp: lower_generic,
}


def register_lowering(op_class: type[Operation], lower: Callable[[FunctionLowering, Any], None]) -> None:
    """Add the lowering of an op class that has a module of its own."""
    _LOWERINGS[op_class] = lower


__all__ = ["AffineConstantExpr", "FloatAttr", "FunctionLowering", "register_lowering", "scf"]
