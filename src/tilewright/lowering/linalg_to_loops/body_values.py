"""Evaluates the values of a generic's body for one step of its nest, each in the outermost loop that it depends on.

A frame stands for one open loop (frame 0: outside of all) and holds what was computed there; evaluation is lazy, so an
expression of outer dimensions is computed once per outer iteration, whatever the order of the body:

    %m = row_max[d0], %x = row[d0, d1], %e = exp(%x - %m)
      ->  for d0 { load %m, broadcast %m; for d1 { load %x, subf, exp } }
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import field, replace

from xdsl.dialects.builtin import IndexType, IntegerType, LocationAttr, UnknownLoc, VectorType, i1, i8
from xdsl.ir import Attribute, Block, BlockArgument, Operation, SSAValue
from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineDimExpr,
    AffineExpr,
)

from tilewright.dialects import arith, linalg, memref, tensor
from tilewright.dialects.linalg_ext import WORD_BYTES
from tilewright.ir.diagnostics import op_error
from tilewright.ir.locations import has_location
from tilewright.lowering.linalg_to_loops.element_access import emit_load
from tilewright.lowering.linalg_to_loops.emitter import INDEX, Cursor, Index, LoopEmitter, vector_type
from tilewright.lowering.linalg_to_loops.nest_plan import SEGMENT, Nest, Operand, stride_along
from tilewright.lowering.linalg_to_loops.provable import is_at_most
from tilewright.lowering.linalg_to_loops.sources import Box, Uniform, Vectors, Window, Words
from tilewright.lowering.linalg_to_loops.strided_lanes import (
    find_turns,
    is_narrow,
    load_neighbourhood,
    pick_lanes,
    store_interleaved,
    store_strided,
)
from tilewright.lowering.linalg_to_loops.words import gather_words, load_word, load_words
from tilewright.support.errors import PassError
from tilewright.support.records import dataclass


@dataclass(slots=True)
class Frame:
    """One open loop: where its values are emitted, its induction variable, and what is known in it."""

    cursor: Cursor
    dim: int | None = None
    induction: Index = 0
    values: dict[object, SSAValue] = field(default_factory=dict[object, SSAValue])
    mask: SSAValue | None = None
    """Lanes that exist, in the last, partial vector of the vector dimension."""
    is_streamed: bool = False
    """Whether its stores go past the caches, to aligned addresses."""
    end: Index = 0
    """Of a segment: the lane after its last one."""
    is_unmasked: bool = False
    """Whether all lanes are before the ends of boxes and outputs (see `comparisons.UnmaskedPart`)."""

    def without_vectors(self) -> Frame:
        """The same loop for a nest with other lanes: only numbers are known in it, Python's among them."""
        is_vector = {key: isinstance(getattr(value, "type", None), VectorType) for key, value in self.values.items()}
        return replace(self, values={key: value for key, value in self.values.items() if not is_vector[key]})


def first_of(value: SSAValue) -> object:
    """The key of what a value is in the first lane."""
    return "first", value


