"""`tt.reduce` with any combine function.

Three forms, from special to general:

- one known op: start from its neutral element (`lower_known`); sums of 16-bit floats are accumulated in f32 at every
  rank;
- functions that choose between elements, argmin and argmax among them: start from the first element and reduce them
  all, the first once more, which changes nothing (`lower_choice`);
- anything else: start from the first element and reduce the others (`lower_general`).

The last two need no neutral element, so there is none to get wrong: rows of NaN, of infinities, of equal values give
what the combine function gives.

As triton-shared does, an axis other than the first is moved to the front by a transpose, unless
``transpose-reduce-to-rank0=false``.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import BFloat16Type, Float16Type, UnitAttr, f32
from xdsl.ir import Operation, SSAValue

from tilewright.analysis.selections import STARTS_AT_FIRST
from tilewright.dialects import arith, bufferization, linalg, tt
from tilewright.lowering.arith_to_linalg.combine import Combine, combine_of, neutral_element
from tilewright.lowering.arith_to_linalg.lowering import LoweringContext, NotLowered, lowers
from tilewright.lowering.arith_to_linalg.shapes import emit_transpose
from tilewright.lowering.fp8 import is_float8
from tilewright.lowering.scalar_builder import Body
from tilewright.lowering.tensor_builder import TensorBuilder, element_of, shape_of, tensor_of


@lowers(tt.ReduceOp)
def lower_reduce(op: tt.ReduceOp, f: LoweringContext) -> Sequence[SSAValue]:
    """
    ```mlir
    %m = "tt.reduce"(%x) <{axis = 1 : i32}> ({
    ^bb0(%a: f32, %b: f32):
      %s = arith.maxnumf %a, %b : f32
      tt.reduce.return %s : f32
    }) : (tensor<4x8xf32>) -> tensor<4xf32>
    // becomes
    %t = linalg.transpose ins(%x : tensor<4x8xf32>) outs(%e : tensor<8x4xf32>) permutation = [1, 0]
    %i = linalg.fill ins(%ninf : f32) outs(%e1 : tensor<4xf32>) -> tensor<4xf32>
    %m = linalg.reduce ins(%t : tensor<8x4xf32>) outs(%i : tensor<4xf32>) dimensions = [0]
      (%in: f32, %init: f32) { %s = arith.maxnumf %in, %init : f32  linalg.yield %s : f32 }
    ```
    """
    combine, axis = combine_of(op), op.axis.value.data
    sources = list(op.operands)
    if not 0 <= axis < len(shape_of(sources[0])):
        raise NotLowered(f"axis {axis} of {sources[0].type}")
    if axis and f.options.transpose_reduce_to_rank0:
        order = (axis, *(dim for dim in range(len(shape_of(sources[0]))) if dim != axis))
        sources, axis = [emit_transpose(f.b, source, order) for source in sources], 0
    known = combine.find_single_op()
    if known is not None:
        neutral = neutral_element(known, element_of(sources[0]))
        if neutral is not None and not is_float8(element_of(sources[0])):
            return (lower_known(f.b, known, neutral, sources[0], axis),)
    # Two elements are one step, which networks of exchanges look at by themselves.
    if combine.chooses() and shape_of(sources[0])[axis] > 2:
        return lower_choice(f.b, combine, sources, axis)
    return lower_general(f.b, combine, sources, axis)


def _without(shape: Sequence[int], axis: int) -> tuple[int, ...]:
    return (*shape[:axis], *shape[axis + 1 :])


def lower_known(b: TensorBuilder, cls: type[Operation], neutral: float, source: SSAValue, axis: int) -> SSAValue:
    """One op with a neutral element; the accumulator of a 16-bit sum is f32, rounded once at the end."""
    element, shape = element_of(source), _without(shape_of(source), axis)
    widens = cls is arith.AddfOp and isinstance(element, Float16Type | BFloat16Type)
    accumulated = f32 if widens else element
    start = b.float(neutral, accumulated) if isinstance(neutral, float) else b.int(neutral, accumulated)
    kind = tensor_of(accumulated, *shape)
    if shape:
        init = b.splat(start, kind)
    else:
        init = b.insert_lane(start, b.result(bufferization.AllocTensorOp(result_type=kind)))

    def body(lanes: Sequence[SSAValue]) -> Sequence[SSAValue]:
        lane = b.cast(arith.ExtFOp, lanes[0], accumulated) if widens else lanes[0]
        return (b.emit(cls, lane, lanes[1]),)

    (result,) = emit_reduce(b, [source], [init], axis, body)
    if not shape:
        return b.cast(arith.TruncFOp, b.extract(result), element) if widens else b.extract(result)
    if not widens:
        return result
    (narrow,) = b.elementwise(
        [result], [tensor_of(element, *shape)], lambda lanes: (b.cast(arith.TruncFOp, lanes[0], element),)
    )
    return narrow


def lower_choice(b: TensorBuilder, combine: Combine, sources: Sequence[SSAValue], axis: int) -> Sequence[SSAValue]:
    """A combine function that gives one of two elements: all are reduced into the first slice along the axis."""
    count = len(sources)
    starts = [_first_slice(b, source, axis) for source in sources]
    op = _reduce_op(b, sources, starts, axis, lambda lanes: combine.inline(b, lanes[count:], lanes[:count]))
    op.attributes[STARTS_AT_FIRST] = UnitAttr()
    results = b.insert(op).results
    return results if len(shape_of(sources[0])) > 1 else [b.extract(result) for result in results]


def lower_general(b: TensorBuilder, combine: Combine, sources: Sequence[SSAValue], axis: int) -> Sequence[SSAValue]:
    """Any combine function: the first slice along the axis is the start, the others are reduced into it in order."""
    shape = shape_of(sources[0])
    rest = _without(shape, axis)
    results = [_first_slice(b, source, axis) for source in sources]
    if shape[axis] > 1:
        offsets = [int(dim == axis) for dim in range(len(shape))]
        sizes = [extent - int(dim == axis) for dim, extent in enumerate(shape)]
        others = [b.extract_slice(source, offsets, sizes) for source in sources]
        count = len(sources)
        results = emit_reduce(b, others, results, axis, lambda lanes: combine.inline(b, lanes[count:], lanes[:count]))
    return results if rest else [b.extract(result) for result in results]


def _first_slice(b: TensorBuilder, source: SSAValue, axis: int) -> SSAValue:
    """Element 0 along an axis, without that axis."""
    shape = shape_of(source)
    if len(shape) == 1:
        first = b.extract(source, [0])
        return b.insert_lane(first, b.empty(tensor_of(element_of(source))))
    sizes = [1 if dim == axis else extent for dim, extent in enumerate(shape)]
    kind = tensor_of(element_of(source), *_without(shape, axis))
    return b.extract_slice(source, [0] * len(shape), sizes, result_type=kind)


def emit_reduce(
    b: TensorBuilder, sources: Sequence[SSAValue], inits: Sequence[SSAValue], axis: int, body: Body
) -> Sequence[SSAValue]:
    """``linalg.reduce``; the body gets the elements, then the accumulators."""
    return b.insert(_reduce_op(b, sources, inits, axis, body)).results


def _reduce_op(
    b: TensorBuilder, sources: Sequence[SSAValue], inits: Sequence[SSAValue], axis: int, body: Body
) -> linalg.ReduceOp:
    return linalg.ReduceOp(sources, inits, (axis,), b.region(linalg.ReduceOp.body_block(sources, inits), body))
