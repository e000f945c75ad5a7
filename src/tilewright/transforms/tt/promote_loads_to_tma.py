"""`triton-promote-loads-to-tma`: blocks that matrix products of a loop read through pointers are copied by TMA."""

from __future__ import annotations

from dataclasses import dataclass
from math import gcd, prod

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, FunctionType, ModuleOp, i32
from xdsl.ir import Attribute, Operation, SSAValue

from tilewright.analysis.lanes import Dim, Lanes, Unknown
from tilewright.analysis.mask import Bound, MaskAnalysis
from tilewright.analysis.pointer import PointerAnalysis
from tilewright.dialects import arith, scf, tt
from tilewright.dialects.arith import find_constant_int
from tilewright.dialects.tt.enums import CacheModifier, EvictionPolicy
from tilewright.dialects.tt.folds import splat_of
from tilewright.dialects.tt.types import TensorDescType, tensor_type
from tilewright.dialects.ttg.verification import integer_attribute
from tilewright.dialects.types import as_tensor, bit_width, element_type, is_tensor
from tilewright.ir.builder import OpBuilder
from tilewright.ir.effects import may_write
from tilewright.ir.passes import Pass, PassContext, register_pass
from tilewright.ir.remark_kinds import RemarkKind
from tilewright.ir.walking import ops_within
from tilewright.transforms.tt.tma.edges import is_hidden
from tilewright.transforms.tt.tma.gain import LEAST_SUMS, MOST_SUMS, WARPS
from tilewright.transforms.tt.tma.polynomial import Expansion, Polynomial, Unprovable, divide_term
from tilewright.transforms.tt.tma.recipe import NONE, RECIPE, MapDim, Recipe, recipe_attribute

AUTO, ALWAYS, NEVER = "auto", "always", "never"

THREADS_PER_WARP = 32
NUM_STAGES = "tt.num_stages"
OPERAND_BITS = (8, 16)
ALIGNMENT = 16
"""Bytes that the base and the strides of a tensor map are multiples of."""


@dataclass(frozen=True)
class _Side:
    """One dimension of a block: where it begins, and its bound (the first element that there is none of)."""

    start: Polynomial
    extent: Polynomial | None


@dataclass(frozen=True)
class _Block:
    """A load as a block of a tensor with rows `stride` elements apart; `is_transposed` if the load has rows last."""

    load: tt.LoadOp
    base: SSAValue
    rows: _Side
    columns: _Side
    stride: Polynomial
    is_transposed: bool
    computed: tuple[SSAValue, ...]

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        first, second = as_tensor(self.load.result.type).get_shape()
        return (second, first) if self.is_transposed else (first, second)