class BodyValues:
    """Lazily emitted values of one nest's body, for the loops that are open at the moment."""

    def __init__(self, emitter: LoopEmitter, nest: Nest, frames: list[Frame]):
        self.emitter = emitter
        self.nest = nest
        self.frames = frames
        self.level_of = {dim: level + 1 for level, dim in enumerate(nest.order)}
        self.start_dim = SEGMENT if SEGMENT in self.level_of else nest.vector_dim
        self._inputs = dict(zip(nest.body.args, nest.inputs, strict=False))
        first_output = len(nest.inputs)
        self._outputs = {
            argument: output
            for argument, output in zip(nest.body.args[first_output:], nest.outputs, strict=True)
            if not output.reduces
        }

    # -- where a value lives ----------------------------------------------------------------------------------------

    def depth(self, dims: frozenset[int]) -> int:
        """The number of loops around a value that depends on `dims`."""
        return max((self.level_of[dim] for dim in dims), default=0)

    def is_lanes(self, dims: frozenset[int]) -> bool:
        """Return whether a value that depends on `dims` is a vector."""
        return self.nest.lanes > 1 and self.nest.vector_dim in dims

    def induction(self, dim: int) -> Index:
        return self.frames[self.level_of[dim]].induction

    def mask(self) -> SSAValue | None:
        """The lane mask of the vector dimension's current step."""
        if self.nest.vector_dim is None:
            return None
        return self.frames[self.level_of[self.nest.vector_dim]].mask

    # -- values -----------------------------------------------------------------------------------------------------

    def get(self, value: SSAValue) -> SSAValue:
        """A body value at the current step: a vector if it depends on the vector dimension, else a scalar."""
        dims = self.nest.depends.get(value)
        if dims is None:
            return value
        frame = self.frames[self.depth(dims)]
        if (found := frame.values.get(value)) is None:
            with self.emitter.at(frame.cursor):
                found = frame.values[value] = self._compute(value)
        return found

    def get_lanes(self, value: SSAValue) -> SSAValue:
        """`get`, as a vector even where all lanes are equal."""
        return self.spread(self.get(value), self.nest.depends.get(value, frozenset()))

    def spread(self, scalar: SSAValue, dims: frozenset[int]) -> SSAValue:
        """A scalar of depth `dims` as a vector; vectors stay as they are."""
        if self.nest.lanes == 1 or self.is_lanes(dims):
            return scalar
        frame = self.frames[self.depth(dims)]
        key = ("spread", scalar)
        if (found := frame.values.get(key)) is None:
            with self.emitter.at(frame.cursor):
                found = frame.values[key] = self.emitter.broadcast(scalar, self.nest.lanes)
        return found

    def first(self, value: SSAValue) -> SSAValue:
        """Return what an integer that has a step is in the first lane: of a segment where there are segments, else of a
        vector."""
        if not self.is_lanes(dims := self.nest.depends.get(value, frozenset())):
            return self.get(value)
        assert self.nest.vector_dim is not None and self.start_dim is not None
        frame = self.frames[self.depth(dims - {self.nest.vector_dim} | {self.start_dim})]
        if (found := frame.values.get(first_of(value))) is None:
            with self.emitter.at(frame.cursor):
                found = frame.values[first_of(value)] = self._compute_first(value)
        return found

    def lanes_into_segment(self) -> Index:
        """Return how many lanes of the segment are before this vector."""
        assert self.nest.vector_dim is not None
        frame = self.frames[self.level_of[self.nest.vector_dim]]
        if (found := frame.values.get("into segment")) is None:
            with self.emitter.at(frame.cursor):
                found = self.emitter.ssa(self.emitter.sub(frame.induction, self.induction(SEGMENT)))
            frame.values["into segment"] = found
        return found

    def _compute_first(self, value: SSAValue) -> SSAValue:
        op = value.owner
        assert isinstance(op, Operation) and self.start_dim is not None
        if isinstance(op, linalg.IndexOp):
            return self.emitter.ssa(self.induction(self.start_dim))
        if isinstance(op, arith.IndexCastOp):
            return self.emitter.index_cast(self.first(op.input), op.result.type)
        operands = [self.first(operand) for operand in op.operands]
        same = type(op).create(operands=operands, result_types=[value.type], properties=dict(op.properties))
        return self.emitter.result(same)

    def _compute(self, value: SSAValue) -> SSAValue:
        if isinstance(value, BlockArgument):
            if (operand := self._inputs.get(value)) is not None:
                return self.read(operand)
            return self.read(self._outputs[value].init)
        op = value.owner
        assert isinstance(op, Operation)
        if isinstance(op, linalg.IndexOp):
            return self.index_lanes(op.dim.value.data, INDEX)
        if isinstance(op, arith.IndexCastOp) and isinstance(op.input.owner, linalg.IndexOp):
            return self.index_lanes(op.input.owner.dim.value.data, op.result.type)
        if isinstance(op, memref.LoadOp | tensor.ExtractOp):
            return emit_load(self, op)
        if op in self.nest.steps.remainders:
            return self._remainder_lanes(op)
        return self.apply(op)[op.results.index(value)]

    def apply(self, op: Operation) -> list[SSAValue]:
        """A copy of an elementwise op on the current values; its results are remembered."""
        dims = self.nest.depends[op.results[0]]
        lanes = self.is_lanes(dims)
        # What is the same all along a segment may be the difference of lanes: those of the first lane give it.
        operands = [self.get_lanes(operand) if lanes else self.first(operand) for operand in op.operands]
        types = [vector_type(self.nest.lanes, result.type) if lanes else result.type for result in op.results]
        frame = self.frames[self.depth(dims)]
        with self.emitter.at(frame.cursor):
            attributes, properties = dict(op.attributes), dict(op.properties)
            copy = self.emitter.insert(
                type(op).create(operands=operands, result_types=types, properties=properties, attributes=attributes)
            )
            if has_location(op):
                copy.location = op.location  # its own source line, not that of the whole loop
        for result, new in zip(op.results, copy.results, strict=True):
            frame.values[result] = new
        return list(copy.results)

    def _remainder_lanes(self, op: Operation) -> SSAValue:
        """All lanes of a remainder, from those of the dividend: along a segment both differ by one number."""
        dividend = op.operands[0]
        first = self.first(dividend)
        assert self.start_dim is not None
        with self.emitter.at(self.frames[self.level_of[self.start_dim]].cursor):
            multiple = self.emitter.arith(arith.SubiOp, first, self.first(op.results[0]))
        multiples = self.spread(multiple, frozenset((self.start_dim,)))
        return self.emitter.arith(arith.SubiOp, self.get(dividend), multiples)

    def index_lanes(self, dim: int, type: Attribute) -> SSAValue:
        """The induction variable of `dim` as an integer of `type`, lane numbers added in the vector dimension."""
        base = self.emitter.ssa(self.induction(dim))
        if not isinstance(type, IndexType):
            base = self.emitter.index_cast(base, type)
        if self.nest.lanes == 1 or dim != self.nest.vector_dim:
            return base
        steps = self.lane_numbers(type)
        return self.emitter.arith(arith.AddiOp, self.emitter.broadcast(base, self.nest.lanes), steps)

    def lane_numbers(self, type: Attribute) -> SSAValue:
        """0, 1, 2, ... once per nest."""
        frame = self.frames[0]
        key = ("step", type)
        if (found := frame.values.get(key)) is None:
            with self.emitter.at(frame.cursor):
                found = frame.values[key] = self.emitter.step(self.nest.lanes, type)
        return found

    # -- memory -----------------------------------------------------------------------------------------------------

    def linear_index(self, window: Window, access: tuple[AffineExpr, ...]) -> Index:
        """The place of an element in `window.flat`, summed up loop by loop from the outside in."""
        parts: list[tuple[int, AffineExpr, Index]] = []
        for expr, stride in zip(access, window.strides, strict=True):
            parts.append((self.depth(frozenset(expr.used_dims())), expr, stride))
        parts.sort(key=lambda part: part[0])
        total = window.offset
        for level, expr, stride in parts:
            key = ("index", window.flat, total, expr, stride)
            frame = self.frames[level]
            found = frame.values.get(key)
            if found is None:
                with self.emitter.at(frame.cursor):
                    step = self.emitter.mul(self.affine(expr), stride)
                    found = self.emitter.add(total, step)
                frame.values[key] = found  # pyright: ignore[reportArgumentType]
            total = found
        return total

    def affine(self, expr: AffineExpr) -> Index:
        """An index expression at the current step."""
        match expr:
            case AffineDimExpr():
                return self.induction(expr.position)
            case AffineConstantExpr():
                return expr.value
            case AffineBinaryOpExpr():
                return self._affine_binary(expr.kind, self.affine(expr.lhs), self.affine(expr.rhs))
            case _:
                raise self._unknown_index(expr)

    def _affine_binary(self, kind: AffineBinaryOpKind, lhs: Index, rhs: Index) -> Index:
        """Affine division rounds down, also below zero; `mod` is never negative."""
        emitter = self.emitter
        match kind:
            case AffineBinaryOpKind.Add:
                return emitter.add(lhs, rhs)
            case AffineBinaryOpKind.Mul:
                return emitter.mul(lhs, rhs)
            case AffineBinaryOpKind.FloorDiv:
                return emitter.value(arith.FloorDivSIOp, (emitter.ssa(lhs), emitter.ssa(rhs)), INDEX)
            case AffineBinaryOpKind.CeilDiv:
                return emitter.value(arith.CeilDivSIOp, (emitter.ssa(lhs), emitter.ssa(rhs)), INDEX)
            case AffineBinaryOpKind.Mod:
                return emitter.sub(lhs, emitter.mul(self._affine_binary(AffineBinaryOpKind.FloorDiv, lhs, rhs), rhs))

    def _unknown_index(self, expr: AffineExpr) -> PassError:
        last = self.nest.body.last_op
        assert last is not None
        return op_error(last, f"index expression {expr} has no lowering", pass_name="linalg-to-loops")

    def read(self, operand: Operand) -> SSAValue:
        """The element, or the lanes, that the current step reads."""
        match operand.source:
            case Uniform():
                return operand.source.value
            case Window():
                return self._read_window(operand.source, operand, None, None)
            case Box():
                return self._read_box(operand.source, operand)
            case Words():
                return self._read_words(operand.source.first_bytes, operand)
            case Vectors(vectors):
                index = self.affine(operand.access[0])
                assert isinstance(index, int), "what is in registers is read by steps that are written out"
                return vectors[index // self.nest.lanes]

    def _read_words(self, first_bytes: Window, operand: Operand) -> SSAValue:
        index = self.linear_index(first_bytes, operand.access)
        if not self.is_lanes(operand.dims()):
            return load_word(self.emitter, first_bytes.flat, index)
        stride, mask = stride_along(first_bytes, operand.access, self.nest.vector_dim or 0), self.mask()
        if stride == WORD_BYTES and mask is None:
            return load_words(self.emitter, first_bytes.flat, index, self.nest.lanes)
        if not first_bytes.owned:
            self._note(operand.location, stride, "gathered")
        mask = self.all_lanes() if mask is None else mask
        return gather_words(self.emitter, first_bytes.flat, index, self.lane_offsets(stride), mask, self.nest.lanes)

    def _read_window(self, window: Window, operand: Operand, mask: SSAValue | None, fill: SSAValue | None) -> SSAValue:
        """Unmasked if `mask` is None and the step is a full one."""
        index = self.linear_index(window, operand.access)
        if not self.is_lanes(operand.dims()):
            return self.emitter.unpack(self.emitter.load(window.flat, index), window.stored_as_byte)
        stride = stride_along(window, operand.access, self.nest.vector_dim or 0)
        if not window.owned:
            self._note(operand.location, stride, "gathered")
        mask = self.mask() if mask is None else mask
        stored = i8 if window.stored_as_byte else window.element
        if stride == 1 and fill is None and self._holds_whole_vectors(window) and not _is_integer(stored):
            mask = None
        if stride == 1 and mask is None:
            lanes = self.emitter.vector_load(window.flat, index, self.nest.lanes)
            return self.emitter.unpack(lanes, window.stored_as_byte)
        if fill is None:
            zero = self.emitter.zero(stored)
            passthrough = self.spread(zero, frozenset())
        else:
            passthrough = self.emitter.pack(self.spread(fill, frozenset()), window.stored_as_byte)
        if stride == 1:
            assert mask is not None
            lanes = self.emitter.masked_load(window.flat, index, mask, passthrough)
        elif mask is None and is_narrow(stride):
            lanes = self._read_turns(window, operand, stride, passthrough)
        else:
            lanes = self.emitter.gather(
                window.flat, index, self.lane_offsets(stride), mask or self.all_lanes(), passthrough
            )
        return self.emitter.unpack(lanes, window.stored_as_byte)

    def _note(self, location: LocationAttr | None, stride: Index, verb: str) -> None:
        """Keep how the memory of an argument is accessed; what only copies it says no place but the copy's own."""
        own = self.emitter.location if isinstance(location, UnknownLoc) else location
        self.nest.around.accesses.note(own, stride, verb)

    def _read_turns(self, window: Window, operand: Operand, stride: int, filler: SSAValue) -> SSAValue:
        """Lanes that are `stride` elements apart, out of vectors that hold what other operands read in between, too."""
        turn, windows = find_turns(window, self._read_alike(operand), stride)
        turns, frame = sorted(windows), self.frames[self.depth(operand.dims())]
        index = self.linear_index(windows[0], operand.access)
        keys = [("neighbourhood", window.flat, index, *turns, number) for number in range(max(1, stride))]
        if keys[0] not in frame.values:
            parts = load_neighbourhood(self.emitter, window.flat, index, stride, turns, filler)
            frame.values.update(zip(keys, parts, strict=True))
        return pick_lanes(self.emitter, [frame.values[key] for key in keys], stride, turn)

    def _read_alike(self, operand: Operand) -> Iterator[Window]:
        """The memory of operands of which each step reads the same element, or lanes, as of this one."""
        source = operand.source
        for argument, other in zip(self.nest.body.args, self.nest.inputs, strict=False):
            if other.access != operand.access or not argument.uses.get_length():
                continue
            match other.source:
                case Window() as window if isinstance(source, Window):
                    yield window
                case Box(inner=Window() as window) as box if isinstance(source, Box):
                    if (box.low, box.high) == (source.low, source.high):
                        yield window
                case _:
                    pass

    def _holds_whole_vectors(self, window: Window) -> bool:
        """Return whether the last, partial vector may be touched as a whole: its other lanes are spare room of the
        tile.
        """
        dim = self.nest.vector_dim
        return (
            window.owned and self.nest.has_tiles and dim is not None and self.nest.extents[dim] % self.nest.lanes == 0
        )

    def lane_offsets(self, stride: Index) -> SSAValue:
        """0, stride, 2 * stride, ... as index lanes."""
        key = ("offsets", stride)
        frame = self.frames[0]
        if (found := frame.values.get(key)) is None:
            steps = self.lane_numbers(INDEX)
            with self.emitter.at(frame.cursor):
                strides = self.emitter.broadcast(self.emitter.ssa(stride), self.nest.lanes)
                found = frame.values[key] = self.emitter.arith(arith.MuliOp, steps, strides)
        return found

    def all_lanes(self) -> SSAValue:
        return self.spread(self.emitter.constant(1, i1), frozenset())

    def _read_box(self, box: Box, operand: Operand) -> SSAValue:
        vector_position: int | None = None
        inside: SSAValue | bool = True
        for position, expr in enumerate(operand.access):
            low, high = box.low[position], box.high[position]
            if low == 0 and high == box.shape[position]:
                continue
            if self.is_lanes(frozenset(expr.used_dims())):
                vector_position = position
                continue
            if isinstance(expr, AffineDimExpr) and low == 0 and is_at_most(self.nest.bounds[expr.position], high):
                continue
            inside = self.emitter.both(inside, self._is_inside(expr, low, high))
        inner = box.inner
        if not self.is_lanes(operand.dims()):
            return self._read_box_element(box, operand, inside)
        bounds: tuple[Index, Index] | None = None
        if vector_position is not None:
            bounds = self._lane_bounds(box, operand.access[vector_position], vector_position)
        mask = self._box_mask(operand, bounds, inside)
        if isinstance(inner, Uniform):
            value = self.spread(inner.value, frozenset())
            if mask is None:
                return value
            return self.emitter.select(mask, value, self.spread(box.fill, frozenset()))
        return self._read_window(inner, operand, mask, box.fill)

    def _is_inside(self, expr: AffineExpr, low: Index, high: Index) -> SSAValue | bool:
        frame = self.frames[self.depth(frozenset(expr.used_dims()))]
        key = ("inside", expr, low, high)
        if key in frame.values:
            return frame.values[key]
        with self.emitter.at(frame.cursor):
            index = self.affine(expr)
            below = True if is_at_most(low, 0) else self.emitter.compare("sge", index, low)
            found = self.emitter.both(below, self.emitter.compare("slt", index, high))
        frame.values[key] = found  # pyright: ignore[reportArgumentType]
        return found

    def _lane_bounds(self, box: Box, expr: AffineExpr, position: int) -> tuple[Index, Index] | None:
        """Return which lanes the box covers; None where the loop never leaves it."""
        assert isinstance(expr, AffineDimExpr)
        low, high = box.low[position], box.high[position]
        if low == 0 and (self._is_unmasked() or is_at_most(self.nest.bounds[expr.position], high)):
            return None
        return low, high

    def _is_unmasked(self) -> bool:
        dim = self.nest.vector_dim
        return dim is not None and self.frames[self.level_of[dim]].is_unmasked

    def _box_mask(
        self, operand: Operand, bounds: tuple[Index, Index] | None, inside: SSAValue | bool
    ) -> SSAValue | None:
        emitter, lanes = self.emitter, self.nest.lanes
        if bounds is None and inside is True:
            return None
        if bounds is None:
            condition = emitter.constant(int(inside), i1) if isinstance(inside, bool) else inside
            mask = emitter.broadcast(condition, lanes)
            step_mask = self.mask()
            return mask if step_mask is None else emitter.arith(arith.AndIOp, mask, step_mask)
        assert self.nest.vector_dim is not None
        low, high = bounds
        induction = self.induction(self.nest.vector_dim)
        high = emitter.select_index(inside, high, 0)
        mask = emitter.create_mask(emitter.sub(high, induction), lanes)
        if not is_at_most(low, 0):
            before = emitter.create_mask(emitter.sub(low, induction), lanes)
            ones = self.all_lanes()
            mask = emitter.arith(arith.AndIOp, mask, emitter.arith(arith.XOrIOp, before, ones))
        return mask

    def _read_box_element(self, box: Box, operand: Operand, inside: SSAValue | bool) -> SSAValue:
        if inside is False:
            return box.fill
        if isinstance(box.inner, Uniform):
            value = box.inner.value
            return value if inside is True else self.emitter.select(inside, value, box.fill)
        if inside is True:
            return self._read_window(box.inner, operand, None, None)
        inner, index = box.inner, self.linear_index(box.inner, operand.access)
        return self.emitter.load_if(
            inside,
            lambda: self.emitter.unpack(self.emitter.load(inner.flat, index), inner.stored_as_byte),
            box.fill,
        )

    def write(
        self,
        window: Window,
        access: tuple[AffineExpr, ...],
        value: SSAValue,
        *,
        whole_vectors: bool = False,
        end: Index | None = None,
    ) -> None:
        """Store the current step's element or lanes, if allowed with the lanes that do not exist; of the vector
        dimension no lane from `end` on."""
        index = self.linear_index(window, access)
        vector_dim = self.nest.vector_dim
        value = self.emitter.pack(value, window.stored_as_byte)
        if self.nest.lanes == 1 or not any(vector_dim in expr.used_dims() for expr in access):
            self.emitter.store(value, window.flat, index)
            return
        stride = stride_along(window, access, vector_dim or 0)
        if not window.owned:
            self._note(self.emitter.location, stride, "scattered")
        mask = self.mask() if end is None else self._mask_below(end)
        if mask is None and is_narrow(stride):
            store_strided(self.emitter, value, window.flat, index, stride)
        elif stride != 1:
            lanes = self.lane_offsets(stride)
            self.emitter.scatter(value, window.flat, index, lanes, mask or self.all_lanes())
        elif self.frames[-1].is_streamed:
            self.emitter.stream(value, window.flat, index)
        elif mask is None or (whole_vectors and self._holds_whole_vectors(window)):
            self.emitter.vector_store(value, window.flat, index)
        else:
            self.emitter.masked_store(value, window.flat, index, mask)

    def write_in_turn(
        self, windows: Sequence[Window], access: tuple[AffineExpr, ...], elements: Sequence[SSAValue]
    ) -> None:
        """Store the current step's lanes of several tensors whose elements take turns in memory."""
        stored = zip(elements, windows, strict=True)
        packed = [self.emitter.pack(element, window.stored_as_byte) for element, window in stored]
        store_interleaved(self.emitter, packed, windows[0].flat, self.linear_index(windows[0], access))

    def _mask_below(self, end: Index) -> SSAValue:
        assert self.nest.vector_dim is not None
        below = self.emitter.create_mask(self.emitter.sub(end, self.induction(self.nest.vector_dim)), self.nest.lanes)
        mask = self.mask()
        return below if mask is None else self.emitter.arith(arith.AndIOp, below, mask)


def _is_integer(type_: Attribute) -> bool:
    return isinstance(type_, IntegerType | IndexType)


__all__ = ["Block", "BodyValues", "Frame", "first_of"]
