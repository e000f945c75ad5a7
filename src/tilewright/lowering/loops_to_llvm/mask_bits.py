"""Lane masks whose lanes scalar code looks at one by one.

LLVM 22's `X86CompressEVEX` turns `vpmovb2m %xmm16, %k0` + `kmovd %k0, %eax` into `vpmovmskb %xmm16, %eax`, which has no
encoding for registers from 16 on: another register is read (llvm-project issue 191304). It does so where a mask of
AVX-512 comes straight from sign bits, or from the lowest bits of bytes, and goes to a general register: the lanes of a
scatter of bytes are tested one by one. Such masks pass through a comparison with zero that LLVM cannot look through.
"""

from __future__ import annotations

from tilewright.lowering.loops_to_llvm.function_lowering import FunctionLowering

_REGISTER_BITS = 128


def for_scalar_use(low: FunctionLowering, mask: str, lanes: int) -> str:
    """The same mask, safe to be taken apart into scalars."""
    if mask[0] != "%" or not (low.module.facts.has("avx512bw") or low.module.facts.has("avx512dq")):
        return mask
    held = f"<{lanes} x i{max(8, min(64, _REGISTER_BITS // lanes))}>"
    spread = low.fn.value(f"sext <{lanes} x i1> {mask} to {held}")
    hidden = low.fn.value(f'call {held} asm "", "=v,0"({held} {spread})')
    return low.fn.value(f"icmp ne {held} {hidden}, zeroinitializer")
