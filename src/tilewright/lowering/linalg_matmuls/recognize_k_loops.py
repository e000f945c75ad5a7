"""The pass `linalg-recognize-k-loops`."""

from __future__ import annotations

from dataclasses import replace
from functools import reduce

from xdsl.dialects.builtin import MemRefType, ModuleOp, UnrankedMemRefType
from xdsl.ir import Operation, SSAValue

from tilewright.codegen.microkernels import MatmulKernel
from tilewright.dialects import arith, func, linalg, linalg_ext, memref, scf
from tilewright.dialects.types import is_memref
from tilewright.ir.passes import Pass, PassContext, register_pass
from tilewright.ir.walking import find_ops
from tilewright.lowering.linalg_matmuls.first_iteration import FirstIteration, NoMatchError, to_index
from tilewright.lowering.linalg_matmuls.matmul_operands import (
    FirstView,
    MatmulOperand,
    find_cast,
    find_first_view,
    find_operand,
    is_zero_tile,
)
from tilewright.lowering.linalg_matmuls.shared_operands import is_shared
from tilewright.lowering.linalg_matmuls.unit_stride_guard import holds_for_first, says_which_lanes_follow
from tilewright.lowering.linalg_to_loops.emitter import INDEX, Cursor, Index, LoopEmitter
from tilewright.lowering.linalg_to_loops.function_lowering import tensor_shape
from tilewright.lowering.microkernel_attributes import find_routine, microkernel_attributes
from tilewright.transforms.linalg.effects import may_write
from tilewright.transforms.linalg.index_proofs import constant_of, find_cut, fold_index, is_same
from tilewright.transforms.linalg.needed_bounds import NeededBounds, make_available
from tilewright.transforms.linalg.region_values import tensor_positions


@register_pass
class LinalgRecognizeKLoopsPass(Pass):
    """Turns a loop over k that adds up matmuls of blocks into one matmul over all of k, whose accumulators stay in
    registers.

    ```mlir
    %c = scf.for %i = %c0 to %trips step %c1 iter_args(%acc = %zero) -> (tensor<64x64xf32>) {
      %a = ... to_tensor of a view of %p at %i * %da, padded with zeros past %K - %i * 32
      %b = ... to_tensor of a view of %q at %i * %db, padded with zeros past %K - %i * 32
      %next = linalg.matmul {microkernel.matmul = ...} ins(%a, %b : ...) outs(%acc : tensor<64x64xf32>)
      scf.yield %next
    }
    // becomes
    %adjoin = ...                                            // %da == 32 * %stride_of_a and %db == 32 * %stride_of_b
    %c = scf.if %adjoin -> (tensor<64x64xf32>) {
      %d = linalg_ext.view_matmul ins(%va, %vb : memref<64x?xf32, ...>, memref<?x64xf32, ...>)
        outs(%zero : tensor<64x64xf32>) {microkernel.matmul = ...} -> tensor<64x64xf32>
      scf.yield %d
    } else { the loop as it is }
    ```
    A run-time test checks that the views of successive iterations are adjacent, so nothing has to be proved about how
    the addresses are written; only their form, linear in the loop counter, is matched here. Loops of any other form are
    left alone, with a remark. Matmuls without a micro-kernel are ignored.
    """

    name = "linalg-recognize-k-loops"

    def run(self, module: ModuleOp, context: PassContext) -> None:
        for function in module.ops:
            entry = function.body.blocks.first if isinstance(function, func.FuncOp) else None
            if entry is None:
                continue
            emitter, needed = LoopEmitter(entry), NeededBounds()
            for loop in find_ops(function, scf.ForOp):
                matmul = find_matmul(loop)
                kernel = find_routine(matmul) if matmul is not None else None
                if matmul is None or not isinstance(kernel, MatmulKernel):
                    continue
                block, before = loop.parent_block(), loop.prev_op
                try:
                    _KLoop(emitter, needed, loop, matmul).replace(kernel)
                except NoMatchError as error:
                    context.remark(loop, f"its matmuls are not one: {error}")
                end = loop if loop.parent_block() is block else loop.parent_op()
                assert end is not None
                _erase_unused(before, end)


