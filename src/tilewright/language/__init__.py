"""The kernel language: everything that `import triton.language as tl` gives.

Each function's docstring is its documentation. `docs/language.md` is generated from them. Nothing here imports xDSL
until a kernel is compiled.
"""

from tilewright.language import context as context, operators as operators
from tilewright.language.aggregates import aggregate as _aggregate
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
from tilewright.language.callables import constexpr_function as constexpr_function
from tilewright.language.casts import cast as cast
from tilewright.language.combining import (
    associative_scan as associative_scan,
    map_elementwise as map_elementwise,
    reduce as reduce,
)
from tilewright.language.creation import (
    arange as arange,
    full as full,
    num_programs as num_programs,
    program_id as program_id,
    to_tensor as to_tensor,
)
from tilewright.language.debugging import (
    assume as assume,
    debug_barrier as debug_barrier,
    device_assert as device_assert,
    device_print as device_print,
    expect_zero as expect_zero,
    max_constancy as max_constancy,
    max_contiguous as max_contiguous,
    multiple_of as multiple_of,
    static_assert as static_assert,
    static_print as static_print,
)
from tilewright.language.descriptors import (
    load_tensor_descriptor as load_tensor_descriptor,
    make_tensor_descriptor as make_tensor_descriptor,
    store_tensor_descriptor as store_tensor_descriptor,
    tensor_descriptor as tensor_descriptor,
    tensor_descriptor_type as tensor_descriptor_type,
)
from tilewright.language.dtypes import (
    TRITON_MAX_TENSOR_NUMEL as TRITON_MAX_TENSOR_NUMEL,
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
    get_int_dtype as get_int_dtype,
    int1 as int1,
    int8 as int8,
    int16 as int16,
    int32 as int32,
    int64 as int64,
    pi32_t as pi32_t,
    pointer_type as pointer_type,
    uint8 as uint8,
    uint16 as uint16,
    uint32 as uint32,
    uint64 as uint64,
    void as void,
)
from tilewright.language.elementwise import (
    PropagateNan as PropagateNan,
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
from tilewright.language.inline import inline_asm_elementwise as inline_asm_elementwise
from tilewright.language.iteration import condition as condition, range as range, static_range as static_range
from tilewright.language.matmul import dot as dot, dot_scaled as dot_scaled
from tilewright.language.memory import (
    advance as advance,
    load as load,
    make_block_ptr as make_block_ptr,
    store as store,
)
from tilewright.language.random import (
    pair_uniform_to_normal as pair_uniform_to_normal,
    philox as philox,
    philox_impl as philox_impl,
    rand as rand,
    rand4x as rand4x,
    randint as randint,
    randint4x as randint4x,
    randn as randn,
    randn4x as randn4x,
    uint_to_uniform_float as uint_to_uniform_float,
)
from tilewright.language.registry import builtin as builtin, must_use_result as must_use_result
from tilewright.language.shape import (
    broadcast as broadcast,
    broadcast_to as broadcast_to,
    cat as cat,
    expand_dims as expand_dims,
    gather as gather,
    histogram as histogram,
    item as item,
    join as join,
    permute as permute,
    reshape as reshape,
    split as split,
    trans as trans,
    view as view,
)
from tilewright.language.sorting import (
    bitonic_merge as bitonic_merge,
    flip as flip,
    sort as sort,
    topk as topk,
)
from tilewright.language.standard import (
    argmax as argmax,
    argmin as argmin,
    cdiv as cdiv,
    cumprod as cumprod,
    cumsum as cumsum,
    interleave as interleave,
    max as max,
    min as min,
    ravel as ravel,
    reduce_or as reduce_or,
    sigmoid as sigmoid,
    softmax as softmax,
    squeeze as squeeze,
    sum as sum,
    swizzle2d as swizzle2d,
    unsqueeze as unsqueeze,
    xor_sum as xor_sum,
    zeros as zeros,
    zeros_like as zeros_like,
)
from tilewright.language.type_names import str_to_ty as str_to_ty
from tilewright.language.values import (
    base_value as base_value,
    constexpr as constexpr,
    constexpr_type as constexpr_type,
    slice as slice,
    tensor as tensor,
    tuple as tuple,
    tuple_type as tuple_type,
)
from tilewright.support import late as _late


class const:
    """As an annotation of a pointer parameter: the kernel only reads through it."""


_experimental_make_tensor_descriptor = make_tensor_descriptor
"""Its name in Triton 3.2 and 3.3, which programs for several versions ask for first."""

_SUBMODULES = {"core", "extra", "math", "random", "standard", "target_info"}


def __getattr__(name: str) -> object:
    """Submodules are imported when they are first named."""
    from importlib import import_module

    if name in _SUBMODULES:
        return import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__ = [*_late.public_names(__name__), "_aggregate"]  # pyright: ignore[reportUnsupportedDunderAll]
