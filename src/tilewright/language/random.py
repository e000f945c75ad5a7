"""Counter-based random numbers: Philox 4x32 and 4x64.

The numbers are those of Triton, bit for bit. Philox: J. K. Salmon, M. A. Moraes, R. O. Dror, D. E. Shaw, "Parallel
random numbers: as easy as 1, 2, 3", SC'11.
"""

# Kernel code: a parameter takes its type from each call, so there is nothing to annotate.
# pyright: reportMissingParameterType=false, reportUnknownParameterType=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false, reportPrivateUsage=false
# pyright: reportUnnecessaryComparison=false, reportAssignmentType=false, reportArgumentType=false
# pyright: reportOperatorIssue=false

from __future__ import annotations

from tilewright.language import dtypes, elementwise
from tilewright.language.arithmetic import add, mul, where
from tilewright.language.callables import constexpr_function, language_function
from tilewright.language.creation import to_tensor
from tilewright.language.debugging import static_assert
from tilewright.language.iteration import static_range
from tilewright.language.values import constexpr

N_ROUNDS_DEFAULT = constexpr(10)
_uint32, _uint64 = dtypes.uint32, dtypes.uint64
_int32, _int64 = dtypes.int32, dtypes.int64

_MULTIPLIERS = {32: (0xD2511F53, 0xCD9E8D57), 64: (0xD2E7470EE14C6C93, 0xCA5A826395121157)}
_KEY_STEPS = {32: (0x9E3779B9, 0xBB67AE85), 64: (0x9E3779B97F4A7C15, 0xBB67AE8584CAA73B)}


@constexpr_function
def _multiplier(width, which):
    return _MULTIPLIERS[width][which]


@constexpr_function
def _key_step(width, which):
    return _KEY_STEPS[width][which]


@language_function
def philox_impl(c0, c1, c2, c3, k0, k1, n_rounds: constexpr = N_ROUNDS_DEFAULT):
    """Run `n_rounds` rounds of Philox on the counter (c0, c1, c2, c3) under the key (k0, k1); uint32 or uint64."""
    width: constexpr = c0.dtype.primitive_bitwidth
    static_assert(c0.dtype == _uint32 or c0.dtype == _uint64, "dtype not supported in philox_impl")
    for _ in static_range(n_rounds):
        a: constexpr = _multiplier(width, 0)
        b: constexpr = _multiplier(width, 1)
        old0, old2 = c0, c2
        c0 = elementwise.umulhi(_same_width(b, c0), old2) ^ c1 ^ k0
        c2 = elementwise.umulhi(_same_width(a, c0), old0) ^ c3 ^ k1
        c1 = mul(b, old2, sanitize_overflow=False)
        c3 = mul(a, old0, sanitize_overflow=False)
        k0 = add(k0, _key_step(width, 0), sanitize_overflow=False)
        k1 = add(k1, _key_step(width, 1), sanitize_overflow=False)
    return c0, c1, c2, c3


@language_function
def _same_width(number, like):
    """A constant as a scalar of the counter's type."""
    return to_tensor(number).to(like.dtype)


@language_function
def philox(seed, c0, c1, c2, c3, n_rounds: constexpr = N_ROUNDS_DEFAULT):
    """Four random integers per counter. Counters of 32 bits split the seed into two keys, those of 64 bits use it
    whole."""
    seed = to_tensor(seed)
    c0 = to_tensor(c0)
    c1 = to_tensor(c1)
    c2 = to_tensor(c2)
    c3 = to_tensor(c3)
    seed = seed.to(_uint64)
    if c0.dtype.primitive_bitwidth == 32:
        key_hi = ((seed >> 32) & 0xFFFFFFFF).to(_uint32)
        key_lo = (seed & 0xFFFFFFFF).to(_uint32)
        c0 = c0.to(_uint32, bitcast=True)
        c1 = c1.to(_uint32, bitcast=True)
        c2 = c2.to(_uint32, bitcast=True)
        c3 = c3.to(_uint32, bitcast=True)
    else:
        static_assert(c0.dtype.primitive_bitwidth == 64, "bitwidth not supported in philox")
        key_hi = to_tensor(0).to(_uint64)
        key_lo = seed
        c0 = c0.to(_uint64, bitcast=True)
        c1 = c1.to(_uint64, bitcast=True)
        c2 = c2.to(_uint64, bitcast=True)
        c3 = c3.to(_uint64, bitcast=True)
    return philox_impl(c0, c1, c2, c3, key_lo, key_hi, n_rounds)


