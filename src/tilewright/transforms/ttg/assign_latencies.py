"""`tritongpu-assign-latencies`: how many stages ahead of its use each load of a loop runs."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, OpResult, SSAValue

from tilewright.analysis.axis_info import ModuleAxisInfo
from tilewright.dialects import gpu, scf, tt, ttg, ttng
from tilewright.dialects.construction import i32_attr
from tilewright.dialects.ttg.verification import TARGET, integer_attribute, program_shape
from tilewright.dialects.types import is_tensor
from tilewright.ir.passes import Pass, PassContext, register_pass
from tilewright.ir.remark_kinds import RemarkKind
from tilewright.ir.walking import ops_within
from tilewright.transforms.ttg.capability import compute_capability
from tilewright.transforms.ttg.pipeliner.copies import can_copy_asynchronously
from tilewright.transforms.ttg.pipeliner.memory_roots import WrittenMemory
from tilewright.transforms.ttg.pipeliner.schedule import LATENCY, NUM_STAGES, body_ops, definition_in, used_values
from tilewright.transforms.ttg.pipeliner.split_dots import slices_of
from tilewright.transforms.ttg.slices import MatrixProduct, backward_slice

HOPPER = 90
"""The first compute capability with TMA."""

WARP_SPECIALIZE = "tt.warp_specialize"

PipelinedLoad = tt.LoadOp | tt.DescriptorLoadOp
"""Loads that can run ahead."""


def address_of(load: PipelinedLoad) -> SSAValue:
    """Return where a load reads."""
    return load.ptr if isinstance(load, tt.LoadOp) else load.desc


def obstacle_in(loop: scf.ForOp) -> str | None:
    """Return why a loop cannot be pipelined; None where nothing speaks against it."""
    arguments = set(loop.region_iter_args)
    if any(
        value in arguments and value is not own for value, own in zip(loop.yielded, loop.region_iter_args, strict=True)
    ):
        return "a value is carried over more than one iteration"
    for op in loop.walk():
        if op is not loop and isinstance(op, scf.ForOp | scf.WhileOp):
            return "it holds another loop"
        if isinstance(op, gpu.BarrierOp | ttg.LocalBarrierOp | tt.AssertOp | tt.PrintOp):
            return f"it holds '{op.name}'"
    return None


class _Levels:
    """How many loads lie between each load of a loop and the matmul that needs it."""

    def __init__(self, loop: scf.ForOp) -> None:
        self._loop = loop
        self.levels: dict[Operation, int] = {}

    def visit(self, value: SSAValue, level: int) -> None:
        """Note the loads that a value depends on inside one iteration, `level` being that of the closest."""
        stack, seen = [(value, level)], set[tuple[int, int]]()
        while stack:
            value, level = stack.pop()
            op = definition_in(self._loop, value)
            if op is None or (id(op), level) in seen:
                continue
            seen.add((id(op), level))
            if isinstance(op, PipelinedLoad):
                if self.levels.get(op, -1) >= level:
                    continue
                self.levels[op] = level
                level += 1
            stack.extend((operand, level) for operand in used_values(op))


def _levels(loop: scf.ForOp, *, every_load: bool) -> dict[Operation, int]:
    """The loads that feed matmuls, or all, with how indirectly they do."""
    found = _Levels(loop)
    for op in body_ops(loop):
        if isinstance(op, MatrixProduct):
            for operand in op.operands[:2]:
                found.visit(operand, 0)
    if every_load:
        for op in reversed(body_ops(loop)):
            if isinstance(op, PipelinedLoad) and op not in found.levels:
                found.visit(op.result, 0)
    return found.levels


def _ahead_of_products(loop: scf.ForOp, chosen: dict[Operation, int]) -> list[Operation]:
    """The ops that run one stage before the `wgmma` whose A is computed in registers, from loads that run ahead and no
    other product: what else is loaded for it where slices of it are computed between the slices of the product, else
    all that computes it.
    """
    found: dict[Operation, None] = {}
    for dot in body_ops(loop):
        if not isinstance(dot, ttng.WarpGroupDotOp) or not is_tensor(dot.a.type):
            continue
        maker = definition_in(loop, dot.a)
        while isinstance(maker, tt.TransOp | ttg.ConvertLayoutOp):
            maker = definition_in(loop, maker.src)
        if maker is None or isinstance(maker, PipelinedLoad):
            continue
        needed = [maker, *(op for value in maker.operands for op in backward_slice(value, loop.body.block))]
        if not any(op in chosen for op in needed) or any(isinstance(op, MatrixProduct) for op in needed):
            continue
        if slices_of(dot, lambda op: _is_copied(op, chosen)):
            found.update((op, None) for op in needed if isinstance(op, tt.LoadOp) and op not in chosen)
        else:
            found[maker] = None
    return list(found)


def _is_copied(op: Operation, chosen: dict[Operation, int]) -> bool:
    """Return whether an op is a load that runs ahead, or that load in another layout."""
    while isinstance(op, ttg.ConvertLayoutOp) and isinstance(op.src, OpResult):
        op = op.src.op
    return op in chosen


class _Assigner:
    """Assigns the latencies of one module."""

    def __init__(self, module: ModuleOp, num_stages: int, context: PassContext) -> None:
        self._axis_info = ModuleAxisInfo(module)
        self._has_tma = TARGET in module.attributes and compute_capability(module) >= HOPPER
        self._num_stages = num_stages
        self._context = context

    def assign(self, loop: scf.ForOp) -> None:
        """Mark the loads of a loop; one whose ops bear latencies already is left as the user wrote it."""
        if WARP_SPECIALIZE in loop.attributes:
            self._context.remark(
                loop, "that it asks for it does not specialize its warps: `TILEWRIGHT_SPECIALIZE_WARPS` does"
            )
        own = integer_attribute(loop, NUM_STAGES)
        stages = self._num_stages if own is None else own
        if stages <= 1 or any(LATENCY in op.attributes for op in body_ops(loop)):
            return
        levels = _levels(loop, every_load=own is not None)
        if not levels:
            return
        obstacle = obstacle_in(loop)
        if obstacle is not None:
            self._context.remark(loop, f"the loop is not pipelined: {obstacle}", RemarkKind.NOT_PIPELINED)
            return
        chosen = self._choose(loop, levels, stages)
        if chosen:
            latency = (stages - 1) // (max(chosen.values()) + 1)
            for load in chosen:
                load.attributes[LATENCY] = i32_attr(latency)
            for op in _ahead_of_products(loop, chosen):
                if not isinstance(op, PipelinedLoad) or self._may_run_ahead(op, loop):
                    op.attributes[LATENCY] = i32_attr(1)

    def _choose(self, loop: scf.ForOp, levels: dict[Operation, int], stages: int) -> dict[Operation, int]:
        written = WrittenMemory(loop)
        chosen: dict[Operation, int] = {}
        for load, level in levels.items():
            assert isinstance(load, PipelinedLoad)
            reason = self._objection(load, written)
            if reason is not None:
                self._context.remark(load, f"the load is not pipelined: {reason}", RemarkKind.NOT_PIPELINED)
            elif level < stages - 1:
                chosen[load] = level
                if isinstance(load, tt.LoadOp) and self._has_tma:
                    reason = "it is copied by 'cp.async', not by TMA: it goes through a tensor of pointers"
                    self._context.remark(load, reason, RemarkKind.NOT_TMA)
        return chosen

    def _may_run_ahead(self, load: PipelinedLoad, loop: scf.ForOp) -> bool:
        """Return whether a load of any width may be executed in the iteration before, its result in registers."""
        is_volatile = isinstance(load, tt.LoadOp) and load.is_volatile.value.data
        return not is_volatile and not WrittenMemory(loop).may_hold((address_of(load),))

    def _objection(self, load: PipelinedLoad, written: WrittenMemory) -> str | None:
        if not is_tensor(load.result.type):
            return "it reads a scalar"
        if isinstance(load, tt.LoadOp) and load.is_volatile.value.data:
            return "it is volatile"
        if written.may_hold((address_of(load),)):
            return "the loop may write what it reads"
        if isinstance(load, tt.LoadOp) and not can_copy_asynchronously(load, self._axis_info):
            return "it reads less than 4 bytes at a time"
        return None


@register_pass
class AssignLatenciesPass(Pass):
    """Loads that feed matmuls run ahead, by as many stages as there are: `num-stages`, or what the loop says
    in `tt.num_stages`, in which case all its loads do. Loads that feed the addresses of other loads share the stages
    with these. What computes the left operand of a `wgmma` from them, in registers, runs one stage ahead, while the
    product of the iteration before is under way; where it is computed slice by slice between the slices of the product
    (`tritongpu-pipeline`), only what else is loaded for it.

    Before (`num-stages=3`):
    ```mlir
    scf.for %i = %lb to %ub step %s iter_args(%acc = %zero) -> (tensor<128x128xf32, #mma>) : i32 {
      %a = tt.load %pa : tensor<128x64x!tt.ptr<f16>, #blocked>
      ...
    ```
    After:
    ```mlir
      %a = tt.load %pa {tt.latency = 2 : i32} : tensor<128x64x!tt.ptr<f16>, #blocked>
    ```
    """

    name = "tritongpu-assign-latencies"

    num_stages: int = 3
    """Iterations of a loop that are under way at the same time."""

    def run(self, module: ModuleOp, context: PassContext) -> None:
        shape = program_shape(module)
        if shape is not None and shape.blocks > 1:
            return  # buffers of copies that run ahead are not shared out among CTAs
        loops = [op for op in ops_within(module) if isinstance(op, scf.ForOp)]
        if loops:
            assigner = _Assigner(module, self.num_stages, context)
            for loop in loops:
                assigner.assign(loop)
