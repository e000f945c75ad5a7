"""Arithmetic for launch code: plain Python on the host, compile-time constants inside kernels."""

from __future__ import annotations

from tilewright.language.callables import constexpr_function


@constexpr_function
def cdiv(x: int, y: int) -> int:
    """x divided by y, rounded up, for positive y; the usual number of programs for x elements in blocks of y."""
    return (x + y - 1) // y


@constexpr_function
def next_power_of_2(n: int) -> int:
    """The smallest power of two that is at least n; 0 for 0 (as Triton has it), n at most 2**64."""
    return 1 << (n - 1).bit_length() if n > 0 else 0
