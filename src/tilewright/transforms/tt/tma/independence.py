"""Whether the programs of a kernel may run one after the other, in place of all beside each other.

Triton promises no order of programs, but those that run beside each other may wait for each other (locks, counters in
memory). A kernel whose programs only load, compute and store cannot do that.
"""

from __future__ import annotations

from xdsl.ir import Operation

from tilewright.dialects import scf, tt
from tilewright.dialects.tt.enums import CacheModifier
from tilewright.ir.effects import is_memory_free
from tilewright.ir.walking import ops_within


def find_dependence(function: tt.FuncOp) -> Operation | None:
    """The first op by which a program may wait for another, or tell it something, or that acts on a program as a whole;
    None where there is none.
    """
    for op in ops_within(function.body):
        match op:
            case tt.LoadOp():
                is_plain = not op.is_volatile.value.data and CacheModifier.of(op.cache) is not CacheModifier.CV
            case (
                tt.StoreOp() | tt.DescriptorLoadOp() | tt.DescriptorStoreOp() | tt.DescriptorGatherOp() | tt.ReturnOp()
            ):
                is_plain = True
            case scf.WhileOp() | tt.CallOp() | tt.ElementwiseInlineAsmOp():  # PTX may name the program by itself
                is_plain = False
            case _:
                is_plain = is_memory_free(op) or isinstance(op, scf.ForOp | scf.IfOp | scf.YieldOp)
        if not is_plain:
            return op
    return None


def stores_of(function: tt.FuncOp) -> list[tt.StoreOp]:
    """The stores through pointers."""
    return [op for op in ops_within(function.body) if isinstance(op, tt.StoreOp)]
