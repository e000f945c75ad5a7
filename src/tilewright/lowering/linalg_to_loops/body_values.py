"""Evaluates the values of a generic's body for one step of its nest, each in the outermost loop that it depends on.

A frame stands for one open loop (frame 0: outside of all) and holds what was computed there; evaluation is lazy, so an
expression of outer dimensions is computed once per outer iteration, whatever the order of the body:

    %m = row_max[d0], %x = row[d0, d1], %e = exp(%x - %m)
      ->  for d0 { load %m, broadcast %m; for d1 { load %x, subf, exp } }
"""

from __future__ import annotations

from dataclasses import field, replace

from xdsl.dialects.builtin import IndexType, VectorType, i1
from xdsl.ir import Attribute, Block, BlockArgument, Operation, SSAValue
from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineDimExpr,
    AffineExpr,
)

from tilewright.dialects import arith, linalg, memref, tensor
from tilewright.ir.diagnostics import op_error
from tilewright.ir.locations import has_location
from tilewright.lowering.linalg_to_loops.element_access import emit_load
from tilewright.lowering.linalg_to_loops.emitter import INDEX, Cursor, Index, LoopEmitter, vector_type
from tilewright.lowering.linalg_to_loops.nest import SEGMENT, Nest
from tilewright.lowering.linalg_to_loops.operand_access import read_operand
from tilewright.lowering.linalg_to_loops.sources import StridedView
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
    """Whether its stores are non-temporal, to aligned addresses."""
    end: Index = 0
    """Of a segment: the lane after its last one."""
    is_unmasked: bool = False
    """Whether all lanes are before the ends of padded views and outputs (see `comparisons.UnmaskedPart`)."""

    def without_vectors(self) -> Frame:
        """The same loop for a nest with other lanes: only scalars are known in it, Python's among them."""
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
        self.level_of = {dim: level + 1 for level, dim in enumerate(nest.schedule.order)}
        self.start_dim = SEGMENT if SEGMENT in self.level_of else nest.schedule.vector_dim
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
        return self.nest.schedule.lanes > 1 and self.nest.schedule.vector_dim in dims

    def induction(self, dim: int) -> Index:
        return self.frames[self.level_of[dim]].induction

    def mask(self) -> SSAValue | None:
        """The lane mask of the vector dimension's current step."""
        if self.nest.schedule.vector_dim is None:
            return None
        return self.frames[self.level_of[self.nest.schedule.vector_dim]].mask

    # -- values -----------------------------------------------------------------------------------------------------

    def get(self, value: SSAValue) -> SSAValue:
        """A body value at the current step: a vector if it depends on the vector dimension, else a scalar."""
        dims = self.nest.facts.depends.get(value)
        if dims is None:
            return value
        frame = self.frames[self.depth(dims)]
        if (found := frame.values.get(value)) is None:
            with self.emitter.at(frame.cursor):
                found = frame.values[value] = self._compute(value)
        return found

    def get_lanes(self, value: SSAValue) -> SSAValue:
        """`get`, as a vector even where all lanes are equal."""
        return self.spread(self.get(value), self.nest.facts.depends.get(value, frozenset()))

    def spread(self, scalar: SSAValue, dims: frozenset[int]) -> SSAValue:
        """A scalar of depth `dims` as a vector; vectors stay as they are."""
        if self.nest.schedule.lanes == 1 or self.is_lanes(dims):
            return scalar
        frame = self.frames[self.depth(dims)]
        key = ("spread", scalar)
        if (found := frame.values.get(key)) is None:
            with self.emitter.at(frame.cursor):
                found = frame.values[key] = self.emitter.broadcast(scalar, self.nest.schedule.lanes)
        return found

    def first(self, value: SSAValue) -> SSAValue:
        """Return what an integer that has a step is in the first lane: of a segment where there are segments, else of a
        vector."""
        if not self.is_lanes(dims := self.nest.facts.depends.get(value, frozenset())):
            return self.get(value)
        assert self.nest.schedule.vector_dim is not None and self.start_dim is not None
        frame = self.frames[self.depth(dims - {self.nest.schedule.vector_dim} | {self.start_dim})]
        if (found := frame.values.get(first_of(value))) is None:
            with self.emitter.at(frame.cursor):
                found = frame.values[first_of(value)] = self._compute_first(value)
        return found

    def lanes_into_segment(self) -> Index:
        """Return how many lanes of the segment are before this vector."""
        assert self.nest.schedule.vector_dim is not None
        frame = self.frames[self.level_of[self.nest.schedule.vector_dim]]
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
                return read_operand(self, operand)
            return read_operand(self, self._outputs[value].init)
        op = value.owner
        assert isinstance(op, Operation)
        if isinstance(op, linalg.IndexOp):
            return self.index_lanes(op.dim.value.data, INDEX)
        if isinstance(op, arith.IndexCastOp) and isinstance(op.input.owner, linalg.IndexOp):
            return self.index_lanes(op.input.owner.dim.value.data, op.result.type)
        if isinstance(op, memref.LoadOp | tensor.ExtractOp):
            return emit_load(self, op)
        if op in self.nest.facts.steps.remainders:
            return self._remainder_lanes(op)
        return self.apply(op)[op.results.index(value)]

    def apply(self, op: Operation) -> list[SSAValue]:
        """A copy of an elementwise op on the current values; its results are remembered."""
        dims = self.nest.facts.depends[op.results[0]]
        lanes = self.is_lanes(dims)
        # What is the same all along a segment may be the difference of lanes: those of the first lane give it.
        operands = [self.get_lanes(operand) if lanes else self.first(operand) for operand in op.operands]
        types = [vector_type(self.nest.schedule.lanes, result.type) if lanes else result.type for result in op.results]
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
        """All lanes of a remainder, from those of the dividend: along a segment both differ by one scalar."""
        dividend = op.operands[0]
        first = self.first(dividend)
        assert self.start_dim is not None
        with self.emitter.at(self.frames[self.level_of[self.start_dim]].cursor):
            multiple = self.emitter.arith(arith.SubiOp, first, self.first(op.results[0]))
        multiples = self.spread(multiple, frozenset((self.start_dim,)))
        return self.emitter.arith(arith.SubiOp, self.get(dividend), multiples)

    def index_lanes(self, dim: int, type: Attribute) -> SSAValue:
        """The induction variable of `dim` as an integer of `type`, lane indices added in the vector dimension."""
        base = self.emitter.ssa(self.induction(dim))
        if not isinstance(type, IndexType):
            base = self.emitter.index_cast(base, type)
        if self.nest.schedule.lanes == 1 or dim != self.nest.schedule.vector_dim:
            return base
        steps = self.lane_indices(type)
        return self.emitter.arith(arith.AddiOp, self.emitter.broadcast(base, self.nest.schedule.lanes), steps)

    def lane_indices(self, type: Attribute) -> SSAValue:
        """0, 1, 2, ... once per nest."""
        frame = self.frames[0]
        key = ("step", type)
        if (found := frame.values.get(key)) is None:
            with self.emitter.at(frame.cursor):
                found = frame.values[key] = self.emitter.step(self.nest.schedule.lanes, type)
        return found

    # -- memory -----------------------------------------------------------------------------------------------------

    def linear_index(self, view: StridedView, access: tuple[AffineExpr, ...]) -> Index:
        """The index of an element in `view.flat`, summed up loop by loop from the outside in."""
        parts: list[tuple[int, AffineExpr, Index]] = []
        for expr, stride in zip(access, view.strides, strict=True):
            parts.append((self.depth(frozenset(expr.used_dims())), expr, stride))
        parts.sort(key=lambda part: part[0])
        total = view.offset
        for level, expr, stride in parts:
            key = ("index", view.flat, total, expr, stride)
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

    def lane_offsets(self, stride: Index) -> SSAValue:
        """0, stride, 2 * stride, ... as index lanes."""
        key = ("offsets", stride)
        frame = self.frames[0]
        if (found := frame.values.get(key)) is None:
            steps = self.lane_indices(INDEX)
            with self.emitter.at(frame.cursor):
                strides = self.emitter.broadcast(self.emitter.ssa(stride), self.nest.schedule.lanes)
                found = frame.values[key] = self.emitter.arith(arith.MuliOp, steps, strides)
        return found

    def all_lanes(self) -> SSAValue:
        return self.spread(self.emitter.constant(1, i1), frozenset())


__all__ = ["Block", "BodyValues", "Frame", "first_of"]