class _Function:
    """The analyses of one function."""

    def __init__(self, function: tt.FuncOp) -> None:
        self.function = function
        self.pointers = PointerAnalysis(function)
        self.masks = MaskAnalysis(self.pointers)
        self._loop: scf.ForOp

    def block_of(self, load: tt.LoadOp, loop: scf.ForOp) -> _Block:
        """A load as a block. Raises `Unprovable`."""
        _check_kind(load)
        state = self.pointers.lanes_of(load.ptr)
        if isinstance(state, Unknown):
            raise Unprovable(f"its addresses have no formula ({state.reason})")
        if state.base is None or not isinstance(state.base.root, SSAValue) or not self._is_argument(state.base.root):
            raise Unprovable("its addresses do not start at an argument of the kernel")
        if state.gathers:
            raise Unprovable("its addresses are looked up")
        expansion = Expansion(loop)
        self._loop = loop
        strides = [expansion.of(dim.stride) for dim in state.dims]
        if [stride.as_constant for stride in strides].count(1) != 1:
            raise Unprovable("its elements are not next to each other along one dimension")
        columns = [stride.as_constant for stride in strides].index(1)
        stride = strides[1 - columns]
        self._check_stride(stride, load)
        starts = _split_starts(state, columns, stride, expansion)
        extents = self._extents(load, state, starts, stride, columns, expansion)
        if self._multiple_of(starts[columns]) * _element_bytes(load) % ALIGNMENT:
            raise Unprovable(f"its blocks are not known to begin at multiples of {ALIGNMENT} bytes in a row")
        sides = [_Side(start, extent) for start, extent in zip(starts, extents, strict=True)]
        computed = tuple(expansion.computed)
        return _Block(load, state.base.root, sides[1 - columns], sides[columns], stride, columns == 0, computed)

    def _is_argument(self, value: SSAValue) -> bool:
        return any(value is argument for argument in self.function.args)

    def _check_stride(self, stride: Polynomial, load: tt.LoadOp) -> None:
        if len(stride.terms) != 1 or next(iter(stride.terms.values())) < 0:
            raise Unprovable("its rows are not a known number of elements apart")
        ((factors, scale),) = stride.terms.items()
        if not all(isinstance(atom, SSAValue) and self._is_argument(atom) for atom in factors):
            raise Unprovable("its rows lie as far apart as the kernel computes")
        divisor = scale * _element_bytes(load) * prod(map(self._divisibility, factors))
        if divisor % ALIGNMENT:
            raise Unprovable(f"its rows are not known to lie a multiple of {ALIGNMENT} bytes apart")

    def _divisibility(self, argument: object) -> int:
        return divisibility_of(self.function, argument)

    def _multiple_of(self, number: Polynomial) -> int:
        """A number that divides another."""
        divisors = [
            prod((abs(coefficient), *map(self._divisor_of_atom, monomial)))
            for monomial, coefficient in number.terms.items()
        ]
        return gcd(*divisors) or ALIGNMENT

    def _divisor_of_atom(self, atom: object) -> int:
        """A number that divides a scalar: of an argument by its attribute, of a counter by its bounds."""
        if atom is not self._loop.induction_variable:
            return self._divisibility(atom)
        low, step = find_constant_int(self._loop.lb), find_constant_int(self._loop.step)
        return 1 if low is None or step is None else gcd(low, step)

    def _extents(
        self,
        load: tt.LoadOp,
        state: Lanes,
        starts: list[Polynomial],
        stride: Polynomial,
        columns: int,
        expansion: Expansion,
    ) -> list[Polynomial | None]:
        """The bound of each dimension, by the mask or by a remainder; None where there is neither."""
        extents: list[Polynomial | None] = [None, None]
        if load.mask is not None:
            mask = self.masks.state(load.mask)
            if mask.conditions or mask.lanes:
                raise Unprovable("its mask is more than a bound for each dimension")
            for number, bounds in enumerate(mask.bounds):
                if bounds.lowers or len(bounds.uppers) > 1 or any(bound.step != 1 for bound in bounds.uppers):
                    raise Unprovable("its mask is more than a bound for each dimension")
                for bound in bounds.uppers:
                    extents[number] = _past(bound, expansion).plus(starts[number])
        for number, dim in enumerate(state.dims):
            if dim.wrap is None:
                continue
            wrap = expansion.of(dim.wrap)
            wrap = wrap if number == columns else wrap.divided(stride)
            if wrap is None or extents[number] is not None:
                raise Unprovable("it wraps rows and masks them, too")
            edge = wrap.plus(starts[number], -1)
            if not is_hidden(
                load, number, lambda store, along, edge=edge: self._leaves_out(store, along, edge, expansion)
            ):
                raise Unprovable("rows that wrap around are used")
            extents[number] = wrap
        for extent in extents:
            if extent is not None and not all(isinstance(a, SSAValue) and self._is_argument(a) for a in extent.atoms):
                raise Unprovable("how far the tensor reaches is not known before the launch")
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
    """What an argument is known to be a multiple of, by its attribute; 1 for what is no argument."""
    for index, other in enumerate(function.args):
        if other is argument and function.arg_attrs is not None:
            attribute = function.arg_attrs.data[index].data.get("tt.divisibility")
            return getattr(getattr(attribute, "value", None), "data", 1)
    return 1


def _element_bytes(load: tt.LoadOp) -> int:
    return bit_width(as_tensor(load.result.type).element_type) // 8


def _check_kind(load: tt.LoadOp) -> None:
    type = load.result.type
    if not is_tensor(type) or len(type.get_shape()) != 2:
        raise Unprovable("it reads no block of two dimensions")
    if bit_width(type.element_type) not in OPERAND_BITS:
        raise Unprovable(f"its elements have {bit_width(type.element_type)} bits")
    if load.is_volatile.value.data or CacheModifier.of(load.cache) is not CacheModifier.NONE:
        raise Unprovable("it says itself how it goes through the caches")
    if load.other is not None and splat_of(load.other) != 0:
        raise Unprovable("what it masks off is not 0")


def _split_starts(state: Lanes, columns: int, stride: Polynomial, expansion: Expansion) -> list[Polynomial]:
    """Where the block begins along each dimension: multiples of the rows' distance count rows, the rest columns."""
    starts = [Polynomial({}), Polynomial({})]
    rest = expansion.of(state.uniform)
    for dim in state.dims:
        if dim.wrap is None:
            rest = rest.plus(expansion.of(dim.offset))
    for term in rest.terms.items():
        quotient = divide_term(term, stride)
        part = Polynomial(dict([term if quotient is None else quotient]))
        number = columns if quotient is None else 1 - columns
        if state.dims[number].wrap is not None:
            raise Unprovable("something is added to a row that wraps around")
        starts[number] = starts[number].plus(part)
    for number, dim in enumerate(state.dims):
        if dim.wrap is not None:
            starts[number] = _start_of_wrapped(dim, number == columns, stride, expansion)
    return starts


