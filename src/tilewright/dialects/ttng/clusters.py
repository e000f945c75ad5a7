"""What the CTAs of a cluster do together: barriers of the cluster, and stores that report to a barrier object."""

from __future__ import annotations

from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Attribute, Operation
from xdsl.irdl import ParsePropInAttrDict, traits_def
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.construction import bool_attr
from tilewright.dialects.fields import Operand, operand_def, prop_def
from tilewright.dialects.tt.constraints import TENSOR
from tilewright.dialects.tt.function import FuncOp
from tilewright.dialects.tt.types import NO_ENCODING
from tilewright.dialects.ttg.constraints import MEMDESC, TritonGPUOp, as_memdesc, check_mutable, check_same_contents
from tilewright.dialects.ttg.effects import SHARED, WRITE, Touches
from tilewright.dialects.ttg.encodings import layout_of
from tilewright.dialects.ttg.shared_encodings import find_shared_layout
from tilewright.dialects.ttng.barriers import ORDERS_MEMORY, check_barrier, find_num_ctas
from tilewright.dialects.types import as_tensor, bit_width
from tilewright.ir.verify import VerifiedAmongOthers
from tilewright.layouts.between_ctas import plan_cluster_access

STORED_BITS = 32
"""Of the narrowest store that reports to a barrier."""


def check_several_ctas(op: Operation) -> None:
    """VerifyException where the module says that programs have one CTA."""
    if find_num_ctas(op) == 1:
        raise VerifyException("requires ttg.num-ctas > 1")


class ClusterArriveOp(TritonGPUOp):
    """Arrives at the barrier of the cluster: `ttng.cluster_arrive {relaxed = false}`."""

    name = "ttng.cluster_arrive"

    relaxed: IntegerAttr = prop_def(IntegerAttr, converter=bool_attr, default=False, kw_only=True)

    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = "attr-dict"
    traits = traits_def(ORDERS_MEMORY)


class ClusterWaitOp(TritonGPUOp):
    """Waits for all CTAs of the cluster: `ttng.cluster_wait`."""

    name = "ttng.cluster_wait"

    assembly_format = "attr-dict"
    traits = traits_def(ORDERS_MEMORY)


class ClusterBarrierOp(TritonGPUOp):
    """All threads of the cluster wait for each other; `relaxed`, they do not see each other's writes by that:
    `ttng.cluster_barrier {relaxed = true}`."""

    name = "ttng.cluster_barrier"

    relaxed: IntegerAttr = prop_def(
        IntegerAttr, default_value=bool_attr(False), converter=bool_attr, default=False, kw_only=True
    )

    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = "attr-dict"
    traits = traits_def(ORDERS_MEMORY, VerifiedAmongOthers())

    def verify_(self) -> None:
        check_several_ctas(self)
        function = self.parent_op()
        while function is not None and not isinstance(function, FuncOp):
            function = function.parent_op()
        if function is not None and not function.is_public and function.is_noinline:
            raise VerifyException("must be inside a kernel function")


class FenceMBarrierInitReleaseClusterOp(TritonGPUOp):
    """Makes barriers that were initialised visible to the other CTAs of the cluster, once they meet at a barrier of
    it: `ttng.fence_mbarrier_init_release_cluster`."""

    name = "ttng.fence_mbarrier_init_release_cluster"

    assembly_format = "attr-dict"
    traits = traits_def(ORDERS_MEMORY, VerifiedAmongOthers())

    def verify_(self) -> None:
        check_several_ctas(self)


class AsyncSharedStoreOp(TritonGPUOp):
    """Starts storing a tensor into a buffer; the barrier counts its bytes.

    `ttng.async_shared_store %t, %m, %b : tensor<128xi32, #blocked> -> !ttg.memdesc<128xi32, ...>, !ttg.memdesc<2xi64,
    ...>`
    """

    name = "ttng.async_shared_store"

    src: Operand = operand_def(TENSOR)
    dst: Operand = operand_def(MEMDESC)
    mbarrier: Operand = operand_def(MEMDESC)

    assembly_format = "$src `,` $dst `,` $mbarrier attr-dict `:` type($src) `->` type($dst) `,` type($mbarrier)"
    traits = traits_def(Touches(((WRITE, SHARED),)), VerifiedAmongOthers())

    def verify_(self) -> None:
        if find_num_ctas(self) == 1:
            raise VerifyException("requires at least two CTAs in the cluster")
        check_mutable(self.dst.type)
        check_same_contents(self.src.type, self.dst.type, "async_shared_store")
        check_barrier(self, self.mbarrier.type)
        _check_packed(self.src.type, self.dst.type)


def _check_packed(tensor: Attribute, buffer: Attribute) -> None:
    """VerifyException unless elements of less than 32 bits that a thread holds lie side by side in the buffer."""
    value, memory = as_tensor(tensor), as_memdesc(buffer)
    layout, bits = find_shared_layout(memory.encoding), bit_width(value.element_type)
    if layout is None or value.encoding == NO_ENCODING or bits >= STORED_BITS or layout.rank != len(value.get_shape()):
        return
    registers = layout_of(value.encoding).to_linear(value.get_shape())
    offsets = layout.to_linear(memory.get_alloc_shape()[-layout.rank :]).pseudoinvert()
    if plan_cluster_access(registers, offsets, layout.cga, bits).access.vector * bits < STORED_BITS:
        raise VerifyException("requires a layout vectorizing stores to at least 32 bits")
