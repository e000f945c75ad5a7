"""The kernel language: everything that `import triton.language as tl` gives.

Each function's docstring is its documentation. `docs/language.md` is generated from them. Nothing here imports xDSL until a
kernel is compiled.
"""

# ruff: noqa: F401
from tilewright.language import context, operators
from tilewright.language.aggregates import aggregate as _aggregate
from tilewright.language.arithmetic import add, mul, sub, where
from tilewright.language.atomics import (
    atomic_add,
    atomic_and,
    atomic_cas,
    atomic_max,
    atomic_min,
    atomic_or,
    atomic_xchg,
    atomic_xor,
)
from tilewright.language.callables import constexpr_function
from tilewright.language.casts import cast
from tilewright.language.combining import associative_scan, map_elementwise, reduce
from tilewright.language.creation import arange, full, num_programs, program_id, to_tensor
from tilewright.language.debugging import (
    assume,
    debug_barrier,
    device_assert,
    device_print,
    max_constancy,
    max_contiguous,
    multiple_of,
    static_assert,
    static_print,
)
from tilewright.language.descriptors import (
    load_tensor_descriptor,
    make_tensor_descriptor,
    store_tensor_descriptor,
    tensor_descriptor,
    tensor_descriptor_type,
)
from tilewright.language.dtypes import (
    TRITON_MAX_TENSOR_NUMEL,
    base_type,
    bfloat16,
    block_type,
    dtype,
    float8e4b8,
    float8e4b15,
    float8e4nv,
    float8e5,
    float8e5b16,
    float16,
    float32,
    float64,
    get_int_dtype,
    int1,
    int8,
    int16,
    int32,
    int64,
    pi32_t,
    pointer_type,
    uint8,
    uint16,
    uint32,
    uint64,
    void,
)
from tilewright.language.elementwise import (
    PropagateNan,
    abs,
    ceil,
    clamp,
    cos,
    div_rn,
    erf,
    exp,
    exp2,
    fdiv,
    floor,
    fma,
    log,
    log2,
    maximum,
    minimum,
    rsqrt,
    sin,
    sqrt,
    sqrt_rn,
    umulhi,
)
from tilewright.language.inline import inline_asm_elementwise
from tilewright.language.iteration import condition, range, static_range
from tilewright.language.matmul import dot, dot_scaled
from tilewright.language.memory import advance, load, make_block_ptr, store
from tilewright.language.random import (
    pair_uniform_to_normal,
    philox,
    philox_impl,
    rand,
    rand4x,
    randint,
    randint4x,
    randn,
    randn4x,
    uint_to_uniform_float,
)
from tilewright.language.registry import builtin, must_use_result
from tilewright.language.shape import (
    broadcast,
    broadcast_to,
    cat,
    expand_dims,
    gather,
    histogram,
    item,
    join,
    permute,
    reshape,
    split,
    trans,
    view,
)
from tilewright.language.sorting import bitonic_merge, flip, sort, topk
from tilewright.language.standard import (
    argmax,
    argmin,
    cdiv,
    cumprod,
    cumsum,
    interleave,
    max,
    min,
    ravel,
    reduce_or,
    sigmoid,
    softmax,
    sum,
    swizzle2d,
    xor_sum,
    zeros,
    zeros_like,
)
from tilewright.language.type_names import str_to_ty
from tilewright.language.values import base_value, constexpr, constexpr_type, slice, tensor, tuple, tuple_type


class const:
    """As an annotation of a pointer parameter: the kernel only reads through it."""


_SUBMODULES = {"core", "extra", "math", "random", "standard", "target_info"}


def __getattr__(name: str) -> object:
    """Submodules are imported when they are first named."""
    from importlib import import_module

    if name in _SUBMODULES:
        return import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
