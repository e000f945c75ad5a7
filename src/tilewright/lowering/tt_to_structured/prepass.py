"""The prepass of triton-shared: pointers and index tensors that control flow carries take offsets and strides along.

```mlir
%r = scf.for %i = %lb to %ub step %s iter_args(%p = %init) -> (tensor<4x!tt.ptr<f32>>) {
  scf.yield %next
}
```
becomes
```mlir
%p0, %o0, %s0 = "tts.get_structured_state"(%init)
%r:3 = scf.for ... iter_args(%p = %p0, %o = %o0, %s = %s0) -> (tensor<4x!tt.ptr<f32>>, index, index) {
  %p1, %o1, %s1 = "tts.get_structured_state"(%next)
  scf.yield %p1, %o1, %s1
}
```
Our analysis needs none of this: it finds out by itself which numbers a loop has to carry. The prepass is here for
those who look at its output, or feed it to passes of their own; `remove_placeholders` takes it back.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Attribute, Block, Operation, OpResult, SSAValue, SSAValues

from tilewright.dialects import scf, tts
from tilewright.dialects.types import INDEX
from tilewright.ir.walking import find_ops, ops_within

Widths = list[Sequence[Attribute]]
"""For each carried value, the types of the numbers that go with it."""


def run_prepass(function: Operation) -> None:
    """Widens what loops and conditionals of a function carry."""
    for op in ops_within(function):
        match op:
            case scf.ForOp():
                widths = _widths(op.results.types)
                _widen_operands(op, 3, widths)
                _widen_arguments(op.regions[0].block, 1, widths)
                _widen_operands(_last(op.regions[0].block), 0, widths)
                _widen_results(op, widths)
            case scf.IfOp() if op.results:
                widths = _widths(op.results.types)
                for region in op.regions:
                    _widen_operands(_last(region.block), 0, widths)
                _widen_results(op, widths)
            case scf.WhileOp():
                before, after = op.regions[0].block, op.regions[1].block
                widths = _widths([argument.type for argument in before.args])
                _widen_operands(op, 0, widths)
                _widen_arguments(before, 0, widths)
                _widen_operands(_last(after), 0, widths)
                widths = _widths([argument.type for argument in after.args])
                _widen_operands(_last(before), 1, widths)
                _widen_arguments(after, 0, widths)
                _widen_results(op, widths)
            case _:
                pass


def remove_placeholders(function: Operation) -> bool:
    """Lets every user of a placeholder see the value itself; returns whether there were any placeholders."""
    placeholders = find_ops(function, tts.GetStructuredStateOp)
    for op in placeholders:
        op.structured.replace_all_uses_with(op.input)
    return bool(placeholders)


def _widths(types: Sequence[Attribute]) -> Widths:
    return [[INDEX] * sum(_counts(type)) for type in types]


def _counts(type: Attribute) -> tuple[int, int]:
    try:
        return tts.GetStructuredStateOp.counts(type)
    except ValueError:
        return 0, 0


def _last(block: Block) -> Operation:
    assert block.last_op is not None
    return block.last_op


def _widen_operands(op: Operation, first: int, widths: Widths) -> None:
    """Replaces each operand from `first` on by the results of its placeholder, made before the op."""
    operands: list[SSAValue] = list(op.operands[:first])
    for operand, width in zip(op.operands[first:], widths, strict=True):
        if not width:
            operands.append(operand)
            continue
        placeholder = tts.GetStructuredStateOp(operand)
        placeholder.location = op.location
        assert op.parent is not None
        op.parent.insert_op_before(placeholder, op)
        operands.extend(placeholder.results)
    op.operands = operands


def _widen_arguments(block: Block, first: int, widths: Widths) -> None:
    position = first
    for width in widths:
        for index, type in enumerate(width):
            block.insert_arg(type, position + 1 + index)
        position += 1 + len(width)


def _widen_results(op: Operation, widths: Widths) -> None:
    results: list[OpResult] = []
    for result, width in zip(op.results, widths, strict=True):
        results.append(result)
        results.extend(OpResult(type, op, 0) for type in width)
    for index, result in enumerate(results):
        result.index = index
    op.results = SSAValues(results)
