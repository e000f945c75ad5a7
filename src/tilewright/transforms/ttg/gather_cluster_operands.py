"""`tritongpu-gather-cluster-operands`: each CTA gets the elements that it combines."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, Operation, OpResult, SSAValue
from xdsl.rewriter import Rewriter

from tilewright.dialects import tt, ttg
from tilewright.dialects.tt import inference
from tilewright.dialects.ttg.verification import program_shape
from tilewright.dialects.types import as_tensor, is_tensor
from tilewright.ir.builder import OpBuilder
from tilewright.ir.passes import Pass, PassContext, register_pass
from tilewright.ir.walking import ops_within
from tilewright.layouts.distributed import BLOCK, REGISTER, LinearDistributedLayout, dim_names
from tilewright.layouts.linear import LinearLayout
from tilewright.transforms.ttg.layout_inference import with_encoding

Chosen = Callable[[tuple[int, ...]], bool]
"""Whether CTAs that are apart by a vector are to hold the same elements."""


@register_pass
class GatherClusterOperandsPass(Pass):
    """In programs of several CTAs, converts operands so that each CTA has all elements that it combines.

    ```mlir
    #split = #ttg.blocked<{..., CGALayout = [[1]]}>
    %s = "tt.reduce"(%x) <{axis = 0 : i32}> ... : (tensor<256xf32, #split>) -> f32
    // becomes
    #whole = #ttg.linear<{register = [..., [128]], ..., block = [[0]]}>
    %y = ttg.convert_layout %x : tensor<256xf32, #split> -> tensor<256xf32, #whole>
    %s = "tt.reduce"(%y) <{axis = 0 : i32}> ... : (tensor<256xf32, #whole>) -> f32
    ```
    Reductions and scans want all elements along their axis, gathers and histograms all of their source. Every CTA then
    computes the same, and results are converted to the layout that they had, which moves nothing between CTAs.
    """

    name = "tritongpu-gather-cluster-operands"

    def run(self, module: ModuleOp, context: PassContext) -> None:
        shape = program_shape(module)
        if shape is None or shape.blocks == 1:
            return
        for op in list(ops_within(module)):
            _gather_operands(op)


def _gather_operands(op: Operation) -> None:
    match op:
        case tt.ReduceOp() | tt.ScanOp():
            axis = op.axis.value.data
            _convert(op, op.operands, lambda vector: vector[axis] != 0)
        case tt.GatherOp():
            _convert(op, [op.src], any)
        case tt.HistogramOp():
            _convert(op, op.operands, any)
            _convert_result(op, op.result, _together(op.result.type, any))
        case _:
            return


def _convert(op: Operation, operands: Sequence[SSAValue], chosen: Chosen) -> None:
    """Convert some operands of an op, and the results that follow from them."""
    if all(_together(operand.type, chosen) == operand.type for operand in operands):
        return
    builder = OpBuilder.before(op)
    for index, operand in enumerate(op.operands):
        if operand in operands:
            wanted = _together(operand.type, chosen)
            op.operands[index] = builder.result(ttg.ConvertLayoutOp(operand, wanted))
    match op:
        case tt.ReduceOp():
            for source, result in zip(op.srcs, op.result, strict=True):
                _convert_result(op, result, inference.reduce(source.type, op.axis.value.data))
        case tt.ScanOp():
            for source, result in zip(op.operands, op.results, strict=True):
                _convert_result(op, result, source.type)
        case _:
            return


def _convert_result(op: Operation, result: OpResult, wanted: Attribute) -> None:
    """Give a result a type, and its users the one that it had."""
    had = result.type
    if had == wanted or not is_tensor(had):
        return
    users = list(result.uses)
    Rewriter.replace_value_with_new_type(result, wanted)
    converted = OpBuilder.after(op).result(ttg.ConvertLayoutOp(op.results[result.index], had))
    for use in users:
        use.operation.operands[use.index] = converted


def _together(type: Attribute, chosen: Chosen) -> Attribute:
    """The type in whose layout CTAs that were apart by a chosen vector hold the elements of all of them."""
    tensor = as_tensor(type)
    layout = ttg.layout_of(tensor.encoding).to_linear(tensor.get_shape())
    bases = {name: list(layout.bases_of(name)) for name in layout.in_dims}
    moved = [vector for vector in bases[BLOCK] if any(vector) and chosen(vector)]
    if not moved:
        return type
    bases[REGISTER] += moved
    bases[BLOCK] = [tuple(0 for _ in vector) if vector in moved else vector for vector in bases[BLOCK]]
    gathered = LinearLayout.from_bases(bases, dim_names(len(layout.out_dims)), surjective=False)
    return with_encoding(type, ttg.encoding_of(LinearDistributedLayout.of(gathered)))
