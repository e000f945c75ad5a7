"""Calls of `dialects.byte_products` become instructions: the products of four bytes of each lane, summed.

| bytes | instructions | where |
|---|---|---|
| without a sign, times signed ones | ``vpdpbusd`` | AVX-512 VNNI, AVX-VNNI |
| 0 to 127, times signed ones | ``pmaddubsw``, then ``pmaddwd`` by ones | all other x86-64 |
| 0 to 127 or signed, times signed ones | ``sdot`` | AArch64 with dotprod |
| signed, times signed ones | ``vpdpbusd`` of the first plus 128, less that of 128 | with VNNI |
| signed, times signed ones | ``pmaddubsw`` of the first without its sign bits, and of these | all other x86-64 |
| any | even and odd bytes as int16, a ``pmaddwd`` each | x86-64 |
| any | one after the other | elsewhere, and for few lanes |

`pmaddubsw` saturates sums of two products at 16 bits: 2 * 127 * 128 still fits, and so does 2 * 128 * -128. A signed
byte is what its lower seven bits are less 128 where it is negative:

    l0 r0 + l1 r1 = pmaddubsw(l & 0x7f, r) - pmaddubsw(l & 0x80, r)

The difference is from -32512 to 32768, so it is computed the other way round, and the sum in 32 bits multiplies by -1.
Without VNNI that takes seven instructions a word, of which what splits the left bytes is done once for all products
with them; even and odd bytes take ten, six of them shifts.
"""

from __future__ import annotations

from xdsl.ir import SSAValue

from tilewright.codegen.lane_builder import LaneBuilder
from tilewright.dialects import func
from tilewright.dialects.byte_products import DOT_PAIRS, SIGNED, SMALL, SUM_PAIRS, ByteProduct
from tilewright.lowering.loops_to_llvm.function_lowering import CpuFunctionLowering
from tilewright.support.facts import TargetFacts

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

_SIGN_BITS, _LOWER_BITS = -0x7F7F7F80, 0x7F7F7F7F
"""Of the four bytes of a word; the first is 0x80808080 as a signed number."""


