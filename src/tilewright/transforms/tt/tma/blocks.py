"""Accesses through pointers as tiles of one or two dimensions, in tensors of up to five dimensions,
which a tensor map can describe.
"""

from __future__ import annotations

from math import gcd, prod

from xdsl.ir import SSAValue

from tilewright.analysis.lanes import Dim, Lanes, Unknown
from tilewright.analysis.mask import Bound, MaskAnalysis
from tilewright.analysis.pointer import PointerAnalysis
from tilewright.dialects import scf, tt
from tilewright.dialects.arith import find_constant_int
from tilewright.dialects.tt.enums import CacheModifier
from tilewright.dialects.tt.folds import splat_of
from tilewright.dialects.types import as_tensor, bit_width, is_tensor
from tilewright.support.records import dataclass
from tilewright.transforms.tt.tma.edges import is_hidden
from tilewright.transforms.tt.tma.polynomial import Atom, Expansion, Monomial, Polynomial, Unprovable, divide_term

OPERAND_BITS = (8, 16)
STORED_BITS = (8, 16, 32)
ROW_BITS = (16, 32)
MOST_IN_A_ROW = 256
"""Of a row that one copy moves."""
BUFFER_ALIGNMENT = 128
"""Bytes that a buffer of a copy begins at a multiple of."""
MOST_OUTERS = 3
"""A tensor map has five dimensions, two of them rows and columns."""
ALIGNMENT = 16
"""Bytes that the base and the strides of a tensor map are multiples of."""

Access = tt.LoadOp | tt.StoreOp


def value_of(access: Access) -> SSAValue:
    """Return the tile that is loaded or stored."""
    return access.result if isinstance(access, tt.LoadOp) else access.value


@dataclass(frozen=True)
class Side:
    """One dimension of a block: where it begins, and its bound (the first element that there is none of)."""

    start: Polynomial
    extent: Polynomial | None


@dataclass(frozen=True)
class Outer:
    """A dimension along which a block has one element: its index, and how many elements apart its matrices lie."""

    index: Polynomial
    stride: Polynomial


@dataclass(frozen=True)
class Block:
    """An access as a block of a tensor with rows `stride` elements apart; `is_transposed` if it has rows last. A 1-D
    tile has columns alone.
    """

    access: Access
    base: SSAValue
    outers: tuple[Outer, ...]
    rows: Side | None
    columns: Side
    stride: Polynomial
    is_transposed: bool
    computed: tuple[SSAValue, ...]

    @property
    def shape(self) -> tuple[int, ...]:
        """Rows and columns."""
        shape = as_tensor(value_of(self.access).type).get_shape()
        return shape[::-1] if self.is_transposed else shape

    @property
    def sides(self) -> tuple[Side, ...]:
        """The same, rows first."""
        return (self.columns,) if self.rows is None else (self.rows, self.columns)


