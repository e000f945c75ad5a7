"""`LinearLayout`: a linear map over GF(2) between named power-of-two index spaces.

Every layout of the compiler is one of these. The layout of a tensor in registers maps (register, lane, warp, block)
to (dim0, dim1, ...); shared memory maps (offset, block) to the same. A map is given by its *bases*, the images of the
input bits; the image of an index is the XOR of the bases of its set bits. A zero basis says that several inputs hold
the same element.

Order matters: where dims are flattened, the first is the most minor. Inside, the outputs of a basis are packed into
one int in that order, so composition, products and elimination are integer operations (`gf2`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import overload

import numpy as np
from numpy.typing import NDArray

from tilewright.layouts import gf2
from tilewright.layouts.packing import (
    Extract,
    Repack,
    check_distinct,
    check_fits,
    check_permutation,
    log2,
    merge_orders,
    pack,
)

Basis = tuple[int, ...]
"""One image: a coordinate per out-dim."""

Bases = tuple[tuple[str, tuple[Basis, ...]], ...]
"""The bases by in-dim."""

Indices = NDArray[np.int64]


class LinearLayout:
    """An immutable linear map; made by `identity_1d`, `strided_1d`, `zeros_1d`, `from_bases` and the operations on
    these.

    `LinearLayout.identity_1d(4, "register", "dim0") * LinearLayout.identity_1d(32, "lane", "dim0")` gives each of 32
    lanes 4 neighbours.
    """

    __slots__ = ("__dict__", "_columns", "_outs")

    _columns: tuple[tuple[str, tuple[int, ...]], ...]
    _outs: tuple[tuple[str, int], ...]

    def __init__(self, columns: Iterable[tuple[str, Iterable[int]]], outs: Iterable[tuple[str, int]]) -> None:
        """From packed bases and the bits of each out-dim; `from_bases` is the friendly form."""
        self._columns = tuple((name, tuple(bases)) for name, bases in columns)
        self._outs = tuple(outs)
        check_distinct([name for name, _ in self._columns], "in-dim")
        check_distinct([name for name, _ in self._outs], "out-dim")

    # Constructors.

    @staticmethod
    def empty() -> LinearLayout:
        """The layout without dims, neutral in products."""
        return LinearLayout((), ())

    @staticmethod
    def identity_1d(size: int, in_dim: str, out_dim: str) -> LinearLayout:
        """L(x) = x for x < size."""
        return LinearLayout.strided_1d(size, 1, in_dim, out_dim)

    @staticmethod
    def strided_1d(size: int, stride: int, in_dim: str, out_dim: str) -> LinearLayout:
        """L(x) = stride * x for x < size, stride a power of two."""
        bits, shift = log2(size), log2(stride)
        columns = tuple(1 << (shift + bit) for bit in range(bits))
        return LinearLayout(((in_dim, columns),), ((out_dim, bits + shift),))

    @staticmethod
    def zeros_1d(size: int, in_dim: str, out_dim: str, out_size: int = 1) -> LinearLayout:
        """L(x) = 0 for x < size: all inputs hold one element."""
        return LinearLayout(((in_dim, (0,) * log2(size)),), ((out_dim, log2(out_size)),))

    @staticmethod
    def from_bases(
        bases: Mapping[str, Sequence[Sequence[int]]],
        outs: Sequence[str] | Mapping[str, int],
        *,
        surjective: bool = True,
    ) -> LinearLayout:
        """From a basis vector per input bit, with a coordinate per out-dim.

        Sizes of out-dims are the smallest that hold the bases, unless `outs` gives them. ValueError where a basis
        does not fit, or where an output is not reached and `surjective` is asked for.
        """
        names = tuple(outs)
        for vectors in bases.values():
            for vector in vectors:
                if len(vector) != len(names):
                    raise ValueError(f"basis {list(vector)} must have a coordinate for each of {list(names)}")
        widths: dict[str, int]
        if isinstance(outs, Mapping):
            widths = {name: log2(size) for name, size in outs.items()}
        else:
            widths = {
                name: max((vector[index].bit_length() for _, vectors in bases.items() for vector in vectors), default=0)
                for index, name in enumerate(names)
            }
        for name, vectors in bases.items():
            for vector in vectors:
                check_fits(vector, widths, name)
        layout = LinearLayout(
            ((name, tuple(pack(vector, widths.values()) for vector in vectors)) for name, vectors in bases.items()),
            widths.items(),
        )
        if surjective and not layout.is_surjective:
            raise ValueError(f"layout is not surjective: {layout}")
        return layout

    # What it is.

    @cached_property
    def in_dims(self) -> dict[str, int]:
        """The size of each in-dim."""
        return {name: 1 << len(columns) for name, columns in self._columns}

    @cached_property
    def out_dims(self) -> dict[str, int]:
        """The size of each out-dim."""
        return {name: 1 << bits for name, bits in self._outs}

    @cached_property
    def columns(self) -> tuple[int, ...]:
        """The matrix: packed bases of all in-dims, first in-dim first."""
        return tuple(column for _, columns in self._columns for column in columns)

    @cached_property
    def packed_bases(self) -> dict[str, tuple[int, ...]]:
        """The bases of each in-dim as packed ints."""
        return dict(self._columns)

    @cached_property
    def bases(self) -> Bases:
        """The basis vectors by in-dim."""
        return tuple((name, tuple(self.unpack(column) for column in columns)) for name, columns in self._columns)

    @property
    def in_bits(self) -> int:
        """The number of input bits."""
        return len(self.columns)

    @property
    def out_bits(self) -> int:
        """The number of output bits."""
        return sum(bits for _, bits in self._outs)

    @property
    def size(self) -> int:
        """The number of inputs: 2 to the `in_bits`."""
        return 1 << self.in_bits

    def bases_of(self, in_dim: str) -> tuple[Basis, ...]:
        """The basis vectors of one in-dim."""
        return tuple(self.unpack(column) for column in self.packed_bases[in_dim])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, LinearLayout) and self._columns == other._columns and self._outs == other._outs

    @cached_property
    def _hash(self) -> int:
        return hash((self._columns, self._outs))

    def __hash__(self) -> int:
        return self._hash

    def __repr__(self) -> str:
        ins = ", ".join(f"{name} {[list(basis) for basis in bases]}" for name, bases in self.bases)
        return f"LinearLayout({ins} -> {', '.join(f'{name} {size}' for name, size in self.out_dims.items())})"

    # Values.

    def unpack(self, packed: int) -> Basis:
        """A packed output as one coordinate per out-dim."""
        coordinates: list[int] = []
        for _, bits in self._outs:
            coordinates.append(packed & ((1 << bits) - 1))
            packed >>= bits
        return tuple(coordinates)

    @overload
    def apply(self, indices: Mapping[str, int]) -> dict[str, int]: ...
    @overload
    def apply(self, indices: Mapping[str, Indices]) -> dict[str, Indices]: ...
    def apply(self, indices: Mapping[str, int] | Mapping[str, Indices]) -> dict[str, int] | dict[str, Indices]:
        """The outputs of an index per in-dim: ints, or integer arrays that broadcast against each other."""
        if set(indices) != set(self.in_dims):
            raise ValueError(f"expected an index for each of {list(self.in_dims)}, got {list(indices)}")
        packed = self.apply_packed(indices)
        outputs: dict[str, int] | dict[str, Indices] = {}
        for name, bits in self._outs:
            outputs[name] = packed & ((1 << bits) - 1)  # pyright: ignore[reportArgumentType]
            packed = packed >> bits
        return outputs

    def apply_packed(self, indices: Mapping[str, int] | Mapping[str, Indices]) -> int | Indices:
        """As `apply`, with all outputs packed in one number."""
        packed: int | Indices = 0
        for name, columns in self._columns:
            index = indices[name]
            for bit, column in enumerate(columns):
                packed = packed ^ (((index >> bit) & 1) * column)
        return packed

    @cached_property
    def table(self) -> Indices:
        """The packed outputs of all inputs, at the flattened input index (first in-dim most minor)."""
        table = np.zeros(1, dtype=np.int64)
        for column in self.columns:
            table = np.concatenate([table, table ^ column])
        table.setflags(write=False)
        return table

    # Questions.

    @property
    def is_permutation(self) -> bool:
        """True if every basis but those of zero has a bit of the outputs of its own, and every bit has one."""
        columns = [column for column in self.columns if column]
        return sorted(columns) == [1 << bit for bit in range(self.out_bits)]

    @cached_property
    def _rank(self) -> int:
        return gf2.rank(self.columns)

    @property
    def is_surjective(self) -> bool:
        """True if every output is reached."""
        return self._rank == self.out_bits

    @property
    def is_injective(self) -> bool:
        """True if no output is reached twice."""
        return self._rank == self.in_bits

    @property
    def is_invertible(self) -> bool:
        """True if inputs and outputs correspond one to one."""
        return self.is_surjective and self.is_injective

    @cached_property
    def free_variable_masks(self) -> dict[str, int]:
        """Per in-dim the bits that depend on lower ones: inputs that differ there only repeat elements held
        elsewhere.
        """
        pivots = set(gf2.Echelon(self.columns).pivot_columns)
        masks: dict[str, int] = {}
        position = 0
        for name, columns in self._columns:
            masks[name] = sum(1 << bit for bit in range(len(columns)) if position + bit not in pivots)
            position += len(columns)
        return masks

    @property
    def num_consecutive_in_out(self) -> int:
        """The longest run of first-in-dim indices that goes to as many consecutive, aligned outputs (all out-dims
        flattened).
        """
        first = self._columns[0][1] if self._columns else ()
        run = 0
        while run < len(first) and first[run] == 1 << run:
            run += 1
        others = 0
        for column in self.columns[run:]:
            others |= column
        return 1 << (min(run, (others & -others).bit_length() - 1) if others else run)

    def is_zero(self, ins: Iterable[str], outs: Iterable[str]) -> bool:
        """Return whether no bit of `ins` moves any of `outs`."""
        return not any(self.sublayout(ins, outs).columns)

    # Combination.

    def __mul__(self, other: LinearLayout) -> LinearLayout:
        """The direct sum: `self` in the low bits of each common dim, `other` in the bits above. Dims keep both orders
        where they agree.
        """
        ins = merge_orders([name for name, _ in self._columns], [name for name, _ in other._columns])
        outs = merge_orders([name for name, _ in self._outs], [name for name, _ in other._outs])
        mine, theirs = dict(self._outs), dict(other._outs)
        widths = [(name, mine.get(name, 0) + theirs.get(name, 0)) for name in outs]
        low = Repack(self._outs, widths, dict.fromkeys(outs, 0))
        high = Repack(other._outs, widths, mine)
        return LinearLayout(
            (
                (
                    name,
                    [low(column) for column in self.packed_bases.get(name, ())]
                    + [high(column) for column in other.packed_bases.get(name, ())],
                )
                for name in ins
            ),
            widths,
        )

    def compose(self, outer: LinearLayout) -> LinearLayout:
        """First `self`, then `outer`, whose in-dims are the out-dims of `self` and at least as large."""
        if set(self.out_dims) != set(outer.in_dims):
            raise ValueError(
                f"out-dims {list(self.out_dims)} are not the in-dims {list(outer.in_dims)} of the next layout"
            )
        for name, size in self.out_dims.items():
            if size > outer.in_dims[name]:
                raise ValueError(f"out-dim {name} of size {size} does not fit the next layout's {outer.in_dims[name]}")
        widths = [(name, len(columns)) for name, columns in outer._columns]
        repack = Repack(self._outs, widths, dict.fromkeys(outer.in_dims, 0))
        matrix = outer.columns
        return self._map_columns(lambda column: gf2.multiply(matrix, repack(column)), outer._outs)

    def invert(self) -> LinearLayout:
        """The inverse of an invertible layout; ValueError for any other."""
        if not self.is_invertible:
            raise ValueError(f"layout has no inverse: {self}")
        return self.pseudoinvert()

    def pseudoinvert(self) -> LinearLayout:
        """The right inverse with the fewest inputs: `L.pseudoinvert().compose(L)` is the identity. ValueError unless
        surjective.
        """
        solutions = gf2.solve_all(self.columns, gf2.identity(self.out_bits))
        if solutions is None:
            raise ValueError(f"layout is not surjective and so has no right inverse: {self}")
        return self._with_solutions(self._outs, solutions)

    def invert_and_compose(self, outer: LinearLayout) -> LinearLayout:
        """X with `X.compose(outer) == self`: where in `outer` each element of `self` lives.

        In-dims that both layouts share with equal bases go to themselves. Elsewhere an element that `outer` holds
        several times is taken from its first place, so broadcast bits of `self` go to 0. ValueError where `outer`
        lacks an element of `self`.
        """
        if set(self.out_dims) != set(outer.out_dims):
            raise ValueError(f"out-dims differ: {self.out_dims} and {outer.out_dims}")
        mine = self.transpose_outs(outer.out_dims)
        for name in outer.out_dims:
            size = max(mine.out_dims[name], outer.out_dims[name])
            mine, outer = mine.resize_out_dim(name, size), outer.resize_out_dim(name, size)
        ranges, position = dict[str, range](), 0
        for name, columns in outer._columns:
            ranges[name] = range(position, position + len(columns))
            position += len(columns)
        same = {name for name, columns in mine._columns if outer.packed_bases.get(name) == columns}
        others = [name for name, _ in mine._columns if name not in same]
        targets = [column for name in others for column in mine.packed_bases[name]]
        apart = [bit for name, bits in ranges.items() if name not in same for bit in bits]
        solutions = _solve_within(outer.columns, apart, targets) or _solve_within(
            outer.columns, range(position), targets
        )
        if solutions is None:
            raise ValueError(f"{outer} does not reach every element of {mine}")
        solved = iter(solutions)
        return LinearLayout(
            (
                (name, [1 << bit for bit in ranges[name]] if name in same else [next(solved) for _ in columns])
                for name, columns in mine._columns
            ),
            ((name, len(columns)) for name, columns in outer._columns),
        )

    # Division.

    def divide_left(self, divisor: LinearLayout) -> LinearLayout | None:
        """C with `self == divisor * C`, None where the low bits of `self` are not those of `divisor`."""
        bits, divisor_bits = dict(self._outs), dict(divisor._outs)
        ins = self.packed_bases
        if any(bits.get(name, -1) < count for name, count in divisor._outs):
            return None
        if any(len(ins.get(name, ())) < len(columns) or name not in ins for name, columns in divisor._columns):
            return None
        rest_bits = [(name, count - divisor_bits.get(name, 0)) for name, count in self._outs]
        columns: list[tuple[str, tuple[int, ...]]] = []
        shifts = {name: divisor_bits.get(name, 0) for name, _ in self._outs}
        repack = Repack(rest_bits, self._outs, shifts)
        take = Extract(self._outs, rest_bits, shifts)
        for name, mine in self._columns:
            rest = mine[len(divisor.packed_bases.get(name, ())) :]
            taken = tuple(take(column) for column in rest)
            if any(repack(column) != original for column, original in zip(taken, rest, strict=True)):
                return None
            columns.append((name, taken))
        candidate = LinearLayout(columns, rest_bits)
        aligned = (divisor * candidate).transpose_ins(self.in_dims).transpose_outs(self.out_dims)
        return candidate if aligned == self else None

    def quotient(self, dims: Iterable[str]) -> LinearLayout | None:
        """Without `dims`, where each of them is an identity of its own that shares no bits with the rest; None
        otherwise.
        """
        layout = self
        for dim in dims:
            if layout.in_dims.get(dim) != layout.out_dims.get(dim) or dim not in layout.in_dims:
                return None
            others_in = [name for name in layout.in_dims if name != dim]
            others_out = [name for name in layout.out_dims if name != dim]
            own = layout.sublayout([dim], [dim])
            if own.columns != gf2.identity(own.in_bits):
                return None
            if not layout.is_zero([dim], others_out) or not layout.is_zero(others_in, [dim]):
                return None
            layout = layout.sublayout(others_in, others_out)
        return layout

    # Bookkeeping.

    def sublayout(self, ins: Iterable[str], outs: Iterable[str]) -> LinearLayout:
        """Only the given dims, in their present order; inputs left out are held at 0, outputs left out are dropped."""
        in_names, out_names = set(ins), set(outs)
        widths = [(name, bits) for name, bits in self._outs if name in out_names]
        take = Extract(self._outs, widths, dict.fromkeys(out_names, 0))
        return LinearLayout(
            ((name, [take(column) for column in columns]) for name, columns in self._columns if name in in_names),
            widths,
        )

    def resize_out_dim(self, name: str, size: int) -> LinearLayout:
        """Another range of outputs: coordinates are taken modulo a smaller size."""
        if self.out_dims[name] == size:
            return self
        widths = [(dim, log2(size) if dim == name else bits) for dim, bits in self._outs]
        extract = Extract(self._outs, widths, dict.fromkeys(self.out_dims, 0))
        return self._map_columns(extract, widths)

    def rename_outs(self, names: Mapping[str, str]) -> LinearLayout:
        """Out-dims under other names."""
        return LinearLayout(self._columns, ((names.get(name, name), bits) for name, bits in self._outs))

    def transpose_ins(self, order: Iterable[str]) -> LinearLayout:
        """The in-dims in another order."""
        names = check_permutation(order, self.in_dims)
        return LinearLayout(((name, self.packed_bases[name]) for name in names), self._outs)

    def transpose_outs(self, order: Iterable[str]) -> LinearLayout:
        """The out-dims in another order."""
        names = check_permutation(order, self.out_dims)
        if names == tuple(self.out_dims):
            return self
        bits = dict(self._outs)
        widths = [(name, bits[name]) for name in names]
        return self._map_columns(Repack(self._outs, widths, dict.fromkeys(names, 0)), widths)

    def reshape_outs(self, dims: Iterable[tuple[str, int]]) -> LinearLayout:
        """The same outputs, flattened and split into other out-dims (first most minor)."""
        outs = tuple((name, log2(size)) for name, size in dims)
        if sum(bits for _, bits in outs) != self.out_bits:
            raise ValueError(f"out-dims {outs} do not hold {1 << self.out_bits} outputs")
        return LinearLayout(self._columns, outs)

    def flatten_outs(self, name: str | None = None) -> LinearLayout:
        """One out-dim, named as the first unless a name is given."""
        return self.reshape_outs([(name or next(iter(self.out_dims)), 1 << self.out_bits)])

    def concat_ins(self, other: LinearLayout) -> LinearLayout:
        """The in-dims of both, on the same out-dims."""
        if self._outs != other._outs:
            raise ValueError(f"out-dims differ: {self.out_dims} and {other.out_dims}")
        return LinearLayout((*self._columns, *other._columns), self._outs)

    def unsqueeze_out(self, name: str) -> LinearLayout:
        """A new last out-dim of size 1."""
        return LinearLayout(self._columns, (*self._outs, (name, 0)))

    def remove_zero_bases_along(self, name: str) -> LinearLayout:
        """One in-dim without the bits that move nothing."""
        return LinearLayout(
            ((dim, [c for c in columns if c] if dim == name else columns) for dim, columns in self._columns), self._outs
        )

    def _map_columns(self, function: Callable[[int], int], outs: Iterable[tuple[str, int]]) -> LinearLayout:
        return LinearLayout(((name, map(function, columns)) for name, columns in self._columns), outs)

    def _with_solutions(self, ins: Iterable[tuple[str, int]], columns: Sequence[int]) -> LinearLayout:
        """A layout from dims `ins` (name and bits) back to the in-dims of `self`."""
        rows: list[tuple[str, Sequence[int]]] = []
        position = 0
        for name, bits in ins:
            rows.append((name, columns[position : position + bits]))
            position += bits
        return LinearLayout(rows, ((name, len(bases)) for name, bases in self._columns))


def product(layouts: Iterable[LinearLayout]) -> LinearLayout:
    """The direct sum of several layouts, first most minor."""
    result = LinearLayout.empty()
    for layout in layouts:
        result *= layout
    return result


def identity_nd(in_dim: str, sizes: Sequence[int], order: Sequence[int], outs: Sequence[str]) -> LinearLayout:
    """One in-dim dealt over several out-dims, `order[0]` fastest: sizes [2, 4] in order [1, 0] give bases of dim 1
    first.
    """
    layout = LinearLayout.empty()
    for dim in order:
        layout *= LinearLayout.identity_1d(sizes[dim], in_dim, outs[dim])
    return layout


def _solve_within(columns: Sequence[int], allowed: Sequence[int], targets: Sequence[int]) -> tuple[int, ...] | None:
    """X with `columns * X = targets` that uses only the columns at the positions `allowed`."""
    solutions = gf2.solve_all([columns[position] for position in allowed], targets)
    return None if solutions is None else gf2.compose([1 << position for position in allowed], solutions)
