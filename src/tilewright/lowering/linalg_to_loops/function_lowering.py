"""Lowers one function: walks its ops in order, gives each tensor value a source, emits nests where elements are made.

Ops on scalars and memrefs stay where they are. Ops that only rearrange elements (slices, reshapes, pads, fills) emit
nothing; they become sources. Tensor ops are erased at the end, when nothing refers to them any more.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import prod
from typing import NoReturn

from xdsl.dialects.builtin import UNKNOWN_LOC, LocationAttr
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineExpr

from tilewright.dialects import func, linalg, memref, tensor, vector
from tilewright.dialects.arithmetic import is_arithmetic
from tilewright.dialects.types import bit_width, is_tensor
from tilewright.ir.diagnostics import op_error
from tilewright.ir.lowerings import Lowerings
from tilewright.ir.passes import PassContext
from tilewright.ir.remark_kinds import RemarkKind
from tilewright.lowering.linalg_to_loops import sources
from tilewright.lowering.linalg_to_loops.access_log import AccessLog, location_of_load
from tilewright.lowering.linalg_to_loops.emitter import Cursor, Index, LoopEmitter
from tilewright.lowering.linalg_to_loops.function_state import Decisions, FunctionFacts, TileValues
from tilewright.lowering.linalg_to_loops.memory import Memory
from tilewright.lowering.linalg_to_loops.nest import Nest, Operand, Output
from tilewright.lowering.linalg_to_loops.nest_emission import emit_nest
from tilewright.lowering.linalg_to_loops.nest_plan import obstacle_to_vectors, plan_nest
from tilewright.lowering.linalg_to_loops.prefetching import Prefetching
from tilewright.lowering.linalg_to_loops.sources import Source, Splat, StridedView
from tilewright.lowering.linalg_to_loops.storage import Storage
from tilewright.lowering.linalg_to_loops.transposing_copy import emit_transposing_copy, find_block
from tilewright.support.errors import TilewrightError
from tilewright.support.facts import TargetFacts
from tilewright.transforms.linalg.structured import shape_or_scalar


class FunctionLowering:
    """State of the lowering of one function."""

    def __init__(self, function: func.FuncOp, context: PassContext, facts: TargetFacts, decisions: Decisions) -> None:
        entry = function.body.blocks.first
        assert entry is not None
        self.known = FunctionFacts.of(function, context, facts, decisions)
        self.values = TileValues()
        self.emitter = LoopEmitter(entry)
        self.memory = Memory(self.emitter, self._remark_on_buffer)
        self.accesses = AccessLog()
        self.storage = Storage(self)
        self.prefetching = Prefetching(self.emitter, function, facts, is_on=decisions.prefetch)

    @property
    def facts(self) -> TargetFacts:
        """The target's."""
        return self.known.target

    def run(self) -> None:
        """Lower the whole function in place."""
        for block in self.known.function.body.blocks:
            self.lower_block(block)
        self.prefetching.finish()
        self.accesses.report(self.known.context.remark_at)
        for op in reversed(self.values.dead):
            erase(op)
        remove_unused(self.known.function)

    def lower_block(self, block: Block) -> None:
        """Lower the ops of a block in their order.

        A buffer that is filled in here holds its value in here only: the block may not run.
        """
        mark = len(self.values.filled)
        # Ops are moved while others are lowered: what bounds are made of goes before a loop, a loop goes into a branch.
        for op in list(block.ops):
            if op.parent is not None:
                self._lower_guarded(op)
        self.values.leave_block(block, mark)

    def _lower_guarded(self, op: Operation) -> None:
        try:
            self.lower_op(op)
        except TilewrightError:
            raise
        except Exception as error:
            reason = f"internal error: {type(error).__name__}: {error}"
            raise op_error(op, reason, pass_name="linalg-to-loops", internal=True) from error

    def lower_op(self, op: Operation) -> None:
        """Lower one op, by its class; ops without tensors are legal as they are."""
        lower = LOWERINGS.get(type(op))
        block = op.parent_block()
        assert block is not None
        self.emitter.cursor = Cursor(block, op)
        self.emitter.location = op.location
        if lower is not None:
            lower(op, self)
        elif any(is_tensor(value.type) for value in (*op.operands, *op.results)):
            self.fail(op, "no lowering to loops for this op on tensors")
        else:
            for region in op.regions:
                for inner in region.blocks:
                    self.lower_block(inner)

    def fail(self, op: Operation, reason: str) -> NoReturn:
        """Stop with an error about `op`."""
        raise op_error(op, reason, pass_name="linalg-to-loops")

    # -- sources and buffers ----------------------------------------------------------------------------------------

    def source(self, value: SSAValue) -> Source:
        """Return how to read a tensor value."""
        found = self.values.sources.get(value)
        if found is None:
            owner = value.owner
            self.fail(
                owner if isinstance(owner, Operation) else self.known.function,
                "a tensor that crosses a block boundary or a function boundary has no lowering",
            )
            raise AssertionError
        return found

    def define(self, op: Operation, source: Source, result: int = 0) -> None:
        """Record how the result of an op is read from now on; the op itself goes away."""
        self.values.sources[op.results[result]] = source
        self.values.dead.append(op)

    def loop_bounds(
        self, result: SSAValue, access: tuple[AffineExpr, ...], extents: tuple[int, ...]
    ) -> tuple[Index, ...]:
        """Return how far the loops must run that make a result."""
        bounds: list[Index] = list(extents)
        for expr, bound in zip(access, self.known.needed.get(result, ()), strict=False):
            if isinstance(expr, AffineDimExpr):
                bounds[expr.position] = bound
        return tuple(bounds)

    def copy(
        self,
        source: Source,
        dest: StridedView,
        bounds: Sequence[Index] | None = None,
        location: LocationAttr = UNKNOWN_LOC,
    ) -> None:
        """Write the elements of `source`, which were loaded at `location`, into `dest`, up to `bounds`."""
        if isinstance(source, StridedView) and same_view(source, dest):
            return
        source, dest, bounds = self._joined(source, dest, bounds or dest.shape)
        side = find_block(source, dest, self.facts.vector_bits)
        if side is not None:
            emit_transposing_copy(self.emitter, source, dest, side, bounds)
            return
        rank = len(dest.shape)
        access = tuple(AffineDimExpr(dim) for dim in range(rank))
        block = Block(arg_types=[dest.element, dest.element])
        block.add_op(linalg.YieldOp.create(operands=[block.args[0]]))
        inputs, outputs = [Operand(source, access, location)], [Output(dest, access, Operand(dest, access), dest.shape)]
        self.run_nest(Nest(self, block, inputs, outputs, (False,) * rank, dest.shape, tuple(bounds)))

    def _joined(
        self, source: Source, dest: StridedView, bounds: Sequence[Index]
    ) -> tuple[Source, StridedView, Sequence[Index]]:
        """A copy with fewer dimensions: those that are one segment of memory on both sides, and of which the inner one
        is copied as a whole, are one."""
        for dim in reversed(range(len(dest.shape) - 1)):
            inner = dest.shape[dim + 1]
            if bounds[dim + 1] != inner:
                continue
            groups = [[d] for d in range(dim)] + [[dim, dim + 1]] + [[d] for d in range(dim + 2, len(dest.shape))]
            shape = (*dest.shape[:dim], dest.shape[dim] * inner, *dest.shape[dim + 2 :])
            one, other = sources.collapse(source, groups, shape), sources.collapse(dest, groups, shape)
            if one is not None and isinstance(other, StridedView):
                source, dest = one, other
                bounds = (*bounds[:dim], self.emitter.mul(bounds[dim], inner), *bounds[dim + 2 :])
        return source, dest, bounds

    def run_nest(self, nest: Nest) -> list[SSAValue | None]:
        """Plan and emit a nest at the cursor. Returns the scalar of each output without memory, None for others."""
        for op in list(nest.body.walk()):
            if isinstance(op, tensor.ExtractOp) and not isinstance(self.source(op.tensor), Splat):
                self.in_memory(op.tensor)
        decisions = self.known.decisions
        nest = plan_nest(nest, self.facts, vectorizes=decisions.vectorize)
        if decisions.vectorize and nest.schedule.lanes == 1 and prod(nest.extents) > 1:
            reason = obstacle_to_vectors(nest) or "no dimension of it is worth a vector"
            self.known.context.remark_at(
                self.emitter.location, f"one element at a time: {reason}", RemarkKind.NOT_VECTORIZED
            )
        return emit_nest(self.emitter, nest, self.prefetching, decisions)

    def _remark_on_buffer(self, element: Attribute, shape: Sequence[int]) -> None:
        size = prod(shape) * max(1, bit_width(element) // 8)
        if size > self.facts.l2_bytes // 2:
            extents = "x".join(map(str, shape))
            reason = (
                f"a tile of {extents} elements ({size // 1024} KiB) is kept in memory between the loops that make and "
                f"read it, and the second-level cache has {self.facts.l2_bytes // 1024} KiB"
            )
            self.known.context.remark_at(self.emitter.location, reason, RemarkKind.TILE_IN_MEMORY)

    def view(self, value: SSAValue) -> StridedView | None:
        """The memory that a memref stands for, if it is known."""
        return self.memory.view(value)

    def flat(self, value: SSAValue) -> SSAValue:
        """All memory from a pointer on."""
        return self.memory.flat(value)

    def are_apart(self, left: SSAValue, right: SSAValue) -> bool:
        """Return whether two pointer arguments or buffers have no memory in common."""
        return self.known.apart.is_disjoint(left, right)

    def view_for(self, op: Operation, value: SSAValue) -> StridedView:
        """The memory that a memref operand stands for."""
        view = self.memory.view(value)
        if view is None:
            self.fail(op, f"the memory of {value.type} is not known here")
            raise AssertionError
        return view

    def in_memory(self, value: SSAValue) -> StridedView:
        """The elements of a tensor as a view, copied to a buffer if they are not in memory."""
        source = self.source(value)
        if isinstance(source, StridedView):
            return source
        buffer = self.memory.new_tile(value)
        self.copy(source, buffer, location=location_of_load(value))
        self.values.fill(value, buffer)
        return buffer


LOWERINGS = Lowerings[[FunctionLowering], None]()
"""Everything that is not legal at the loops stage as it is."""
lowers = LOWERINGS.lowers


def same_view(left: StridedView, right: StridedView) -> bool:
    """Return whether two views are the same elements in the same order."""
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
    return is_arithmetic(op) or isinstance(
        op,
        vector.BroadcastOp
        | vector.StepOp
        | memref.ReinterpretCastOp
        | memref.SubviewOp
        | memref.CastOp
        | memref.ViewOp
        | memref.AllocaOp
        | memref.AllocOp
        | memref.DimOp,
    )


def tensor_shape(value: SSAValue) -> tuple[int, ...]:
    """The static shape of a tensor value."""
    assert is_tensor(value.type)
    return shape_or_scalar(value.type)


def has_tensors(values: Iterable[SSAValue]) -> bool:
    """Return whether any of the values is a tensor."""
    return any(is_tensor(value.type) for value in values)