def _start_of_wrapped(dim: Dim, is_column: bool, stride: Polynomial, expansion: Expansion) -> Polynomial:
    offset = expansion.of(dim.offset)
    start = offset if is_column else offset.divided(stride)
    if start is None:
        raise Unprovable("rows that wrap around begin between two rows")
    return start


class _Promotion:
    """Rewrites the loads of one loop."""

    def __init__(self, analyses: _Function) -> None:
        self._analyses = analyses
        self._function = analyses.function

    def prepare(self, load: tt.LoadOp, loop: scf.ForOp) -> tuple[_Block, DictionaryAttr]:
        """A load as a block, and the recipe of its tensor map. Raises `Unprovable`."""
        block = self._analyses.block_of(load, loop)
        if divisibility_of(self._function, block.base) % ALIGNMENT:
            raise Unprovable(f"its tensor is not known to begin at a multiple of {ALIGNMENT} bytes")
        recipe = Recipe(self._function)
        dims = [
            MapDim(
                recipe.polynomial(side.start),
                NONE if side.extent is None else recipe.polynomial(side.extent),
                stride,
            )
            for side, stride in ((block.rows, recipe.polynomial(block.stride)), (block.columns, NONE))
        ]
        checks = [recipe.value(value) for value in block.computed]
        return block, recipe_attribute(recipe, recipe.slot(block.base), dims, checks)

    def rewrite(self, block: _Block, recipe: DictionaryAttr) -> None:
        """Read a block through a descriptor that the launcher makes."""
        load = block.load
        descriptor = self._add_argument(TensorDescType(tensor_type(_element(load), block.shape)), recipe)
        builder = OpBuilder.before(load)
        starts = [_emit(builder, side.start) for side in (block.rows, block.columns)]
        loaded = builder.insert(tt.DescriptorLoadOp(descriptor, starts, evict=EvictionPolicy.of(load.evict))).result
        if block.is_transposed:
            loaded = builder.insert(tt.TransOp(loaded, (1, 0))).result
        loaded.name_hint = load.result.name_hint
        load.result.replace_all_uses_with(loaded)
        load.detach()
        load.erase()

    def _add_argument(self, type: TensorDescType, recipe: DictionaryAttr) -> SSAValue:
        function = self._function
        block = function.body.blocks[0]
        count = len(block.args)
        argument = block.insert_arg(type, count)
        inputs, outputs = function.function_type.inputs.data, function.function_type.outputs.data
        function.properties["function_type"] = FunctionType.from_lists([*inputs, type], list(outputs))
        old = function.arg_attrs.data if function.arg_attrs is not None else (DictionaryAttr({}),) * count
        function.properties["arg_attrs"] = ArrayAttr([*old, DictionaryAttr({RECIPE: recipe})])
        return argument


def _element(load: tt.LoadOp) -> Attribute:
    return element_type(load.result.type)


def _emit(builder: OpBuilder, polynomial: Polynomial) -> SSAValue:
    """A polynomial as an i32: the launcher has made sure that it is one."""
    total: SSAValue | None = None
    for monomial, coefficient in polynomial.terms.items():
        product: SSAValue | None = None
        for atom in monomial:
            assert isinstance(atom, SSAValue)
            factor = atom if atom.type == i32 else builder.insert(arith.TruncIOp(atom, i32)).results[0]
            product = factor if product is None else builder.insert(arith.MuliOp(product, factor)).results[0]
        if product is None or coefficient != 1:
            constant = builder.insert(arith.constant_int(coefficient, i32)).results[0]
            product = constant if product is None else builder.insert(arith.MuliOp(product, constant)).results[0]
        total = product if total is None else builder.insert(arith.AddiOp(total, product)).results[0]
    return builder.insert(arith.constant_int(0, i32)).results[0] if total is None else total


