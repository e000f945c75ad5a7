"""`tritongpu-sync-clusters`: CTAs meet before they reach into each other, and before they end."""

from __future__ import annotations

from types import UnionType

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, Block, Operation, SSAValue

from tilewright.analysis.scratch import scratch_bytes
from tilewright.analysis.shared_views import view_of
from tilewright.dialects import scf, tt, ttg, ttng
from tilewright.dialects.ttg.constraints import may_begin_elsewhere
from tilewright.dialects.ttg.encodings import layout_of
from tilewright.dialects.ttg.shared_encodings import find_shared_layout
from tilewright.dialects.ttg.types import MemDescType
from tilewright.dialects.ttg.verification import program_shape
from tilewright.dialects.types import as_tensor
from tilewright.ir.builder import OpBuilder
from tilewright.ir.passes import Pass, PassContext, register_pass
from tilewright.ir.walking import ops_within
from tilewright.layouts.between_ctas import reaches_other_ctas
from tilewright.layouts.distributed import Vectors

BARRIER_OPS = (ttng.InitBarrierOp, ttng.BarrierExpectOp, ttng.ArriveBarrierOp, ttng.WaitBarrierOp)
"""Ops on mbarriers, whose memory no copy writes while they live."""

DIRECT = (
    ttg.LocalLoadOp,
    ttg.LocalStoreOp,
    ttg.LocalAllocOp,
    ttg.LocalGatherOp,
    ttg.LocalScatterOp,
    ttg.LocalAtomicScatterRMWOp,
)
"""Ops by which threads access buffers."""


@register_pass
class SyncClustersPass(Pass):
    """In programs of several CTAs that copy or store for each other, or arrive at each other's mbarriers, inserts
    barriers of the cluster.

    ```mlir
    ttng.init_barrier %b, 1 : ...
    ttng.async_tma_copy_global_to_local %d[%i, %j] %m, %b, %true {multicast} : ...
    tt.return
    // becomes
    ttng.init_barrier %b, 1 : ...
    ttng.fence_mbarrier_init_release_cluster
    ttng.cluster_barrier {relaxed = true}
    ttng.async_tma_copy_global_to_local %d[%i, %j] %m, %b, %true {multicast} : ...
    ttng.cluster_barrier
    tt.return
    ```
    Loads and stores that reach into other CTAs have such barriers on both sides.
    mbarriers are made known before others use them; a copy to several CTAs waits until all of them are done with what
    it overwrites, where the buffer was used before; and no CTA ends while others may still reach it. Kernels need not
    say any of this, as in Triton 3.9. In partitions of warps a barrier of the cluster is one of the warps of the same
    role in all CTAs; copies there get none, as what other roles still read is theirs to say, by mbarriers.
    """

    name = "tritongpu-sync-clusters"

    def run(self, module: ModuleOp, context: PassContext) -> None:
        shape = program_shape(module)
        if shape is None or shape.blocks == 1:
            return
        if not any(_reaches(op) for op in ops_within(module)):
            return
        for op in list(ops_within(module)):
            match op:
                case ttng.InitBarrierOp() if not isinstance(_next(op), ttng.InitBarrierOp):
                    builder = OpBuilder.after(op)
                    builder.insert(ttng.FenceMBarrierInitReleaseClusterOp())
                    builder.insert(ttng.ClusterBarrierOp(relaxed=True))
                case ttng.AsyncTMACopyGlobalToLocalOp() if op.multicast is not None and _overwrites(op, op.result):
                    OpBuilder.before(op).insert(ttng.ClusterBarrierOp())
                case ttng.AsyncSharedStoreOp() if _overwrites(op, op.dst):
                    OpBuilder.before(op).insert(ttng.ClusterBarrierOp())
                case _ if isinstance(op, DIRECT) and _reaches(op):
                    OpBuilder.before(op).insert(ttng.ClusterBarrierOp())
                    OpBuilder.after(op).insert(ttng.ClusterBarrierOp())
                case tt.ReturnOp() if _is_kernel(op.parent_op()):
                    OpBuilder.before(op).insert(ttng.ClusterBarrierOp())
                case _:
                    pass


