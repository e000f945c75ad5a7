"""What a launcher needs to make a tensor map: a small program over the arguments of a launch.

A recipe is a list of numbers, each made of earlier ones: constants, arguments, the program's number, the counters of
loops, and arithmetic. The launcher computes for each of them the range over all programs and iterations. So it knows
that no block begins before the tensor, that nothing overflows, and how far the blocks of unmasked loads reach; where it
cannot know that, the kernel is launched in the form without tensor maps.

```mlir
{base = 0 : i32, dims = [{start = 7, extent = 4, stride = 5}, {start = 9, extent = -1, stride = -1}],
 numbers = [["argument", 3, 32], ["program", 0], ["constant", 128], ["mul", 1, 2, 32], ...], checks = [3]}
```
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, IntegerAttr, IntegerType, StringAttr, i64
from xdsl.ir import Attribute, BlockArgument, OpResult, SSAValue
from xdsl.utils.hints import isa

from tilewright.dialects import arith, scf, tt
from tilewright.dialects.arith import find_constant_int
from tilewright.dialects.construction import UNIT
from tilewright.dialects.tt.types import TensorDescType
from tilewright.dialects.types import bit_width
from tilewright.support.records import dataclass
from tilewright.transforms.tt.tma.polynomial import Polynomial, Unprovable, is_number

RECIPE = "ttg.tensor_map"
"""On descriptor arguments that the launcher makes: their recipe."""
GRID = "ttg.grid"
"""On arguments that the launcher adds: the extent of the grid along "x", "y" or "z", or the number of "all" its
programs.
"""
COPY_ROWS = "ttg.copy_rows"
"""On descriptor arguments whose blocks are copied so many rows at a time."""
STORED = "stored"
"""In recipes of what is written, whose rows end where a piece that TMA writes does."""
NONE = -1
"""In place of a number: the stride of the innermost dimension, the extent of one that reaches as far as its blocks."""

_BINARY: dict[type, str] = {
    arith.AddiOp: "add",
    arith.SubiOp: "sub",
    arith.MuliOp: "mul",
    arith.DivSIOp: "div",
    arith.RemSIOp: "rem",
    arith.MinSIOp: "min",
    arith.MaxSIOp: "max",
}


def slots_of(type: Attribute) -> int:
    """The launch slots that an argument of a kernel takes."""
    return 2 + 2 * len(type.block_type.get_shape()) if isinstance(type, TensorDescType) else 1


@dataclass
class Recipe:
    """Collects the numbers of a recipe."""

    function: tt.FuncOp
    numbers: list[tuple[str | int, ...]] = field(default_factory=list[tuple[str | int, ...]])
    _known: dict[object, int] = field(default_factory=dict[object, int])

    def slot(self, argument: SSAValue) -> int:
        """The launch slot of an argument."""
        slot = 0
        for other in self.function.args:
            if other is argument:
                return slot
            slot += slots_of(other.type)
        raise Unprovable("its addresses do not start at an argument of the kernel")

    def polynomial(self, polynomial: Polynomial) -> int:
        """The number of a polynomial."""
        total: int | None = None
        for monomial, coefficient in polynomial.terms.items():
            product: int | None = None if coefficient == 1 and monomial else self._number("constant", coefficient)
            for atom in monomial:
                assert isinstance(atom, SSAValue)
                factor = self.value(atom)
                product = factor if product is None else self._number("mul", product, factor, 64)
            assert product is not None
            total = product if total is None else self._number("add", total, product, 64)
        return self._number("constant", 0) if total is None else total

    def value(self, value: SSAValue) -> int:
        """The number of a scalar of the program. Raises `Unprovable`."""
        known = self._known.get(value)
        if known is None:
            known = self._known[value] = self._make(value)
        return known

    def _make(self, value: SSAValue) -> int:
        constant = find_constant_int(value)
        if constant is not None:
            return self._number("constant", constant)
        if isinstance(value, BlockArgument):
            return self._argument(value)
        assert isinstance(value, OpResult)
        op = value.op
        kind = _BINARY.get(type(op))
        if kind is not None and is_number(value.type):
            return self._number(kind, *(self.value(operand) for operand in op.operands), bit_width(value.type))
        match op:
            case arith.ExtSIOp() if is_number(op.operands[0].type):
                return self.value(op.operands[0])
            case tt.GetProgramIdOp():
                return self._number("program", op.axis.value.data)
            case tt.GetNumProgramsOp():
                return self._number("programs", op.axis.value.data)
            case arith.SelectOp() if is_number(value.type):
                return self._number("either", *(self.value(operand) for operand in op.operands[1:]))
            case _:
                raise Unprovable(f"where its blocks begin depends on '{op.name}'")

    def _argument(self, value: BlockArgument) -> int:
        holder = value.owner.parent_op()
        if holder is self.function and is_number(value.type):
            return self._number("argument", self.slot(value), bit_width(value.type))
        if isinstance(holder, scf.ForOp) and value.index == 0:
            step = find_constant_int(holder.step)
            if step is None or step <= 0 or holder.unsigned_cmp is not None:
                raise Unprovable("it is not known in which direction a loop counts")
            return self._number("counter", self.value(holder.lb), self.value(holder.ub))
        raise Unprovable("where its blocks begin depends on what a loop carries")

    def _number(self, *parts: str | int) -> int:
        known = self._known.get(parts)
        if known is None:
            self.numbers.append(parts)
            known = self._known[parts] = len(self.numbers) - 1
        return known


@dataclass(frozen=True)
class MapDim:
    """One dimension of a tensor map: the first element of a block, how many elements there are, and how far apart."""

    start: int
    extent: int
    stride: int


def recipe_attribute(
    recipe: Recipe, base: int, dims: Sequence[MapDim], checks: Sequence[int], *, is_stored: bool
) -> DictionaryAttr:
    """A recipe as an attribute, dimensions outermost first."""
    return DictionaryAttr(
        {
            **({STORED: UNIT} if is_stored else {}),
            "base": _number_attribute(base),
            "checks": ArrayAttr(map(_number_attribute, checks)),
            "dims": ArrayAttr(
                DictionaryAttr(
                    {
                        "extent": _number_attribute(dim.extent),
                        "start": _number_attribute(dim.start),
                        "stride": _number_attribute(dim.stride),
                    }
                )
                for dim in dims
            ),
            "numbers": ArrayAttr(
                ArrayAttr(StringAttr(part) if isinstance(part, str) else _number_attribute(part) for part in parts)
                for parts in recipe.numbers
            ),
        }
    )


def has_recipes(function: tt.FuncOp) -> bool:
    """Return whether the launcher makes tensor maps for a kernel."""
    attributes = function.arg_attrs.data if function.arg_attrs is not None else ()
    return any(RECIPE in given.data for given in attributes)


def with_positive(recipe: DictionaryAttr, slots: Sequence[int]) -> DictionaryAttr:
    """A recipe that also asks for positive numbers in some slots of f32."""
    known = recipe.data.get("positive")
    asked: dict[Attribute, None] = dict.fromkeys(known.data if isa(known, ArrayAttr[Attribute]) else ())
    asked |= dict.fromkeys(map(_number_attribute, slots))
    return DictionaryAttr({**recipe.data, "positive": ArrayAttr(tuple(asked))})


def _number_attribute(value: int) -> IntegerAttr[IntegerType]:
    return IntegerAttr(value, i64)
