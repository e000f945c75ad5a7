"""The pass `linalg-merge-reductions`."""

from __future__ import annotations

from xdsl.dialects.builtin import AffineMapAttr, ArrayAttr, IndexType, ModuleOp
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.ir.affine import AffineMap

from tilewright.analysis.combiners import combiner_of
from tilewright.analysis.selections import STARTS_AT_FIRST
from tilewright.dialects import bufferization, func, linalg, tensor
from tilewright.dialects.arithmetic import is_arithmetic
from tilewright.dialects.construction import segment_sizes
from tilewright.dialects.types import bit_width, element_type, is_tensor
from tilewright.ir.passes import Pass, PassContext, register_pass
from tilewright.ir.walking import ops_within
from tilewright.support.cpu_costs import MOST_REDUCED_INPUTS, MOST_REDUCTION_OPS, MOST_REDUCTIONS, MOST_REDUCTIONS_TRIED
from tilewright.support.records import dataclass
from tilewright.transforms.linalg.hoisting import Hoisting
from tilewright.transforms.linalg.loads import Disjointness
from tilewright.transforms.linalg.sibling_loops import captured, value_key
from tilewright.transforms.linalg.structured import loop_extents

Reduction = linalg.GenericOp | linalg.ReduceOp


@register_pass
class LinalgMergeReductionsPass(Pass):
    """Merges reductions of the same tile to scalars into one generic with several results.

    ```mlir
    %sum = linalg.generic {cmpf, select, addf} ins(%x : tensor<64xf32>) outs(%zero) -> tensor<f32>
    %s = tensor.extract %sum[] : tensor<f32>
    %most = linalg.reduce {maxnumf} ins(%x : tensor<64xf32>) outs(%nan) -> tensor<f32>
    // becomes
    %sum, %most = linalg.generic {cmpf, select, addf, maxnumf} ins(%x : tensor<64xf32>) outs(%zero, %nan)
      -> tensor<f32>, tensor<f32>
    %s = tensor.extract %sum[] : tensor<f32>
    ```
    The tile is then read once, in one loop with one tail. The second reduction moves up to the first, together with the
    scalar arithmetic and loads that it needs, if everything else it reads is available there. Each must combine with a
    single op that is known to be associative and commutative, and the widest types of both must have the same width.
    """

    name = "linalg-merge-reductions"

    def run(self, module: ModuleOp, context: PassContext) -> None:
        for function in module.ops:
            if not isinstance(function, func.FuncOp) or function.body.blocks.first is None:
                continue
            hoisting = Hoisting(Disjointness(function))
            for op in ops_within(function):
                if not isinstance(op, linalg.StructuredOp):
                    for region in op.regions:
                        for block in region.blocks:
                            _merge_block(block, hoisting)


def _merge_block(block: Block, hoisting: Hoisting) -> None:
    """Merge each reduction of a block into the last one before it that it may join."""
    heads: dict[SSAValue, list[_Candidate]] = {}
    for op in list(block.ops):
        candidate = _Candidate.of(op)
        if candidate is None:
            continue
        near = dict.fromkeys(head for value in candidate.op.inputs for head in reversed(heads.get(value, [])))
        for head in list(near)[:MOST_REDUCTIONS_TRIED]:
            if head.may_take(candidate, hoisting):
                head.take(candidate, hoisting)
                candidate = head
                break
        for value in candidate.op.inputs:
            known = heads.setdefault(value, [])
            if candidate not in known:
                known.append(candidate)