def _reaches(op: Operation) -> bool:
    """Return whether an op reaches into the shared memory of other CTAs."""
    match op:
        case ttng.AsyncTMACopyGlobalToLocalOp():
            return op.multicast is not None
        case ttng.AsyncSharedStoreOp():
            return True
        case ttg.LocalLoadOp():
            return _is_elsewhere(op.result.type, op.src.type, writes=False)
        case ttg.LocalStoreOp():
            return _is_elsewhere(op.src.type, op.dst.type, writes=True)
        case ttg.LocalAllocOp() if op.src is not None:
            return _is_elsewhere(op.src.type, op.result.type, writes=True)
        case ttg.LocalGatherOp():
            return any(any(basis) for basis in _cga_of(op.src.type))
        case ttg.LocalScatterOp() | ttg.LocalAtomicScatterRMWOp():
            held = layout_of(as_tensor(op.values.type).encoding).cga
            return any(any(basis) for basis in (*_cga_of(op.dst.type), *held))
        case ttng.ArriveBarrierOp() | ttng.BarrierExpectOp():
            count = ttng.find_num_ctas(op) or 1
            goes_elsewhere = op.from_cta is not None and op.from_cta.value.data != count - 1
            return goes_elsewhere or ttng.shared_ctas(op.alloc.type) != 0
        case _:
            return False


def _cga_of(buffer: Attribute) -> Vectors:
    """Return which part of a buffer each CTA has."""
    assert isinstance(buffer, MemDescType)
    layout = find_shared_layout(buffer.encoding)
    return () if layout is None else layout.cga


def _is_elsewhere(tensor: Attribute, buffer: Attribute, *, writes: bool) -> bool:
    """Return whether a tensor is read from, or written to, memory of other CTAs."""
    assert isinstance(buffer, MemDescType)
    layout = find_shared_layout(buffer.encoding)
    if layout is None or not layout.cga:
        return False
    if may_begin_elsewhere(buffer):
        return True
    kind = as_tensor(tensor)
    registers = layout_of(kind.encoding).to_linear(kind.get_shape())
    names = list(registers.out_dims)[-layout.rank :]
    held = registers.sublayout(list(registers.in_dims), names)
    offsets = layout.to_linear(buffer.get_alloc_shape()[-layout.rank :]).pseudoinvert()
    held = held.rename_outs(dict(zip(names, offsets.in_dims, strict=True)))
    return reaches_other_ctas(held, offsets, layout.cga, writes=writes)


def _next(op: Operation) -> Operation | None:
    """The op after one, views of buffers and constants left out."""
    following = op.next_op
    while following is not None and not _touches_memory(following) and not following.regions:
        if isinstance(following, tt.ReturnOp | ttng.ClusterBarrierOp):
            break
        following = following.next_op
    return following


def _touches_memory(op: Operation) -> bool:
    """Return whether an op does something with a buffer, other than to choose a part of it."""
    has_buffer = any(isinstance(operand.type, MemDescType) for operand in op.operands)
    return has_buffer and not any(isinstance(result.type, MemDescType) for result in op.results)


def _is_kernel(function: Operation | None) -> bool:
    return isinstance(function, tt.FuncOp) and function.is_public


def _overwrites(op: Operation, target: SSAValue) -> bool:
    """Return whether a copy into a buffer may overwrite what some CTA still reads: in a loop, or where the buffer was
    used before, unless the cluster has just met. In partitions it is the kernel's to see to that."""
    if _is_inside(op, ttg.WarpSpecializeOp):
        return False
    before = op.prev_op
    while before is not None and (not _touches_memory(before) or _starts_another(before, target)):
        if isinstance(before, ttng.ClusterBarrierOp) and not before.relaxed.value.data:
            return False
        if before.regions:
            break
        before = before.prev_op
    return _is_inside(op, scf.ForOp | scf.WhileOp) or any(_uses_memory(other) for other in _before(op))


def _starts_another(op: Operation, target: SSAValue) -> bool:
    """Return whether an op belongs to copies that are started together with one into `target`."""
    match op:
        case ttng.BarrierExpectOp():
            return True
        case ttng.AsyncTMACopyGlobalToLocalOp():
            return view_of(op.result).root is not view_of(target).root
        case _:
            return False


def _is_inside(op: Operation, what: type[Operation] | UnionType) -> bool:
    parent = op.parent_op()
    while parent is not None and not isinstance(parent, tt.FuncOp):
        if isinstance(parent, what):
            return True
        parent = parent.parent_op()
    return False


def _uses_memory(op: Operation) -> bool:
    """Return whether an op reads or writes what a copy may overwrite: buffers are given memory later, which others had
    before."""
    if isinstance(op, BARRIER_OPS):
        return False
    return _touches_memory(op) or scratch_bytes(op) > 0 or (isinstance(op, ttg.LocalAllocOp) and op.src is not None)


def _before(op: Operation) -> list[Operation]:
    """The ops in front of one, and in front of what it is in."""
    found: list[Operation] = []
    current: Operation | None = op
    while current is not None and not isinstance(current, tt.FuncOp):
        block = current.parent
        for other in block.ops if isinstance(block, Block) else ():
            if other is current:
                break
            found += ops_within(other)
        current = current.parent_op()
    return found
