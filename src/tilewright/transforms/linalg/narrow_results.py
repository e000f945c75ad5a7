"""The pass `linalg-narrow-results`."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from tilewright.dialects import arith, linalg, tensor
from tilewright.dialects.types import element_type, is_tensor
from tilewright.ir.passes import Pass, PassContext, register_pass
from tilewright.ir.walking import find_ops
from tilewright.transforms.linalg.structured import access_of, is_elementwise


@register_pass
class LinalgNarrowResultsPass(Pass):
    """Narrows results where they are computed if they are read only to be narrowed, so that they never exist at full
    width.

    ```mlir
    %p, %sum = linalg.generic {exp, addf; linalg.yield %exp, %next} -> tensor<8x64xf32>, tensor<8xf32>
    %q = linalg.generic {truncf} ins(%p) -> tensor<8x64xbf16>
    // becomes
    %q, %sum = linalg.generic {exp, addf, truncf; linalg.yield %narrow, %next} -> tensor<8x64xbf16>, tensor<8xf32>
    ```
    Fusion does not do this if the producer also has a reduction, because it only moves producers into consumers.
    """

    name = "linalg-narrow-results"

    def run(self, module: ModuleOp, context: PassContext) -> None:
        for op in find_ops(module, linalg.GenericOp):
            if len(op.results) == 1:
                merge_into_producer(op)


def merge_into_producer(cast: linalg.GenericOp) -> None:
    """Replace a generic that does nothing but narrow the result of one before it, if nothing else reads that."""
    conversion = find_cast(cast)
    if conversion is None:
        return
    value = cast.inputs[0]
    producer = value.owner
    if not isinstance(producer, linalg.GenericOp) or value.uses.get_length() != 1:
        return
    if producer.parent_block() is not cast.parent_block():
        return
    position = len(producer.inputs) + list[SSAValue](producer.results).index(value)
    if producer.body.block.args[position].uses.get_length():
        return
    if len(set(access_of(producer.maps[position]))) != len(producer.iterators):
        # Elements are made several times, or in a reduction.
        return
    _narrow(producer, position, conversion, cast.results[0])
    cast.detach()
    cast.erase()


def find_cast(op: linalg.GenericOp) -> arith.TruncFOp | arith.TruncIOp | None:
    """The cast that is all that a generic does to each element of its only input, in place."""
    block = op.body.block
    first = block.first_op
    if len(op.inputs) != 1 or not isinstance(first, arith.TruncFOp | arith.TruncIOp) or not is_elementwise(op):
        return None
    end = first.next_op
    if not isinstance(end, linalg.YieldOp) or end.operands[0] is not first.results[0]:
        return None
    if first.operands[0] is not block.args[0] or access_of(op.maps[0]) != access_of(op.maps[1]):
        return None
    return first


def _narrow(
    producer: linalg.GenericOp, position: int, conversion: arith.TruncFOp | arith.TruncIOp, narrow: SSAValue
) -> None:
    """Write the producer anew, with the narrow value in place of its output at an operand position."""
    index = position - len(producer.inputs)
    parent, block = producer.parent_block(), producer.body.block
    end = block.last_op
    assert parent is not None and end is not None and is_tensor(narrow.type)
    copy = type(conversion).create(
        operands=[end.operands[index]],
        result_types=[conversion.results[0].type],
        properties=dict(conversion.properties),
        attributes=dict(conversion.attributes),
    )
    copy.location = conversion.location
    block.insert_op_before(copy, end)
    end.operands = [*end.operands[:index], copy.results[0], *end.operands[index + 1 :]]
    block.erase_arg(block.args[position])
    block.insert_arg(element_type(narrow.type), position)
    empty = tensor.EmptyOp.create(result_types=[narrow.type])
    empty.location = producer.location
    parent.insert_op_before(empty, producer)
    operands, types = list(producer.operands), [result.type for result in producer.results]
    operands[position], types[index] = empty.results[0], narrow.type
    new = linalg.GenericOp.create(
        operands=operands,
        result_types=types,
        properties=dict(producer.properties),
        attributes=dict(producer.attributes),
        regions=[producer.detach_region(producer.body)],
    )
    new.location = producer.location
    parent.insert_op_before(new, producer)
    for other, (old, result) in enumerate(zip(producer.results, new.results, strict=True)):
        if other != index:
            old.replace_all_uses_with(result)
    narrow.replace_all_uses_with(new.results[index])
    producer.detach()
    producer.erase(safe_erase=False)
