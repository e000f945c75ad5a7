"""`triton-scale-after-max`: the largest of scaled numbers is found before they are scaled."""

from __future__ import annotations

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, Float32Type, FloatAttr, ModuleOp
from xdsl.ir import SSAValue

from tilewright.dialects import arith, tt
from tilewright.ir.builder import OpBuilder
from tilewright.ir.passes import Pass, PassContext, register_pass
from tilewright.ir.walking import ops_within
from tilewright.transforms.tt.masked_scores import find_masked_scores, reduced, scale_in_branches, scaled
from tilewright.transforms.tt.tma.recipe import RECIPE, Recipe, with_positive

LEAST_FACTOR, MOST_FACTOR = 1e-6, 1e6
"""Constants whose product with what a launch promises to be positive neither underflows nor overflows."""


@register_pass
class ScaleAfterMaxPass(Pass):
    """max(x * c) = max(x) * c for c > 0, bit for bit, because rounding is monotonic. If the scaled values are otherwise
    only subtracted from, their multiplications become part of fused operations and disappear.

    Before:
    ```mlir
    %y = arith.mulf %x, %c : tensor<128x128xf32>
    %m = "tt.reduce"(%y) <{axis = 1 : i32}> ({ maxnumf }) : (tensor<128x128xf32>) -> tensor<128xf32>
    %d = arith.subf %y, %far : tensor<128x128xf32>
    ```
    After:
    ```mlir
    %y = arith.mulf %x, %c : tensor<128x128xf32>
    %n = "tt.reduce"(%x) <{axis = 1 : i32}> ({ maxnumf }) : (tensor<128x128xf32>) -> tensor<128xf32>
    %m = arith.mulf %n, %row_c : tensor<128xf32>
    %d = arith.subf %y, %far : tensor<128x128xf32>
    ```
    If a branch replaces some of the values, as `triton-guard-masks` arranges for the blocks at the diagonal of causal
    attention, both branches compute the maximum: one scales before its mask counts, the other after the maximum. Each
    gives the factor that its values still lack, which is 1 for those that are scaled already.

    In kernels with a recipe from `triton-promote-loads-to-tma`, the launcher checks that the argument is positive; if
    it is not, the launch runs the kernel's other form.
    """

    name = "triton-scale-after-max"

    def run(self, module: ModuleOp, context: PassContext) -> None:
        for function in [op for op in module.ops if isinstance(op, tt.FuncOp) and op.is_public]:
            for op in ops_within(function):
                if isinstance(op, tt.ReduceOp):
                    _rewrite(op, function)


def _rewrite(reduce: tt.ReduceOp, function: tt.FuncOp) -> None:
    if not _is_maximum(reduce):
        return
    value = reduce.srcs[0]
    masked = find_masked_scores(value)
    product = _find_scaled(value if masked is None else masked.product)
    differences = _differences(value, reduce)
    if product is None or differences is None:
        return
    source, factor = product
    arguments = _arguments_of(factor, function)
    if arguments is None or (arguments and not _promise(function, arguments)):
        return
    builder = OpBuilder.before(reduce)
    if masked is None:
        largest = scaled(builder, reduced(builder, reduce, source), factor)
    else:
        largest, numbers, left = scale_in_branches(masked, reduce, source, factor)
        for difference in differences:
            difference.operands[0] = scaled(OpBuilder.before(difference), numbers, left)
    largest.name_hint = reduce.results[0].name_hint
    reduce.results[0].replace_all_uses_with(largest)
    reduce.detach()
    reduce.erase()
    if masked is not None:
        masked.branch.detach()
        masked.branch.erase()


def _is_maximum(reduce: tt.ReduceOp) -> bool:
    """Return whether a reduction takes the largest."""
    ops = tuple(reduce.combine_op.block.ops)
    if len(reduce.srcs) != 1 or len(ops) != 2 or not isinstance(ops[0], arith.MaxnumfOp | arith.MaximumfOp):
        return False
    return set(ops[0].operands) == set(reduce.combine_op.block.args)


def _differences(value: SSAValue, reduce: tt.ReduceOp) -> list[arith.SubfOp] | None:
    """Find what is subtracted from scaled values besides the reduction; None where they have other uses."""
    uses = [use for use in value.uses if use.operation is not reduce]
    differences = [use.operation for use in uses if isinstance(use.operation, arith.SubfOp) and use.index == 0]
    return differences if len(differences) == len(uses) else None


def _find_scaled(value: SSAValue) -> tuple[SSAValue, SSAValue] | None:
    """The numbers and the scalar factor that others are the products of."""
    product = value.owner
    if not isinstance(product, arith.MulfOp):
        return None
    for source, other in (tuple(product.operands), tuple(product.operands)[::-1]):
        if isinstance(other.owner, tt.SplatOp) and isinstance(other.owner.src.type, Float32Type):
            return source, other.owner.src
    return None


def _arguments_of(factor: SSAValue, function: tt.FuncOp) -> list[SSAValue] | None:
    """The arguments that have to be positive for a factor to be, at most one; None where that is not enough."""
    owner = factor.owner
    if isinstance(owner, arith.ConstantOp) and isinstance(owner.value, FloatAttr):
        return [] if LEAST_FACTOR <= owner.value.value.data <= MOST_FACTOR else None
    if any(factor is argument for argument in function.args):
        return [factor]
    if not isinstance(owner, arith.MulfOp):
        return None
    parts = [_arguments_of(operand, function) for operand in owner.operands]
    if any(part is None for part in parts):
        return None
    arguments = [argument for part in parts if part is not None for argument in part]
    return arguments if len(arguments) <= 1 else None


def _promise(function: tt.FuncOp, arguments: list[SSAValue]) -> bool:
    """Have the launcher check that arguments are positive; False where it checks nothing of this kernel."""
    attributes = function.arg_attrs.data if function.arg_attrs is not None else ()
    for index, given in enumerate(attributes):
        recipe = given.data.get(RECIPE)
        if isinstance(recipe, DictionaryAttr):
            slots = [Recipe(function).slot(argument) for argument in arguments]
            changed = DictionaryAttr({**given.data, RECIPE: with_positive(recipe, slots)})
            function.properties["arg_attrs"] = ArrayAttr([*attributes[:index], changed, *attributes[index + 1 :]])
            return True
    return False
