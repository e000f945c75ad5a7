"""Program ids, functions, calls and returns.

```mlir
tt.func public @k(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32}) {
  %0 = tt.get_program_id x : i32
  tt.return
}
// becomes
func.func @k(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32},
             %gx: i32, %gy: i32, %gz: i32, %px: i32, %py: i32, %pz: i32) {
  return                                                        // uses of %0 are uses of %px
}
```
Pointers keep their type here; `triton-ptr-to-memref` changes signatures.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, FunctionType, StringAttr, UnitAttr, i32
from xdsl.ir import Attribute, Region, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from tilewright.dialects import func, tt
from tilewright.lowering.arith_to_linalg.lowering import (
    GRID_ARGUMENTS,
    LoweringContext,
    NotLowered,
    lowers,
)

FUNCTION_PROPERTIES = ("sym_name", "function_type", "sym_visibility", "arg_attrs", "res_attrs")


def append_grid_arguments(op: tt.FuncOp | func.FuncOp) -> Sequence[SSAValue]:
    """Give a function the six trailing i32 arguments; returns them (nothing for a declaration)."""
    kind = op.function_type
    op.properties["function_type"] = FunctionType.from_lists(
        [*kind.inputs.data, *[i32] * GRID_ARGUMENTS], kind.outputs.data
    )
    if op.arg_attrs is not None:
        op.properties["arg_attrs"] = ArrayAttr([*op.arg_attrs.data, *[DictionaryAttr({})] * GRID_ARGUMENTS])
    block = op.body.blocks.first
    if block is None:
        return ()
    return [block.insert_arg(i32, len(block.args)) for _ in range(GRID_ARGUMENTS)]


def convert_function(op: tt.FuncOp) -> func.FuncOp:
    """Replace a `tt.func` by a `func.func` with the same body, name, visibility and attributes."""
    properties = {name: value for name, value in op.properties.items() if name in FUNCTION_PROPERTIES}
    if properties.get("sym_visibility") == StringAttr("public"):
        del properties["sym_visibility"]
    attributes = {name: value for name, value in op.attributes.items() if name != "noinline"}
    if op.is_noinline:
        properties["no_inline"] = UnitAttr()  # func's own name for it
    new = func.FuncOp.create(properties=properties, attributes=attributes, regions=[Region()])
    new.location = op.location
    op.body.move_blocks(new.body)
    Rewriter.insert_op(new, InsertPoint.before(op))
    op.detach()
    op.erase()
    return new


def _grid_value(f: LoweringContext, index: int) -> Sequence[SSAValue]:
    if not f.grid:
        raise NotLowered("program ids are not function arguments here (pids-to-func-args=false)")
    return (f.grid[index],)


@lowers(tt.GetProgramIdOp)
def lower_get_program_id(op: tt.GetProgramIdOp, f: LoweringContext) -> Sequence[SSAValue]:
    """The argument that holds the id."""
    return _grid_value(f, 3 + op.axis.value.data)


@lowers(tt.GetNumProgramsOp)
def lower_get_num_programs(op: tt.GetNumProgramsOp, f: LoweringContext) -> Sequence[SSAValue]:
    """The argument that holds the extent of the grid."""
    return _grid_value(f, op.axis.value.data)


@lowers(tt.CallOp)
def lower_call(op: tt.CallOp, f: LoweringContext) -> Sequence[SSAValue]:
    """``func.call``; the caller's six arguments go along."""
    if not f.options.tt_to_func_func:
        raise NotLowered("functions stay tt.func (tt-to-func-func=false)")
    types: list[Attribute] = [result.type for result in op.results]
    return f.b.insert(func.CallOp(op.callee, [*op.arguments, *f.grid], types)).results


@lowers(tt.ReturnOp)
def lower_return(op: tt.ReturnOp, f: LoweringContext) -> Sequence[SSAValue]:
    """``return``."""
    if not f.options.tt_to_func_func:
        raise NotLowered("functions stay tt.func (tt-to-func-func=false)")
    f.b.insert(func.ReturnOp(*op.srcs))
    return ()


@lowers(tt.GridDependencyWaitOp, tt.GridDependencyLaunchDependentsOp)
def lower_grid_dependency(
    op: tt.GridDependencyWaitOp | tt.GridDependencyLaunchDependentsOp, f: LoweringContext
) -> Sequence[SSAValue]:
    """Nothing: a grid starts when those before it have ended."""
    return ()
