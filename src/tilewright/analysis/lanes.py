"""The value of every lane of a tensor of integers or pointers, dimension by dimension.

A `Lanes` state says that lane `(i0, ..., ik)` has the value

    base + uniform + sum over d of affine_d(i_d) + sum over gathers of scale * index[i_dim]

    affine_d(i) = offset_d + i * stride_d                    where the dimension does not wrap
    affine_d(i) = (offset_d + i * stride_d) remsi wrap_d      where it does

`remsi` is the remainder of a truncating division, as `%` in a kernel: for a lane that is not negative it lies in
`[0, wrap_d)`. It commutes with scaling by a factor of any sign, so scaling a wrapped state is exact. What is added
after the remainder stays outside of it, in `uniform`. A scalar is the state without dimensions.

A remainder that something is added to which varies along the same dimension becomes a gather, of the remainder as the
program computes it: sums of remainders, quotients and affine parts have the same state in any order.
"""

from __future__ import annotations

from dataclasses import field

from xdsl.ir import Attribute, SSAValue

from tilewright.analysis.index_algebra import Expr, Phi
from tilewright.support.records import dataclass


@dataclass(frozen=True, slots=True)
class Unknown:
    """No answer, and why."""

    reason: str


@dataclass(frozen=True, slots=True)
class Multiple:
    """`scale * index`, lane by lane; `index` is as that of a `Gather`."""

    index: SSAValue
    scale: Expr


@dataclass(frozen=True, slots=True)
class Dim:
    """The part of a value that one dimension contributes."""

    size: int
    offset: Expr
    stride: Expr
    wrap: Expr | None = None
    computed: Multiple | None = field(default=None, compare=False)
    """Where the dimension wraps: the same part, as the program computes it; None where it does not."""


@dataclass(frozen=True, slots=True)
class Gather:
    """A part that has no formula: `scale * index[i]` with `i` the lane of dimension `dim`.

    `index` is an integer tensor in which at most one extent differs from 1, namely that of `dim`."""

    dim: int
    index: SSAValue
    scale: Expr


@dataclass(frozen=True, slots=True)
class Base:
    """The scalar pointer that addresses count from, and the element type that they count in."""

    root: SSAValue | Phi
    pointee: Attribute


@dataclass(frozen=True, slots=True)
class Lanes:
    """See the module's equation. `base` is None for integers."""

    dims: tuple[Dim, ...]
    uniform: Expr
    base: Base | None = None
    gathers: tuple[Gather, ...] = ()

    @property
    def shape(self) -> tuple[int, ...]:
        """Extents of the tensor; `()` for a scalar."""
        return tuple(dim.size for dim in self.dims)

    def is_gathered(self, dim: int) -> bool:
        """Return whether a dimension has a part without formula."""
        return any(gather.dim == dim for gather in self.gathers)


@dataclass(frozen=True, slots=True)
class BlockDim:
    """One dimension of a block pointer: `size` lanes from lane `start` on, of a parent with `extent` lanes."""

    size: int
    start: Expr
    stride: Expr
    extent: Expr


@dataclass(frozen=True, slots=True)
class BlockPointer:
    """A block of a parent tensor: lane i is at `base + uniform + sum over d of (start_d + i_d) * stride_d`."""

    dims: tuple[BlockDim, ...]
    uniform: Expr
    base: Base
    order: tuple[int, ...]
