"""Calls of `dialects.byte_products` become instructions: the products of four bytes of each lane, summed.

| bytes | instructions | where |
|---|---|---|
| without a sign, times signed ones | ``vpdpbusd`` | AVX-512 VNNI, AVX-VNNI |
| 0 to 127, times signed ones | ``pmaddubsw``, then ``pmaddwd`` by ones | all other x86-64 |
| 0 to 127 or signed, times signed ones | ``sdot`` | AArch64 with dotprod |
| any | even and odd bytes as int16, a ``pmaddwd`` each | x86-64 |
| any | one after the other | elsewhere, and for few lanes |

`pmaddubsw` saturates sums of two products at 16 bits: 2 * 127 * 128 still fits.
"""

from __future__ import annotations

from tilewright.codegen.lane_builder import LaneBuilder
from tilewright.dialects import func
from tilewright.dialects.byte_products import SIGNED, SMALL, ByteProduct
from tilewright.lowering.loops_to_llvm.function_lowering import FunctionLowering
from tilewright.support.facts import TargetFacts

_LANES = {128: 4, 256: 8, 512: 16}
_PAIRS_OF_BYTES = {
    4: "llvm.x86.ssse3.pmadd.ub.sw.128",
    8: "llvm.x86.avx2.pmadd.ub.sw",
    16: "llvm.x86.avx512.pmaddubs.w.512",
}
_PAIRS_OF_WORDS = {
    4: "llvm.x86.sse2.pmadd.wd",
    8: "llvm.x86.avx2.pmadd.wd",
    16: "llvm.x86.avx512.pmaddw.d.512",
}


def lower_byte_product(low: FunctionLowering, op: func.CallOp) -> bool:
    """Lower a call that `dialects.byte_products` describes, by the table of this module; False for others."""
    product = ByteProduct.find(op.callee.string_value())
    if product is None:
        return False
    (result,), (lhs, rhs) = op.results, op.operands
    sides = [(low.get(lhs), product.lhs != SIGNED), (low.get(rhs), product.rhs != SIGNED)]
    b = low.lanes(low.type_of(result))
    low.set(result, _product(b, sides, low.module.facts, small=product.lhs == SMALL))
    return True


def _product(b: LaneBuilder, sides: list[tuple[str, bool]], facts: TargetFacts, *, small: bool) -> str:
    if not _is_register(b.lanes, facts):
        return _one_by_one(b, sides)
    if not facts.triple.startswith("x86_64"):
        return _signed_dot(b, sides, facts, small=small) or _one_by_one(b, sides)
    (lhs, lhs_unsigned), (rhs, rhs_unsigned) = sides
    if lhs_unsigned != rhs_unsigned and _has_vnni(facts):
        return _vnni(b, *((lhs, rhs) if lhs_unsigned else (rhs, lhs)))
    if small and not rhs_unsigned and facts.has("ssse3"):
        return _pairs_of_pairs(b, lhs, rhs)
    return _even_and_odd(b, sides)


def _is_register(lanes: int, facts: TargetFacts) -> bool:
    """Return whether a vector of this many words is a register that the machine has."""
    has_bytes = lanes < _LANES[512] or facts.has("avx512bw")
    return has_bytes and any(bits <= facts.vector_bits and lanes == count for bits, count in _LANES.items())


def _has_vnni(facts: TargetFacts) -> bool:
    return (facts.has("avx512vnni") and facts.has("avx512vl")) or (facts.has("avxvnni") and facts.vector_bits <= 256)


def _bytes(b: LaneBuilder, words: str) -> tuple[str, str]:
    """The vector type of the bytes of all lanes, and the bytes."""
    type = f"<{4 * b.lanes} x i8>"
    return type, b.fn.cast("bitcast", b.type("i32"), words, type)


def _vnni(b: LaneBuilder, unsigned: str, signed: str) -> str:
    zero = (b.type("i32"), "zeroinitializer")
    return b.fn.call(
        b.type("i32"), f"llvm.x86.avx512.vpdpbusd.{32 * b.lanes}", [zero, _bytes(b, unsigned), _bytes(b, signed)]
    )


def _pairs_of_pairs(b: LaneBuilder, small: str, signed: str) -> str:
    halves = LaneBuilder(b.fn, 2 * b.lanes)
    pairs = b.fn.call(halves.type("i16"), _PAIRS_OF_BYTES[b.lanes], [_bytes(b, small), _bytes(b, signed)])
    ones = halves.int(1, "i16")
    return b.fn.call(b.type("i32"), _PAIRS_OF_WORDS[b.lanes], [(halves.type("i16"), pairs), (halves.type("i16"), ones)])


def _even_and_odd(b: LaneBuilder, sides: list[tuple[str, bool]]) -> str:
    halves = LaneBuilder(b.fn, 2 * b.lanes)
    type = halves.type("i16")
    even, odd = list[tuple[str, str]](), list[tuple[str, str]]()
    for words, is_unsigned in sides:
        pairs = b.fn.cast("bitcast", b.type("i32"), words, type)
        if is_unsigned:
            even.append((type, halves.and_(pairs, halves.int(255, "i16"), "i16")))
            odd.append((type, halves.lshr(pairs, 8, "i16")))
        else:
            even.append((type, halves.ashr(halves.shl(pairs, 8, "i16"), 8, "i16")))
            odd.append((type, halves.ashr(pairs, 8, "i16")))
    name = _PAIRS_OF_WORDS[b.lanes]
    return b.add(b.fn.call(b.type("i32"), name, even), b.fn.call(b.type("i32"), name, odd))


def _signed_dot(b: LaneBuilder, sides: list[tuple[str, bool]], facts: TargetFacts, *, small: bool) -> str | None:
    """By AArch64's `sdot`; None where it has none, or bytes are too large for it."""
    (lhs, lhs_unsigned), (rhs, rhs_unsigned) = sides
    if not facts.has("dotprod") or rhs_unsigned or (lhs_unsigned and not small) or b.lanes != 4:
        return None
    zero = (b.type("i32"), "zeroinitializer")
    name = "llvm.aarch64.neon.sdot.v4i32.v16i8"
    return b.fn.call(b.type("i32"), name, [zero, _bytes(b, lhs), _bytes(b, rhs)])


def _one_by_one(b: LaneBuilder, sides: list[tuple[str, bool]]) -> str:
    total = ""
    for byte in range(4):
        factors = list[str]()
        for words, is_unsigned in sides:
            top = b.shl(words, 24 - 8 * byte)
            factors.append(b.lshr(top, 24) if is_unsigned else b.ashr(top, 24))
        term = b.mul(*factors)
        total = b.add(total, term) if total else term
    return total
