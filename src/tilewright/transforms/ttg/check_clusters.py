"""`tritongpu-check-clusters`: programs of several CTAs exchange nothing between them."""

from __future__ import annotations

from xdsl.dialects.builtin import IntegerAttr, ModuleOp, TensorType
from xdsl.ir import Attribute, Operation

from tilewright.dialects import tt, ttg
from tilewright.dialects.ttg.types import MemDescType
from tilewright.dialects.types import is_tensor
from tilewright.ir.diagnostics import op_error
from tilewright.ir.passes import Pass, PassContext, register_pass
from tilewright.ir.walking import ops_within
from tilewright.layouts.distributed import BLOCK, dim_names
from tilewright.layouts.linear import LinearLayout

NUM_CTAS = "ttg.num-ctas"


@register_pass
class CheckClustersPass(Pass):
    """In programs with several CTAs, rejects ops that would need elements of another CTA.

    ```mlir
    module attributes {"ttg.num-ctas" = 2 : i32} {
      tt.func @k(%x: tensor<64xf32, #split>) {
        %s = "tt.reduce"(%x) <{axis = 0 : i32}> ...   // error: combines elements that lie in several CTAs, ...
    ```
    A program with `num_ctas` above 1 runs on a cluster of CTAs, each with its part of every tensor, as the layouts
    say. What is computed element by element runs so, and what a CTA finds within its own part: loads, stores,
    reductions and conversions that leave a CTA's elements to it. Elements never travel from CTA to CTA.
    """

    name = "tritongpu-check-clusters"

    def run(self, module: ModuleOp, context: PassContext) -> None:
        count = module.attributes.get(NUM_CTAS)
        if not isinstance(count, IntegerAttr) or count.value.data == 1:
            return
        for op in ops_within(module):
            reason = find_exchange(op)
            if reason is not None:
                advice = f"which num_ctas={count.value.data} does not allow: leave num_ctas at 1"
                raise op_error(op, f"{reason}, {advice}", pass_name=self.name)


def find_exchange(op: Operation) -> str | None:
    """Return what an op does with elements of several CTAs; None if it needs none but its CTA's own."""
    match op:
        case tt.ReduceOp() | tt.ScanOp():
            split = any(_is_split(operand.type, op.axis.value.data) for operand in op.operands)
            return "combines elements that lie in several CTAs" if split else None
        case ttg.ConvertLayoutOp():
            moves = _parts(op.src.type) != _parts(op.result.type) and not _is_everywhere(op.src.type)
            return "moves elements from CTA to CTA" if moves else None
        case _ if isinstance(op, tt.ATOMICS) and not is_tensor(op.ptr.type):
            return "is done once, by one CTA, and its result is everybody's"
        case tt.DotOp() | tt.DotScaledOp() | tt.GatherOp() | tt.HistogramOp() | ttg.WarpSpecializeOp():
            return "reads elements of several CTAs"
        case _ if any(isinstance(value.type, MemDescType) for value in (*op.operands, *op.results)):
            return "uses shared memory of several CTAs"
        case _:
            return None


def _layout(type: Attribute) -> LinearLayout:
    assert isinstance(type, TensorType)
    return ttg.layout_of(type.encoding).to_linear(type.get_shape())


def _is_split(type: Attribute, axis: int) -> bool:
    """Return whether CTAs have different parts along an axis."""
    layout = _layout(type)
    name = dim_names(len(layout.out_dims))[axis]
    return any(layout.sublayout([BLOCK], [name]).columns)


def _parts(type: Attribute) -> LinearLayout:
    """Return which part each CTA has."""
    layout = _layout(type)
    return layout.sublayout([BLOCK], layout.out_dims)


def _is_everywhere(type: Attribute) -> bool:
    """Return whether every CTA has all elements."""
    return not any(_parts(type).columns)
