"""Traits that xDSL lacks."""

from __future__ import annotations

from xdsl.traits import OpTrait


class ElementwiseMappable(OpTrait):
    """The op works on scalars, and on vectors and tensors of one shape element by element (MLIR's trait group of that
    name).

    Such an op on tensors may be wrapped into a ``linalg.generic`` of the same op on scalars.
    """
