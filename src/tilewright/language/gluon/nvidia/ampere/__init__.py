"""Ampere: copies that run beside computing, barriers in shared memory, `mma.sync`."""

from __future__ import annotations

from typing import Any

from tilewright.language.gluon.agreement import layout_of
from tilewright.language.gluon.blocks import check_operands
from tilewright.language.gluon.cache_policies import FractionalEvictionPolicy
from tilewright.language.gluon.cache_policies import NvidiaCachePolicy as CachePolicy
from tilewright.language.gluon.distributed_layouts import NVMMADistributedLayout
from tilewright.language.gluon.nvidia.ampere import async_copy, mbarrier
from tilewright.language.matmul import dot
from tilewright.language.registry import builtin, wrong_layout
from tilewright.language.values import tensor


@builtin
def mma_v2(a: Any, b: Any, acc: Any, input_precision: Any = None) -> tensor:
    """`a @ b + acc` by `mma.sync`. `acc` has an NVMMADistributedLayout of version [2, 0], `a` and `b` dot-operand
    layouts of it."""
    check_operands(a, b, acc, NVMMADistributedLayout)
    layout: Any = layout_of(acc, "`acc`")
    if layout.version != [2, 0]:
        raise wrong_layout(ValueError(f"mma_v2 needs a layout of version [2, 0], got {layout}"))
    return dot(a, b, acc, input_precision=input_precision, out_dtype=acc.dtype)


__all__ = ["CachePolicy", "FractionalEvictionPolicy", "async_copy", "mbarrier", "mma_v2"]