@dataclass(slots=True, eq=False)
class _Candidate:
    """A reduction that may be merged, or what mergers made of some."""

    op: Reduction
    widest: int
    """Bits of the widest type that it computes with, which decides how many lanes a vector has."""

    @classmethod
    def of(cls, op: Operation) -> _Candidate | None:
        """The candidate, if an op reduces tiles of one dimension to scalars from a number, by what is known."""
        if not isinstance(op, linalg.GenericOp | linalg.ReduceOp) or STARTS_AT_FIRST in op.attributes:
            return None
        body, count = op.body.block, len(op.inputs)
        if len(op.results) != 1 or tuple(op.iterators) != ("reduction",) or not is_tensor(op.results[0].type):
            return None
        if any(map_ != AffineMap.identity(1) for map_ in op.maps[:count]) or op.maps[count].results:
            return None
        if not all(is_arithmetic(inner) or isinstance(inner, linalg.IndexOp | linalg.YieldOp) for inner in body.ops):
            return None
        if _start_of(op.outputs[0]) is None or combiner_of(body, 0) is None:
            return None
        values = (*body.args, *(result for inner in body.ops for result in inner.results))
        return cls(op, max(bit_width(value.type) for value in values if not isinstance(value.type, IndexType)))

    def may_take(self, other: _Candidate, hoisting: Hoisting) -> bool:
        """Return whether another one, further down the block, may become a part of this."""
        head, op = self.op, other.op
        inputs = {*head.inputs, *op.inputs}
        length = sum(len(list(reduction.body.block.ops)) for reduction in (head, op))
        if self.widest != other.widest or loop_extents(head) != loop_extents(op):
            return False
        if len(inputs) > MOST_REDUCED_INPUTS or len(head.results) >= MOST_REDUCTIONS or length > MOST_REDUCTION_OPS:
            return False
        insert = _start_of(op.outputs[0])
        assert insert is not None
        read = (insert.scalar, *op.inputs, *captured(op))
        return all(hoisting.is_possible(value, head) for value in read)

    def take(self, other: _Candidate, hoisting: Hoisting) -> None:
        """Merge another one into this, at the position of this."""
        head, op = self.op, other.op
        insert = _start_of(op.outputs[0])
        assert insert is not None
        for value in (insert.scalar, *op.inputs, *captured(op)):
            hoisting.perform(value, head)
        parent = head.parent_block()
        assert parent is not None
        for start in (insert.dest.owner, insert):
            assert isinstance(start, Operation)
            if not hoisting.is_known_at(start.results[0], head):
                start.detach()
                parent.insert_op_before(start, head)
                hoisting.order.of_block(parent).forget(start)
        self.op = _merged(head, op)


def _start_of(value: SSAValue) -> tensor.InsertOp | None:
    """The op that inserts a scalar into a fresh 0-d tensor, which nothing else reads."""
    insert = value.owner
    if not isinstance(insert, tensor.InsertOp) or value.uses.get_length() != 1 or insert.indices:
        return None
    fresh = insert.dest.owner
    is_fresh = isinstance(fresh, bufferization.AllocTensorOp | tensor.EmptyOp) and not fresh.operands
    return insert if is_fresh and insert.dest.uses.get_length() == 1 else None


def _merged(head: Reduction, op: Reduction) -> linalg.GenericOp:
    """The generic that does the work of both, where the first one stands."""
    inputs = list(dict.fromkeys((*head.inputs, *op.inputs)))
    outputs, results = (*head.outputs, *op.outputs), (*head.results, *op.results)
    block = Block(arg_types=[element_type(value.type) for value in (*inputs, *outputs)])
    argument_of = dict(zip(inputs, block.args, strict=False))
    accumulators = list(block.args[len(inputs) :])
    computed: dict[object, Operation] = {}
    yielded: list[SSAValue] = []
    for part in (head, op):
        body, count = part.body.block, len(part.inputs)
        for argument, value in zip(body.args, part.inputs, strict=False):
            argument.replace_all_uses_with(argument_of[value])
        for argument in body.args[count:]:
            argument.replace_all_uses_with(accumulators.pop(0))
        for inner in list(body.ops):
            if isinstance(inner, linalg.YieldOp):
                yielded += inner.operands
            else:
                _move(inner, block, computed)
    block.add_op(linalg.YieldOp.create(operands=yielded))
    maps = [AffineMap.identity(1)] * len(inputs) + [AffineMap(1, 0, ())] * len(outputs)
    new = linalg.GenericOp.create(
        operands=[*inputs, *outputs],
        result_types=[result.type for result in results],
        properties={
            "indexing_maps": ArrayAttr(AffineMapAttr(map_) for map_ in maps),
            "iterator_types": ArrayAttr([linalg.REDUCTION]),
            "operandSegmentSizes": segment_sizes(len(inputs), len(outputs)),
        },
        regions=[Region(block)],
    )
    new.location = head.location
    parent = head.parent_block()
    assert parent is not None
    parent.insert_op_before(new, head)
    for old, result in zip(results, new.results, strict=True):
        old.replace_all_uses_with(result)
    for old in (op, head):
        old.detach()
        old.erase(safe_erase=False)
    return new


def _move(op: Operation, block: Block, computed: dict[object, Operation]) -> None:
    """Move an op to the end of a body, or use the one there that computes the same."""
    found = computed.setdefault(value_key(op), op)
    op.detach()
    if found is op:
        block.add_op(op)
        return
    for old, new in zip(op.results, found.results, strict=True):
        old.replace_all_uses_with(new)
    op.erase()
