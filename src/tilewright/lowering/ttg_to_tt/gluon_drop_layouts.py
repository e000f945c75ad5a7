"""`gluon-drop-layouts`: tensors are whole again, for machines on which one thread runs a program."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.rewriter import Rewriter

from tilewright.dialects import gluon, gpu, tt, ttg, ttng
from tilewright.dialects.arith import ConstantOp
from tilewright.dialects.construction import dense_attr
from tilewright.dialects.tt.folds import is_dense
from tilewright.dialects.tt.types import NO_ENCODING, TensorDescType, pointer_type, tensor_type
from tilewright.dialects.ttg.types import AsyncTokenType, MemDescType
from tilewright.dialects.types import is_tensor
from tilewright.ir.builder import OpBuilder
from tilewright.ir.diagnostics import op_error
from tilewright.ir.passes import Pass, PassContext, register_pass
from tilewright.ir.walking import ops_within
from tilewright.lowering.ttg_to_tt.partitions import Partitions
from tilewright.lowering.ttg_to_tt.shared_memory import LOWERINGS, Buffers
from tilewright.support.modules import import_modules

OF_GPUS = ("ttg", "ttng")
MODULE_ATTRIBUTES = ("ttg.num-ctas", "ttg.num-warps", "ttg.threads-per-warp", "ttg.target")
NEEDS = {
    "ttg.inline_asm": "`inline_asm`",
    "ttng.await_turn": "turns of warp groups",
    "ttng.pass_turn": "turns of warp groups",
}
"""What the user wrote, by the op that stands for it."""


PASSED_ON = (gluon.SetAutoLayoutOp, ttg.ConvertLayoutOp)
"""Ops that only change a layout."""
NOTHING_TO_DO = (
    gpu.BarrierOp,
    ttg.AsyncCommitGroupOp,
    ttg.AsyncWaitOp,
    ttg.LocalBarrierOp,
    ttg.LocalDeallocOp,
    ttng.ClusterArriveOp,
    ttng.ClusterBarrierOp,
    ttng.ClusterWaitOp,
    ttng.FenceAsyncSharedOp,
    ttng.FenceMBarrierInitReleaseClusterOp,
    ttng.TMAStoreWaitOp,
)
"""Ops whose whole meaning is an order that one thread has anyway."""
PARTITIONED = (ttg.WarpSpecializeOp, ttg.WarpSpecializePartitionsOp, ttg.WarpYieldOp, ttg.WarpReturnOp)
import_modules("tilewright.lowering.ttg_to_tt")  # whose functions fill the table


@register_pass
class GluonDropLayoutsPass(Pass):
    """Removes layouts from types, and erases layout conversions and barriers: one thread runs the program.

    ```mlir
    %0 = tt.make_range {...} : tensor<128xi32, #blocked>
    %1 = ttg.convert_layout %0 : tensor<128xi32, #blocked> -> tensor<128xi32, #blocked1>
    // becomes
    %0 = tt.make_range {...} : tensor<128xi32>
    ```

    Shared-memory buffers become memory of the function (`shared_memory`). Copies, TMA, and `wgmma` execute where they
    are started, and a wait asserts that they are complete (`barriers_and_boxes`). The partitions of a `warp_specialize`
    become coroutines, to which a wait yields (`partitions`).

    The CTAs of a cluster are one program here, whose tensors are whole.

    Raises PassError for anything that needs more than one thread.
    """

    name = "gluon-drop-layouts"
    takes: ClassVar[tuple[str, ...]] = ("gluon",)

    def run(self, module: ModuleOp, context: PassContext) -> None:
        ops = list(ops_within(module))
        for op in ops:
            self._check(op)
        types = {op: [value.type for value in (*op.operands, *op.results)] for op in ops if _is_of_gpus(op)}
        buffers = Buffers(types, Partitions(module))
        for op in ops:
            _drop(op)
        specialized = [op for op in ops if isinstance(op, ttg.WarpSpecializeOp)]
        for op in specialized:
            buffers.partitions.start(op)
        done: list[Operation] = []
        for op in ops:
            _lower(op, buffers, done)
        for op in specialized:
            buffers.partitions.finish(op)
        done += specialized
        for op in reversed(done):  # users first: tokens go with what takes them
            op.detach()
            op.erase()
        for name in MODULE_ATTRIBUTES:
            module.attributes.pop(name, None)
            for function in module.ops:
                function.attributes.pop(name, None)

    def _check(self, op: Operation) -> None:
        """PassError for what has no meaning on one thread."""
        if _is_of_gpus(op) and not isinstance(op, (*LOWERINGS, *NOTHING_TO_DO, *PASSED_ON, *PARTITIONED)):
            what = NEEDS.get(op.name, f"what `{op.name}` stands for")
            raise op_error(op, f"{what} of Gluon is for GPUs and the simulated GPU", pass_name=self.name)
        if not _is_of_gpus(op) and any(isinstance(value.type, AsyncTokenType) for value in op.operands):
            raise op_error(op, "passes on the token of a copy, as no module of Gluon does", pass_name=self.name)


def _is_of_gpus(op: Operation) -> bool:
    return op.dialect_name() in OF_GPUS


def _lower(op: Operation, buffers: Buffers, done: list[Operation]) -> None:
    """Replace what an op gives, whose operands and results have no layouts any more; it is to be erased then."""
    values: Sequence[SSAValue] = ()
    if isinstance(op, PASSED_ON):
        values = (op.src,)
    elif isinstance(op, NOTHING_TO_DO):
        pass
    elif (lower := LOWERINGS.get(type(op))) is not None:
        values = lower(op, buffers, OpBuilder.before(op))
    else:
        return
    for result, value in zip(op.results, values, strict=False):
        result.replace_all_uses_with(value)
    done.append(op)


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
    match type:
        case _ if is_tensor(type) and type.encoding != NO_ENCODING:
            return tensor_type(type.element_type, type.get_shape())
        case MemDescType():
            return pointer_type(type.element_type)
        case TensorDescType():
            block = type.block_type
            return TensorDescType(TensorType(block.element_type, block.get_shape()))
        case _:
            return type
