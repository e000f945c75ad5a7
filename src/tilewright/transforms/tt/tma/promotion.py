"""Accesses of a kernel rewritten to go through descriptors that the launcher makes."""

from __future__ import annotations

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, FunctionType, i32
from xdsl.ir import Attribute, BlockArgument, SSAValue

from tilewright.dialects import arith, scf, tt
from tilewright.dialects.tt.enums import EvictionPolicy
from tilewright.dialects.tt.types import TensorDescType, tensor_type
from tilewright.dialects.types import element_type
from tilewright.ir.builder import OpBuilder
from tilewright.transforms.tt.tma.blocks import ALIGNMENT, Access, Block, Blocks, divisibility_of, value_of
from tilewright.transforms.tt.tma.polynomial import Polynomial, Unprovable
from tilewright.transforms.tt.tma.recipe import NONE, RECIPE, MapDim, Recipe, recipe_attribute


class Promotion:
    """Rewrites accesses of one function."""

    def __init__(self, function: tt.FuncOp) -> None:
        self._blocks = Blocks(function)
        self._function = function

    def prepare(self, access: Access, loop: scf.ForOp) -> tuple[Block, DictionaryAttr]:
        """An access in a loop, or after it, as a block, and the recipe of its tensor map. Raises `Unprovable`."""
        block = self._blocks.block_of(access, loop)
        if divisibility_of(self._function, block.base) % ALIGNMENT:
            raise Unprovable(f"its tensor is not known to begin at a multiple of {ALIGNMENT} bytes")
        if block.is_transposed and isinstance(access, tt.StoreOp):
            raise Unprovable("its columns are stored as rows")
        recipe = Recipe(self._function)
        dims = [MapDim(recipe.polynomial(outer.index), NONE, recipe.polynomial(outer.stride)) for outer in block.outers]
        strides = [NONE] if block.rows is None else [recipe.polynomial(block.stride), NONE]
        dims += [
            MapDim(
                recipe.polynomial(side.start),
                NONE if side.extent is None else recipe.polynomial(side.extent),
                stride,
            )
            for side, stride in zip(block.sides, strides, strict=True)
        ]
        checks = [recipe.value(value) for value in block.computed]
        is_stored = isinstance(access, tt.StoreOp)
        return block, recipe_attribute(recipe, recipe.slot(block.base), dims, checks, is_stored=is_stored)

    def rewrite(self, block: Block, recipe: DictionaryAttr) -> None:
        """Have a block go through a descriptor that the launcher makes."""
        access = block.access
        type = TensorDescType(tensor_type(_element(access), (*(1 for _ in block.outers), *block.shape)))
        descriptor = add_argument(self._function, type, DictionaryAttr({RECIPE: recipe}))
        builder = OpBuilder.before(access)
        starts = [_emit(builder, outer.index) for outer in block.outers]
        starts += [_emit(builder, side.start) for side in block.sides]
        if isinstance(access, tt.StoreOp):
            builder.insert(tt.DescriptorStoreOp(descriptor, access.value, starts))
        else:
            _load(builder, block, descriptor, starts)
        access.detach()
        access.erase()


def add_argument(function: tt.FuncOp, type: Attribute, attributes: DictionaryAttr) -> SSAValue:
    """An argument after all others, which the launcher gives."""
    block = function.body.blocks[0]
    count = len(block.args)
    argument = block.insert_arg(type, count)
    inputs, outputs = function.function_type.inputs.data, function.function_type.outputs.data
    function.properties["function_type"] = FunctionType.from_lists([*inputs, type], list(outputs))
    old = function.arg_attrs.data if function.arg_attrs is not None else (DictionaryAttr({}),) * count
    function.properties["arg_attrs"] = ArrayAttr([*old, attributes])
    return argument


def set_argument(argument: SSAValue, name: str, value: Attribute) -> None:
    """Give an argument of a function an attribute."""
    assert isinstance(argument, BlockArgument)
    function = argument.owner.parent_op()
    assert isinstance(function, tt.FuncOp)
    old = function.arg_attrs.data if function.arg_attrs is not None else (DictionaryAttr({}),) * len(function.args)
    given = list(old)
    given[argument.index] = DictionaryAttr({**given[argument.index].data, name: value})
    function.properties["arg_attrs"] = ArrayAttr(given)


def _load(builder: OpBuilder, block: Block, descriptor: SSAValue, starts: list[SSAValue]) -> None:
    load = block.access
    assert isinstance(load, tt.LoadOp)
    result = tensor_type(_element(load), block.shape)
    loaded = builder.result(tt.DescriptorLoadOp(descriptor, starts, result, evict=EvictionPolicy.of(load.evict)))
    if block.is_transposed:
        loaded = builder.result(tt.TransOp(loaded, (1, 0)))
    loaded.name_hint = load.result.name_hint
    load.result.replace_all_uses_with(loaded)


def _element(access: Access) -> Attribute:
    return element_type(value_of(access).type)


def _emit(builder: OpBuilder, polynomial: Polynomial) -> SSAValue:
    """A polynomial as an i32: the launcher has made sure that it is one."""
    total: SSAValue | None = None
    for monomial, coefficient in polynomial.terms.items():
        product: SSAValue | None = None
        for atom in monomial:
            assert isinstance(atom, SSAValue)
            factor = atom if atom.type == i32 else builder.result(arith.TruncIOp(atom, i32))
            product = factor if product is None else builder.result(arith.MuliOp(product, factor))
        if product is None or coefficient != 1:
            constant = builder.result(arith.constant_int(coefficient, i32))
            product = constant if product is None else builder.result(arith.MuliOp(product, constant))
        total = product if total is None else builder.result(arith.AddiOp(total, product))
    return builder.result(arith.constant_int(0, i32)) if total is None else total
