"""`gluon-drop-layouts`: tensors are whole again, for machines on which one thread runs a program."""

from __future__ import annotations

from typing import ClassVar

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.rewriter import Rewriter

from tilewright.dialects import gluon, gpu, tt, ttg
from tilewright.dialects.arith import ConstantOp
from tilewright.dialects.construction import dense_attr
from tilewright.dialects.tt.folds import is_dense
from tilewright.dialects.tt.types import NO_ENCODING, tensor_type
from tilewright.dialects.types import is_tensor
from tilewright.ir.diagnostics import op_error
from tilewright.ir.passes import Pass, PassContext, register_pass
from tilewright.ir.walking import ops_within

OF_GPUS = ("ttg", "ttng")
MODULE_ATTRIBUTES = ("ttg.num-ctas", "ttg.num-warps", "ttg.threads-per-warp", "ttg.target")
NEEDS = {
    "ttg.local_alloc": "shared memory",
    "ttg.async_copy_global_to_local": "asynchronous copies",
    "ttg.warp_specialize": "warps that run other code",
    "ttng.warp_group_dot": "wgmma",
}
"""What the user wrote, by the op that stands for it."""


@register_pass
class GluonDropLayoutsPass(Pass):
    """Types lose their layouts, conversions of layouts and barriers go: one thread runs the program.

    ```mlir
    %0 = tt.make_range {...} : tensor<128xi32, #blocked>
    %1 = ttg.convert_layout %0 : tensor<128xi32, #blocked> -> tensor<128xi32, #blocked1>
    // becomes
    %0 = tt.make_range {...} : tensor<128xi32>
    ```

    Raises PassError for shared memory, asynchronous copies and what else needs a GPU.
    """

    name = "gluon-drop-layouts"
    takes: ClassVar[tuple[str, ...]] = ("gluon",)

    def run(self, module: ModuleOp, context: PassContext) -> None:
        for op in list(ops_within(module)):
            if isinstance(op, gluon.SetAutoLayoutOp | ttg.ConvertLayoutOp):
                _replace(op, op.src)
            elif isinstance(op, gpu.BarrierOp | ttg.LocalBarrierOp):
                op.detach()
                op.erase()
            elif op.name.partition(".")[0] in OF_GPUS:
                what = NEEDS.get(op.name, f"what `{op.name}` stands for")
                raise op_error(op, f"{what} of Gluon is for GPUs and the simulated GPU", pass_name=self.name)
        for op in list(ops_within(module)):
            _drop(op)
        for name in MODULE_ATTRIBUTES:
            module.attributes.pop(name, None)


def _replace(op: gluon.SetAutoLayoutOp | ttg.ConvertLayoutOp, source: SSAValue) -> None:
    op.result.replace_all_uses_with(source)
    op.detach()
    op.erase()


def _drop(op: Operation) -> None:
    for region in op.regions:
        for block in region.blocks:
            for argument in block.args:
                Rewriter.replace_value_with_new_type(argument, _without_layout(argument.type))
    for result in op.results:
        Rewriter.replace_value_with_new_type(result, _without_layout(result.type))
    if isinstance(op, ConstantOp) and is_dense(op.value):
        op.properties["value"] = dense_attr(op.result.type, op.value.data)
    elif isinstance(op, tt.FuncOp):
        inputs, outputs = op.function_type.inputs.data, op.function_type.outputs.data
        kinds = (list(map(_without_layout, inputs)), list(map(_without_layout, outputs)))
        op.properties["function_type"] = type(op.function_type).from_lists(*kinds)


def _without_layout(type: Attribute) -> Attribute:
    if is_tensor(type) and type.encoding != NO_ENCODING:
        return tensor_type(type.element_type, type.get_shape())
    return type
