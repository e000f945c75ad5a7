"""Traits that xDSL lacks: what generic passes ask of an op, of whichever dialect."""

from __future__ import annotations

from functools import cache

from xdsl.ir import Operation
from xdsl.traits import OpTrait


class Elementwise(OpTrait):
    """Each element of the results follows from the elements of the operands at its index (Triton's trait).

    The op keeps shapes and layouts, may move past splats and broadcasts, and gives equal results for equal operands.
    """


class ElementwiseMappable(Elementwise):
    """The op works on scalars, and on vectors and tensors of one shape element by element (MLIR's trait group of that
    name).

    Such an op on tensors may be wrapped into a ``linalg.generic`` of the same op on scalars.
    """


@cache
def is_elementwise_class(cls: type[Operation]) -> bool:
    """Return whether ops of a class act on each element by itself; of an unregistered op nothing is known."""
    return cls.has_trait(Elementwise, value_if_unregistered=False)
