"""The pass `linalg-choose-unrolling`."""

from __future__ import annotations

from xdsl.dialects.builtin import IndexType, IntegerAttr, ModuleOp

from tilewright.dialects import linalg
from tilewright.dialects.attributes import UNROLL
from tilewright.ir.passes import Pass, PassContext, register_pass
from tilewright.ir.walking import find_ops
from tilewright.support.cpu_costs import FOLDED_BODY, LIGHT_BODY, MOST_ACCUMULATORS
from tilewright.transforms.linalg.body_cost import vector_cost
from tilewright.transforms.linalg.structured import joint_combination, reduced_results

_BY_MICROKERNELS = (linalg.MatmulOp, linalg.BatchMatmulOp)
_NESTS = tuple(op for op in linalg.STRUCTURED if op not in _BY_MICROKERNELS)


@register_pass
class LinalgChooseUnrollingPass(Pass):
    """Chooses how many vectors a reduction takes at a time, each with an accumulator of its own.

    ```mlir
    %sum = linalg.generic ... iterator_types = ["reduction"] ins(%t) { arith.addf } -> tensor<f32>
    // becomes
    %sum = linalg.generic ... ins(%t) attrs = {tilewright.unroll = 4 : index} { arith.addf } -> tensor<f32>
    ```
    One accumulator would make each step wait for the one before. Bodies that compute longer than that latency are
    left alone, and several results are several accumulators already. `linalg-to-loops` carries out the attribute, also
    one that was written by hand, as far as the loop has so many vectors.
    """

    name = "linalg-choose-unrolling"

    def run(self, module: ModuleOp, context: PassContext) -> None:
        for op in find_ops(module, *_NESTS):
            if UNROLL not in op.attributes and (count := choose_unrolling(op)) > 1:
                op.attributes[UNROLL] = IntegerAttr(count, IndexType())


def choose_unrolling(op: linalg.StructuredOp) -> int:
    """Return how many vectors a loop takes at a time: several where a reduction would wait for one of them."""
    chains = len(reduced_results(op))  # which do not wait for one another
    if not chains:
        return 1
    cost = sum(map(vector_cost, op.body.block.ops))
    if joint_combination(op) is not None:
        return MOST_ACCUMULATORS if cost <= FOLDED_BODY else 1
    return max(1, MOST_ACCUMULATORS // chains) if cost <= LIGHT_BODY * chains else 1