class Blocks:
    """The analyses of one function."""

    def __init__(self, function: tt.FuncOp) -> None:
        self.function = function
        self.pointers = PointerAnalysis(function)
        self.masks = MaskAnalysis(self.pointers)
        self._loop: scf.ForOp

    def block_of(self, access: Access, loop: scf.ForOp) -> Block:
        """An access as a block. Raises `Unprovable`."""
        _check_kind(access, loop)
        state = self.pointers.lanes_of(access.ptr)
        if isinstance(state, Unknown):
            raise Unprovable(f"its addresses have no formula ({state.reason})")
        if state.base is None or not isinstance(state.base.root, SSAValue) or not self._is_argument(state.base.root):
            raise Unprovable("its addresses do not start at an argument of the kernel")
        if state.gathers:
            raise Unprovable("its addresses are looked up")
        expansion = Expansion(loop)
        self._loop = loop
        if len(state.dims) == 1:
            return self._row_of(access, state.base.root, state, expansion)
        strides = [expansion.of(dim.stride) for dim in state.dims]
        if [stride.as_constant for stride in strides].count(1) != 1:
            raise Unprovable("its elements are not next to each other along one dimension")
        columns = [stride.as_constant for stride in strides].index(1)
        stride = strides[1 - columns]
        self._check_stride(stride, access, "rows")
        starts = _split_starts(state, columns, stride, expansion)
        extents = self._extents(access, state, starts, stride, columns, expansion)
        steps = [stride, stride]
        steps[columns] = Polynomial.constant(1)
        outers = self._split_outers(access, starts, extents, steps)
        self._check_start(starts[columns], access)
        sides = [Side(start, extent) for start, extent in zip(starts, extents, strict=True)]
        computed = tuple(expansion.computed)
        return Block(
            access, state.base.root, outers, sides[1 - columns], sides[columns], stride, columns == 0, computed
        )

    def _row_of(self, access: Access, base: SSAValue, state: Lanes, expansion: Expansion) -> Block:
        """An access of a 1-D tile."""
        [dim] = state.dims
        one = Polynomial.constant(1)
        if dim.wrap is not None or expansion.of(dim.stride).as_constant != 1:
            raise Unprovable("its elements do not lie next to each other")
        start = expansion.of(state.uniform).plus(expansion.of(dim.offset))
        self._check_start(start, access)
        [extent] = self._extents(access, state, [start], one, 0, expansion)
        if extent is not None and not all(self._is_given(atom) for monomial in extent.terms for atom in monomial):
            raise Unprovable("how far the tensor reaches is not known before the launch")
        return Block(access, base, (), None, Side(start, extent), one, False, tuple(expansion.computed))

    def _is_argument(self, value: SSAValue) -> bool:
        return any(value is argument for argument in self.function.args)

    def _check_stride(self, stride: Polynomial, access: Access, what: str) -> None:
        if len(stride.terms) != 1 or next(iter(stride.terms.values())) < 0:
            raise Unprovable(f"its {what} are not a known number of elements apart")
        ((factors, scale),) = stride.terms.items()
        if not all(map(self._is_given, factors)):
            raise Unprovable(f"its {what} lie as far apart as the kernel computes")
        divisor = scale * _element_bytes(access) * prod(map(self._divisibility, factors))
        if divisor % ALIGNMENT:
            raise Unprovable(f"its {what} are not known to lie a multiple of {ALIGNMENT} bytes apart")

    def _is_given(self, atom: Atom) -> bool:
        """Return whether a scalar is the same for all programs."""
        return isinstance(atom, SSAValue) and self._is_argument(atom)

    def _split_outers(
        self, access: Access, starts: list[Polynomial], extents: list[Polynomial | None], steps: list[Polynomial]
    ) -> tuple[Outer, ...]:
        """Take out of starts and extents what both have and programs differ in: it is not along the dimension.

        Such are the matrices of a batch, `index * stride` elements further.
        """
        indices: dict[tuple[Monomial, int], Polynomial] = {}
        for position, extent in enumerate(extents):
            if extent is None:
                continue
            for monomial, coefficient in extent.terms.items():
                if all(map(self._is_given, monomial)):
                    continue
                if starts[position].terms.get(monomial) != coefficient:
                    raise Unprovable("how far the tensor reaches is not known before the launch")
                term = Polynomial({monomial: coefficient})
                starts[position] = starts[position].plus(term, -1)
                extent = extents[position] = extent.plus(term, -1)
                ((factors, scale),) = term.times(steps[position]).terms.items()
                given = tuple(filter(self._is_given, factors))
                index = Polynomial({tuple(atom for atom in factors if not self._is_given(atom)): 1})
                indices[given, scale] = indices.get((given, scale), Polynomial({})).plus(index)
        outers = tuple(Outer(index, Polynomial(dict([stride]))) for stride, index in indices.items())
        for outer in outers:
            self._check_stride(outer.stride, access, "matrices")
        if len(outers) > MOST_OUTERS:
            raise Unprovable("its tensor has more dimensions than a tensor map")
        return outers

    def _divisibility(self, argument: object) -> int:
        return divisibility_of(self.function, argument)

    def _check_start(self, start: Polynomial, access: Access) -> None:
        """Raise `Unprovable` unless blocks begin where TMA can: GPUs stop at others."""
        if self._multiple_of(start) * _element_bytes(access) % ALIGNMENT:
            raise Unprovable(f"its blocks are not known to begin at multiples of {ALIGNMENT} bytes in a row")

    def _multiple_of(self, polynomial: Polynomial) -> int:
        """A divisor of all values of a polynomial."""
        divisors = [
            prod((abs(coefficient), *map(self._divisor_of_atom, monomial)))
            for monomial, coefficient in polynomial.terms.items()
        ]
        return gcd(*divisors) or ALIGNMENT

    def _divisor_of_atom(self, atom: object) -> int:
        """A divisor of a scalar: of an argument by its attribute, of a counter by its bounds."""
        if atom is not self._loop.induction_variable:
            return self._divisibility(atom)
        step = find_constant_int(self._loop.step)
        try:
            low = self._multiple_of(Expansion(self._loop).of_value(self._loop.lb))
        except Unprovable:
            return 1
        return 1 if step is None else gcd(low, step)

    def _extents(
        self,
        access: Access,
        state: Lanes,
        starts: list[Polynomial],
        stride: Polynomial,
        columns: int,
        expansion: Expansion,
    ) -> list[Polynomial | None]:
        """The bound of each dimension, by the mask or by a remainder; None where there is neither."""
        extents: list[Polynomial | None] = [None] * len(state.dims)
        if access.mask is not None:
            mask = self.masks.state(access.mask)
            if mask.conditions or mask.lanes:
                raise Unprovable("its mask is more than a bound for each dimension")
            for index, bounds in enumerate(mask.bounds):
                if bounds.lowers or len(bounds.uppers) > 1 or any(bound.step != 1 for bound in bounds.uppers):
                    raise Unprovable("its mask is more than a bound for each dimension")
                for bound in bounds.uppers:
                    extents[index] = _past(bound, expansion).plus(starts[index])
        for index, dim in enumerate(state.dims):
            if dim.wrap is None:
                continue
            wrap = expansion.of(dim.wrap)
            wrap = wrap if index == columns else wrap.divided(stride)
            if wrap is None or extents[index] is not None:
                raise Unprovable("it wraps rows and masks them, too")
            if isinstance(access, tt.StoreOp):
                raise Unprovable("it wraps rows")
            edge = wrap.plus(starts[index], -1)
            if not is_hidden(
                access, index, lambda store, along, edge=edge: self._leaves_out(store, along, edge, expansion)
            ):
                raise Unprovable("rows that wrap around are used")
            extents[index] = wrap
        return extents

    def _leaves_out(self, store: tt.StoreOp, dim: int, edge: Polynomial, expansion: Expansion) -> bool:
        """Return whether a store leaves out the lanes from `edge` on along a dimension."""
        if store.mask is None:
            return False
        bounds = self.masks.state(store.mask).bounds[dim].uppers
        return any(bound.step == 1 and _past(bound, expansion).terms == edge.terms for bound in bounds)


