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

_SMALLEST_UNIFORM = constexpr(1.0e-7)
"""Keeps the logarithm of the Box-Muller transform finite."""
_FULL_TURN = constexpr(6.283185307179586)


@constexpr_function
def _multiplier(width, which):
    return _MULTIPLIERS[width][which]


@constexpr_function
def _key_step(width, which):
    return _KEY_STEPS[width][which]


@language_function
def philox_impl(c0, c1, c2, c3, k0, k1, n_rounds: constexpr = N_ROUNDS_DEFAULT):
    """Run `n_rounds` rounds of Philox on the counter (c0, c1, c2, c3) under the key (k0, k1); uint32 or uint64."""
    static_assert(c0.dtype == _uint32 or c0.dtype == _uint64, "dtype not supported in philox_impl")
    width: constexpr = c0.dtype.primitive_bitwidth
    counter, key = (c0, c1, c2, c3), (k0, k1)
    for _ in static_range(n_rounds):
        counter = _mix(counter, key, width)
        key = _next_key(key, width)
    return counter


@language_function
def _mix(counter, key, width: constexpr):
    """One round: (x0, x1, x2, x3) -> (high(b x2) ^ x1 ^ k0, low(b x2), high(a x0) ^ x3 ^ k1, low(a x0))."""
    a: constexpr = _multiplier(width, 0)
    b: constexpr = _multiplier(width, 1)
    upper = elementwise.umulhi(_same_width(b, counter[0]), counter[2]) ^ counter[1] ^ key[0]
    lower = elementwise.umulhi(_same_width(a, upper), counter[0]) ^ counter[3] ^ key[1]
    return upper, _low_half(b, counter[2]), lower, _low_half(a, counter[0])


@language_function
def _low_half(multiplier, word):
    return mul(multiplier, word, sanitize_overflow=False)


@language_function
def _next_key(key, width: constexpr):
    """The key of the following round: each word moves on by its constant (a Weyl sequence)."""
    first = add(key[0], _key_step(width, 0), sanitize_overflow=False)
    return first, add(key[1], _key_step(width, 1), sanitize_overflow=False)


@language_function
def _same_width(number, like):
    """A constant as a scalar of the counter's type."""
    return to_tensor(number).to(like.dtype)


@language_function
def philox(seed, c0, c1, c2, c3, n_rounds: constexpr = N_ROUNDS_DEFAULT):
    """Four random integers per counter. Counters of 32 bits split the seed into two keys, those of 64 bits use it
    whole."""
    words = to_tensor(seed), to_tensor(c0), to_tensor(c1), to_tensor(c2), to_tensor(c3)
    width: constexpr = words[1].dtype.primitive_bitwidth
    static_assert(width == 32 or width == 64, "bitwidth not supported in philox")
    static_assert(words[0].dtype.is_int(), "the seed must be an integer, not of another type nor a pointer")
    key = _key_of(words[0].to(_uint64), width)
    return philox_impl(
        _unsigned(words[1], width), _unsigned(words[2], width), _unsigned(words[3], width), _unsigned(words[4], width),
        key[0], key[1], n_rounds,
    )  # fmt: skip


@language_function
def _key_of(seed, width: constexpr):
    """The two words of the key, the low one first."""
    if width == 64:
        return seed, to_tensor(0).to(_uint64)
    upper = ((seed >> 32) & 0xFFFFFFFF).to(_uint32)
    return (seed & 0xFFFFFFFF).to(_uint32), upper


@language_function
def _unsigned(word, width: constexpr):
    return word.to(_uint32 if width == 32 else _uint64, bitcast=True)


@language_function
def randint4x(seed, offset, n_rounds: constexpr = N_ROUNDS_DEFAULT):
    """Four blocks of random 32-bit integers for a seed and a block of offsets: the cheapest way to many numbers."""
    offset = to_tensor(offset)
    low = offset.to(_uint32)
    zero = low * 0
    high = (offset >> 32).to(_uint32) if offset.dtype.primitive_bitwidth > 32 else zero
    return philox(seed, low, high, zero, zero, n_rounds)


@language_function
def randint(seed, offset, n_rounds: constexpr = N_ROUNDS_DEFAULT):
    """A block of random 32-bit integers, one for each offset."""
    return randint4x(seed, offset, n_rounds)[0]


@language_function
def uint_to_uniform_float(x):
    """Random integers as float32 uniform in [0, 1)."""
    width: constexpr = x.dtype.primitive_bitwidth
    static_assert(width == 32 or width == 64, "uint_to_uniform_float needs integers of 32 or 64 bits")
    signed = x.to(_int32 if width == 32 else _int64, bitcast=True)
    return where(signed < 0, ~signed, signed) * _largest_below_one(width)


@constexpr_function
def _largest_below_one(width):
    """The factor that takes the largest signed integer to the float32 next below 1."""
    return {32: 4.6566127342e-10, 64: 1.0842020432385337e-19}[width]


@language_function
def rand(seed, offset, n_rounds: constexpr = N_ROUNDS_DEFAULT):
    """A block of float32 uniform in [0, 1), one for each offset."""
    return uint_to_uniform_float(randint(seed, offset, n_rounds))


@language_function
def rand4x(seed, offsets, n_rounds: constexpr = N_ROUNDS_DEFAULT):
    """Four blocks of float32 uniform in [0, 1)."""
    drawn = randint4x(seed, offsets, n_rounds)
    return _uniform_pair(drawn[0], drawn[1]) + _uniform_pair(drawn[2], drawn[3])


@language_function
def _uniform_pair(bits, more_bits):
    return uint_to_uniform_float(bits), uint_to_uniform_float(more_bits)


@language_function
def pair_uniform_to_normal(u1, u2):
    """Two independent standard normal values from two uniform ones: (r cos a, r sin a) where r^2 = -2 ln u1 and
    a = 2 pi u2.

    G. E. P. Box, M. E. Muller, "A note on the generation of random normal deviates", 1958.
    """
    positive = elementwise.maximum(_SMALLEST_UNIFORM, u1)
    angle = _FULL_TURN * u2
    radius = elementwise.sqrt(-2.0 * elementwise.log(positive))
    return radius * elementwise.cos(angle), radius * elementwise.sin(angle)


@language_function
def randn(seed, offset, n_rounds: constexpr = N_ROUNDS_DEFAULT):
    """A block of float32 from the standard normal distribution, one for each offset."""
    drawn = randint4x(seed, offset, n_rounds)
    uniform = _uniform_pair(drawn[0], drawn[1])
    return pair_uniform_to_normal(uniform[0], uniform[1])[0]


@language_function
def randn4x(seed, offset, n_rounds: constexpr = N_ROUNDS_DEFAULT):
    """Four blocks of float32 from the standard normal distribution."""
    uniform = rand4x(seed, offset, n_rounds)
    return pair_uniform_to_normal(uniform[0], uniform[1]) + pair_uniform_to_normal(uniform[2], uniform[3])
