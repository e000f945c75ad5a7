"""Gluon's language: `from tilewright.gluon import language as gl`. Kernels are written as in Triton; layouts, shared
memory, copies, barriers and what each warp does are written by the user."""

from tilewright.language.aggregates import aggregate_replace as aggregate_replace
from tilewright.language.arithmetic import add as add, mul as mul, sub as sub, where as where
from tilewright.language.atomics import (
    atomic_add as atomic_add,
    atomic_and as atomic_and,
    atomic_cas as atomic_cas,
    atomic_load as atomic_load,
    atomic_max as atomic_max,
    atomic_min as atomic_min,
    atomic_or as atomic_or,
    atomic_poll as atomic_poll,
    atomic_store as atomic_store,
    atomic_xchg as atomic_xchg,
    atomic_xor as atomic_xor,
)
from tilewright.language.casts import cast as cast
from tilewright.language.combining import (
    associative_scan as associative_scan,
    map_elementwise as map_elementwise,
    reduce as reduce,
)
from tilewright.language.creation import (
    num_programs as num_programs,
    program_id as program_id,
    to_tensor as to_tensor,
)
from tilewright.language.debugging import (
    assume as assume,
    device_assert as device_assert,
    device_print as device_print,
    expect_zero as expect_zero,
    max_constancy as max_constancy,
    max_contiguous as max_contiguous,
    multiple_of as multiple_of,
    static_assert as static_assert,
    static_print as static_print,
)
from tilewright.language.dtypes import (
    base_type as base_type,
    bfloat16 as bfloat16,
    block_type as block_type,
    dtype as dtype,
    float8e4b8 as float8e4b8,
    float8e4b15 as float8e4b15,
    float8e4nv as float8e4nv,
    float8e5 as float8e5,
    float8e5b16 as float8e5b16,
    float16 as float16,
    float32 as float32,
    float64 as float64,
    int1 as int1,
    int8 as int8,
    int16 as int16,
    int32 as int32,
    int64 as int64,
    pointer_type as pointer_type,
    uint8 as uint8,
    uint16 as uint16,
    uint32 as uint32,
    uint64 as uint64,
    void as void,
)
from tilewright.language.elementwise import (
    abs as abs,
    ceil as ceil,
    clamp as clamp,
    cos as cos,
    div_rn as div_rn,
    erf as erf,
    exp as exp,
    exp2 as exp2,
    fdiv as fdiv,
    floor as floor,
    fma as fma,
    log as log,
    log2 as log2,
    maximum as maximum,
    minimum as minimum,
    rsqrt as rsqrt,
    sin as sin,
    sqrt as sqrt,
    sqrt_rn as sqrt_rn,
    umulhi as umulhi,
)
from tilewright.language.gluon import amd as amd, extra as extra, nvidia as nvidia
from tilewright.language.gluon.blocks import (
    arange as arange,
    barrier as barrier,
    convert_layout as convert_layout,
    dot_fma as dot_fma,
    fp4_to_fp as fp4_to_fp,
    full as full,
    full_like as full_like,
    histogram as histogram,
    load as load,
    num_ctas as num_ctas,
    num_warps as num_warps,
    set_auto_layout as set_auto_layout,
    store as store,
    thread_barrier as thread_barrier,
    to_linear_layout as to_linear_layout,
    zeros as zeros,
    zeros_like as zeros_like,
)
from tilewright.language.gluon.buffers import (
    allocate_shared_memory as allocate_shared_memory,
    shared_memory_descriptor as shared_memory_descriptor,
)
from tilewright.language.gluon.cache_policies import CachePolicy as CachePolicy
from tilewright.language.gluon.conflicts import bank_conflicts as bank_conflicts
from tilewright.language.gluon.distributed_layouts import (
    AutoLayout as AutoLayout,
    BlockedLayout as BlockedLayout,
    CoalescedLayout as CoalescedLayout,
    DistributedLayout as DistributedLayout,
    DistributedLinearLayout as DistributedLinearLayout,
    DotOperandLayout as DotOperandLayout,
    NVMMADistributedLayout as NVMMADistributedLayout,
    SliceLayout as SliceLayout,
)
from tilewright.language.gluon.inline_assembly import inline_asm as inline_asm
from tilewright.language.gluon.shared_layouts import (
    NVMMASharedLayout as NVMMASharedLayout,
    PaddedSharedLayout as PaddedSharedLayout,
    SharedLayout as SharedLayout,
    SharedLinearLayout as SharedLinearLayout,
    SwizzledSharedLayout as SwizzledSharedLayout,
)
from tilewright.language.gluon.specialization import warp_specialize as warp_specialize
from tilewright.language.gluon.types import (
    distributed_type as distributed_type,
    shared_memory_descriptor_type as shared_memory_descriptor_type,
)
from tilewright.language.inline import inline_asm_elementwise as inline_asm_elementwise
from tilewright.language.iteration import static_range as static_range
from tilewright.language.shape import (
    broadcast as broadcast,
    expand_dims as expand_dims,
    gather as gather,
    join as join,
    permute as permute,
    reshape as reshape,
    split as split,
)
from tilewright.language.standard import (
    cdiv as cdiv,
    cumprod as cumprod,
    cumsum as cumsum,
    max as max,
    min as min,
    ravel as ravel,
    reduce_or as reduce_or,
    sum as sum,
    xor_sum as xor_sum,
)
from tilewright.language.values import (
    base_value as base_value,
    constexpr as constexpr,
    tensor as tensor,
    tuple as tuple,
    tuple_type as tuple_type,
)
from tilewright.support import late as _late

__all__ = [*_late.public_names(__name__), "amd", "extra", "nvidia"]  # pyright: ignore[reportUnsupportedDunderAll]