def _past(bound: Bound, expansion: Expansion) -> Polynomial:
    """The first lane that a bound leaves out."""
    return expansion.of(bound.limit).plus(expansion.of(bound.origin), -1)


def divisibility_of(function: tt.FuncOp, argument: object) -> int:
    """Return what an argument is a multiple of, by its attribute; 1 for anything that is not an argument."""
    for index, other in enumerate(function.args):
        if other is argument and function.arg_attrs is not None:
            attribute = function.arg_attrs.data[index].data.get("tt.divisibility")
            return getattr(getattr(attribute, "value", None), "data", 1)
    return 1


def _element_bytes(access: Access) -> int:
    return bit_width(as_tensor(value_of(access).type).element_type) // 8


def _is_row(access: Access) -> bool:
    """Return whether an access is a load of a 1-D tile that one copy moves."""
    shape = as_tensor(value_of(access).type).get_shape()
    if not isinstance(access, tt.LoadOp) or len(shape) != 1:
        return False
    return shape[0] <= MOST_IN_A_ROW and shape[0] * _element_bytes(access) % BUFFER_ALIGNMENT == 0


def _check_kind(access: Access, loop: scf.ForOp) -> None:
    type = value_of(access).type
    if not is_tensor(type) or not (len(type.get_shape()) == 2 or _is_row(access)):
        raise Unprovable("it accesses no block of two dimensions")
    if bit_width(type.element_type) not in _widths(access, loop):
        raise Unprovable(f"its elements have {bit_width(type.element_type)} bits")
    if CacheModifier.of(access.cache) is not CacheModifier.NONE:
        raise Unprovable("it says itself how it goes through the caches")
    if isinstance(access, tt.StoreOp):
        return
    if access.is_volatile.value.data:
        raise Unprovable("it says itself how it goes through the caches")
    if access.other is not None and splat_of(access.other) != 0:
        raise Unprovable("what it masks off is not 0")


def _widths(access: Access, loop: scf.ForOp) -> tuple[int, ...]:
    """Bits of elements for which it gains: those of f32 in loops with one product, as chains have no room for them."""
    if _is_row(access):
        return ROW_BITS
    if isinstance(access, tt.StoreOp):
        return STORED_BITS
    is_chain = sum(isinstance(op, tt.DotOp) for op in loop.body.block.ops) > 1
    return OPERAND_BITS if is_chain else (*OPERAND_BITS, 32)


def _split_starts(state: Lanes, columns: int, stride: Polynomial, expansion: Expansion) -> list[Polynomial]:
    """Return a block's first index along each dimension: multiples of the row stride are rows, the rest columns."""
    starts = [Polynomial({}), Polynomial({})]
    rest = expansion.of(state.uniform)
    for dim in state.dims:
        if dim.wrap is None:
            rest = rest.plus(expansion.of(dim.offset))
    for term in rest.terms.items():
        quotient = divide_term(term, stride)
        part = Polynomial(dict([term if quotient is None else quotient]))
        axis = columns if quotient is None else 1 - columns
        if state.dims[axis].wrap is not None:
            raise Unprovable("something is added to a row that wraps around")
        starts[axis] = starts[axis].plus(part)
    for axis, dim in enumerate(state.dims):
        if dim.wrap is not None:
            starts[axis] = _start_of_wrapped(dim, axis == columns, stride, expansion)
    return starts


def _start_of_wrapped(dim: Dim, is_column: bool, stride: Polynomial, expansion: Expansion) -> Polynomial:
    offset = expansion.of(dim.offset)
    start = offset if is_column else offset.divided(stride)
    if start is None:
        raise Unprovable("rows that wrap around begin between two rows")
    return start
