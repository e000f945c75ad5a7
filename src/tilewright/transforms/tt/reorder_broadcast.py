"""`triton-reorder-broadcast`: element-wise work is done before tensors are made larger."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.ir import Attribute, Operation, OpResult, SSAValue

from tilewright.dialects import tt
from tilewright.dialects.arith import constant_attr, is_splat, materialize_constant
from tilewright.dialects.traits import is_elementwise_class
from tilewright.dialects.tt.folds import AnyDense, is_dense, resplat, scalar_of_splat
from tilewright.dialects.tt.types import is_tensor, tensor_type
from tilewright.dialects.types import element_type
from tilewright.ir.effects import is_memory_free
from tilewright.ir.folding import fold_of
from tilewright.ir.passes import Pass, PassContext, register_pass
from tilewright.ir.rules import RewriteRule, RuleRewriter, op_type_rewrite_pattern, op_types_of
from tilewright.ir.walking import is_subclass
from tilewright.transforms.common.greedy import Entry, GreedyRewriter, is_commutative


def is_elementwise(op: Operation) -> bool:
    """Return whether an op computes each element of its only result from the elements there of its operands."""
    return bool(op.operands) and len(op.results) == 1 and is_elementwise_class(type(op)) and is_memory_free(op)


def _splat_constant(value: SSAValue) -> AnyDense | None:
    attribute = constant_attr(value)
    return attribute if is_dense(attribute) and is_splat(attribute) else None


def _source(value: SSAValue, cls: type[tt.SplatOp] | type[tt.BroadcastOp]) -> SSAValue | None:
    return value.op.src if isinstance(value, OpResult) and isinstance(value.op, cls) else None


def _constant(attribute: Attribute, type: Attribute) -> Operation:
    op = materialize_constant(attribute, type)
    assert op is not None
    return op


def _at(op: Operation, operands: Sequence[SSAValue], result_type: Attribute) -> Operation:
    return type(op).create(
        operands=operands, result_types=(result_type,), properties=op.properties, attributes=op.attributes
    )


class MoveSplatAfterElementwise(RewriteRule):
    """f(splat(x), splat(y), ..) = splat(f(x, y, ..)), constants counting as splats. One op on scalars in place of one
    on tensors."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: Operation, rewriter: RuleRewriter, /) -> None:
        if not is_elementwise(op) or not is_tensor(op.results[0].type):
            return
        sources: list[SSAValue | AnyDense] = []
        for operand in op.operands:
            source = self._scalar(operand)
            if source is None:
                return
            sources.append(source)
        if not any(isinstance(source, SSAValue) for source in sources):
            return
        scalars: list[SSAValue] = []
        for operand, source in zip(op.operands, sources, strict=True):
            if isinstance(source, SSAValue):
                scalars.append(source)
            else:
                constant = _constant(scalar_of_splat(source), element_type(operand.type))
                rewriter.insert(constant)
                scalars.append(constant.results[0])
        scalar = _at(op, scalars, element_type(op.results[0].type))
        rewriter.replace(op, [scalar, tt.SplatOp(scalar, op.results[0].type)])

    @staticmethod
    def _scalar(operand: SSAValue) -> SSAValue | AnyDense | None:
        """The scalar that all elements of an operand are, or the constant; None where they may differ."""
        if not is_tensor(operand.type):
            return operand
        splat = _source(operand, tt.SplatOp)
        return splat if splat is not None else _splat_constant(operand)


class MoveBroadcastAfterElementwise(RewriteRule):
    """f(broadcast(x), broadcast(y), splat(z), ..) = broadcast(f(x, y, splat(z), ..)), where all broadcasts start from
    one shape. The op works on the smaller tensor."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: Operation, rewriter: RuleRewriter, /) -> None:
        if not is_elementwise(op) or not is_tensor(op.results[0].type):
            return
        narrow = self._narrow_type(op)
        if narrow is None:
            return
        operands = [self._narrowed(operand, narrow, rewriter) for operand in op.operands]
        type = tensor_type(element_type(op.results[0].type), narrow.get_shape(), narrow.encoding)
        computed = _at(op, operands, type)
        rewriter.replace(op, [computed, tt.BroadcastOp(computed, op.results[0].type)])

    @staticmethod
    def _narrow_type(op: Operation) -> TensorType | None:
        """The type that all broadcast operands start from; None if some operand is neither broadcast nor splat."""
        found: TensorType | None = None
        for operand in op.operands:
            source = _source(operand, tt.BroadcastOp)
            if source is not None:
                assert is_tensor(source.type)
                if found is not None and found.get_shape() != source.type.get_shape():
                    return None
                found = source.type
            elif is_tensor(operand.type) and _source(operand, tt.SplatOp) is None and _splat_constant(operand) is None:
                return None
        return found

    @staticmethod
    def _narrowed(operand: SSAValue, narrow: TensorType, rewriter: RuleRewriter) -> SSAValue:
        source = _source(operand, tt.BroadcastOp)
        if source is not None or not is_tensor(operand.type):
            return operand if source is None else source
        type = tensor_type(operand.type.element_type, narrow.get_shape(), narrow.encoding)
        splat = _source(operand, tt.SplatOp)
        if splat is not None:
            op: Operation = tt.SplatOp(splat, type)
        else:
            constant = _splat_constant(operand)
            assert constant is not None
            op = _constant(resplat(constant, type), type)
        rewriter.insert(op)
        return op.results[0]


@cache
def reorder_entry(cls: type[Operation]) -> Entry:
    """The fold of an op class, and the rules of the pass with the canonicalizations of views that let them meet."""
    rules: list[RewriteRule] = []
    if is_elementwise_class(cls):
        rules += (MoveSplatAfterElementwise(), MoveBroadcastAfterElementwise())
    of_views = (rule for view in (tt.BroadcastOp, tt.ExpandDimsOp) for rule in view.get_canonicalization_patterns())
    rules += (rule for rule in of_views if is_subclass(cls, op_types_of(rule)))
    return Entry(fold_of(cls), tuple(rules), is_commutative(cls))


@register_pass
class ReorderBroadcastPass(Pass):
    """Moves splats and broadcasts after element-wise ops.

    Before:
    ```mlir
    %0 = tt.broadcast %x : tensor<32x1xf32> -> tensor<32x64xf32>
    %1 = tt.splat %y : f32 -> tensor<32x64xf32>
    %2 = arith.mulf %0, %1 : tensor<32x64xf32>
    ```
    After:
    ```mlir
    %0 = tt.splat %y : f32 -> tensor<32x1xf32>
    %1 = arith.mulf %x, %0 : tensor<32x1xf32>
    %2 = tt.broadcast %1 : tensor<32x1xf32> -> tensor<32x64xf32>
    ```
    """

    name = "triton-reorder-broadcast"

    def run(self, module: ModuleOp, context: PassContext) -> None:
        GreedyRewriter(module, reorder_entry, pass_name=self.name).run()
