"""What the CTAs of a cluster do together: barriers of the cluster, and stores that report to a barrier object."""

from __future__ import annotations

from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Operation
from xdsl.irdl import ParsePropInAttrDict, traits_def
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.construction import bool_attr
from tilewright.dialects.fields import Operand, operand_def, prop_def
from tilewright.dialects.tt.constraints import TENSOR
from tilewright.dialects.ttg.constraints import MEMDESC, TritonGPUOp, check_mutable, check_same_contents
from tilewright.dialects.ttg.effects import SHARED, WRITE, Touches
from tilewright.dialects.ttng.barriers import ORDERS_MEMORY, check_barrier, find_num_ctas
from tilewright.ir.verify import VerifiedAmongOthers


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
