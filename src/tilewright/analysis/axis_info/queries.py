"""The facts of a module, and what they mean for accesses."""

from __future__ import annotations

from functools import lru_cache

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, SSAValue

from tilewright.analysis.axis_info import elementwise, lattice
from tilewright.analysis.axis_info.lattice import AxisInfo, pointee_bytes
from tilewright.analysis.axis_info.solver import Solver
from tilewright.analysis.call_graph import CallGraph, call_graph_of
from tilewright.dialects.ttg.encodings import DistributedEncoding
from tilewright.dialects.types import is_tensor
from tilewright.layouts.distributed import REGISTER

RULES = elementwise.RULES
LARGEST_ACCESS_BITS = 128
"""Bits that one thread moves with one instruction."""


class ModuleAxisInfo:
    """The facts about all values of a module."""

    def __init__(self, module: ModuleOp, graph: CallGraph | None = None) -> None:
        self._infos = Solver(call_graph_of(module) if graph is None else graph).infos

    def of(self, value: SSAValue) -> AxisInfo:
        """The facts about a value; nothing is known of what cannot be reached."""
        info = self._infos.get(value)
        return lattice.unknown(value.type) if info is None else info

    def pointer_alignment(self, value: SSAValue) -> int:
        """Return how many elements from each multiple of that number on lie side by side, at an address that is a
        multiple of their size; along the dimension that the layout of the tensor of pointers deals first.
        """
        if not is_tensor(value.type):
            return 1
        dim = fastest_dimension(value.type)
        info, unit = self.of(value), pointee_bytes(value.type)
        return max(1, min(info.divisibility[dim] // unit, info.contiguity[dim]))

    def pointer_contiguity(self, value: SSAValue) -> int:
        """Return how many elements one access of a thread may cover: what is aligned, what the layout gives a thread
        side by side, and no more than 128 bits.
        """
        widest = max(1, LARGEST_ACCESS_BITS // (8 * pointee_bytes(value.type)))
        return min(self.pointer_alignment(value), elements_per_thread(value.type), widest)

    def mask_alignment(self, value: SSAValue) -> int:
        """Return how many elements from each multiple of that number on have one mask, along the first dimension of the
        layout."""
        if not is_tensor(value.type):
            return 1
        return max(1, self.of(value).constancy[fastest_dimension(value.type)])


def _register_bases(type: Attribute) -> tuple[tuple[int, ...], ...]:
    assert is_tensor(type)
    encoding = type.encoding
    if not isinstance(encoding, DistributedEncoding):
        return ()
    return encoding.to_linear(type.get_shape()).bases_of(REGISTER)


@lru_cache(maxsize=4096)
def fastest_dimension(type: Attribute) -> int:
    """The dimension along which the layout of a tensor places neighbouring registers, else neighbouring lanes; the
    last one where nothing is said."""
    assert is_tensor(type)
    encoding, shape = type.encoding, type.get_shape()
    if not isinstance(encoding, DistributedEncoding):
        return len(shape) - 1
    linear = encoding.to_linear(shape)
    for name in linear.in_dims:
        for basis in linear.bases_of(name):
            if sum(basis) == 1:
                return basis.index(1)
    return len(shape) - 1


@lru_cache(maxsize=4096)
def elements_per_thread(type: Attribute) -> int:
    """Return how many elements side by side a thread has got in neighbouring registers; 1 of a scalar."""
    if not is_tensor(type):
        return 1
    dim = fastest_dimension(type)
    count = 1
    for basis in _register_bases(type):
        if basis[dim] != count or sum(basis) != count:
            break
        count *= 2
    return count
