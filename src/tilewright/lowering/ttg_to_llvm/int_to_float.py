"""Integers of 8 and 16 bits to floats, several at a time, by the bits of floats.

The float of a power of two above all the integers has them in its lowest bits: the half 0x6400 is 1024, and 0x6400 + n
is 1024 + n. So bytes of a word and constant bytes make floats (`prmt`), less the power of two; a conversion (`cvt`)
takes the unit of which a multiprocessor has least. A signed integer has its sign flipped before, which adds 128 or
32768; the difference takes that away, too. All of it is exact.

```llvm
%u = xor i32 %word, -2139062144                                              ; four bytes, 128 more
%p = call i32 @llvm.nvvm.prmt(i32 %u, i32 1684300900, i32 20816)            ; 0x64, byte 1, 0x64, byte 0
%h = fsub <2 x half> (bitcast of %p), <half 1152.0, half 1152.0>
```
"""

from __future__ import annotations

from collections.abc import Sequence

from tilewright.lowering.ttg_to_llvm.constants import float_literal
from tilewright.lowering.ttg_to_llvm.float_conversions import convert
from tilewright.lowering.ttg_to_llvm.function_lowering import GpuFunctionLowering
from tilewright.lowering.ttg_to_llvm.packing import WORD_BITS, vector_elements
from tilewright.lowering.ttg_to_llvm.types import F16, F32, ElementType
from tilewright.lowering.ttg_to_llvm.words import pack_words

HALF_POWER, HALF_BYTES = 1 << 10, 0x64646464
FLOAT_POWER, FLOAT_BYTES = 1 << 23, 0x4B000000
"""A power of two, and bytes of the float that it is."""


def goes_by_words(source: ElementType, values: Sequence[str]) -> bool:
    """Return whether integers fill whole words, of several each."""
    return source.text in ("i8", "i16") and len(values) > 0 and len(values) % (WORD_BITS // source.bits) == 0


def convert_words(
    fn: GpuFunctionLowering, values: Sequence[str], source: ElementType, target: ElementType, *, signed: bool
) -> list[str]:
    """Integers for which `goes_by_words` as floats."""
    lowest = 1 << source.bits - 1 if signed else 0
    words = pack_words(fn, source, values)
    if signed:
        signs = sum(lowest << at for at in range(0, WORD_BITS, source.bits)) - (1 << WORD_BITS)
        words = [fn.text.binary("xor", "i32", word, signs) for word in words]
    if source.bits == 8 and target == F16:
        return [half for word in words for pair in (0, 2) for half in _half_pair(fn, word, pair, HALF_POWER + lowest)]
    count = WORD_BITS // source.bits
    floats = [_float(fn, word, index, source.bits, FLOAT_POWER + lowest) for word in words for index in range(count)]
    return convert(fn, floats, F32, target)


def _half_pair(fn: GpuFunctionLowering, word: str, first: int, offset: int) -> list[str]:
    """Two neighbouring bytes of a word as halves, less `offset`; the word that both make is remembered."""
    text = fn.text
    pair = text.cast("bitcast", "i32", _permuted(fn, word, HALF_BYTES, (first, 4, first + 1, 4)), "<2 x half>")
    literal = f"half {float_literal(offset, F16)}"
    difference = text.binary("fsub", "<2 x half>", pair, f"<{literal}, {literal}>")
    halves = vector_elements(text, "half", difference, 2)
    fn.packed[tuple(halves)] = text.cast("bitcast", "<2 x half>", difference, "i32")
    return halves


def _float(fn: GpuFunctionLowering, word: str, index: int, bits: int, offset: int) -> str:
    """One integer of a word as a float, less `offset`."""
    chosen = (index, 4, 4, 7) if bits == 8 else (2 * index, 2 * index + 1, 4, 7)
    wide = fn.text.cast("bitcast", "i32", _permuted(fn, word, FLOAT_BYTES, chosen), "float")
    return fn.text.binary("fsub", "float", wide, float_literal(offset, F32))


def _permuted(fn: GpuFunctionLowering, word: str, constant: int, chosen: Sequence[int]) -> str:
    """The word of four bytes, lowest first, out of those of a word (0 to 3) and of a constant (4 to 7)."""
    selector = sum(byte << 4 * at for at, byte in enumerate(chosen))
    return fn.text.call("i32", "llvm.nvvm.prmt", [("i32", word), ("i32", str(constant)), ("i32", str(selector))])