def lower_byte_product(low: CpuFunctionLowering, op: func.CallOp) -> bool:
    """Lower a call that `dialects.byte_products` describes, by the table of this module; False for others."""
    name = op.callee.string_value()
    product = ByteProduct.find(name)
    if product is None and not name.startswith((DOT_PAIRS, SUM_PAIRS)):
        return False
    result, facts = op.results[0], low.module.facts
    operands, b = [low.get(operand) for operand in op.operands], low.lanes(low.type_of(result))
    if product is not None:
        sides = [(operands[0], product.lhs != SIGNED), (operands[1], product.rhs != SIGNED)]
        if product.lhs == product.rhs and _is_read_more_often(op.operands[1], op.operands[0]):
            sides.reverse()  # what is done to the left bytes is done once for all products with them
        addend = operands[2] if product.is_added else ""
        low.set(result, _product(b, sides, facts, small=product.lhs == SMALL, addend=addend))
    elif name.startswith(DOT_PAIRS):
        low.set(result, _pairs(LaneBuilder(b.fn, b.lanes // 2), operands[0], operands[1], facts))
    else:
        low.set(result, _sum_pairs(b, operands[0], facts))
    return True


def _is_read_more_often(value: SSAValue, other: SSAValue) -> bool:
    return value.uses.get_length() > other.uses.get_length()


def _product(b: LaneBuilder, sides: list[tuple[str, bool]], facts: TargetFacts, *, small: bool, addend: str) -> str:
    """The sums of products, added to `addend` unless that is empty."""
    (lhs, lhs_unsigned), (rhs, rhs_unsigned) = sides
    if lhs_unsigned != rhs_unsigned and facts.has_byte_dots and _is_register(b.lanes, facts):
        return _vnni(b, *((lhs, rhs) if lhs_unsigned else (rhs, lhs)), addend)
    product = _new_product(b, sides, facts, small=small)
    return b.add(product, addend) if addend else product


def _new_product(b: LaneBuilder, sides: list[tuple[str, bool]], facts: TargetFacts, *, small: bool) -> str:
    if not _is_register(b.lanes, facts):
        return _one_by_one(b, sides)
    if not facts.triple.startswith("x86_64"):
        return _signed_dot(b, sides, facts, small=small) or _one_by_one(b, sides)
    (lhs, lhs_unsigned), (rhs, rhs_unsigned) = sides
    if small and not rhs_unsigned and facts.has("ssse3"):
        return _pairs_of_pairs(b, lhs, rhs)
    if not lhs_unsigned and not rhs_unsigned and facts.has_byte_dots:
        return _vnni_of_signed(b, lhs, rhs)
    if not lhs_unsigned and not rhs_unsigned and facts.has("ssse3"):
        return _without_sign_bits(b, lhs, rhs)
    return _even_and_odd(b, sides)


def _is_register(lanes: int, facts: TargetFacts) -> bool:
    """Return whether a vector of this many words is a register that the machine has."""
    return facts.has_byte_registers(32 * lanes)


def _bytes(b: LaneBuilder, words: str) -> tuple[str, str]:
    """The vector type of the bytes of all lanes, and the bytes."""
    type = f"<{4 * b.lanes} x i8>"
    return type, b.fn.cast("bitcast", b.type("i32"), words, type)


def _vnni(b: LaneBuilder, unsigned: str, signed: str, addend: str = "") -> str:
    start = (b.type("i32"), addend or "zeroinitializer")
    return b.fn.call(
        b.type("i32"), f"llvm.x86.avx512.vpdpbusd.{32 * b.lanes}", [start, _bytes(b, unsigned), _bytes(b, signed)]
    )


def _vnni_of_signed(b: LaneBuilder, lhs: str, rhs: str) -> str:
    sign_bits = b.int(_SIGN_BITS)
    return b.sub(_vnni(b, b.xor(lhs, sign_bits), rhs), _vnni(b, sign_bits, rhs))


def _without_sign_bits(b: LaneBuilder, lhs: str, rhs: str) -> str:
    halves = LaneBuilder(b.fn, 2 * b.lanes)
    low = _pairs_of_bytes(b, b.and_(lhs, b.int(_LOWER_BITS)), rhs)
    negative = _pairs_of_bytes(b, b.and_(lhs, b.int(_SIGN_BITS)), rhs)
    return _words_of_pairs(b, halves.sub(negative, low, "i16"), factor=-1)


def _pairs_of_pairs(b: LaneBuilder, small: str, signed: str) -> str:
    return _words_of_pairs(b, _pairs_of_bytes(b, small, signed))


def _pairs_of_bytes(b: LaneBuilder, unsigned: str, signed: str) -> str:
    type = LaneBuilder(b.fn, 2 * b.lanes).type("i16")
    return b.fn.call(type, _PAIRS_OF_BYTES[b.lanes], [_bytes(b, unsigned), _bytes(b, signed)])


def _words_of_pairs(b: LaneBuilder, pairs: str, *, factor: int = 1) -> str:
    """Neighbours of 16 bits times a factor, summed in 32."""
    halves = LaneBuilder(b.fn, 2 * b.lanes)
    type, factors = halves.type("i16"), halves.int(factor, "i16")
    return b.fn.call(b.type("i32"), _PAIRS_OF_WORDS[b.lanes], [(type, pairs), (type, factors)])


def _pairs(b: LaneBuilder, unsigned: str, signed: str, facts: TargetFacts) -> str:
    """Products of bytes without a sign by signed ones, two summed in 16 bits; `b` has the lanes of the words."""
    if facts.triple.startswith("x86_64") and facts.has("ssse3") and _is_register(b.lanes, facts):
        return _pairs_of_bytes(b, unsigned, signed)
    halves = LaneBuilder(b.fn, 2 * b.lanes)
    u, s = (b.fn.cast("bitcast", b.type("i32"), words, halves.type("i16")) for words in (unsigned, signed))
    even = halves.mul(halves.and_(u, halves.int(255, "i16"), "i16"), _low_byte(halves, s), "i16")
    return halves.add(even, halves.mul(halves.lshr(u, 8, "i16"), halves.ashr(s, 8, "i16"), "i16"), "i16")


def _low_byte(halves: LaneBuilder, pairs: str) -> str:
    return halves.ashr(halves.shl(pairs, 8, "i16"), 8, "i16")


def _sum_pairs(b: LaneBuilder, pairs: str, facts: TargetFacts) -> str:
    """Neighbours of 16 bits, summed in 32."""
    if facts.triple.startswith("x86_64") and _is_register(b.lanes, facts):
        return _words_of_pairs(b, pairs)
    words = b.fn.cast("bitcast", LaneBuilder(b.fn, 2 * b.lanes).type("i16"), pairs, b.type("i32"))
    return b.add(b.ashr(b.shl(words, 16), 16), b.ashr(words, 16))


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
            even.append((type, _low_byte(halves, pairs)))
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
