"""Arithmetic and changes of shape on the states of `lanes.py`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from xdsl.ir import SSAValue

from tilewright.analysis.index_algebra import Constant, Expr, IndexAlgebra
from tilewright.analysis.lanes import Base, Dim, Gather, Lanes, Multiple, Unknown


class LaneAlgebra:
    """Arithmetic on states; every method answers with a state in normal form, or with the reason why there is none.

    Normal form: a dimension of one lane has no offset and no stride; where exactly one dimension has several lanes
    and it neither wraps nor is gathered, its offset holds all of `uniform`.
    """

    def __init__(self, algebra: IndexAlgebra) -> None:
        self.index = algebra

    # Makers

    def scalar(self, value: Expr, base: Base | None = None) -> Lanes:
        """One number or pointer."""
        return Lanes((), value, base)

    def splat(self, state: Lanes, shape: Sequence[int]) -> Lanes:
        """The same scalar in all lanes."""
        zero = self.index.zero
        dims = tuple(Dim(size, zero, zero) for size in shape)
        return self.normal(Lanes(dims, state.uniform, state.base))

    def range(self, start: int, size: int) -> Lanes:
        """start, start + 1, ..."""
        return self.normal(Lanes((Dim(size, self.index.constant(start), self.index.one),), self.index.zero))

    def gather(self, index: SSAValue, shape: Sequence[int], dim: int) -> Lanes:
        """Integers without formula that vary along one dimension."""
        zero = self.index.zero
        dims = tuple(Dim(size, zero, zero) for size in shape)
        return Lanes(dims, zero, None, (Gather(dim, index, self.index.one),))

    # Arithmetic

    def add(self, lhs: Lanes, rhs: Lanes) -> Lanes | Unknown:
        """Lane by lane sum."""
        if lhs.base is not None and rhs.base is not None:
            return Unknown("the sum of two pointers")
        if lhs.shape != rhs.shape:
            return Unknown("operands differ in shape")
        for index in range(len(lhs.dims)):
            if self._is_remainder_plus_varying(lhs, rhs, index):
                several = sum(size > 1 for size in lhs.shape)
                if several == 1 and lhs.base is None and rhs.base is None:
                    return Unknown("a remainder plus something else that varies")  # one gather, of the sum
                lhs, rhs = self._as_gather(lhs, index), self._as_gather(rhs, index)
                if lhs.dims[index].wrap is not None or rhs.dims[index].wrap is not None:
                    return Unknown(f"dimension {index} is a remainder plus something else that varies along it")
        uniform = self.index.add(lhs.uniform, rhs.uniform)
        dims: list[Dim] = []
        for left, right in zip(lhs.dims, rhs.dims, strict=True):
            if left.wrap is None and right.wrap is None:
                offset, stride = self.index.add(left.offset, right.offset), self.index.add(left.stride, right.stride)
                dims.append(Dim(left.size, offset, stride))
            else:
                wrapped, other = (left, right) if left.wrap is not None else (right, left)
                uniform = self.index.add(uniform, other.offset)
                dims.append(wrapped)
        gathers = self._join_gathers(lhs.gathers, rhs.gathers)
        return self.normal(Lanes(tuple(dims), uniform, lhs.base or rhs.base, gathers))

    def _is_remainder_plus_varying(self, lhs: Lanes, rhs: Lanes, dim: int) -> bool:
        """Return whether one state wraps along a dimension and the other varies along it."""
        varies = [
            state.dims[dim].wrap is not None or state.dims[dim].stride is not self.index.zero or state.is_gathered(dim)
            for state in (lhs, rhs)
        ]
        return all(varies) and (lhs.dims[dim].wrap is not None or rhs.dims[dim].wrap is not None)

    def _as_gather(self, state: Lanes, dim: int) -> Lanes:
        """The same values, without a remainder along a dimension where it is known which tensor holds it."""
        known = state.dims[dim].computed
        if state.dims[dim].wrap is None or known is None:
            return state
        affine = Dim(state.dims[dim].size, self.index.zero, self.index.zero)
        dims = (*state.dims[:dim], affine, *state.dims[dim + 1 :])
        gathers = self._join_gathers(state.gathers, (Gather(dim, known.index, known.scale),))
        return self.normal(replace(state, dims=dims, gathers=gathers))

    def _join_gathers(self, lhs: tuple[Gather, ...], rhs: tuple[Gather, ...]) -> tuple[Gather, ...]:
        if not lhs or not rhs:
            return lhs or rhs
        scales: dict[tuple[int, SSAValue], Expr] = {}
        for gather in (*lhs, *rhs):
            key = gather.dim, gather.index
            scales[key] = self.index.add(scales.get(key, self.index.zero), gather.scale)
        return tuple(Gather(*key, scale) for key, scale in scales.items() if scale is not self.index.zero)

    def scale(self, state: Lanes, factor: Expr) -> Lanes | Unknown:
        """Every lane times one number."""
        if state.base is not None:
            return Unknown("a multiple of a pointer")
        times = self.index.multiply
        if factor is self.index.zero:
            return self.splat(self.scalar(factor), state.shape)
        dims = tuple(
            Dim(
                dim.size,
                times(dim.offset, factor),
                times(dim.stride, factor),
                None if dim.wrap is None else times(dim.wrap, factor),
                None if dim.computed is None else replace(dim.computed, scale=times(dim.computed.scale, factor)),
            )
            for dim in state.dims
        )
        gathers = tuple(replace(gather, scale=times(gather.scale, factor)) for gather in state.gathers)
        return self.normal(Lanes(dims, times(state.uniform, factor), None, gathers))

    def multiply(self, lhs: Lanes, rhs: Lanes) -> Lanes | Unknown:
        """Lane by lane product, of which one factor has to be the same in all lanes."""
        for state, other in ((lhs, rhs), (rhs, lhs)):
            factor = self.uniform_value(other)
            if factor is not None:
                return self.scale(state, factor)
        return Unknown("a product of two values that both vary from lane to lane")

    def remainder(self, state: Lanes, divisor: Lanes, computed: SSAValue | None = None) -> Lanes | Unknown:
        """Lane by lane `remsi` by one number; `computed` is the tensor of the results."""
        modulus = self.uniform_value(divisor)
        if modulus is None:
            return Unknown("a remainder by a divisor that varies from lane to lane")
        if state.base is not None or state.gathers:
            return Unknown("a remainder of something that has no formula")
        varying = self.varying_dims(state)
        if len(varying) != 1:
            return Unknown(f"a remainder of something that varies along {len(varying)} dimensions")
        if any(dim.wrap is not None for dim in state.dims):
            return Unknown("a remainder of a remainder")
        position = varying[0]
        offset = self.index.total((state.uniform, *(dim.offset for dim in state.dims)))
        zero = self.index.zero
        known = Multiple(computed, self.index.one) if computed is not None else None
        if sum(dim.size > 1 for dim in state.dims) > 1:
            known = None
        wrapped = Dim(state.dims[position].size, offset, state.dims[position].stride, modulus, known)
        if self._stays_below(wrapped):
            wrapped = replace(wrapped, wrap=None, computed=None)
        dims = tuple(wrapped if n == position else Dim(dim.size, zero, zero) for n, dim in enumerate(state.dims))
        return self.normal(Lanes(dims, zero))

    @staticmethod
    def _stays_below(dim: Dim) -> bool:
        match dim:
            case Dim(offset=Constant(value=first), stride=Constant(value=step), wrap=Constant(value=modulus)):
                last = first + (dim.size - 1) * step
                return min(first, last) >= 0 and max(first, last) < modulus
            case _:
                return False

    def divide(self, state: Lanes, divisor: int) -> Lanes | Unknown:
        """Lane by lane quotient by a constant that divides every part."""
        if state.base is not None or state.gathers or any(dim.wrap is not None for dim in state.dims):
            return Unknown("a quotient of something that is not affine")
        parts = [part for dim in state.dims for part in (dim.offset, dim.stride)]
        divided = [self.index.divide_exactly(part, divisor) for part in (state.uniform, *parts)]
        if None in divided:
            return Unknown("a quotient that is not exact in every lane")
        uniform, *rest = (part for part in divided if part is not None)
        pairs = zip(rest[::2], rest[1::2], strict=True)
        dims = tuple(Dim(dim.size, *pair) for dim, pair in zip(state.dims, pairs, strict=True))
        return self.normal(Lanes(dims, uniform))

    # Shapes

    def expand_dims(self, state: Lanes, axis: int) -> Lanes:
        """A new dimension of one lane."""
        zero = self.index.zero
        dims = (*state.dims[:axis], Dim(1, zero, zero), *state.dims[axis:])
        gathers = tuple(replace(g, dim=g.dim + 1) if g.dim >= axis else g for g in state.gathers)
        return self.normal(replace(state, dims=dims, gathers=gathers))

    def broadcast(self, state: Lanes, shape: Sequence[int]) -> Lanes | Unknown:
        """Dimensions of one lane repeated."""
        if len(shape) != len(state.dims):
            return Unknown("a broadcast that changes the rank")
        if any(dim.size not in (1, size) for dim, size in zip(state.dims, shape, strict=True)):
            return Unknown("a broadcast of a dimension of several lanes")
        for gather in state.gathers:
            if state.dims[gather.dim].size != shape[gather.dim]:
                return Unknown("a broadcast of a value without formula")
        dims = tuple(replace(dim, size=size) for dim, size in zip(state.dims, shape, strict=True))
        return self.normal(replace(state, dims=dims))

    def transpose(self, state: Lanes, order: Sequence[int]) -> Lanes | Unknown:
        """Dimensions permuted: result dimension d is source dimension order[d]."""
        if sorted(order) != list(range(len(state.dims))):
            return Unknown("a transposition by an order that is not a permutation")
        place = {source: target for target, source in enumerate(order)}
        dims = tuple(state.dims[source] for source in order)
        return replace(state, dims=dims, gathers=tuple(replace(g, dim=place[g.dim]) for g in state.gathers))

    def reshape(self, state: Lanes, shape: Sequence[int]) -> Lanes | Unknown:
        """The lanes in row-major order under another shape: dimensions are merged and split where strides allow it."""
        groups = reassociate(state.shape, shape)
        if groups is None:
            return Unknown("a reshape to another number of lanes")
        result: list[Dim] = []
        moved: dict[int, int] = {}
        uniform = state.uniform
        for olds, news in groups:
            several = [old for old in olds if state.dims[old].size > 1]
            for old in olds:
                if old in several:
                    continue
                if state.dims[old].wrap is not None or state.is_gathered(old):
                    return Unknown("a reshape of a dimension of one lane that is a remainder or has no formula")
                uniform = self.index.add(uniform, state.dims[old].offset)
            dims = self._regroup(state, several, [shape[new] for new in news])
            if isinstance(dims, Unknown):
                return dims
            if len(several) == 1:
                moved[several[0]] = len(result) + next(n for n, dim in enumerate(dims) if dim.size > 1)
            result.extend(dims)
        gathers = tuple(replace(g, dim=moved[g.dim]) for g in state.gathers)
        return self.normal(Lanes(tuple(result), uniform, state.base, gathers))

    def _regroup(self, state: Lanes, several: list[int], sizes: Sequence[int]) -> list[Dim] | Unknown:
        """Dimensions of the given sizes for the lanes of some adjacent dimensions of several lanes."""
        zero = self.index.zero
        ones = [Dim(1, zero, zero) for _ in sizes]
        if not several:
            return ones
        wide = [n for n, size in enumerate(sizes) if size > 1]
        if len(several) == 1 and len(wide) == 1:
            ones[wide[0]] = state.dims[several[0]]
            return ones
        merged = [state.dims[old] for old in several]
        if any(dim.wrap is not None for dim in merged) or any(state.is_gathered(old) for old in several):
            return Unknown("a reshape across a dimension that is a remainder or has no formula")
        for outer, inner in pairwise(merged):
            if outer.stride is not self.index.scale(inner.stride, inner.size):
                return Unknown("a reshape of dimensions whose strides do not combine")
        stride = merged[-1].stride
        for index in reversed(wide):
            ones[index] = Dim(sizes[index], zero, stride)
            stride = self.index.scale(stride, sizes[index])
        offset = self.index.total(dim.offset for dim in merged)
        ones[wide[0]] = replace(ones[wide[0]], offset=offset)
        return ones

    # Questions

    def varying_dims(self, state: Lanes) -> list[int]:
        """Dimensions along which lanes may differ by formula."""
        return [n for n, dim in enumerate(state.dims) if dim.size > 1 and dim.stride is not self.index.zero]

    def uniform_value(self, state: Lanes) -> Expr | None:
        """The number in all lanes, where they are known to hold the same one."""
        if state.base is not None or state.gathers or self.varying_dims(state):
            return None
        if any(dim.wrap is not None for dim in state.dims):
            return None
        return self.index.total((state.uniform, *(dim.offset for dim in state.dims)))

    def normal(self, state: Lanes) -> Lanes:
        """The state in normal form (see the class)."""
        zero = self.index.zero
        uniform = state.uniform
        dims = list(state.dims)
        several: list[int] = []
        for index, dim in enumerate(dims):
            if dim.size > 1:
                several.append(index)
            elif dim.wrap is None and (dim.offset is not zero or dim.stride is not zero):
                uniform = self.index.add(uniform, dim.offset)
                dims[index] = Dim(1, zero, zero)
        if len(several) == 1 and uniform is not zero:
            position = several[0]
            dim = dims[position]
            if dim.wrap is None and not state.is_gathered(position):
                dims[position] = replace(dim, offset=self.index.add(dim.offset, uniform))
                uniform = zero
        return Lanes(tuple(dims), uniform, state.base, state.gathers)


def reassociate(old: Sequence[int], new: Sequence[int]) -> list[tuple[list[int], list[int]]] | None:
    """The smallest groups of adjacent dimensions with equal numbers of lanes; None where the totals differ.

    >>> reassociate((8, 4), (2, 4, 4))
    [([0], [0, 1]), ([1], [2])]
    """
    groups: list[tuple[list[int], list[int]]] = []
    source = target = 0
    while source < len(old) or target < len(new):
        olds: list[int] = []
        news: list[int] = []
        have = want = 1
        while (not olds and not news) or have != want:
            if source < len(old) and (have < want or (have == want and not olds) or target >= len(new)):
                olds.append(source)
                have, source = have * old[source], source + 1
            elif target < len(new):
                news.append(target)
                want, target = want * new[target], target + 1
            else:
                return None
        groups.append((olds, news))
    return groups