def find_matmul(loop: scf.ForOp) -> linalg.MatmulOp | None:
    """The matmul that is all that a loop does to its only carried tile."""
    body = loop.body.block
    yield_op = body.last_op
    assert yield_op is not None
    matmuls, tensors = [op for op in body.ops if isinstance(op, linalg.MatmulOp)], tensor_positions(loop.results)
    if len(matmuls) != 1 or len(tensors) != 1 or list(matmuls[0].results) != [yield_op.operands[tensors[0]]]:
        return None
    matmul = matmuls[0]
    for position, (argument, after) in enumerate(zip(body.args[1:], yield_op.operands, strict=True)):
        if after is matmul.results[0]:
            if matmul.outputs[0] is not argument or argument.uses.get_length() != 1:
                return None
            if matmul.results[0].uses.get_length() != 1:
                return None
        elif loop.results[position].uses.get_length() or isinstance(argument.type, MemRefType | UnrankedMemRefType):
            return None
    return matmul if all(map(_may_be_skipped, body.ops)) else None


def _may_be_skipped(op: Operation) -> bool:
    """Return whether an op of the loop only serves the matmul: it writes nothing, and makes no other tile."""
    if isinstance(op, linalg_ext.ExchangeNetworkOp):
        return False
    if isinstance(op, linalg.StructuredOp) and not isinstance(op, linalg.TransposeOp | linalg.MatmulOp) and op.inputs:
        return False
    if isinstance(op, scf.IfOp):
        # A branch that yields a view, in place or of a copy: whatever it writes is its own buffer.
        return len(op.results) == 1 and is_memref(op.results[0].type)
    return not may_write(op)