def _operands_of_dots(loop: scf.ForOp) -> list[tt.LoadOp]:
    """The loads that products of a loop read. Raises `Unprovable` where something else stands between."""
    loads: dict[tt.LoadOp, None] = {}
    for dot in loop.body.block.ops:
        if not isinstance(dot, tt.DotOp):
            continue
        for operand in (dot.a, dot.b):
            source = operand.owner
            while isinstance(source, tt.TransOp):
                source = source.src.owner
            if isinstance(source, tt.LoadOp) and source.parent is loop.body.block:
                loads[source] = None
    for load in loads:
        if any(not isinstance(use.operation, tt.DotOp | tt.TransOp) for use in load.result.uses):
            raise Unprovable("what it reads is used by more than products")
    return list(loads)


def _sums_of_thread(loop: scf.ForOp, num_warps: int) -> int:
    """The registers of a thread for the results of a loop's products; 0 where there is one product."""
    dots = [op for op in loop.body.block.ops if isinstance(op, tt.DotOp)]
    if len(dots) < 2:
        return 0
    return sum(as_tensor(dot.d.type).element_count() for dot in dots) // (THREADS_PER_WARP * num_warps)


@register_pass
class PromoteLoadsToTMAPass(Pass):
    """Loads through pointers that matrix products of a loop read become loads through descriptors, which the launcher
    makes by a recipe (see `transforms/tt/tma/recipe.py`): where their rows lie at one distance that is a multiple of 16
    bytes, and their mask is a bound for each dimension. Wrapped rows (`% M`) are let go of where no store shows them.

    Before:
    ```mlir
    scf.for %start = %c0 to %n step %c64 iter_args(%p = %pointers, ...) -> (...) : i32 {
      %x = tt.load %p : tensor<64x128x!tt.ptr<f16>>
      %next = tt.addptr %p, %offsets : tensor<64x128x!tt.ptr<f16>>, tensor<64x128xi32>
    ```
    After:
    ```mlir
    tt.func public @kernel(..., %d: !tt.tensordesc<64x128xf16> {ttg.tensor_map = {base = 0, ...}}) {
      scf.for %start = %c0 to %n step %c64 iter_args(...) -> (...) : i32 {
        %x = tt.descriptor_load %d[%start, %c0] : !tt.tensordesc<64x128xf16> -> tensor<64x128xf16>
    ```
    All loads of a loop's products are copied so, or none. A launch whose arguments do not allow it (a tensor that is
    not aligned, blocks that begin before it, ...) runs the kernel in the form that it has without this pass.
    """

    name = "triton-promote-loads-to-tma"

    mode: str = AUTO
    """Which loops: those where it pays (`auto`), wherever it is proved (`always`), or `never`."""
    num_warps: int = 4
    """Warps of a program."""
    num_stages: int = 3
    """Iterations of a loop that are under way unless it says otherwise: with one, no copy runs ahead."""

    def run(self, module: ModuleOp, context: PassContext) -> None:
        if self.mode == NEVER:
            return
        for function in [op for op in module.ops if isinstance(op, tt.FuncOp) and op.is_public]:
            if len(function.body.blocks) == 1:
                self._run_on_function(function, context)

    def _run_on_function(self, function: tt.FuncOp, context: PassContext) -> None:
        loops = [op for op in function.body.blocks[0].ops if isinstance(op, scf.ForOp)]
        loops = [loop for loop in loops if any(isinstance(op, tt.DotOp) for op in loop.body.block.ops)]
        if len(loops) != 1 or not self._pays(loops[0]):
            return
        [loop] = loops
        try:
            _check_order(function, loop)
            promotion = _Promotion(_Function(function))
            prepared = [promotion.prepare(load, loop) for load in _operands_of_dots(loop)]
        except Unprovable as reason:
            context.remark(loop, f"its products' operands are not copied by TMA: {reason}", RemarkKind.NOT_TMA)
            return
        for block, recipe in prepared:
            promotion.rewrite(block, recipe)

    def _pays(self, loop: scf.ForOp) -> bool:
        if self.mode == ALWAYS:
            return True
        runs_ahead = integer_attribute(loop, NUM_STAGES) != 1 if NUM_STAGES in loop.attributes else self.num_stages > 1
        sums = _sums_of_thread(loop, self.num_warps)
        return runs_ahead and self.num_warps == WARPS and LEAST_SUMS <= sums <= MOST_SUMS


def _check_order(function: tt.FuncOp, loop: scf.ForOp) -> None:
    """Raise `Unprovable` where the kernel may write what the loop reads: TMA sees memory as it was, unless a fence
    follows what was written.
    """
    for op in function.body.blocks[0].ops:
        if any(may_write(inner) and not inner.regions for inner in _and_inside(op)):
            raise Unprovable("the kernel writes memory before the loop, or in it")
        if op is loop:
            return


def _and_inside(op: Operation) -> list[Operation]:
    return [op, *ops_within(op)] if op.regions else [op]