@language_function
def randint4x(seed, offset, n_rounds: constexpr = N_ROUNDS_DEFAULT):
    """Four blocks of random 32-bit integers for a seed and a block of offsets: the cheapest way to many numbers."""
    offset = to_tensor(offset)
    zero = offset * 0
    if offset.dtype.primitive_bitwidth > 32:
        low = offset.to(_uint32)
        high = (offset >> 32).to(_uint32)
        zero = zero.to(_uint32)
    else:
        low = offset
        high = zero
    return philox(seed, low, high, zero, zero, n_rounds)


@language_function
def randint(seed, offset, n_rounds: constexpr = N_ROUNDS_DEFAULT):
    """A block of random 32-bit integers, one for each offset."""
    first, _, _, _ = randint4x(seed, offset, n_rounds)
    return first


@language_function
def uint_to_uniform_float(x):
    """Random integers as float32 uniform in [0, 1)."""
    if x.dtype.primitive_bitwidth == 32:
        x = x.to(_int32, bitcast=True)
        scale: constexpr = 4.6566127342e-10
    else:
        static_assert(x.dtype.primitive_bitwidth == 64, "uint_to_uniform_float needs integers of 32 or 64 bits")
        x = x.to(_int64, bitcast=True)
        scale: constexpr = 1.0842020432385337e-19
    x = where(x < 0, -x - 1, x)
    return x * scale


@language_function
def rand(seed, offset, n_rounds: constexpr = N_ROUNDS_DEFAULT):
    """A block of float32 uniform in [0, 1), one for each offset."""
    return uint_to_uniform_float(randint(seed, offset, n_rounds))


@language_function
def rand4x(seed, offsets, n_rounds: constexpr = N_ROUNDS_DEFAULT):
    """Four blocks of float32 uniform in [0, 1)."""
    i1, i2, i3, i4 = randint4x(seed, offsets, n_rounds)
    u1 = uint_to_uniform_float(i1)
    u2 = uint_to_uniform_float(i2)
    u3 = uint_to_uniform_float(i3)
    u4 = uint_to_uniform_float(i4)
    return u1, u2, u3, u4


@language_function
def pair_uniform_to_normal(u1, u2):
    """Two independent standard normal values from two uniform ones (Box and Muller)."""
    u1 = elementwise.maximum(1.0e-7, u1)
    angle = 6.283185307179586 * u2
    radius = elementwise.sqrt(-2.0 * elementwise.log(u1))
    return radius * elementwise.cos(angle), radius * elementwise.sin(angle)


@language_function
def randn(seed, offset, n_rounds: constexpr = N_ROUNDS_DEFAULT):
    """A block of float32 from the standard normal distribution, one for each offset."""
    i1, i2, _, _ = randint4x(seed, offset, n_rounds)
    u1 = uint_to_uniform_float(i1)
    u2 = uint_to_uniform_float(i2)
    n1, _ = pair_uniform_to_normal(u1, u2)
    return n1


@language_function
def randn4x(seed, offset, n_rounds: constexpr = N_ROUNDS_DEFAULT):
    """Four blocks of float32 from the standard normal distribution."""
    u1, u2, u3, u4 = rand4x(seed, offset, n_rounds)
    n1, n2 = pair_uniform_to_normal(u1, u2)
    n3, n4 = pair_uniform_to_normal(u3, u4)
    return n1, n2, n3, n4
