"""The pass `triton-arith-to-linalg`: one walk over each function, one lowering function for each op class."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from tilewright.dialects import arith, func, math, tt, ttx
from tilewright.dialects.types import is_tensor
from tilewright.ir.passes import Pass, PassContext, register_pass
from tilewright.ir.walking import find_ops
from tilewright.lowering.arith_to_linalg import elementwise, programs, scans
from tilewright.lowering.arith_to_linalg.lowering import (
    LOWERINGS,
    Lowering,
    LoweringContext,
    LoweringOptions,
    NotLowered,
)
from tilewright.lowering.tensor_builder import TensorBuilder
from tilewright.support.modules import import_modules

import_modules("tilewright.lowering.arith_to_linalg")  # whose functions fill the table

for _class in (*arith.Arith.operations, *math.Math.operations):
    LOWERINGS.setdefault(_class, elementwise.lower_elementwise_arith)


@register_pass
class TritonArithToLinalgPass(Pass):
    """Lowers all of tt except memory accesses to linalg on tensors, arith on scalars, and func.

    ```mlir
    tt.func public @k(%x: tensor<4xf32>) -> tensor<4xf32> {
      %0 = arith.addf %x, %x : tensor<4xf32>
      tt.return %0 : tensor<4xf32>
    }
    // becomes
    #map = affine_map<(d0) -> (d0)>
    func.func @k(%x: tensor<4xf32>, %gx: i32, %gy: i32, %gz: i32, %px: i32, %py: i32, %pz: i32) -> tensor<4xf32> {
      %0 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel"]}
          ins(%x, %x : tensor<4xf32>, tensor<4xf32>) outs(%x : tensor<4xf32>) {
      ^bb0(%a: f32, %b: f32, %out: f32):
        %sum = arith.addf %a, %b : f32
        linalg.yield %sum : f32
      } -> tensor<4xf32>
      return %0 : tensor<4xf32>
    }
    ```
    An op without a lowering is left alone, with a remark. The options are triton-shared's.
    """

    name = "triton-arith-to-linalg"

    pids_to_func_args: bool = True
    """Make the grid's extents and the program's id arguments of functions."""
    tt_to_func_func: bool = True
    """Make `func.func` of `tt.func`."""
    addptr_to_linalg: bool = True
    """Lower `tt.addptr` on tensors of pointers, which stay tensors of `!tt.ptr`."""
    assert_to_cf: bool = True
    """Make `cf.assert` of `tt.assert`."""
    tensor_ptr_to_linalg: bool = False
    """Lower everything on tensors of pointers."""
    transpose_reduce_to_rank0: bool = True
    """Move an axis that is not the first to the front before it is reduced; else it is reduced where it is."""

    def run(self, module: ModuleOp, context: PassContext) -> None:
        options = LoweringOptions(
            self.pids_to_func_args,
            self.tt_to_func_func,
            self.addptr_to_linalg,
            self.assert_to_cf,
            self.tensor_ptr_to_linalg,
            self.transpose_reduce_to_rank0,
        )
        _ModuleLowering(module, options, context).run()


class _ModuleLowering:
    """The state of one run: the module, and how many functions were declared in it."""

    def __init__(self, module: ModuleOp, options: LoweringOptions, context: PassContext) -> None:
        self.module, self.options, self.context = module, options, context
        self.declared: dict[tuple[object, ...], str] = {}
        self.names: set[str] = set()

    def run(self) -> None:
        functions = [op for op in self.module.ops if isinstance(op, tt.FuncOp | func.FuncOp)]
        self.names = {op.sym_name.data for op in functions}
        for op in functions:
            if isinstance(op, tt.FuncOp):
                self._lower_function(op)
            elif (entry := op.body.blocks.first) is not None:
                self._lower_cumulative_sums(op, self._function_lowering(entry, ()))

    def _function_lowering(self, entry: Block, grid: Sequence[SSAValue]) -> LoweringContext:
        return LoweringContext(TensorBuilder(entry), self.options, grid, self._declare, self._declare_external)

    def _lower_cumulative_sums(self, function: func.FuncOp, f: LoweringContext) -> None:
        """Those that triton-shared's own pass left in a function of the linalg stage."""
        for op in find_ops(function, ttx.CumSumOp):
            f.b.move_before(op)
            f.b.location = op.location
            (total,) = scans.lower_cumulative_sum(op, f)
            op.result.replace_all_uses_with(total)
            op.detach()
            op.erase()

    def _lower_function(self, op: tt.FuncOp) -> None:
        grid = programs.append_grid_arguments(op) if self.options.pids_to_func_args else ()
        entry = op.body.blocks.first
        if entry is not None:
            self._lower_region(op.body, self._function_lowering(entry, grid))
        if self.options.tt_to_func_func:
            programs.convert_function(op)

    def _declare(self, stem: str, types: Sequence[Attribute], attributes: dict[str, Attribute]) -> str:
        """A private function without a body, one for each distinct signature and meaning."""
        key = (stem, tuple(types), tuple(sorted(attributes.items())))
        if key in self.declared:
            return self.declared[key]
        suffix = len(self.declared)
        while f"{stem}_{suffix}" in self.names:
            suffix += 1
        name = f"{stem}_{suffix}"
        self.names.add(name)
        self.declared[key] = name
        function = func.FuncOp.external(name, list(types), [])
        function.properties["sym_visibility"] = StringAttr("private")
        function.attributes.update(attributes)
        self.module.body.block.add_op(function)
        return name

    def _declare_external(self, name: str, results: Sequence[Attribute]) -> None:
        """A function of the runtime's, without parameters, under its own name."""
        if name in self.names:
            return
        self.names.add(name)
        function = func.FuncOp.external(name, [], list(results))
        function.properties["sym_visibility"] = StringAttr("private")
        self.module.body.block.add_op(function)

    def _lower_region(self, region: Region, f: LoweringContext) -> None:
        for block in region.blocks:
            self._lower_block(block, f)

    def _lower_block(self, block: Block, f: LoweringContext) -> None:
        """Each op in order; the regions of an op before the op itself, so that combine functions are lowered when they
        are inlined."""
        op = block.first_op
        while op is not None:
            following = op.next_op
            for region in op.regions:
                self._lower_region(region, f)
            lower = LOWERINGS.get(type(op))
            if lower is not None:
                self._lower_op(op, lower, f)
            op = following

    def _lower_op(self, op: Operation, lower: Lowering, f: LoweringContext) -> None:
        f.b.move_before(op)
        f.b.location = op.location
        try:
            values = lower(op, f)
        except NotLowered as reason:
            self.context.remark(op, str(reason))
            return
        if values is op.results:
            return
        for old, new in zip(op.results, values, strict=True):
            if not is_tensor(old.type) and new.name_hint is None:
                new.name_hint = old.name_hint
            old.replace_all_uses_with(new)
        op.detach()
        op.erase()