class _KLoop:
    """One loop over k. What the test and the views need is emitted before it."""

    def __init__(self, emitter: LoopEmitter, needed: NeededBounds, loop: scf.ForOp, matmul: linalg.MatmulOp) -> None:
        block = loop.parent_block()
        assert block is not None
        self.emitter, self.needed, self.loop, self.matmul = emitter, needed, loop, matmul
        emitter.cursor, emitter.location = Cursor(block, loop), loop.location
        self.first = FirstIteration(emitter, loop)

    def replace(self, kernel: MatmulKernel) -> None:
        """Match the loop and put it into the other side of a branch. Raises NoMatchError for one of another form."""
        emitter, (lhs, rhs) = self.emitter, self.matmul.inputs
        (rows, depth), columns = tensor_shape(lhs), tensor_shape(rhs)[1]
        a, b = find_operand(lhs, k_dim=1), find_operand(rhs, k_dim=0)
        a_view, b_view = find_first_view(self.first, a), find_first_view(self.first, b)
        if constant_of(b_view.strides[1]) != 1:
            if constant_of(b_view.strides[0]) != 1:
                raise NoMatchError("neither rows nor columns of B are contiguous")
            kernel = replace(kernel, transposed_b=True)
        a_change, b_change = self._change(a), self._change(b)
        condition: SSAValue | bool = emitter.compare("eq", a_change, emitter.mul(a_view.strides[1], depth))
        condition = emitter.both(condition, emitter.compare("eq", b_change, emitter.mul(b_view.strides[0], depth)))
        if not is_same(a.k_high, b.k_high):
            raise NoMatchError("its operands end at different k")
        total = self._total_depth(a.k_high, depth)
        (position,) = tensor_positions(self.loop.results)
        bounds_read = self.needed.of(self.loop.results[position])
        bound = bounds_read[0] if rows <= kernel.rows else rows
        row_count, holds = self._outer_count(a, rows, a_view.strides[0], bound)
        condition = emitter.both(condition, holds)
        bound = bounds_read[1] if columns <= kernel.columns else columns
        column_count, holds = self._outer_count(b, columns, b_view.strides[1], bound)
        condition = emitter.both(condition, holds)
        if condition is False:
            raise NoMatchError("the views of its steps do not adjoin")
        shared = is_shared(emitter, self.loop, b_view.offset, bounds_read[1], columns)
        new = linalg_ext.ViewMatmulOp(
            self._view(a_view, (row_count, total)),
            self._view(b_view, (total, column_count)),
            self.loop.iter_args[position],
            shared if isinstance(shared, SSAValue) else None,
        )
        from_zero = is_zero_tile(new.init) and not kernel.for_few_rows
        new.attributes.update(microkernel_attributes(replace(kernel, from_zero=from_zero)))
        self._branch(emitter.truth(condition), new, position)

    def _branch(self, condition: SSAValue, matmul: linalg_ext.ViewMatmulOp, position: int) -> None:
        emitter, loop = self.emitter, self.loop
        branch, then_block, else_block = emitter.open_if(condition, [matmul.result.type])
        with emitter.at(then_block):
            emitter.yield_([emitter.insert(matmul).result])
        loop.results[position].replace_all_uses_with(branch.results[0])
        loop.detach()
        else_block.add_op(loop)
        with emitter.at(else_block):
            emitter.yield_([loop.results[position]])

    def _view(self, view: FirstView, sizes: tuple[Index, Index]) -> SSAValue:
        return self.emitter.insert(memref.ReinterpretCastOp(view.pointer, view.offset, sizes, view.strides)).result

    def _change(self, operand: MatmulOperand) -> Index:
        return self.first.change(find_cast(operand.view).mixed_offsets[0])

    def _outer_count(
        self, operand: MatmulOperand, extent: int, stride: Index, bound: Index
    ) -> tuple[Index, SSAValue | bool]:
        """Return how many of the rows of A, or the columns of B, are multiplied: all of them or, where others are
        padding or lie elsewhere, the `bound` that anybody reads; and what that takes. `stride`: theirs.
        """
        emitter, first, high = self.emitter, self.first, operand.outer_high
        if not all(first.is_loop_invariant(choice.cond) for choice in operand.choices):
            raise NoMatchError("whether an operand is read in place is decided in each step")
        is_padded = not (isinstance(high, int) and high >= extent)
        if (
            operand.choices and not is_padded and isinstance(bound, SSAValue)
            and all(says_which_lanes_follow(choice, operand.outer_dim) for choice in operand.choices)
            and make_available(bound, self.loop, {})
        ):  # fmt: skip
            tests = [holds_for_first(first, choice.cond, extent, stride, bound) for choice in operand.choices]
            return bound, reduce(emitter.both, tests)
        holds: SSAValue | bool = True
        for choice in operand.choices:
            value = first.first(choice.cond)
            assert isinstance(value, SSAValue)
            holds = emitter.both(holds, value)
        if not is_padded:
            return extent, holds
        if not first.is_loop_invariant(high):
            raise NoMatchError("another part of an operand is padding in each step")
        start = first.first(high)
        if is_same(high, bound):
            # Nobody reads the rows of C that the padding makes.
            return start, holds
        return extent, emitter.both(holds, emitter.compare("sge", start, extent))

    def _total_depth(self, k_high: Index, depth: int) -> Index:
        """Return how many terms all iterations together have."""
        emitter = self.emitter
        most = emitter.mul(_trip_count(emitter, self.loop), depth)
        if k_high == depth:
            return most
        start, change = self._remaining(k_high, depth)
        if change != -depth:
            raise NoMatchError("the padding of its operands does not come nearer by one block in each step")
        return emitter.max(emitter.min(start, most), 0)

    def _remaining(self, k_high: Index, depth: int) -> tuple[Index, Index]:
        """Return how many terms are left in the first iteration, by how much that changes in each.

        `k_high` is one of `max(min(left, depth), 0)` and `max(min(k + depth, total), k) - k`.
        """
        emitter, first = self.emitter, self.first
        op = k_high.owner if isinstance(k_high, SSAValue) else None
        if isinstance(op, arith.MaxSIOp) and fold_index(op.rhs) == 0:
            inner = op.lhs.owner
            if isinstance(inner, arith.MinSIOp) and fold_index(inner.rhs) == depth:
                return to_index(emitter, first.first(inner.lhs)), first.change(inner.lhs)
        elif (cut := find_cut(k_high, depth)) is not None:
            start = emitter.sub(to_index(emitter, first.first(cut.end)), to_index(emitter, first.first(cut.first)))
            return start, emitter.sub(first.change(cut.end), first.change(cut.first))
        raise NoMatchError("the end of its operands along k is of no form that is known")


def _trip_count(emitter: LoopEmitter, loop: scf.ForOp) -> Index:
    """max(0, ceil((upper - lower) / step)) for a constant positive step."""
    step = constant_of(loop.step)
    if step is None or step <= 0:
        raise NoMatchError("its step is not a positive constant")
    lower, upper = (to_index(emitter, value) for value in (loop.lb, loop.ub))
    span = emitter.max(emitter.sub(upper, lower), 0)
    if step == 1:
        return span
    if isinstance(span, int):
        return -(-span // step)
    return emitter.value(arith.CeilDivSIOp, (span, emitter.ssa(step)), INDEX)


def _erase_unused(before: Operation | None, end: Operation) -> None:
    """Erase what was emitted between two ops and is not used after all."""
    op = end.prev_op
    while op is not None and op is not before:
        previous = op.prev_op
        if not any(result.uses.get_length() for result in op.results):
            op.detach()
            op.erase()
        op = previous
