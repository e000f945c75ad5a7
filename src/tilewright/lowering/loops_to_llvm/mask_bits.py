"""Lane masks that LLVM 22 gets wrong on x86 with AVX-512, and what keeps it from trying.

Lanes that scalar code looks at one by one: LLVM's `X86CompressEVEX` turns `vpmovb2m %xmm16, %k0` + `kmovd %k0, %eax`
into `vpmovmskb %xmm16, %eax`, which has no encoding for registers from 16 on: another register is read (llvm-project
issue 191304). It does so where a mask comes straight from sign bits, or from the lowest bits of bytes, and goes to a
general register: the lanes of a scatter of bytes are tested one by one. Such masks pass through a comparison with zero
that LLVM cannot look through.

Stores of narrowed lanes: a masked store of `trunc <16 x i32> %v to <16 x i16>` becomes a truncating one, and where the
mask is a constant with one lane, that becomes a scalar store of the wide element, over its neighbours in memory. What
is stored passes through a register that LLVM cannot look through.
"""

from __future__ import annotations

from tilewright.lowering.loops_to_llvm.function_lowering import CpuFunctionLowering

_REGISTER_BITS = 128
_WHOLE_REGISTERS = (128, 256, 512)
_MASK_BITS = 64
_WIDEST = 64
"""Bits of the widest lanes: nothing is narrowed to them."""


def for_scalar_use(low: CpuFunctionLowering, mask: str, lanes: int) -> str:
    """The same mask, safe to be taken apart into scalars."""
    if mask[0] != "%" or not (low.module.facts.has("avx512bw") or low.module.facts.has("avx512dq")):
        return mask
    held = f"<{lanes} x i{max(8, min(64, _REGISTER_BITS // lanes))}>"
    spread = low.fn.cast("sext", f"<{lanes} x i1>", mask, held)
    hidden = low.fn.opaque(held, spread, "v")
    return low.fn.icmp("ne", held, hidden, "zeroinitializer")


def for_masked_store(low: CpuFunctionLowering, value: str, mask: str, bits: int, lanes: int) -> tuple[str, str]:
    """A vector of integers of some bits and the mask that it is stored by, safe to be stored."""
    if bits >= _WIDEST or not low.module.facts.has("avx512bw"):
        return value, mask
    if bits * lanes in _WHOLE_REGISTERS:
        type = f"<{lanes} x i{bits}>"
        return low.fn.opaque(type, value, "v"), mask
    packed = low.fn.cast("bitcast", f"<{lanes} x i1>", mask, f"i{lanes}")
    wide = packed if lanes == _MASK_BITS else low.fn.cast("zext", f"i{lanes}", packed, f"i{_MASK_BITS}")
    hidden = low.fn.opaque(f"i{_MASK_BITS}", wide)
    narrow = hidden if lanes == _MASK_BITS else low.fn.cast("trunc", f"i{_MASK_BITS}", hidden, f"i{lanes}")
    return value, low.fn.cast("bitcast", f"i{lanes}", narrow, f"<{lanes} x i1>")
