"""The pass `linalg-form-exchange-networks`."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, Region, SSAValue

from tilewright.dialects import linalg, linalg_ext
from tilewright.ir.passes import Pass, PassContext, register_pass
from tilewright.ir.walking import ops_within
from tilewright.lowering.linalg_to_loops.networks.plan import RESHAPES, Network, find_networks


@register_pass
class LinalgFormExchangeNetworksPass(Pass):
    """Chains of steps that combine elements whose indices differ in one bit become one op, which runs in registers.

    ```mlir
    %p = tensor.expand_shape %x : tensor<1024xf32> into tensor<256x2x2xf32>
    %r = linalg.generic ins(%p) { xori } -> tensor<256x2xi32>
    %y = linalg.generic ins(%p, %r) { xori, cmpf, select } -> tensor<256x2x2xf32>
    ...
    use of %z
    // becomes
    %p = tensor.expand_shape %x : tensor<1024xf32> into tensor<256x2x2xf32>
    %z = linalg_ext.exchange_network {
      %r = linalg.generic ins(%p) { xori } -> tensor<256x2xi32>
      %y = linalg.generic ins(%p, %r) { xori, cmpf, select } -> tensor<256x2x2xf32>
      ...
      linalg.yield %z : tensor<256x2x2xf32>
    } -> tensor<256x2x2xf32>
    ```
    The op stands where the last step stood. Extents are powers of two; a chain has at least two steps that reduce
    pairs, one of which reads what became of the other; what stands between its steps writes no memory and reads none of
    their results.
    """

    name = "linalg-form-exchange-networks"

    def run(self, module: ModuleOp, context: PassContext) -> None:
        owners = [op for op in ops_within(module) if not isinstance(op, linalg.StructuredOp)]
        for block in [block for op in owners for region in op.regions for block in region.blocks]:
            for network in find_networks(block):
                form_op(network)


def form_op(network: Network) -> None:
    """Put the ops of a network into one; reshapes that others read follow it."""
    last = network.ops[-1]
    parent, inside = last.parent_block(), set(network.ops)
    assert parent is not None
    for op in reversed(network.ops):
        if isinstance(op, RESHAPES) and _is_read_outside(op.results[0], inside):
            copy = op.clone()
            parent.insert_op_after(copy, last)
            op.results[0].replace_uses_with_if(copy.results[0], lambda use: use.operation not in inside)
    read = [value for op in network.ops for value in op.results if _is_read_outside(value, inside)]
    body = Block()
    new = linalg_ext.ExchangeNetworkOp(Region(body), [value.type for value in read])
    new.location = last.location
    parent.insert_op_before(new, last)
    for value, result in zip(read, new.results, strict=True):
        value.replace_uses_with_if(result, lambda use: use.operation not in inside)
    for op in network.ops:
        op.detach()
        body.add_op(op)
    body.add_op(linalg.YieldOp(*read))


def _is_read_outside(value: SSAValue, inside: set[Operation]) -> bool:
    return any(use.operation not in inside for use in value.uses)
