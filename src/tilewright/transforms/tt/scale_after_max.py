"""`triton-scale-after-max`: the largest of scaled numbers is found before they are scaled."""

from __future__ import annotations

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, Float32Type, FloatAttr, ModuleOp
from xdsl.ir import SSAValue

from tilewright.dialects import arith, scf, tt
from tilewright.dialects.types import is_tensor
from tilewright.ir.builder import OpBuilder
from tilewright.ir.passes import Pass, PassContext, register_pass
from tilewright.ir.walking import ops_within
from tilewright.transforms.tt.masked_scores import find_masked_scores, reduce_masked, subtract_masked
from tilewright.transforms.tt.tma.recipe import RECIPE, Recipe, with_positive
from tilewright.transforms.ttg.conversion_cost import is_expensive
from tilewright.transforms.ttg.pipeliner.machine_model import product_clocks, vector_clocks

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
    attention, both branches compute the maximum of the remaining values, and the difference. That is not done in loops
    whose matmuls take no longer than their exponentials: what both branches compute takes more than is saved (causal
    attention on an H200, after a pause: 435 TFLOP/s with heads of 64, 456 without; 636 and 620 with heads of 128).

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
    kind = _maximum_of(reduce)
    if kind is None:
        return
    value = reduce.srcs[0]
    masked = find_masked_scores(value)
    if masked is not None and not _pays_in_branches(reduce):
        return
    scaled = _find_scaled(value if masked is None else masked.product)
    differences = _differences(value, reduce)
    if scaled is None or differences is None:
        return
    source, factor = scaled
    arguments = _arguments_of(factor, function)
    if arguments is None or (arguments and not _promise(function, arguments)):
        return
    builder = OpBuilder.before(reduce)
    if masked is None:
        largest = _scaled(builder, builder.result(_same(reduce, source)), factor)
    else:
        live, replaced = reduce_masked(masked, reduce, source)
        largest = builder.result(kind(_scaled(builder, live, factor), replaced))
        for difference in differences:
            subtract_masked(masked, difference)
    largest.name_hint = reduce.results[0].name_hint
    reduce.results[0].replace_all_uses_with(largest)
    reduce.detach()
    reduce.erase()
    if masked is not None:
        masked.branch.detach()
        masked.branch.erase()


def _pays_in_branches(reduce: tt.ReduceOp) -> bool:
    """Return whether the matmuls of a loop take longer than its exponentials; true where it has none."""
    loop = reduce.parent_op()
    if not isinstance(loop, scf.ForOp):
        return True
    products = sum(product_clocks(op) for op in loop.body.block.ops if isinstance(op, tt.DotOp))
    return not products or products > vector_clocks(op for op in loop.body.block.ops if is_expensive(op))


def _same(reduce: tt.ReduceOp, source: SSAValue) -> tt.ReduceOp:
    return tt.ReduceOp([source], reduce.axis.value.data, reduce.combine_op.clone())


def _scaled(builder: OpBuilder, value: SSAValue, factor: SSAValue) -> SSAValue:
    scale: SSAValue = factor
    if is_tensor(value.type):
        scale = builder.result(tt.SplatOp(factor, value.type))
    return builder.result(arith.MulfOp(value, scale))


def _maximum_of(reduce: tt.ReduceOp) -> type[arith.MaxnumfOp | arith.MaximumfOp] | None:
    """The op by which a reduction takes the largest; None where it does something else."""
    ops = tuple(reduce.combine_op.block.ops)
    if len(reduce.srcs) != 1 or len(ops) != 2 or not isinstance(ops[0], arith.MaxnumfOp | arith.MaximumfOp):
        return None
    return type(ops[0]) if set(ops[0].operands) == set(reduce.combine_op.block.args) else None


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
